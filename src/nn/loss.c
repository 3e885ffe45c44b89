/* SPDX-License-Identifier: Apache-2.0 */
/* Losses. */
#include "ingot/ops.h"
#include "nn/cell.h"

#include <string.h>

typedef struct loss_config {
    const char *reduction; /* static text */
    double smoothing;
} loss_config;

/* The op's own text for a reduction, so that the caller's need not live on; NULL = unknown. */
static const char *reduction_of(ingot_context *ctx, const ingot_nn_loss_options *opt)
{
    const char *const known[] = {"mean", "sum", "none"};
    const char *given = opt && opt->reduction ? opt->reduction : "mean";

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], given) == 0)
            return known[i];
    ingot_set_error(ctx, INGOT_E_ARGUMENT, "loss: reduction '%s' is not one of mean, sum, none",
                    given);
    return NULL;
}

static ingot_cell *loss_cell(ingot_context *ctx, ingot_cell_construct_fn fn,
                             const ingot_nn_loss_options *opt)
{
    loss_config c = {.reduction = reduction_of(ctx, opt),
                     .smoothing = opt ? opt->label_smoothing : 0.0};

    if (!c.reduction)
        return NULL;
    if (!(c.smoothing >= 0.0 && c.smoothing < 1.0)) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "loss: label smoothing %g is outside [0, 1)",
                        c.smoothing);
        return NULL;
    }
    return cell_make(ctx, fn, &c, sizeof c);
}

/* --- cross-entropy ---------------------------------------------------------------------------- */

static bool is_integer(const ingot_tensor *t)
{
    return ingot_tensor_dtype(t) == INGOT_I32 || ingot_tensor_dtype(t) == INGOT_I64;
}

static ingot_tensor *hard(ingot_context *ctx, ingot_tensor *logits, ingot_tensor *target,
                          const char *reduction)
{
    if (is_integer(target))
        return ingot_cross_entropy(ctx, logits, target,
                                   &(ingot_cross_entropy_options){.reduction = reduction});
    return ingot_cross_entropy_dense(ctx, logits, target,
                                     &(ingot_cross_entropy_dense_options){.reduction = reduction});
}

/* -mean over classes of log softmax, reduced over samples as the loss is. */
static ingot_tensor *spread(ingot_context *ctx, ingot_tensor *logits, const char *reduction)
{
    ingot_tensor *log_p = ingot_log_softmax(ctx, logits, 1);
    ingot_tensor *each =
        ingot_neg(ctx, ingot_mean(ctx, log_p, &(ingot_mean_options){.axes = INGOT_INTS(1)}));

    if (strcmp(reduction, "mean") == 0)
        return ingot_mean(ctx, each, NULL);
    return strcmp(reduction, "sum") == 0 ? ingot_sum(ctx, each, NULL) : each;
}

static ingot_tensor *cross_entropy(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                   int n_in, void *user)
{
    const loss_config *c = user;
    ingot_tensor *loss;

    (void)cell;
    if (!cell_inputs(ctx, "cross_entropy", 2, n_in))
        return NULL;
    loss = hard(ctx, in[0], in[1], c->reduction);
    if (c->smoothing == 0.0)
        return loss;
    return ingot_add(ctx, ingot_mul(ctx, loss, ingot_scalar(ctx, INGOT_F32, 1.0 - c->smoothing)),
                     ingot_mul(ctx, spread(ctx, in[0], c->reduction),
                               ingot_scalar(ctx, INGOT_F32, c->smoothing)));
}

ingot_cell *ingot_nn_cross_entropy(ingot_context *ctx, const ingot_nn_loss_options *opt)
{
    return loss_cell(ctx, cross_entropy, opt);
}

/* --- the others ------------------------------------------------------------------------------- */

static ingot_tensor *mse(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in, int n_in,
                         void *user)
{
    const loss_config *c = user;

    (void)cell;
    if (!cell_inputs(ctx, "mse_loss", 2, n_in))
        return NULL;
    return ingot_mse_loss(ctx, in[0], in[1], &(ingot_mse_loss_options){.reduction = c->reduction});
}

ingot_cell *ingot_nn_mse_loss(ingot_context *ctx, const ingot_nn_loss_options *opt)
{
    return loss_cell(ctx, mse, opt);
}

static ingot_tensor *l1(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in, int n_in,
                        void *user)
{
    const loss_config *c = user;

    (void)cell;
    if (!cell_inputs(ctx, "l1_loss", 2, n_in))
        return NULL;
    return ingot_l1_loss(ctx, in[0], in[1], &(ingot_l1_loss_options){.reduction = c->reduction});
}

ingot_cell *ingot_nn_l1_loss(ingot_context *ctx, const ingot_nn_loss_options *opt)
{
    return loss_cell(ctx, l1, opt);
}

static ingot_tensor *bce(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in, int n_in,
                         void *user)
{
    const loss_config *c = user;

    (void)cell;
    if (!cell_inputs(ctx, "bce_with_logits", 2, n_in))
        return NULL;
    return ingot_bce_with_logits(ctx, in[0], in[1],
                                 &(ingot_bce_with_logits_options){.reduction = c->reduction});
}

ingot_cell *ingot_nn_bce_with_logits(ingot_context *ctx, const ingot_nn_loss_options *opt)
{
    return loss_cell(ctx, bce, opt);
}
