/* SPDX-License-Identifier: Apache-2.0 */
/* What every layer may know of a context: error, allocator, threads, seed, log, scopes. The
   runtime hangs its own state on `engine`; nothing below it looks inside. */
#ifndef TENSOR_CONTEXT_H
#define TENSOR_CONTEXT_H

#include "base/pool.h"
#include "base/random.h"
#include "ingot/context.h"
#include "tensor/tensor.h"

typedef struct scope {
    struct scope *outer;
    ingot_tensor *tensors; /* linked by ->next; freed at the end */
} scope;

struct ingot_context {
    error err;
    allocator alloc;
    ingot_context_options opt; /* as given; its strings are copied in mem */
    arena mem;                 /* lives as long as the context */
    pool *pool;
    ingot_log_fn log; /* NULL = silent */
    void *log_user;
    scope *scope;  /* innermost; the root scope lives as long as the context */
    scope root;
    size_t lost_scopes; /* begun without memory: their ends do nothing */
    struct engine *engine; /* runtime/engine.h */
};

/* Everything but pool and engine. Returns NULL only when there is no memory for the context. */
ingot_context *context_new(const ingot_context_options *opt);
void context_free(ingot_context *ctx); /* ends all scopes; frees pool; the engine is gone already */
/* Whether builders should do anything: false when ctx is NULL or an error is set. */
bool context_ok(const ingot_context *ctx);
void context_log(ingot_context *ctx, const char *fmt, ...) INGOT_PRINTF(2, 3);

#endif
