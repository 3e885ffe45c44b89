/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of tests/ops/FAMILY.inc, and a row made into tensors' bytes. */
#ifndef TESTS_OPS_CASE_H
#define TESTS_OPS_CASE_H

#include "ops/reference.h"

/* A row. in: "T[3,5]{-1,1}, i64[4]{0,3}, _": types with the range that values are drawn from (none:
   [-2, 2], integers [-5, 5]); T stands for each dtype of `dtypes` in turn; "_" is an absent input.
   out: the results' types. */
typedef struct op_case {
    const char *op, *attrs, *in, *out;
    ref_fn ref;         /* NULL: a BAD row */
    const char *bad;    /* what the error must contain */
    const char *dtypes; /* for T; NULL = f32 */
    double rtol, atol;  /* of the forward pass in f32; 0 = the dtype's default */
    double grad_rtol;   /* 0 = 2e-5 in f32 */
    bool special;       /* NaN, infinities, zeros and the ends of the range are among the values */
    bool kinked;        /* no second derivatives */
    bool stops;         /* the gradient is zero by definition */
    unsigned param;     /* inputs that are parameters (bit mask) */
    unsigned constant;  /* float inputs that no gradient is asked for */
} op_case;

typedef struct op_family {
    const char *name;
    const op_case *rows;
    size_t n;
} op_family;

extern const op_family op_families[]; /* ended by a NULL name */

#define CASE_IN  8
#define CASE_OUT 4

/* A row for one dtype: everything is owned, free with case_free. */
typedef struct op_instance {
    const op_case *row;
    const op *op;
    attr attrs[OP_MAX_ATTRS];
    arena mem;
    int n_in, n_out;
    type in[CASE_IN], out[CASE_OUT]; /* rank -1: absent */
    void *data[CASE_IN];
    double *x[CASE_IN], *y[CASE_OUT]; /* the data as doubles; what the reference makes of it */
    bool diff[CASE_IN];               /* a gradient is checked */
} op_instance;

/* The instance of row for dtype dt (T's); false = the row's text is wrong, e says where. seed
   chooses the values. */
bool case_build(op_instance *c, const op_registry *ops, const op_case *row, dtype dt, uint64_t seed,
                error *e);
void case_free(op_instance *c);
/* Runs the reference on x (n_in arrays) into y. */
void case_reference(const op_instance *c, double *const *x, double *const *y);
/* Next dtype named in *s, moving past it; false at the end. */
bool case_next_dtype(const char **s, dtype *dt);

#endif
