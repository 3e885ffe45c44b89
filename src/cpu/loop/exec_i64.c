/* SPDX-License-Identifier: Apache-2.0 */
/* The integer form of every opcode. */
#include "cpu/loop/exec.h"
#include "cpu/loop/scalar.h"

#define OPCODE(name, arity, f32, f64, i64)                                            \
    static void exec_##name(void *to, const void *pa, const void *pb, const void *pc, \
                            const double imm[2], int n)                               \
    {                                                                                 \
        const int64_t *ia = pa, *ib = arity > 1 ? pb : pa, *ic = arity > 2 ? pc : pa; \
        const double p = imm[0], q = imm[1];                                          \
        int64_t *out = to;                                                            \
                                                                                      \
        (void)p;                                                                      \
        (void)q;                                                                      \
        for (int i = 0; i < n; i++) {                                                 \
            const int64_t a = ia[i], b = ib[i], c = ic[i];                            \
                                                                                      \
            (void)a;                                                                  \
            (void)b;                                                                  \
            (void)c;                                                                  \
            out[i] = i64;                                                             \
        }                                                                             \
    }
#include "cpu/loop/opcodes.inc"
#undef OPCODE

const loop_fn loop_exec_i64[] = {
#define OPCODE(name, ...) exec_##name,
#include "cpu/loop/opcodes.inc"
#undef OPCODE
};
