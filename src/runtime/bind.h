/* SPDX-License-Identifier: Apache-2.0 */
/* From a node to a kernel call. */
#ifndef RUNTIME_BIND_H
#define RUNTIME_BIND_H

#include "passes/passes.h"
#include "runtime/engine.h"

/* A bound call. Its memory is the arena's that it was made with. */
typedef struct bound {
    const kernel_row *row; /* NULL: nothing runs (reshape) */
    kcall call;
    node_needs needs;
} bound;

/* Picks the kernel of n on the engine's device and plans it. An op without a kernel is an error
   that names it and its types. */
bool node_bind(const engine *eng, const node *n, arena *mem, bound *out, error *e);
/* The same; bit i of fixed: input i has the same value in every run. */
bool node_bind_fixed(const engine *eng, const node *n, unsigned fixed, arena *mem, bound *out,
                     error *e);

/* Runs phases from..to-1 of a call. scratch: (threads of the pool) pieces of call.scratch bytes. */
void bound_run_phases(pool *p, const bound *b, void *const *buf, void *scratch, void *work,
                      int from, int to);
/* Runs them all. */
void bound_run(pool *p, const bound *b, void *const *buf, void *scratch, void *work);

/* Whether the op runs in the loop engine (pointwise, or a reduction that it knows). */
bool loop_lowerable(const node *n);

struct loop_desc;
/* Describes nodes[0..n_nodes) as one region: ins and outs are its interface. */
bool loop_build(node *const *nodes, int n_nodes, const value *const *ins, int n_ins,
                const value *const *outs, int n_outs, struct loop_desc *d, error *e);

#endif
