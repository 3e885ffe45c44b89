/* SPDX-License-Identifier: Apache-2.0 */
/* The geometry of a convolution, as the plans of its three kernels read it. */
#ifndef CPU_KERNELS_CONV_SHAPE_H
#define CPU_KERNELS_CONV_SHAPE_H

#include "cpu/gemm/gemm.h"

#include <string.h>

typedef struct conv_shape {
    int64_t n, groups, c, o; /* c, o: of one group */
    int64_t h, w, kh, kw, oh, ow;
    int64_t stride[2], dilation[2], before[2];
} conv_shape;

static inline void conv_pair(const kcall *k, const char *name, int64_t out[2])
{
    ints a = kcall_ints(k, name);

    for (int i = 0; i < 2; i++) {
        int64_t v = a.n == 0 ? 0 : a.v[a.n == 1 ? 0 : i];
        out[i] = v ? v : 1;
    }
}

/* x [N, C, H, W], w [O, C / groups, kh, kw], y [N, O, OH, OW]. */
static inline conv_shape conv_shape_of(const kcall *k, const type *x, const type *w, const type *y)
{
    conv_shape s = {.n = x->dim[0], .h = x->dim[2], .w = x->dim[3]};
    int64_t groups = kcall_int(k, "groups");
    ints pad = kcall_ints(k, "padding");

    s.groups = groups ? groups : 1;
    s.c = w->dim[1];
    s.o = w->dim[0] / s.groups;
    s.kh = w->dim[2];
    s.kw = w->dim[3];
    s.oh = y->dim[2];
    s.ow = y->dim[3];
    conv_pair(k, "stride", s.stride);
    conv_pair(k, "dilation", s.dilation);
    for (int i = 0; i < 2; i++)
        s.before[i] = pad.n == 0 ? 0 : pad.v[pad.n == 1 ? 0 : i];
    return s;
}

static inline int64_t conv_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t conv_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t conv_cut(int64_t n, int64_t by)
{
    return n / by + (n % by != 0);
}

/* A source picture with its border, cut into stride x stride phases: phase (a, b) holds the
   elements (y, x) = (i stride + a, j stride + b) of the bordered picture. A window's tap then reads
   a row of output columns from consecutive elements, whatever the stride. */
typedef struct conv_planes {
    int64_t h, w;         /* of the source */
    int64_t split[2];     /* the stride */
    int64_t before[2];    /* border above and to the left */
    int64_t rows, width;  /* of a phase */
    int64_t phases, step; /* planes of a channel; elements from channel to channel */
} conv_planes;

/* Off powers of two, so that channels don't meet in one set of the cache. */
static inline void conv_planes_step(conv_planes *p)
{
    p->phases = p->split[0] * p->split[1];
    p->step = conv_cut(p->phases * p->rows * p->width, 16) * 16;
    if (p->step / 16 % 2 == 0)
        p->step += 16;
}

/* One row of a phase, from source row y (may be outside) and phase column b. */
static inline void conv_fill_row(const conv_planes *p, const float *src, int64_t y, int64_t b,
                                 float *to)
{
    int64_t s = p->split[1], x0 = b - p->before[1];
    int64_t lo, hi; /* columns j with 0 <= j s + x0 < w */

    if (y < 0 || y >= p->h) {
        memset(to, 0, (size_t)p->width * sizeof *to);
        return;
    }
    lo = x0 < 0 ? conv_min(conv_cut(-x0, s), p->width) : 0;
    hi = x0 < p->w ? conv_min(conv_cut(p->w - x0, s), p->width) : 0;
    hi = conv_max(hi, lo);
    src += y * p->w + x0;
    memset(to, 0, (size_t)lo * sizeof *to);
    if (s == 1)
        memcpy(to + lo, src + lo, (size_t)(hi - lo) * sizeof *to);
    else
        for (int64_t j = lo; j < hi; j++)
            to[j] = src[j * s];
    memset(to + hi, 0, (size_t)(p->width - hi) * sizeof *to);
}

/* `channels` planes from row `first` of the phases on. */
static inline void conv_fill(const conv_planes *p, const float *src, int64_t channels,
                             int64_t first, float *to)
{
    for (int64_t c = 0; c < channels; c++, src += p->h * p->w, to += p->step)
        for (int64_t a = 0; a < p->split[0]; a++)
            for (int64_t b = 0; b < p->split[1]; b++) {
                float *plane = to + (a * p->split[1] + b) * p->rows * p->width;

                for (int64_t i = 0; i < p->rows; i++)
                    conv_fill_row(p, src, (first + i) * p->split[0] + a - p->before[0], b,
                                  plane + i * p->width);
            }
}

#endif
