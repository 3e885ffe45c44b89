/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas, growing buffers and arrays, over the allocator. */
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)
#ifdef INGOT_ARENA_DEBUG
#define ALONE ((size_t)0) /* every object is its own allocation: sanitizers see it */
#else
#define ALONE (BLOCK_MAX / 4) /* larger objects get a block of their own */
#endif

typedef struct arena_block {
    struct arena_block *next;
    size_t size; /* of the whole block, this header included */
} arena_block;

_Static_assert(sizeof(arena_block) % 16 == 0, "objects after the header are 16-aligned");

void arena_init(arena *a, const allocator *alloc)
{
    *a = (arena){.alloc = alloc};
}

static arena_block *block_new(arena *a, size_t size, error *e)
{
    arena_block *b = mem_new(a->alloc, size, "an arena", e);

    if (b)
        b->size = size;
    return b;
}

/* An object with a block of its own, behind the newest one, whose free rest stays in use. */
static void *alloc_alone(arena *a, size_t size, error *e)
{
    arena_block *b;
    size_t total;

    if (!size_add(size, sizeof(arena_block), &total)) {
        fail_memory(e, size, "an arena");
        return NULL;
    }
    b = block_new(a, total, e);
    if (!b)
        return NULL;
    if (a->blocks) {
        b->next = a->blocks->next;
        a->blocks->next = b;
    } else {
        a->blocks = b;
        a->used = a->cap = total;
    }
    return b + 1;
}

void *arena_alloc(arena *a, size_t size, error *e)
{
    arena_block *b;
    size_t cap;
    void *p;

    size = size ? size : 1;
    if (size > ALONE)
        return alloc_alone(a, size, e);
    size = (size + 15) & ~(size_t)15;
    if (size > a->cap - a->used) {
        cap = a->cap ? a->cap * 2 : BLOCK_MIN;
        while (cap < size + sizeof(arena_block))
            cap *= 2;
        if (cap > BLOCK_MAX)
            cap = BLOCK_MAX;
        b = block_new(a, cap, e);
        if (!b)
            return NULL;
        b->next = a->blocks;
        a->blocks = b;
        a->used = sizeof(arena_block);
        a->cap = cap;
    }
    p = (unsigned char *)a->blocks + a->used;
    a->used += size;
    return p;
}

void *arena_array(arena *a, size_t count, size_t size, error *e)
{
    size_t total;

    if (!size_mul(count, size, &total)) {
        fail(e, INGOT_E_MEMORY, "out of memory: %zu x %zu bytes for an arena", count, size);
        return NULL;
    }
    return arena_alloc(a, total, e);
}

void *arena_copy(arena *a, const void *p, size_t size, error *e)
{
    void *q = arena_alloc(a, size, e);

    if (q && size)
        memcpy(q, p, size);
    return q;
}

char *arena_strdup(arena *a, const char *s, error *e)
{
    return arena_copy(a, s, strlen(s) + 1, e);
}

char *arena_printf(arena *a, error *e, const char *fmt, ...)
{
    va_list args, again;
    char *s = NULL;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0)
        fail(e, INGOT_E_INTERNAL, "text cannot be formatted");
    else
        s = arena_alloc(a, (size_t)n + 1, e);
    if (s)
        (void)vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

void arena_free(arena *a)
{
    arena_block *b = a->blocks, *next;

    for (; b; b = next) {
        next = b->next;
        mem_free(a->alloc, b, b->size);
    }
    *a = (arena){.alloc = a->alloc};
}

void buffer_init(buffer *b, const allocator *alloc, size_t max)
{
    *b = (buffer){.alloc = alloc, .max = max};
}

bool buffer_reserve(buffer *b, size_t extra, error *e)
{
    size_t max = b->max ? b->max : BUFFER_MAX, need, cap;
    char *data;

    if (!size_add(b->len, extra, &need) || need > max || need == SIZE_MAX)
        return fail(e, INGOT_E_ARGUMENT, "buffer: %zu + %zu bytes, at most %zu are allowed", b->len,
                    extra, max);
    if (b->data && need < b->cap)
        return true;
    cap = b->cap > (SIZE_MAX - 64) / 2 ? need + 1 : b->cap * 2 + 64;
    if (cap > max && max != SIZE_MAX)
        cap = max + 1;
    if (cap < need + 1)
        cap = need + 1;
    data = mem_resize(b->alloc, b->data, b->cap, cap, "a buffer", e);
    if (!data)
        return false;
    data[b->len] = '\0';
    b->data = data;
    b->cap = cap;
    return true;
}

bool buffer_add(buffer *b, const void *p, size_t n, error *e)
{
    if (!buffer_reserve(b, n, e))
        return false;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
    return true;
}

bool buffer_printf(buffer *b, error *e, const char *fmt, ...)
{
    va_list args, again;
    bool ok = false;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0) {
        fail(e, INGOT_E_INTERNAL, "text cannot be formatted");
    } else if (buffer_reserve(b, (size_t)n, e)) {
        (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
        ok = true;
    }
    va_end(again);
    return ok;
}

void buffer_free(buffer *b)
{
    mem_free(b->alloc, b->data, b->cap);
    *b = (buffer){.alloc = b->alloc, .max = b->max};
}

bool vec_reserve(const allocator *a, void **v, size_t elem_size, size_t need, size_t *cap,
                 const char *what, error *e)
{
    size_t count = *cap, bytes;
    void *p;

    if (need <= *cap)
        return true;
    count = count > SIZE_MAX / 2 ? need : count * 2;
    if (count < 8)
        count = 8;
    if (count < need)
        count = need;
    if (!size_mul(count, elem_size, &bytes))
        return fail(e, INGOT_E_MEMORY, "out of memory: %zu x %zu bytes for %s", count, elem_size,
                    what);
    p = mem_resize(a, *v, *cap * elem_size, bytes, what, e);
    if (!p)
        return false;
    *v = p;
    *cap = count;
    return true;
}
