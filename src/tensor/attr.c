/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/attr.h"

#include <string.h>

/* Reals are compared as bits: a NaN equals itself, and -0 is not 0, as in the text form. */
bool attr_equal(const attr *a, const attr *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case ATTR_INT:
    case ATTR_FLAG:
    case ATTR_DTYPE:
        return a->i == b->i;
    case ATTR_REAL:
        /* NOLINTNEXTLINE(*-memory-comparison,cert-*): bits, so that NaN equals NaN */
        return memcmp(&a->f, &b->f, sizeof(a->f)) == 0;
    case ATTR_INTS:
        return a->a.n == b->a.n &&
               (a->a.n <= 0 || memcmp(a->a.v, b->a.v, (size_t)a->a.n * sizeof(a->a.v[0])) == 0);
    case ATTR_STR:
        return a->s == b->s || (a->s && b->s && strcmp(a->s, b->s) == 0);
    }
    return false;
}
