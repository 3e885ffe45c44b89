/* SPDX-License-Identifier: Apache-2.0 */
/* softmax, log_softmax, layer_norm and the statistics of batch_norm, f32. Sums go through f32 over
   LOOP_TILE values at most and through double beyond. */
#include "cpu/loop/tile.h"
#include "cpu/vec/math.h"

static double row_sum(const float *x, int64_t n)
{
    double sum = 0.0;

    for (int64_t i = 0; i < n; i += LOOP_TILE)
        sum += loop_reduce_run(LOOP_F32, REDUCE_SUM, x + i,
                               (int)(n - i < LOOP_TILE ? n - i : LOOP_TILE))
                   .f;
    return sum;
}

static float row_max(const float *x, int64_t n)
{
    loop_acc max = loop_neutral(LOOP_F32, REDUCE_MAX, INGOT_F32);

    for (int64_t i = 0; i < n; i += LOOP_TILE)
        max = loop_combine(LOOP_F32, REDUCE_MAX, max,
                           loop_reduce_run(LOOP_F32, REDUCE_MAX, x + i,
                                           (int)(n - i < LOOP_TILE ? n - i : LOOP_TILE)));
    return (float)max.f;
}

/* For each vector of the row, whole or partial: v is x there, the expression goes to y. */
#define FOR_ROW(n, x, y, expression)                           \
    do {                                                       \
        int64_t i = 0;                                         \
                                                               \
        for (; i + VF32_LANES <= (n); i += VF32_LANES) {       \
            const vf32 v = vf32_load((x) + i);                 \
            vf32_store((y) + i, expression);                   \
        }                                                      \
        if (i < (n)) {                                         \
            const vf32 v = vf32_load_n((x) + i, (int)((n)-i)); \
            vf32_store_n((y) + i, expression, (int)((n)-i));   \
        }                                                      \
    } while (0)

/* x as [outer, n, inner], a row along n for each of outer * inner. */
typedef struct rows_plan {
    int64_t n, inner;
} rows_plan;

static void plan_rows(kcall *c, int64_t axis, bool whole_tail)
{
    rows_plan *p = c->plan;
    const type *x = &c->in[0];
    int64_t outer = 1;

    axis = axis < 0 ? axis + x->rank : axis;
    p->n = p->inner = 1;
    for (int i = 0; i < x->rank; i++)
        *(i < axis ? &outer : i == axis || whole_tail ? &p->n : &p->inner) *= x->dim[i];
    c->units[0] = outer * p->inner;
    c->grain[0] = 1 + 4096 / (p->n + 1);
}

static bool softmax_plan(kcall *c, error *e)
{
    const rows_plan *p = c->plan;

    (void)e;
    plan_rows(c, kcall_int(c, "axis"), false);
    if (p->n == 0)
        c->units[0] = 0;
    if (p->inner > 1)
        c->scratch = (size_t)p->n * sizeof(float);
    return true;
}

static void softmax_row(const float *x, float *y, int64_t n)
{
    const vf32 max = vf32_set1(row_max(x, n));

    FOR_ROW(n, x, y, vm_exp(vf32_sub(v, max)));
    const vf32 scale = vf32_set1((float)(1.0 / row_sum(y, n)));
    FOR_ROW(n, y, y, vf32_mul(v, scale));
}

/* y holds the exponentials before it holds the result, which is why x is read again. */
static void log_softmax_row(const float *x, float *y, int64_t n)
{
    const vf32 max = vf32_set1(row_max(x, n));
    double sum = 0.0;
    float part[LOOP_TILE];

    for (int64_t at = 0; at < n; at += LOOP_TILE) {
        int64_t m = n - at < LOOP_TILE ? n - at : LOOP_TILE;

        FOR_ROW(m, x + at, part, vm_exp(vf32_sub(v, max)));
        sum += row_sum(part, m);
    }
    const vf32 shift = vf32_set1((float)log(sum));
    FOR_ROW(n, x, y, vf32_sub(vf32_sub(v, max), shift));
}

static VEC_FORCE_INLINE void run_rows(const kcall *c, void *const *buf, int64_t lo, int64_t hi,
                                      void *scratch, void (*row)(const float *, float *, int64_t))
{
    const rows_plan *p = c->plan;
    float *line = scratch;

    for (int64_t u = lo; u < hi; u++) {
        int64_t at = u / p->inner * p->n * p->inner + u % p->inner;
        const float *x = (const float *)buf[0] + at;
        float *y = (float *)buf[1] + at;

        if (p->inner == 1) {
            row(x, y, p->n);
            continue;
        }
        for (int64_t i = 0; i < p->n; i++)
            line[i] = x[i * p->inner];
        row(line, line, p->n);
        for (int64_t i = 0; i < p->n; i++)
            y[i * p->inner] = line[i];
    }
}

static void softmax_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                        void *scratch, void *work)
{
    (void)phase;
    (void)work;
    run_rows(c, buf, lo, hi, scratch, softmax_row);
}

static void log_softmax_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                            void *scratch, void *work)
{
    (void)phase;
    (void)work;
    run_rows(c, buf, lo, hi, scratch, log_softmax_row);
}

typedef struct layer_norm_state {
    rows_plan rows;
    double eps;
} layer_norm_state;

static bool layer_norm_plan(kcall *c, error *e)
{
    layer_norm_state *p = c->plan;

    (void)e;
    plan_rows(c, kcall_int(c, "axis"), true);
    p->eps = kcall_real(c, "eps");
    c->scratch = LOOP_TILE * sizeof(float);
    return true;
}

/* Sum of (x - mean)^2, part by part through a buffer of LOOP_TILE. */
static double square_sum(const float *x, int64_t n, float mean, float *part)
{
    const vf32 m = vf32_set1(mean);
    double sum = 0.0;

    for (int64_t at = 0; at < n; at += LOOP_TILE) {
        int64_t len = n - at < LOOP_TILE ? n - at : LOOP_TILE;

        FOR_ROW(len, x + at, part, vf32_mul(vf32_sub(v, m), vf32_sub(v, m)));
        sum += row_sum(part, len);
    }
    return sum;
}

static void layer_norm_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                           void *scratch, void *work)
{
    const layer_norm_state *p = c->plan;
    const float *scale = buf[1], *bias = buf[2];
    float *mean = buf[4], *rstd = buf[5];
    int64_t n = p->rows.n;

    (void)phase;
    (void)work;
    for (int64_t u = lo; u < hi; u++) {
        const float *x = (const float *)buf[0] + u * n;
        float *y = (float *)buf[3] + u * n;

        mean[u] = (float)(row_sum(x, n) / (double)n);
        rstd[u] = (float)(1.0 / sqrt(square_sum(x, n, mean[u], scratch) / (double)n + p->eps));
        const vf32 m = vf32_set1(mean[u]), r = vf32_set1(rstd[u]);
        for (int64_t i = 0; i < n; i += VF32_LANES) {
            int len = n - i < VF32_LANES ? (int)(n - i) : VF32_LANES;
            vf32 v = vf32_mul(vf32_sub(vf32_load_n(x + i, len), m), r);

            if (scale)
                v = vf32_mul(v, vf32_load_n(scale + i, len));
            if (bias)
                v = vf32_add(v, vf32_load_n(bias + i, len));
            vf32_store_n(y + i, v, len);
        }
    }
}

/* x as [N, C, S]; the samples of a channel are cut into parts, so that few channels still keep
   many workers busy. Phases: sums; squares about the mean; results. */
typedef struct stats_plan {
    int64_t n, channels, size, parts;
} stats_plan;

static bool stats_plan_make(kcall *c, error *e)
{
    stats_plan *p = c->plan;
    const type *x = &c->in[0];

    (void)e;
    p->n = x->dim[0];
    p->channels = x->dim[1];
    p->size = 1;
    for (int i = 2; i < x->rank; i++)
        p->size *= x->dim[i];
    p->parts = p->channels ? 64 / p->channels : 1;
    p->parts = p->parts < 1 ? 1 : p->parts > p->n ? (p->n ? p->n : 1) : p->parts;
    c->phases = 3;
    c->units[0] = c->units[1] = p->channels * p->parts;
    c->units[2] = p->channels;
    c->grain[0] = c->grain[1] = 1 + 4096 * p->parts / (p->n * p->size + 1);
    c->grain[2] = 64;
    c->scratch = LOOP_TILE * sizeof(float);
    c->work = (size_t)(2 * p->channels * p->parts) * sizeof(double);
    return true;
}

static double parts_mean(const stats_plan *p, const double *sums, int64_t channel)
{
    double sum = 0.0;

    for (int64_t i = 0; i < p->parts; i++)
        sum += sums[channel * p->parts + i];
    return sum / ((double)p->n * (double)p->size);
}

static void stats_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                      void *scratch, void *work)
{
    const stats_plan *p = c->plan;
    double *sums = work, *squares = sums + p->channels * p->parts;

    for (int64_t u = lo; u < hi; u++) {
        int64_t channel = phase == 2 ? u : u / p->parts, part = u % p->parts;
        float mean = phase == 0 ? 0.0f : (float)parts_mean(p, sums, channel);
        double sum = 0.0;

        if (phase == 2) {
            ((float *)buf[1])[u] = mean;
            ((float *)buf[2])[u] = (float)parts_mean(p, squares, channel);
            continue;
        }
        for (int64_t i = part * p->n / p->parts; i < (part + 1) * p->n / p->parts; i++) {
            const float *x = (const float *)buf[0] + (i * p->channels + channel) * p->size;

            sum += phase == 0 ? row_sum(x, p->size) : square_sum(x, p->size, mean, scratch);
        }
        (phase == 0 ? sums : squares)[u] = sum;
    }
}

extern const kernel_row ISA_FN(kernels_norm)[];

const kernel_row ISA_FN(kernels_norm)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/norm.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
