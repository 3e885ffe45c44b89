/* SPDX-License-Identifier: Apache-2.0 */
/* The fused-loop engine: a vector virtual machine that walks an iteration space in L1-sized
   tiles and runs all of a region's instructions on each, so that a chain of pointwise ops reads
   each input once and writes each output once. Reductions end a region.

   One region has one compute class: f32 (floats up to f32, and bool), f64, or i64 (integers).
   Inputs are converted to it when loaded, outputs from it when stored; a bool is 1 or 0.
   Every instruction rounds on its own (no contraction), so a fused region gives the bits of its
   ops run one by one. */
#ifndef CPU_LOOP_H
#define CPU_LOOP_H

#include "cpu/kernel.h"

typedef enum loop_class { LOOP_F32, LOOP_F64, LOOP_I64 } loop_class;

/* The instruction set of the virtual machine: opcodes.inc, one row each. */
typedef enum loop_op {
#define OPCODE(name, arity, ...) LOOP_##name,
#include "cpu/loop/opcodes.inc"
#undef OPCODE
    LOOP_OP_COUNT
} loop_op;

#define LOOP_REGS    64 /* inputs + instructions of a region */
#define LOOP_IN_MAX  24
#define LOOP_OUT_MAX 12

typedef struct loop_inst {
    loop_op op;
    int a, b, c;   /* operand registers: 0..n_in-1 are the inputs, n_in+k is instruction k */
    double imm[2]; /* the op's real attributes in order (clip's bounds, leaky_relu's slope) */
} loop_inst;

typedef struct loop_in {
    dtype dt;
    int64_t stride[MAX_RANK]; /* in elements, per dimension of the space; 0 = broadcast */
    int64_t offset;           /* elements */
} loop_in;

typedef enum loop_reduce {
    REDUCE_NONE,
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_MAX,
    REDUCE_MIN
} loop_reduce;

typedef struct loop_out {
    dtype dt;
    int reg;
    loop_reduce reduce; /* NONE: one element per point of the space, row-major */
} loop_out;

typedef struct loop_desc {
    loop_class cls;
    int rank;
    int64_t dim[MAX_RANK]; /* the iteration space */
    unsigned reduce_axes;  /* bit mask; every reducing output reduces these axes; its elements
                              are the remaining axes, row-major */
    int n_in, n_inst, n_out;
    loop_in in[LOOP_IN_MAX];
    loop_inst inst[LOOP_REGS];
    loop_out out[LOOP_OUT_MAX];
} loop_desc;

/* The opcode of that name, or -1; and its number of operands. */
int loop_op_find(const char *name, size_t n);
int loop_op_arity(loop_op op);

/* The kernel row "fused" (kcall.extra = a loop_desc that outlives the program) is in the table
   of every instruction set. Reductions: the split and the order of combination depend on the
   space alone. sum/prod of nothing are 0/1; max/min of nothing are -inf/+inf (the ops' infer
   refuses that case for them). NaN wins in max/min. SUM accumulates in f32 over at most 4096
   values per chain, then in f64. */

#endif
