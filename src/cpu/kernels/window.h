/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that slide over height and width, as convolution and pooling kernels see them. The
   attributes were checked when types were inferred. */
#ifndef CPU_KERNELS_WINDOW_H
#define CPU_KERNELS_WINDOW_H

#include "cpu/kernel.h"

/* Index 0 is height, 1 is width. */
typedef struct slide {
    int64_t in[2], out[2];
    int64_t kernel[2], stride[2], dilation[2];
    int64_t before[2], after[2]; /* padding */
} slide;

typedef struct span {
    int64_t lo, hi; /* lo <= hi; hi is beyond the last */
} span;

static inline int64_t slide_div_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

/* One (both) or two (height, width) entries; none or 0 = otherwise. */
static inline void slide_pair(ints a, const int64_t otherwise[2], int64_t out[2])
{
    for (int i = 0; i < 2; i++) {
        int64_t v = a.n ? a.v[a.n == 1 ? 0 : i] : 0;
        out[i] = v ? v : otherwise[i];
    }
}

/* Stride and padding of the call; kernel is set, dilation becomes 1. */
static inline void slide_read(slide *s, const kcall *c, const int64_t stride[2])
{
    ints p = kcall_ints(c, "padding");

    slide_pair(kcall_ints(c, "stride"), stride, s->stride);
    for (int i = 0; i < 2; i++) {
        s->dilation[i] = 1;
        s->before[i] = p.n ? p.v[p.n == 1 ? 0 : i] : 0;
        s->after[i] = p.n == 4 ? p.v[i + 2] : s->before[i];
    }
}

/* The outputs whose tap k along dimension d lies in the input, not in the padding. */
static inline span slide_outputs(const slide *s, int d, int64_t k)
{
    int64_t at = k * s->dilation[d] - s->before[d]; /* where output 0 looks */
    span r = {.lo = at < 0 ? slide_div_up(-at, s->stride[d]) : 0};

    r.hi = at < s->in[d] ? slide_div_up(s->in[d] - at, s->stride[d]) : 0;
    r.hi = r.hi > s->out[d] ? s->out[d] : r.hi;
    r.lo = r.lo > r.hi ? r.hi : r.lo;
    return r;
}

/* The taps of output o along dimension d that lie in the input. */
static inline span slide_taps(const slide *s, int d, int64_t o)
{
    int64_t at = o * s->stride[d] - s->before[d];
    span r = {.lo = at < 0 ? slide_div_up(-at, s->dilation[d]) : 0};

    r.hi = at < s->in[d] ? slide_div_up(s->in[d] - at, s->dilation[d]) : 0;
    r.hi = r.hi > s->kernel[d] ? s->kernel[d] : r.hi;
    r.lo = r.lo > r.hi ? r.hi : r.lo;
    return r;
}

#endif
