/* SPDX-License-Identifier: Apache-2.0 */
/* fuse: pointwise nodes over one iteration space, and the reductions that end them, become one
   region, which the loop engine runs in a single walk.

   before:  %2 = mul(%0, %1)   %3 = relu(%2)   %4 = sum(%3) {axes=[1], keepdims=false}
   after:   %4 = fused(%0, %1) { ... return %4 }

   A node joins the group of one of its inputs when space and compute class agree and no path
   leads from the group through an outsider back to the node. Values whose dtype is not the
   class's own (an f16 result) end a region: reading them back rounds, as the op by itself does. */
#include "passes/fuse_groups.h"
#include "passes/passes.h"

/* The index of a node, kept in a side array by the id of its first result. */
static size_t node_index(const fuser *f, const value *v)
{
    return f->index[v->def->out[0].id];
}

static bool in_region(const fuser *f, const value *v, int unit)
{
    return f->unit[node_index(f, v)] == unit;
}

/* Is v read by anyone outside its unit, or an output of the graph? */
static bool escapes(const fuser *f, const value *v)
{
    return f->escapes[v->id];
}

static void mark_escapes(fuser *f)
{
    const graph *g = f->g;

    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i]->n_in; k++) {
            const value *v = g->nodes[i]->in[k];

            if (v && f->unit[node_index(f, v)] != f->unit[i])
                f->escapes[v->id] = true;
        }
    for (size_t i = 0; i < g->n_outputs; i++)
        f->escapes[g->outputs[i]->id] = true;
}

/* Builds the region's graph; ext gets the outside inputs, in order of first use. */
static graph *region_build(fuser *f, int unit, value **ext, int *n_ext)
{
    group *u = &f->groups[unit];
    graph *r = graph_new(f->g->alloc, f->g->ops, "fused", f->e);
    value **map = mem_new_array(f->g->alloc, (size_t)f->g->n_values + 1, sizeof *map, "fuse", f->e);
    builder b = {.g = r, .err = f->e};
    bool ok = r && map;

    *n_ext = 0;
    for (int m = 0; ok && m < u->n_members; m++) {
        const node *n = f->g->nodes[u->members[m]];

        for (int k = 0; ok && k < n->n_in; k++) {
            value *v = n->in[k];

            if (map[v->id] || in_region(f, v, unit))
                continue;
            map[v->id] = ir_input(&b, NULL, &v->type);
            ok = map[v->id] != NULL;
            ext[(*n_ext)++] = v;
        }
        if (ok) {
            value *in[OP_MAX_IN];
            node *c;

            for (int k = 0; k < n->n_in; k++)
                in[k] = map[n->in[k]->id];
            c = ir_copy_node(&b, n, in);
            ok = c != NULL;
            if (ok)
                map[n->out[0].id] = &c->out[0];
        }
    }
    for (int m = 0; ok && m < u->n_members; m++) {
        const value *v = &f->g->nodes[u->members[m]]->out[0];

        if (escapes(f, v))
            ok = graph_output(r, map[v->id], NULL, f->e);
    }
    mem_free(f->g->alloc, map, ((size_t)f->g->n_values + 1) * sizeof *map);
    if (!ok) {
        graph_free(r);
        return NULL;
    }
    return r;
}

static bool emit_group(fuser *f, rewriter *w, int unit)
{
    group *u = &f->groups[unit];
    value *ext[FUSE_MAX_IN], *in[FUSE_MAX_IN], *v;
    int n_ext, k = 0;
    graph *r = region_build(f, unit, ext, &n_ext);

    if (!r)
        return false;
    for (int i = 0; i < n_ext; i++)
        in[i] = rewrite_in(w, ext[i]);
    v = ir_fused(&w->b, r, in, n_ext, f->g->nodes[u->members[0]]->name);
    if (!v) {
        graph_free(r);
        return false;
    }
    for (int m = 0; m < u->n_members; m++) {
        const value *old = &f->g->nodes[u->members[m]]->out[0];

        if (escapes(f, old))
            w->map[old->id] = ir_result(v, k++);
    }
    return true;
}

/* Regions with more results than the engine takes fall apart into their nodes. */
static void dissolve_large(fuser *f)
{
    for (int u = 0; u < f->n_groups; u++) {
        group *gr = &f->groups[u];
        int outs = 0;

        for (int m = 0; m < gr->n_members; m++)
            outs += escapes(f, &f->g->nodes[gr->members[m]]->out[0]);
        if (gr->n_members < 2 || outs > FUSE_MAX_OUT || outs == 0) {
            for (int m = 0; m < gr->n_members; m++)
                f->unit[gr->members[m]] = -1;
            gr->n_members = 0;
        }
    }
}

/* Emits units so that each comes after what it reads: depth first with a stack of our own, in
   the order of their last members, so that the old order is kept where it can be. */
static bool emit_unit(fuser *f, rewriter *w, size_t at)
{
    size_t depth = 0;
    size_t *stack = f->stack; /* n_nodes + 1 entries: one for each open unit */

    stack[depth++] = at;
    while (depth) {
        size_t top = stack[depth - 1], next = SIZE_MAX;
        int unit = f->unit[top];
        int n_members = unit < 0 ? 1 : f->groups[unit].n_members;

        if (f->done[top]) {
            depth--;
            continue;
        }
        for (int m = 0; m < n_members && next == SIZE_MAX; m++) {
            size_t i = unit < 0 ? top : f->groups[unit].members[m];
            const node *n = f->g->nodes[i];

            for (int k = 0; k < n->n_in && next == SIZE_MAX; k++) {
                size_t d = n->in[k] ? node_index(f, n->in[k]) : SIZE_MAX;

                if (d != SIZE_MAX && !f->done[d] && !(unit >= 0 && f->unit[d] == unit))
                    next = d;
            }
        }
        if (next != SIZE_MAX) {
            if (depth > f->g->n_nodes)
                return fail(f->e, INGOT_E_INTERNAL, "fuse: regions depend on each other");
            stack[depth++] = next;
            continue;
        }
        if (!(unit < 0 ? rewrite_keep(w, f->g->nodes[top]) : emit_group(f, w, unit)))
            return false;
        for (int m = 0; m < n_members; m++)
            f->done[unit < 0 ? top : f->groups[unit].members[m]] = true;
        depth--;
    }
    return true;
}

static bool fuse_rewrite(fuser *f)
{
    rewriter w;
    bool ok;

    mark_escapes(f);
    dissolve_large(f);
    /* units changed: who reads across them did too */
    mark_escapes(f);
    if (!rewrite_begin(&w, f->g, f->e))
        return false;
    ok = true;
    /* inputs and params first: their order is the program's interface */
    for (size_t i = 0; ok && i < f->g->n_nodes; i++) {
        node_form form = f->g->nodes[i]->form;

        if (form == NODE_INPUT || form == NODE_PARAM) {
            ok = rewrite_keep(&w, f->g->nodes[i]);
            f->done[i] = true;
        }
    }
    for (size_t i = 0; ok && i < f->g->n_nodes; i++) {
        int unit = f->unit[i];
        bool last = unit < 0 || f->groups[unit].members[f->groups[unit].n_members - 1] == i;

        if (last)
            ok = emit_unit(f, &w, i);
    }
    return rewrite_end(&w, ok);
}

bool pass_fuse(graph *g, const pass_options *o, error *e)
{
    fuser f;
    bool ok;

    if (g->n_nodes == 0)
        return true;
    ok = fuser_init(&f, g, e) &&
         (!o->fixed_params || (f.fixed = fixed_values(g, &f.mem, e)) != NULL);
    for (size_t i = 0; ok && i < g->n_nodes; i++)
        ok = fuser_place(&f, i);
    ok = ok && fuse_rewrite(&f);
    fuser_free(&f);
    return ok;
}
