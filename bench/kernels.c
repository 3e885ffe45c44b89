/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels alone, as the runtime calls them, each sample between two samples of the machine's peak.
 */
#include "base/clock.h"
#include "base/pool.h"
#include "bench.h"
#include "cpu/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 15

#define ISA(name) double bench_peak_##name(int64_t rounds, float *sink);
#include "cpu/isas.inc"
#undef ISA

typedef double (*peak_fn)(int64_t rounds, float *sink);

static peak_fn peak_of(const char *isa)
{
#define ISA(name)                \
    if (strcmp(isa, #name) == 0) \
        return bench_peak_##name;
#include "cpu/isas.inc"
#undef ISA
    return NULL;
}

typedef struct peak_job {
    peak_fn fn;
    double ops[POOL_THREADS_MAX];
    float sink[POOL_THREADS_MAX];
} peak_job;

#define PEAK_ROUNDS 400000

static void peak_unit(void *user, int64_t lo, int64_t hi, int worker)
{
    peak_job *j = user;

    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        j->ops[i] = j->fn(PEAK_ROUNDS, &j->sink[i]);
}

/* Operations a second of all threads together. */
static double measure_peak(pool *p, int threads, peak_fn fn)
{
    static peak_job j;
    uint64_t begin = clock_ns();
    double ops = 0.0;

    j.fn = fn;
    pool_run(p, peak_unit, &j, threads, 1);
    for (int i = 0; i < threads; i++)
        ops += j.ops[i];
    return ops / (1e-9 * (double)(clock_ns() - begin));
}

/* A call of a kernel: conv2d and its gradients, or matmul. */
typedef struct kernel_case {
    const char *op;
    int64_t m, n, k; /* matmul */
    int64_t batch, c, h, o, window, stride;
    bool fixed; /* the weights are packed beforehand */
} kernel_case;

static const kernel_case cases[] = {
    {"matmul", .m = 1024, .n = 1024, .k = 1024},
    {"matmul", .m = 256, .n = 256, .k = 256},
    {"matmul", .m = 512, .n = 3072, .k = 768},
    {"matmul", .m = 64, .n = 128, .k = 1568},
    {"conv2d", .batch = 64, .c = 1, .h = 28, .o = 32, .window = 3, .stride = 1},
    {"conv2d", .batch = 64, .c = 32, .h = 14, .o = 64, .window = 3, .stride = 1},
    {"conv2d_backward_data", .batch = 64, .c = 32, .h = 14, .o = 64, .window = 3, .stride = 1},
    {"conv2d_backward_weight", .batch = 64, .c = 32, .h = 14, .o = 64, .window = 3, .stride = 1},
    {"conv2d", .batch = 8, .c = 64, .h = 56, .o = 64, .window = 3, .stride = 1},
    {"conv2d_backward_data", .batch = 8, .c = 64, .h = 56, .o = 64, .window = 3, .stride = 1},
    {"conv2d_backward_weight", .batch = 8, .c = 64, .h = 56, .o = 64, .window = 3, .stride = 1},
    {"conv2d", .batch = 8, .c = 64, .h = 56, .o = 128, .window = 3, .stride = 2},
    {"conv2d", .batch = 8, .c = 3, .h = 224, .o = 64, .window = 7, .stride = 2},
};

/* The convolutions of ResNet-50, 224 x 224: how often the net has each. */
static const struct {
    int64_t c, o, window, stride, h;
    int count;
} resnet50[] = {
    {3, 64, 7, 2, 224, 1},    {64, 64, 1, 1, 56, 1},    {64, 64, 3, 1, 56, 3},
    {64, 256, 1, 1, 56, 4},   {256, 64, 1, 1, 56, 2},   {256, 128, 1, 1, 56, 1},
    {128, 128, 3, 2, 56, 1},  {128, 512, 1, 1, 28, 4},  {256, 512, 1, 2, 56, 1},
    {512, 128, 1, 1, 28, 3},  {128, 128, 3, 1, 28, 3},  {512, 256, 1, 1, 28, 1},
    {256, 256, 3, 2, 28, 1},  {256, 1024, 1, 1, 14, 6}, {512, 1024, 1, 2, 28, 1},
    {1024, 256, 1, 1, 14, 5}, {256, 256, 3, 1, 14, 5},  {1024, 512, 1, 1, 14, 1},
    {512, 512, 3, 2, 14, 1},  {512, 2048, 1, 1, 7, 3},  {1024, 2048, 1, 2, 14, 1},
    {2048, 512, 1, 1, 7, 2},  {512, 512, 3, 1, 7, 2},
};

/* A planned call with its memory. */
typedef struct call {
    type in[3], out[1];
    attr attrs[5];
    const char *names[5];
    int64_t shape[4], stride, pad;
    kcall c;
    const kernel_row *row;
    void *buf[4], *scratch, *work;
    double flops;
    char text[96];
} call;

static float *random_floats(const type *t)
{
    int64_t n = type_count(t);
    float *p = mem_new_pages(NULL, type_bytes(t), "bench", NULL);

    for (int64_t i = 0; p && i < n; i++)
        p[i] = (float)((i * 7919 + 13) % 1009) / 1009.0f - 0.5f;
    return p;
}

static type f32(int rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t dim[] = {a, b, c, d};

    return type_make(INGOT_F32, rank, dim);
}

static void set_attr(call *k, int i, const char *name, attr a)
{
    k->names[i] = name;
    k->attrs[i] = a;
}

static void set_matmul(call *k, const kernel_case *s)
{
    k->in[0] = f32(2, s->m, s->k, 0, 0);
    k->in[1] = f32(2, s->k, s->n, 0, 0);
    k->out[0] = f32(2, s->m, s->n, 0, 0);
    k->c.n_in = 2;
    set_attr(k, 0, "trans_x", (attr){.kind = ATTR_FLAG});
    set_attr(k, 1, "trans_y", (attr){.kind = ATTR_FLAG});
    k->c.n_attrs = 2;
    k->flops = 2.0 * (double)s->m * (double)s->n * (double)s->k;
    (void)snprintf(k->text, sizeof k->text, "matmul %lld x %lld x %lld", (long long)s->m,
                   (long long)s->n, (long long)s->k);
}

static void set_conv(call *k, const kernel_case *s)
{
    int64_t oh = (s->h + 2 * (s->window / 2) - s->window) / s->stride + 1;
    type x = f32(4, s->batch, s->c, s->h, s->h), w = f32(4, s->o, s->c, s->window, s->window);
    type y = f32(4, s->batch, s->o, oh, oh);
    const type *to = &y;

    k->in[0] = x;
    k->in[1] = w;
    k->in[2] = TYPE_ABSENT;
    k->c.n_in = 3;
    if (strcmp(s->op, "conv2d") != 0) {
        bool data = strcmp(s->op, "conv2d_backward_data") == 0;

        k->in[0] = y;
        k->in[1] = data ? w : x;
        to = data ? &x : &w;
        k->c.n_in = 2;
    }
    k->out[0] = *to;
    k->stride = s->stride;
    k->pad = s->window / 2;
    memcpy(k->shape, to->dim, sizeof k->shape);
    set_attr(k, 0, "shape", (attr){.kind = ATTR_INTS, {.a = {k->shape, 4}}});
    set_attr(k, 1, "stride", (attr){.kind = ATTR_INTS, {.a = {&k->stride, 1}}});
    set_attr(k, 2, "padding", (attr){.kind = ATTR_INTS, {.a = {&k->pad, 1}}});
    set_attr(k, 3, "dilation", (attr){.kind = ATTR_INTS, {.a = NO_INTS}});
    set_attr(k, 4, "groups", (attr){.kind = ATTR_INT});
    k->c.n_attrs = 5;
    k->flops = 2.0 * (double)type_count(&y) * (double)(s->c * s->window * s->window);
    (void)snprintf(k->text, sizeof k->text, "%s N%lld C%lld %lldx%lld O%lld k%lld s%lld", s->op,
                   (long long)s->batch, (long long)s->c, (long long)s->h, (long long)s->h,
                   (long long)s->o, (long long)s->window, (long long)s->stride);
}

static bool call_make(call *k, const kernel_case *s, const machine *m, int threads)
{
    error e = {0};

    memset(k, 0, sizeof *k);
    if (strcmp(s->op, "matmul") == 0)
        set_matmul(k, s);
    else
        set_conv(k, s);
    k->c.mach = m;
    k->c.in = k->in;
    k->c.out = k->out;
    k->c.n_out = 1;
    k->c.attrs = k->attrs;
    k->c.attr_names = k->names;
    k->row = cpu_find(m->isa, s->op, k->in, k->c.n_in);
    if (!k->row)
        return false;
    k->c.fixed = s->fixed ? 1u << 1 : 0;
    k->c.plan = mem_new(NULL, k->row->plan_size + 1, "bench", &e);
    k->c.phases = 1;
    for (int i = 0; i < KCALL_PHASES; i++)
        k->c.grain[i] = 1;
    if (!k->c.plan || !k->row->plan(&k->c, &e))
        return false;
    k->c.scratch = (k->c.scratch + 63) & ~(size_t)63;
    for (int i = 0; i < k->c.n_in; i++)
        k->buf[i] = k->in[i].rank < 0 ? NULL : random_floats(&k->in[i]);
    k->buf[k->c.n_in] = random_floats(&k->out[0]);
    k->scratch = mem_new_pages(NULL, k->c.scratch * (size_t)threads + 64, "bench", &e);
    k->work = mem_new_pages(NULL, k->c.work + 64, "bench", &e);
    return k->buf[0] && k->buf[k->c.n_in] && k->scratch && k->work;
}

static void call_free(call *k, int threads)
{
    for (int i = 0; i < k->c.n_in; i++)
        if (k->buf[i])
            mem_free_pages(NULL, k->buf[i], type_bytes(&k->in[i]));
    mem_free_pages(NULL, k->buf[k->c.n_in], type_bytes(&k->out[0]));
    mem_free_pages(NULL, k->scratch, k->c.scratch * (size_t)threads + 64);
    mem_free_pages(NULL, k->work, k->c.work + 64);
    mem_free(NULL, k->c.plan, k->row->plan_size + 1);
}

typedef struct phase_job {
    const call *k;
    int phase;
} phase_job;

static void run_units(void *user, int64_t lo, int64_t hi, int worker)
{
    const phase_job *j = user;

    j->k->row->run(&j->k->c, j->k->buf, j->phase, lo, hi,
                   (char *)j->k->scratch + (size_t)worker * j->k->c.scratch, j->k->work);
}

static double time_call(pool *p, const call *k, int first)
{
    uint64_t begin = clock_ns();
    phase_job j = {.k = k};

    for (j.phase = first; j.phase < k->c.phases; j.phase++)
        pool_run(p, run_units, &j, k->c.units[j.phase], k->c.grain[j.phase]);
    return 1e-9 * (double)(clock_ns() - begin);
}

/* Prints a case's line; gives its operations and what the peak would have done in its time. */
static bool bench_case(pool *p, const machine *m, int threads, const kernel_case *s, int samples,
                       double *ops, double *peak_ops)
{
    double share[SAMPLES], rate[SAMPLES];
    peak_fn peak = peak_of(m->isa);
    call k;

    if (!call_make(&k, s, m, threads)) {
        (void)fprintf(stderr, "ingot_bench: %s: no kernel or no memory\n", s->op);
        return false;
    }
    (void)time_call(p, &k, 0);
    for (int i = 0; i < samples; i++) {
        double before = measure_peak(p, threads, peak), t = time_call(p, &k, k.c.once);
        double after = measure_peak(p, threads, peak);

        rate[i] = k.flops / t;
        share[i] = rate[i] / (0.5 * (before + after));
    }
    summary a = summarise(share, samples), b = summarise(rate, samples);

    (void)printf("| %-62s | %7.1f | %5.1f %% | %5.1f - %5.1f | %5.1f %% |\n", k.text,
                 1e-9 * b.median, 100.0 * a.median, 100.0 * a.low, 100.0 * a.high,
                 100.0 * share[samples - 1]);
    (void)fflush(stdout);
    *ops = k.flops;
    *peak_ops = k.flops / a.median;
    call_free(&k, threads);
    return true;
}

static pool *bench_open(int threads, const char *isa, machine *m)
{
    error e = {0};
    pool *p = NULL;

    if (threads < 1 || threads > POOL_THREADS_MAX || !cpu_detect(isa, m, &e) ||
        !(p = pool_new(NULL, threads, true, &e))) {
        (void)fprintf(stderr, "ingot_bench: %s\n", e.code ? e.text : "threads from 1 to 1024");
        return NULL;
    }
    (void)printf("%s, %s, %d thread%s; peak %.1f Gflop/s now\n\n", m->cpu, m->isa, threads,
                 threads > 1 ? "s" : "", 1e-9 * measure_peak(p, threads, peak_of(m->isa)));
    (void)printf("| %-62s | Gflop/s | of peak | quartiles, %% | best |\n|---|---|---|---|---|\n",
                 "kernel");
    return p;
}

int bench_kernels(int threads, const char *isa)
{
    double ops, peak_ops;
    machine m;
    pool *p = bench_open(threads, isa, &m);
    bool ok = p != NULL;

    for (size_t i = 0; ok && i < sizeof cases / sizeof *cases; i++)
        ok = bench_case(p, &m, threads, &cases[i], SAMPLES, &ops, &peak_ops);
    pool_free(p);
    return ok ? 0 : 1;
}

int bench_resnet50(int threads, const char *isa, int batch, bool fixed)
{
    static const char *const names[] = {"conv2d", "conv2d_backward_data", "conv2d_backward_weight"};
    double sum[3] = {0}, peak_sum[3] = {0};
    machine m;
    pool *p = bench_open(threads, isa, &m);
    bool ok = p != NULL;

    for (int k = 0; ok && k < (fixed ? 1 : 3); k++)
        for (size_t i = 0; ok && i < sizeof resnet50 / sizeof *resnet50; i++) {
            kernel_case c = {names[k], .batch = batch, .c = resnet50[i].c, .h = resnet50[i].h};
            double ops = 0.0, peak_ops = 0.0;

            c.fixed = fixed;
            c.o = resnet50[i].o;
            c.window = resnet50[i].window;
            c.stride = resnet50[i].stride;
            if (k == 1 && i == 0)
                continue; /* the picture's own gradient is not needed */
            ok = bench_case(p, &m, threads, &c, 5, &ops, &peak_ops);
            sum[k] += resnet50[i].count * ops;
            peak_sum[k] += resnet50[i].count * peak_ops;
        }
    for (int k = 0; ok && k < (fixed ? 1 : 3); k++)
        (void)printf("| %s, all of ResNet-50 | | %.1f %% | | |\n", names[k],
                     100.0 * sum[k] / peak_sum[k]);
    pool_free(p);
    return ok ? 0 : 1;
}
