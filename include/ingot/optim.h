/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers, whose update is part of the compiled step, and schedules of the learning rate. */
#ifndef INGOT_OPTIM_H
#define INGOT_OPTIM_H

#include "ingot/nn.h"

INGOT_BEGIN_C

/* --- schedules: pure functions of the step, which counts updates from 0 ------------------------
 */

typedef enum ingot_schedule_kind {
    INGOT_SCHEDULE_CONSTANT = 0,
    INGOT_SCHEDULE_STEP,   /**< times gamma after every `period` steps */
    INGOT_SCHEDULE_COSINE, /**< down to `end` over `period` steps, `end` from then on */
    INGOT_SCHEDULE_CUSTOM  /**< lr * fn(step, user) */
} ingot_schedule_kind;

/** A learning rate over time. In the first `warmup` steps it is lr * (step + 1) / warmup, whatever
    the kind; the kind's own steps count from there. */
typedef struct ingot_schedule {
    ingot_schedule_kind kind;
    double lr;               /**< the highest */
    uint64_t warmup;         /**< 0 = none */
    uint64_t period;         /**< step and cosine: at least 1, without the warm-up */
    double gamma;            /**< step; 0 = 0.1 */
    double end;              /**< cosine */
    ingot_host_scalar_fn fn; /**< custom */
    void *user;
} ingot_schedule;

/** The learning rate of a step. */
INGOT_API double ingot_schedule_at(const ingot_schedule *s, uint64_t step);

/* --- optimisers --------------------------------------------------------------------------------
 */

/** Trainable parameters, their state and an update rule. Made from a net, which must outlive it.
    Counts updates by ingot_step(ctx): step 0 is the first. */
typedef struct ingot_optimizer ingot_optimizer;

/** All zero = the defaults. */
typedef struct ingot_sgd_options {
    double momentum;     /**< 0 = plain SGD */
    double dampening;    /**< of the gradient that enters the momentum; not in the first update */
    bool nesterov;       /**< needs momentum and no dampening */
    double weight_decay; /**< L2: weight_decay * parameter is added to the gradient */
    bool decay_matrices; /**< decay only parameters of rank 2 or more (no biases, no norms) */
    double clip_norm;    /**< largest global norm of all gradients; 0 = no limit */
} ingot_sgd_options;
/** torch.optim.SGD. State "optim.momentum_buffer.NAME". opt may be NULL. */
INGOT_API ingot_optimizer *ingot_sgd(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                                     const ingot_sgd_options *opt);

/** All zero = the defaults. */
typedef struct ingot_adam_options {
    double beta1; /**< 0 = 0.9 */
    double beta2; /**< 0 = 0.999 */
    double eps;   /**< 0 = 1e-8 */
    double
        weight_decay; /**< adam: L2, as for sgd; adamw: decoupled (0 = none, as opposed to torch) */
    bool decay_matrices; /**< decay only parameters of rank 2 or more (no biases, no norms) */
    double clip_norm;    /**< largest global norm of all gradients; 0 = no limit */
} ingot_adam_options;
/** torch.optim.Adam (Kingma and Ba 2015). State "optim.exp_avg.NAME", "optim.exp_avg_sq.NAME". */
INGOT_API ingot_optimizer *ingot_adam(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                                      const ingot_adam_options *opt);
/** torch.optim.AdamW (Loshchilov and Hutter 2019): weights shrink by lr * weight_decay first. */
INGOT_API ingot_optimizer *ingot_adamw(ingot_context *ctx, ingot_cell *net,
                                       const ingot_schedule *lr, const ingot_adam_options *opt);

/** NULL is allowed. */
INGOT_API void ingot_optimizer_free(ingot_optimizer *o);

/** Gradients of a scalar loss, and the update of all parameters by them. Inside a traced function
    this becomes part of it. A loss of more than one element is an error. */
INGOT_API INGOT_MUST_USE ingot_status ingot_optimizer_minimize(ingot_optimizer *o,
                                                               ingot_tensor *loss);
/** The update alone: grads[i] is that of ingot_optimizer_parameter(o, i); n must be their count. */
INGOT_API INGOT_MUST_USE ingot_status ingot_optimizer_update(ingot_optimizer *o,
                                                             ingot_tensor *const *grads, int n);

/** The parameters it updates: those of the net that were trainable when it was made. */
INGOT_API int ingot_optimizer_parameter_count(const ingot_optimizer *o);
INGOT_API ingot_parameter *ingot_optimizer_parameter(const ingot_optimizer *o, int i);
/** Its state, for checkpoints. */
INGOT_API int ingot_optimizer_state_count(const ingot_optimizer *o);
INGOT_API ingot_parameter *ingot_optimizer_state(const ingot_optimizer *o, int i);
/** The learning rate of a step. */
INGOT_API double ingot_optimizer_lr(const ingot_optimizer *o, uint64_t step);
/** "sgd", "adam" or "adamw". */
INGOT_API const char *ingot_optimizer_name(const ingot_optimizer *o);

INGOT_END_C

#endif
