/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's working state. */
#ifndef PASSES_MEMORY_INTERNAL_H
#define PASSES_MEMORY_INTERNAL_H

#include "passes/passes.h"

/* A piece of the arena, live from node `first` to node `last`. */
typedef struct block {
    size_t bytes, offset;
    size_t first, last;
    const value *holder; /* whose it is by now: results take over what an input leaves */
} block;

typedef struct planner {
    memory_plan *plan;
    const graph *g;
    const node_needs *needs;
    error *e;
    value **root;        /* by value id: whose memory it shares */
    size_t *def, *last;  /* by value id of a root: node indices; n_nodes = the end */
    size_t *block;       /* by value id of a root in the arena */
    size_t *work_block;  /* by node index */
    const node **assign; /* by param slot: the assign that counts */
    size_t n_inputs;
    block *blocks;
    size_t n_blocks, cap_blocks;
} planner;

#endif
