/* SPDX-License-Identifier: Apache-2.0 */
/* fold: a small node of constants is computed now.

   before:  %1 = exp(%0)        with %0: f32[] = const 0
   after:   %1: f32[] = const 1 */
#include "passes/passes.h"

#define FOLD_BYTES 4096 /* larger constants would cost more to carry than to compute */

static bool foldable(const rewriter *w, const node *n)
{
    if (n->form != NODE_OP || n->n_in == 0 || node_class(n) == OP_EFFECT)
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && rewrite_in(w, n->in[i])->def->form != NODE_CONST)
            return false;
    for (int i = 0; i < n->n_out; i++)
        if (type_bytes(&n->out[i].type) > FOLD_BYTES)
            return false;
    return true;
}

static bool fold_node(rewriter *w, const node *n, const pass_options *o, bool *done)
{
    void *out[OP_MAX_OUT] = {0};
    value *in[OP_MAX_IN];
    node view = *n; /* the node with its new inputs, which hold the data */
    bool ok = true;

    *done = false;
    if (n->n_in > OP_MAX_IN)
        return true;
    for (int i = 0; i < n->n_in; i++)
        in[i] = rewrite_in(w, n->in[i]);
    view.in = in;
    for (int i = 0; ok && i < n->n_out; i++) {
        out[i] = mem_new(w->g->alloc, FOLD_BYTES, "folded constant", w->err);
        ok = out[i] != NULL;
    }
    if (ok && o->fold(o->fold_user, &view, out)) {
        *done = true;
        for (int i = 0; ok && i < n->n_out; i++) {
            w->map[n->out[i].id] = ir_const(&w->b, &n->out[i].type, out[i]);
            ok = w->map[n->out[i].id] != NULL;
        }
    }
    for (int i = 0; i < n->n_out; i++)
        mem_free(w->g->alloc, out[i], FOLD_BYTES);
    return ok;
}

bool pass_fold(graph *g, const pass_options *o, error *e)
{
    rewriter w;
    bool ok;

    if (!o->fold)
        return true;
    if (!rewrite_begin(&w, g, e))
        return false;
    ok = true;
    for (size_t i = 0; ok && i < g->n_nodes; i++) {
        const node *n = g->nodes[i];
        bool done = false;

        if (foldable(&w, n))
            ok = fold_node(&w, n, o, &done);
        if (ok && !done)
            ok = rewrite_keep(&w, n);
    }
    return rewrite_end(&w, ok) && graph_prune(g, e);
}
