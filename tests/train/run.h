/* SPDX-License-Identifier: Apache-2.0 */
/* A small training run for the tests: data, net, model, folder. */
#ifndef TESTS_TRAIN_RUN_H
#define TESTS_TRAIN_RUN_H

#include "base/file.h"
#include "ingot/ingot.h"
#include "nn/golden.h"

#include <stdio.h>
#include <unistd.h>

enum { SAMPLES = 50, FEATURES = 6, CLASSES = 3, BATCH = 8, BATCHES = 7 };

/* A folder of its own for each test, removed with all in it. */
typedef struct test_folder {
    char path[128];
} test_folder;

static inline void folder_open(test_folder *f)
{
    snprintf(f->path, sizeof f->path, "/tmp/ingot_train_XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static inline void folder_close(test_folder *f)
{
    folder_list list = {0};
    char path[512];

    if (folder_list_read(&list, NULL, f->path, NULL))
        for (size_t i = 0; i < list.count; i++) {
            snprintf(path, sizeof path, "%s/%s", f->path, list.names[i]);
            remove(path);
        }
    folder_list_free(&list);
    rmdir(f->path);
}

static inline int file_count(const test_folder *f)
{
    folder_list list = {0};
    int n;

    assert_true(folder_list_read(&list, NULL, f->path, NULL));
    n = (int)list.count;
    folder_list_free(&list);
    return n;
}

/* The rows that the tests train on: features by a formula, the label by a rule over them. */
static inline void sample_of(int64_t i, float x[FEATURES], int32_t *label)
{
    double best = -HUGE_VAL;

    for (int k = 0; k < FEATURES; k++)
        x[k] = (float)sin(1.7 * (double)i + 2.3 * k);
    for (int c = 0; c < CLASSES; c++) {
        double s = (double)x[c] - 0.5 * (double)x[c + 3];

        if (s > best) {
            best = s;
            *label = c;
        }
    }
}

typedef struct run {
    ingot_context *ctx;
    ingot_dataset *ds, *test; /* the same rows */
    ingot_cell *net;
    ingot_model *model;
} run;

typedef struct run_options {
    ingot_mode mode;
    int threads, workers;
    uint64_t seed;
    double lr;   /* 0 = 0.01 */
    int bad_row; /* its label is CLASSES + 4; 0 = none */
    int nan_row; /* a feature of it is NaN; 0 = none */
    int batch;   /* 0 = BATCH */
    bool sgd;
} run_options;

static inline ingot_dataset *run_data(ingot_context *ctx, const run_options *o)
{
    static const char *const names[] = {"x", "label"};
    float x[SAMPLES][FEATURES];
    int32_t label[SAMPLES] = {0};
    ingot_tensor *columns[2];
    ingot_dataset *ds;

    for (int64_t i = 0; i < SAMPLES; i++)
        sample_of(i, x[i], &label[i]);
    if (o->bad_row)
        label[o->bad_row] = CLASSES + 4;
    if (o->nan_row)
        x[o->nan_row][2] = NAN;
    columns[0] = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(SAMPLES, FEATURES), x);
    columns[1] = ingot_tensor_new(ctx, INGOT_I32, INGOT_INTS(SAMPLES), label);
    ds = ingot_array_dataset(ctx, columns, names, 2);
    ingot_dataset_map(ds, "x", (ingot_transform *const[]){NULL}, o->workers);
    if (!o->bad_row && !o->nan_row) /* those are looked for where they stand */
        ingot_dataset_shuffle(ds);
    ingot_dataset_batch(ds, o->batch ? o->batch : BATCH, false);
    return ds;
}

static inline run run_open(const run_options *o)
{
    run r = {.ctx = ingot_open(&(ingot_context_options){
                 .mode = o->mode, .threads = o->threads, .seed = o->seed, .no_pin = true})};
    const ingot_schedule lr = {.lr = o->lr > 0 ? o->lr : 0.01};

    r.ds = run_data(r.ctx, o);
    r.test = run_data(r.ctx, o);
    r.net = ingot_net_mlp(r.ctx, &(ingot_net_options){.channels = 1,
                                                      .height = 1,
                                                      .width = FEATURES,
                                                      .classes = CLASSES,
                                                      .features = 16,
                                                      .depth = 1,
                                                      .dropout = 0.1});
    r.model =
        ingot_model_new(r.ctx, r.net, ingot_nn_cross_entropy(r.ctx, NULL),
                        o->sgd ? ingot_sgd(r.ctx, r.net, &lr, &(ingot_sgd_options){.momentum = 0.9})
                               : ingot_adamw(r.ctx, r.net, &lr, NULL),
                        &(ingot_model_options){.top_k = 2});
    if (!r.model)
        fail_msg("%s", ingot_error_text(r.ctx));
    return r;
}

static inline void run_close(run *r)
{
    ingot_model_free(r->model);
    ingot_cell_free(r->net);
    ingot_dataset_free(r->ds);
    ingot_dataset_free(r->test);
    ingot_close(r->ctx);
}

#endif
