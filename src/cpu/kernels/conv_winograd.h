/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 convolutions of stride 1 with fewer multiplications; see conv_winograd.c. */
#ifndef CPU_KERNELS_CONV_WINOGRAD_H
#define CPU_KERNELS_CONV_WINOGRAD_H

#include "cpu/kernels/conv_shape.h"

typedef struct winograd_plan {
    conv_shape s;
    bool backward;
    int64_t rows, depth;      /* channels of a group: of the output, of the source */
    int64_t h, w;             /* of the source's planes */
    int64_t out_h, out_w;     /* of the output's planes */
    int64_t before[2];        /* border above and to the left */
    int64_t high, wide;       /* patches of an image */
    int64_t strip, strips;    /* lines of patches of a unit, over all images; units along them */
    int64_t panels;           /* of GEMM_NR patches, in a unit */
    int64_t tile, tiles;      /* rows of a register tile, tiles of a group */
    int64_t m_tiles, m_parts; /* tiles of a unit, units along them */
} winograd_plan;

#define winograd_fits ISA_FN(winograd_fits)
#define winograd_make ISA_FN(winograd_make)
#define winograd_run  ISA_FN(winograd_run)

/* Whether the shape is one for it, and it is the faster way; fixed: the weights are transformed
   once. */
bool winograd_fits(const conv_shape *s, bool backward, bool fixed);
void winograd_make(kcall *c, winograd_plan *p, const conv_shape *s, bool backward);
/* As a kernel's run; buf: source, weights, bias or NULL, output. */
void winograd_run(const winograd_plan *p, void *const buf[4], int phase, int64_t lo, int64_t hi,
                  void *scratch, void *work);

#endif
