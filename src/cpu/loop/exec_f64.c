/* SPDX-License-Identifier: Apache-2.0 */
/* The f64 form of every opcode. */
#include "cpu/loop/exec.h"
#include "cpu/loop/scalar.h"

#define OPCODE(name, arity, f32, f64, i64)                                            \
    static void exec_##name(void *to, const void *pa, const void *pb, const void *pc, \
                            const double imm[2], int n)                               \
    {                                                                                 \
        const double *da = pa, *db = arity > 1 ? pb : pa, *dc = arity > 2 ? pc : pa;  \
        const double p = imm[0], q = imm[1];                                          \
        double *out = to;                                                             \
                                                                                      \
        (void)p;                                                                      \
        (void)q;                                                                      \
        for (int i = 0; i < n; i++) {                                                 \
            const double a = da[i], b = db[i], c = dc[i];                             \
                                                                                      \
            (void)a;                                                                  \
            (void)b;                                                                  \
            (void)c;                                                                  \
            out[i] = f64;                                                             \
        }                                                                             \
    }
#include "cpu/loop/opcodes.inc"
#undef OPCODE

const loop_fn loop_exec_f64[] = {
#define OPCODE(name, ...) exec_##name,
#include "cpu/loop/opcodes.inc"
#undef OPCODE
};
