/* SPDX-License-Identifier: Apache-2.0 */
/* The f32 form of every opcode: whole vectors, then a masked one. The same vector code computes
   both, so that an element's bits do not depend on where it lies. */
#include "cpu/loop/exec.h"
#include "cpu/vec/math.h"

static inline vf32 mask_to_bool(vm32 m)
{
    return vf32_select(m, vf32_set1(1.0f), vf32_zero());
}

static inline vm32 bool_to_mask(vf32 a)
{
    return vf32_ne(a, vf32_zero());
}

#define B(m) mask_to_bool(m)
#define M(a) bool_to_mask(a)

#define OPCODE(name, arity, f32, f64, i64)                                                  \
    static void exec_##name(void *to, const void *pa, const void *pb, const void *pc,       \
                            const double imm[2], int n)                                     \
    {                                                                                       \
        const float *fa = pa, *fb = arity > 1 ? pb : pa, *fc = arity > 2 ? pc : pa;         \
        const vf32 p = vf32_set1((float)imm[0]), q = vf32_set1((float)imm[1]);              \
        float *out = to;                                                                    \
        int i = 0;                                                                          \
                                                                                            \
        (void)p;                                                                            \
        (void)q;                                                                            \
        for (; i + VF32_LANES <= n; i += VF32_LANES) {                                      \
            const vf32 a = vf32_load(fa + i), b = vf32_load(fb + i), c = vf32_load(fc + i); \
                                                                                            \
            (void)b;                                                                        \
            (void)c;                                                                        \
            vf32_store(out + i, f32);                                                       \
        }                                                                                   \
        if (i < n) {                                                                        \
            const vf32 a = vf32_load_n(fa + i, n - i), b = vf32_load_n(fb + i, n - i);      \
            const vf32 c = vf32_load_n(fc + i, n - i);                                      \
                                                                                            \
            (void)b;                                                                        \
            (void)c;                                                                        \
            vf32_store_n(out + i, f32, n - i);                                              \
        }                                                                                   \
    }
#include "cpu/loop/opcodes.inc"
#undef OPCODE

const loop_fn loop_exec_f32[] = {
#define OPCODE(name, ...) exec_##name,
#include "cpu/loop/opcodes.inc"
#undef OPCODE
};
