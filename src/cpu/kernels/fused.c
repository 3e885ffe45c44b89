/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the loop engine: every pointwise op, reduction and fused region runs as this row. */
#include "cpu/loop/tile.h"

extern const kernel_row ISA_FN(kernels_fused)[];

const kernel_row ISA_FN(kernels_fused)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/fused.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
