/* SPDX-License-Identifier: Apache-2.0 */
/* expand: ops that are written in other ops become those ops.

   before:  %2 = linear(%0, %1, _)
   after:   %2 = matmul(%0, %1) {trans_x=false, trans_y=true} */
#include "ir/op_internal.h"
#include "passes/passes.h"

#define MAX_DEPTH 16 /* an expansion may hold ops that expand; a cycle among rows ends here */

static bool expandable(const node *n)
{
    return n->form == NODE_OP && n->op->row->expand;
}

static bool expand_node(rewriter *w, const node *n)
{
    value *result[OP_MAX_OUT] = {0};
    value **in = mem_new_array(w->g->alloc, (size_t)n->n_in + 1, sizeof *in, "expand", w->err);
    rule r = {.b = &w->b, .n = n, .in = in, .result = result};
    bool ok = in != NULL;

    for (int i = 0; ok && i < n->n_in; i++)
        in[i] = rewrite_in(w, n->in[i]);
    if (ok) {
        w->b.path = n->name;
        n->op->row->expand(&r);
        w->b.path = NULL;
    }
    for (int i = 0; ok && i < n->n_out; i++) {
        ok = result[i] != NULL;
        if (!ok)
            fail(w->err, INGOT_E_INTERNAL, "op '%s': its expansion lacks result %d", n->op->name,
                 i);
        else
            w->map[n->out[i].id] = result[i];
    }
    mem_free(w->g->alloc, in, ((size_t)n->n_in + 1) * sizeof *in);
    return ok;
}

bool pass_expand(graph *g, const pass_options *o, error *e)
{
    (void)o;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        bool any = false, ok = true;
        rewriter w;

        for (size_t i = 0; i < g->n_nodes; i++)
            any = any || expandable(g->nodes[i]);
        if (!any)
            return true;
        if (!rewrite_begin(&w, g, e))
            return false;
        for (size_t i = 0; ok && i < g->n_nodes; i++)
            ok = expandable(g->nodes[i]) ? expand_node(&w, g->nodes[i])
                                         : rewrite_keep(&w, g->nodes[i]);
        if (!rewrite_end(&w, ok))
            return false;
    }
    return fail(e, INGOT_E_INTERNAL, "op expansions nest deeper than %d", MAX_DEPTH);
}
