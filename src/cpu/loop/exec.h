/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction on n elements, each operand and the result contiguous; the result may be an
   operand's memory. */
#ifndef CPU_LOOP_EXEC_H
#define CPU_LOOP_EXEC_H

#include "cpu/loop/loop.h"
#include "cpu/vec/vec.h"

typedef void (*loop_fn)(void *to, const void *a, const void *b, const void *c, const double imm[2],
                        int n);

#define loop_exec_f32 ISA_FN(loop_exec_f32)
#define loop_exec_f64 ISA_FN(loop_exec_f64)
#define loop_exec_i64 ISA_FN(loop_exec_i64)

/* By opcode. */
extern const loop_fn loop_exec_f32[];
extern const loop_fn loop_exec_f64[];
extern const loop_fn loop_exec_i64[];

#endif
