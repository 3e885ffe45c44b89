/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the lowest layers share: cmocka and an allocator that checks its callers. */
#ifndef TESTS_BASE_CHECK_H
#define TESTS_BASE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include <cmocka.h>

/* cmocka's fail() would hide the library's. */
#undef fail
#undef fail_msg
#define fail_msg(...)              \
    do {                           \
        print_error("ERROR: ");    \
        print_error(__VA_ARGS__);  \
        print_error("\n");         \
        _fail(__FILE__, __LINE__); \
    } while (0)

#define check_contains(text, part)                           \
    do {                                                     \
        if (!strstr((text), (part)))                         \
            fail_msg("'%s' is not in '%s'", (part), (text)); \
    } while (0)

/* Counts what is live, fails the n-th allocation, and compares old sizes with the real ones. */
typedef struct checked_heap {
    size_t live_objects, live_bytes;
    long calls, fail_at; /* fail_at 0 = never */
    bool wrong_size;
} checked_heap;

static inline void *checked_alloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    checked_heap *h = user;
    unsigned char *base = ptr ? (unsigned char *)ptr - 16 : NULL, *fresh = NULL;
    size_t had = 0;

    if (base)
        memcpy(&had, base, sizeof(had));
    if (had != old_size)
        h->wrong_size = true;
    if (new_size) {
        if (++h->calls == h->fail_at)
            return NULL;
        fresh = malloc(new_size + 16);
        if (!fresh)
            return NULL;
        memset(fresh, 0xa5, new_size + 16); /* nobody may count on zeros */
        memcpy(fresh, &new_size, sizeof(new_size));
        h->live_objects++;
        h->live_bytes += new_size;
        if (base)
            memcpy(fresh + 16, ptr, had < new_size ? had : new_size);
    }
    if (base) {
        h->live_objects--;
        h->live_bytes -= had;
        free(base);
    }
    return fresh ? fresh + 16 : NULL;
}

static inline allocator checked_allocator(checked_heap *h)
{
    return (allocator){checked_alloc, h};
}

#endif
