/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d and its gradient to the input, f32: for each group the product of the weights, packed
   once, and a matrix whose rows are (channel, tap) and whose columns are output positions. That
   matrix is never made. A unit of work takes a few lines of the output, of one image or of
   several, copies the lines of the source that they need with a border around them, and packs from
   there one block of the matrix at a time, as deep as fits the first cache. Where there are too few
   such units, the blocks are packed beforehand, and units that share them take a few channels each.

   Backward to the input is the same with the gradient as the source. With stride s the input's
   rows and columns fall into s x s phases, each reached by taps of its own. */
#include "cpu/kernels/conv_winograd.h"

#define CONV_DEPTH     256 /* rows of a packed block, about */
#define CONV_POSITIONS 224 /* columns of a unit, about */
#define CONV_UNITS     16  /* units wanted */
#define PACK_AHEAD     8   /* channels */
#define CONV_ROWS      192 /* output channels of a unit, at least, that packs for itself */
#define CONV_SHARE     5   /* units along the output channels that make shared blocks worth while */
#define CONV_SHARED    ((int64_t)16 << 20) /* bytes of blocks that are packed beforehand, at most */

typedef struct conv_plan {
    conv_shape s;
    bool backward;
    bool winograd; /* then all below is unused */
    winograd_plan w;
    conv_source src;
    int64_t rows, depth;         /* channels of a group: of the output, of the source */
    int64_t out_h, out_w;        /* of the output's planes */
    int64_t out_split[2];        /* phases of the output: 1 x 1 forward, the stride backward */
    int64_t wide;                /* columns of a phase of the output */
    int64_t strip, strips;       /* lines of a unit, over all images; units along them */
    int64_t tile, tiles;         /* rows of a register tile, tiles of a group */
    int64_t m_tiles, m_parts;    /* tiles of a unit, units along them */
    int64_t taps, panels, block; /* block: source channels packed at a time */
    int64_t cached;              /* tiles whose block of weights stays in the second cache */
    int64_t blocks;              /* along the source channels */
    bool shared;                 /* blocks are packed in a phase of their own, all of them */
    int64_t source;              /* scratch: elements of the source */
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
    int64_t lo[2], hi[2];

    for (int i = 0; i < 2; i++) {
        p->out_split[i] = p->backward ? s->stride[i] : 1;
        p->src.split[i] = p->backward ? 1 : s->stride[i];
        p->src.phases[i] =
            p->backward ? 1 : conv_phases(i ? s->kw : s->kh, s->dilation[i], s->stride[i]);
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
    p->src.high = conv_cut(p->out_h, p->out_split[0]);
    p->wide = conv_cut(p->out_w, p->out_split[1]);
    p->src.width = p->wide + hi[1];
    p->src.halo = hi[0];
    p->taps = s->kh * s->kw;
    p->src.direct = conv_pointwise(s);
    p->src.image = s->groups * p->depth * p->src.h * p->src.w;
}

/* Lines of a unit: as many as keep the source in half of the second cache, filling whole panels. */
static void plan_strip(conv_plan *p, size_t l2)
{
    int64_t lines = conv_max(1, CONV_POSITIONS / p->wide), whole = GEMM_NR;
    int64_t line_bytes = 4 * p->depth * p->src.phases[0] * p->src.phases[1] * p->src.width;

    for (int64_t w = p->wide; w % 2 == 0 && whole > 1; w /= 2)
        whole /= 2;
    if (!p->src.direct)
        while (lines > whole && conv_source_lines(&p->src, lines) * line_bytes > (int64_t)(l2 / 2))
            lines--;
    lines = conv_min(lines, p->s.n * p->src.high);
    p->strip = lines < whole ? lines : lines / whole * whole;
    p->strips = conv_cut(p->s.n * p->src.high, p->strip);
    p->panels = conv_cut(p->strip * p->wide, GEMM_NR);
}

static int64_t phases_of(const conv_plan *p)
{
    return conv_min(p->out_split[0], p->out_h) * conv_min(p->out_split[1], p->out_w);
}

/* Elements of all packed blocks of a group's strip. */
static int64_t strip_packed(const conv_plan *p)
{
    return p->depth * p->taps * p->panels * GEMM_NR;
}

static void plan_rows(conv_plan *p, size_t l2)
{
    int64_t parts = conv_cut(CONV_UNITS, conv_max(1, p->s.groups * p->strips));
    int64_t packed = 4 * p->s.groups * p->strips * strip_packed(p);

    p->tiles = conv_cut(p->rows, GEMM_MR);
    p->tile = conv_cut(p->rows, p->tiles);
    p->shared = parts >= CONV_SHARE && p->tiles > 1 && phases_of(p) == 1 && packed <= CONV_SHARED;
    if (!p->shared)
        parts = conv_max(1, conv_min(parts, p->rows / CONV_ROWS));
    p->m_tiles = conv_cut(p->tiles, parts);
    p->m_parts = conv_cut(p->tiles, p->m_tiles);
    p->block = conv_max(1, CONV_DEPTH / p->taps);
    p->block = p->depth ? conv_cut(p->depth, conv_cut(p->depth, p->block)) : 1;
    p->blocks = conv_cut(p->depth, p->block);
    p->cached = conv_max(1, (int64_t)(l2 / 4) / (4 * p->tile * p->block * p->taps));
}

/* A worker's scratch; the sizes follow from the plan. */
typedef struct space {
    int64_t *tap_at;    /* by phase: where in a channel a tap begins */
    int64_t *tap;       /* which tap that is */
    int64_t *tap_begin; /* of each phase, and the end */
    int64_t *line_at;   /* where in the source a line of the unit begins */
    float *source, *packed, *tile;
} space;

static int64_t space_ints(const conv_plan *p)
{
    return conv_cut(2 * p->taps + phases_of(p) + 1 + p->strip, 8) * 8;
}

static int64_t space_packed(const conv_plan *p)
{
    return p->shared ? 0 : p->block * p->taps * p->panels * GEMM_NR + GEMM_NR;
}

/* Tiles that cannot be written in place: of phases, or where a panel spans images. */
static int64_t space_tile(const conv_plan *p)
{
    bool whole = p->s.n == 1 || p->src.high % p->strip == 0;

    return phases_of(p) == 1 && whole ? 0 : p->m_tiles * p->tile * p->panels * GEMM_NR;
}

static size_t space_bytes(const conv_plan *p)
{
    return (size_t)space_ints(p) * sizeof(int64_t) +
           (size_t)(p->source + space_packed(p) + space_tile(p)) * sizeof(float);
}

static space space_lay(const conv_plan *p, void *scratch)
{
    space b = {.tap_at = scratch};

    b.tap = b.tap_at + p->taps;
    b.tap_begin = b.tap + p->taps;
    b.line_at = b.tap_begin + phases_of(p) + 1;
    b.source = (float *)(void *)(b.tap_at + space_ints(p));
    b.packed = b.source + p->source;
    b.tile = b.packed + space_packed(p);
    return b;
}

/* Elements of the packed weights, which come first in the call's work memory. */
static int64_t work_weights(const conv_plan *p)
{
    return conv_cut(p->s.groups * p->tiles * p->taps * p->depth * p->tile, 16) * 16;
}

static bool plan_conv(kcall *c, conv_plan *p)
{
    const conv_shape *s = &p->s;

    bool fixed = c->fixed >> 1 & 1u;

    c->packed = 1u << 1;
    c->once = fixed;
    p->winograd = !c->mach->no_winograd && winograd_fits(s, p->backward, fixed);
    if (p->winograd) {
        winograd_make(c, &p->w, s, p->backward);
        return true;
    }
    plan_geometry(p);
    if (s->n == 0 || p->wide == 0 || p->src.high == 0 || p->rows == 0)
        return true; /* no units */
    plan_strip(p, c->mach->l2);
    plan_rows(p, c->mach->l2);
    p->source = conv_source_lay(&p->src, p->strip, p->shared ? p->block : p->depth);
    c->phases = p->shared ? 3 : 2;
    c->units[0] = s->groups * p->tiles;
    c->units[1] = p->shared ? s->groups * p->strips * p->blocks : 0;
    c->units[c->phases - 1] = s->groups * p->m_parts * p->strips;
    c->work = (size_t)work_weights(p) * sizeof(float);
    if (p->shared)
        c->work += (size_t)(s->groups * p->strips * strip_packed(p) + GEMM_NR) * sizeof(float);
    c->scratch = space_bytes(p);
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

/* The taps in the order of the phases of the output that they reach: each reaches one. */
static void find_taps(const conv_plan *p, space *b)
{
    const conv_source *src = &p->src;
    int64_t n = 0, q = 0;

    for (int64_t y = 0; y < conv_min(p->out_split[0], p->out_h); y++)
        for (int64_t x = 0; x < conv_min(p->out_split[1], p->out_w); x++) {
            b->tap_begin[q++] = n;
            for (int64_t i = 0; i < p->s.kh; i++)
                for (int64_t j = 0; j < p->s.kw; j++) {
                    int64_t py, px, dy, dx;

                    if (!tap_shift(p, 0, i, y, &py, &dy) || !tap_shift(p, 1, j, x, &px, &dx))
                        continue;
                    if (p->backward) {
                        dy += src->before[0];
                        dx += src->before[1];
                    }
                    b->tap[n] = i * p->s.kw + j;
                    b->tap_at[n++] =
                        ((py * src->phases[1] + px) * src->rows + dy) * src->width + dx;
                }
        }
    b->tap_begin[q] = n;
}

static int64_t tile_rows(const conv_plan *p, int64_t tile)
{
    return conv_min(p->tile, p->rows - tile * p->tile);
}

/* A row tile's weights as [phase][channel][tap][row]. */
static void pack_weights(const conv_plan *p, const space *b, const float *w, float *to,
                         int64_t unit)
{
    const conv_shape *s = &p->s;
    int64_t g = unit / p->tiles, i = unit % p->tiles, first = i * p->tile, rows = tile_rows(p, i);
    int64_t per_o = s->c * p->taps;

    to += unit * p->taps * p->depth * p->tile;
    w += g * s->o * per_o;
    if (!p->backward) {
        gemm_pack_a(to, w + first * per_o, per_o, 1, (int)rows, per_o);
    } else if (p->taps == 1 && phases_of(p) == 1) {
        gemm_pack_a(to, w + first, 1, s->c, (int)rows, s->o);
    } else {
        w += first * p->taps;
        for (int64_t q = 0; q < phases_of(p); q++)
            for (int64_t o = 0; o < s->o; o++)
                for (int64_t t = b->tap_begin[q]; t < b->tap_begin[q + 1]; t++)
                    for (int64_t r = 0; r < rows; r++)
                        *to++ = w[o * per_o + r * p->taps + b->tap[t]];
    }
}

/* A unit of work at one phase of the output. */
typedef struct unit {
    const conv_plan *p;
    const space *b;
    const float *source, *weights, *bias; /* weights: of the unit's first tile */
    float *out;                           /* of the group, first image */
    float *packed;                        /* the block that is multiplied, or all of the strip */
    int64_t first, lines, cols;           /* lines over all images; output positions */
    int64_t row, tiles;                   /* first row and number of tiles */
    int64_t y, x, q;                      /* the phase */
} unit;

/* Neighbours in the source that are neighbours in a panel. */
typedef struct run {
    int64_t from;
    int at, n;
} run;

static int panel_runs(const unit *u, int64_t col, run *runs)
{
    const conv_plan *p = u->p;
    int64_t line = col / p->wide, x = col % p->wide;
    int cols = (int)conv_min(GEMM_NR, u->cols - col), n = 0;

    for (int at = 0; at < cols; x = 0, line++) {
        int64_t from = u->b->line_at[line] + x;
        int len = (int)conv_min(p->wide - x, cols - at);

        if (n && runs[n - 1].from + runs[n - 1].n == from)
            runs[n - 1].n += len;
        else
            runs[n++] = (run){.from = from, .at = at, .n = len};
        at += len;
    }
    return n;
}

/* Runs go to their places in order as whole vectors: what one writes too far, the next one, the
   next row or the next panel covers. exact: nothing is read or written too far, where that is
   another worker's or not the source's. */
static VEC_FORCE_INLINE void copy_runs(const float *from, const run *r, int n, const bool exact,
                                       float *to)
{
    for (int i = 0; i < n; i++)
        for (int v = 0; v < r[i].n; v += VF32_LANES) {
            int len = r[i].n - v;
            float *put = to + r[i].at + v;

            if (exact && len < VF32_LANES)
                vf32_store_n(put, vf32_load_n(from + r[i].from + v, len), len);
            else
                vf32_store(put, vf32_load(from + r[i].from + v));
        }
}

/* Columns col .. of channels c0..c1-1 as [channel][tap][GEMM_NR]. */
static void pack_panel(const unit *u, int64_t col, int64_t c0, int64_t c1, float *to)
{
    const conv_plan *p = u->p;
    const int64_t *tap_at = u->b->tap_at + u->b->tap_begin[u->q];
    int64_t taps = u->b->tap_begin[u->q + 1] - u->b->tap_begin[u->q];
    bool exact = p->src.direct || p->shared;
    run runs[GEMM_NR];
    int n = panel_runs(u, col, runs);
    const float *from = u->source + c0 * p->src.step;

    if (n == 1 && runs[0].n == GEMM_NR) {
        for (int64_t c = c0; c < c1; c++, from += p->src.step) {
            if (p->src.direct) /* channels are too far apart for the processor's own foresight */
                __builtin_prefetch(from + PACK_AHEAD * p->src.step + runs[0].from);
            for (int64_t t = 0; t < taps; t++, to += GEMM_NR)
                for (int v = 0; v < GEMM_NR; v += VF32_LANES)
                    vf32_store(to + v, vf32_load(from + tap_at[t] + runs[0].from + v));
        }
        return;
    }
    if (u->cols - col < GEMM_NR) /* nothing undefined is multiplied */
        memset(to, 0, (size_t)((c1 - c0) * taps * GEMM_NR) * sizeof *to);
    for (int64_t c = c0; c < c1; c++, from += p->src.step)
        for (int64_t t = 0; t < taps; t++, to += GEMM_NR) {
            if (exact)
                copy_runs(from + tap_at[t], runs, n, true, to);
            else
                copy_runs(from + tap_at[t], runs, n, false, to);
        }
}

/* A panel that lies in one image, in an output without phases, is written in place. */
static bool in_place(const unit *u, int64_t col)
{
    const conv_plan *p = u->p;
    int64_t last = conv_min(col + GEMM_NR, u->cols) - 1;

    return p->out_split[0] == 1 && p->out_split[1] == 1 &&
           (u->first + col / p->wide) / p->src.high == (u->first + last / p->wide) / p->src.high;
}

/* Where a panel's tiles are written, and the distance of its rows. */
static float *panel_place(const unit *u, int64_t col, int64_t *c_m)
{
    const conv_plan *p = u->p;
    int64_t plane = p->out_h * p->out_w, line = u->first + col / p->wide;

    if (in_place(u, col)) {
        *c_m = plane;
        return u->out + (line / p->src.high * p->s.groups * p->rows + u->row) * plane +
               line % p->src.high * p->out_w + col % p->wide;
    }
    *c_m = GEMM_NR;
    return u->b->tile + col * p->m_tiles * p->tile;
}

/* From the panel's own tile to the output's phase. */
static void scatter(const unit *u, int64_t col)
{
    const conv_plan *p = u->p;
    int64_t plane = p->out_h * p->out_w, sx = p->out_split[1], rows = 0;
    int64_t end = conv_min(col + GEMM_NR, u->cols);

    for (int64_t m = 0; m < u->tiles; m++)
        rows += tile_rows(p, u->row / p->tile + m);
    for (int64_t q = col; q < end;) {
        int64_t line = u->first + q / p->wide, x = q % p->wide;
        int64_t len = conv_min(p->wide - x, end - q),
                y = line % p->src.high * p->out_split[0] + u->y;
        int64_t good = conv_min(len, conv_cut(p->out_w - u->x, sx) - x);
        const float *from = u->b->tile + col * p->m_tiles * p->tile + (q - col);
        float *to = u->out + (line / p->src.high * p->s.groups * p->rows + u->row) * plane +
                    y * p->out_w + x * sx + u->x;

        q += len;
        if (y >= p->out_h)
            continue;
        for (int64_t r = 0; r < rows; r++, from += GEMM_NR, to += plane)
            for (int64_t i = 0; i < good; i++)
                to[i * sx] = from[i];
    }
}

/* Tiles lo..hi-1 of the unit times the packed block that begins at channel c0. */
static void multiply(const unit *u, int64_t lo, int64_t hi, int64_t c0, int64_t c1)
{
    const conv_plan *p = u->p;
    static const int64_t zero;
    int64_t begin = u->b->tap_begin[u->q], taps = u->b->tap_begin[u->q + 1] - begin;
    gemm_tile t = {.k = (c1 - c0) * taps,
                   .batch = 1,
                   .a_off = &zero,
                   .b_off = &zero,
                   .a_m = 1,
                   .b_k = GEMM_NR,
                   .add = c0 > 0};

    for (int64_t m = lo; m < hi; m++) {
        int64_t rows = tile_rows(p, u->row / p->tile + m);

        t.a_k = rows;
        t.a = u->weights + m * p->taps * p->depth * p->tile + (begin * p->depth + c0 * taps) * rows;
        t.row_bias = u->bias ? u->bias + u->row + m * p->tile : NULL;
        for (int64_t col = 0; col < u->cols; col += GEMM_NR) {
            gemm_tile_ahead(&t, t.a,
                            p->taps * p->depth * p->tile + rows * t.k * (col / GEMM_NR) / p->panels,
                            rows / p->panels + 1);
            t.b = u->packed + (p->shared ? c0 * taps * p->panels * GEMM_NR : 0) + col * t.k;
            t.c = panel_place(u, col, &t.c_m) + m * p->tile * t.c_m;
            gemm_tile_run(&t, (int)rows, (int)conv_min(GEMM_NR, u->cols - col));
        }
    }
}

static void run_phase(const unit *u)
{
    const conv_plan *p = u->p;
    int64_t taps = u->b->tap_begin[u->q + 1] - u->b->tap_begin[u->q], c0 = 0;

    do {
        int64_t c1 = conv_min(c0 + p->block, p->depth);

        for (int64_t col = 0; !p->shared && col < u->cols; col += GEMM_NR)
            pack_panel(u, col, c0, c1, u->packed + col * (c1 - c0) * taps);
        for (int64_t m = 0; m < u->tiles; m += p->cached)
            multiply(u, m, conv_min(m + p->cached, u->tiles), c0, c1);
        c0 = c1;
    } while (c0 < p->depth);
    for (int64_t col = 0; col < u->cols; col += GEMM_NR)
        if (!in_place(u, col))
            scatter(u, col);
}

/* The strip of a unit, and the memory of its packed blocks when they are shared. */
static unit strip_unit(const conv_plan *p, const space *b, int64_t g, int64_t strip, float *work)
{
    unit u = {.p = p, .b = b, .first = strip * p->strip, .packed = b->packed};

    u.lines = conv_min(p->strip, p->s.n * p->src.high - u.first);
    u.cols = u.lines * p->wide;
    if (p->shared)
        u.packed = work + work_weights(p) + (g * p->strips + strip) * strip_packed(p);
    return u;
}

/* One block of a strip that many units will multiply. */
static void pack_shared(const conv_plan *p, const space *b, const float *source, int64_t index,
                        float *work)
{
    int64_t block = index % p->blocks, strip = index / p->blocks % p->strips;
    int64_t g = index / p->blocks / p->strips, c0 = block * p->block;
    int64_t n = conv_min(p->block, p->depth - c0);
    unit u = strip_unit(p, b, g, strip, work);
    float *to = u.packed + c0 * p->taps * p->panels * GEMM_NR;

    u.source = conv_take(&p->src, source + (g * p->depth + c0) * p->src.h * p->src.w, n, u.first,
                         u.lines, b->line_at, b->source);
    for (int64_t col = 0; col < u.cols; col += GEMM_NR)
        pack_panel(&u, col, 0, n, to + col * n * p->taps);
}

static void run_unit(const conv_plan *p, const space *b, void *const *buf, int64_t index,
                     float *work)
{
    int64_t part = index % p->m_parts, strip = index / p->m_parts % p->strips;
    int64_t g = index / p->m_parts / p->strips, plane = p->out_h * p->out_w;
    const float *bias = p->backward ? NULL : buf[2];
    unit u = strip_unit(p, b, g, strip, work);

    u.row = part * p->m_tiles * p->tile;
    u.bias = bias ? bias + g * p->rows : NULL;
    u.out = (float *)buf[p->backward ? 2 : 3] + g * p->rows * plane;
    u.tiles = conv_min(p->m_tiles, p->tiles - part * p->m_tiles);
    u.weights = work + (g * p->tiles + part * p->m_tiles) * p->taps * p->depth * p->tile;
    if (!p->shared)
        u.source = conv_take(&p->src, (const float *)buf[0] + g * p->depth * p->src.h * p->src.w,
                             p->depth, u.first, u.lines, b->line_at, b->source);
    for (u.y = 0; u.y < conv_min(p->out_split[0], p->out_h); u.y++)
        for (u.x = 0; u.x < conv_min(p->out_split[1], p->out_w); u.x++, u.q++)
            run_phase(&u);
}

/* Forward: x, w, bias, y. Backward: dy, w, dx. */
static void conv_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                     void *scratch, void *work)
{
    const conv_plan *p = c->plan;
    space b;

    if (p->winograd) {
        winograd_run(&p->w,
                     (void *const[]){buf[0], buf[1], p->backward ? NULL : buf[2], buf[c->n_in]},
                     phase, lo, hi, scratch, work);
        return;
    }
    b = space_lay(p, scratch);
    find_taps(p, &b);
    for (int64_t u = lo; u < hi; u++) {
        if (phase == 0)
            pack_weights(p, &b, buf[1], work, u);
        else if (phase < c->phases - 1)
            pack_shared(p, &b, buf[0], u, work);
        else
            run_unit(p, &b, buf, u, work);
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
