/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled graph with its memory. A step allocates nothing and looks nothing up. */
#ifndef RUNTIME_PROGRAM_H
#define RUNTIME_PROGRAM_H

#include "passes/passes.h"
#include "runtime/engine.h"

typedef struct program program;

typedef struct program_options {
    /* Params are bound once, before the first run, and their memory does not change: what depends
       on them alone is computed in that run and kept. */
    bool fixed_params;
    /* Sees the graph before the passes ("trace") and after each. NULL = none. */
    bool (*after)(void *user, const char *pass, const graph *g, error *e);
    void *after_user;
} program_options;

/* Compiles a copy of g (no symbolic dimension left: graph_bind before). o may be NULL. */
program *program_new(engine *eng, const graph *g, const program_options *o, error *e);
void program_free(program *p);

/* Memory of param `slot` (the order of g->params), of its type; borrowed until rebound. */
void program_bind_param(program *p, size_t slot, void *data);

/* Runs once. inputs and outputs: memory in the graph's order, row-major, borrowed for the call.
   All params must be bound. One thread at a time. */
bool program_run(program *p, void *const *inputs, void *const *outputs, error *e);

const graph *program_graph(const program *p); /* as compiled */
const memory_plan *program_memory(const program *p);
size_t
program_scratch(const program *p); /* bytes that all threads take together, besides the plan */

#endif
