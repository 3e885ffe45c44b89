/* SPDX-License-Identifier: Apache-2.0 */
/* F(4x4, 3x3): Winograd's minimal filtering as Lavin and Gray, "Fast Algorithms for Convolutional
   Neural Networks" (2015), have it, with the points 0, 1, -1, 2, -2. Source patches of 6 x 6, which
   overlap by 2, are transformed to 36 values; each of the 36 is a product of matrices over channels
   by itself; the results are transformed back to patches of 4 x 4. That is 2.25 multiplications per
   output and channel in place of 9. Sums of products of sums round more often: against direct
   summation the error grows about tenfold (tests/cpu/conv.c holds it to a bound). */
#include "cpu/kernels/conv_winograd.h"

#define SPOTS       36                    /* of a transformed patch */
#define SPAN        6                     /* of a source patch */
#define STEP        4                     /* of an output patch, and from patch to patch */
#define PATCHES     112                   /* of a unit, about */
#define BLOCK_BYTES ((int64_t)2400 << 10) /* of a unit's transformed source or result, about */
#define UNITS       16                    /* units wanted */
#define PART_ROWS   192 /* output channels of a unit, at least: each unit transforms for itself */
/* Costs in multiply-adds, measured: of a transform for each channel and patch, or pair of channels,
   more where the pairs are too many for the caches; and the share of the direct sum's cost below
   which it pays. */
#define COST_PATCH  430.0
#define COST_PAIR   480.0
#define COST_FAR    1500.0
#define COST_READ   300.0
#define PAIRS_CLOSE 50000.0
#define COST_ENOUGH 0.7

static int64_t round_up(int64_t n, int64_t to)
{
    return conv_cut(n, to) * to;
}

bool winograd_fits(const conv_shape *s, bool backward, bool fixed)
{
    double h = (double)(backward ? s->h : s->oh), w = (double)(backward ? s->w : s->ow);
    double patches, pairs, direct;

    if (s->kh != 3 || s->kw != 3 || s->stride[0] != 1 || s->stride[1] != 1 || s->dilation[0] != 1 ||
        s->dilation[1] != 1 || s->before[0] > 2 || s->before[1] > 2 || s->n == 0 || s->oh < 1 ||
        s->ow < 1)
        return false;
    patches = (double)(s->n * conv_cut((int64_t)h, STEP) * conv_cut((int64_t)w, STEP));
    pairs = (double)s->c * (double)s->o;
    direct = (double)s->n * h * w * 9.0 * pairs;
    return SPOTS * patches * pairs + COST_PATCH * patches * (double)(s->c + s->o) +
               (fixed                 ? COST_READ
                : pairs > PAIRS_CLOSE ? COST_FAR
                                      : COST_PAIR) *
                   pairs <
           COST_ENOUGH * direct;
}

/* Lines of patches of a unit: they fill whole panels. */
static void plan_strip(winograd_plan *p)
{
    int64_t most = BLOCK_BYTES / (4 * SPOTS * conv_max(p->depth, p->rows)), whole = GEMM_NR;
    int64_t lines = conv_max(1, conv_min(PATCHES, most) / p->wide);

    for (int64_t w = p->wide; w % 2 == 0 && whole > 1; w /= 2)
        whole /= 2;
    lines = conv_min(lines, p->s.n * p->high);
    p->strip = lines < whole ? lines : lines / whole * whole;
    p->strips = conv_cut(p->s.n * p->high, p->strip);
    p->panels = conv_cut(p->strip * p->wide, GEMM_NR);
}

/* One channel of the source, a unit's lines: [row phase][column of a patch][line][patch], with room
   behind for vectors that read too far. Patches of lines that follow each other lie side by side.
 */

static int64_t stage_lines(const winograd_plan *p)
{
    return p->strip + conv_cut(p->strip - 1, p->high) + 1;
}

static int64_t stage_size(const winograd_plan *p)
{
    return round_up(STEP * SPAN * stage_lines(p) * p->wide + 2 * GEMM_NR, 16);
}

/* Elements from spot to spot: off powers of two, or all spots of a patch meet in one set of the
   cache. */
static int64_t source_spot(const winograd_plan *p)
{
    return p->depth * p->panels * GEMM_NR + 16;
}

static int64_t result_spot(const winograd_plan *p)
{
    return p->m_tiles * p->tile * p->panels * GEMM_NR + 16;
}

void winograd_make(kcall *c, winograd_plan *p, const conv_shape *s, bool backward)
{
    int64_t parts;

    *p = (winograd_plan){.s = *s, .backward = backward};
    p->rows = backward ? s->c : s->o;
    p->depth = backward ? s->o : s->c;
    p->h = backward ? s->oh : s->h;
    p->w = backward ? s->ow : s->w;
    p->out_h = backward ? s->h : s->oh;
    p->out_w = backward ? s->w : s->ow;
    for (int i = 0; i < 2; i++)
        p->before[i] = backward ? 2 - s->before[i] : s->before[i];
    p->high = conv_cut(p->out_h, STEP);
    p->wide = conv_cut(p->out_w, STEP);
    plan_strip(p);
    parts = conv_cut(UNITS, conv_max(1, s->groups * p->strips));
    p->tiles = conv_cut(p->rows, GEMM_MR);
    p->tile = conv_cut(p->rows, p->tiles);
    p->m_tiles = conv_cut(p->tiles, conv_max(1, conv_min(parts, p->rows / PART_ROWS)));
    p->m_parts = conv_cut(p->tiles, p->m_tiles);
    c->phases = 2;
    c->units[0] = s->groups * p->tiles;
    c->units[1] = s->groups * p->m_parts * p->strips;
    c->work = (size_t)(SPOTS * s->groups * p->tiles * p->depth * p->tile) * sizeof(float);
    c->scratch = (size_t)(SPOTS * (source_spot(p) + result_spot(p)) + stage_size(p) +
                          round_up(p->strip, 16) * 2) *
                 sizeof(float);
}

/* --- transforms ------------------------------------------------------------------------------- */

static VEC_FORCE_INLINE vf32 times(double a, vf32 x)
{
    return vf32_mul(vf32_set1((float)a), x);
}

/* a x + y */
static VEC_FORCE_INLINE vf32 plus(double a, vf32 x, vf32 y)
{
    return vf32_fma(vf32_set1((float)a), x, y);
}

/* Six values n apart: the source's transform along one direction. */
static VEC_FORCE_INLINE void from_source(const vf32 *x, const int n, vf32 *y)
{
    const vf32 x1 = x[n], x2 = x[2 * n], x3 = x[3 * n], x4 = x[4 * n];
    const vf32 even = plus(-4.0, x2, x4), odd = plus(-4.0, x1, x3);
    const vf32 half = vf32_sub(x4, x2), twice = times(2.0, vf32_sub(x3, x1));

    y[0] = plus(4.0, x[0], plus(-5.0, x2, x4));
    y[n] = vf32_add(even, odd);
    y[2 * n] = vf32_sub(even, odd);
    y[3 * n] = vf32_add(half, twice);
    y[4 * n] = vf32_sub(half, twice);
    y[5 * n] = plus(4.0, x1, plus(-5.0, x3, x[5 * n]));
}

/* Three weights n apart to six values m apart. */
static VEC_FORCE_INLINE void from_weights(const vf32 *x, const int n, vf32 *y, const int m)
{
    const vf32 x0 = x[0], x1 = x[n], x2 = x[2 * n];
    const vf32 outer = times(-1.0 / 6.0, vf32_add(x0, x2)), inner = times(-1.0 / 6.0, x1);
    const vf32 far = plus(1.0 / 24.0, x0, times(1.0 / 6.0, x2)), near = times(1.0 / 12.0, x1);

    y[0] = times(0.25, x0);
    y[m] = vf32_add(outer, inner);
    y[2 * m] = vf32_sub(outer, inner);
    y[3 * m] = vf32_add(far, near);
    y[4 * m] = vf32_sub(far, near);
    y[5 * m] = x2;
}

/* Six products n apart to four results m apart. */
static VEC_FORCE_INLINE void to_result(const vf32 *x, const int n, vf32 *y, const int m)
{
    const vf32 a = vf32_add(x[n], x[2 * n]), b = vf32_sub(x[n], x[2 * n]);
    const vf32 c = vf32_add(x[3 * n], x[4 * n]), d = vf32_sub(x[3 * n], x[4 * n]);

    y[0] = vf32_add(vf32_add(x[0], a), c);
    y[m] = plus(2.0, d, b);
    y[2 * m] = plus(4.0, c, a);
    y[3 * m] = plus(8.0, d, vf32_add(b, x[5 * n]));
}

static int64_t tile_rows(const winograd_plan *p, int64_t tile)
{
    return conv_min(p->tile, p->rows - tile * p->tile);
}

/* Elements between two spots of a group's transformed weights. */
static int64_t weight_spot(const winograd_plan *p)
{
    return p->tiles * p->depth * p->tile;
}

/* A row tile's weights as [spot][channel][row]: vectors run over the rows. */
static void transform_weights(const winograd_plan *p, const float *w, float *to, int64_t unit)
{
    const conv_shape *s = &p->s;
    int64_t g = unit / p->tiles, m = unit % p->tiles, first = m * p->tile, rows = tile_rows(p, m);

    w += g * s->o * s->c * 9;
    to += g * SPOTS * weight_spot(p) + m * p->depth * p->tile;
    for (int64_t k = 0; k < p->depth; k++)
        for (int64_t r = 0; r < rows; r += VF32_LANES) {
            int n = (int)conv_min(VF32_LANES, rows - r);
            float taps[9][VF32_LANES] = {{0}};
            vf32 x[9], half[18], y[SPOTS];

            for (int i = 0; i < n; i++) {
                int64_t row = first + r + i;
                const float *from = w + (p->backward ? k * s->c + row : row * s->c + k) * 9;

                for (int t = 0; t < 9; t++)
                    taps[t][i] = from[p->backward ? 8 - t : t];
            }
            for (int t = 0; t < 9; t++)
                x[t] = vf32_load(taps[t]);
            for (int j = 0; j < 3; j++)
                from_weights(x + j, 3, half + j, 3);
            for (int i = 0; i < SPAN; i++)
                from_weights(half + 3 * i, 1, y + SPAN * i, 1);
            for (int e = 0; e < SPOTS; e++)
                vf32_store_n(to + e * weight_spot(p) + k * rows + r, y[e], n);
        }
}

/* --- a unit ----------------------------------------------------------------------------------- */

typedef struct unit {
    const winograd_plan *p;
    int64_t first, lines, patches; /* lines of patches over all images */
    int64_t row, tiles;
    float *source, *result, *stage; /* [spot][panel][channel][NR], [spot][row][patch] */
    int64_t *line_at;               /* where a line of patches begins in the stage */
} unit;

#define DEAL 7 /* patches at a time: they reach over 30 columns */

/* Which columns of the border's DEAL patches from patch i on lie in the source. */
static uint32_t columns_inside(const winograd_plan *p, int64_t i)
{
    int64_t first = conv_max(0, p->before[1] - i * STEP);
    int64_t end = conv_max(first, conv_min(32, p->w + p->before[1] - i * STEP));

    return (uint32_t)(((uint64_t)1 << end) - ((uint64_t)1 << first));
}

/* Row y, which may lie outside, as the columns of its patches; next: elements between those. */
static void split_row(const winograd_plan *p, const float *plane, int64_t y, int64_t next,
                      float *to)
{
    bool inside = y >= 0 && y < p->h;
    const float *from = plane + (inside ? y : 0) * p->w - p->before[1];

    for (int64_t i = 0; i < p->wide; i += DEAL)
        vf32_deal(from + i * STEP, inside ? columns_inside(p, i) : 0,
                  (int)conv_min(DEAL, p->wide - i), to + i, next);
}

/* One channel of the unit's source, split by rows and columns of patches; src: its first image. */
static void fill_stage(const unit *u, const float *src)
{
    const winograd_plan *p = u->p;
    int64_t image = p->s.groups * p->depth * p->h * p->w, at = 0;
    int64_t next = stage_lines(p) * p->wide;

    for (int64_t l = 0; l < u->lines;) {
        int64_t n = (u->first + l) / p->high, y = (u->first + l) % p->high;
        int64_t count = conv_min(u->lines - l, p->high - y);

        for (int64_t i = 0; i <= count; i++) /* a patch reaches into the next line's rows */
            for (int a = 0; a < STEP; a++)
                if (i < count || a < SPAN - STEP)
                    split_row(p, src + n * image, (y + i) * STEP + a - p->before[0], next,
                              u->stage + a * SPAN * next + (at + i) * p->wide);
        for (int64_t i = 0; i < count; i++)
            u->line_at[l + i] = (at + i) * p->wide;
        l += count;
        at += count + 1;
    }
}

/* Patches of a panel that are neighbours in the stage. */
typedef struct run {
    const float *from;
    int at, n;
} run;

static int panel_runs(const unit *u, int64_t first, run *runs)
{
    const winograd_plan *p = u->p;
    int cols = (int)conv_min(GEMM_NR, u->patches - first), n = 0;

    for (int at = 0; at < cols;) {
        int64_t line = (first + at) / p->wide, x = (first + at) % p->wide;
        const float *from = u->stage + u->line_at[line] + x;
        int len = (int)conv_min(p->wide - x, cols - at);

        if (n && runs[n - 1].from + runs[n - 1].n == from)
            runs[n - 1].n += len;
        else
            runs[n++] = (run){.from = from, .at = at, .n = len};
        at += len;
    }
    return n;
}

/* A panel of patches of the staged channel as [spot of the patch][NR]. Whole vectors are written:
   what goes too far, the next run or the next spot covers. */
static void gather(const winograd_plan *p, const run *runs, int n, float *to)
{
    int64_t next = stage_lines(p) * p->wide;

    for (int i = 0; i < SPAN; i++)
        for (int j = 0; j < SPAN; j++, to += GEMM_NR) {
            int64_t at = (i % STEP * SPAN + j) * next + i / STEP * p->wide;

            for (int r = 0; r < n; r++)
                for (int v = 0; v < runs[r].n; v += VF32_LANES)
                    vf32_store(to + runs[r].at + v, vf32_load(runs[r].from + at + v));
        }
}

static void transform_source(const unit *u, const float *src)
{
    const winograd_plan *p = u->p;
    int64_t spot = source_spot(p);
    float patch[SPOTS * GEMM_NR + GEMM_NR] = {0};

    for (int64_t c = 0; c < p->depth; c++) {
        fill_stage(u, src + c * p->h * p->w);
        for (int64_t j = 0; j * GEMM_NR < u->patches; j++) {
            float *to = u->source + (j * p->depth + c) * GEMM_NR;

            run runs[GEMM_NR];

            gather(p, runs, panel_runs(u, j * GEMM_NR, runs), patch);
            for (int v = 0; v < GEMM_NR; v += VF32_LANES) {
                vf32 x[SPOTS], y[SPOTS];

                for (int e = 0; e < SPOTS; e++)
                    x[e] = vf32_load(patch + e * GEMM_NR + v);
                for (int i = 0; i < SPAN; i++)
                    from_source(x + i, SPAN, y + i);
                for (int i = 0; i < SPAN; i++)
                    from_source(y + SPAN * i, 1, x + SPAN * i);
                for (int e = 0; e < SPOTS; e++)
                    vf32_store(to + e * spot + v, x[e]);
            }
        }
    }
}

static void multiply(const unit *u, const float *weights)
{
    const winograd_plan *p = u->p;
    static const int64_t zero;
    int64_t width = p->panels * GEMM_NR;
    gemm_tile t = {.k = p->depth,
                   .batch = 1,
                   .a_off = &zero,
                   .b_off = &zero,
                   .a_m = 1,
                   .b_k = GEMM_NR,
                   .c_m = width};

    for (int64_t e = 0; e < SPOTS; e++)
        for (int64_t m = 0; m < u->tiles; m++) {
            t.a_k = tile_rows(p, u->row / p->tile + m);
            t.a = weights + e * weight_spot(p) + m * p->depth * p->tile;
            for (int64_t j = 0; j * GEMM_NR < u->patches; j++) {
                t.b = u->source + e * source_spot(p) + j * p->depth * GEMM_NR;
                t.c = u->result + e * result_spot(p) + m * p->tile * width + j * GEMM_NR;
                gemm_tile_ahead(&t, t.a, p->depth * t.a_k * (p->panels + j) / p->panels,
                                t.a_k / p->panels + 1);
                gemm_tile_run(&t, (int)t.a_k, (int)conv_min(GEMM_NR, u->patches - j * GEMM_NR));
            }
        }
}

/* A run of patches of one line to the output: y[row of the patch][column][patch]. */
static void put_line(const winograd_plan *p, const float *restrict y, int64_t n, int64_t rows,
                     int64_t x, float *restrict out)
{
    int64_t whole = conv_min(n, (p->out_w - x * STEP) / STEP);

    for (int64_t i = 0; i < rows; i++) {
        const float *from = y + i * STEP * GEMM_NR;
        float *to = out + i * p->out_w + x * STEP;

        for (int64_t k = 0; k < whole; k++) {
            to[k * STEP] = from[k];
            to[k * STEP + 1] = from[GEMM_NR + k];
            to[k * STEP + 2] = from[2 * GEMM_NR + k];
            to[k * STEP + 3] = from[3 * GEMM_NR + k];
        }
        for (int64_t q = whole * STEP; q < conv_min(n * STEP, p->out_w - x * STEP); q++)
            to[q] = from[q % STEP * GEMM_NR + q / STEP];
    }
}

/* A panel of patches of one row of the result. */
static void put_panel(const unit *u, const float *result, float bias, int64_t j, float *out)
{
    const winograd_plan *p = u->p;
    int64_t spot = result_spot(p), plane = p->out_h * p->out_w;
    int64_t end = conv_min(u->patches, (j + 1) * GEMM_NR);
    float y[STEP * STEP * GEMM_NR];

    for (int v = 0; v < GEMM_NR; v += VF32_LANES) {
        vf32 x[SPOTS], half[STEP * SPAN], z[STEP * STEP];

        for (int e = 0; e < SPOTS; e++)
            x[e] = vf32_load(result + e * spot + j * GEMM_NR + v);
        for (int i = 0; i < SPAN; i++)
            to_result(x + i, SPAN, half + i, SPAN);
        for (int i = 0; i < STEP; i++)
            to_result(half + SPAN * i, 1, z + STEP * i, 1);
        for (int i = 0; i < STEP * STEP; i++)
            vf32_store(y + i * GEMM_NR + v, vf32_add(z[i], vf32_set1(bias)));
    }
    for (int64_t at = j * GEMM_NR; at < end;) {
        int64_t line = u->first + at / p->wide, x = at % p->wide;
        int64_t len = conv_min(p->wide - x, end - at), top = line % p->high * STEP;

        put_line(p, y + (at - j * GEMM_NR), len, conv_min(STEP, p->out_h - top), x,
                 out + line / p->high * p->s.groups * p->rows * plane + top * p->out_w);
        at += len;
    }
}

static void transform_result(const unit *u, const float *bias, float *out)
{
    const winograd_plan *p = u->p;
    int64_t rows = conv_min(p->m_tiles * p->tile, p->rows - u->row);

    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j * GEMM_NR < u->patches; j++)
            put_panel(u, u->result + r * p->panels * GEMM_NR, bias ? bias[u->row + r] : 0.0f, j,
                      out + (u->row + r) * p->out_h * p->out_w);
}

static void run_unit(const winograd_plan *p, void *const buf[4], const float *weights,
                     int64_t index, void *scratch)
{
    const float *source = buf[0], *bias = buf[2];
    float *out = buf[3];
    int64_t part = index % p->m_parts, strip = index / p->m_parts % p->strips;
    int64_t g = index / p->m_parts / p->strips;
    unit u = {.p = p, .first = strip * p->strip, .row = part * p->m_tiles * p->tile};

    u.line_at = scratch;
    u.stage = (float *)(void *)(u.line_at + round_up(p->strip, 16));
    u.source = u.stage + stage_size(p);
    u.result = u.source + SPOTS * source_spot(p);
    u.lines = conv_min(p->strip, p->s.n * p->high - u.first);
    u.patches = u.lines * p->wide;
    u.tiles = conv_min(p->m_tiles, p->tiles - part * p->m_tiles);
    transform_source(&u, source + g * p->depth * p->h * p->w);
    multiply(&u, weights + g * SPOTS * weight_spot(p) + part * p->m_tiles * p->depth * p->tile);
    transform_result(&u, bias ? bias + g * p->rows : NULL, out + g * p->rows * p->out_h * p->out_w);
}

void winograd_run(const winograd_plan *p, void *const buf[4], int phase, int64_t lo, int64_t hi,
                  void *scratch, void *work)
{
    for (int64_t u = lo; u < hi; u++) {
        if (phase == 0)
            transform_weights(p, buf[1], work, u);
        else
            run_unit(p, buf, work, u, scratch);
    }
}
