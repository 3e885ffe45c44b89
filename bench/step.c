/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps and inference of whole nets, through the public interface, on data in memory. The
   peer's side, bench/compare.py, makes the same data by the same formula and takes our weights. */
#include "bench.h"

#include "ingot/ingot.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOSSES 4

typedef struct net_row {
    const char *name, *net; /* net: as ingot_net_by_name has it */
    int64_t batch, channels, side, classes, features, depth;
    int batches, warm;
    bool adam;
} net_row;

static const net_row nets[] = {
    {"cnn", "cnn", 64, 1, 28, 10, 16, 2, 16, 10, true},
    {"mlp", "mlp", 32, 1, 28, 10, 128, 1, 16, 10, false},
    {"tiny", "mlp", 8, 1, 4, 4, 16, 1, 16, 10, false},
    {"resnet18", "resnet18", 16, 3, 224, 1000, 0, 0, 1, 1, false},
    {"resnet50", "resnet50", 16, 3, 224, 1000, 0, 0, 1, 1, false},
};

static const net_row *find_net(const char *name)
{
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        if (strcmp(nets[i].name, name) == 0)
            return &nets[i];
    (void)fprintf(stderr,
                  "ingot_bench: net '%s' is not one of cnn, mlp, tiny, resnet18, resnet50\n", name);
    return NULL;
}

typedef struct recorder {
    double ms[10000], loss[LOSSES];
    int n, skip, losses;
} recorder;

static int record(ingot_event event, const ingot_progress *p, void *user)
{
    recorder *r = user;

    if (event != INGOT_STEP_END)
        return 0;
    if (r->losses < LOSSES)
        r->loss[r->losses++] = p->loss;
    if (r->skip-- <= 0 && r->n < 10000)
        r->ms[r->n++] = 1e-6 * (double)(p->step_ns - p->data_ns);
    return 0;
}

static ingot_tensor *make_images(ingot_context *ctx, const net_row *net, int64_t n)
{
    ingot_tensor *t =
        ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(n, net->channels, net->side, net->side), NULL);
    float *x = ingot_tensor_data(t);

    for (int64_t i = 0; x && i < ingot_tensor_count(t); i++)
        x[i] = (float)((i * 7919 + 13) % 1009) / 1009.0f - 0.5f;
    return t;
}

static ingot_dataset *make_data(ingot_context *ctx, const net_row *net)
{
    static const char *const names[] = {"image", "label"};
    int64_t n = net->batch * net->batches;
    ingot_tensor *columns[2] = {make_images(ctx, net, n),
                                ingot_tensor_new(ctx, INGOT_I64, INGOT_INTS(n), NULL)};
    int64_t *y = ingot_tensor_data(columns[1]);
    ingot_dataset *ds;

    for (int64_t i = 0; y && i < n; i++)
        y[i] = i % net->classes;
    ds = ingot_array_dataset(ctx, columns, names, 2);
    (void)ingot_dataset_batch(ds, net->batch, true);
    return ds;
}

static ingot_cell *make_net(ingot_context *ctx, const net_row *net)
{
    return ingot_net_by_name(ctx, net->net,
                             &(ingot_net_options){.channels = net->channels,
                                                  .height = net->side,
                                                  .width = net->side,
                                                  .classes = net->classes,
                                                  .features = net->features,
                                                  .depth = net->depth});
}

/* The most memory that was resident, in KiB; getrusage would count the process that started us. */
static long peak_kb(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[128];
    long kb = 0;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (f)
        (void)fclose(f);
    return kb;
}

static int failed(ingot_context *ctx)
{
    (void)fprintf(stderr, "ingot_bench: %s\n", ingot_error_text(ctx));
    return 1;
}

static void print_numbers(const char *name, const double *v, int n)
{
    (void)printf(", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        (void)printf("%s%.9g", i ? ", " : "", v[i]);
    (void)printf("]");
}

int bench_step(const char *name, int threads, int steps, const char *weights)
{
    static recorder r;
    const net_row *row = find_net(name);
    const ingot_schedule lr = {.lr = 1e-4};
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = threads, .seed = 1});
    ingot_dataset *ds;
    ingot_cell *net;
    ingot_model *m;

    if (!row)
        return 2;
    ds = make_data(ctx, row);
    net = make_net(ctx, row);
    if (weights && ingot_weights_save(ctx, net, weights) != INGOT_OK)
        return failed(ctx);
    m = ingot_model_new(
        ctx, net, ingot_nn_cross_entropy(ctx, NULL),
        row->adam ? ingot_adamw(ctx, net, &lr, NULL) : ingot_sgd(ctx, net, &lr, NULL), NULL);
    r.skip = row->warm;
    (void)ingot_model_add_callback(m, ingot_callback_new(ctx, record, &r, NULL));
    if (ingot_model_train(
            m, 100000, ds,
            &(ingot_train_options){.max_steps = (uint64_t)row->warm + (uint64_t)steps}) != INGOT_OK)
        return failed(ctx);
    (void)printf("{\"name\": \"%s\", \"arena\": %zu, \"naive\": %zu, \"rss_kb\": %ld", name,
                 ingot_model_arena_bytes(m), ingot_model_naive_bytes(m), peak_kb());
    print_numbers("loss", r.loss, r.losses);
    print_numbers("ms", r.ms, r.n);
    (void)printf("}\n");
    ingot_model_free(m);
    ingot_cell_free(net);
    ingot_dataset_free(ds);
    ingot_close(ctx);
    return 0;
}

int bench_infer(const char *name, int threads, int batch, int runs, const char *file)
{
    static double ms[10000];
    const net_row *row = find_net(name);
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = threads, .seed = 1});
    ingot_cell *net;
    ingot_session *s;
    ingot_tensor *x, *y = NULL;
    double first[8];
    int n = 0;

    if (!row)
        return 2;
    net = make_net(ctx, row);
    if (ingot_export(ctx, net, INGOT_F32, INGOT_INTS(row->channels, row->side, row->side), file,
                     NULL) != INGOT_OK)
        return failed(ctx);
    ingot_cell_free(net);
    s = ingot_session_load(ctx, file);
    x = make_images(ctx, row, batch);
    for (int i = -2; s && i < runs && i < 10000; i++) {
        uint64_t begin = clock_ns();

        ingot_scope_begin(ctx);
        if (ingot_session_run(s, &x, 1, &y, 1) != INGOT_OK)
            return failed(ctx);
        if (i >= 0)
            ms[n++] = 1e-6 * (double)(clock_ns() - begin);
        for (int k = 0; k < 8; k++)
            first[k] = k < row->classes ? ingot_tensor_item(y, k) : 0.0;
        ingot_scope_end(ctx);
    }
    if (!s)
        return failed(ctx);
    (void)printf("{\"name\": \"%s\", \"rss_kb\": %ld", name, peak_kb());
    print_numbers("output", first, row->classes < 8 ? (int)row->classes : 8);
    print_numbers("ms", ms, n);
    (void)printf("}\n");
    ingot_session_free(s);
    ingot_close(ctx);
    return 0;
}
