/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions, element by element. */
#include "ops/op.h"

static const double two_over_sqrt_pi = 1.1283791670955126;

static void neg_grad(rule *r)
{
    grad_to(r, 0, ir_neg(rule_builder(r), grad_of(r, 0)));
}

const op_row op_neg = {
    .sig = "neg(x: numeric) -> y",
    .doc = "-x; integers wrap.",
    .infer = infer_same,
    .grad = neg_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Neg", 6},
};

static void abs_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_sign(b, rule_in(r, 0))));
}

const op_row op_abs = {
    .sig = "abs(x: numeric) -> y",
    .doc = "|x|; its derivative at 0 is taken as 0.",
    .infer = infer_same,
    .grad = abs_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Abs", 6},
};

const op_row op_sign = {
    .sig = "sign(x: numeric) -> y",
    .doc = "-1, 0 or 1; NaN stays NaN.",
    .infer = infer_same,
    .grad = grad_none,
    .kind = OP_POINTWISE,
    .onnx = {"Sign", 9},
};

static void square_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_scale(b, rule_in(r, 0), 2.0)));
}

const op_row op_square = {
    .sig = "square(x: numeric) -> y",
    .doc = "x * x.",
    .infer = infer_same,
    .grad = square_grad,
    .kind = OP_POINTWISE,
};

static void exp_grad(rule *r)
{
    grad_to(r, 0, ir_mul(rule_builder(r), grad_of(r, 0), rule_out(r, 0)));
}

const op_row op_exp = {
    .sig = "exp(x: float) -> y",
    .doc = "e to the power of x.",
    .infer = infer_same,
    .grad = exp_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
    .onnx = {"Exp", 6},
};

static void expm1_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_offset(b, rule_out(r, 0), 1.0)));
}

const op_row op_expm1 = {
    .sig = "expm1(x: float) -> y",
    .doc = "exp(x) - 1, accurate near 0.",
    .infer = infer_same,
    .grad = expm1_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
};

static void log_grad(rule *r)
{
    grad_to(r, 0, ir_div(rule_builder(r), grad_of(r, 0), rule_in(r, 0)));
}

const op_row op_log = {
    .sig = "log(x: float) -> y",
    .doc = "Natural logarithm; -inf at 0, NaN below.",
    .infer = infer_same,
    .grad = log_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
    .onnx = {"Log", 6},
};

static void log1p_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_div(b, grad_of(r, 0), ir_offset(b, rule_in(r, 0), 1.0)));
}

const op_row op_log1p = {
    .sig = "log1p(x: float) -> y",
    .doc = "log(1 + x), accurate near 0.",
    .infer = infer_same,
    .grad = log1p_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
};

static void sqrt_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_div(b, ir_scale(b, grad_of(r, 0), 0.5), rule_out(r, 0)));
}

const op_row op_sqrt = {
    .sig = "sqrt(x: float) -> y",
    .doc = "Square root; NaN below 0.",
    .infer = infer_same,
    .grad = sqrt_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
    .onnx = {"Sqrt", 6},
};

/* d x^-1/2 = -1/2 x^-3/2 = -1/2 y^3 */
static void rsqrt_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *y = rule_out(r, 0);
    value *cube = ir_mul(b, ir_square(b, y), y);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_scale(b, cube, -0.5)));
}

const op_row op_rsqrt = {
    .sig = "rsqrt(x: float) -> y",
    .doc = "1 / sqrt(x).",
    .infer = infer_same,
    .grad = rsqrt_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
};

static void reciprocal_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_neg(b, ir_mul(b, grad_of(r, 0), ir_square(b, rule_out(r, 0)))));
}

const op_row op_reciprocal = {
    .sig = "reciprocal(x: float) -> y",
    .doc = "1 / x.",
    .infer = infer_same,
    .grad = reciprocal_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
    .onnx = {"Reciprocal", 6},
};

static void sin_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_cos(b, rule_in(r, 0))));
}

const op_row op_sin = {
    .sig = "sin(x: float) -> y",
    .doc = "Sine of x in radians.",
    .infer = infer_same,
    .grad = sin_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Sin", 7},
};

static void cos_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_neg(b, ir_mul(b, grad_of(r, 0), ir_sin(b, rule_in(r, 0)))));
}

const op_row op_cos = {
    .sig = "cos(x: float) -> y",
    .doc = "Cosine of x in radians.",
    .infer = infer_same,
    .grad = cos_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Cos", 7},
};

static void tan_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_offset(b, ir_square(b, rule_out(r, 0)), 1.0)));
}

const op_row op_tan = {
    .sig = "tan(x: float) -> y",
    .doc = "Tangent of x in radians.",
    .infer = infer_same,
    .grad = tan_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Tan", 7},
};

static void erf_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *bell = ir_exp(b, ir_neg(b, ir_square(b, rule_in(r, 0))));

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_scale(b, bell, two_over_sqrt_pi)));
}

const op_row op_erf = {
    .sig = "erf(x: float) -> y",
    .doc = "The error function.",
    .infer = infer_same,
    .grad = erf_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
    .onnx = {"Erf", 9},
};

const op_row op_floor = {
    .sig = "floor(x: float) -> y",
    .doc = "The greatest whole number not above x; its derivative is 0.",
    .infer = infer_same,
    .grad = grad_none,
    .kind = OP_POINTWISE,
    .onnx = {"Floor", 6},
};

const op_row op_ceil = {
    .sig = "ceil(x: float) -> y",
    .doc = "The least whole number not below x; its derivative is 0.",
    .infer = infer_same,
    .grad = grad_none,
    .kind = OP_POINTWISE,
    .onnx = {"Ceil", 6},
};

const op_row op_round = {
    .sig = "round(x: float) -> y",
    .doc = "The nearest whole number, halves to even; its derivative is 0.",
    .infer = infer_same,
    .grad = grad_none,
    .kind = OP_POINTWISE,
    .onnx = {"Round", 11},
};

const op_row op_trunc = {
    .sig = "trunc(x: float) -> y",
    .doc = "x without its fraction; its derivative is 0.",
    .infer = infer_same,
    .grad = grad_none,
    .kind = OP_POINTWISE,
};
