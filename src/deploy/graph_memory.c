/* SPDX-License-Identifier: Apache-2.0 */
/* The memory plan as people read it. */
#include "deploy/graph_view.h"

#include <string.h>

#define BAR 40 /* characters, for the whole arena */

static size_t bytes_of(node *const *nodes, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += type_bytes(&nodes[i]->out[0].type);
    return sum;
}

static size_t output_bytes(const graph *g)
{
    size_t sum = 0;

    for (size_t i = 0; i < g->n_outputs; i++)
        sum += type_bytes(&g->outputs[i]->type);
    return sum;
}

static double mega(size_t bytes)
{
    return (double)bytes / 1e6;
}

static bool totals(const program *p, buffer *out, error *e)
{
    const graph *g = program_graph(p);
    const memory_plan *m = program_memory(p);
    size_t params = bytes_of(g->params, g->n_params), inputs = bytes_of(g->inputs, g->n_inputs);
    size_t outputs = output_bytes(g), scratch = program_scratch(p);

    return buffer_printf(out, e, "graph \"%s\", memory in MB (1e6 bytes)\n", g->name) &&
           buffer_printf(out, e, "%12.3f  arena: all values in between; %.3f without sharing\n",
                         mega(m->arena_bytes), mega(m->naive_bytes)) &&
           buffer_printf(out, e, "%12.3f  scratch of all threads\n", mega(scratch)) &&
           buffer_printf(out, e, "%12.3f  parameters\n", mega(params)) &&
           buffer_printf(out, e, "%12.3f  inputs\n", mega(inputs)) &&
           buffer_printf(out, e, "%12.3f  outputs\n", mega(outputs)) &&
           buffer_printf(out, e, "%12.3f  sum\n",
                         mega(m->arena_bytes) + mega(scratch) + mega(params) + mega(inputs) +
                             mega(outputs));
}

static bool step_line(const node *n, size_t live, size_t peak, buffer *out, error *e)
{
    static const char full[] = "########################################";
    static const char none[] = "........................................";
    int bar = (int)((double)live / (double)(peak ? peak : 1) * BAR + 0.5);

    bar = bar > BAR ? BAR : bar;
    return buffer_printf(out, e, "%12.3f  %.*s%.*s  %%%d %s%s%s\n", mega(live), bar, full,
                         BAR - bar, none, n->out[0].id,
                         n->form == NODE_FUSED ? "fused" : n->op->name, n->name ? " " : "",
                         n->name ? n->name : "");
}

bool memory_report(const program *p, buffer *out, error *e)
{
    const graph *g = program_graph(p);
    const memory_plan *m = program_memory(p);
    bool ok = totals(p, out, e) && buffer_printf(out, e, "\nthe arena in use, step by step\n");

    for (size_t i = 0; ok && i < g->n_nodes; i++) {
        const node *n = g->nodes[i];

        /* a reshape only gives a name to what is there */
        if (n->form == NODE_FUSED ||
            (n->form == NODE_OP && node_class(n) != OP_EFFECT && !node_is(n, "reshape")))
            ok = step_line(n, m->live[i], m->arena_bytes, out, e);
    }
    return ok;
}
