/* SPDX-License-Identifier: Apache-2.0 */
/* The ops once more, as plain loops over doubles: what the tests compare with. */
#ifndef TESTS_OPS_REFERENCE_H
#define TESTS_OPS_REFERENCE_H

#include "ir/op.h"

/* One call: x[i] holds input i's elements as doubles (NULL: absent), y[i] has room for result i. */
typedef struct ref_call {
    const op *op;
    const attr *attrs;
    int n_in;
    const type *in, *out;
    double *const *x;
    double *const *y;
} ref_call;

typedef void (*ref_fn)(const ref_call *c);

/* Attributes by name. */
int64_t ref_int(const ref_call *c, const char *name);
double ref_real(const ref_call *c, const char *name);
ints ref_ints(const ref_call *c, const char *name);
const char *ref_str(const ref_call *c, const char *name);
/* An axis attribute, made non-negative. */
int ref_axis(const ref_call *c, const char *name, int rank);

/* Row-major positions. */
void ref_unflat(const type *t, int64_t i, int64_t at[MAX_RANK]);
int64_t ref_flat(const type *t, const int64_t at[MAX_RANK]);
/* v as an element of an integer dtype holds it: wrapped. */
double ref_wrap(dtype dt, int64_t v);

#define REF(name) void ref_##name(const ref_call *c);
#include "ops/references.inc"
#undef REF

#endif
