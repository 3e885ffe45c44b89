/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, logic, selection and conversion. */
#include "ops/op.h"

const op_row op_eq = {
    .sig = "eq(x: any, y: any) -> z",
    .doc = "x == y, a bool for each element.",
    .infer = infer_compare,
    .kind = OP_POINTWISE,
    .onnx = {"Equal", 7},
};

const op_row op_ne = {
    .sig = "ne(x: any, y: any) -> z",
    .doc = "x != y.",
    .infer = infer_compare,
    .kind = OP_POINTWISE,
};

const op_row op_lt = {
    .sig = "lt(x: numeric, y: numeric) -> z",
    .doc = "x < y.",
    .infer = infer_compare,
    .kind = OP_POINTWISE,
    .onnx = {"Less", 7},
};

const op_row op_le = {
    .sig = "le(x: numeric, y: numeric) -> z",
    .doc = "x <= y.",
    .infer = infer_compare,
    .kind = OP_POINTWISE,
    .onnx = {"LessOrEqual", 12},
};

const op_row op_gt = {
    .sig = "gt(x: numeric, y: numeric) -> z",
    .doc = "x > y.",
    .infer = infer_compare,
    .kind = OP_POINTWISE,
    .onnx = {"Greater", 7},
};

const op_row op_ge = {
    .sig = "ge(x: numeric, y: numeric) -> z",
    .doc = "x >= y.",
    .infer = infer_compare,
    .kind = OP_POINTWISE,
    .onnx = {"GreaterOrEqual", 12},
};

const op_row op_is_nan = {
    .sig = "is_nan(x: float) -> y",
    .doc = "Whether x is no number.",
    .infer = infer_test,
    .kind = OP_POINTWISE,
    .onnx = {"IsNaN", 9},
};

const op_row op_is_inf = {
    .sig = "is_inf(x: float) -> y",
    .doc = "Whether x is infinite.",
    .infer = infer_test,
    .kind = OP_POINTWISE,
    .onnx = {"IsInf", 10},
};

const op_row op_is_finite = {
    .sig = "is_finite(x: float) -> y",
    .doc = "Whether x is neither NaN nor infinite.",
    .infer = infer_test,
    .kind = OP_POINTWISE,
};

const op_row op_logical_not = {
    .sig = "logical_not(x: boolean) -> y",
    .doc = "Not x.",
    .infer = infer_same,
    .kind = OP_POINTWISE,
    .onnx = {"Not", 1},
};

const op_row op_logical_and = {
    .sig = "logical_and(x: boolean, y: boolean) -> z",
    .doc = "x and y.",
    .infer = infer_broadcast,
    .kind = OP_POINTWISE,
    .onnx = {"And", 7},
};

const op_row op_logical_or = {
    .sig = "logical_or(x: boolean, y: boolean) -> z",
    .doc = "x or y.",
    .infer = infer_broadcast,
    .kind = OP_POINTWISE,
    .onnx = {"Or", 7},
};

const op_row op_logical_xor = {
    .sig = "logical_xor(x: boolean, y: boolean) -> z",
    .doc = "Either x or y.",
    .infer = infer_broadcast,
    .kind = OP_POINTWISE,
    .onnx = {"Xor", 7},
};

static bool where_infer(infer *c)
{
    const type *cond = infer_in(c, 0), *x = infer_in(c, 1), *y = infer_in(c, 2);
    type t, both;

    if (!infer_same_dtype(c, 1, 2))
        return false;
    if (!shape_broadcast(x, y, &t) || !shape_broadcast(&t, cond, &both))
        return infer_fail(c, INGOT_E_SHAPE, "%s, %s and %s do not broadcast", infer_text(c, cond),
                          infer_text(c, x), infer_text(c, y));
    both.dt = x->dt;
    return infer_out(c, 0, both);
}

static void where_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *cond = rule_in(r, 0), *dz = grad_of(r, 0), *zero = ir_like(b, dz, 0.0);

    if (grad_needed(r, 1))
        grad_to(r, 1, ir_sum_to(b, ir_where(b, cond, dz, zero), &rule_in(r, 1)->type));
    if (grad_needed(r, 2))
        grad_to(r, 2, ir_sum_to(b, ir_where(b, cond, zero, dz), &rule_in(r, 2)->type));
}

const op_row op_where = {
    .sig = "where(cond: boolean, x: any, y: any) -> z",
    .doc = "x where cond holds, else y.",
    .infer = where_infer,
    .grad = where_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Where", 9},
};

static bool cast_infer(infer *c)
{
    type t = *infer_in(c, 0);

    t.dt = (dtype)infer_int(c, "to");
    return infer_out(c, 0, t);
}

static void cast_grad(rule *r)
{
    grad_to(r, 0, ir_cast(rule_builder(r), grad_of(r, 0), rule_in(r, 0)->type.dt));
}

const op_row op_cast = {
    .sig = "cast(x: any, to: dtype) -> y",
    .doc =
        "x as another dtype: floats round to even; to an integer the fraction is cut and the range "
        "limits; to bool, not zero is true.",
    .infer = cast_infer,
    .grad = cast_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Cast", 6},
};

const op_row op_stop_gradient = {
    .sig = "stop_gradient(x: any) -> y",
    .doc = "x, through which no gradient flows.",
    .infer = infer_same,
    .grad = grad_none,
    .kind = OP_POINTWISE,
};
