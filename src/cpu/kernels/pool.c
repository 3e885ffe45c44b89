/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling over height and width of [N, C, H, W]. A unit is one row of the result; within it the
   loops run over the taps of the window and, innermost, over the row, so that the padding costs no
   test per element. */
#include "base/error.h"
#include "cpu/kernels/window.h"
#include "cpu/vec/vec.h"

#include <math.h>

#define PIECE    16384.0   /* elements read that a worker takes at a time */
#define TAPS_MAX (1 << 24) /* of a window: a float counts as far */

typedef struct pool_plan {
    slide s;
    bool count_pad; /* the mean counts padding */
} pool_plan;

static void set_units(kcall *c, int64_t rows, double work)
{
    const type *t = &c->out[0];

    c->units[0] = t->dim[0] * t->dim[1] * rows;
    c->grain[0] = 1 + (int64_t)(PIECE / (work + 1.0));
}

static void read_sizes(slide *s, const type *x, const type *y)
{
    for (int i = 0; i < 2; i++) {
        s->in[i] = x->dim[2 + i];
        s->out[i] = y->dim[2 + i];
    }
}

static double window_size(const slide *s)
{
    return (double)s->kernel[0] * (double)s->kernel[1];
}

static void read_window(slide *s, const kcall *c)
{
    static const int64_t one[2] = {1, 1};

    slide_pair(kcall_ints(c, "kernel"), one, s->kernel);
    slide_read(s, c, s->kernel);
}

/* --- max ---------------------------------------------------------------------------------------
 */

static bool max_pool_plan(kcall *c, error *e)
{
    static const int64_t one[2] = {1, 1};
    slide *s = &((pool_plan *)c->plan)->s;

    read_sizes(s, &c->in[0], &c->out[0]);
    read_window(s, c);
    slide_pair(kcall_ints(c, "dilation"), one, s->dilation);
    if (s->kernel[0] > TAPS_MAX / s->kernel[1])
        return fail(e, INGOT_E_UNSUPPORTED, "a window of more than %d elements", TAPS_MAX);
    set_units(c, s->out[0], (double)s->out[1] * window_size(s));
    c->scratch = (size_t)(s->kernel[0] * s->kernel[1]) * sizeof(int64_t) +
                 (size_t)s->kernel[1] * sizeof(span);
    return true;
}

/* What outputs a..b-1 of a vector's see at a tap; row: where output 0 of the vector looks. */
static VEC_FORCE_INLINE vf32 max_look(const float *row, int64_t stride, int a, int b)
{
    float lane[VF32_LANES] = {0};

    if (a == 0 && stride == 1)
        return vf32_load_n(row, b);
    if (a == 0 && stride == 2)
        return vf32_load_even_n(row, b);
    for (int i = a; i < b; i++)
        lane[i] = row[i * stride];
    return vf32_load(lane);
}

/* What does not change from row to row. */
typedef struct max_space {
    int64_t *offset; /* of each tap from the window's corner */
    span *columns;   /* the outputs that see column kx of the window */
} max_space;

static max_space max_lay(const slide *s, void *scratch)
{
    return (max_space){scratch, (span *)((int64_t *)scratch + s->kernel[0] * s->kernel[1])};
}

static void max_prepare(const slide *s, const max_space *m)
{
    for (int64_t kx = 0; kx < s->kernel[1]; kx++) {
        m->columns[kx] = slide_outputs(s, 1, kx);
        for (int64_t ky = 0; ky < s->kernel[0]; ky++)
            m->offset[ky * s->kernel[1] + kx] =
                ky * s->dilation[0] * s->in[1] + kx * s->dilation[1];
    }
}

/* len <= VF32_LANES outputs from column ox on, in registers over all taps of the window's rows.
   corner: where the first of them looks. A NaN wins, the first of equals stays; tap -1: nothing
   seen. */
static void max_vector(const slide *s, const max_space *m, const float *x, span rows,
                       int64_t corner, int64_t ox, int len, float *y, int64_t *at)
{
    const vf32 zero = vf32_zero();
    vf32 best = vf32_set1(-INFINITY), tap = vf32_set1(-1.0f);
    float seen[VF32_LANES];

    for (int64_t ky = rows.lo; ky < rows.hi; ky++)
        for (int64_t kx = 0; kx < s->kernel[1]; kx++) {
            int64_t k = ky * s->kernel[1] + kx, lo = m->columns[kx].lo - ox;
            int64_t hi = m->columns[kx].hi - ox;
            int a = lo < 0     ? 0
                    : lo < len ? (int)lo
                               : len,
                b = hi < a     ? a
                    : hi < len ? (int)hi
                               : len;
            vf32 v = max_look(x + corner + m->offset[k], s->stride[1], a, b);
            vm32 nan = vm32_and(vf32_ne(v, v), vf32_eq(best, best));
            vm32 more = vm32_or(vm32_or(vf32_lt(best, v), nan), vf32_lt(tap, zero));

            if (a > 0 || b < len)
                more = vm32_and(more, vm32_and(vm32_first(b), vm32_not(vm32_first(a))));
            best = vf32_select(more, v, best);
            tap = vf32_select(more, vf32_set1((float)k), tap);
        }
    vf32_store_n(y, best, len);
    vf32_store(seen, tap);
    for (int i = 0; i < len; i++)
        at[i] = seen[i] < 0.0f ? -1 : corner + m->offset[(int)seen[i]] + i * s->stride[1];
}

static void max_pool_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                         void *scratch, void *work)
{
    const slide *s = &((const pool_plan *)c->plan)->s;
    const max_space m = max_lay(s, scratch);
    int64_t *at = buf[2], w = s->out[1];
    float *y = buf[1];

    (void)phase, (void)work;
    max_prepare(s, &m);
    for (int64_t u = lo; u < hi; u++) {
        const float *x = (const float *)buf[0] + u / s->out[0] * s->in[0] * s->in[1];
        int64_t oy = u % s->out[0];
        int64_t corner = (oy * s->stride[0] - s->before[0]) * s->in[1] - s->before[1];
        span rows = slide_taps(s, 0, oy);

        for (int64_t i = 0; i < w; i += VF32_LANES)
            max_vector(s, &m, x, rows, corner + i * s->stride[1], i,
                       w - i < VF32_LANES ? (int)(w - i) : VF32_LANES, y + u * w + i,
                       at + u * w + i);
    }
}

/* --- mean --------------------------------------------------------------------------------------
 */

static void read_average(pool_plan *p, const kcall *c, const type *x, const type *y)
{
    read_sizes(&p->s, x, y);
    read_window(&p->s, c);
    p->count_pad = kcall_int(c, "count_include_pad") != 0;
}

static bool avg_pool_plan(kcall *c, error *e)
{
    pool_plan *p = c->plan;

    (void)e;
    read_average(p, c, &c->in[0], &c->out[0]);
    set_units(c, p->s.out[0], (double)p->s.out[1] * window_size(&p->s));
    return true;
}

/* How many taps of output o count along dimension d: those in the input or, with count_pad, in the
   padded input (with ceil_mode the last window may reach beyond). */
static int64_t taps_counted(const pool_plan *p, int d, int64_t o)
{
    const slide *s = &p->s;
    span r = slide_taps(s, d, o);
    int64_t room = s->in[d] + s->before[d] + s->after[d] - o * s->stride[d];

    if (!p->count_pad)
        return r.hi - r.lo;
    return room < s->kernel[d] ? room : s->kernel[d];
}

static float mean_of(float sum, int64_t rows, int64_t cols)
{
    return rows * cols > 0 ? sum / (float)(rows * cols) : 0.0f;
}

static VEC_FORCE_INLINE void add_tap(float *restrict y, const float *restrict x, int64_t step,
                                     int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += x[i * step];
}

static void avg_row(const pool_plan *p, const float *x, int64_t oy, float *y)
{
    const slide *s = &p->s;
    span rows = slide_taps(s, 0, oy);
    int64_t counted = taps_counted(p, 0, oy);

    for (int64_t i = 0; i < s->out[1]; i++)
        y[i] = 0.0f;
    for (int64_t ky = rows.lo; ky < rows.hi; ky++)
        for (int64_t kx = 0; kx < s->kernel[1]; kx++) {
            span r = slide_outputs(s, 1, kx);
            int64_t iy = oy * s->stride[0] + ky - s->before[0];
            int64_t ix = r.lo * s->stride[1] + kx - s->before[1];

            if (r.lo == r.hi)
                continue;
            if (s->stride[1] == 1)
                add_tap(y + r.lo, x + iy * s->in[1] + ix, 1, r.hi - r.lo);
            else if (s->stride[1] == 2)
                add_tap(y + r.lo, x + iy * s->in[1] + ix, 2, r.hi - r.lo);
            else
                add_tap(y + r.lo, x + iy * s->in[1] + ix, s->stride[1], r.hi - r.lo);
        }
    for (int64_t i = 0; i < s->out[1]; i++)
        y[i] = mean_of(y[i], counted, taps_counted(p, 1, i));
}

static void avg_pool_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                         void *scratch, void *work)
{
    const pool_plan *p = c->plan;
    const slide *s = &p->s;
    const float *x = buf[0];
    float *y = buf[1];

    (void)phase, (void)scratch, (void)work;
    for (int64_t u = lo; u < hi; u++)
        avg_row(p, x + u / s->out[0] * s->in[0] * s->in[1], u % s->out[0], y + u * s->out[1]);
}

static bool avg_backward_plan(kcall *c, error *e)
{
    pool_plan *p = c->plan;

    (void)e;
    read_average(p, c, &c->out[0], &c->in[0]);
    c->scratch = (size_t)p->s.out[1] * sizeof(float);
    set_units(c, p->s.in[0], (double)p->s.in[1] + (double)p->s.out[1] * window_size(&p->s));
    return true;
}

/* Row iy of dx takes from every output row whose window covers it; share: one row of dy, each
   element divided by the count of its window. */
static void avg_backward_row(const pool_plan *p, const float *dy, int64_t iy, float *dx,
                             float *share)
{
    const slide *s = &p->s;
    int64_t reach = iy + s->before[0]; /* in padded rows */
    int64_t o = reach < s->kernel[0] ? 0 : (reach - s->kernel[0]) / s->stride[0] + 1;

    for (int64_t i = 0; i < s->in[1]; i++)
        dx[i] = 0.0f;
    for (; o < s->out[0] && o * s->stride[0] <= reach; o++) {
        int64_t counted = taps_counted(p, 0, o);

        for (int64_t i = 0; i < s->out[1]; i++)
            share[i] = mean_of(dy[o * s->out[1] + i], counted, taps_counted(p, 1, i));
        for (int64_t kx = 0; kx < s->kernel[1]; kx++) {
            span r = slide_outputs(s, 1, kx);
            int64_t at = kx - s->before[1];

            for (int64_t i = r.lo; i < r.hi; i++)
                dx[i * s->stride[1] + at] += share[i];
        }
    }
}

static void avg_backward_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                             void *scratch, void *work)
{
    const pool_plan *p = c->plan;
    const slide *s = &p->s;
    const float *dy = buf[0];
    float *dx = buf[1];

    (void)phase, (void)work;
    for (int64_t u = lo; u < hi; u++)
        avg_backward_row(p, dy + u / s->in[0] * s->out[0] * s->out[1], u % s->in[0],
                         dx + u * s->in[1], scratch);
}

/* --- adaptive mean: output o covers [floor(o in / out), ceil((o + 1) in / out)) -----------------
 */

static span cover(int64_t o, int64_t in, int64_t out)
{
    return (span){o * in / out, slide_div_up((o + 1) * in, out)};
}

static bool adaptive_plan(kcall *c, error *e)
{
    slide *s = &((pool_plan *)c->plan)->s;

    (void)e;
    read_sizes(s, &c->in[0], &c->out[0]);
    set_units(c, s->out[0], ((double)s->in[0] / (double)s->out[0] + 1.0) * (double)s->in[1]);
    return true;
}

static float sum_of(const float *x, int64_t n)
{
    float sum = 0.0f;
    int64_t i = 0;

    if (n >= VF32_LANES) {
        vf32 acc = vf32_load(x);
        for (i = VF32_LANES; i + VF32_LANES <= n; i += VF32_LANES)
            acc = vf32_add(acc, vf32_load(x + i));
        sum = vf32_hsum(acc);
    }
    for (; i < n; i++)
        sum += x[i];
    return sum;
}

static void adaptive_f32(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                         void *scratch, void *work)
{
    const slide *s = &((const pool_plan *)c->plan)->s;
    const float *x = buf[0];
    float *y = buf[1];

    (void)phase, (void)scratch, (void)work;
    for (int64_t u = lo; u < hi; u++) {
        const float *plane = x + u / s->out[0] * s->in[0] * s->in[1];
        span rows = cover(u % s->out[0], s->in[0], s->out[0]);

        for (int64_t i = 0; i < s->out[1]; i++) {
            span cols = cover(i, s->in[1], s->out[1]);
            float sum = 0.0f;

            if (cols.hi - cols.lo == s->in[1])
                sum = sum_of(plane + rows.lo * s->in[1], (rows.hi - rows.lo) * s->in[1]);
            else
                for (int64_t r = rows.lo; r < rows.hi; r++)
                    sum += sum_of(plane + r * s->in[1] + cols.lo, cols.hi - cols.lo);
            y[u * s->out[1] + i] = mean_of(sum, rows.hi - rows.lo, cols.hi - cols.lo);
        }
    }
}

static bool adaptive_backward_plan(kcall *c, error *e)
{
    slide *s = &((pool_plan *)c->plan)->s;

    (void)e;
    read_sizes(s, &c->out[0], &c->in[0]);
    set_units(c, s->in[0], ((double)s->out[0] / (double)s->in[0] + 1.0) * (double)s->in[1]);
    return true;
}

/* The outputs that cover an input are found by the same formula with in and out exchanged. */
static void adaptive_backward_f32(const kcall *c, void *const *buf, int phase, int64_t lo,
                                  int64_t hi, void *scratch, void *work)
{
    const slide *s = &((const pool_plan *)c->plan)->s;
    const float *dy = buf[0];
    float *dx = buf[1];

    (void)phase, (void)scratch, (void)work;
    for (int64_t u = lo; u < hi; u++) {
        span from = cover(u % s->in[0], s->out[0], s->in[0]);
        float *row = dx + u * s->in[1];

        for (int64_t i = 0; i < s->in[1]; i++)
            row[i] = 0.0f;
        for (int64_t o = from.lo; o < from.hi; o++) {
            const float *g = dy + (u / s->in[0] * s->out[0] + o) * s->out[1];
            span rows = cover(o, s->in[0], s->out[0]);

            for (int64_t j = 0; j < s->out[1]; j++) {
                span cols = cover(j, s->in[1], s->out[1]);
                float share = mean_of(g[j], rows.hi - rows.lo, cols.hi - cols.lo);

                for (int64_t i = cols.lo; i < cols.hi; i++)
                    row[i] += share;
            }
        }
    }
}

extern const kernel_row ISA_FN(kernels_pool)[];

const kernel_row ISA_FN(kernels_pool)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/pool.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
