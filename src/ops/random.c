/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from explicit keys (Philox4x32-10): the same key gives the same numbers on every
   machine, so that a gradient may draw its mask a second time instead of keeping it. */
#include "ops/op.h"

static bool check_key(infer *c, int i)
{
    const type *key = infer_in(c, i);

    return (key->dt == INGOT_I64 && key->rank == 1 && key->dim[0] == 2) ||
           infer_fail(c, INGOT_E_SHAPE, "key is %s; i64[2] is needed", infer_text(c, key));
}

static bool random_split_infer(infer *c)
{
    return check_key(c, 0) && infer_same(c);
}

const op_row op_random_split = {
    .sig = "random_split(key: integer, stream: int) -> child",
    .doc = "The key of an independent stream.",
    .infer = random_split_infer,
    .kind = OP_OPAQUE,
};

static bool draw_infer(infer *c, dtype dt)
{
    type t;

    return check_key(c, 0) && infer_shape(c, "shape", dt, &t) && infer_out(c, 0, t);
}

static bool random_uniform_infer(infer *c)
{
    double low = infer_real(c, "low"), high = infer_real(c, "high");

    if (!(low <= high))
        return infer_fail(c, INGOT_E_ARGUMENT, "low %g is above high %g", low, high);
    return draw_infer(c, INGOT_F32);
}

const op_row op_random_uniform = {
    .sig = "random_uniform(key: integer, shape: ints, low: real, high: real) -> y",
    .doc = "f32 numbers, uniform in [low, high).",
    .infer = random_uniform_infer,
    .kind = OP_OPAQUE,
};

static bool random_normal_infer(infer *c)
{
    double std = infer_real(c, "std");

    if (!(std >= 0.0))
        return infer_fail(c, INGOT_E_ARGUMENT, "std %g is below 0", std);
    return draw_infer(c, INGOT_F32);
}

const op_row op_random_normal = {
    .sig = "random_normal(key: integer, shape: ints, mean: real, std: real) -> y",
    .doc = "f32 numbers of the normal distribution.",
    .infer = random_normal_infer,
    .kind = OP_OPAQUE,
};

static bool check_p(infer *c)
{
    double p = infer_real(c, "p");

    return (p >= 0.0 && p <= 1.0) || infer_fail(c, INGOT_E_ARGUMENT, "p %g is outside [0, 1]", p);
}

static bool random_bernoulli_infer(infer *c)
{
    return check_p(c) && draw_infer(c, INGOT_BOOL);
}

const op_row op_random_bernoulli = {
    .sig = "random_bernoulli(key: integer, shape: ints, p: real) -> y",
    .doc = "bools, each true with probability p.",
    .infer = random_bernoulli_infer,
    .kind = OP_OPAQUE,
};

static bool dropout_infer(infer *c)
{
    return check_p(c) && check_key(c, 1) && infer_same(c);
}

static void dropout_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *zero = ir_like(b, x, 0.0);
    double p = rule_real(r, "p"), keep = 1.0 - p;

    if (p == 0.0) {
        expand_to(r, 0, x);
        return;
    }
    value *mask = ir_random_bernoulli(b, rule_in(r, 1), (ints){x->type.dim, x->type.rank}, keep);

    expand_to(r, 0, ir_where(b, mask, ir_scale(b, x, keep > 0.0 ? 1.0 / keep : 0.0), zero));
}

const op_row op_dropout = {
    .sig = "dropout(x: float, key: integer, p: real) -> y",
    .doc = "Each element is 0 with probability p, else divided by 1 - p (Srivastava et al. 2014).",
    .infer = dropout_infer,
    .expand = dropout_expand,
    .kind = OP_OPAQUE,
};
