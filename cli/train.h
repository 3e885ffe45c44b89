/* SPDX-License-Identifier: Apache-2.0 */
/* A training run: what command_train assembles. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include "cli.h"
#include "dataset.h"
#include "recipe.h"

typedef struct run {
    recipe r;
    bool json, resume;
    ingot_context *ctx;
    ingot_dataset *train, *test;
    picture_spec spec;
    ingot_cell *net;
    ingot_model *model;
    FILE *log;     /* run.dir/log.txt */
    FILE *metrics; /* run.dir/metrics.csv */
} run;

/* The callback that reports: a bar on a terminal, lines otherwise, and the files of the run. */
ingot_callback *progress_callback(run *r);
/* run.dir/NAME into buf; false when it does not fit. */
bool run_path(const run *r, const char *name, char *buf, size_t size);
/* Opens log.txt and metrics.csv; when resuming, lines of epochs beyond `epoch` are dropped. */
bool run_files_open(run *r, int64_t epoch, char *err, size_t size);
void run_files_close(run *r);

#endif
