/* SPDX-License-Identifier: Apache-2.0 */
/* The model, as the files of this folder know it. */
#ifndef TRAIN_MODEL_H
#define TRAIN_MODEL_H

#include "formats/safetensors.h"
#include "ingot/train.h"
#include "tensor/context.h"

#include <stdatomic.h>

#define NUMBER_KEY_MAX 64

/* What ingot_metrics is the mean of. */
typedef struct sums {
    double loss; /* times samples */
    int64_t samples, labelled, right, top;
} sums;

typedef struct number {
    char key[NUMBER_KEY_MAX + 1];
    double value;
} number;

struct ingot_callback {
    ingot_context *ctx;
    ingot_callback_fn fn;
    void *user;
    void (*release)(void *user);
    bool last; /* called after the others: checkpoints, which hold their state */
};

struct ingot_model {
    ingot_context *ctx;
    ingot_cell *net, *loss;
    ingot_optimizer *optimizer;
    ingot_model_options opt;
    ingot_function *train_fn, *eval_fn, *predict_fn;
    uint64_t step;
    int64_t epoch;   /* the running one = those that are done */
    int64_t batch;   /* batches done in it */
    sums sums;       /* of it */
    number *numbers; /* sorted by key */
    size_t n_numbers, cap_numbers;
    ingot_callback **callbacks;
    size_t n_callbacks, cap_callbacks;
    ingot_progress progress;
    ingot_metrics eval;
    bool running;
    atomic_int stop;         /* by ingot_model_stop */
    const ingot_tensor *fed; /* targets whose labels are not compared with the classes yet */
    int64_t fed_at;          /* samples of the epoch before them */
    int64_t classes;         /* of the predictions; 0 = not known yet */
};

/* --- model.c ---------------------------------------------------------------------------------- */

/* The functions of the model, made on first use. */
ingot_function *model_train_fn(ingot_model *m);
ingot_function *model_eval_fn(ingot_model *m); /* gives the loss (when there is one), predictions */

/* --- metrics.c -------------------------------------------------------------------------------- */

/* Whether integer targets are class numbers below m->classes; false = an error is set. */
bool labels_check(ingot_model *m);
/* Adds a batch; target may be NULL. */
void sums_add(sums *s, const ingot_model *m, double loss, ingot_tensor *predictions,
              ingot_tensor *target, int64_t samples);
ingot_metrics sums_metrics(const sums *s, const ingot_model *m);

/* --- callback.c ------------------------------------------------------------------------------- */

/* Calls all callbacks; sets progress.stopping when one returned non-zero. false = an error is set.
 */
bool model_emit(ingot_model *m, ingot_event event);

/* --- checkpoint.c ----------------------------------------------------------------------------- */

/* A tensor of a file, by name and type; NULL with the error set. */
const safetensors_entry *entry_find(const safetensors *s, ingot_parameter *p, error *e);
/* Copies an entry into a parameter of its type. */
void entry_copy(const safetensors_entry *from, ingot_parameter *p);
/* The item that a parameter is in a file. */
safetensors_item parameter_item(ingot_parameter *p);

#endif
