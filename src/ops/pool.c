/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling over height and width of [N, C, H, W]. */
#include "ops/window.h"

#include <inttypes.h>

static bool read_kernel(infer *c, window *w)
{
    static const int64_t none[2] = {0, 0};

    if (!window_pair(c, "kernel", none, w->kernel))
        return false;
    if (w->kernel[0] == 0 || w->kernel[1] == 0)
        return infer_fail(c, INGOT_E_ARGUMENT, "kernel is missing or 0; 1 or more is needed");
    return true;
}

/* As in PyTorch: a window that lies in the padding alone cannot be. */
static bool check_padding(infer *c, const window *w)
{
    for (int i = 0; i < 2; i++)
        if (w->before[i] > w->kernel[i] / 2 || w->after[i] > w->kernel[i] / 2)
            return infer_fail(
                c, INGOT_E_ARGUMENT, "padding %" PRId64 " is more than half of kernel %" PRId64,
                w->before[i] > w->after[i] ? w->before[i] : w->after[i], w->kernel[i]);
    return true;
}

static bool pool_type(infer *c, const type *x, bool dilated, type *y)
{
    window w = {.ceil_mode = infer_int(c, "ceil_mode") != 0};
    int64_t out[2];

    if (x->rank != 4)
        return infer_fail(c, INGOT_E_SHAPE, "x is %s; [N,C,H,W] is needed", infer_text(c, x));
    if (!read_kernel(c, &w) || !window_read(c, &w, w.kernel, dilated) || !check_padding(c, &w) ||
        !window_out(c, &w, &x->dim[2], out))
        return false;
    *y = (type){.dt = x->dt, .rank = 4, .dim = {x->dim[0], x->dim[1], out[0], out[1]}};
    return true;
}

static bool max_pool2d_infer(infer *c)
{
    type y;

    if (!pool_type(c, infer_in(c, 0), true, &y) || !infer_out(c, 0, y))
        return false;
    y.dt = INGOT_I64;
    return infer_out(c, 1, y);
}

/* [N,C,H,W] as [N,C,HW], where the indices point. */
static type planes(const type *x)
{
    return (type){.dt = x->dt, .rank = 3, .dim = {x->dim[0], x->dim[1], x->dim[2] * x->dim[3]}};
}

static void max_pool2d_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *dy = grad_of(r, 0), *indices = rule_out(r, 1);
    type flat_x = planes(&x->type);

    if (!dy)
        return;
    type flat_y = planes(&dy->type);
    value *zeros = ir_full(b, (ints){flat_x.dim, 3}, 0.0, flat_x.dt);
    value *dx = ir_scatter_add_elements(b, zeros, ir_reshape_to(b, indices, &flat_y),
                                        ir_reshape_to(b, dy, &flat_y), 2);

    grad_to(r, 0, ir_reshape_to(b, dx, &x->type));
}

const op_row op_max_pool2d = {
    .sig =
        "max_pool2d(x: float, kernel: ints, stride: ints = 0, padding: ints = 0, dilation: ints = 0, "
        "ceil_mode: flag = 0) -> y, indices",
    .doc =
        "The greatest element of each window of x [N,C,H,W], and its place h * W + w (i64; the first "
        "of equals). Stride: none = kernel.",
    .infer = max_pool2d_infer,
    .grad = max_pool2d_grad,
    .kind = OP_OPAQUE,
    .onnx = {"MaxPool", 12},
};

static bool avg_pool2d_infer(infer *c)
{
    type y;

    return pool_type(c, infer_in(c, 0), false, &y) && infer_out(c, 0, y);
}

static void avg_pool2d_grad(rule *r)
{
    const type *x = &rule_in(r, 0)->type;

    grad_to(r, 0,
            ir_avg_pool2d_backward(rule_builder(r), grad_of(r, 0), (ints){x->dim, 4},
                                   rule_ints(r, "kernel"), rule_ints(r, "stride"),
                                   rule_ints(r, "padding"), rule_int(r, "ceil_mode") != 0,
                                   rule_int(r, "count_include_pad") != 0));
}

const op_row op_avg_pool2d = {
    .sig =
        "avg_pool2d(x: float, kernel: ints, stride: ints = 0, padding: ints = 0, ceil_mode: flag = 0, "
        "count_include_pad: flag = 0) -> y",
    .doc =
        "The mean of each window of x [N,C,H,W]; padding counts as zeros with count_include_pad, else "
        "not at all. Stride: none = kernel.",
    .infer = avg_pool2d_infer,
    .grad = avg_pool2d_grad,
    .kind = OP_OPAQUE,
    .onnx = {"AveragePool", 11},
};

static bool avg_pool2d_backward_infer(infer *c)
{
    const type *dy = infer_in(c, 0);
    type x, y;

    if (!infer_shape(c, "shape", dy->dt, &x) || !pool_type(c, &x, false, &y))
        return false;
    if (!shape_equal(&y, dy))
        return infer_fail(c, INGOT_E_SHAPE, "dy is %s; %s is needed", infer_text(c, dy),
                          infer_text(c, &y));
    return infer_out(c, 0, x);
}

static void avg_pool2d_backward_grad(rule *r)
{
    grad_to(r, 0,
            ir_avg_pool2d(rule_builder(r), grad_of(r, 0), rule_ints(r, "kernel"),
                          rule_ints(r, "stride"), rule_ints(r, "padding"),
                          rule_int(r, "ceil_mode") != 0, rule_int(r, "count_include_pad") != 0));
}

const op_row op_avg_pool2d_backward = {
    .sig =
        "avg_pool2d_backward(dy: float, shape: ints, kernel: ints, stride: ints = 0, padding: ints = 0, "
        "ceil_mode: flag = 0, count_include_pad: flag = 0) -> dx",
    .doc = "The gradient of avg_pool2d to its input, which has the shape given.",
    .infer = avg_pool2d_backward_infer,
    .grad = avg_pool2d_backward_grad,
    .kind = OP_OPAQUE,
};

static bool adaptive_avg_pool2d_infer(infer *c)
{
    static const int64_t none[2] = {0, 0};
    const type *x = infer_in(c, 0);
    type y = *x;

    if (x->rank != 4 || x->dim[2] < 1 || x->dim[3] < 1)
        return infer_fail(c, INGOT_E_SHAPE,
                          "x is %s; [N,C,H,W] with known H and W above 0 is needed",
                          infer_text(c, x));
    if (!window_pair(c, "size", none, &y.dim[2]))
        return false;
    if (y.dim[2] == 0 || y.dim[3] == 0)
        return infer_fail(c, INGOT_E_ARGUMENT, "size is missing or 0; 1 or more is needed");
    return infer_out(c, 0, y);
}

static void adaptive_avg_pool2d_grad(rule *r)
{
    const type *x = &rule_in(r, 0)->type;

    grad_to(r, 0,
            ir_adaptive_avg_pool2d_backward(rule_builder(r), grad_of(r, 0), (ints){x->dim, 4}));
}

const op_row op_adaptive_avg_pool2d = {
    .sig = "adaptive_avg_pool2d(x: float, size: ints) -> y",
    .doc = "Means over windows laid out so that y has height and width of size (one entry: both).",
    .infer = adaptive_avg_pool2d_infer,
    .grad = adaptive_avg_pool2d_grad,
    .kind = OP_OPAQUE,
};

static bool adaptive_avg_pool2d_backward_infer(infer *c)
{
    const type *dy = infer_in(c, 0);
    type x;

    if (!infer_shape(c, "shape", dy->dt, &x))
        return false;
    if (x.rank != 4 || dy->rank != 4 || x.dim[0] != dy->dim[0] || x.dim[1] != dy->dim[1] ||
        x.dim[2] < 1 || x.dim[3] < 1 || dy->dim[2] < 1 || dy->dim[3] < 1)
        return infer_fail(c, INGOT_E_SHAPE, "dy is %s for an input of %s", infer_text(c, dy),
                          infer_text(c, &x));
    return infer_out(c, 0, x);
}

static void adaptive_avg_pool2d_backward_grad(rule *r)
{
    const type *dy = &rule_in(r, 0)->type;

    grad_to(r, 0, ir_adaptive_avg_pool2d(rule_builder(r), grad_of(r, 0), (ints){&dy->dim[2], 2}));
}

const op_row op_adaptive_avg_pool2d_backward = {
    .sig = "adaptive_avg_pool2d_backward(dy: float, shape: ints) -> dx",
    .doc = "The gradient of adaptive_avg_pool2d to its input, which has the shape given.",
    .infer = adaptive_avg_pool2d_backward_infer,
    .grad = adaptive_avg_pool2d_backward_grad,
    .kind = OP_OPAQUE,
};
