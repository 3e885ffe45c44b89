/* SPDX-License-Identifier: Apache-2.0 */
/* What the optimisers share. */
#ifndef OPTIM_OPTIMIZER_H
#define OPTIM_OPTIMIZER_H

#include "ingot/optim.h"

#define OPTIMIZER_STATES 2 /* most state tensors of one parameter */

/* Emits the update of parameter i by its gradient; false = an error is set. */
typedef bool (*optimizer_rule)(ingot_optimizer *o, int i, ingot_tensor *grad);

typedef struct optimizer_target {
    ingot_parameter *param;
    ingot_parameter *state[OPTIMIZER_STATES];
    bool decay;
} optimizer_target;

struct ingot_optimizer {
    ingot_context *ctx;
    const char *name;
    ingot_schedule lr;
    optimizer_rule rule;
    double momentum, dampening, beta1, beta2, eps, weight_decay, clip_norm;
    bool nesterov;
    optimizer_target *targets;
    int n_targets;
    int n_states; /* of each target */
};

/* An optimiser of net's trainable parameters from settings alone: those fields of `settings` that
   the rule reads, name, rule and n_states. state_names[n_states]. Checks what all have in common.
 */
ingot_optimizer *optimizer_make(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                                const ingot_optimizer *settings, bool decay_matrices,
                                const char *const *state_names);
/* dst = src */
bool optimizer_assign(ingot_optimizer *o, ingot_parameter *dst, ingot_tensor *src);
/* x * factor, factor a constant */
ingot_tensor *optimizer_scale(ingot_optimizer *o, ingot_tensor *x, double factor);
/* g + weight_decay * p, where target i is to decay */
ingot_tensor *optimizer_l2(ingot_optimizer *o, int i, ingot_tensor *g);
/* The learning rate of the step, as a tensor. */
ingot_tensor *optimizer_lr(ingot_optimizer *o);

#endif
