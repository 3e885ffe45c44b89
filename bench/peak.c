/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor's multiply-add units can do: chains in registers alone. Built for each
   instruction set. */
#include "cpu/vec/vec.h"

#define CHAINS 12

double ISA_FN(bench_peak)(int64_t rounds, float *sink);

/* Runs `rounds` of CHAINS fused multiply-adds; returns the number of operations. */
double ISA_FN(bench_peak)(int64_t rounds, float *sink)
{
    vf32 a[CHAINS], x = vf32_set1(0.999f), y = vf32_set1(1e-3f);

    for (int i = 0; i < CHAINS; i++)
        a[i] = vf32_set1((float)i);
    for (int64_t r = 0; r < rounds; r++)
        for (int i = 0; i < CHAINS; i++)
            a[i] = vf32_fma(a[i], x, y);
    for (int i = 1; i < CHAINS; i++)
        a[0] = vf32_add(a[0], a[i]);
    *sink += vf32_hsum(a[0]);
    return 2.0 * (double)rounds * CHAINS * VF32_LANES;
}
