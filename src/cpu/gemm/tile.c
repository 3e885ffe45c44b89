/* SPDX-License-Identifier: Apache-2.0 */
/* The micro-kernel: one body, instantiated for each number of rows and of vectors, and for A with
   contiguous rows (packed) or strided ones. */
#include "cpu/gemm/gemm.h"

static VEC_FORCE_INLINE vf32 load_c(const float *p, int n)
{
    return n >= VF32_LANES ? vf32_load(p) : vf32_load_n(p, n);
}

static VEC_FORCE_INLINE void store_c(float *p, vf32 x, int n)
{
    if (n >= VF32_LANES)
        vf32_store(p, x);
    else
        vf32_store_n(p, x, n);
}

/* NOLINTBEGIN(readability-function-cognitive-complexity): one body for all, unrolled by constants
 */
/* rows, vecs and unit are constants at every call; n counts the columns of the last vector. */
static VEC_FORCE_INLINE void tile_body(const gemm_tile *t, const int rows, const int vecs,
                                       const bool unit, int n)
{
    vf32 acc[GEMM_MR][GEMM_NV];
    const int64_t a_m = unit ? 1 : t->a_m, a_k = t->a_k, b_k = t->b_k;

    /* C may be far away and its rows far apart: ask for them before the sums, not after. */
    for (int i = 0; i < rows; i++) {
        __builtin_prefetch(t->c + i * t->c_m, 1);
        __builtin_prefetch(t->c + i * t->c_m + (vecs - 1) * VF32_LANES + n - 1, 1);
    }
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            acc[i][v] =
                t->add ? load_c(t->c + i * t->c_m + v * VF32_LANES, v == vecs - 1 ? n : VF32_LANES)
                : t->row_bias ? vf32_set1(t->row_bias[i])
                              : vf32_zero();
    for (int64_t e = 0; e < t->batch; e++) {
        /* Rows in groups of four, reached as base, base + a_m, base + 2 a_m, base + 3 a_m. */
        const float *a0 = t->a + t->a_off[e], *a1 = rows > 4 ? a0 + 4 * a_m : a0;
        const float *a2 = rows > 8 ? a0 + 8 * a_m : a0, *a3 = rows > 12 ? a0 + 12 * a_m : a0;
        const float *b = t->b + t->b_off[e];
        uintptr_t ahead = t->ahead ? t->ahead : (uintptr_t)b;

        VEC_UNROLL_4
        for (int64_t p = t->k; p > 0; p--) {
            vf32 bv[GEMM_NV];

            for (int v = 0; v < vecs; v++)
                bv[v] = vf32_load(b + v * VF32_LANES);
            for (int i = 0; i < rows; i++) {
                const float *g = i < 4 ? a0 : i < 8 ? a1 : i < 12 ? a2 : a3;
                vf32 av = vf32_set1(g[(i & 3) * a_m]);

                for (int v = 0; v < vecs; v++)
                    acc[i][v] = vf32_fma(av, bv[v], acc[i][v]);
            }
            __builtin_prefetch((const void *)ahead, 0, 2);
            ahead += t->ahead_k;
            a0 += a_k;
            a1 += a_k;
            a2 += a_k;
            a3 += a_k;
            b += b_k;
        }
    }
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            store_c(t->c + i * t->c_m + v * VF32_LANES, acc[i][v], v == vecs - 1 ? n : VF32_LANES);
}

/* NOLINTEND(readability-function-cognitive-complexity) */

typedef void (*tile_fn)(const gemm_tile *t, int n);

#define TILE_ROWS(X) \
    X(1)             \
    X(2)             \
    X(3)             \
    X(4)
#if GEMM_MR > 4
#define TILE_ROWS_6(X) X(5) X(6)
#else
#define TILE_ROWS_6(X)
#endif
#if GEMM_MR > 6
#define TILE_ROWS_8(X) X(7) X(8)
#else
#define TILE_ROWS_8(X)
#endif
#if GEMM_MR > 8
#define TILE_ROWS_14(X) X(9) X(10) X(11) X(12) X(13) X(14)
#else
#define TILE_ROWS_14(X)
#endif
#define TILE_ALL(X) TILE_ROWS(X) TILE_ROWS_6(X) TILE_ROWS_8(X) TILE_ROWS_14(X)

#define TILE_FN(rows)                                     \
    static void tile_p1_##rows(const gemm_tile *t, int n) \
    {                                                     \
        tile_body(t, rows, 1, true, n);                   \
    }                                                     \
    static void tile_p2_##rows(const gemm_tile *t, int n) \
    {                                                     \
        tile_body(t, rows, 2, true, n);                   \
    }                                                     \
    static void tile_s1_##rows(const gemm_tile *t, int n) \
    {                                                     \
        tile_body(t, rows, 1, false, n);                  \
    }                                                     \
    static void tile_s2_##rows(const gemm_tile *t, int n) \
    {                                                     \
        tile_body(t, rows, 2, false, n);                  \
    }
TILE_ALL(TILE_FN)

#define TILE_ROW(rows) {{tile_s1_##rows, tile_s2_##rows}, {tile_p1_##rows, tile_p2_##rows}},

static const tile_fn tile_table[GEMM_MR][2][GEMM_NV] = {TILE_ALL(TILE_ROW)};

void gemm_tile_run(const gemm_tile *t, int m, int n)
{
    int last = n > VF32_LANES; /* GEMM_NV is 2 */

    tile_table[m - 1][t->a_m == 1][last](t, n - last * VF32_LANES);
}
