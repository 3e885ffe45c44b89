/* SPDX-License-Identifier: Apache-2.0 */
/* The families' row tables of one instruction set, in one NULL-ended array. */
#include "cpu/kernel.h"
#include "cpu/vec/vec.h"

#define FAMILY(name) extern const kernel_row ISA_FN(kernels_##name)[];
#include "cpu/families.inc"
#undef FAMILY

extern const kernel_row *const ISA_FN(kernel_families)[];

const kernel_row *const ISA_FN(kernel_families)[] = {
#define FAMILY(name) ISA_FN(kernels_##name),
#include "cpu/families.inc"
#undef FAMILY
    NULL,
};
