/* SPDX-License-Identifier: Apache-2.0 */
/* Block sizes and thresholds of the matrix product. Cache sizes come from the machine; these are
   the bounds, measured on Zen 4 and Sapphire Rapids with bench/gemm. None changes a result. */
#ifndef CPU_CONFIG_GEMM_H
#define CPU_CONFIG_GEMM_H

#define GEMM_KC_MIN 128 /* depth of a block */
#define GEMM_KC_MAX 320
#define GEMM_MC     112 /* rows of a unit, rounded up to whole tiles */
#define GEMM_NC     512 /* columns of a unit */

#define GEMM_UNITS     32    /* units wanted, where the work allows */
#define GEMM_UNIT_WORK 1.0e6 /* multiply-adds below which a unit is not cut further */

#define GEMM_PACK_B_TILES  4 /* B is packed when it serves more row tiles than this */
#define GEMM_PACK_A_PANELS 1 /* A is packed when it serves more panels than this */

#endif
