/* SPDX-License-Identifier: Apache-2.0 */
/* hoist: where parameters never change (a model that is only run), what depends on them alone is
   computed once. Such nodes go to the front, in their old order.

   before:  %2 = relu(%0)  %3 = mul(%w, %s)  %4 = matmul(%2, %3)
   after:   %3 = mul(%w, %s)  %2 = relu(%0)  %4 = matmul(%2, %3) */
#include "passes/passes.h"

bool *fixed_values(const graph *g, arena *mem, error *e)
{
    bool *fixed = arena_array(mem, (size_t)g->n_values + 1, sizeof *fixed, e);

    if (!fixed)
        return NULL;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const node *n = g->nodes[i];
        bool same = n->form == NODE_PARAM || n->form == NODE_CONST;

        if (n->form == NODE_FUSED || (n->form == NODE_OP && node_class(n) != OP_EFFECT)) {
            same = true;
            for (int k = 0; same && k < n->n_in; k++)
                same = !n->in[k] || fixed[n->in[k]->id];
        }
        for (int k = 0; k < n->n_out; k++)
            fixed[n->out[k].id] = same;
    }
    return fixed;
}

bool pass_hoist(graph *g, const pass_options *o, error *e)
{
    size_t front = 0, back = 0;
    arena mem;
    node **rest;
    bool *fixed;

    if (!o->fixed_params)
        return true;
    arena_init(&mem, g->alloc);
    rest = arena_array(&mem, g->n_nodes + 1, sizeof *rest, e);
    fixed = rest ? fixed_values(g, &mem, e) : NULL;
    for (size_t i = 0; fixed && i < g->n_nodes; i++) {
        node *n = g->nodes[i];
        bool leaf = n->form != NODE_OP && n->form != NODE_FUSED;

        if (leaf || (n->n_out > 0 && fixed[n->out[0].id]))
            g->nodes[front++] = n;
        else
            rest[back++] = n;
    }
    for (size_t i = 0; i < back; i++)
        g->nodes[front + i] = rest[i];
    arena_free(&mem);
    return fixed != NULL;
}
