/* SPDX-License-Identifier: Apache-2.0 */
/* softmax: y_i = exp(x_i - m) / sum_j exp(x_j - m), m = max_j x_j, along one axis; and its log. */
#include "ops/op.h"

static bool softmax_infer(infer *c)
{
    int axis;

    return infer_axis(c, "axis", infer_in(c, 0)->rank, &axis) && infer_same(c);
}

static unsigned axis_mask(const rule *r)
{
    int64_t axis = rule_int(r, "axis");

    return 1u << (axis < 0 ? axis + rule_in(r, 0)->type.rank : axis);
}

/* dx = y (dy - sum(y dy)). Written on y, so that x may die after the forward pass. */
static void softmax_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *y = rule_out(r, 0), *dy = grad_of(r, 0);
    value *dot = ir_sum_keep(b, ir_mul(b, y, dy), axis_mask(r));

    grad_to(r, 0, ir_mul(b, y, ir_sub(b, dy, dot)));
}

static double softmax_flops(const type *in, const type *out)
{
    (void)out;
    return 5.0 * (double)type_count(&in[0]); /* max, sub, exp, sum, scale */
}

const op_row op_softmax = {
    .sig = "softmax(x: float, axis: int) -> y",
    .doc = "Softmax along one axis; every slice of y sums to 1.",
    .infer = softmax_infer,
    .grad = softmax_grad,
    .flops = softmax_flops,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
    .onnx = {"Softmax", 13},
};

/* dx = dy - exp(y) sum(dy) */
static void log_softmax_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *dy = grad_of(r, 0), *sum = ir_sum_keep(b, dy, axis_mask(r));

    grad_to(r, 0, ir_sub(b, dy, ir_mul(b, ir_exp(b, rule_out(r, 0)), sum)));
}

const op_row op_log_softmax = {
    .sig = "log_softmax(x: float, axis: int) -> y",
    .doc = "The logarithm of softmax, without overflow.",
    .infer = softmax_infer,
    .grad = log_softmax_grad,
    .flops = softmax_flops,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
    .onnx = {"LogSoftmax", 13},
};
