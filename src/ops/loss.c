/* SPDX-License-Identifier: Apache-2.0 */
/* Losses, written in other ops. reduction: "mean" (and "", the default), "sum" or "none". */
#include "ops/op.h"

#include <string.h>

static bool check_reduction(infer *c, bool *none)
{
    const char *s = infer_str(c, "reduction");

    *none = strcmp(s, "none") == 0;
    return *none || !*s || strcmp(s, "mean") == 0 || strcmp(s, "sum") == 0 ||
           infer_fail(c, INGOT_E_ARGUMENT,
                      "reduction \"%s\": \"mean\", \"sum\" or \"none\" is needed", s);
}

static bool loss_out(infer *c, type each)
{
    bool none;

    if (!check_reduction(c, &none))
        return false;
    if (!none)
        each.rank = 0;
    return infer_out(c, 0, each);
}

static void loss_expand(rule *r, value *each)
{
    builder *b = rule_builder(r);
    const char *s = rule_str(r, "reduction");

    if (strcmp(s, "none") == 0)
        expand_to(r, 0, each);
    else if (strcmp(s, "sum") == 0)
        expand_to(r, 0, ir_sum(b, each, NO_INTS, false));
    else
        expand_to(r, 0, ir_mean(b, each, NO_INTS, false));
}

/* x without axis 1, the classes'. */
static type without_classes(const type *x)
{
    type t = {.dt = x->dt};

    for (int i = 0; i < x->rank; i++)
        if (i != 1)
            t.dim[t.rank++] = x->dim[i];
    return t;
}

static bool cross_entropy_infer(infer *c)
{
    const type *x = infer_in(c, 0), *target = infer_in(c, 1);
    type each;

    if (!infer_rank(c, 0, "logits", 2, MAX_RANK))
        return false;
    each = without_classes(x);
    if (!shape_equal(&each, target))
        return infer_fail(c, INGOT_E_SHAPE,
                          "target is %s for logits %s, whose axis 1 is the classes",
                          infer_text(c, target), infer_text(c, x));
    return loss_out(c, each);
}

static void cross_entropy_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *target = rule_in(r, 1);
    type each = without_classes(&rule_in(r, 0)->type), column = rule_in(r, 0)->type;

    column.dim[1] = 1;
    value *log_p = ir_log_softmax(b, rule_in(r, 0), 1);
    value *picked = ir_gather_elements(b, log_p, ir_reshape_to(b, target, &column), 1);

    loss_expand(r, ir_neg(b, ir_reshape_to(b, picked, &each)));
}

const op_row op_cross_entropy = {
    .sig = "cross_entropy(logits: float, target: index, reduction: str = 0) -> loss",
    .doc =
        "-log softmax(logits)[target] for logits [N,C,..] and the classes' numbers, target [N,..].",
    .infer = cross_entropy_infer,
    .expand = cross_entropy_expand,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
    .onnx = {"SoftmaxCrossEntropyLoss", 13},
};

static bool cross_entropy_dense_infer(infer *c)
{
    const type *x = infer_in(c, 0), *target = infer_in(c, 1);

    if (!infer_rank(c, 0, "logits", 2, MAX_RANK))
        return false;
    if (!type_equal(x, target))
        return infer_fail(c, INGOT_E_SHAPE, "target is %s for logits %s; the types must be equal",
                          infer_text(c, target), infer_text(c, x));
    return loss_out(c, without_classes(x));
}

static void cross_entropy_dense_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *log_p = ir_log_softmax(b, rule_in(r, 0), 1);
    value *sum = ir_sum(b, ir_mul(b, log_p, rule_in(r, 1)), INTS(1), false);

    loss_expand(r, ir_neg(b, sum));
}

const op_row op_cross_entropy_dense = {
    .sig = "cross_entropy_dense(logits: float, target: float, reduction: str = 0) -> loss",
    .doc = "-sum over classes of target * log softmax(logits), both [N,C,..].",
    .infer = cross_entropy_dense_infer,
    .expand = cross_entropy_dense_expand,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
};

static bool pair_infer(infer *c)
{
    const type *x = infer_in(c, 0), *y = infer_in(c, 1);

    if (!type_equal(x, y))
        return infer_fail(c, x->dt == y->dt ? INGOT_E_SHAPE : INGOT_E_DTYPE,
                          "%s and %s: the types must be equal", infer_text(c, x), infer_text(c, y));
    return loss_out(c, *x);
}

static void mse_loss_expand(rule *r)
{
    builder *b = rule_builder(r);

    loss_expand(r, ir_square(b, ir_sub(b, rule_in(r, 0), rule_in(r, 1))));
}

const op_row op_mse_loss = {
    .sig = "mse_loss(x: float, y: float, reduction: str = 0) -> loss",
    .doc = "(x - y)^2.",
    .infer = pair_infer,
    .expand = mse_loss_expand,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
};

static void l1_loss_expand(rule *r)
{
    builder *b = rule_builder(r);

    loss_expand(r, ir_abs(b, ir_sub(b, rule_in(r, 0), rule_in(r, 1))));
}

const op_row op_l1_loss = {
    .sig = "l1_loss(x: float, y: float, reduction: str = 0) -> loss",
    .doc = "|x - y|.",
    .infer = pair_infer,
    .expand = l1_loss_expand,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
};

/* -t log s(x) - (1 - t) log(1 - s(x)) = softplus(x) - t x */
static void bce_with_logits_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0);

    loss_expand(r, ir_sub(b, ir_softplus(b, x), ir_mul(b, rule_in(r, 1), x)));
}

const op_row op_bce_with_logits = {
    .sig = "bce_with_logits(logits: float, target: float, reduction: str = 0) -> loss",
    .doc = "Binary cross-entropy of sigmoid(logits) and target, without overflow.",
    .infer = pair_infer,
    .expand = bce_with_logits_expand,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
};
