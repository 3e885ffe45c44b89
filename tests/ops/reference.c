/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/reference.h"

#include <assert.h>
#include <string.h>

static const attr *find(const ref_call *c, const char *name)
{
    int i = 0;

    while (i < c->op->n_attrs && strcmp(c->op->attrs[i].name, name) != 0)
        i++;
    assert(i < c->op->n_attrs);
    return &c->attrs[i];
}

int64_t ref_int(const ref_call *c, const char *name)
{
    return find(c, name)->i;
}

double ref_real(const ref_call *c, const char *name)
{
    return find(c, name)->f;
}

ints ref_ints(const ref_call *c, const char *name)
{
    return find(c, name)->a;
}

const char *ref_str(const ref_call *c, const char *name)
{
    return find(c, name)->s;
}

int ref_axis(const ref_call *c, const char *name, int rank)
{
    int64_t axis = ref_int(c, name);

    return (int)(axis < 0 ? axis + rank : axis);
}

void ref_unflat(const type *t, int64_t i, int64_t at[MAX_RANK])
{
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = i % t->dim[d];
        i /= t->dim[d];
    }
}

int64_t ref_flat(const type *t, const int64_t at[MAX_RANK])
{
    int64_t i = 0;

    for (int d = 0; d < t->rank; d++)
        i = i * t->dim[d] + at[d];
    return i;
}

double ref_wrap(dtype dt, int64_t v)
{
    unsigned char element[8];

    dtype_set_i64(dt, element, 0, v);
    return dtype_get_f64(dt, element, 0);
}
