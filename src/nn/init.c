/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers. */
#include "nn/cell.h"

#include <math.h>

/* Inputs and outputs of one unit of a weight [out, in, ...]. */
static bool fans(ingot_context *ctx, const ingot_tensor *t, double *in, double *out)
{
    double area = 1.0;

    if (ingot_tensor_rank(t) < 2) {
        ingot_set_error(ctx, INGOT_E_SHAPE,
                        "initialiser: Kaiming and Xavier need a weight of rank 2 or more, this one "
                        "has rank %d",
                        ingot_tensor_rank(t));
        return false;
    }
    for (int i = 2; i < ingot_tensor_rank(t); i++)
        area *= (double)ingot_tensor_dim(t, i);
    *in = fmax((double)ingot_tensor_dim(t, 1) * area, 1.0);
    *out = fmax((double)ingot_tensor_dim(t, 0) * area, 1.0);
    return true;
}

static ingot_status constant(ingot_context *ctx, ingot_tensor *t, double value)
{
    void *data = ingot_tensor_data(t);
    int64_t n = ingot_tensor_count(t);

    if (!data)
        return ingot_error(ctx);
    for (int64_t i = 0; i < n; i++) {
        if (ingot_tensor_dtype(t) == INGOT_F32)
            ((float *)data)[i] = (float)value;
        else if (ingot_tensor_dtype(t) == INGOT_F64)
            ((double *)data)[i] = value;
        else
            return ingot_set_error(ctx, INGOT_E_DTYPE,
                                   "initialiser: the tensor is %s, f32 or f64 is needed",
                                   ingot_dtype_name(ingot_tensor_dtype(t)));
    }
    return INGOT_OK;
}

/* Standard deviation sd, as a normal or as the uniform that has it. */
static ingot_status scaled(ingot_context *ctx, ingot_tensor *t, uint64_t stream, double sd,
                           bool uniform)
{
    double bound = sd * sqrt(3.0);

    return uniform ? ingot_fill_uniform(ctx, t, stream, -bound, bound)
                   : ingot_fill_normal(ctx, t, stream, 0.0, sd);
}

ingot_status ingot_init_apply(ingot_context *ctx, ingot_tensor *t, const ingot_init *init,
                              uint64_t stream)
{
    double in, out, gain;

    if (ingot_error(ctx) != INGOT_OK)
        return ingot_error(ctx);
    if (!t)
        return ingot_set_error(ctx, INGOT_E_ARGUMENT, "initialiser: the tensor is NULL");
    switch (init ? init->kind : INGOT_INIT_DEFAULT) {
    case INGOT_INIT_DEFAULT:
        return constant(ctx, t, 0.0);
    case INGOT_INIT_CONSTANT:
        return constant(ctx, t, init->a);
    case INGOT_INIT_UNIFORM:
        return ingot_fill_uniform(ctx, t, stream, init->a, init->b);
    case INGOT_INIT_NORMAL:
        return ingot_fill_normal(ctx, t, stream, init->a, init->b);
    case INGOT_INIT_TRUNCATED_NORMAL:
        return ingot_fill_truncated_normal(ctx, t, stream, init->a, init->b, 2.0);
    case INGOT_INIT_KAIMING_UNIFORM:
    case INGOT_INIT_KAIMING_NORMAL:
        if (!fans(ctx, t, &in, &out))
            return ingot_error(ctx);
        return scaled(ctx, t, stream, sqrt(2.0 / (1.0 + init->a * init->a) / in),
                      init->kind == INGOT_INIT_KAIMING_UNIFORM);
    case INGOT_INIT_XAVIER_UNIFORM:
    case INGOT_INIT_XAVIER_NORMAL:
        if (!fans(ctx, t, &in, &out))
            return ingot_error(ctx);
        gain = init->a == 0.0 ? 1.0 : init->a;
        return scaled(ctx, t, stream, gain * sqrt(2.0 / (in + out)),
                      init->kind == INGOT_INIT_XAVIER_UNIFORM);
    }
    return ingot_set_error(ctx, INGOT_E_ARGUMENT, "initialiser: kind %d is unknown",
                           (int)init->kind);
}

ingot_init init_or(ingot_init init, ingot_init layer)
{
    return init.kind == INGOT_INIT_DEFAULT ? layer : init;
}
