/* SPDX-License-Identifier: Apache-2.0 */
/* Compile once: passes, kernels, memory plan, pointers. Run many times. */
#include "runtime/program.h"

#include "base/file.h"
#include "runtime/bind.h"

#include <stdio.h>
#include <string.h>

/* A pointer that changes with each run: slot of a step's buf, and where it comes from. */
typedef struct patch {
    void **slot;
    place_kind kind; /* INPUT or OUTPUT */
    int index;
} patch;

typedef struct step {
    bound b;
    void **buf; /* inputs, then outputs */
    void *work;
    size_t pack_after; /* call.once: the node after which the leading phases run */
    size_t node;
} step;

typedef struct copy {
    void *to, *from;
    void *temp; /* NULL = straight */
    size_t bytes;
} copy;

struct program {
    engine *eng;
    graph *g;
    arena mem;
    memory_plan plan;
    bound *bounds; /* by node index */
    step *steps;
    size_t n_steps;
    copy *copies;
    size_t n_copies;
    patch *patches;
    size_t n_patches, cap_patches;
    void **params;
    void ***param_slots; /* every pointer that holds a param's memory, with its slot below */
    int *param_of;
    size_t n_param_slots, cap_param_slots, cap_param_of;
    bool unbound;  /* a param has no memory yet */
    bool prepared; /* what runs once has run */
    char *arena;
    size_t arena_bytes;
    char *scratch;
    size_t scratch_bytes;
};

/* --- compile ---------------------------------------------------------------------------------- */

static bool save_graph(engine *eng, const char *pass, const graph *g, error *e)
{
    const char *folder = eng->ctx->opt.save_graphs;
    const char *path;
    arena mem;
    buffer text;
    file_writer w;
    bool ok;

    context_log(eng->ctx, "passes: %s: %zu nodes after %s", g->name, g->n_nodes, pass);
    if (!folder)
        return true;
    arena_init(&mem, g->alloc);
    buffer_init(&text, g->alloc, 0);
    memset(&w, 0, sizeof w);
    path = arena_printf(&mem, e, "%s/%03d_%s_%s.ir", folder, eng->graphs_saved++, g->name, pass);
    ok = path && folder_make(folder, e) && graph_print(g, &text, e) &&
         file_writer_open(&w, g->alloc, path, e) && file_writer_write(&w, text.data, text.len, e) &&
         file_writer_commit(&w, e);
    file_writer_abort(&w);
    buffer_free(&text);
    arena_free(&mem);
    return ok;
}

typedef struct watcher {
    engine *eng;
    const program_options *o;
} watcher;

static bool watch(void *user, const char *pass, const graph *g, error *e)
{
    const watcher *w = user;

    return save_graph(w->eng, pass, g, e) &&
           (!w->o || !w->o->after || w->o->after(w->o->after_user, pass, g, e));
}

static bool fold_node(void *user, const node *n, void *const *out)
{
    engine *eng = user;
    error e = {0};
    arena mem;
    bound b;
    void *buf[OP_MAX_IN + OP_MAX_OUT];
    bool ok;

    arena_init(&mem, &eng->ctx->alloc);
    ok = n->n_in <= OP_MAX_IN && node_bind(eng, n, &mem, &b, &e);
    for (int i = 0; ok && i < n->n_in; i++)
        buf[i] = n->in[i] ? (void *)(uintptr_t)n->in[i]->def->data : NULL;
    for (int i = 0; ok && i < n->n_out; i++)
        buf[n->n_in + i] = out[i];
    if (ok && b.needs.alias) {
        memcpy(out[0], buf[0], type_bytes(&n->out[0].type));
    } else if (ok) {
        void *scratch = arena_alloc(&mem, b.call.scratch + 64, &e);
        void *work = arena_alloc(&mem, b.call.work + 64, &e);

        ok = scratch && work;
        if (ok)
            bound_run(NULL, &b, buf, (char *)scratch + (-(uintptr_t)scratch & 63),
                      (char *)work + (-(uintptr_t)work & 63));
    }
    arena_free(&mem);
    return ok;
}

static bool is_step(const node *n)
{
    return n->form == NODE_FUSED || (n->form == NODE_OP && node_class(n) != OP_EFFECT);
}

static unsigned fixed_inputs(const node *n, const bool *fixed)
{
    unsigned mask = 0;

    for (int k = 0; k < n->n_in && k < 32; k++)
        mask |= (unsigned)(n->in[k] && fixed[n->in[k]->id]) << k;
    return mask;
}

static bool bind_nodes(program *p, const bool *fixed, error *e)
{
    const graph *g = p->g;
    node_needs *needs;
    bool ok = true;

    p->bounds = arena_array(&p->mem, g->n_nodes + 1, sizeof *p->bounds, e);
    needs = arena_array(&p->mem, g->n_nodes + 1, sizeof *needs, e);
    if (!p->bounds || !needs)
        return false;
    for (size_t i = 0; ok && i < g->n_nodes; i++) {
        if (!is_step(g->nodes[i]))
            continue;
        ok = node_bind_fixed(p->eng, g->nodes[i], fixed ? fixed_inputs(g->nodes[i], fixed) : 0,
                             &p->mem, &p->bounds[i], e);
        needs[i] = p->bounds[i].needs;
        if (fixed && fixed[g->nodes[i]->out[0].id]) { /* all of it runs once */
            needs[i].once = true;
            needs[i].keeps_work = false;
            needs[i].packed = 0;
            p->bounds[i].call.once = p->bounds[i].call.phases;
        }
        if (p->bounds[i].row) {
            size_t s = (p->bounds[i].call.scratch + 63) & ~(size_t)63;

            p->bounds[i].call.scratch = s;
            p->scratch_bytes = s > p->scratch_bytes ? s : p->scratch_bytes;
            p->n_steps++;
        }
    }
    return ok && memory_plan_make(&p->plan, g, needs, e);
}

static bool add_patch(program *p, void **slot, const place *pl, error *e)
{
    if (!vec_reserve(p->g->alloc, (void **)&p->patches, sizeof *p->patches, p->n_patches + 1,
                     &p->cap_patches, "program", e))
        return false;
    p->patches[p->n_patches++] = (patch){.slot = slot, .kind = pl->kind, .index = pl->index};
    return true;
}

static bool add_param_slot(program *p, void **slot, int param, error *e)
{
    size_t n = p->n_param_slots + 1;

    if (!vec_reserve(p->g->alloc, (void **)&p->param_slots, sizeof *p->param_slots, n,
                     &p->cap_param_slots, "program", e) ||
        !vec_reserve(p->g->alloc, (void **)&p->param_of, sizeof *p->param_of, n, &p->cap_param_of,
                     "program", e))
        return false;
    p->param_slots[n - 1] = slot;
    p->param_of[n - 1] = param;
    p->n_param_slots = n;
    return true;
}

/* Fills *slot now, or notes what has to fill it later. */
static bool resolve(program *p, void **slot, const value *v, error *e)
{
    const place *pl = &p->plan.places[v->id];

    switch (pl->kind) {
    case PLACE_ARENA:
        *slot = p->arena + pl->offset;
        return true;
    case PLACE_CONST:
        *slot = (void *)(uintptr_t)pl->node->data;
        return true;
    case PLACE_INPUT:
    case PLACE_OUTPUT:
        return add_patch(p, slot, pl, e);
    case PLACE_PARAM:
        return add_param_slot(p, slot, pl->index, e);
    case PLACE_NONE:
        break;
    }
    return fail(e, INGOT_E_INTERNAL, "program: a value without a place is read");
}

static bool resolve_steps(program *p, error *e)
{
    const graph *g = p->g;
    size_t k = 0;

    p->steps = arena_array(&p->mem, p->n_steps + 1, sizeof *p->steps, e);
    if (!p->steps)
        return false;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const node *n = g->nodes[i];
        step *s = &p->steps[k];

        if (!is_step(n) || !p->bounds[i].row)
            continue;
        k++;
        s->b = p->bounds[i];
        s->node = i;
        s->pack_after = s->b.call.once < s->b.call.phases ? p->plan.pack_after[i] : i;
        s->buf = arena_array(&p->mem, (size_t)n->n_in + (size_t)n->n_out, sizeof *s->buf, e);
        if (!s->buf)
            return false;
        if (p->plan.work_offset[i] != SIZE_MAX)
            s->work = p->arena + p->plan.work_offset[i];
        for (int j = 0; j < n->n_in; j++)
            if (n->in[j] && !resolve(p, &s->buf[j], n->in[j], e))
                return false;
        for (int j = 0; j < n->n_out; j++)
            if (!resolve(p, &s->buf[n->n_in + j], &n->out[j], e))
                return false;
    }
    return true;
}

static bool resolve_copies(program *p, error *e)
{
    p->n_copies = p->plan.n_copies;
    p->copies = arena_array(&p->mem, p->n_copies + 1, sizeof *p->copies, e);
    if (!p->copies)
        return false;
    for (size_t i = 0; i < p->n_copies; i++) {
        const late_copy *c = &p->plan.copies[i];
        place out = {.kind = PLACE_OUTPUT, .index = c->output};

        p->copies[i].bytes = type_bytes(&c->from->type);
        if (c->through_temp)
            p->copies[i].temp = p->arena + c->offset;
        if (!resolve(p, &p->copies[i].from, c->from, e) ||
            !(c->to ? resolve(p, &p->copies[i].to, c->to, e)
                    : add_patch(p, &p->copies[i].to, &out, e)))
            return false;
    }
    return true;
}

static bool allocate(program *p, error *e)
{
    size_t threads = (size_t)pool_threads(p->eng->ctx->pool);
    const device *dev = p->eng->dev;

    p->arena_bytes = p->plan.arena_bytes + 64;
    if (!size_mul(p->scratch_bytes + 64, threads, &p->scratch_bytes))
        return fail(e, INGOT_E_MEMORY, "program: scratch size overflows");
    p->arena = dev->alloc(p->g->alloc, p->arena_bytes, "program arena", e);
    p->scratch = p->arena ? dev->alloc(p->g->alloc, p->scratch_bytes, "program scratch", e) : NULL;
    p->params = arena_array(&p->mem, p->g->n_params + 1, sizeof *p->params, e);
    p->unbound = p->g->n_params > 0;
    return p->arena && p->scratch && p->params;
}

static bool compile(program *p, const program_options *o, error *e)
{
    watcher w = {p->eng, o};
    pass_options po = {
        .fold = fold_node,
        .fold_user = p->eng,
        .fixed_params = o && o->fixed_params,
        .off = p->eng->ctx->opt.passes_off,
        .after = watch,
        .after_user = &w,
    };
    bool *fixed = NULL;
    bool ok = passes_run(p->g, &po, e);

    if (ok && po.fixed_params)
        ok = (fixed = fixed_values(p->g, &p->mem, e)) != NULL;
    return ok && bind_nodes(p, fixed, e) && allocate(p, e) && resolve_steps(p, e) &&
           resolve_copies(p, e);
}

program *program_new(engine *eng, const graph *g, const program_options *o, error *e)
{
    program *p = mem_new(g->alloc, sizeof *p, "program", e);

    if (!p)
        return NULL;
    p->eng = eng;
    arena_init(&p->mem, g->alloc);
    p->g = graph_clone(g, e);
    if (!p->g) {
        mem_free(g->alloc, p, sizeof *p);
        return NULL;
    }
    if (!compile(p, o, e)) {
        program_free(p);
        return NULL;
    }
    return p;
}

void program_free(program *p)
{
    const allocator *a;

    if (!p)
        return;
    a = p->g->alloc;
    if (p->arena)
        p->eng->dev->free(a, p->arena, p->arena_bytes);
    if (p->scratch)
        p->eng->dev->free(a, p->scratch, p->scratch_bytes);
    mem_free(a, p->patches, p->cap_patches * sizeof *p->patches);
    mem_free(a, p->param_slots, p->cap_param_slots * sizeof *p->param_slots);
    mem_free(a, p->param_of, p->cap_param_of * sizeof *p->param_of);
    memory_plan_free(&p->plan);
    arena_free(&p->mem);
    graph_free(p->g);
    mem_free(a, p, sizeof *p);
}

/* --- run ----------------------------------------------------------------------------------------
 */

void program_bind_param(program *p, size_t slot, void *data)
{
    if (slot >= p->g->n_params)
        return;
    p->params[slot] = data;
    for (size_t i = 0; i < p->n_param_slots; i++)
        if (p->param_of[i] == (int)slot)
            *p->param_slots[i] = data;
    p->unbound = false;
    for (size_t i = 0; i < p->g->n_params; i++)
        p->unbound = p->unbound || !p->params[i];
}

/* Outputs, then params; what an earlier copy may overwrite goes through its temporary. */
static void run_copies(program *p)
{
    const device *dev = p->eng->dev;

    for (size_t i = 0; i < p->n_copies; i++)
        if (p->copies[i].temp)
            dev->copy(p->copies[i].temp, p->copies[i].from, p->copies[i].bytes);
    for (size_t i = 0; i < p->n_copies; i++) {
        copy *c = &p->copies[i];

        if (c->temp || c->to != c->from)
            dev->copy(c->to, c->temp ? c->temp : c->from, c->bytes);
    }
}

/* What runs once: whole steps, in order, and each step's packing as soon as it can. */
static void prepare(program *p)
{
    pool *threads = p->eng->ctx->pool;

    for (size_t at = 0; at < p->g->n_nodes; at++)
        for (size_t i = 0; i < p->n_steps; i++) {
            step *s = &p->steps[i];

            if (s->pack_after == at && s->b.call.once > 0)
                bound_run_phases(threads, &s->b, s->buf, p->scratch, s->work, 0, s->b.call.once);
        }
    p->prepared = true;
}

bool program_run(program *p, void *const *inputs, void *const *outputs, error *e)
{
    pool *threads = p->eng->ctx->pool;

    if (p->unbound)
        return fail(e, INGOT_E_STATE, "program '%s': a parameter has no memory", p->g->name);
    for (size_t i = 0; i < p->n_patches; i++) {
        const patch *t = &p->patches[i];

        *t->slot = t->kind == PLACE_INPUT ? inputs[t->index] : outputs[t->index];
    }
    if (!p->prepared)
        prepare(p);
    for (size_t i = 0; i < p->n_steps; i++) {
        step *s = &p->steps[i];

        bound_run_phases(threads, &s->b, s->buf, p->scratch, s->work, s->b.call.once,
                         s->b.call.phases);
    }
    run_copies(p);
    return true;
}

const graph *program_graph(const program *p)
{
    return p->g;
}

const memory_plan *program_memory(const program *p)
{
    return &p->plan;
}

size_t program_scratch(const program *p)
{
    return p->scratch_bytes;
}
