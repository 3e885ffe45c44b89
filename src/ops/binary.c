/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on two operands, broadcast as NumPy does. */
#include "ops/op.h"

/* Sends v, a gradient of the broadcast shape, to input i. */
static void grad_broadcast(rule *r, int i, value *v)
{
    grad_to(r, i, ir_sum_to(rule_builder(r), v, &rule_in(r, i)->type));
}

static void add_grad(rule *r)
{
    for (int i = 0; i < 2; i++)
        if (grad_needed(r, i))
            grad_broadcast(r, i, grad_of(r, 0));
}

const op_row op_add = {
    .sig = "add(x: numeric, y: numeric) -> z",
    .doc = "x + y.",
    .infer = infer_broadcast,
    .grad = add_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Add", 7},
};

static void sub_grad(rule *r)
{
    if (grad_needed(r, 0))
        grad_broadcast(r, 0, grad_of(r, 0));
    if (grad_needed(r, 1))
        grad_broadcast(r, 1, ir_neg(rule_builder(r), grad_of(r, 0)));
}

const op_row op_sub = {
    .sig = "sub(x: numeric, y: numeric) -> z",
    .doc = "x - y.",
    .infer = infer_broadcast,
    .grad = sub_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Sub", 7},
};

static void mul_grad(rule *r)
{
    for (int i = 0; i < 2; i++)
        if (grad_needed(r, i))
            grad_broadcast(r, i, ir_mul(rule_builder(r), grad_of(r, 0), rule_in(r, 1 - i)));
}

const op_row op_mul = {
    .sig = "mul(x: numeric, y: numeric) -> z",
    .doc = "x * y.",
    .infer = infer_broadcast,
    .grad = mul_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Mul", 7},
};

static void div_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *y = rule_in(r, 1), *scaled = ir_div(b, grad_of(r, 0), y);

    if (grad_needed(r, 0))
        grad_broadcast(r, 0, scaled);
    if (grad_needed(r, 1))
        grad_broadcast(r, 1, ir_neg(b, ir_mul(b, scaled, rule_out(r, 0))));
}

const op_row op_div = {
    .sig = "div(x: numeric, y: numeric) -> z",
    .doc = "x / y; integers: the quotient without its fraction, and 0 for a divisor of 0.",
    .infer = infer_broadcast,
    .grad = div_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Div", 7},
};

/* dx = y x^(y-1), dy = x^y log x; the latter only where x > 0, elsewhere 0 as the limit at 0 is. */
static void pow_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *y = rule_in(r, 1), *dz = grad_of(r, 0);

    if (grad_needed(r, 0)) {
        value *slope = ir_mul(b, y, ir_pow(b, x, ir_offset(b, y, -1.0)));

        grad_broadcast(r, 0, ir_mul(b, dz, slope));
    }
    if (grad_needed(r, 1)) {
        value *zero = ir_like(b, x, 0.0), *one = ir_like(b, x, 1.0);
        value *positive = ir_gt(b, x, zero);
        value *log_x = ir_log(b, ir_where(b, positive, x, one));

        grad_broadcast(r, 1, ir_mul(b, dz, ir_mul(b, rule_out(r, 0), log_x)));
    }
}

const op_row op_pow = {
    .sig = "pow(x: numeric, y: numeric) -> z",
    .doc =
        "x to the power of y; integers wrap, and a negative exponent of an integer gives 0 but for 1 "
        "and -1.",
    .infer = infer_broadcast,
    .grad = pow_grad,
    .kind = OP_POINTWISE,
    .amp = AMP_FULL,
    .onnx = {"Pow", 7},
};

/* Where the operands are equal each gets half. */
static void extremum_grad(rule *r, bool greater)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *y = rule_in(r, 1), *dz = grad_of(r, 0);
    value *zero = ir_like(b, dz, 0.0);
    value *tie = ir_where(b, ir_eq(b, x, y), ir_scale(b, dz, 0.5), zero);

    for (int i = 0; i < 2; i++) {
        bool x_wins = (i == 0) == greater;

        if (grad_needed(r, i))
            grad_broadcast(r, i, ir_where(b, x_wins ? ir_gt(b, x, y) : ir_lt(b, x, y), dz, tie));
    }
}

static void minimum_grad(rule *r)
{
    extremum_grad(r, false);
}

const op_row op_minimum = {
    .sig = "minimum(x: numeric, y: numeric) -> z",
    .doc = "The lesser of x and y; NaN when either is.",
    .infer = infer_broadcast,
    .grad = minimum_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Min", 8},
};

static void maximum_grad(rule *r)
{
    extremum_grad(r, true);
}

const op_row op_maximum = {
    .sig = "maximum(x: numeric, y: numeric) -> z",
    .doc = "The greater of x and y; NaN when either is.",
    .infer = infer_broadcast,
    .grad = maximum_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Max", 8},
};

static void mod_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *dz = grad_of(r, 0);

    if (grad_needed(r, 0))
        grad_broadcast(r, 0, dz);
    if (grad_needed(r, 1)) {
        value *whole = ir_floor(b, ir_div(b, rule_in(r, 0), rule_in(r, 1)));

        grad_broadcast(r, 1, ir_neg(b, ir_mul(b, dz, whole)));
    }
}

const op_row op_mod = {
    .sig = "mod(x: numeric, y: numeric) -> z",
    .doc = "The remainder of x / y with the sign of y, as NumPy's; integers: 0 for a divisor of 0.",
    .infer = infer_broadcast,
    .grad = mod_grad,
    .kind = OP_POINTWISE,
    .onnx = {"Mod", 10},
};
