/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of conv2d to its weight, f32: for each group dy [outputs, positions] times a matrix
   [positions, (channel, tap)], which is packed from a bordered copy of the source a few lines at a
   time (as in conv.c) and never made whole. Positions run over all images, which are summed in a
   fixed number of parts; these are then added up in order. */
#include "cpu/kernels/conv_shape.h"

#define WEIGHT_POSITIONS 256   /* positions at a time, about: a panel of them stays in L1 */
#define WEIGHT_UNITS     16    /* units wanted */
#define WEIGHT_PANELS    8     /* panels of columns below which a unit is not cut */
#define WEIGHT_PART      800   /* positions that make adding up a part's sums worth while */
#define WEIGHT_COMBINE   16384 /* elements of a unit of the last phase */

typedef struct weight_plan {
    conv_shape s;
    conv_source src;
    int64_t columns, panels;     /* (channel, tap) pairs of a group; panels of them in a unit */
    int64_t blocks, parts;       /* units along columns and along images */
    int64_t channels;            /* source channels that a unit's columns may touch */
    int64_t lines;               /* of the output at a time */
    int64_t tile, tiles;         /* rows of a register tile, tiles of a group */
    int64_t size;                /* elements of all weights */
    int64_t source, rows_packed; /* scratch elements: of the source, of packed dy */
} weight_plan;

static void plan_source(weight_plan *p)
{
    const conv_shape *s = &p->s;
    conv_source *src = &p->src;

    src->h = s->h;
    src->w = s->w;
    src->image = s->groups * s->c * s->h * s->w;
    src->high = s->oh;
    for (int i = 0; i < 2; i++) {
        src->split[i] = s->stride[i];
        src->before[i] = s->before[i];
        src->phases[i] = conv_phases(i ? s->kw : s->kh, s->dilation[i], s->stride[i]);
    }
    src->halo = (s->kh - 1) * s->dilation[0] / s->stride[0];
    src->width = s->ow + (s->kw - 1) * s->dilation[1] / s->stride[1];
    src->direct = conv_pointwise(s);
}

static void plan_units(weight_plan *p)
{
    const conv_shape *s = &p->s;
    int64_t panels = conv_cut(p->columns, GEMM_NR), taps = s->kh * s->kw;
    int64_t want = conv_cut(WEIGHT_UNITS, conv_max(1, s->groups));

    p->parts = conv_min(conv_min(s->n, want), s->n * s->oh * s->ow / WEIGHT_PART);
    p->parts = conv_max(1, p->parts);
    p->blocks = conv_max(1, conv_min(conv_cut(want, p->parts), panels / WEIGHT_PANELS));
    p->panels = conv_cut(panels, p->blocks);
    p->blocks = conv_cut(panels, p->panels);
    p->channels = conv_min(s->c, conv_cut(p->panels * GEMM_NR - 1, taps) + 1);
    p->tiles = conv_cut(s->o, GEMM_MR);
    p->tile = p->tiles ? conv_cut(s->o, p->tiles) : 1;
}

static bool conv2d_backward_weight_plan(kcall *c, error *e)
{
    weight_plan *p = c->plan;
    const conv_shape *s = &p->s;

    (void)e;
    p->s = conv_shape_of(c, &c->in[1], &c->out[0], &c->in[0]);
    p->columns = s->c * s->kh * s->kw;
    p->size = s->groups * s->o * p->columns;
    if (p->size == 0)
        return true; /* no units */
    plan_source(p);
    plan_units(p);
    p->lines = s->ow ? conv_max(1, WEIGHT_POSITIONS / s->ow) : 1;
    p->lines = conv_max(1, conv_min(p->lines, conv_cut(s->n, p->parts) * s->oh));
    if (s->n && s->oh && s->ow)
        p->source = conv_source_lay(&p->src, p->lines, p->channels);
    p->rows_packed = conv_cut(p->lines * s->ow * s->o, 16) * 16;
    c->units[0] = s->groups * p->blocks * p->parts;
    if (p->parts > 1) {
        c->phases = 2;
        c->units[1] = conv_cut(p->size, WEIGHT_COMBINE);
        c->work = (size_t)(p->parts * p->size) * sizeof(float);
    }
    c->scratch =
        (size_t)conv_cut(p->lines, 8) * 64 +
        (size_t)(p->source + p->rows_packed + p->lines * s->ow * GEMM_NR + GEMM_NR) * sizeof(float);
    return true;
}

/* One unit on some lines. */
typedef struct chunk {
    const weight_plan *p;
    const float *source; /* of the first of the unit's channels */
    const int64_t *line_at;
    int64_t first, lines, positions;
} chunk;

/* dy of all outputs of a group as tiles [position][row]. */
static void pack_gradient(const chunk *u, const float *dy, float *to)
{
    const weight_plan *p = u->p;
    int64_t plane = p->s.oh * p->s.ow, image = p->s.groups * p->s.o * plane;

    for (int64_t m = 0; m < p->tiles; m++) {
        int64_t rows = conv_min(p->tile, p->s.o - m * p->tile);

        for (int64_t l = u->first; l < u->first + u->lines;) {
            int64_t y = l % p->s.oh, count = conv_min(p->s.oh - y, u->first + u->lines - l);
            const float *from = dy + l / p->s.oh * image + m * p->tile * plane + y * p->s.ow;

            gemm_pack_a(to, from, plane, 1, (int)rows, count * p->s.ow);
            to += rows * count * p->s.ow;
            l += count;
        }
    }
}

/* Where tap (i, j) begins in a channel. */
static int64_t tap_offset(const weight_plan *p, int64_t tap)
{
    const conv_shape *s = &p->s;
    int64_t y = tap / s->kw * s->dilation[0], x = tap % s->kw * s->dilation[1];
    int64_t phase = y % s->stride[0] * p->src.phases[1] + x % s->stride[1];

    return (phase * p->src.rows + y / s->stride[0]) * p->src.width + x / s->stride[1];
}

/* Columns at from[0..n-1], `len` deep, as [position][GEMM_NR]; zeros beyond n. */
static VEC_FORCE_INLINE void pack_run(const float *const *from, int n, int64_t offset, int64_t len,
                                      float *to)
{
    for (int64_t i = 0; i < len; i += VF32_LANES) {
        int depth = (int)conv_min(VF32_LANES, len - i);

        for (int v = 0; v < GEMM_NR; v += VF32_LANES) {
            vf32 r[VF32_LANES];

            for (int k = 0; k < VF32_LANES; k++)
                r[k] = v + k >= n            ? vf32_zero()
                       : depth == VF32_LANES ? vf32_load(from[v + k] + offset + i)
                                             : vf32_load_n(from[v + k] + offset + i, depth);
            vf32_transpose(r);
            for (int k = 0; k < depth; k++)
                vf32_store(to + (i + k) * GEMM_NR + v, r[k]);
        }
    }
}

/* Columns first .. of the matrix, from channel c0 on, at the chunk's positions. */
static void pack_panel(const chunk *u, int64_t first, int n, int64_t c0, float *to)
{
    const weight_plan *p = u->p;
    const float *from[GEMM_NR];
    int64_t taps = p->s.kh * p->s.kw;

    for (int k = 0; k < n; k++)
        from[k] =
            u->source + ((first + k) / taps - c0) * p->src.step + tap_offset(p, (first + k) % taps);
    for (int64_t l = 0; l < u->lines;) {
        int64_t at = l++, len = p->s.ow;

        for (; l < u->lines && u->line_at[l] == u->line_at[at] + len; l++)
            len += p->s.ow;
        pack_run(from, n, u->line_at[at], len, to);
        to += len * GEMM_NR;
    }
}

static void run_chunk(const chunk *u, int64_t column, int64_t columns, const float *rows,
                      float *packed, bool add, float *sums)
{
    const weight_plan *p = u->p;
    static const int64_t zero;
    int64_t c0 = column / (p->s.kh * p->s.kw);
    gemm_tile t = {.k = u->positions,
                   .batch = 1,
                   .a_off = &zero,
                   .b_off = &zero,
                   .a_m = 1,
                   .b = packed,
                   .b_k = GEMM_NR,
                   .c_m = p->columns,
                   .add = add};

    for (int64_t j = column; j < column + columns; j += GEMM_NR) {
        int n = (int)conv_min(GEMM_NR, column + columns - j);

        pack_panel(u, j, n, c0, packed);
        for (int64_t m = 0; m < p->tiles; m++) {
            t.a_k = conv_min(p->tile, p->s.o - m * p->tile);
            t.a = rows + m * p->tile * u->positions;
            t.c = sums + m * p->tile * p->columns + j;
            gemm_tile_run(&t, (int)t.a_k, n);
        }
    }
}

static void zero_block(const weight_plan *p, int64_t column, int64_t columns, float *sums)
{
    for (int64_t o = 0; o < p->s.o; o++)
        conv_zero(sums + o * p->columns + column, columns);
}

static void run_unit(const weight_plan *p, void *const *buf, int64_t index, void *scratch,
                     float *sums)
{
    const conv_shape *s = &p->s;
    int64_t part = index % p->parts, block = index / p->parts % p->blocks;
    int64_t g = index / p->parts / p->blocks, column = block * p->panels * GEMM_NR;
    int64_t columns = conv_min(p->panels * GEMM_NR, p->columns - column);
    int64_t taps = s->kh * s->kw, c0 = column / taps;
    int64_t channels = (column + columns - 1) / taps + 1 - c0;
    int64_t from = part * s->n / p->parts * s->oh, to = (part + 1) * s->n / p->parts * s->oh;
    const float *x = (const float *)buf[1] + (g * s->c + c0) * s->h * s->w;
    const float *dy = (const float *)buf[0] + g * s->o * s->oh * s->ow;
    int64_t *line_at = scratch;
    float *source = (float *)(void *)(line_at + conv_cut(p->lines, 8) * 8);
    float *rows = source + p->source, *packed = rows + p->rows_packed;

    sums += part * p->size + g * s->o * p->columns;
    if (from == to || s->ow == 0)
        zero_block(p, column, columns, sums);
    else
        for (int64_t l = from; l < to; l += p->lines) {
            chunk u = {.p = p, .line_at = line_at, .first = l};

            u.lines = conv_min(p->lines, to - l);
            u.positions = u.lines * s->ow;
            u.source = conv_take(&p->src, x, channels, l, u.lines, line_at, source);
            pack_gradient(&u, dy, rows);
            run_chunk(&u, column, columns, rows, packed, l > from, sums);
        }
}

static void combine(const weight_plan *p, const float *work, float *dw, int64_t unit)
{
    int64_t from = unit * WEIGHT_COMBINE, to = conv_min(from + WEIGHT_COMBINE, p->size);

    for (int64_t i = from; i < to; i++) {
        float sum = work[i];

        for (int64_t part = 1; part < p->parts; part++)
            sum += work[part * p->size + i];
        dw[i] = sum;
    }
}

static void conv_weight_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                            void *scratch, void *work)
{
    const weight_plan *p = c->plan;

    for (int64_t u = lo; u < hi; u++) {
        if (phase == 0)
            run_unit(p, buf, u, scratch, p->parts > 1 ? work : buf[2]);
        else
            combine(p, work, buf[2], u);
    }
}

extern const kernel_row ISA_FN(kernels_conv_weight)[];

const kernel_row ISA_FN(kernels_conv_weight)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/conv_weight.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
