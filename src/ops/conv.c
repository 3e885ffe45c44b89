/* SPDX-License-Identifier: Apache-2.0 */
/* Two-dimensional convolution (cross-correlation, as everywhere in the field) and its gradients,
   which are each other's gradients: second and higher orders come for free. */
#include "ops/window.h"

#include <inttypes.h>

/* Checks that x, w and the attributes make a convolution, and gives the type of its result. */
static bool conv_type(infer *c, const type *x, const type *w, type *y)
{
    static const int64_t one[2] = {1, 1};
    int64_t groups = infer_int(c, "groups"), out[2];
    window win = {.kernel = {0}};

    groups = groups ? groups : 1;
    if (x->rank != 4 || w->rank != 4)
        return infer_fail(c, INGOT_E_SHAPE,
                          "x is %s and w %s; [N,C,H,W] and [O,C/groups,kh,kw] are needed",
                          infer_text(c, x), infer_text(c, w));
    if (groups < 1 || w->dim[0] % groups || w->dim[1] < 0 || w->dim[1] > INT64_MAX / groups ||
        x->dim[1] != w->dim[1] * groups)
        return infer_fail(c, INGOT_E_SHAPE, "x %s, w %s and groups %" PRId64 " do not fit",
                          infer_text(c, x), infer_text(c, w), groups);
    if (w->dim[2] < 1 || w->dim[3] < 1)
        return infer_fail(c, INGOT_E_SHAPE, "w is %s: an empty window", infer_text(c, w));
    win.kernel[0] = w->dim[2];
    win.kernel[1] = w->dim[3];
    if (!window_read(c, &win, one, true) || !window_out(c, &win, &x->dim[2], out))
        return false;
    *y = (type){.dt = x->dt, .rank = 4, .dim = {x->dim[0], w->dim[0], out[0], out[1]}};
    return true;
}

static bool conv2d_infer(infer *c)
{
    const type *x = infer_in(c, 0), *w = infer_in(c, 1), *bias = infer_in(c, 2);
    type y;

    if (!infer_same_dtype(c, 0, 1) || !conv_type(c, x, w, &y))
        return false;
    if (bias && (bias->rank != 1 || bias->dim[0] != w->dim[0] || bias->dt != x->dt))
        return infer_fail(c, INGOT_E_SHAPE, "bias is %s for w %s", infer_text(c, bias),
                          infer_text(c, w));
    return infer_out(c, 0, y);
}

typedef struct conv_attrs {
    ints stride, padding, dilation;
    int64_t groups;
} conv_attrs;

static conv_attrs read_attrs(const rule *r)
{
    return (conv_attrs){rule_ints(r, "stride"), rule_ints(r, "padding"), rule_ints(r, "dilation"),
                        rule_int(r, "groups")};
}

static value *conv(rule *r, value *x, value *w)
{
    conv_attrs a = read_attrs(r);

    return ir_conv2d(rule_builder(r), x, w, NULL, a.stride, a.padding, a.dilation, a.groups);
}

static value *conv_dx(rule *r, value *dy, value *w, const type *x)
{
    conv_attrs a = read_attrs(r);

    return ir_conv2d_backward_data(rule_builder(r), dy, w, (ints){x->dim, 4}, a.stride, a.padding,
                                   a.dilation, a.groups);
}

static value *conv_dw(rule *r, value *dy, value *x, const type *w)
{
    conv_attrs a = read_attrs(r);

    return ir_conv2d_backward_weight(rule_builder(r), dy, x, (ints){w->dim, 4}, a.stride, a.padding,
                                     a.dilation, a.groups);
}

static void conv2d_grad(rule *r)
{
    value *x = rule_in(r, 0), *w = rule_in(r, 1), *dy = grad_of(r, 0);

    if (grad_needed(r, 0))
        grad_to(r, 0, conv_dx(r, dy, w, &x->type));
    if (grad_needed(r, 1))
        grad_to(r, 1, conv_dw(r, dy, x, &w->type));
    if (grad_needed(r, 2))
        grad_to(r, 2, ir_sum(rule_builder(r), dy, INTS(0, 2, 3), false));
}

/* Each result of the convolution sums products over one window. */
static double flops_of(const type *y, const type *w)
{
    return 2.0 * (double)type_count(y) * (double)(w->dim[1] * w->dim[2] * w->dim[3]);
}

static double conv2d_flops(const type *in, const type *out)
{
    return flops_of(out, &in[1]);
}

const op_row op_conv2d = {
    .sig = "conv2d(x: float, w: float, bias: float?, stride: ints = 0, padding: ints = 0, "
           "dilation: ints = 0, groups: int = 0) -> y",
    .doc =
        "x [N,C,H,W] convolved with w [O,C/groups,kh,kw], plus bias [O]. Stride, dilation: none (1), "
        "both, or height and width; padding: none, all, height and width, or top, left, bottom, right.",
    .infer = conv2d_infer,
    .grad = conv2d_grad,
    .flops = conv2d_flops,
    .kind = OP_CONTRACTION,
    .amp = AMP_LOW,
    .onnx = {"Conv", 11},
};

static bool check_dy(infer *c, const type *y)
{
    const type *dy = infer_in(c, 0);

    return shape_equal(dy, y) || infer_fail(c, INGOT_E_SHAPE, "dy is %s; %s is needed",
                                            infer_text(c, dy), infer_text(c, y));
}

static bool conv2d_backward_data_infer(infer *c)
{
    type x, y;

    return infer_same_dtype(c, 0, 1) && infer_shape(c, "shape", infer_in(c, 0)->dt, &x) &&
           conv_type(c, &x, infer_in(c, 1), &y) && check_dy(c, &y) && infer_out(c, 0, x);
}

static void conv2d_backward_data_grad(rule *r)
{
    value *dy = rule_in(r, 0), *w = rule_in(r, 1), *g = grad_of(r, 0);

    if (grad_needed(r, 0))
        grad_to(r, 0, conv(r, g, w));
    if (grad_needed(r, 1))
        grad_to(r, 1, conv_dw(r, dy, g, &w->type));
}

static double backward_data_flops(const type *in, const type *out)
{
    (void)out;
    return flops_of(&in[0], &in[1]);
}

const op_row op_conv2d_backward_data = {
    .sig =
        "conv2d_backward_data(dy: float, w: float, shape: ints, stride: ints = 0, padding: ints = 0, "
        "dilation: ints = 0, groups: int = 0) -> dx",
    .doc = "The gradient of conv2d to its input, which has the shape given.",
    .infer = conv2d_backward_data_infer,
    .grad = conv2d_backward_data_grad,
    .flops = backward_data_flops,
    .kind = OP_CONTRACTION,
    .amp = AMP_LOW,
};

static bool conv2d_backward_weight_infer(infer *c)
{
    type w, y;

    return infer_same_dtype(c, 0, 1) && infer_shape(c, "shape", infer_in(c, 0)->dt, &w) &&
           conv_type(c, infer_in(c, 1), &w, &y) && check_dy(c, &y) && infer_out(c, 0, w);
}

static void conv2d_backward_weight_grad(rule *r)
{
    value *dy = rule_in(r, 0), *x = rule_in(r, 1), *g = grad_of(r, 0);

    if (grad_needed(r, 0))
        grad_to(r, 0, conv(r, x, g));
    if (grad_needed(r, 1))
        grad_to(r, 1, conv_dx(r, dy, g, &x->type));
}

static double backward_weight_flops(const type *in, const type *out)
{
    return flops_of(&in[0], out);
}

const op_row op_conv2d_backward_weight = {
    .sig =
        "conv2d_backward_weight(dy: float, x: float, shape: ints, stride: ints = 0, padding: ints = 0, "
        "dilation: ints = 0, groups: int = 0) -> dw",
    .doc = "The gradient of conv2d to its weight, which has the shape given.",
    .infer = conv2d_backward_weight_infer,
    .grad = conv2d_backward_weight_grad,
    .flops = backward_weight_flops,
    .kind = OP_CONTRACTION,
    .amp = AMP_LOW,
};
