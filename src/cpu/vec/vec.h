/* SPDX-License-Identifier: Apache-2.0 */
/* One vector vocabulary, one header per instruction set. A kernel is written once on these names
   and compiled for each. Everything is static inline: an inline function with external linkage
   compiled for AVX-512 could be the copy that the linker keeps for all.

   Types: vf32 (VF32_LANES floats), vi32 (as many 32-bit integers), vm32 (as many truth values).

     vf32_zero set1 iota            0, x, {0, 1, 2, ...}
     vf32_load store                unaligned
     vf32_load_n store_n            the first n lanes, 0 <= n <= VF32_LANES; others load as 0 and
                                    are not touched in memory
     vf32_load_even_n(p, n)         p[0], p[2], ... in the first n lanes, others 0; nothing beyond
                                    p[2 n - 2] is touched
     vf32_deal(p, keep, n, to, next)  to[j next + i] = p[4 i + j] for j < 6 and i < n <= 7, or 0
   where bit 4 i + j of keep is 0: then p is not touched there vf32_load_bf16 f16 i32 u8 i8   (+ _n)
   convert when loading (integers: to nearest float) vf32_store_bf16 f16            (+ _n) convert
   when storing, ties to even, NaN stays NaN vf32_store_nt                  streaming store; p
   aligned to the vector vf32_add sub mul div           one operation each, never contracted
     vf32_fma(a, b, c) fnma         a*b + c, c - a*b; one rounding, but two in the generic build
     vf32_min max                   NaN when either is NaN
     vf32_abs neg copysign sqrt floor ceil trunc round (half to even)
     vf32_lt le eq ne               ordered compares but ne; false for NaN, ne true
     vf32_select(m, a, b)           m ? a : b
     vf32_hsum hmax hmin            over the lanes, fixed order; hmax and hmin: NaN wins
     vf32_bits, vi32_float          the same bits as the other type
     vf32_from_i32, vi32_from_f32   value conversion; to integer: half to even, in range only
     vi32_set1 load store add sub and or xor mul shl shr (logical) sra
     vi32_eq lt select
     vm32_first(n) and or not any all
     vm32_store_u8_n(p, m, n)       1 or 0 per lane
     vf32_transpose(r)              the square of VF32_LANES vectors, in place */
#ifndef CPU_VEC_H
#define CPU_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ISA_PASTE_(name, isa) name##_##isa
#define ISA_PASTE(name, isa)  ISA_PASTE_(name, isa)
/* The name of an external symbol of a file that is compiled once per instruction set. */
#define ISA_FN(name) ISA_PASTE(name, INGOT_ISA)

/* For bodies that are instantiated with constant arguments. */
#if defined(__GNUC__)
#define VEC_FORCE_INLINE inline __attribute__((always_inline))
#else
#define VEC_FORCE_INLINE inline
#endif

/* Before a loop: four rounds at a time. */
#if defined(__clang__)
#define VEC_UNROLL_4 _Pragma("clang loop unroll_count(4)")
#elif defined(__GNUC__)
#define VEC_UNROLL_4 _Pragma("GCC unroll 4")
#else
#define VEC_UNROLL_4
#endif

#if defined(INGOT_ISA_avx512)
#include "cpu/vec/vec_avx512.h"
#elif defined(INGOT_ISA_avx2)
#include "cpu/vec/vec_avx2.h"
#elif defined(INGOT_ISA_neon)
#include "cpu/vec/vec_neon.h"
#elif defined(INGOT_ISA_generic)
#include "cpu/vec/vec_generic.h"
#else
#error "compile with INGOT_ISA and INGOT_ISA_name (cmake/Cpu.cmake)"
#endif

#ifndef VEC_HAS_DEAL
static inline void vf32_deal(const float *p, uint32_t keep, int n, float *to, int64_t next)
{
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < n; i++)
            to[j * next + i] = keep >> (4 * i + j) & 1u ? p[4 * i + j] : 0.0f;
}
#endif

#endif
