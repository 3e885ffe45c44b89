/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors made from a shape, and broadcasting. */
#include "ops/op.h"

#include <inttypes.h>

/* The entries of shape stand for the result's dimensions; -1 keeps x's (the symbolic batch too). */
static bool broadcast_to_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    ints shape = infer_ints(c, "shape");
    type t = {.dt = x->dt, .rank = shape.n};

    if (shape.n < x->rank || shape.n > MAX_RANK)
        return infer_fail(c, INGOT_E_SHAPE, "%s to rank %d; a rank from %d to %d is needed",
                          infer_text(c, x), shape.n, x->rank, MAX_RANK);
    for (int i = 0; i < shape.n; i++) {
        int at = i - (shape.n - x->rank);
        int64_t from = at >= 0 ? x->dim[at] : 1, to = shape.v[i];

        if (to == -1 && at >= 0)
            to = from;
        if (to < DIM_SYM || (to < 0 && to != from) || (from != to && from != 1))
            return infer_fail(c, INGOT_E_SHAPE, "%s does not broadcast to %" PRId64 " at axis %d",
                              infer_text(c, x), shape.v[i], i);
        t.dim[i] = to;
    }
    return infer_out(c, 0, t);
}

static void broadcast_to_grad(rule *r)
{
    grad_to(r, 0, ir_sum_to(rule_builder(r), grad_of(r, 0), &rule_in(r, 0)->type));
}

const op_row op_broadcast_to = {
    .sig = "broadcast_to(x: any, shape: ints) -> y",
    .doc =
        "x repeated along new axes and along those of size 1, to shape; -1 keeps a dimension of x.",
    .infer = broadcast_to_infer,
    .grad = broadcast_to_grad,
    .kind = OP_BROADCAST,
    .onnx = {"Expand", 8},
};

static bool full_infer(infer *c)
{
    type t;

    return infer_shape(c, "shape", (dtype)infer_int(c, "dtype"), &t) && infer_out(c, 0, t);
}

const op_row op_full = {
    .sig = "full(shape: ints, value: real, dtype: dtype) -> y",
    .doc = "A tensor with every element equal to value.",
    .infer = full_infer,
    .kind = OP_BROADCAST,
    .onnx = {"ConstantOfShape", 9},
};

static bool iota_infer(infer *c)
{
    dtype dt = (dtype)infer_int(c, "dtype");
    int64_t axis = infer_int(c, "axis");
    type t;

    if (!infer_shape(c, "shape", dt, &t))
        return false;
    if (axis < -t.rank || axis >= t.rank)
        return infer_fail(c, INGOT_E_ARGUMENT, "axis %" PRId64 " is outside [-%d, %d)", axis,
                          t.rank, t.rank);
    if (dt == INGOT_BOOL)
        return infer_fail(c, INGOT_E_DTYPE, "dtype bool cannot count; take a number type");
    return infer_out(c, 0, t);
}

const op_row op_iota = {
    .sig = "iota(shape: ints, axis: int, dtype: dtype) -> y",
    .doc = "0, 1, 2, ... along axis, the same along all others.",
    .infer = iota_infer,
    .kind = OP_BROADCAST,
};
