/* SPDX-License-Identifier: Apache-2.0 */
/* The geometry of a convolution and its bordered source, as the plans of its kernels read them. */
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

/* A window of one element that moves by one over a picture without border: output positions are
   the source's own. */
static inline bool conv_pointwise(const conv_shape *s)
{
    return s->kh == 1 && s->kw == 1 && s->stride[0] == 1 && s->stride[1] == 1 &&
           s->before[0] == 0 && s->before[1] == 0 && s->oh == s->h && s->ow == s->w;
}

/* Source pictures with their border, cut into stride x stride phases: phase (a, b) holds the
   elements (y, x) = (i stride + a, j stride + b) of the bordered picture. A window's tap then reads
   a line of output columns from consecutive elements, whatever the stride. Lines are counted over
   all images: line l serves line l % high of the output of image l / high. */
typedef struct conv_source {
    int64_t h, w;        /* of a picture */
    int64_t image;       /* elements from image to image */
    int64_t split[2];    /* the stride */
    int64_t phases[2];   /* that some tap reads, of those */
    int64_t before[2];   /* border above and to the left */
    int64_t high, halo;  /* lines of an image's output; lines that a run of them needs beyond */
    int64_t rows, width; /* of a phase */
    int64_t step;        /* elements from channel to channel */
    bool direct;         /* nothing is copied: the pictures are read in place */
} conv_source;

/* The taps of a window fall into phases 0 .. n - 1: n. */
static inline int64_t conv_phases(int64_t taps, int64_t dilation, int64_t stride)
{
    int64_t n = 0;

    for (int64_t k = 0; k < taps && n < stride; k++)
        n = conv_max(n, k * dilation % stride + 1);
    return n;
}

/* Lines of a source that serve `lines` lines of output: images are bordered one by one. */
static inline int64_t conv_source_lines(const conv_source *s, int64_t lines)
{
    return lines + s->halo * (conv_cut(lines - 1, s->high) + 1);
}

/* Makes room for `lines` lines of output of `channels` channels; returns the elements of a copy.
   Channels lie off powers of two, so that they don't meet in one set of the cache, and whole
   vectors may be read behind the last element. */
static inline int64_t conv_source_lay(conv_source *s, int64_t lines, int64_t channels)
{
    if (s->direct) {
        s->step = s->h * s->w;
        return 0;
    }
    s->rows = conv_source_lines(s, lines);
    s->step = conv_cut(s->phases[0] * s->phases[1] * s->rows * s->width, 16) * 16;
    if (s->step / 16 % 2 == 0)
        s->step += 16;
    return conv_cut(channels * s->step + s->width + 2 * GEMM_NR, 16) * 16;
}

static VEC_FORCE_INLINE void conv_copy(float *to, const float *from, int64_t n)
{
    int64_t i = 0;

    for (; i + VF32_LANES <= n; i += VF32_LANES)
        vf32_store(to + i, vf32_load(from + i));
    if (i < n)
        vf32_store_n(to + i, vf32_load_n(from + i, (int)(n - i)), (int)(n - i));
}

static VEC_FORCE_INLINE void conv_zero(float *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = 0.0f;
}

/* One line of a phase, from source row y (may be outside) and phase column b. */
static inline void conv_fill_line(const conv_source *p, const float *src, int64_t y, int64_t b,
                                  float *to)
{
    int64_t s = p->split[1], x0 = b - p->before[1];
    int64_t lo, hi; /* columns j with 0 <= j s + x0 < w */

    if (y < 0 || y >= p->h) {
        conv_zero(to, p->width);
        return;
    }
    lo = x0 < 0 ? conv_min(conv_cut(-x0, s), p->width) : 0;
    hi = x0 < p->w ? conv_min(conv_cut(p->w - x0, s), p->width) : 0;
    hi = conv_max(hi, lo);
    src += y * p->w + x0;
    conv_zero(to, lo);
    if (s == 1)
        conv_copy(to + lo, src + lo, hi - lo);
    else if (s == 2)
        for (int64_t j = lo; j < hi; j += VF32_LANES) {
            int n = (int)conv_min(VF32_LANES, hi - j);

            vf32_store_n(to + j, vf32_load_even_n(src + j * 2, n), n);
        }
    else
        for (int64_t j = lo; j < hi; j++)
            to[j] = src[j * s];
    conv_zero(to + hi, p->width - hi);
}

/* `lines` lines of one image from line `first` of the phases on, to line `at` of the copy. */
static inline void conv_fill(const conv_source *p, const float *src, int64_t channels,
                             int64_t first, int64_t lines, int64_t at, float *to)
{
    for (int64_t c = 0; c < channels; c++, src += p->h * p->w, to += p->step)
        for (int64_t a = 0; a < p->phases[0]; a++)
            for (int64_t b = 0; b < p->phases[1]; b++) {
                float *plane = to + ((a * p->phases[1] + b) * p->rows + at) * p->width;

                for (int64_t i = 0; i < lines; i++)
                    conv_fill_line(p, src, (first + i) * p->split[0] + a - p->before[0], b,
                                   plane + i * p->width);
            }
}

/* What `lines` lines of output from line `first` on read: copied to `copy`, or in place. src is the
   first of the channels in the first image; line_at[i] tells where the i-th line begins in what is
   returned. */
static inline const float *conv_take(const conv_source *p, const float *src, int64_t channels,
                                     int64_t first, int64_t lines, int64_t *line_at, float *copy)
{
    for (int64_t l = 0, at = 0; l < lines;) {
        int64_t image = (first + l) / p->high, y = (first + l) % p->high;
        int64_t count = conv_min(lines - l, p->high - y);

        if (!p->direct)
            conv_fill(p, src + image * p->image, channels, y, count + p->halo, at, copy);
        for (int64_t i = 0; i < count; i++)
            line_at[l + i] = p->direct ? image * p->image + (y + i) * p->w : (at + i) * p->width;
        l += count;
        at += count + p->halo;
    }
    return p->direct ? src : copy;
}

#endif
