/* SPDX-License-Identifier: Apache-2.0 */
/* A region, planned: registers in L1-sized tiles, and the walk over the iteration space. */
#ifndef CPU_LOOP_TILE_H
#define CPU_LOOP_TILE_H

#include "cpu/loop/exec.h"

#define LOOP_TILE 512 /* elements; fixed, for sums are cut at it */

typedef enum tile_load {
    LOAD_DIRECT,  /* the input's own memory serves as the register */
    LOAD_LINEAR,  /* contiguous, but of another dtype */
    LOAD_CONST,   /* one element for all */
    LOAD_STRIDED, /* anything else: runs along the innermost dimension */
} tile_load;

typedef enum walk_kind {
    WALK_LINEAR,  /* no reduction */
    WALK_ROWS,    /* the innermost dimension is reduced */
    WALK_COLUMNS, /* the innermost dimension is kept */
    WALK_EMPTY    /* nothing to walk: reductions give their neutral element */
} walk_kind;

/* Dimensions outside of the innermost one, of one kind (kept or reduced), outermost first. */
typedef struct walk_dims {
    int n;
    int64_t dim[MAX_RANK], step[MAX_RANK]; /* step: in rows */
    int64_t count;                         /* product of dim */
} walk_dims;

typedef struct loop_plan {
    loop_desc d; /* dimensions collapsed */
    tile_load load[LOOP_IN_MAX];
    int in_slot[LOOP_IN_MAX]; /* -1: LOAD_DIRECT */
    int inst_slot[LOOP_REGS];
    int inst_out[LOOP_REGS]; /* the output that the instruction writes at once, else -1 */
    bool out_done[LOOP_OUT_MAX];
    int n_slots, n_reduce;
    size_t elem; /* bytes of an element in a register */

    walk_kind walk;
    int64_t total, inner;   /* elements; the innermost dimension */
    walk_dims kept, outer;  /* outer: the reduced ones */
    int64_t unit;           /* LINEAR: elements; ROWS: items; COLUMNS: reduced rows of a part */
    int64_t piece, parts;   /* ROWS: a row is cut in parts; COLUMNS: the reduced rows are */
    int64_t block, n_block; /* COLUMNS: columns of a unit */
    int64_t n_results;      /* elements of a reduction's output */
    bool partial;           /* a second phase combines */
} loop_plan;

/* A partial result. */
typedef union loop_acc {
    double f;
    int64_t i;
} loop_acc;

#define loop_plan_make  ISA_FN(loop_plan_make)
#define loop_run        ISA_FN(loop_run)
#define tile_constants  ISA_FN(tile_constants)
#define tile_eval       ISA_FN(tile_eval)
#define loop_neutral    ISA_FN(loop_neutral)
#define loop_reduce_run ISA_FN(loop_reduce_run)
#define loop_combine    ISA_FN(loop_combine)
#define loop_add_row    ISA_FN(loop_add_row)
#define loop_store_acc  ISA_FN(loop_store_acc)

/* The kernel's plan and run. */
bool loop_plan_make(kcall *c, error *e);
void loop_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi, void *scratch,
              void *work);

/* Fills the registers of LOAD_CONST inputs; once for each call of run. */
void tile_constants(const loop_plan *p, void *const *buf, char *scratch);
/* Computes elements at .. at + n - 1 (n <= LOOP_TILE) of the space, stores the outputs that are
   not reduced, and gives the registers of those that are, by output. */
void tile_eval(const loop_plan *p, void *const *buf, char *scratch, int64_t at, int n,
               const void **reduced);

/* Reductions: the neutral element, n values in a register, two partial results, a row added to
   accumulators. dt: of the output (the neutral element of bools is one). */
loop_acc loop_neutral(loop_class cls, loop_reduce kind, dtype dt);
loop_acc loop_reduce_run(loop_class cls, loop_reduce kind, const void *reg, int n);
loop_acc loop_combine(loop_class cls, loop_reduce kind, loop_acc a, loop_acc b);
void loop_add_row(loop_class cls, loop_reduce kind, loop_acc *acc, const void *reg, int n);
void loop_store_acc(loop_class cls, dtype dt, void *out, int64_t at, loop_acc a);

#endif
