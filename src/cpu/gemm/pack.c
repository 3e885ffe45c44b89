/* SPDX-License-Identifier: Apache-2.0 */
/* Packing: A and B in the order in which the micro-kernel reads them. */
#include "cpu/gemm/gemm.h"

/* dst[k][m] from rows that are contiguous along k: squares are transposed in registers. */
static void pack_a_rows(float *dst, const float *a, int64_t a_m, int m, int64_t k)
{
    for (int i0 = 0; i0 < m; i0 += VF32_LANES) {
        int rows = m - i0 < VF32_LANES ? m - i0 : VF32_LANES;
        const float *src = a + i0 * a_m;

        for (int64_t p = 0; p < k; p += VF32_LANES) {
            int depth = k - p < VF32_LANES ? (int)(k - p) : VF32_LANES;
            vf32 r[VF32_LANES];

            for (int i = 0; i < VF32_LANES; i++)
                r[i] = i < rows ? vf32_load_n(src + i * a_m + p, depth) : vf32_zero();
            vf32_transpose(r);
            for (int q = 0; q < depth; q++) {
                float *to = dst + (p + q) * m + i0;

                /* a whole store is faster than a masked one; what it writes too far is the next
                   depth's, which follows */
                if (rows == m && 2 * m >= VF32_LANES && p + q + 2 < k)
                    vf32_store(to, r[q]);
                else
                    vf32_store_n(to, r[q], rows);
            }
        }
    }
}

void gemm_pack_a(float *dst, const float *a, int64_t a_m, int64_t a_k, int m, int64_t k)
{
    if (a_k == 1) {
        pack_a_rows(dst, a, a_m, m, k);
    } else if (a_m == 1) {
        for (int64_t p = 0; p < k; p++)
            for (int i = 0; i < m; i += VF32_LANES) {
                int n = m - i < VF32_LANES ? m - i : VF32_LANES;
                vf32_store_n(dst + p * m + i, vf32_load_n(a + p * a_k + i, n), n);
            }
    } else {
        for (int64_t p = 0; p < k; p++)
            for (int i = 0; i < m; i++)
                dst[p * m + i] = a[i * a_m + p * a_k];
    }
}

/* One vector of columns, which are contiguous along k. */
static void pack_b_columns(float *dst, const float *b, int64_t b_n, int n, int64_t k)
{
    for (int64_t p = 0; p < k; p += VF32_LANES) {
        int depth = k - p < VF32_LANES ? (int)(k - p) : VF32_LANES;
        vf32 r[VF32_LANES];

        for (int i = 0; i < VF32_LANES; i++)
            r[i] = i < n ? vf32_load_n(b + i * b_n + p, depth) : vf32_zero();
        vf32_transpose(r);
        for (int q = 0; q < depth; q++)
            vf32_store(dst + (p + q) * GEMM_NR, r[q]);
    }
}

void gemm_pack_b(float *dst, const float *b, int64_t b_k, int64_t b_n, int n, int64_t k)
{
    for (int v = 0; v < GEMM_NV; v++, dst += VF32_LANES, b += VF32_LANES * b_n, n -= VF32_LANES) {
        int cols = n < 0 ? 0 : n > VF32_LANES ? VF32_LANES : n;

        if (cols == 0) {
            for (int64_t p = 0; p < k; p++)
                vf32_store(dst + p * GEMM_NR, vf32_zero());
        } else if (b_n == 1 && cols == VF32_LANES) {
            for (int64_t p = 0; p < k; p++)
                vf32_store(dst + p * GEMM_NR, vf32_load(b + p * b_k));
        } else if (b_n == 1) {
            for (int64_t p = 0; p < k; p++)
                vf32_store(dst + p * GEMM_NR, vf32_load_n(b + p * b_k, cols));
        } else if (b_k == 1) {
            pack_b_columns(dst, b, b_n, cols, k);
        } else {
            for (int64_t p = 0; p < k; p++)
                for (int i = 0; i < VF32_LANES; i++)
                    dst[p * GEMM_NR + i] = i < cols ? b[p * b_k + i * b_n] : 0.0f;
        }
    }
}
