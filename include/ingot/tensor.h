/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors: element types, making them, reading them. */
#ifndef INGOT_TENSOR_H
#define INGOT_TENSOR_H

#include "ingot/context.h"

INGOT_BEGIN_C

#define INGOT_MAX_RANK 8

/** Element types: code, short name, bytes. f16 is IEEE binary16, bf16 is bfloat16. */
#define INGOT_DTYPE_MAP(X) \
    X(F32, "f32", 4)       \
    X(F16, "f16", 2)       \
    X(BF16, "bf16", 2)     \
    X(F64, "f64", 8)       \
    X(I8, "i8", 1)         \
    X(U8, "u8", 1)         \
    X(I16, "i16", 2)       \
    X(I32, "i32", 4)       \
    X(I64, "i64", 8)       \
    X(BOOL, "bool", 1)

typedef enum ingot_dtype {
#define X(code, name, size) INGOT_##code,
    INGOT_DTYPE_MAP(X)
#undef X
} ingot_dtype;

/** The short name of a dtype, e.g. "f32"; "?" for a number that is none. */
INGOT_API const char *ingot_dtype_name(ingot_dtype dt);
/** Bytes of one element; 0 for a number that is no dtype. */
INGOT_API size_t ingot_dtype_size(ingot_dtype dt);

/** A tensor: a value computed (eager) or to be computed (while a graph is traced). It belongs to
    the scope it was made in. */
typedef struct ingot_tensor ingot_tensor;

/** A list of integers (shapes, axes), borrowed for the call. */
typedef struct ingot_ints {
    const int64_t *v;
    int n;
} ingot_ints;
#define INGOT_INTS(...)                           \
    ((ingot_ints){(const int64_t[]){__VA_ARGS__}, \
                  (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))})

/** A tensor with a copy of `data` (row-major, `shape`; NULL = zeros).
    Errors: rank above INGOT_MAX_RANK, a negative dimension, a size that overflows, memory. */
INGOT_API ingot_tensor *ingot_tensor_new(ingot_context *ctx, ingot_dtype dt, ingot_ints shape,
                                         const void *data);
/** A tensor of one element. */
INGOT_API ingot_tensor *ingot_scalar(ingot_context *ctx, ingot_dtype dt, double value);
/** A tensor of `shape` with every element equal to `value`. */
INGOT_API ingot_tensor *ingot_tensor_full(ingot_context *ctx, ingot_dtype dt, ingot_ints shape,
                                          double value);

/** Dtype, rank, one dimension (axis may be negative; the batch of a traced graph may be -1) and
    number of elements. NULL gives INGOT_F32, 0, 0 and 0. */
INGOT_API ingot_dtype ingot_tensor_dtype(const ingot_tensor *t);
INGOT_API int ingot_tensor_rank(const ingot_tensor *t);
INGOT_API int64_t ingot_tensor_dim(const ingot_tensor *t, int axis);
INGOT_API int64_t ingot_tensor_count(const ingot_tensor *t);
/** The elements (row-major), or NULL with an error when t is symbolic (a graph is being traced).
    Borrowed: lives as long as t. Writing through it changes the tensor. */
INGOT_API void *ingot_tensor_data(ingot_tensor *t);
/** Element i as a double; NaN with an error when t has no data or i is outside. */
INGOT_API double ingot_tensor_item(ingot_tensor *t, int64_t i);
/** The number of a stream of random numbers by its name. */
INGOT_API uint64_t ingot_stream(const char *name);
/** Fills t, of f32 or f64, with random numbers: a function of the context's seed, the stream and
    each element's position alone. Uniform in [low, high), up to rounding; normal; normal but drawn
    again until within `cut` (at least 0.1) standard deviations of the mean. */
INGOT_API ingot_status ingot_fill_uniform(ingot_context *ctx, ingot_tensor *t, uint64_t stream,
                                          double low, double high);
INGOT_API ingot_status ingot_fill_normal(ingot_context *ctx, ingot_tensor *t, uint64_t stream,
                                         double mean, double std);
INGOT_API ingot_status ingot_fill_truncated_normal(ingot_context *ctx, ingot_tensor *t,
                                                   uint64_t stream, double mean, double std,
                                                   double cut);

/** Zeroed memory of the context's allocator, aligned to 16 bytes, for the state of user code. NULL
    with an error when there is none. */
INGOT_API void *ingot_alloc(ingot_context *ctx, size_t size);
/** NULL p is allowed. */
INGOT_API void ingot_free(ingot_context *ctx, void *p);

/** Prints dtype, shape and values (long ones shortened) as one string into buf; returns buf. */
INGOT_API const char *ingot_tensor_text(ingot_tensor *t, char *buf, size_t size);

INGOT_END_C

#endif
