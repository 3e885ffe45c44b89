/* SPDX-License-Identifier: Apache-2.0 */
/* type = dtype + shape. Shapes are static but for one symbolic dimension, DIM_SYM (the batch),
   which a graph may carry until it is bound before compiling. */
#ifndef TENSOR_TYPE_H
#define TENSOR_TYPE_H

#include "base/memory.h"
#include "tensor/dtype.h"

#define MAX_RANK INGOT_MAX_RANK
#define DIM_SYM  ((int64_t)-1)

typedef struct type {
    dtype dt;
    int rank;
    int64_t dim[MAX_RANK];
} type;

type type_make(dtype dt, int rank, const int64_t *dims);
bool type_equal(const type *a, const type *b);      /* dtype and shape */
bool shape_equal(const type *a, const type *b);     /* shape alone */
bool type_symbolic(const type *t);
/* Checks rank, dims >= 0 (or DIM_SYM) and that the byte size fits int64. */
bool type_check(const type *t, error *e);
/* Elements; of a symbolic type: the product of the other dims. Never overflows on a checked type. */
int64_t type_count(const type *t);
size_t type_bytes(const type *t);
/* Row-major strides in elements. */
void type_strides(const type *t, int64_t stride[MAX_RANK]);
/* "f32[2,B,3]"; returns buf. */
#define TYPE_TEXT 224
const char *type_text(const type *t, char buf[TYPE_TEXT]);
const char *shape_text(const type *t, char buf[TYPE_TEXT]); /* "[2,B,3]" */
/* Parses that text at *s, moving *s past it. */
bool type_parse(const char **s, type *out, error *e);

/* NumPy broadcasting of two shapes; false when they do not fit (no error text set). */
bool shape_broadcast(const type *a, const type *b, type *out);

#endif
