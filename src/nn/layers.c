/* SPDX-License-Identifier: Apache-2.0 */
/* Layers with weights, and containers. */
#include "ingot/ops.h"
#include "nn/cell.h"

#include <math.h>
#include <stdio.h>

/* PyTorch's default of linear and conv: Kaiming uniform with slope sqrt(5), which is this. */
static ingot_init within_fan(double fan_in)
{
    double bound = 1.0 / sqrt(fan_in);

    return (ingot_init){.kind = INGOT_INIT_UNIFORM, .a = -bound, .b = bound};
}

/* --- containers ------------------------------------------------------------------------------- */

static ingot_tensor *sequential(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                int n_in, void *user)
{
    ingot_tensor *x;

    (void)user;
    if (!cell_inputs(ctx, "sequential", 1, n_in))
        return NULL;
    x = in[0];
    for (int i = 0; i < cell->n_children; i++)
        x = ingot_cell_call(cell->children[i], x);
    return x;
}

ingot_cell *ingot_nn_sequential(ingot_context *ctx, ingot_cells cells)
{
    ingot_cell *cell = cell_make(ctx, sequential, NULL, 0);
    bool ok = cell != NULL;
    char name[16];

    for (int i = 0; i < cells.n; i++) { /* to the end, so that each is taken over */
        (void)snprintf(name, sizeof name, "%d", i);
        ok = ingot_cell_add(cell, name, cells.v[i]) && ok;
    }
    return ok ? cell : cell_drop(cell);
}

static ingot_tensor *residual(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                              int n_in, void *user)
{
    ingot_tensor *side, *y;

    (void)user;
    if (!cell_inputs(ctx, "residual", 1, n_in))
        return NULL;
    y = ingot_cell_call(cell->children[0], in[0]);
    side = cell->n_children > 1 ? ingot_cell_call(cell->children[1], in[0]) : in[0];
    return y && side ? ingot_add(ctx, y, side) : NULL;
}

ingot_cell *ingot_nn_residual(ingot_context *ctx, ingot_cell *body, ingot_cell *shortcut)
{
    ingot_cell *cell = cell_make(ctx, residual, NULL, 0);
    bool ok = cell != NULL;

    ok = ingot_cell_add(cell, "body", body) && ok;
    if (shortcut)
        ok = ingot_cell_add(cell, "shortcut", shortcut) && ok;
    return ok ? cell : cell_drop(cell);
}

/* --- linear ----------------------------------------------------------------------------------- */

static ingot_tensor *linear(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in, int n_in,
                            void *user)
{
    (void)user;
    if (!cell_inputs(ctx, "linear", 1, n_in))
        return NULL;
    return ingot_linear(ctx, in[0], cell_tensor(cell, 0), cell_tensor(cell, 1));
}

ingot_cell *ingot_nn_linear(ingot_context *ctx, int64_t in, int64_t out,
                            const ingot_nn_linear_options *opt)
{
    ingot_nn_linear_options o = {0};
    ingot_init weight, bias;
    ingot_cell *cell;

    if (opt)
        o = *opt;
    if (!cell_at_least(ctx, "linear", "in", in, 1) || !cell_at_least(ctx, "linear", "out", out, 1))
        return NULL;
    weight = init_or(o.weight, within_fan((double)in));
    bias = init_or(o.bias, within_fan((double)in));
    cell = cell_make(ctx, linear, NULL, 0);
    if (!ingot_cell_add_parameter(cell, "weight", INGOT_F32, INGOT_INTS(out, in), &weight))
        return cell_drop(cell);
    if (!o.no_bias && !ingot_cell_add_parameter(cell, "bias", INGOT_F32, INGOT_INTS(out), &bias))
        return cell_drop(cell);
    return cell;
}

/* --- conv2d ----------------------------------------------------------------------------------- */

typedef struct conv_config {
    int64_t stride, padding, dilation, groups;
} conv_config;

static ingot_tensor *conv2d(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in, int n_in,
                            void *user)
{
    const conv_config *c = user;

    if (!cell_inputs(ctx, "conv2d", 1, n_in))
        return NULL;
    return ingot_conv2d(ctx, in[0], cell_tensor(cell, 0), cell_tensor(cell, 1),
                        &(ingot_conv2d_options){.stride = INGOT_INTS(c->stride),
                                                .padding = INGOT_INTS(c->padding),
                                                .dilation = INGOT_INTS(c->dilation),
                                                .groups = c->groups});
}

static bool conv2d_check(ingot_context *ctx, int64_t in, int64_t out, int64_t kernel, int64_t width,
                         const conv_config *c)
{
    const char *me = "conv2d";

    if (!cell_at_least(ctx, me, "in", in, 1) || !cell_at_least(ctx, me, "out", out, 1) ||
        !cell_at_least(ctx, me, "kernel", kernel, 1) ||
        !cell_at_least(ctx, me, "kernel_width", width, 1) ||
        !cell_at_least(ctx, me, "stride", c->stride, 1) ||
        !cell_at_least(ctx, me, "padding", c->padding, 0) ||
        !cell_at_least(ctx, me, "dilation", c->dilation, 1) ||
        !cell_at_least(ctx, me, "groups", c->groups, 1))
        return false;
    if (in % c->groups == 0 && out % c->groups == 0)
        return true;
    ingot_set_error(ctx, INGOT_E_ARGUMENT,
                    "conv2d: %lld groups do not divide the channels: %lld in, %lld out",
                    (long long)c->groups, (long long)in, (long long)out);
    return false;
}

ingot_cell *ingot_nn_conv2d(ingot_context *ctx, int64_t in, int64_t out, int64_t kernel,
                            const ingot_nn_conv2d_options *opt)
{
    ingot_nn_conv2d_options o = {0};
    ingot_init weight, bias;
    ingot_cell *cell;
    conv_config c;
    int64_t width, per_group;
    double fan;

    if (opt)
        o = *opt;
    c = (conv_config){.stride = o.stride ? o.stride : 1,
                      .padding = o.padding,
                      .dilation = o.dilation ? o.dilation : 1,
                      .groups = o.groups ? o.groups : 1};
    width = o.kernel_width ? o.kernel_width : kernel;
    if (!conv2d_check(ctx, in, out, kernel, width, &c))
        return NULL;
    per_group = in / c.groups;
    fan = (double)per_group * (double)kernel * (double)width;
    weight = init_or(o.weight, within_fan(fan));
    bias = init_or(o.bias, within_fan(fan));
    cell = cell_make(ctx, conv2d, &c, sizeof c);
    if (!ingot_cell_add_parameter(cell, "weight", INGOT_F32,
                                  INGOT_INTS(out, in / c.groups, kernel, width), &weight))
        return cell_drop(cell);
    if (!o.no_bias && !ingot_cell_add_parameter(cell, "bias", INGOT_F32, INGOT_INTS(out), &bias))
        return cell_drop(cell);
    return cell;
}

/* --- embedding -------------------------------------------------------------------------------- */

static ingot_tensor *embedding(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                               int n_in, void *user)
{
    (void)user;
    if (!cell_inputs(ctx, "embedding", 1, n_in))
        return NULL;
    return ingot_embedding(ctx, cell_tensor(cell, 0), in[0]);
}

ingot_cell *ingot_nn_embedding(ingot_context *ctx, int64_t count, int64_t size,
                               const ingot_init *init)
{
    ingot_init weight = {0};
    ingot_cell *cell;

    if (init)
        weight = *init;
    weight = init_or(weight, (ingot_init){.kind = INGOT_INIT_NORMAL, .a = 0.0, .b = 1.0});
    if (!cell_at_least(ctx, "embedding", "count", count, 1) ||
        !cell_at_least(ctx, "embedding", "size", size, 1))
        return NULL;
    cell = cell_make(ctx, embedding, NULL, 0);
    if (!ingot_cell_add_parameter(cell, "weight", INGOT_F32, INGOT_INTS(count, size), &weight))
        return cell_drop(cell);
    return cell;
}
