/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "dataset.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    double loss;
    int64_t right, samples;
} tally;

/* The model's number for each class of the data, by name; -1 where it has none. NULL = the numbers
   are the same (one side has no names). */
static int *class_map(const ingot_session *s, const ingot_dataset *ds)
{
    int n = ingot_dataset_class_count(ds), m = ingot_session_class_count(s);
    int *map = n && m ? malloc((size_t)n * sizeof *map) : NULL;

    for (int i = 0; map && i < n; i++) {
        map[i] = -1;
        for (int k = 0; k < m; k++)
            if (strcmp(ingot_dataset_class(ds, i), ingot_session_class_name(s, k)) == 0)
                map[i] = k;
    }
    return map;
}

/* -log softmax(row)[label], in double. */
static double cross_entropy(ingot_tensor *logits, int64_t row, int64_t n, int64_t label,
                            bool *right)
{
    double max = -HUGE_VAL, sum = 0.0;
    int64_t best = 0;

    for (int64_t k = 0; k < n; k++) {
        double v = ingot_tensor_item(logits, row * n + k);

        if (v > max) {
            max = v;
            best = k;
        }
    }
    for (int64_t k = 0; k < n; k++)
        sum += exp(ingot_tensor_item(logits, row * n + k) - max);
    *right = best == label;
    return max + log(sum) - ingot_tensor_item(logits, row * n + label);
}

static ingot_status add_batch(ingot_context *ctx, ingot_session *s, const ingot_dataset *ds,
                              const int *map, ingot_tensor *const *column, tally *t)
{
    int64_t classes = ingot_session_output_dim(s, 0, -1), n = ingot_tensor_dim(column[0], 0);
    const int64_t *labels = ingot_tensor_data(column[1]);
    ingot_tensor *logits;

    if (ingot_session_run(s, column, 1, &logits, 1) != INGOT_OK)
        return ingot_error(ctx);
    for (int64_t i = 0; i < n; i++) {
        int64_t label = map ? map[labels[i]] : labels[i];
        bool right;

        if (label < 0 || label >= classes)
            return ingot_set_error(
                ctx, INGOT_E_ARGUMENT,
                "sample %" PRId64 ": class %s%" PRId64 " is none of the model's %" PRId64,
                t->samples, map ? ingot_dataset_class(ds, (int)labels[i]) : "", labels[i], classes);
        t->loss += cross_entropy(logits, i, classes, label, &right);
        t->right += right;
        t->samples++;
    }
    return INGOT_OK;
}

static ingot_status evaluate(ingot_context *ctx, ingot_session *s, const char *path, data_part part,
                             int batch, int workers, tally *t)
{
    const ingot_image_facts *f = ingot_session_image(s);
    picture_spec spec = {.channels = f->channels, .height = f->height, .width = f->width};
    ingot_dataset *ds;
    bool more = true;
    int *map;

    if (!f->channels)
        return ingot_set_error(ctx, INGOT_E_UNSUPPORTED, "the model takes no pictures");
    memcpy(spec.mean, f->mean, sizeof spec.mean);
    memcpy(spec.std, f->std, sizeof spec.std);
    ds = data_open(ctx, path, part);
    map = ds ? class_map(s, ds) : NULL;
    if (ds && data_prepare(ctx, ds, path, &spec, false, workers) == INGOT_OK &&
        ingot_dataset_batch(ds, batch, false) == INGOT_OK)
        while (more && ingot_error(ctx) == INGOT_OK) {
            ingot_tensor *column[2];

            ingot_scope_begin(ctx);
            if (ingot_dataset_next(ds, column, 2, &more) == INGOT_OK && more)
                (void)add_batch(ctx, s, ds, map, column, t);
            ingot_scope_end(ctx);
        }
    if (ingot_error(ctx) == INGOT_OK && t->samples == 0)
        (void)ingot_set_error(ctx, INGOT_E_ARGUMENT, "%s: no pictures in it", path);
    free(map);
    ingot_dataset_free(ds);
    return ingot_error(ctx);
}

int command_eval(int argc, char **argv)
{
    bool json = false, train = false;
    int64_t batch = 250, workers = 1, threads = 0;
    const option_row rows[] = {
        {"batch", "N", "pictures at a time (250)", OPTION_INT, &batch},
        {"workers", "N", "threads that prepare pictures (1)", OPTION_INT, &workers},
        {"threads", "N", "threads that compute; 0 = all cores", OPTION_INT, &threads},
        {"train-set", NULL, "of IDX files the training set instead of the test set", OPTION_FLAG,
         &train},
        {"json", NULL, "one object with accuracy, loss and samples", OPTION_FLAG, &json},
    };
    const usage u = {
        .command = "eval",
        .synopsis = "[OPTION…] MODEL DATA",
        .about =
            "Measures a model's accuracy and loss on a folder of class folders, or a folder of IDX\n"
            "files. Classes are matched by their names where both sides have them.",
        .rows = rows,
        .n_rows = 5,
        .examples = "  ingot eval run/model.ingot photos/test\n"
                    "  ingot eval --json run/model.ingot /usr/share/datasets/fashion-mnist\n",
    };
    tally t = {0};
    arguments rest;
    int status = options_read(&u, argc, argv, &rest);

    if (status >= 0)
        return status;
    if (rest.n != 2)
        return usage_error(&u, "MODEL and DATA are needed, %d arguments given", rest.n);
    if (batch < 1 || batch > 65536 || workers > 256 || threads > 1024)
        return usage_error(&u, "--batch goes from 1 to 65536, --workers to 256, --threads to 1024");
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = (int)threads});
    ingot_session *s = ingot_session_load(ctx, rest.v[0]);

    if (!s || evaluate(ctx, s, rest.v[1], train ? PART_TRAIN : PART_TEST, (int)batch, (int)workers,
                       &t) != INGOT_OK)
        status = report_context("eval", json, ctx);
    else if (json)
        print_json(json_pack("{s:f, s:f, s:I}", "accuracy", (double)t.right / (double)t.samples,
                             "loss", t.loss / (double)t.samples, "samples", (json_int_t)t.samples));
    else
        (void)printf("accuracy %.4f  loss %.4f  samples %" PRId64 "\n",
                     (double)t.right / (double)t.samples, t.loss / (double)t.samples, t.samples);
    ingot_session_free(s);
    ingot_close(ctx);
    return status >= 0 ? status : EXIT_DONE;
}
