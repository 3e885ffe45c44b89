/* SPDX-License-Identifier: Apache-2.0 */
/* The static memory plan. Values that share memory by nature (reshape) or in place form one buffer;
   buffers whose lifetimes do not meet share the arena, placed offline, largest first, at the
   lowest free offset ("greedy by size", Pisarchyk and Lee, 2020).

   What needs to run only once comes first in the graph; what later nodes read of it is live to the
   end, and so is what they packed of it in their own work memory.

   An assign writes its param either directly (the node that computes the new value writes into
   the param's memory, when nobody reads the old value after that) or by a copy at the end. */
#include "passes/memory_internal.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 64u

static size_t align_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static bool is_step(const node *n)
{
    return n->form == NODE_FUSED || (n->form == NODE_OP && node_class(n) != OP_EFFECT);
}

static value *root_of(const planner *p, const value *v)
{
    return p->root[v->id];
}

static place *place_of(const planner *p, const value *v)
{
    return &p->plan->places[root_of(p, v)->id];
}

static void read_until(planner *p, const value *root, size_t at)
{
    if (p->last[root->id] < at)
        p->last[root->id] = at;
}

/* Node i reads its inputs. What was computed once is kept for all runs, unless it is read only
   once too. */
static void note_reads(planner *p, size_t i)
{
    const node *n = p->g->nodes[i];
    const node_needs *needs = &p->needs[i];
    size_t packing = 0;

    for (int k = 0; k < n->n_in && k < 32; k++)
        if (n->in[k] && (needs->packed >> k & 1u) && p->def[root_of(p, n->in[k])->id] > packing)
            packing = p->def[root_of(p, n->in[k])->id];
    p->plan->pack_after[i] = packing;
    for (int k = 0; k < n->n_in; k++) {
        const value *r = n->in[k] ? root_of(p, n->in[k]) : NULL;

        if (!r)
            continue;
        if (k < 32 && (needs->packed >> k & 1u))
            read_until(p, r, packing);
        else
            read_until(p, r, p->needs[p->def[r->id]].once && !needs->once ? p->g->n_nodes : i);
    }
}

/* Roots, first places and last reads. */
static bool find_lifetimes(planner *p)
{
    const graph *g = p->g;

    for (size_t i = 0; i < g->n_nodes; i++) {
        node *n = g->nodes[i];

        for (int k = 0; k < n->n_out; k++) {
            value *v = &n->out[k];
            place *pl = &p->plan->places[v->id];

            p->root[v->id] = v;
            p->def[v->id] = p->last[v->id] = i;
            pl->node = n;
            if (n->form == NODE_INPUT) {
                pl->kind = PLACE_INPUT;
                pl->index = (int)p->n_inputs++;
            } else if (n->form == NODE_PARAM) {
                pl->kind = PLACE_PARAM;
                pl->index = n->slot;
            } else if (n->form == NODE_CONST) {
                pl->kind = PLACE_CONST;
            } else if (is_step(n)) {
                pl->kind = PLACE_ARENA;
            } else {
                pl->kind = PLACE_NONE; /* assign: readers were sent to its source */
            }
        }
        if (is_step(n) && p->needs[i].alias) {
            p->root[n->out[0].id] = root_of(p, n->in[0]);
        }
        if (is_step(n))
            note_reads(p, i);
    }
    return true;
}

/* --- outputs and assigns ---------------------------------------------------------------------- */

static bool late(planner *p, late_copy c)
{
    p->plan->copies[p->plan->n_copies++] = c;
    p->last[root_of(p, c.from)->id] = p->g->n_nodes;
    return true;
}

static bool claimable(const planner *p, const value *root)
{
    return place_of(p, root)->kind == PLACE_ARENA &&
           p->plan->places[root->id].kind == PLACE_ARENA && !p->needs[p->def[root->id]].once;
}

static void place_outputs(planner *p)
{
    const graph *g = p->g;

    for (size_t i = 0; i < g->n_outputs; i++) {
        value *r = root_of(p, g->outputs[i]);

        if (claimable(p, r)) {
            p->plan->places[r->id] = (place){.kind = PLACE_OUTPUT, .index = (int)i, .node = r->def};
            p->last[r->id] = g->n_nodes;
        } else {
            late(p, (late_copy){.from = g->outputs[i], .output = (int)i});
        }
    }
}

/* The last assign to each param counts; the result goes to assign_to[slot]. */
static bool collect_assigns(planner *p)
{
    for (size_t i = 0; i < p->g->n_nodes; i++) {
        const node *n = p->g->nodes[i];

        if (n->form != NODE_OP || node_class(n) != OP_EFFECT)
            continue;
        if (n->n_in != 2 || n->in[0]->def->form != NODE_PARAM)
            return fail(p->e, INGOT_E_UNSUPPORTED, "op '%s'%s%s: its target must be a parameter",
                        n->op->name, n->name ? " " : "", n->name ? n->name : "");
        p->assign[n->in[0]->def->slot] = n;
    }
    return true;
}

/* May the node that defines r write it straight into the param's memory? */
static bool direct_ok(const planner *p, const node *assign, const value *r)
{
    const value *param = assign->in[0];
    size_t d = p->def[r->id];
    const node *def = r->def;

    if (!claimable(p, r) || p->last[param->id] > d || p->def[param->id] > d ||
        type_bytes(&r->type) != type_bytes(&param->type))
        return false;
    for (int k = 0; k < def->n_in; k++) {
        if (!def->in[k] || root_of(p, def->in[k]) != param)
            continue;
        if (def->in[k] != param || !(p->needs[d].inplace >> k & 1u) ||
            !type_equal(&r->type, &param->type) || (def->form == NODE_OP && r->index != 0))
            return false;
    }
    return true;
}

static void place_assigns(planner *p)
{
    const graph *g = p->g;

    /* first every read of an old param at the end, so that nobody overwrites it before */
    for (size_t s = 0; s < g->n_params; s++) {
        const node *a = p->assign[s];

        if (a && place_of(p, a->in[1])->kind == PLACE_PARAM)
            p->last[root_of(p, a->in[1])->id] = g->n_nodes;
    }
    for (size_t s = 0; s < g->n_params; s++) {
        const node *a = p->assign[s];
        value *r;

        if (!a || a->in[0] == a->in[1])
            continue;
        r = root_of(p, a->in[1]);
        if (direct_ok(p, a, r)) {
            p->plan->places[r->id] = (place){.kind = PLACE_PARAM, .index = (int)s, .node = r->def};
            p->last[r->id] = g->n_nodes;
        } else {
            late(p, (late_copy){.from = a->in[1],
                                .to = a->in[0],
                                .output = -1,
                                .through_temp = place_of(p, a->in[1])->kind == PLACE_PARAM});
        }
    }
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* A new interval in the arena; its index, or SIZE_MAX when memory is out. */
static size_t add_block(planner *p, size_t bytes, size_t first, size_t last)
{
    if (!vec_reserve(p->g->alloc, (void **)&p->blocks, sizeof *p->blocks, p->n_blocks + 1,
                     &p->cap_blocks, "memory plan", p->e))
        return SIZE_MAX;
    p->blocks[p->n_blocks] =
        (block){.bytes = align_up(bytes ? bytes : 1), .first = first, .last = last};
    return p->n_blocks++;
}

static int times_read(const planner *p, const node *n, const value *root)
{
    int times = 0;

    for (int k = 0; k < n->n_in; k++)
        times += n->in[k] && root_of(p, n->in[k]) == root;
    return times;
}

/* An input of node i that dies there and whose block result v may take over, or NULL. */
static value *dying_input(const planner *p, size_t i, const value *v)
{
    const node *n = p->g->nodes[i];

    if (n->form == NODE_OP && v->index != 0)
        return NULL;
    for (int k = 0; k < n->n_in && k < 32; k++) {
        value *r = n->in[k] ? root_of(p, n->in[k]) : NULL;

        if (r && (p->needs[i].inplace >> k & 1u) && p->block[r->id] != SIZE_MAX &&
            p->plan->places[r->id].kind == PLACE_ARENA && p->last[r->id] == i &&
            p->blocks[p->block[r->id]].holder == r && type_equal(&n->in[k]->type, &v->type) &&
            times_read(p, n, r) == 1)
            return r;
    }
    return NULL;
}

static bool make_blocks(planner *p)
{
    const graph *g = p->g;

    for (size_t i = 0; i < g->n_nodes; i++) {
        const node *n = g->nodes[i];

        for (int k = 0; is_step(n) && k < n->n_out; k++) {
            value *v = &n->out[k], *from;

            if (root_of(p, v) != v || p->plan->places[v->id].kind != PLACE_ARENA)
                continue;
            p->plan->naive_bytes += align_up(type_bytes(&v->type));
            from = dying_input(p, i, v);
            if (from) {
                p->block[v->id] = p->block[from->id];
                p->blocks[p->block[v->id]].last = p->last[v->id];
                p->blocks[p->block[v->id]].holder = v;
                continue;
            }
            p->block[v->id] = add_block(p, type_bytes(&v->type), i, p->last[v->id]);
            if (p->block[v->id] == SIZE_MAX)
                return false;
            p->blocks[p->block[v->id]].holder = v;
        }
        p->work_block[i] = SIZE_MAX;
        if (is_step(n) && p->needs[i].work > 0) {
            p->plan->naive_bytes += align_up(p->needs[i].work);
            p->work_block[i] =
                p->needs[i].keeps_work
                    ? add_block(p, p->needs[i].work, p->plan->pack_after[i], g->n_nodes)
                    : add_block(p, p->needs[i].work, i, i);
            if (p->work_block[i] == SIZE_MAX)
                return false;
        }
    }
    for (size_t i = 0; i < p->plan->n_copies; i++)
        if (p->plan->copies[i].through_temp) {
            size_t b =
                add_block(p, type_bytes(&p->plan->copies[i].from->type), g->n_nodes, g->n_nodes);

            if (b == SIZE_MAX)
                return false;
            p->plan->copies[i].offset = b; /* the block for now; its offset once placed */
        }
    return true;
}

static int by_size(const void *a, const void *b)
{
    const block *x = *(const block *const *)a, *y = *(const block *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Lowest offset at which b meets none of the placed blocks that live with it. placed is kept in
   order of offset. */
static size_t lowest_fit(const block *b, block *const *placed, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        const block *q = placed[i];

        if (q->last < b->first || b->last < q->first)
            continue;
        if (q->offset >= at + b->bytes)
            break;
        if (q->offset + q->bytes > at)
            at = q->offset + q->bytes;
    }
    return at;
}

static bool place_blocks(planner *p)
{
    size_t n = p->n_blocks, count = 0;
    block **order = mem_new_array(p->g->alloc, n + 1, sizeof *order, "memory plan", p->e);
    block **placed = mem_new_array(p->g->alloc, n + 1, sizeof *placed, "memory plan", p->e);
    bool ok = order && placed;

    for (size_t i = 0; ok && i < n; i++)
        order[i] = &p->blocks[i];
    if (ok && n > 1)
        qsort(order, n, sizeof(*order), by_size);
    for (size_t i = 0; ok && i < n; i++) {
        block *b = order[i];
        size_t end, k = count++;

        b->offset = lowest_fit(b, placed, count - 1);
        if (!size_add(b->offset, b->bytes, &end)) {
            ok = fail(p->e, INGOT_E_MEMORY, "memory plan: size overflows");
            break;
        }
        for (; k > 0 && placed[k - 1]->offset > b->offset; k--)
            placed[k] = placed[k - 1];
        placed[k] = b;
        if (end > p->plan->arena_bytes)
            p->plan->arena_bytes = end;
    }
    mem_free(p->g->alloc, order, (n + 1) * sizeof *order);
    mem_free(p->g->alloc, placed, (n + 1) * sizeof *placed);
    return ok;
}

/* Copies the roots' places to all values and the offsets to where they are read. */
static void finish_places(planner *p)
{
    const graph *g = p->g;

    for (int id = 0; id < g->n_values; id++) {
        place *pl = &p->plan->places[id];

        if (p->root[id] && p->root[id]->id == id && pl->kind == PLACE_ARENA)
            pl->offset = p->blocks[p->block[id]].offset;
    }
    for (int id = 0; id < g->n_values; id++)
        if (p->root[id] && p->root[id]->id != id)
            p->plan->places[id] = p->plan->places[p->root[id]->id];
    for (size_t i = 0; i < g->n_nodes; i++)
        p->plan->work_offset[i] =
            p->work_block[i] == SIZE_MAX ? SIZE_MAX : p->blocks[p->work_block[i]].offset;
    for (size_t i = 0; i < p->plan->n_copies; i++)
        if (p->plan->copies[i].through_temp)
            p->plan->copies[i].offset = p->blocks[p->plan->copies[i].offset].offset;
}

static void count_live(planner *p)
{
    size_t *live = p->plan->live;

    /* what begins at each node less what has ended before it, then their running sum */
    for (size_t i = 0; i < p->n_blocks; i++) {
        live[p->blocks[i].first] += p->blocks[i].bytes;
        if (p->blocks[i].last < p->g->n_nodes)
            live[p->blocks[i].last + 1] -= p->blocks[i].bytes;
    }
    for (size_t i = 1; i <= p->g->n_nodes; i++)
        live[i] += live[i - 1];
}

static bool planner_init(planner *p, memory_plan *plan, const graph *g, error *e)
{
    size_t v = (size_t)g->n_values + 1, n = g->n_nodes + 1;
    arena *m = &plan->mem;

    arena_init(m, g->alloc);
    plan->n_values = (size_t)g->n_values;
    plan->n_nodes = g->n_nodes;
    plan->places = arena_array(m, v, sizeof *plan->places, e);
    plan->work_offset = arena_array(m, n, sizeof *plan->work_offset, e);
    plan->pack_after = arena_array(m, n, sizeof *plan->pack_after, e);
    plan->live = arena_array(m, n, sizeof *plan->live, e);
    plan->copies = arena_array(m, g->n_outputs + g->n_params + 1, sizeof *plan->copies, e);
    p->root = arena_array(m, v, sizeof *p->root, e);
    p->def = arena_array(m, v, sizeof *p->def, e);
    p->last = arena_array(m, v, sizeof *p->last, e);
    p->block = arena_array(m, v, sizeof *p->block, e);
    p->work_block = arena_array(m, n, sizeof *p->work_block, e);
    p->assign = arena_array(m, g->n_params + 1, sizeof *p->assign, e);
    if (!plan->places || !plan->work_offset || !plan->pack_after || !plan->live || !plan->copies ||
        !p->root || !p->def || !p->last || !p->block || !p->work_block || !p->assign)
        return false;
    for (size_t i = 0; i < v; i++)
        p->block[i] = SIZE_MAX;
    return true;
}

bool memory_plan_make(memory_plan *plan, const graph *g, const node_needs *needs, error *e)
{
    planner p = {.plan = plan, .g = g, .needs = needs, .e = e};
    bool ok;

    memset(plan, 0, sizeof *plan);
    ok = planner_init(&p, plan, g, e) && find_lifetimes(&p) && collect_assigns(&p);
    if (ok) {
        place_outputs(&p);
        place_assigns(&p);
        ok = make_blocks(&p) && place_blocks(&p);
    }
    if (ok) {
        finish_places(&p);
        count_live(&p);
    }
    mem_free(g->alloc, p.blocks, p.cap_blocks * sizeof *p.blocks);
    if (!ok)
        memory_plan_free(plan);
    return ok;
}

void memory_plan_free(memory_plan *p)
{
    arena_free(&p->mem);
    memset(p, 0, sizeof *p);
}
