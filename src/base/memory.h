/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation: one allocator callback, checked sizes, arenas, growing arrays. No other file of
   the library calls malloc, realloc or free. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/error.h"

/* ptr NULL = allocate, new_size 0 = free, else resize. 16-byte aligned, NULL when it fails. */
typedef void *(*alloc_fn)(void *user, void *ptr, size_t old_size, size_t new_size);

typedef struct allocator {
    alloc_fn fn; /* must be thread-safe */
    void *user;
} allocator;

/* The C library's. */
extern const allocator allocator_libc;

/* a NULL = allocator_libc. On failure: NULL, with e set ("what" names the purpose).
   mem_new zeroes. Size 0 gives a valid pointer to free. */
void *mem_new(const allocator *a, size_t size, const char *what, error *e);
void *mem_new_array(const allocator *a, size_t count, size_t size, const char *what, error *e);
void *mem_resize(const allocator *a, void *p, size_t old_size, size_t new_size, const char *what,
                 error *e);
void mem_free(const allocator *a, void *p, size_t size);
char *mem_strdup(const allocator *a, const char *s, error *e);
void mem_strfree(const allocator *a, char *s); /* NULL allowed */

/* Page-sized buffers: 64-byte aligned; from 2 MiB on, 2 MiB-aligned with huge pages advised.
   Zeroed. Does not go through the callback of small objects when that is the libc's (it maps),
   but does when the user gave an allocator (over-allocating for the alignment). */
void *mem_new_pages(const allocator *a, size_t size, const char *what, error *e);
void mem_free_pages(const allocator *a, void *p, size_t size);

/* false on overflow; *out is untouched then. */
bool size_mul(size_t a, size_t b, size_t *out);
bool size_add(size_t a, size_t b, size_t *out);
bool i64_mul(int64_t a, int64_t b, int64_t *out);
bool i64_add(int64_t a, int64_t b, int64_t *out);

/* Arena: many small objects, freed together. A zeroed arena is a valid one over libc. In a
   build with INGOT_ARENA_DEBUG every object is its own allocation, so that sanitizers see it. */
typedef struct arena {
    const allocator *alloc;
    struct arena_block *blocks;
    size_t used, cap; /* of the newest block */
} arena;

void arena_init(arena *a, const allocator *alloc);
void *arena_alloc(arena *a, size_t size, error *e);                  /* zeroed, 16-aligned */
void *arena_array(arena *a, size_t count, size_t size, error *e);    /* checked product */
void *arena_copy(arena *a, const void *p, size_t size, error *e);
char *arena_strdup(arena *a, const char *s, error *e);
char *arena_printf(arena *a, error *e, const char *fmt, ...) INGOT_PRINTF(3, 4);
void arena_free(arena *a);                                           /* usable again after */

/* Growing byte buffer with a stated maximum (0 = 1 GiB). data is NUL-terminated beyond len. */
#define BUFFER_MAX ((size_t)1 << 30)
typedef struct buffer {
    const allocator *alloc;
    char *data;
    size_t len, cap, max;
} buffer;

void buffer_init(buffer *b, const allocator *alloc, size_t max);
bool buffer_add(buffer *b, const void *p, size_t n, error *e);
/* Makes room for `extra` more bytes and the NUL. */
bool buffer_reserve(buffer *b, size_t extra, error *e);
bool buffer_printf(buffer *b, error *e, const char *fmt, ...) INGOT_PRINTF(3, 4);
void buffer_free(buffer *b);

/* Makes room for `need` elements in a plain array of *cap, growing by doubling; new elements are
   not initialised. Freed with mem_free(a, v, cap * elem_size). */
bool vec_reserve(const allocator *a, void **v, size_t elem_size, size_t need, size_t *cap,
                 const char *what, error *e);

#endif
