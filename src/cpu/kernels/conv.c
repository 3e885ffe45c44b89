/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d and its gradient to the input, f32: one engine. For each image, a strip of output rows is
   the product of the weights, packed once, and shifted views of the bordered source: one batch
   entry of the micro-kernel for each tap of the window, no patches are copied. Output columns are
   counted over the bordered width; those in the border are computed and dropped.

   Backward to the input is the same with the gradient as the source. With stride s the input's
   rows and columns fall into s x s phases, each reached by taps of its own. */
#include "cpu/kernels/conv_shape.h"

#define CONV_STRIP_BYTES (192 << 10) /* of a strip's source, about */
#define CONV_UNITS       16          /* units wanted, where the output has the rows */

typedef struct conv_plan {
    conv_shape s;
    bool backward;
    conv_planes src;
    int64_t rows, depth;         /* channels of a group: of the output, of the source */
    int64_t out_h, out_w;        /* of the output's planes */
    int64_t out_split[2];        /* phases of the output: 1 x 1 forward, the stride backward */
    int64_t high, strip, strips; /* rows of a phase of the output, of a strip; strips */
    int64_t tiles, taps;         /* row tiles of a group; taps of the window */
    int64_t source, offsets;     /* scratch: elements of the source */
} conv_plan;

/* Floor of a / b for b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -conv_cut(-a, b);
}

/* Along one direction: the phase of the source and the shift in it for tap k of output phase `out`;
   false when the tap does not reach that phase. */
static bool tap_shift(const conv_plan *p, int i, int64_t k, int64_t out, int64_t *phase,
                      int64_t *shift)
{
    const conv_shape *s = &p->s;
    int64_t at = k * s->dilation[i];

    if (!p->backward) {
        *phase = at % s->stride[i];
        *shift = at / s->stride[i];
        return true;
    }
    at = out + s->before[i] - at;
    *phase = 0;
    *shift = floor_div(at, s->stride[i]);
    return at - *shift * s->stride[i] == 0;
}

/* The least and greatest shift along a direction over all taps and phases that meet. */
static void shift_range(const conv_plan *p, int i, int64_t taps, int64_t *lo, int64_t *hi)
{
    bool any = false;

    *lo = *hi = 0;
    for (int64_t out = 0; out < p->out_split[i]; out++)
        for (int64_t k = 0; k < taps; k++) {
            int64_t phase, shift;

            if (!tap_shift(p, i, k, out, &phase, &shift))
                continue;
            *lo = any ? conv_min(*lo, shift) : shift;
            *hi = any ? conv_max(*hi, shift) : shift;
            any = true;
        }
}

static void plan_geometry(conv_plan *p)
{
    const conv_shape *s = &p->s;
    int64_t lo[2], hi[2], wide;

    for (int i = 0; i < 2; i++) {
        p->out_split[i] = p->backward ? s->stride[i] : 1;
        p->src.split[i] = p->backward ? 1 : s->stride[i];
        shift_range(p, i, i ? s->kw : s->kh, &lo[i], &hi[i]);
        /* backward: shifts may be negative; the border makes them positive */
        p->src.before[i] = p->backward ? conv_max(0, -lo[i]) : s->before[i];
        hi[i] += p->backward ? p->src.before[i] : 0;
    }
    p->src.h = p->backward ? s->oh : s->h;
    p->src.w = p->backward ? s->ow : s->w;
    p->out_h = p->backward ? s->h : s->oh;
    p->out_w = p->backward ? s->w : s->ow;
    p->rows = p->backward ? s->c : s->o;
    p->depth = p->backward ? s->o : s->c;
    p->high = conv_cut(p->out_h, p->out_split[0]);
    wide = conv_cut(p->out_w, p->out_split[1]);
    p->src.width = wide + hi[1];
    int64_t row_bytes = 4 * p->depth * p->src.split[0] * p->src.split[1] * p->src.width;
    int64_t fit = conv_max(1, CONV_STRIP_BYTES / (row_bytes + 1) - hi[0]);
    int64_t want = conv_cut(CONV_UNITS, conv_max(1, s->n * s->groups));

    p->strip = conv_max(1, conv_min(fit, conv_cut(p->high, want)));
    p->strips = p->high ? conv_cut(p->high, p->strip) : 0;
    p->strip = p->strips ? conv_cut(p->high, p->strips) : 1; /* of equal height */
    p->src.rows = p->strip + hi[0];
    conv_planes_step(&p->src);
}

static bool plan_conv(kcall *c, conv_plan *p)
{
    const conv_shape *s = &p->s;

    plan_geometry(p);
    p->tiles = conv_cut(p->rows, GEMM_MR);
    p->taps = s->kh * s->kw;
    /* whole vectors are read behind the last element */
    p->source = (p->depth * p->src.step + p->src.width + 2 * GEMM_NR + 15) / 16 * 16;
    c->phases = 2;
    c->units[0] = s->groups * p->tiles;
    c->units[1] = s->n * s->groups * p->strips;
    c->work = (size_t)(s->groups * p->tiles * p->taps * p->depth * GEMM_MR) * sizeof(float);
    c->scratch = (size_t)p->source * sizeof(float) + GEMM_MR * GEMM_NR * sizeof(float) +
                 2 * (size_t)p->taps * sizeof(int64_t);
    if (s->n == 0 || p->out_w == 0 || p->rows == 0)
        c->units[0] = c->units[1] = 0;
    return true;
}

static bool conv2d_plan(kcall *c, error *e)
{
    conv_plan *p = c->plan;

    (void)e;
    p->s = conv_shape_of(c, &c->in[0], &c->in[1], &c->out[0]);
    return plan_conv(c, p);
}

static bool conv2d_backward_data_plan(kcall *c, error *e)
{
    conv_plan *p = c->plan;

    (void)e;
    p->s = conv_shape_of(c, &c->out[0], &c->in[1], &c->in[0]);
    p->backward = true;
    return plan_conv(c, p);
}

/* A row tile's weights as [tap][depth][row], whatever the order of the taps' use. */
static void pack_weights(const conv_plan *p, const float *w, float *to, int64_t unit)
{
    const conv_shape *s = &p->s;
    int64_t g = unit / p->tiles, first = unit % p->tiles * GEMM_MR;
    int64_t rows = conv_min(GEMM_MR, p->rows - first);

    to += unit * p->taps * p->depth * GEMM_MR;
    for (int64_t t = 0; t < p->taps; t++)
        for (int64_t d = 0; d < p->depth; d++, to += GEMM_MR)
            for (int64_t r = 0; r < GEMM_MR; r++) {
                int64_t o = p->backward ? d : first + r, c = p->backward ? first + r : d;

                to[r] = r < rows ? w[((g * s->o + o) * s->c + c) * p->taps + t] : 0.0f;
            }
}

/* What one call of the micro-kernel needs beside its tile. */
typedef struct strip {
    const conv_plan *p;
    const float *weights, *bias; /* of the group */
    float *out;                  /* of image and group */
    int64_t first, count;        /* rows of the output's phases */
    int64_t y, x;                /* the phase */
    int64_t *a_off, *b_off;
    int64_t n_taps;
    float *tile;
} strip;

/* Which taps reach the phase, where their weights and views begin. */
static void find_taps(strip *s)
{
    const conv_plan *p = s->p;
    const conv_planes *src = &p->src;

    s->n_taps = 0;
    for (int64_t i = 0; i < p->s.kh; i++)
        for (int64_t j = 0; j < p->s.kw; j++) {
            int64_t py, px, dy, dx, t = i * p->s.kw + j;

            if (!tap_shift(p, 0, i, s->y, &py, &dy) || !tap_shift(p, 1, j, s->x, &px, &dx))
                continue;
            if (p->backward) {
                dy += src->before[0];
                dx += src->before[1];
            }
            s->a_off[s->n_taps] = t * p->depth * GEMM_MR;
            s->b_off[s->n_taps++] =
                (py * src->split[1] + px) * src->rows * src->width + dy * src->width + dx;
        }
}

/* `cols` columns of a tile, counted over the bordered width from `at` on, to their places. */
static void put_tile(const strip *s, int64_t row, int64_t rows, int64_t at, int64_t cols,
                     int64_t wide)
{
    const conv_plan *p = s->p;
    int64_t plane = p->out_h * p->out_w, sx = p->out_split[1];

    for (int64_t r = 0; r < rows; r++) {
        const float *from = s->tile + r * GEMM_NR;
        float add = s->bias ? s->bias[row + r] : 0.0f;
        float *out = s->out + (row + r) * plane;
        int64_t i = at / p->src.width, j = at % p->src.width;

        for (int64_t k = 0; k < cols; i++, j = 0) {
            int64_t run = conv_min(cols - k, p->src.width - j);
            int64_t good = conv_min(run, wide - j);
            float *to = out + ((s->first + i) * p->out_split[0] + s->y) * p->out_w + j * sx + s->x;

            if (sx == 1)
                for (int64_t q = 0; q < good; q++)
                    to[q] = from[k + q] + add;
            else
                for (int64_t q = 0; q < good; q++)
                    to[q * sx] = from[k + q] + add;
            k += run;
        }
    }
}

/* One phase of the output within a strip. */
static void run_phase(strip *s, const float *source)
{
    const conv_plan *p = s->p;
    int64_t high = (p->out_h - s->y + p->out_split[0] - 1) / p->out_split[0];
    int64_t wide = (p->out_w - s->x + p->out_split[1] - 1) / p->out_split[1];
    int64_t count = conv_min(s->count, high - s->first), total;
    gemm_tile t = {.k = p->depth,
                   .a_off = s->a_off,
                   .b_off = s->b_off,
                   .a_m = 1,
                   .a_k = GEMM_MR,
                   .b_k = p->src.step,
                   .c = s->tile,
                   .c_m = GEMM_NR};

    if (count <= 0 || wide <= 0)
        return;
    find_taps(s);
    t.batch = s->n_taps;
    total = (count - 1) * p->src.width + wide;
    for (int64_t at = 0; at < total; at += GEMM_NR) {
        int64_t cols = conv_min(GEMM_NR, total - at);

        if (at % p->src.width >= wide && at % p->src.width + cols <= p->src.width)
            continue; /* all in the border */
        t.b = source + at;
        for (int64_t m = 0; m < p->tiles; m++) {
            int64_t rows = conv_min(GEMM_MR, p->rows - m * GEMM_MR);

            t.a = s->weights + m * p->taps * p->depth * GEMM_MR;
            gemm_tile_run(&t, (int)rows, GEMM_NR);
            put_tile(s, m * GEMM_MR, rows, at, cols, wide);
        }
    }
}

static void run_strip(const conv_plan *p, const float *src, const float *bias, float *out,
                      int64_t unit, float *source, const float *work)
{
    int64_t image = unit / p->strips / p->s.groups, g = unit / p->strips % p->s.groups;
    float *tile = source + p->source;
    strip s = {.p = p,
               .weights = work + g * p->tiles * p->taps * p->depth * GEMM_MR,
               .bias = bias ? bias + g * p->rows : NULL,
               .out = out + (image * p->s.groups + g) * p->rows * p->out_h * p->out_w,
               .first = unit % p->strips * p->strip,
               .a_off = (int64_t *)(void *)(tile + GEMM_MR * GEMM_NR),
               .tile = tile};

    s.count = conv_min(p->strip, p->high - s.first);
    s.b_off = s.a_off + p->taps;
    conv_fill(&p->src, src + (image * p->s.groups + g) * p->depth * p->src.h * p->src.w, p->depth,
              s.first, source);
    memset(source + p->depth * p->src.step, 0,
           (size_t)(p->source - p->depth * p->src.step) * sizeof *source);
    for (s.y = 0; s.y < p->out_split[0]; s.y++)
        for (s.x = 0; s.x < p->out_split[1]; s.x++)
            run_phase(&s, source);
}

/* Forward: x, w, bias, y. Backward: dy, w, dx. */
static void conv_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                     void *scratch, void *work)
{
    const conv_plan *p = c->plan;

    for (int64_t u = lo; u < hi; u++) {
        if (phase == 0)
            pack_weights(p, buf[1], work, u);
        else
            run_strip(p, buf[0], p->backward ? NULL : buf[2], buf[c->n_in], u, scratch, work);
    }
}

extern const kernel_row ISA_FN(kernels_conv)[];

const kernel_row ISA_FN(kernels_conv)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/conv.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
