/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier: what every pass may rely on. Run after each pass in debug builds and tests. */
#include "ir/internal.h"
#include "ir/ir.h"
#include "ir/op_internal.h"

#include <string.h>

static bool node_fail(const node *n, size_t at, error *e, const char *what)
{
    const char *what_node = n->form == NODE_OP      ? n->op->name
                            : n->form == NODE_FUSED ? "fused"
                                                    : "leaf";

    return fail(e, INGOT_E_INTERNAL, "graph: node %zu, %s%s%s%s: %s", at, what_node,
                n->name ? " (" : "", n->name ? n->name : "", n->name ? ")" : "", what);
}

static bool verify_types(const node *n, size_t at, const allocator *a, error *e)
{
    type out[OP_MAX_OUT], *in;
    bool ok;
    error inner = {0};

    if (n->form != NODE_OP)
        return true;
    if (n->n_out != n->op->n_out)
        return node_fail(n, at, e, "number of results differs from the signature");
    in = mem_new_array(a, (size_t)n->n_in + 1, sizeof *in, "input types", e);
    if (!in)
        return false;
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] ? n->in[i]->type : (type){.rank = -1};
    ok = op_infer(n->op, n->name, in, n->n_in, n->attrs, n->op->n_attrs, out, &inner);
    mem_free(a, in, ((size_t)n->n_in + 1) * sizeof *in);
    if (!ok)
        return node_fail(n, at, e, inner.text);
    for (int i = 0; i < n->n_out; i++)
        if (!type_equal(&out[i], &n->out[i].type))
            return node_fail(n, at, e, "a result's type is not the inferred one");
    return true;
}

static bool verify_region(const node *n, size_t at, error *e)
{
    const graph *r = n->region;

    if (n->form != NODE_FUSED)
        return true;
    if (!r || r->n_inputs != (size_t)n->n_in || r->n_outputs != (size_t)n->n_out || r->n_params)
        return node_fail(n, at, e, "region does not fit its node");
    for (int i = 0; i < n->n_in; i++)
        if (!type_equal(&r->inputs[i]->out[0].type, &n->in[i]->type))
            return node_fail(n, at, e, "region input differs in type");
    for (int i = 0; i < n->n_out; i++)
        if (!type_equal(&r->outputs[i]->type, &n->out[i].type))
            return node_fail(n, at, e, "region result differs in type");
    return graph_verify(r, e);
}

static bool verify_node(const graph *g, size_t at, bool *defined, error *e)
{
    const node *n = g->nodes[at];

    for (int i = 0; i < n->n_in; i++) {
        const value *v = n->in[i];

        if (!v) {
            if (n->form != NODE_OP)
                return node_fail(n, at, e, "absent input");
            continue;
        }
        if (v->id < 0 || v->id >= g->n_values || !defined[v->id])
            return node_fail(n, at, e, "uses a value before it is defined, or of another graph");
    }
    for (int i = 0; i < n->n_out; i++) {
        const value *v = &n->out[i];

        if (v->def != n || v->index != i || v->id < 0 || v->id >= g->n_values || defined[v->id])
            return node_fail(n, at, e, "result is not its own");
        if (!type_check(&v->type, e))
            return false;
        defined[v->id] = true;
    }
    if (n->form == NODE_CONST && !n->data && type_bytes(&n->out[0].type) > 0)
        return node_fail(n, at, e, "constant without data");
    return verify_types(n, at, g->alloc, e) && verify_region(n, at, e);
}

bool graph_verify(const graph *g, error *e)
{
    size_t bytes = (size_t)g->n_values + 1;
    bool *defined = mem_new(g->alloc, bytes, "verifier", e);
    bool ok = defined != NULL;

    for (size_t i = 0; ok && i < g->n_nodes; i++)
        ok = verify_node(g, i, defined, e);
    for (size_t i = 0; ok && i < g->n_outputs; i++) {
        const value *v = g->outputs[i];

        if (v->id < 0 || v->id >= g->n_values || !defined[v->id])
            ok = fail(e, INGOT_E_INTERNAL, "graph: output %zu is not a value of the graph", i);
    }
    mem_free(g->alloc, defined, bytes);
    return ok;
}
