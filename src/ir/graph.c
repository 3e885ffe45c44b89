/* SPDX-License-Identifier: Apache-2.0 */
/* Graph memory: making, cloning, pruning. */
#include "ir/internal.h"
#include "ir/ir.h"

#include <string.h>

graph *graph_new(const allocator *a, const op_registry *ops, const char *name, error *e)
{
    graph *g = mem_new(a, sizeof *g, "graph", e);

    if (!g)
        return NULL;
    g->alloc = a;
    g->ops = ops;
    arena_init(&g->mem, a);
    g->name = arena_strdup(&g->mem, name ? name : "main", e);
    if (!g->name) {
        graph_free(g);
        return NULL;
    }
    return g;
}

/* What the arena does not hold. */
static void graph_free_contents(graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        graph_free(g->nodes[i]->region);
    mem_free(g->alloc, g->nodes, g->cap_nodes * sizeof *g->nodes);
    mem_free(g->alloc, g->inputs, g->cap_inputs * sizeof *g->inputs);
    mem_free(g->alloc, g->params, g->cap_params * sizeof *g->params);
    mem_free(g->alloc, g->outputs, g->cap_outputs * sizeof *g->outputs);
    mem_free(g->alloc, g->output_names, g->cap_output_names * sizeof *g->output_names);
    arena_free(&g->mem);
}

void graph_free(graph *g)
{
    if (!g)
        return;
    graph_free_contents(g);
    mem_free(g->alloc, g, sizeof *g);
}

void graph_swap(graph *a, graph *b)
{
    graph t = *a;

    *a = *b;
    *b = t;
}

bool graph_append(graph *g, node *n, error *e)
{
    node ***list = NULL;
    size_t *count = NULL, *cap = NULL;

    if (!vec_reserve(g->alloc, (void **)&g->nodes, sizeof *g->nodes, g->n_nodes + 1, &g->cap_nodes,
                     "graph nodes", e))
        return false;
    if (n->form == NODE_INPUT) {
        list = &g->inputs;
        count = &g->n_inputs;
        cap = &g->cap_inputs;
    } else if (n->form == NODE_PARAM) {
        list = &g->params;
        count = &g->n_params;
        cap = &g->cap_params;
        n->slot = (int)g->n_params;
    }
    if (list) {
        if (!vec_reserve(g->alloc, (void **)list, sizeof **list, *count + 1, cap, "graph inputs",
                         e))
            return false;
        (*list)[(*count)++] = n;
    }
    g->nodes[g->n_nodes++] = n;
    return true;
}

bool graph_output(graph *g, value *v, const char *name, error *e)
{
    const char *copy = NULL;

    if (!v)
        return fail(e, INGOT_E_ARGUMENT, "graph output %zu: no value", g->n_outputs);
    if (name) {
        copy = arena_strdup(&g->mem, name, e);
        if (!copy)
            return false;
    }
    if (!vec_reserve(g->alloc, (void **)&g->outputs, sizeof *g->outputs, g->n_outputs + 1,
                     &g->cap_outputs, "graph outputs", e) ||
        !vec_reserve(g->alloc, (void **)&g->output_names, sizeof *g->output_names, g->n_outputs + 1,
                     &g->cap_output_names, "graph outputs", e))
        return false;
    g->output_names[g->n_outputs] = copy;
    g->outputs[g->n_outputs++] = v;
    return true;
}

graph *graph_clone(const graph *g, error *e)
{
    graph *c = graph_new(g->alloc, g->ops, g->name, e);
    value **map = mem_new_array(g->alloc, (size_t)g->n_values + 1, sizeof *map, "graph map", e);
    builder b = {.g = c, .err = e};
    bool ok = c && map;

    for (size_t i = 0; ok && i < g->n_nodes; i++)
        ok = copy_mapped(&b, g->nodes[i], map) != NULL;
    for (size_t i = 0; ok && i < g->n_outputs; i++)
        ok = graph_output(c, map[g->outputs[i]->id], g->output_names[i], e);
    mem_free(g->alloc, map, ((size_t)g->n_values + 1) * sizeof *map);
    if (!ok) {
        graph_free(c);
        return NULL;
    }
    return c;
}

bool graph_prune(graph *g, error *e)
{
    size_t bytes = (size_t)g->n_values + 1, kept = 0;
    bool *live = mem_new(g->alloc, bytes, "live set", e);

    if (!live)
        return false;
    for (size_t i = 0; i < g->n_outputs; i++)
        live[g->outputs[i]->id] = true;
    for (size_t i = g->n_nodes; i-- > 0;) {
        node *n = g->nodes[i];
        bool keep = n->form == NODE_INPUT || n->form == NODE_PARAM || node_class(n) == OP_EFFECT;

        for (int k = 0; k < n->n_out; k++)
            keep = keep || live[n->out[k].id];
        for (int k = 0; keep && k < n->n_in; k++)
            if (n->in[k])
                live[n->in[k]->id] = true;
        for (int k = 0; k < n->n_out; k++)
            live[n->out[k].id] = keep;
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        node *n = g->nodes[i];

        if (n->n_out == 0 || live[n->out[0].id]) {
            g->nodes[kept++] = n;
        } else {
            graph_free(n->region);
            n->region = NULL;
        }
    }
    g->n_nodes = kept;
    mem_free(g->alloc, live, bytes);
    return true;
}
