/* SPDX-License-Identifier: Apache-2.0 */
/* Cells without parameters: activations, pooling, dropout, flatten. */
#include "ingot/ops.h"
#include "nn/cell.h"

/* --- activations ------------------------------------------------------------------------------ */

typedef ingot_tensor *(*unary_fn)(ingot_context *ctx, ingot_tensor *x);

typedef struct unary_config {
    unary_fn fn;
    const char *name;
} unary_config;

static ingot_tensor *unary(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in, int n_in,
                           void *user)
{
    const unary_config *c = user;

    (void)cell;
    return cell_inputs(ctx, c->name, 1, n_in) ? c->fn(ctx, in[0]) : NULL;
}

static ingot_cell *unary_cell(ingot_context *ctx, const char *name, unary_fn fn)
{
    unary_config c = {.fn = fn, .name = name};

    return cell_make(ctx, unary, &c, sizeof c);
}

ingot_cell *ingot_nn_relu(ingot_context *ctx)
{
    return unary_cell(ctx, "relu", ingot_relu);
}

ingot_cell *ingot_nn_gelu(ingot_context *ctx)
{
    return unary_cell(ctx, "gelu", ingot_gelu);
}

ingot_cell *ingot_nn_silu(ingot_context *ctx)
{
    return unary_cell(ctx, "silu", ingot_silu);
}

ingot_cell *ingot_nn_sigmoid(ingot_context *ctx)
{
    return unary_cell(ctx, "sigmoid", ingot_sigmoid);
}

ingot_cell *ingot_nn_tanh(ingot_context *ctx)
{
    return unary_cell(ctx, "tanh", ingot_tanh);
}

static ingot_tensor *flatten(ingot_context *ctx, ingot_tensor *x)
{
    return ingot_flatten(ctx, x, &(ingot_flatten_options){.start = 1});
}

ingot_cell *ingot_nn_flatten(ingot_context *ctx)
{
    return unary_cell(ctx, "flatten", flatten);
}

static ingot_tensor *softmax(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                             int n_in, void *user)
{
    const int64_t *axis = user;

    (void)cell;
    return cell_inputs(ctx, "softmax", 1, n_in) ? ingot_softmax(ctx, in[0], *axis) : NULL;
}

ingot_cell *ingot_nn_softmax(ingot_context *ctx, int64_t axis)
{
    return cell_make(ctx, softmax, &axis, sizeof axis);
}

/* --- dropout ---------------------------------------------------------------------------------- */

static ingot_tensor *dropout(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                             int n_in, void *user)
{
    const double *p = user;

    (void)cell;
    if (!cell_inputs(ctx, "dropout", 1, n_in))
        return NULL;
    if (*p == 0.0 || !ingot_training(ctx))
        return in[0];
    return ingot_dropout(ctx, in[0], ingot_random_key(ctx), *p);
}

ingot_cell *ingot_nn_dropout(ingot_context *ctx, double p)
{
    if (!(p >= 0.0 && p < 1.0)) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "dropout: p %g is outside [0, 1)", p);
        return NULL;
    }
    return cell_make(ctx, dropout, &p, sizeof p);
}

/* --- pooling ---------------------------------------------------------------------------------- */

typedef struct pool_config {
    int64_t kernel, stride, padding;
    bool ceil_mode;
} pool_config;

static ingot_cell *pool_cell(ingot_context *ctx, const char *what, ingot_cell_construct_fn fn,
                             int64_t kernel, const ingot_nn_pool_options *opt)
{
    pool_config c = {.kernel = kernel, .stride = kernel};

    if (opt) {
        c.stride = opt->stride ? opt->stride : kernel;
        c.padding = opt->padding;
        c.ceil_mode = opt->ceil_mode;
    }
    if (!cell_at_least(ctx, what, "kernel", kernel, 1) ||
        !cell_at_least(ctx, what, "stride", c.stride, 1) ||
        !cell_at_least(ctx, what, "padding", c.padding, 0))
        return NULL;
    return cell_make(ctx, fn, &c, sizeof c);
}

static ingot_tensor *max_pool2d(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                int n_in, void *user)
{
    const pool_config *c = user;

    (void)cell;
    if (!cell_inputs(ctx, "max_pool2d", 1, n_in))
        return NULL;
    return ingot_max_pool2d(ctx, in[0], INGOT_INTS(c->kernel),
                            &(ingot_max_pool2d_options){.stride = INGOT_INTS(c->stride),
                                                        .padding = INGOT_INTS(c->padding),
                                                        .ceil_mode = c->ceil_mode});
}

ingot_cell *ingot_nn_max_pool2d(ingot_context *ctx, int64_t kernel,
                                const ingot_nn_pool_options *opt)
{
    return pool_cell(ctx, "max_pool2d", max_pool2d, kernel, opt);
}

static ingot_tensor *avg_pool2d(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                int n_in, void *user)
{
    const pool_config *c = user;

    (void)cell;
    if (!cell_inputs(ctx, "avg_pool2d", 1, n_in))
        return NULL;
    return ingot_avg_pool2d(ctx, in[0], INGOT_INTS(c->kernel),
                            &(ingot_avg_pool2d_options){.stride = INGOT_INTS(c->stride),
                                                        .padding = INGOT_INTS(c->padding),
                                                        .ceil_mode = c->ceil_mode,
                                                        .count_include_pad = true});
}

ingot_cell *ingot_nn_avg_pool2d(ingot_context *ctx, int64_t kernel,
                                const ingot_nn_pool_options *opt)
{
    return pool_cell(ctx, "avg_pool2d", avg_pool2d, kernel, opt);
}

static ingot_tensor *adaptive(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                              int n_in, void *user)
{
    const int64_t *size = user;

    (void)cell;
    if (!cell_inputs(ctx, "adaptive_avg_pool2d", 1, n_in))
        return NULL;
    return ingot_adaptive_avg_pool2d(ctx, in[0], (ingot_ints){size, 2});
}

ingot_cell *ingot_nn_adaptive_avg_pool2d(ingot_context *ctx, int64_t height, int64_t width)
{
    int64_t size[2] = {height, width};

    if (!cell_at_least(ctx, "adaptive_avg_pool2d", "height", height, 1) ||
        !cell_at_least(ctx, "adaptive_avg_pool2d", "width", width, 1))
        return NULL;
    return cell_make(ctx, adaptive, size, sizeof size);
}
