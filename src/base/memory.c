/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator, checked sizes, page buffers. The only file that calls malloc and friends. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define PAGE_MAX  ((size_t)64 << 10) /* the largest page size of the targets (aarch64) */
#define LINE      ((size_t)64)

static void *libc_alloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return ptr ? realloc(ptr, new_size) : malloc(new_size);
}

const allocator allocator_libc = {libc_alloc, NULL};

static const allocator *or_libc(const allocator *a)
{
    return a && a->fn ? a : &allocator_libc;
}

/* The callback reads size 0 as "free", so an empty object takes one byte. */
static size_t at_least_one(size_t size)
{
    return size ? size : 1;
}

void *mem_new(const allocator *a, size_t size, const char *what, error *e)
{
    size_t real = at_least_one(size);
    void *p;

    a = or_libc(a);
    if (a->fn == libc_alloc) {
        p = calloc(1, real); /* fresh pages need no second zeroing */
    } else {
        p = a->fn(a->user, NULL, 0, real);
        if (p)
            memset(p, 0, real);
    }
    if (!p)
        fail_memory(e, size, what);
    return p;
}

void *mem_new_array(const allocator *a, size_t count, size_t size, const char *what, error *e)
{
    size_t total;

    if (!size_mul(count, size, &total)) {
        fail(e, INGOT_E_MEMORY, "out of memory: %zu x %zu bytes for %s", count, size, what);
        return NULL;
    }
    return mem_new(a, total, what, e);
}

void *mem_resize(const allocator *a, void *p, size_t old_size, size_t new_size, const char *what,
                 error *e)
{
    void *q;

    a = or_libc(a);
    q = a->fn(a->user, p, p ? at_least_one(old_size) : 0, at_least_one(new_size));
    if (!q)
        fail_memory(e, new_size, what);
    return q;
}

void mem_free(const allocator *a, void *p, size_t size)
{
    if (!p)
        return;
    a = or_libc(a);
    a->fn(a->user, p, at_least_one(size), 0);
}

char *mem_strdup(const allocator *a, const char *s, error *e)
{
    size_t size = strlen(s) + 1;
    char *copy = mem_new(a, size, "a string", e);

    if (copy)
        memcpy(copy, s, size);
    return copy;
}

void mem_strfree(const allocator *a, char *s)
{
    if (s)
        mem_free(a, s, strlen(s) + 1);
}

bool size_add(size_t a, size_t b, size_t *out)
{
    if (b > SIZE_MAX - a)
        return false;
    *out = a + b;
    return true;
}

bool size_mul(size_t a, size_t b, size_t *out)
{
    if (a && b > SIZE_MAX / a)
        return false;
    *out = a * b;
    return true;
}

bool i64_add(int64_t a, int64_t b, int64_t *out)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *out = a + b;
    return true;
}

bool i64_mul(int64_t a, int64_t b, int64_t *out)
{
    if (a > 0) {
        if (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
            return false;
    } else if (a < 0) {
        /* b == -1 apart: INT64_MIN / -1 traps */
        if (b == -1 ? a == INT64_MIN : b > 0 ? a < INT64_MIN / b : b && a < INT64_MAX / b)
            return false;
    }
    *out = a * b;
    return true;
}

static size_t page_align(size_t size)
{
    return size >= HUGE_PAGE ? HUGE_PAGE : LINE;
}

/* Over-allocates from the callback; the word before the aligned block says where it began. */
static void *pages_from_callback(const allocator *a, size_t size)
{
    size_t align = page_align(size), total;
    unsigned char *base, *p;

    if (!size_add(size, align + sizeof(void *), &total))
        return NULL;
    base = a->fn(a->user, NULL, 0, total);
    if (!base)
        return NULL;
    p = base + sizeof(void *);
    p += (align - ((uintptr_t)p & (align - 1))) & (align - 1);
    memcpy(p - sizeof(void *), &base, sizeof(void *));
    memset(p, 0, size);
    return p;
}

#ifdef INGOT_ARENA_DEBUG
/* Sanitizers see heap blocks but not mappings. */
static bool maps(size_t size)
{
    (void)size;
    return false;
}
#else
static bool maps(size_t size)
{
    return size >= HUGE_PAGE;
}
#endif

static void *pages_mapped(size_t size)
{
    size_t total, head, tail;
    unsigned char *base, *p;

    if (!size_add(size, HUGE_PAGE, &total))
        return NULL;
    base = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    head = (HUGE_PAGE - ((uintptr_t)base & (HUGE_PAGE - 1))) & (HUGE_PAGE - 1);
    p = base + head;
    tail = total - head - size;
    if (head)
        munmap(base, head);
    if (tail)
        munmap(p + size, tail);
#ifdef MADV_HUGEPAGE
    madvise(p, size, MADV_HUGEPAGE); /* advice: failure costs speed alone */
#endif
    return p;
}

/* What a mapping, or aligned_alloc, is asked for: a multiple of its alignment. */
static bool pages_size(size_t size, size_t *out)
{
    size_t unit = maps(size) ? PAGE_MAX : page_align(size);

    if (!size_add(at_least_one(size), unit - 1, out))
        return false;
    *out &= ~(unit - 1);
    return true;
}

void *mem_new_pages(const allocator *a, size_t size, const char *what, error *e)
{
    void *p = NULL;
    size_t real;

    a = or_libc(a);
    if (a->fn != libc_alloc) {
        p = pages_from_callback(a, size);
    } else if (pages_size(size, &real)) {
        if (maps(size)) {
            p = pages_mapped(real);
        } else {
            p = aligned_alloc(page_align(size), real);
            if (p)
                memset(p, 0, real);
        }
    }
    if (!p)
        fail_memory(e, size, what);
    return p;
}

void mem_free_pages(const allocator *a, void *p, size_t size)
{
    size_t real;

    if (!p)
        return;
    a = or_libc(a);
    if (a->fn != libc_alloc) {
        void *base;

        memcpy(&base, (unsigned char *)p - sizeof(void *), sizeof(void *));
        a->fn(a->user, base, size + page_align(size) + sizeof(void *), 0);
    } else if (maps(size)) {
        if (pages_size(size, &real))
            munmap(p, real);
    } else {
        free(p);
    }
}
