/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting into a fresh graph, and binding the symbolic batch. */
#include "ir/internal.h"
#include "ir/ir.h"

bool rewrite_begin(rewriter *w, graph *g, error *e)
{
    *w = (rewriter){.g = g, .err = e};
    w->map = mem_new_array(g->alloc, (size_t)g->n_values + 1, sizeof *w->map, "graph map", e);
    w->b.g = w->map ? graph_new(g->alloc, g->ops, g->name, e) : NULL;
    w->b.err = e;
    if (!w->b.g) {
        mem_free(g->alloc, w->map, ((size_t)g->n_values + 1) * sizeof *w->map);
        w->map = NULL;
        return false;
    }
    return true;
}

bool rewrite_keep(rewriter *w, const node *n)
{
    return copy_mapped(&w->b, n, w->map) != NULL;
}

value *rewrite_in(const rewriter *w, const value *old)
{
    return old ? w->map[old->id] : NULL;
}

bool rewrite_end(rewriter *w, bool ok)
{
    graph *g = w->g;
    size_t bytes = ((size_t)g->n_values + 1) * sizeof *w->map;

    for (size_t i = 0; ok && i < g->n_outputs; i++)
        ok = graph_output(w->b.g, w->map[g->outputs[i]->id], g->output_names[i], w->err);
    mem_free(g->alloc, w->map, bytes);
    w->map = NULL;
    if (ok)
        graph_swap(g, w->b.g);
    graph_free(w->b.g);
    w->b.g = NULL;
    return ok;
}

graph *graph_bind(const graph *g, int64_t batch, error *e)
{
    graph *c = graph_new(g->alloc, g->ops, g->name, e);
    size_t bytes = ((size_t)g->n_values + 1) * sizeof(value *);
    value **map = mem_new(g->alloc, bytes, "graph map", e);
    builder b = {.g = c, .err = e};
    bool ok = c && map;

    if (batch < 0)
        ok = fail(e, INGOT_E_SHAPE, "batch size %lld: must not be negative", (long long)batch);
    for (size_t i = 0; ok && i < g->n_nodes; i++) {
        const node *n = g->nodes[i];

        if (n->form == NODE_INPUT) {
            type t = n->out[0].type;

            for (int k = 0; k < t.rank; k++)
                if (t.dim[k] == DIM_SYM)
                    t.dim[k] = batch;
            map[n->out[0].id] = ir_input(&b, n->name, &t);
            ok = map[n->out[0].id] != NULL;
        } else {
            ok = copy_mapped(&b, n, map) != NULL;
        }
    }
    for (size_t i = 0; ok && i < g->n_outputs; i++)
        ok = graph_output(c, map[g->outputs[i]->id], g->output_names[i], e);
    mem_free(g->alloc, map, bytes);
    if (!ok) {
        graph_free(c);
        return NULL;
    }
    return c;
}
