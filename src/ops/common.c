/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that op rows share. */
#include "ops/op.h"

#include <inttypes.h>

value *ir_reshape_to(builder *b, value *v, const type *t)
{
    if (!v || shape_equal(&v->type, t))
        return v;
    return ir_reshape(b, v, (ints){t->dim, t->rank}, true);
}

value *ir_sum_to(builder *b, value *v, const type *to)
{
    int64_t axes[MAX_RANK];
    int n = 0, lead;

    if (!v || shape_equal(&v->type, to))
        return v;
    lead = v->type.rank - to->rank;
    for (int i = 0; i < v->type.rank; i++)
        if (i < lead || (to->dim[i - lead] == 1 && v->type.dim[i] != 1))
            axes[n++] = i;
    if (n)
        v = ir_sum(b, v, (ints){axes, n}, true);
    return ir_reshape_to(b, v, to);
}

value *ir_expand_to(builder *b, value *v, const type *t)
{
    if (!v || shape_equal(&v->type, t))
        return v;
    return ir_broadcast_to(b, v, (ints){t->dim, t->rank});
}

value *ir_cast_to(builder *b, value *v, dtype dt)
{
    return !v || v->type.dt == dt ? v : ir_cast(b, v, dt);
}

value *ir_zeros_like(builder *b, const value *v)
{
    return v ? ir_full(b, (ints){v->type.dim, v->type.rank}, 0.0, v->type.dt) : NULL;
}

value *ir_like(builder *b, const value *x, double v)
{
    return x ? ir_scalar(b, x->type.dt, v) : NULL;
}

value *ir_scale(builder *b, value *x, double factor)
{
    return ir_mul(b, x, ir_like(b, x, factor));
}

value *ir_offset(builder *b, value *x, double term)
{
    return ir_add(b, x, ir_like(b, x, term));
}

value *ir_sum_keep(builder *b, value *x, unsigned mask)
{
    int64_t axes[MAX_RANK];
    int n = 0;

    for (int i = 0; i < MAX_RANK; i++)
        if (mask >> i & 1)
            axes[n++] = i;
    return n && x ? ir_sum(b, x, (ints){axes, n}, true) : x;
}

value *ir_mean_keep(builder *b, value *x, unsigned mask)
{
    double count = 1.0;

    for (int i = 0; x && i < x->type.rank; i++)
        if (mask >> i & 1)
            count *= (double)x->type.dim[i];
    x = ir_sum_keep(b, x, mask);
    return ir_div(b, x, ir_like(b, x, count));
}

bool infer_same(infer *c)
{
    return infer_out(c, 0, *infer_in(c, 0));
}

bool infer_test(infer *c)
{
    type t = *infer_in(c, 0);

    t.dt = INGOT_BOOL;
    return infer_out(c, 0, t);
}

bool infer_same_dtype(infer *c, int a, int b)
{
    const type *x = infer_in(c, a), *y = infer_in(c, b);

    return x->dt == y->dt ||
           infer_fail(c, INGOT_E_DTYPE, "%s and %s differ in dtype (cast one of them)",
                      infer_text(c, x), infer_text(c, y));
}

static bool broadcast_type(infer *c, type *out)
{
    const type *x = infer_in(c, 0), *y = infer_in(c, 1);

    if (!infer_same_dtype(c, 0, 1))
        return false;
    if (!shape_broadcast(x, y, out))
        return infer_fail(c, INGOT_E_SHAPE, "%s and %s do not broadcast", infer_text(c, x),
                          infer_text(c, y));
    out->dt = x->dt;
    return true;
}

bool infer_broadcast(infer *c)
{
    type t;

    return broadcast_type(c, &t) && infer_out(c, 0, t);
}

bool infer_compare(infer *c)
{
    type t;

    if (!broadcast_type(c, &t))
        return false;
    t.dt = INGOT_BOOL;
    return infer_out(c, 0, t);
}

bool infer_rank(infer *c, int input, const char *name, int at_least, int at_most)
{
    const type *t = infer_in(c, input);

    if (t->rank >= at_least && t->rank <= at_most)
        return true;
    if (at_least == at_most)
        return infer_fail(c, INGOT_E_SHAPE, "%s is %s; rank %d is needed", name, infer_text(c, t),
                          at_least);
    return infer_fail(c, INGOT_E_SHAPE, "%s is %s; a rank from %d to %d is needed", name,
                      infer_text(c, t), at_least, at_most);
}

bool infer_shape(infer *c, const char *name, dtype dt, type *out)
{
    ints shape = infer_ints(c, name);

    if (shape.n > MAX_RANK)
        return infer_fail(c, INGOT_E_SHAPE, "%s has %d dimensions; %d at most", name, shape.n,
                          MAX_RANK);
    *out = (type){.dt = dt, .rank = shape.n};
    for (int i = 0; i < shape.n; i++) {
        if (shape.v[i] < 0)
            return infer_fail(c, INGOT_E_SHAPE,
                              "%s: dimension %d is %" PRId64 "; 0 or more is needed", name, i,
                              shape.v[i]);
        out->dim[i] = shape.v[i];
    }
    return true;
}

void grad_none(rule *r)
{
    (void)r;
}
