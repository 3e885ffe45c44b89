/* SPDX-License-Identifier: Apache-2.0 */
/* The graph in Graphviz's language. */
#include "ir/ir.h"

static const char *node_label(const node *n)
{
    switch (n->form) {
    case NODE_INPUT:
        return "input";
    case NODE_PARAM:
        return "param";
    case NODE_CONST:
        return "const";
    case NODE_FUSED:
        return "fused";
    case NODE_OP:
        break;
    }
    return n->op->name;
}

static bool dot_label(buffer *out, const char *s, error *e)
{
    bool ok = true;

    for (; ok && *s; s++) {
        if (*s == '"' || *s == '\\')
            ok = buffer_add(out, "\\", 1, e);
        ok = ok && buffer_add(out, *s < ' ' ? " " : s, 1, e);
    }
    return ok;
}

static bool dot_node(const graph *g, size_t at, buffer *out, error *e)
{
    const node *n = g->nodes[at];
    char text[TYPE_TEXT];
    bool leaf = n->form == NODE_INPUT || n->form == NODE_PARAM || n->form == NODE_CONST;
    bool ok = buffer_printf(out, e, "  v%d [shape=%s, label=\"%s", n->out[0].id,
                            leaf ? "ellipse" : "box", node_label(n));

    for (size_t i = 0; ok && n->form == NODE_FUSED && i < n->region->n_nodes; i++)
        if (n->region->nodes[i]->form == NODE_OP)
            ok = buffer_printf(out, e, "\\n%s", n->region->nodes[i]->op->name);
    if (ok && n->name)
        ok = buffer_printf(out, e, "\\n") && dot_label(out, n->name, e);
    ok = ok && buffer_printf(out, e, "\\n%s\"];\n", type_text(&n->out[0].type, text));
    for (int i = 0; ok && i < n->n_in; i++)
        if (n->in[i])
            ok = buffer_printf(out, e, "  v%d -> v%d;\n", n->in[i]->def->out[0].id, n->out[0].id);
    return ok;
}

bool graph_dot(const graph *g, buffer *out, error *e)
{
    bool ok = buffer_printf(out, e, "digraph \"") && dot_label(out, g->name, e) &&
              buffer_printf(out, e, "\" {\n  node [fontname=\"monospace\"];\n");

    for (size_t i = 0; ok && i < g->n_nodes; i++)
        ok = dot_node(g, i, out, e);
    return ok && buffer_printf(out, e, "}\n");
}
