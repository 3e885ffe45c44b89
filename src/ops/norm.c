/* SPDX-License-Identifier: Apache-2.0 */
/* Layer normalisation (Ba et al. 2016) and batch normalisation (Ioffe and Szegedy 2015). */
#include "ops/op.h"

static bool check_eps(infer *c)
{
    double eps = infer_real(c, "eps");

    return eps >= 0.0 || infer_fail(c, INGOT_E_ARGUMENT, "eps %g is below 0", eps);
}

/* An optional vector of shape `want`. */
static bool check_operand(infer *c, int i, const char *name, const type *want)
{
    const type *t = infer_in(c, i);

    return !t || type_equal(t, want) ||
           infer_fail(c, INGOT_E_SHAPE, "%s is %s; %s is needed", name, infer_text(c, t),
                      infer_text(c, want));
}

static bool layer_norm_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    type inner = {.dt = x->dt}, outer = {.dt = x->dt};
    int axis;

    if (!check_eps(c) || !infer_axis(c, "axis", x->rank, &axis))
        return false;
    for (int i = 0; i < x->rank; i++) {
        if (i >= axis && x->dim[i] == DIM_SYM)
            return infer_fail(c, INGOT_E_SHAPE, "x is %s: the batch cannot be normalised over",
                              infer_text(c, x));
        if (i < axis)
            outer.dim[outer.rank++] = x->dim[i];
        else
            inner.dim[inner.rank++] = x->dim[i];
    }
    return check_operand(c, 1, "scale", &inner) && check_operand(c, 2, "bias", &inner) &&
           infer_out(c, 0, *x) && infer_out(c, 1, outer) && infer_out(c, 2, outer);
}

/* With h = (x - mean) rstd and g = dy scale, both over the normalised axes:
   dx = rstd (g - mean(g) - h mean(g h)), plus what arrives at mean (1/n each) and at rstd
   (-rstd^3 (x - mean) / n = -rstd^2 h / n each). */
static void layer_norm_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *scale = rule_in(r, 1), *bias = rule_in(r, 2);
    value *dy = grad_of(r, 0), *dmean = grad_of(r, 1), *drstd = grad_of(r, 2), *dx = NULL;
    int64_t axis = rule_int(r, "axis");
    type one = x->type; /* the statistics' shape, broadcast against x */
    double n = 1.0;
    unsigned mask = 0;

    axis = axis < 0 ? axis + one.rank : axis;
    for (int i = (int)axis; i < one.rank; i++) {
        n *= (double)one.dim[i];
        mask |= 1u << i;
        one.dim[i] = 1;
    }
    value *mean = ir_reshape_to(b, rule_out(r, 1), &one);
    value *rstd = ir_reshape_to(b, rule_out(r, 2), &one);
    value *h = ir_mul(b, ir_sub(b, x, mean), rstd);

    if (dy) {
        value *g = scale ? ir_mul(b, dy, scale) : dy;
        value *rest = ir_sub(b, ir_sub(b, g, ir_mean_keep(b, g, mask)),
                             ir_mul(b, h, ir_mean_keep(b, ir_mul(b, g, h), mask)));

        dx = ir_mul(b, rest, rstd);
        if (scale && grad_needed(r, 1))
            grad_to(r, 1, ir_sum_to(b, ir_mul(b, dy, h), &scale->type));
        if (bias && grad_needed(r, 2))
            grad_to(r, 2, ir_sum_to(b, dy, &bias->type));
    }
    if (dmean) {
        value *each =
            ir_expand_to(b, ir_scale(b, ir_reshape_to(b, dmean, &one), 1.0 / n), &x->type);

        dx = dx ? ir_add(b, dx, each) : each;
    }
    if (drstd) {
        value *factor =
            ir_scale(b, ir_mul(b, ir_reshape_to(b, drstd, &one), ir_square(b, rstd)), -1.0 / n);
        value *each = ir_mul(b, h, factor);

        dx = dx ? ir_add(b, dx, each) : each;
    }
    if (grad_needed(r, 0))
        grad_to(r, 0, dx);
}

const op_row op_layer_norm = {
    .sig =
        "layer_norm(x: float, scale: float?, bias: float?, axis: int, eps: real) -> y, mean, rstd",
    .doc =
        "(x - mean) * rstd * scale + bias over the axes from axis on, rstd = 1 / sqrt(variance + eps).",
    .infer = layer_norm_infer,
    .grad = layer_norm_grad,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
    .onnx = {"LayerNormalization", 17},
};

/* The type of per-channel vectors of x [N, C, ..]. */
static bool channels(infer *c, type *t)
{
    const type *x = infer_in(c, 0);

    if (!infer_rank(c, 0, "x", 2, MAX_RANK))
        return false;
    if (x->dim[1] == DIM_SYM)
        return infer_fail(c, INGOT_E_SHAPE, "x is %s: the channels must be known",
                          infer_text(c, x));
    *t = (type){.dt = x->dt, .rank = 1, .dim = {x->dim[1]}};
    return true;
}

/* v [C] as [C, 1, ..], which broadcasts against x. */
static value *per_channel(builder *b, value *v, const type *x)
{
    type t = {.rank = x->rank - 1, .dim = {x->dim[1]}};

    for (int i = 1; i < t.rank; i++)
        t.dim[i] = 1;
    return ir_reshape_to(b, v, &t);
}

static double per_channel_count(const type *x)
{
    return x->dim[1] ? (double)type_count(x) / (double)x->dim[1] : 0.0;
}

/* Sum over all axes but the channels': [C]. */
static value *channel_sum(builder *b, value *v)
{
    int64_t axes[MAX_RANK];
    int n = 0;

    for (int i = 0; v && i < v->type.rank; i++)
        if (i != 1)
            axes[n++] = i;
    return ir_sum(b, v, (ints){axes, n}, false);
}

static bool batch_norm_stats_infer(infer *c)
{
    type t;

    return channels(c, &t) && infer_out(c, 0, t) && infer_out(c, 1, t);
}

/* dx = dmean / n + 2 dvar (x - mean) / n */
static value *stats_dx(builder *b, value *x, value *mean, value *dmean, value *dvar)
{
    double n = per_channel_count(&x->type);
    value *dx = NULL;

    if (dmean)
        dx = ir_expand_to(b, per_channel(b, ir_scale(b, dmean, 1.0 / n), &x->type), &x->type);
    if (dvar) {
        value *off = ir_sub(b, x, per_channel(b, mean, &x->type));
        value *each = ir_mul(b, off, per_channel(b, ir_scale(b, dvar, 2.0 / n), &x->type));

        dx = dx ? ir_add(b, dx, each) : each;
    }
    return dx;
}

static void batch_norm_stats_grad(rule *r)
{
    grad_to(r, 0,
            stats_dx(rule_builder(r), rule_in(r, 0), rule_out(r, 0), grad_of(r, 0), grad_of(r, 1)));
}

const op_row op_batch_norm_stats = {
    .sig = "batch_norm_stats(x: float) -> mean, var",
    .doc = "Mean and biased variance of each channel of x [N,C,..].",
    .infer = batch_norm_stats_infer,
    .grad = batch_norm_stats_grad,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
};

static bool batch_norm_infer(infer *c)
{
    type t;

    return check_eps(c) && channels(c, &t) && check_operand(c, 1, "scale", &t) &&
           check_operand(c, 2, "bias", &t) && infer_out(c, 0, *infer_in(c, 0)) &&
           infer_out(c, 1, t) && infer_out(c, 2, t);
}

static value *normalised(builder *b, value *x, value *scale, value *bias, value *mean, value *var,
                         double eps)
{
    value *factor = ir_mul(b, scale, ir_rsqrt(b, ir_offset(b, var, eps)));
    value *off = ir_sub(b, x, per_channel(b, mean, &x->type));

    return ir_add(b, ir_mul(b, off, per_channel(b, factor, &x->type)),
                  per_channel(b, bias, &x->type));
}

static void batch_norm_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *mean = ir_batch_norm_stats(b, x), *var = ir_result(mean, 1);

    expand_to(r, 0, normalised(b, x, rule_in(r, 1), rule_in(r, 2), mean, var, rule_real(r, "eps")));
    expand_to(r, 1, mean);
    expand_to(r, 2, var);
}

/* With h = (x - mean) rstd and sums over all but the channels:
   dx = scale rstd (dy - sum(dy) / n - h sum(dy h) / n), and what arrives at mean and var. */
static void batch_norm_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *scale = rule_in(r, 1), *dy = grad_of(r, 0);
    value *mean = rule_out(r, 1);
    const type *t = &x->type;
    double n = per_channel_count(t);
    value *dx = stats_dx(b, x, mean, grad_of(r, 1), grad_of(r, 2));

    if (dy) {
        value *rstd = ir_rsqrt(b, ir_offset(b, rule_out(r, 2), rule_real(r, "eps")));
        value *h = ir_mul(b, ir_sub(b, x, per_channel(b, mean, t)), per_channel(b, rstd, t));
        value *dbias = channel_sum(b, dy), *dscale = channel_sum(b, ir_mul(b, dy, h));
        value *rest = ir_sub(b, ir_sub(b, dy, per_channel(b, ir_scale(b, dbias, 1.0 / n), t)),
                             ir_mul(b, h, per_channel(b, ir_scale(b, dscale, 1.0 / n), t)));
        value *through = ir_mul(b, rest, per_channel(b, ir_mul(b, scale, rstd), t));

        dx = dx ? ir_add(b, dx, through) : through;
        grad_to(r, 1, dscale);
        grad_to(r, 2, dbias);
    }
    grad_to(r, 0, dx);
}

const op_row op_batch_norm = {
    .sig = "batch_norm(x: float, scale: float, bias: float, eps: real) -> y, mean, var",
    .doc =
        "x [N,C,..] normalised by the batch's own mean and biased variance of each channel, which are "
        "results too, times scale [C] plus bias [C].",
    .infer = batch_norm_infer,
    .grad = batch_norm_grad,
    .expand = batch_norm_expand,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
};

static bool batch_norm_inference_infer(infer *c)
{
    static const char *const names[] = {"x", "scale", "bias", "mean", "var"};
    type t;

    if (!check_eps(c) || !channels(c, &t))
        return false;
    for (int i = 1; i < 5; i++)
        if (!check_operand(c, i, names[i], &t))
            return false;
    return infer_same(c);
}

static void batch_norm_inference_expand(rule *r)
{
    expand_to(r, 0,
              normalised(rule_builder(r), rule_in(r, 0), rule_in(r, 1), rule_in(r, 2),
                         rule_in(r, 3), rule_in(r, 4), rule_real(r, "eps")));
}

const op_row op_batch_norm_inference = {
    .sig = "batch_norm_inference(x: float, scale: float, bias: float, mean: float, var: float, "
           "eps: real) -> y",
    .doc = "(x - mean) / sqrt(var + eps) * scale + bias for each channel of x [N,C,..].",
    .infer = batch_norm_inference_infer,
    .expand = batch_norm_inference_expand,
    .kind = OP_OPAQUE,
    .amp = AMP_FULL,
    .onnx = {"BatchNormalization", 15},
};
