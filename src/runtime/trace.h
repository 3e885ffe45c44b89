/* SPDX-License-Identifier: Apache-2.0 */
/* A graph under construction: traced from user code, or the tape of eager mode (the same graph,
   whose values have their memory already). */
#ifndef RUNTIME_TRACE_H
#define RUNTIME_TRACE_H

#include "ingot/function.h"
#include "ir/ir.h"
#include "tensor/storage.h"
#include "tensor/tensor.h"

struct engine;

/* An input that the caller does not give: the step's random key, a host scalar. */
typedef struct implicit_input {
    ingot_host_scalar_fn fn; /* NULL = the random key */
    void *user;
    int input; /* which graph input */
    value *v;
} implicit_input;

typedef struct trace {
    struct engine *eng;
    graph *g;
    builder b;
    uint64_t serial;
    bool eager;    /* a tape: every node is executed when it is made */
    storage **mem; /* eager: by value id */
    size_t cap_mem;
    ingot_parameter **params; /* by slot */
    size_t n_params, cap_params;
    implicit_input *implicit;
    size_t n_implicit, cap_implicit;
    uint64_t stream; /* random keys drawn */
} trace;

trace *trace_new(struct engine *eng, const char *name, bool eager);
void trace_free(trace *t);
/* The value of a tensor in the trace: what it is there already, a param, or a constant (eager: a
   leaf with its memory). NULL = error set. */
value *trace_value(trace *t, ingot_tensor *x);
/* The value of an implicit input, made on first use. */
value *trace_implicit(trace *t, const char *name, ingot_host_scalar_fn fn, void *user);
/* Handles for all results of the node of v, linked as siblings; returns the first. */
ingot_tensor *trace_handles(trace *t, value *v);
/* Fills an implicit input for a step. */
void implicit_fill(struct engine *eng, const implicit_input *in, uint64_t step, void *data);

#endif
