/* SPDX-License-Identifier: Apache-2.0 */
/* f32 matrix multiplication: C[m,n] = sum over k of A[m,k] B[k,n].

   One building block does all contractions: a batch-reduce micro-kernel (Georganas et al.,
   "High-Performance Deep Learning via a Single Building Block"), which keeps one tile of C in
   registers while it sums products of A and B blocks that lie anywhere. Each element of C is one
   chain of multiply-adds in the order of k, whatever the blocking, so results depend on neither
   cache sizes nor threads. */
#ifndef CPU_GEMM_H
#define CPU_GEMM_H

#include "cpu/kernel.h"
#include "cpu/vec/vec.h"

/* The register tile: GEMM_MR rows of GEMM_NV vectors. */
#if defined(INGOT_ISA_avx512)
#define GEMM_MR 14
#elif defined(INGOT_ISA_avx2)
#define GEMM_MR 6
#elif defined(INGOT_ISA_neon)
#define GEMM_MR 8
#else
#define GEMM_MR 4
#endif
#define GEMM_NV 2
#define GEMM_NR (GEMM_NV * VF32_LANES)

/* One tile of C: sum over batch entries i, and over k within each, of A_i B_i. */
typedef struct gemm_tile {
    int64_t k, batch;
    const int64_t *a_off, *b_off; /* where entry i begins, in elements from a and b */
    const float *a;
    int64_t a_m, a_k; /* strides of A in elements */
    const float *b;
    int64_t b_k; /* rows of B; whole vectors are read: up to GEMM_NR elements from a row's start */
    float *c;
    int64_t c_m;           /* rows of C; columns are contiguous */
    const float *row_bias; /* a value for each row, from which its sums start, or NULL */
    bool add;              /* C += instead of C = ; then row_bias is ignored */
    /* What is needed soon is fetched at ahead + ahead_k p for step p of k. An address in bytes and
       no pointer, since it may run past the end of what it was taken from; 0: nothing. */
    uintptr_t ahead, ahead_k;
} gemm_tile;

/* Step p of the tile's next run asks for from[start + step p], which may be outside of from. */
static inline void gemm_tile_ahead(gemm_tile *t, const float *from, int64_t start, int64_t step)
{
    t->ahead = (uintptr_t)from + sizeof(float) * (uintptr_t)start;
    t->ahead_k = sizeof(float) * (uintptr_t)step;
}

#define gemm_tile_run  ISA_FN(gemm_tile_run)
#define gemm_pack_a    ISA_FN(gemm_pack_a)
#define gemm_pack_b    ISA_FN(gemm_pack_b)
#define gemm_plan_f32  ISA_FN(gemm_plan_f32)
#define gemm_pack      ISA_FN(gemm_pack)
#define gemm_pack_rows ISA_FN(gemm_pack_rows)
#define gemm_unit      ISA_FN(gemm_unit)

/* 1 <= m <= GEMM_MR rows, 1 <= n <= GEMM_NR columns; exactly those of C are touched. */
void gemm_tile_run(const gemm_tile *t, int m, int n);

/* Packs m <= GEMM_MR rows of A, k deep, as dst[k][m]. */
void gemm_pack_a(float *dst, const float *a, int64_t a_m, int64_t a_k, int m, int64_t k);
/* Packs n <= GEMM_NR columns of B, k deep, as dst[k][GEMM_NR], zeros in the columns beyond n. */
void gemm_pack_b(float *dst, const float *b, int64_t b_k, int64_t b_n, int n, int64_t k);

/* How one matrix product is cut. The split depends on the sizes alone. */
typedef struct gemm_plan {
    int64_t m, n, k;
    int64_t a_m, a_k, b_k, b_n; /* strides in elements */
    int64_t mc, nc, kc;         /* block sizes */
    int64_t mb, nb;             /* units: mb * nb blocks of C */
    int64_t panels;             /* of B, GEMM_NR columns each */
    int64_t tile, tiles;        /* rows of a tile of C, nearly GEMM_MR; how many there are */
    bool pack_a, pack_b;
    bool share_a;    /* A is packed whole beforehand, for it serves several columns of units */
    size_t packed;   /* elements of B when packed whole (pack_b) */
    size_t packed_a; /* of A (share_a) */
    size_t scratch;
} gemm_plan;

/* Fills mc and all below from the sizes, the strides and the number of products that will run
   beside each other. */
void gemm_plan_f32(gemm_plan *p, const machine *mach, int64_t products);
/* Panels lo..hi-1 of B into packed, when pack_b. */
void gemm_pack(const gemm_plan *p, const float *b, float *packed, int64_t lo, int64_t hi);
/* Row tiles lo..hi-1 of A into packed, when share_a. */
void gemm_pack_rows(const gemm_plan *p, const float *a, float *packed, int64_t lo, int64_t hi);
/* Unit u of mb * nb; b is the packed form when pack_b, a when share_a. */
void gemm_unit(const gemm_plan *p, const float *a, const float *b, float *c, int64_t u,
               void *scratch);

#endif
