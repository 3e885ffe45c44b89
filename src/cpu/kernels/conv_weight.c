/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of conv2d to its weight, f32: for each tap a product [channels, positions] x
   [positions, outputs]. The positions are counted over the bordered width of the source, as in
   conv.c; the output's gradient is packed with zeros where they lie in the border. Images are
   summed in a fixed number of parts, which are then added up in order. */
#include "cpu/kernels/conv_shape.h"

#define WEIGHT_PARTS      32
#define WEIGHT_WORK_BYTES ((int64_t)64 << 20) /* of all parts, about */
#define WEIGHT_DEPTH      384                 /* positions at a time: their gradient stays in L1 */

typedef struct weight_plan {
    conv_shape s;
    conv_planes src;
    int64_t parts, panels, size; /* size: elements of a group's weights */
    int64_t positions, source;   /* source: scratch elements of the bordered picture */
    bool along_w; /* a tile's rows are taps of a row of the window instead of channels */
} weight_plan;

static bool conv2d_backward_weight_plan(kcall *c, error *e)
{
    weight_plan *p = c->plan;
    conv_shape *s = &p->s;

    (void)e;
    *s = conv_shape_of(c, &c->in[1], &c->out[0], &c->in[0]);
    p->src = (conv_planes){.h = s->h, .w = s->w};
    for (int i = 0; i < 2; i++) {
        p->src.split[i] = s->stride[i];
        p->src.before[i] = s->before[i];
    }
    p->src.rows = s->oh + (s->kh - 1) * s->dilation[0] / s->stride[0];
    p->src.width = s->ow + (s->kw - 1) * s->dilation[1] / s->stride[1];
    conv_planes_step(&p->src);
    p->along_w = s->c < conv_min(s->kw, GEMM_MR) && s->stride[1] == 1;
    p->size = s->o * s->c * s->kh * s->kw;
    p->panels = conv_cut(s->o, GEMM_NR);
    p->parts = conv_min(s->n, WEIGHT_PARTS);
    p->parts = conv_min(p->parts, WEIGHT_WORK_BYTES / (4 * p->size * s->groups + 1));
    p->parts = conv_max(p->parts, 1);
    p->positions = s->oh && s->ow ? (s->oh - 1) * p->src.width + s->ow : 0;
    p->source = conv_cut(s->c * p->src.step + GEMM_NR, 16) * 16;
    c->phases = 2;
    c->units[0] = s->groups * p->parts * p->panels;
    c->units[1] = s->groups * s->o;
    c->grain[1] = 1 + 4096 / (p->parts * s->c * s->kh * s->kw + 1);
    c->work = (size_t)(p->parts * s->groups * p->size) * sizeof(float);
    c->scratch = (size_t)(p->source + p->positions * GEMM_NR) * sizeof(float);
    return true;
}

/* dy of NR outputs from `first` on as [position][output], zeros in the border. */
static void pack_gradient(const weight_plan *p, const float *dy, int64_t first, float *to)
{
    const conv_shape *s = &p->s;
    int64_t outs = conv_min(GEMM_NR, s->o - first), plane = s->oh * s->ow;
    int64_t gap = p->src.width - s->ow;

    for (int64_t i = 0; i < s->oh; i++) {
        gemm_pack_b(to, dy + first * plane + i * s->ow, 1, plane, (int)outs, s->ow);
        to += s->ow * GEMM_NR;
        if (i + 1 < s->oh) {
            memset(to, 0, (size_t)(gap * GEMM_NR) * sizeof *to);
            to += gap * GEMM_NR;
        }
    }
}

/* Where tap (i, j) begins in a channel's planes. */
static int64_t tap_offset(const weight_plan *p, int64_t i, int64_t j)
{
    const conv_shape *s = &p->s;
    int64_t y = i * s->dilation[0], x = j * s->dilation[1];
    int64_t phase = y % s->stride[0] * s->stride[1] + x % s->stride[1];

    return (phase * p->src.rows + y / s->stride[0]) * p->src.width + x / s->stride[1];
}

/* Adds the products of one image; part: [tap][channel][output] of the group. */
static void add_image(const weight_plan *p, const float *source, const float *gradient,
                      int64_t first, bool add, float *part)
{
    const conv_shape *s = &p->s;
    static const int64_t zero;
    int64_t outs = conv_min(GEMM_NR, s->o - first);
    int64_t lines = p->along_w ? s->kw : s->c, others = p->along_w ? s->c : s->kw;
    gemm_tile t = {.batch = 1,
                   .a_off = &zero,
                   .b_off = &zero,
                   .a_m = p->along_w ? s->dilation[1] : p->src.step,
                   .a_k = 1,
                   .b_k = GEMM_NR,
                   .c_m = (p->along_w ? s->c : 1) * s->o};

    for (int64_t at = 0; at < p->positions; at += WEIGHT_DEPTH) {
        t.k = conv_min(WEIGHT_DEPTH, p->positions - at);
        t.b = gradient + at * GEMM_NR;
        t.add = add || at > 0;
        for (int64_t i = 0; i < s->kh; i++)
            for (int64_t k = 0; k < others; k++)
                for (int64_t m = 0; m < lines; m += GEMM_MR) {
                    int64_t j = p->along_w ? m : k, ch = p->along_w ? k : m;

                    t.a = source + ch * p->src.step + tap_offset(p, i, j) + at;
                    t.c = part + ((i * s->kw + j) * s->c + ch) * s->o + first;
                    gemm_tile_run(&t, (int)conv_min(GEMM_MR, lines - m), (int)outs);
                }
    }
}

static void run_part(const weight_plan *p, const float *dy, const float *x, int64_t unit,
                     float *scratch, float *work)
{
    const conv_shape *s = &p->s;
    int64_t panel = unit % p->panels, part = unit / p->panels % p->parts;
    int64_t g = unit / p->panels / p->parts;
    int64_t from = part * s->n / p->parts, to = (part + 1) * s->n / p->parts;
    float *sums = work + (part * s->groups + g) * p->size;

    if (from == to || p->positions == 0) { /* no image: zeros of this panel's outputs */
        for (int64_t k = 0; k < s->kh * s->kw * s->c; k++)
            memset(sums + k * s->o + panel * GEMM_NR, 0,
                   (size_t)conv_min(GEMM_NR, s->o - panel * GEMM_NR) * sizeof *sums);
        return;
    }
    memset(scratch + s->c * p->src.step, 0,
           (size_t)(p->source - s->c * p->src.step) * sizeof *scratch);
    for (int64_t n = from; n < to; n++) {
        conv_fill(&p->src, x + (n * s->groups + g) * s->c * s->h * s->w, s->c, 0, scratch);
        pack_gradient(p, dy + (n * s->groups + g) * s->o * s->oh * s->ow, panel * GEMM_NR,
                      scratch + p->source);
        add_image(p, scratch, scratch + p->source, panel * GEMM_NR, n > from, sums);
    }
}

/* The weights of one output channel, from [tap][channel][output] of every part. */
static void combine(const weight_plan *p, const float *work, float *dw, int64_t unit)
{
    const conv_shape *s = &p->s;
    int64_t g = unit / s->o, o = unit % s->o, taps = s->kh * s->kw;

    dw += unit * s->c * taps;
    for (int64_t c = 0; c < s->c; c++)
        for (int64_t t = 0; t < taps; t++) {
            const float *from = work + g * p->size + (t * s->c + c) * s->o + o;
            float sum = from[0];

            for (int64_t part = 1; part < p->parts; part++)
                sum += from[part * s->groups * p->size];
            dw[c * taps + t] = sum;
        }
}

static void conv_weight_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                            void *scratch, void *work)
{
    const weight_plan *p = c->plan;

    for (int64_t u = lo; u < hi; u++) {
        if (phase == 0)
            run_part(p, buf[0], buf[1], u, scratch, work);
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
