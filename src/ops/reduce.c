/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over axes (none named = over all), and the places of extrema. */
#include "ops/op.h"

static bool reduced_type(infer *c, type *t, unsigned *mask)
{
    const type *x = infer_in(c, 0);
    bool keep = infer_int(c, "keepdims") != 0;

    if (!infer_axes(c, "axes", x->rank, mask))
        return false;
    *t = (type){.dt = x->dt};
    for (int i = 0; i < x->rank; i++) {
        bool reduced = *mask >> i & 1;

        if (!reduced || keep)
            t->dim[t->rank++] = reduced ? 1 : x->dim[i];
    }
    return true;
}

static bool reduce_infer(infer *c)
{
    unsigned mask;
    type t;

    return reduced_type(c, &t, &mask) && infer_out(c, 0, t);
}

/* Nothing has no extremum. */
static bool extremum_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    unsigned mask;
    type t;

    if (!reduced_type(c, &t, &mask))
        return false;
    for (int i = 0; i < x->rank; i++)
        if ((mask >> i & 1) && x->dim[i] == 0)
            return infer_fail(c, INGOT_E_SHAPE, "axis %d of %s is empty and has no extremum", i,
                              infer_text(c, x));
    return infer_out(c, 0, t);
}

static unsigned axes_mask(const rule *r, int rank)
{
    ints axes = rule_ints(r, "axes");
    unsigned mask = axes.n ? 0 : (1u << rank) - 1u;

    for (int i = 0; i < axes.n; i++)
        mask |= 1u << (axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i]);
    return mask;
}

/* v, of the reduced shape, with the reduced axes as 1: it broadcasts against x. */
static value *kept(rule *r, value *v)
{
    type t = rule_in(r, 0)->type;
    unsigned mask = axes_mask(r, t.rank);

    for (int i = 0; i < t.rank; i++)
        if (mask >> i & 1)
            t.dim[i] = 1;
    return ir_reshape_to(rule_builder(r), v, &t);
}

static void sum_grad(rule *r)
{
    grad_to(r, 0, ir_expand_to(rule_builder(r), kept(r, grad_of(r, 0)), &rule_in(r, 0)->type));
}

const op_row op_sum = {
    .sig = "sum(x: numeric, axes: ints = 0, keepdims: flag = 0) -> y",
    .doc = "The sum over axes; 0 over nothing.",
    .infer = reduce_infer,
    .grad = sum_grad,
    .kind = OP_REDUCTION,
    .amp = AMP_FULL,
    .onnx = {"ReduceSum", 13},
};

static void mean_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0);
    unsigned mask = axes_mask(r, x->type.rank);
    double count = 1.0;

    for (int i = 0; i < x->type.rank; i++)
        if (mask >> i & 1)
            count *= (double)x->type.dim[i];
    value *sum = ir_sum(b, x, rule_ints(r, "axes"), rule_int(r, "keepdims") != 0);

    expand_to(r, 0, ir_div(b, sum, ir_like(b, sum, count)));
}

const op_row op_mean = {
    .sig = "mean(x: float, axes: ints = 0, keepdims: flag = 0) -> y",
    .doc = "The mean over axes; NaN over nothing.",
    .infer = reduce_infer,
    .expand = mean_expand,
    .kind = OP_REDUCTION,
    .amp = AMP_FULL,
    .onnx = {"ReduceMean", 13},
};

/* dx = dy * (product of the others), which is y / x unless a zero is among them. */
static void prod_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *zero = ir_like(b, x, 0.0), *one = ir_like(b, x, 1.0);
    unsigned mask = axes_mask(r, x->type.rank);
    value *is_zero = ir_eq(b, x, zero);
    value *no_zero = ir_where(b, is_zero, one, x);
    value *zeros = ir_sum_keep(b, ir_cast_to(b, is_zero, x->type.dt), mask);
    int64_t axes[MAX_RANK];
    int n = 0;

    for (int i = 0; i < x->type.rank; i++)
        if (mask >> i & 1)
            axes[n++] = i;
    value *rest = n ? ir_prod(b, no_zero, (ints){axes, n}, true) : no_zero;
    value *at_zero = ir_where(b, ir_eq(b, zeros, one), rest, zero);
    value *elsewhere = ir_where(b, ir_eq(b, zeros, zero), ir_div(b, rest, no_zero), zero);
    value *others = ir_where(b, is_zero, at_zero, elsewhere);

    grad_to(r, 0, ir_mul(b, kept(r, grad_of(r, 0)), others));
}

const op_row op_prod = {
    .sig = "prod(x: numeric, axes: ints = 0, keepdims: flag = 0) -> y",
    .doc = "The product over axes; 1 over nothing.",
    .infer = reduce_infer,
    .grad = prod_grad,
    .kind = OP_REDUCTION,
    .amp = AMP_FULL,
    .onnx = {"ReduceProd", 13},
};

/* All elements equal to the extremum share the gradient evenly. */
static void extremum_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0);
    value *hit = ir_cast_to(b, ir_eq(b, x, kept(r, rule_out(r, 0))), x->type.dt);
    value *hits = ir_sum_keep(b, hit, axes_mask(r, x->type.rank));

    grad_to(r, 0, ir_mul(b, hit, ir_div(b, kept(r, grad_of(r, 0)), hits)));
}

const op_row op_max = {
    .sig = "max(x: numeric, axes: ints = 0, keepdims: flag = 0) -> y",
    .doc = "The greatest element over axes; NaN when there is one; ties share the gradient.",
    .infer = extremum_infer,
    .grad = extremum_grad,
    .kind = OP_REDUCTION,
    .onnx = {"ReduceMax", 13},
};

const op_row op_min = {
    .sig = "min(x: numeric, axes: ints = 0, keepdims: flag = 0) -> y",
    .doc = "The least element over axes; NaN when there is one; ties share the gradient.",
    .infer = extremum_infer,
    .grad = extremum_grad,
    .kind = OP_REDUCTION,
    .onnx = {"ReduceMin", 13},
};

const op_row op_any = {
    .sig = "any(x: boolean, axes: ints = 0, keepdims: flag = 0) -> y",
    .doc = "Whether any element over axes is true; false over nothing.",
    .infer = reduce_infer,
    .kind = OP_REDUCTION,
};

const op_row op_all = {
    .sig = "all(x: boolean, axes: ints = 0, keepdims: flag = 0) -> y",
    .doc = "Whether all elements over axes are true; true over nothing.",
    .infer = reduce_infer,
    .kind = OP_REDUCTION,
};

static bool arg_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    bool keep = infer_int(c, "keepdims") != 0;
    type t = {.dt = INGOT_I64};
    int axis;

    if (!infer_axis(c, "axis", x->rank, &axis))
        return false;
    if (x->dim[axis] == 0)
        return infer_fail(c, INGOT_E_SHAPE, "axis %d of %s is empty and has no extremum", axis,
                          infer_text(c, x));
    for (int i = 0; i < x->rank; i++)
        if (i != axis || keep)
            t.dim[t.rank++] = i == axis ? 1 : x->dim[i];
    return infer_out(c, 0, t);
}

const op_row op_argmax = {
    .sig = "argmax(x: numeric, axis: int, keepdims: flag = 0) -> y",
    .doc = "The first place of the greatest element along axis, i64; a NaN counts as the greatest.",
    .infer = arg_infer,
    .kind = OP_OPAQUE,
    .onnx = {"ArgMax", 13},
};

const op_row op_argmin = {
    .sig = "argmin(x: numeric, axis: int, keepdims: flag = 0) -> y",
    .doc = "The first place of the least element along axis, i64; a NaN counts as the least.",
    .infer = arg_infer,
    .kind = OP_OPAQUE,
    .onnx = {"ArgMin", 13},
};
