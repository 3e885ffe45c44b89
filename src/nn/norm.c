/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation. */
#include "ingot/ops.h"
#include "nn/cell.h"

#include <inttypes.h>

typedef struct norm_config {
    double eps, momentum;
    int64_t features;
    int rank; /* layer norm: of the normalised shape */
    bool affine;
} norm_config;

/* Options with the defaults in place; false = an error is set. */
static bool configure(ingot_context *ctx, const char *what, const ingot_nn_norm_options *opt,
                      norm_config *c)
{
    c->eps = opt && opt->eps != 0.0 ? opt->eps : 1e-5;
    c->momentum = opt && opt->momentum != 0.0 ? opt->momentum : 0.1;
    c->affine = !opt || !opt->no_affine;
    if (c->eps > 0.0 && c->momentum > 0.0 && c->momentum <= 1.0)
        return true;
    ingot_set_error(ctx, INGOT_E_ARGUMENT, "%s: eps %g is to be positive, momentum %g in (0, 1]",
                    what, c->eps, c->momentum);
    return false;
}

static bool add_affine(ingot_cell *cell, ingot_ints shape)
{
    ingot_init one = {.kind = INGOT_INIT_CONSTANT, .a = 1.0};

    return ingot_cell_add_parameter(cell, "weight", INGOT_F32, shape, &one) &&
           ingot_cell_add_parameter(cell, "bias", INGOT_F32, shape, NULL);
}

/* --- batch norm ------------------------------------------------------------------------------- */

/* running = (1 - momentum) * running + momentum * scale * now */
static bool move(ingot_context *ctx, ingot_tensor *running, ingot_tensor *now, double momentum,
                 double scale)
{
    ingot_tensor *keep = ingot_scalar(ctx, INGOT_F32, 1.0 - momentum);
    ingot_tensor *take = ingot_scalar(ctx, INGOT_F32, momentum * scale);

    return ingot_assign(ctx, running,
                        ingot_add(ctx, ingot_mul(ctx, running, keep), ingot_mul(ctx, now, take))) !=
           NULL;
}

/* Values that each feature's statistics come from; 0 = an error is set. */
static int64_t samples_of(ingot_context *ctx, const ingot_tensor *x, int64_t features)
{
    int64_t n = 1;

    if (ingot_tensor_rank(x) < 2 || ingot_tensor_dim(x, 1) != features) {
        ingot_set_error(ctx, INGOT_E_SHAPE,
                        "batch norm: x needs %" PRId64 " features in its second dimension",
                        features);
        return 0;
    }
    for (int i = 0; i < ingot_tensor_rank(x); i++)
        n *= i == 1 ? 1 : ingot_tensor_dim(x, i);
    if (n >= 2)
        return n;
    ingot_set_error(ctx, INGOT_E_SHAPE,
                    "batch norm: a feature has %" PRId64 " value in training, 2 or more are needed",
                    n);
    return 0;
}

static ingot_tensor *constant(ingot_context *ctx, int64_t features, double value)
{
    return ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(features), value);
}

static ingot_tensor *batch_norm(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                int n_in, void *user)
{
    const norm_config *c = user;
    int first = c->affine ? 2 : 0; /* entries: weight, bias, running_mean, running_var */
    ingot_tensor *scale, *shift, *mean, *var, *y;
    int64_t n;

    if (!cell_inputs(ctx, "batch_norm", 1, n_in))
        return NULL;
    scale = c->affine ? cell_tensor(cell, 0) : constant(ctx, c->features, 1.0);
    shift = c->affine ? cell_tensor(cell, 1) : constant(ctx, c->features, 0.0);
    mean = cell_tensor(cell, first);
    var = cell_tensor(cell, first + 1);
    if (!ingot_training(ctx))
        return ingot_batch_norm_inference(ctx, in[0], scale, shift, mean, var, c->eps);
    n = samples_of(ctx, in[0], c->features);
    if (n == 0)
        return NULL;
    y = ingot_batch_norm(ctx, in[0], scale, shift, c->eps);
    if (!move(ctx, mean, ingot_result(ctx, y, 1), c->momentum, 1.0) ||
        !move(ctx, var, ingot_result(ctx, y, 2), c->momentum, (double)n / (double)(n - 1)))
        return NULL;
    return y;
}

ingot_cell *ingot_nn_batch_norm(ingot_context *ctx, int64_t features,
                                const ingot_nn_norm_options *opt)
{
    norm_config c = {.features = features};
    ingot_ints shape = INGOT_INTS(features);
    ingot_cell *cell;

    if (!configure(ctx, "batch norm", opt, &c) ||
        !cell_at_least(ctx, "batch norm", "features", features, 1))
        return NULL;
    cell = cell_make(ctx, batch_norm, &c, sizeof c);
    if ((c.affine && !add_affine(cell, shape)) ||
        !ingot_cell_add_buffer(cell, "running_mean", INGOT_F32, shape, 0.0) ||
        !ingot_cell_add_buffer(cell, "running_var", INGOT_F32, shape, 1.0))
        return cell_drop(cell);
    return cell;
}

/* --- layer norm ------------------------------------------------------------------------------- */

static ingot_tensor *layer_norm(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                int n_in, void *user)
{
    const norm_config *c = user;
    int axis;

    if (!cell_inputs(ctx, "layer_norm", 1, n_in))
        return NULL;
    axis = ingot_tensor_rank(in[0]) - c->rank;
    if (axis < 0) {
        ingot_set_error(ctx, INGOT_E_SHAPE, "layer norm: x has rank %d, at least %d is needed",
                        ingot_tensor_rank(in[0]), c->rank);
        return NULL;
    }
    return ingot_layer_norm(ctx, in[0], c->affine ? cell_tensor(cell, 0) : NULL,
                            c->affine ? cell_tensor(cell, 1) : NULL, axis, c->eps);
}

ingot_cell *ingot_nn_layer_norm(ingot_context *ctx, ingot_ints shape,
                                const ingot_nn_norm_options *opt)
{
    norm_config c = {.rank = shape.n};
    ingot_cell *cell;

    if (!configure(ctx, "layer norm", opt, &c) ||
        !cell_at_least(ctx, "layer norm", "rank of the shape", shape.n, 1))
        return NULL;
    cell = cell_make(ctx, layer_norm, &c, sizeof c);
    if (c.affine && !add_affine(cell, shape))
        return cell_drop(cell);
    return cell;
}
