/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime keeps for a context. */
#ifndef RUNTIME_ENGINE_H
#define RUNTIME_ENGINE_H

#include "ir/ir.h"
#include "runtime/device.h"
#include "runtime/trace.h"
#include "tensor/context.h"

#define PATH_MAX_TEXT 512

typedef struct engine {
    ingot_context *ctx;
    const device *dev;
    machine mach;
    op_registry *ops;
    trace *trace;    /* being traced, or the open tape; NULL = neither */
    uint64_t serial; /* of the newest trace */
    bool training;
    uint64_t step;
    uint64_t stream;          /* random keys drawn in this step, outside of a trace */
    char path[PATH_MAX_TEXT]; /* "layer2.0.conv1" */
    size_t path_len;
    int path_lost;    /* pushes that found no room: their pops are skipped */
    int graphs_saved; /* numbers the files of save_graphs */
} engine;

/* The engine of a context that is usable: NULL when ctx is NULL or has an error. */
engine *engine_of(ingot_context *ctx);

/* Runs one op: appended to the graph that is traced, else computed at once. Returns result 0. */
ingot_tensor *engine_emit(ingot_context *ctx, const op_row *row, ingot_tensor *const *in, int n_in,
                          const attr *attrs, int n_attrs);

#endif
