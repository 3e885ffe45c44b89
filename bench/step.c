/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps of whole nets, through the public interface, on data in memory. */
#include "bench.h"

#include "ingot/ingot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM 10

typedef struct recorder {
    double ms[10000];
    int n, skip;
} recorder;

static int record(ingot_event event, const ingot_progress *p, void *user)
{
    recorder *r = user;

    if (event == INGOT_STEP_END && r->skip-- <= 0 && r->n < 10000)
        r->ms[r->n++] = 1e-6 * (double)(p->step_ns - p->data_ns);
    return 0;
}

static ingot_dataset *make_data(ingot_context *ctx, int64_t side, int64_t batch, int64_t batches)
{
    static const char *const names[] = {"image", "label"};
    int64_t n = batch * batches;
    ingot_tensor *columns[2];
    ingot_dataset *ds;

    columns[0] = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(n, 1, side, side), NULL);
    columns[1] = ingot_tensor_new(ctx, INGOT_I64, INGOT_INTS(n), NULL);
    if (!columns[0] || !columns[1])
        return NULL;
    float *x = ingot_tensor_data(columns[0]);
    int64_t *y = ingot_tensor_data(columns[1]);

    for (int64_t i = 0; i < n * side * side; i++)
        x[i] = (float)((i * 7919 + 13) % 1009) / 1009.0f - 0.5f;
    for (int64_t i = 0; i < n; i++)
        y[i] = i % 10;
    ds = ingot_array_dataset(ctx, columns, names, 2);
    (void)ingot_dataset_batch(ds, batch, true);
    return ds;
}

int bench_step(const char *name, int threads, int steps)
{
    static recorder r;
    bool mlp = strcmp(name, "mlp") == 0;
    int64_t batch = mlp ? 32 : 64;
    const ingot_net_options opt = {.channels = 1,
                                   .height = 28,
                                   .width = 28,
                                   .classes = 10,
                                   .features = mlp ? 128 : 16,
                                   .depth = mlp ? 1 : 2};
    const ingot_schedule lr = {.lr = 1e-4};
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = threads, .seed = 1});
    ingot_dataset *ds = make_data(ctx, 28, batch, 16);
    ingot_cell *net = ingot_net_by_name(ctx, mlp ? "mlp" : "cnn", &opt);
    ingot_model *m = ingot_model_new(
        ctx, net, ingot_nn_cross_entropy(ctx, NULL),
        mlp ? ingot_sgd(ctx, net, &lr, NULL) : ingot_adamw(ctx, net, &lr, NULL), NULL);

    r.skip = WARM;
    (void)ingot_model_add_callback(m, ingot_callback_new(ctx, record, &r, NULL));
    if (!ds || ingot_model_train(m, 1000, ds,
                                 &(ingot_train_options){.max_steps = (uint64_t)(WARM + steps)}) !=
                   INGOT_OK) {
        (void)fprintf(stderr, "ingot_bench: %s\n", ingot_error_text(ctx));
        return 1;
    }
    (void)printf("{\"name\": \"%s\", \"arena\": %zu, \"naive\": %zu, \"ms\": [", name,
                 ingot_model_arena_bytes(m), ingot_model_naive_bytes(m));
    for (int i = 0; i < r.n; i++)
        (void)printf("%s%.6f", i ? ", " : "", r.ms[i]);
    (void)printf("]}\n");
    ingot_model_free(m);
    ingot_cell_free(net);
    ingot_dataset_free(ds);
    ingot_close(ctx);
    return 0;
}
