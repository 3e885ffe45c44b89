/* SPDX-License-Identifier: Apache-2.0 */
/* The public tensor handle: a type, its memory when it is computed, its graph value when traced. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include "ingot/tensor.h"
#include "tensor/storage.h"

struct ingot_tensor {
    ingot_context *ctx;
    ingot_tensor *next; /* in its scope */
    ingot_tensor *prev;
    type type;
    storage *mem;        /* NULL while symbolic */
    struct value *value; /* the IR value of the trace or tape it belongs to; NULL = none yet */
    uint64_t trace;      /* serial number of that trace or tape: a stale value is ignored */
    ingot_tensor *sibling; /* the next result of the op that made it */
    struct ingot_parameter *param; /* whose memory it is; NULL = a plain tensor */
};

/* In the innermost scope, without memory or value. NULL = error set in ctx. */
ingot_tensor *tensor_new(ingot_context *ctx, const type *t);
/* As above over mem, whose reference is taken over (also on failure). */
ingot_tensor *tensor_over(ingot_context *ctx, const type *t, storage *mem);
/* As above with fresh zeroed memory. */
ingot_tensor *tensor_alloc(ingot_context *ctx, const type *t);
/* Removes t from its scope and frees it: for handles whose owner is not a scope. */
void tensor_free(ingot_tensor *t);
/* Takes t out of its scope, so that the caller owns it (cells own their parameters). */
ingot_tensor *tensor_detach(ingot_tensor *t);

#endif
