/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions, element by element. */
#include "ops/op.h"

static const double inv_sqrt_2 = 0.7071067811865476;
static const double inv_sqrt_2pi = 0.3989422804014327;
static const double sqrt_2_over_pi = 0.7978845608028654;

/* Written on y, so that x may die after the forward pass. */
static void relu_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *y = rule_out(r, 0), *zero = ir_like(b, y, 0.0);

    grad_to(r, 0, ir_where(b, ir_gt(b, y, zero), grad_of(r, 0), zero));
}

const op_row op_relu = {
    .sig = "relu(x: numeric) -> y",
    .doc = "max(x, 0); its derivative at 0 is taken as 0.",
    .infer = infer_same,
    .grad = relu_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Relu", 6},
};

static void leaky_relu_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *dy = grad_of(r, 0);

    grad_to(
        r, 0,
        ir_where(b, ir_gt(b, x, ir_like(b, x, 0.0)), dy, ir_scale(b, dy, rule_real(r, "slope"))));
}

const op_row op_leaky_relu = {
    .sig = "leaky_relu(x: float, slope: real) -> y",
    .doc = "x where x > 0, else slope * x.",
    .infer = infer_same,
    .grad = leaky_relu_grad,
    .kind = OP_POINTWISE,
    .onnx = {"LeakyRelu", 6},
};

/* Below 0: alpha e^x = y + alpha. */
static void elu_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *dy = grad_of(r, 0);
    value *below = ir_mul(b, dy, ir_scale(b, ir_exp(b, x), rule_real(r, "alpha")));

    grad_to(r, 0, ir_where(b, ir_gt(b, x, ir_like(b, x, 0.0)), dy, below));
}

const op_row op_elu = {
    .sig = "elu(x: float, alpha: real) -> y",
    .doc = "x where x > 0, else alpha * (exp(x) - 1) (Clevert et al. 2015).",
    .infer = infer_same,
    .grad = elu_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Elu", 6},
};

static void sigmoid_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *y = rule_out(r, 0);
    value *slope = ir_mul(b, y, ir_sub(b, ir_like(b, y, 1.0), y));

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), slope));
}

const op_row op_sigmoid = {
    .sig = "sigmoid(x: float) -> y",
    .doc = "1 / (1 + exp(-x)).",
    .infer = infer_same,
    .grad = sigmoid_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Sigmoid", 6},
};

static void tanh_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *y = rule_out(r, 0);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_sub(b, ir_like(b, y, 1.0), ir_square(b, y))));
}

const op_row op_tanh = {
    .sig = "tanh(x: float) -> y",
    .doc = "Hyperbolic tangent.",
    .infer = infer_same,
    .grad = tanh_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Tanh", 6},
};

static void softplus_grad(rule *r)
{
    builder *b = rule_builder(r);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_sigmoid(b, rule_in(r, 0))));
}

const op_row op_softplus = {
    .sig = "softplus(x: float) -> y",
    .doc = "log(1 + exp(x)), without overflow.",
    .infer = infer_same,
    .grad = softplus_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
    .onnx = {"Softplus", 1},
};

/* d x s(x) = s + x s (1 - s) */
static void silu_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *s = ir_sigmoid(b, x);
    value *rest = ir_mul(b, x, ir_sub(b, ir_like(b, x, 1.0), s));

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_mul(b, s, ir_offset(b, rest, 1.0))));
}

const op_row op_silu = {
    .sig = "silu(x: float) -> y",
    .doc = "x * sigmoid(x) (Hendrycks and Gimpel 2016; also called swish).",
    .infer = infer_same,
    .grad = silu_grad,
    .kind = OP_POINTWISE,
};

/* d x P(x) = P + x p, with P and p the standard normal's distribution and density. */
static void gelu_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0);
    value *dist = ir_scale(b, ir_offset(b, ir_erf(b, ir_scale(b, x, inv_sqrt_2)), 1.0), 0.5);
    value *density = ir_scale(b, ir_exp(b, ir_scale(b, ir_square(b, x), -0.5)), inv_sqrt_2pi);

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_add(b, dist, ir_mul(b, x, density))));
}

const op_row op_gelu = {
    .sig = "gelu(x: float) -> y",
    .doc = "x times the standard normal's distribution at x (Hendrycks and Gimpel 2016).",
    .infer = infer_same,
    .grad = gelu_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Gelu", 20},
};

/* t = tanh(u), u = c (x + 0.044715 x^3): d = (1 + t)/2 + x/2 (1 - t^2) c (1 + 0.134145 x^2) */
static void gelu_tanh_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *square = ir_square(b, x);
    value *u =
        ir_scale(b, ir_mul(b, x, ir_offset(b, ir_scale(b, square, 0.044715), 1.0)), sqrt_2_over_pi);
    value *t = ir_tanh(b, u);
    value *du = ir_scale(b, ir_offset(b, ir_scale(b, square, 0.134145), 1.0), sqrt_2_over_pi);
    value *dt = ir_mul(b, ir_sub(b, ir_like(b, t, 1.0), ir_square(b, t)), du);
    value *sum = ir_add(b, ir_offset(b, t, 1.0), ir_mul(b, x, dt));

    grad_to(r, 0, ir_mul(b, grad_of(r, 0), ir_scale(b, sum, 0.5)));
}

const op_row op_gelu_tanh = {
    .sig = "gelu_tanh(x: float) -> y",
    .doc = "gelu by its tanh approximation.",
    .infer = infer_same,
    .grad = gelu_tanh_grad,
    .kind = OP_POINTWISE,
};

/* Between -3 and 3: x / 3 + 1 / 2. */
static void hard_swish_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *dy = grad_of(r, 0), *zero = ir_like(b, dy, 0.0);
    value *slope = ir_offset(b, ir_scale(b, x, 1.0 / 3.0), 0.5);
    value *inside = ir_where(b, ir_gt(b, x, ir_like(b, x, -3.0)), ir_mul(b, dy, slope), zero);

    grad_to(r, 0, ir_where(b, ir_lt(b, x, ir_like(b, x, 3.0)), inside, dy));
}

const op_row op_hard_swish = {
    .sig = "hard_swish(x: float) -> y",
    .doc = "x * clip(x / 6 + 1 / 2, 0, 1) (Howard et al. 2019).",
    .infer = infer_same,
    .grad = hard_swish_grad,
    .kind = OP_POINTWISE,
    .onnx = {"HardSwish", 14},
};

static bool clip_infer(infer *c)
{
    double lo = infer_real(c, "min"), hi = infer_real(c, "max");

    if (!(lo <= hi))
        return infer_fail(c, INGOT_E_ARGUMENT, "min %g is above max %g", lo, hi);
    return infer_same(c);
}

static void clip_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *dy = grad_of(r, 0);
    value *above = ir_ge(b, x, ir_like(b, x, rule_real(r, "min")));
    value *below = ir_le(b, x, ir_like(b, x, rule_real(r, "max")));

    grad_to(r, 0, ir_where(b, ir_logical_and(b, above, below), dy, ir_like(b, dy, 0.0)));
}

const op_row op_clip = {
    .sig = "clip(x: numeric, min: real, max: real) -> y",
    .doc = "x limited to [min, max]; NaN stays NaN.",
    .infer = clip_infer,
    .grad = clip_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Clip", 13},
};
