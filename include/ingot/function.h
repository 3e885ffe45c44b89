/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters, gradients and compiled functions: what training steps are made of. */
#ifndef INGOT_FUNCTION_H
#define INGOT_FUNCTION_H

#include "ingot/tensor.h"

INGOT_BEGIN_C

/** Memory that outlives a step: a weight, a running statistic, an optimiser's state. Owned by
    whoever made it (cells and optimisers own theirs). */
typedef struct ingot_parameter ingot_parameter;

/** Zero-filled when data is NULL, else a copy of data. `name` is copied; it names the parameter in
    graphs and checkpoints. trainable: an optimiser updates it. */
INGOT_API ingot_parameter *ingot_parameter_new(ingot_context *ctx, const char *name, ingot_dtype dt,
                                               ingot_ints shape, const void *data, bool trainable);
INGOT_API void ingot_parameter_free(ingot_parameter *p);
/** The tensor to compute with, in graph and eager mode alike. Borrowed; lives as long as p.
    ingot_tensor_data() of it is the parameter's memory. */
INGOT_API ingot_tensor *ingot_parameter_tensor(ingot_parameter *p);
INGOT_API const char *ingot_parameter_name(const ingot_parameter *p);
/** Renames p (copied); for owners that learn their path late. */
INGOT_API ingot_status ingot_parameter_rename(ingot_parameter *p, const char *name);
INGOT_API bool ingot_parameter_trainable(const ingot_parameter *p);
INGOT_API void ingot_parameter_set_trainable(ingot_parameter *p, bool trainable);

/** Gradients of a scalar loss with respect to n tensors (parameters' tensors or other tensors that
    the loss was computed from), written to grads[]; a tensor that the loss does not depend on gets
    zeros. Inside a traced function the nodes are added to its graph; in eager mode a tape must be
    open. The gradients can be differentiated again. */
INGOT_API INGOT_MUST_USE ingot_status ingot_grad(ingot_context *ctx, ingot_tensor *loss,
                                                 ingot_tensor *const *wrt, int n,
                                                 ingot_tensor **grads);
/** As ingot_grad for an output of any shape: sensitivity has its type and is the gradient that
    arrives at it. */
INGOT_API INGOT_MUST_USE ingot_status ingot_grad_with(ingot_context *ctx, ingot_tensor *output,
                                                      ingot_tensor *sensitivity,
                                                      ingot_tensor *const *wrt, int n,
                                                      ingot_tensor **grads);

/** Eager mode: ops between begin and end are recorded, so that ingot_grad can run them backwards.
    Tensors of the tape stay usable as plain values after the end. While a graph is traced both
    do nothing. Tapes do not nest. */
INGOT_API void ingot_tape_begin(ingot_context *ctx);
INGOT_API void ingot_tape_end(ingot_context *ctx);

/** Whether layers should behave as in training (dropout, batch norm). Set by the training loop. */
INGOT_API bool ingot_training(const ingot_context *ctx);
INGOT_API void ingot_set_training(ingot_context *ctx, bool training);

/** The step that random numbers and host scalars are drawn for. Every call of a function with the
    same seed and step draws the same numbers. */
INGOT_API uint64_t ingot_step(const ingot_context *ctx);
INGOT_API void ingot_set_step(ingot_context *ctx, uint64_t step);

/** A random key (i64[2]) for the random ops, different for each call within one step. */
INGOT_API ingot_tensor *ingot_random_key(ingot_context *ctx);

/** An f32 scalar that the host computes anew for each step: fn(step, user). For learning rates. */
typedef double (*ingot_host_scalar_fn)(uint64_t step, void *user);
INGOT_API ingot_tensor *ingot_host_scalar(ingot_context *ctx, const char *name,
                                          ingot_host_scalar_fn fn, void *user);

/** Pushes/pops a level of the path that names nodes ("layer2" then "conv1": "layer2.conv1"). */
INGOT_API void ingot_path_push(ingot_context *ctx, const char *name);
INGOT_API void ingot_path_pop(ingot_context *ctx);

/** User code that computes outputs from inputs with ingot_ ops: returns the number of outputs
    written to out (at most max_out), or -1 with the error set in ctx. */
typedef int (*ingot_construct_fn)(ingot_context *ctx, ingot_tensor *const *in, int n_in,
                                  ingot_tensor **out, int max_out, void *user);

/** A function that is traced and compiled on its first call for each set of input types, and run
    from then on (graph mode); in eager mode it is called each time, under a tape. */
typedef struct ingot_function ingot_function;

typedef struct ingot_function_options {
    const char *name;               /**< of the graph; NULL = "main" */
    const char *const *input_names; /**< NULL = "input0", … */
    const char *const *output_names;
} ingot_function_options;

INGOT_API ingot_function *ingot_function_new(ingot_context *ctx, ingot_construct_fn fn, void *user,
                                             const ingot_function_options *opt);
INGOT_API void ingot_function_free(ingot_function *f);
#define INGOT_MAX_OUTPUTS 64
/** Runs f on concrete tensors; out[0..n_out) get tensors in the current scope. n_out must be what
    the construct function returns. */
INGOT_API INGOT_MUST_USE ingot_status ingot_function_call(ingot_function *f,
                                                          ingot_tensor *const *in, int n_in,
                                                          ingot_tensor **out, int n_out);
/** Bytes of the static plan of the program last run: arena at its peak, and the sum of all
    intermediate tensors. 0 in eager mode. */
INGOT_API size_t ingot_function_arena_bytes(const ingot_function *f);
INGOT_API size_t ingot_function_naive_bytes(const ingot_function *f);

INGOT_END_C

#endif
