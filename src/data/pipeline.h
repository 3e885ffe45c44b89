/* SPDX-License-Identifier: Apache-2.0 */
/* Making batches, ahead of time by worker threads. */
#ifndef DATA_PIPELINE_H
#define DATA_PIPELINE_H

#include "data/dataset.h"

typedef struct pipeline pipeline;

/* A batch that was made. */
typedef struct batch_column {
    type type; /* with the batch's axis first */
    void *data;
    size_t cap;
} batch_column;

typedef struct batch_slot {
    uint64_t ready; /* sequence number + 1 of the batch that it holds */
    batch_column col[DATA_COLUMNS];
    error err;
} batch_slot;

/* Fixes the dataset's settings and starts its workers at batch ds->at of ds->epoch. */
pipeline *pipeline_new(ingot_dataset *ds, error *e);
void pipeline_free(pipeline *p); /* NULL allowed */
/* Throws away what was made, and goes on at ds->epoch and ds->at. */
void pipeline_restart(pipeline *p);
/* The batch at ds->epoch and ds->at, made or waited for; stays valid until pipeline_advance. */
const batch_slot *pipeline_wait(pipeline *p);
void pipeline_advance(pipeline *p);

#endif
