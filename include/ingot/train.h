/* SPDX-License-Identifier: Apache-2.0 */
/* Training as a loop over a dataset: model, metrics, callbacks, checkpoints. */
#ifndef INGOT_TRAIN_H
#define INGOT_TRAIN_H

#include "ingot/data.h"
#include "ingot/nn.h"
#include "ingot/optim.h"

INGOT_BEGIN_C

/** A net with its loss, optimiser, metrics, callbacks and position: everything that a checkpoint
    holds. Forward, loss, gradients and update are one compiled function. */
typedef struct ingot_model ingot_model;

/** All zero = the defaults. */
typedef struct ingot_model_options {
    int top_k; /**< also count targets among the k best classes; 0 = don't */
    bool
        no_label_check; /**< integer targets are no class numbers: don't compare them with [0, C) */
} ingot_model_options;

/** net stays the caller's and must outlive the model; loss and optimizer are taken over (also when
    it fails). loss is a cell of (prediction, target) that gives a scalar. NULL optimizer: a model
   to evaluate; NULL loss too: to predict alone. */
INGOT_API ingot_model *ingot_model_new(ingot_context *ctx, ingot_cell *net, ingot_cell *loss,
                                       ingot_optimizer *optimizer, const ingot_model_options *opt);
/** Frees it with its callbacks, loss and optimiser. NULL is allowed. */
INGOT_API void ingot_model_free(ingot_model *m);

/** Means over samples. What does not apply is NaN: accuracy and top_k need targets [N] of integers
    and predictions [N, C]. */
typedef struct ingot_metrics {
    double loss;
    double accuracy; /**< share of samples whose first largest logit is the target's */
    double top_k;    /**< share of samples whose target is among the k largest */
    int64_t samples;
} ingot_metrics;

/* --- callbacks ---------------------------------------------------------------------------------
 */

/** When a callback is called. */
typedef enum ingot_event {
    INGOT_TRAIN_BEGIN,
    INGOT_EPOCH_BEGIN,
    INGOT_STEP_BEGIN,
    INGOT_STEP_END,
    INGOT_EPOCH_END, /**< after the evaluation, when there is one */
    INGOT_TRAIN_END, /**< however training ends, except by an error */
    INGOT_EVAL_BEGIN,
    INGOT_EVAL_STEP, /**< after each batch of an evaluation */
    INGOT_EVAL_END
} ingot_event;

/** Where training stands. The numbers describe what is done: at STEP_END the step counts already.
 */
typedef struct ingot_progress {
    ingot_context *ctx;
    ingot_model *model;
    uint64_t step;             /**< updates, over all epochs and interruptions */
    int64_t epoch, epochs;     /**< epochs done; how many it shall become */
    int64_t batch, batches;    /**< batches done in this epoch (or evaluation); its batches */
    int64_t samples;           /**< in the last batch */
    double loss;               /**< of the last batch; NaN before the first */
    double lr;                 /**< of the last update */
    uint64_t data_ns;          /**< time that the last step waited for its batch */
    uint64_t step_ns;          /**< time of the last step, waiting included */
    ingot_metrics train;       /**< of this epoch so far */
    const ingot_metrics *eval; /**< of the last evaluation; NULL = none yet */
    bool stopping;             /**< training was asked to stop */
} ingot_progress;

/** A callback. Returning non-zero stops training after the running step (TRAIN_END still comes). */
typedef int (*ingot_callback_fn)(ingot_event event, const ingot_progress *p, void *user);
typedef struct ingot_callback ingot_callback;

/** A callback of the user's; release may be NULL, and is called also when this fails. */
INGOT_API ingot_callback *ingot_callback_new(ingot_context *ctx, ingot_callback_fn fn, void *user,
                                             void (*release)(void *user));
/** For a callback that was not added to a model. NULL is allowed. */
INGOT_API void ingot_callback_free(ingot_callback *cb);
/** Adds a callback, which the model takes over (also when it fails). They are called in the order
    they were added, those of ingot_checkpoint after the others. NULL cb: the error that made it
   NULL is returned. */
INGOT_API ingot_status ingot_model_add_callback(ingot_model *m, ingot_callback *cb);

/** Writes a line about the loss every `every` steps (0 = 1) and about each evaluation. out NULL =
    the context's log. */
INGOT_API ingot_callback *ingot_loss_monitor(ingot_context *ctx, uint64_t every, ingot_log_fn out,
                                             void *user);
/** Writes a line about the time of each epoch, its steps, and what they waited for data. */
INGOT_API ingot_callback *ingot_time_monitor(ingot_context *ctx, ingot_log_fn out, void *user);

/** All zero = the defaults. */
typedef struct ingot_checkpoint_options {
    uint64_t every; /**< steps; 0 = at the end of each epoch */
    int keep;       /**< newest ones that stay; 0 = 2, negative = all */
} ingot_checkpoint_options;
/** Writes checkpoints into folder, made when missing; also when training is stopped. */
INGOT_API ingot_callback *ingot_checkpoint(ingot_context *ctx, const char *folder,
                                           const ingot_checkpoint_options *opt);

/** All zero = the defaults. */
typedef struct ingot_early_stop_options {
    bool accuracy;    /**< watch the accuracy (more is better) instead of the loss */
    double min_delta; /**< an improvement is more than this */
} ingot_early_stop_options;
/** Stops when `patience` (at least 1) epochs in a row brought no improvement, in the evaluation or,
    when there is none, in training. Its state is part of checkpoints. */
INGOT_API ingot_callback *ingot_early_stop(ingot_context *ctx, int patience,
                                           const ingot_early_stop_options *opt);

/** A number that is kept in checkpoints, for the state of a user's callback. get gives `fallback`
    for a key never set. Keys: not empty, at most 64 bytes of printable ASCII. */
INGOT_API ingot_status ingot_model_set_number(ingot_model *m, const char *key, double value);
INGOT_API double ingot_model_number(const ingot_model *m, const char *key, double fallback);

/* --- train, evaluate, predict ------------------------------------------------------------------
 */

/** All zero = the defaults. */
typedef struct ingot_train_options {
    ingot_dataset *eval; /**< evaluated after each epoch; NULL = none */
    uint64_t max_steps;  /**< stop when so many updates were made in all; 0 = the epochs decide */
    int input;           /**< column of the dataset that the net takes; both 0 = 0 and 1 */
    int target;          /**< column that the loss takes */
} ingot_train_options;

/** Trains until `epochs` epochs are done in all: a model loaded from a checkpoint goes on where
   that was written. opt may be NULL. Errors: a loss that is not finite (INGOT_E_NUMERIC, naming the
    step), a label outside [0, C) (naming label, range and sample), no batch in the dataset; after
    ingot_model_stop INGOT_E_CANCELLED, when the checkpoints are written. */
INGOT_API INGOT_MUST_USE ingot_status ingot_model_train(ingot_model *m, int64_t epochs,
                                                        ingot_dataset *ds,
                                                        const ingot_train_options *opt);
/** One pass over ds without training. out may be NULL. opt says the columns; may be NULL. */
INGOT_API INGOT_MUST_USE ingot_status ingot_model_eval(ingot_model *m, ingot_dataset *ds,
                                                       const ingot_train_options *opt,
                                                       ingot_metrics *out);
/** The net's output, outside of training, in the current scope. NULL with an error. */
INGOT_API ingot_tensor *ingot_model_predict(ingot_model *m, ingot_tensor *x);

/** Asks a running training or evaluation to stop after its step. Only sets a flag: may be called
    from a signal handler or another thread. The flag is cleared when it has been obeyed. */
INGOT_API void ingot_model_stop(ingot_model *m);

INGOT_API uint64_t ingot_model_step(const ingot_model *m);
/** Epochs that are done. */
INGOT_API int64_t ingot_model_epoch(const ingot_model *m);
INGOT_API ingot_cell *ingot_model_net(const ingot_model *m);
INGOT_API ingot_optimizer *ingot_model_optimizer(const ingot_model *m);
/** Memory of the compiled training step: its plan's peak, and the sum without a plan. 0 before the
    first step, and in eager mode. */
INGOT_API size_t ingot_model_arena_bytes(const ingot_model *m);
INGOT_API size_t ingot_model_naive_bytes(const ingot_model *m);

/* --- checkpoints: safetensors files with a checksum, written atomically ------------------------
 */

/** Writes all parameters, the optimiser's state, step, position in the data, seed and numbers.
   Equal models give equal bytes. The path holds the old file or the whole new one at any time. */
INGOT_API INGOT_MUST_USE ingot_status ingot_model_save(ingot_model *m, const char *path);
/** Restores what ingot_model_save wrote, after the checksum and every name, type and shape have
   been checked: on an error the model is as before. A checkpoint of another seed is an error, for
   its run could not be continued exactly. */
INGOT_API INGOT_MUST_USE ingot_status ingot_model_load(ingot_model *m, const char *path);
/** The path of the newest checkpoint in a folder that ingot_checkpoint wrote to, as a text of the
    context's; NULL without an error when there is none or no such folder. */
INGOT_API const char *ingot_checkpoint_latest(ingot_context *ctx, const char *folder);

/** Writes the parameters of a net alone: weights that any safetensors tool can read. */
INGOT_API INGOT_MUST_USE ingot_status ingot_weights_save(ingot_context *ctx, ingot_cell *net,
                                                         const char *path);
/** Reads a net's parameters from any safetensors file, a checkpoint among them. Every parameter
   must be there with its type and shape, unless `partial`: then those of equal name are read, at
   least one. Other tensors of the file are ignored. On an error the net is as before. */
INGOT_API INGOT_MUST_USE ingot_status ingot_weights_load(ingot_context *ctx, ingot_cell *net,
                                                         const char *path, bool partial);

INGOT_END_C

#endif
