/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

type type_make(dtype dt, int rank, const int64_t *dims)
{
    type t = {.dt = dt, .rank = rank};

    for (int i = 0; i < rank && i < MAX_RANK; i++)
        t.dim[i] = dims[i];
    return t;
}

bool shape_equal(const type *a, const type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

bool type_equal(const type *a, const type *b)
{
    return a->dt == b->dt && shape_equal(a, b);
}

bool type_symbolic(const type *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] == DIM_SYM)
            return true;
    return false;
}

bool type_check(const type *t, error *e)
{
    int64_t bytes = (int64_t)dtype_size(t->dt);

    if (!dtype_valid(t->dt))
        return fail(e, INGOT_E_DTYPE, "dtype: %d is none", (int)t->dt);
    if (t->rank < 0 || t->rank > MAX_RANK)
        return fail(e, INGOT_E_SHAPE, "rank: %d is outside [0, %d]", t->rank, MAX_RANK);
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] < 0 && t->dim[i] != DIM_SYM)
            return fail(e, INGOT_E_SHAPE, "dimension %d: %" PRId64 " is negative", i, t->dim[i]);
        /* Zeros are left out, so that strides and products in any order fit too. */
        if (t->dim[i] > 0 && !i64_mul(bytes, t->dim[i], &bytes)) {
            char text[TYPE_TEXT];

            return fail(e, INGOT_E_SHAPE, "type %s: its size overflows 64 bits",
                        type_text(t, text));
        }
    }
    return true;
}

int64_t type_count(const type *t)
{
    int64_t n = 1;

    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != DIM_SYM)
            n *= t->dim[i];
    return n;
}

size_t type_bytes(const type *t)
{
    return (size_t)type_count(t) * dtype_size(t->dt);
}

void type_strides(const type *t, int64_t stride[MAX_RANK])
{
    int64_t step = 1;

    for (int i = t->rank - 1; i >= 0; i--) {
        stride[i] = step;
        if (t->dim[i] != DIM_SYM)
            step *= t->dim[i];
    }
}

const char *shape_text(const type *t, char buf[TYPE_TEXT])
{
    size_t len = 0;

    buf[len++] = '[';
    for (int i = 0; i < t->rank && i < MAX_RANK; i++) {
        if (i)
            buf[len++] = ',';
        if (t->dim[i] == DIM_SYM)
            buf[len++] = 'B';
        else
            len += (size_t)snprintf(buf + len, TYPE_TEXT - len, "%" PRId64, t->dim[i]);
    }
    buf[len++] = ']';
    buf[len] = '\0';
    return buf;
}

/* The longest text: a name, brackets, MAX_RANK dimensions of 20 characters and their commas. */
_Static_assert(TYPE_TEXT > 8 + 2 + MAX_RANK * 21, "a type's text fits");

const char *type_text(const type *t, char buf[TYPE_TEXT])
{
    char shape[TYPE_TEXT];
    size_t name = strlen(dtype_name(t->dt)), len;

    shape_text(t, shape);
    len = strlen(shape);
    memcpy(buf, dtype_name(t->dt), name);
    memcpy(buf + name, shape, len + 1);
    return buf;
}

static bool parse_dim(const char **s, int64_t *out, error *e)
{
    const char *p = *s;
    int64_t v = 0;

    if (*p == 'B') {
        *out = DIM_SYM;
        *s = p + 1;
        return true;
    }
    if (*p < '0' || *p > '9')
        return fail(e, INGOT_E_FORMAT, "shape: a dimension is needed at '%.16s'", p);
    for (; *p >= '0' && *p <= '9'; p++)
        if (!i64_mul(v, 10, &v) || !i64_add(v, *p - '0', &v))
            return fail(e, INGOT_E_FORMAT, "shape: dimension '%.24s' overflows 64 bits", *s);
    *out = v;
    *s = p;
    return true;
}

bool type_parse(const char **s, type *out, error *e)
{
    const char *p = *s;
    size_t n = 0;
    type t = {0};

    while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= '0' && p[n] <= '9'))
        n++;
    if (!dtype_parse(p, n, &t.dt))
        return fail(e, INGOT_E_FORMAT, "type: '%.*s' is no dtype", (int)(n < 16 ? n : 16), p);
    p += n;
    if (*p++ != '[')
        return fail(e, INGOT_E_FORMAT, "type: '[' is needed after '%.*s'", (int)n, *s);
    while (*p != ']') {
        if (t.rank == MAX_RANK)
            return fail(e, INGOT_E_FORMAT, "type: more than %d dimensions", MAX_RANK);
        if (t.rank > 0 && *p++ != ',')
            return fail(e, INGOT_E_FORMAT, "type: ',' or ']' is needed at '%.16s'", p - 1);
        if (!parse_dim(&p, &t.dim[t.rank], e))
            return false;
        t.rank++;
    }
    if (!type_check(&t, e))
        return false;
    *s = p + 1;
    *out = t;
    return true;
}

bool shape_broadcast(const type *a, const type *b, type *out)
{
    type t = {.dt = a->dt, .rank = a->rank > b->rank ? a->rank : b->rank};

    for (int i = 1; i <= t.rank; i++) {
        int64_t x = i <= a->rank ? a->dim[a->rank - i] : 1;
        int64_t y = i <= b->rank ? b->dim[b->rank - i] : 1;

        if (x != y && x != 1 && y != 1)
            return false;
        t.dim[t.rank - i] = x == 1 ? y : x;
    }
    *out = t;
    return true;
}
