/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping: see fuse.c. Reachability between groups is kept as bit sets, so that "would this make
   a cycle" is a walk over groups, not over nodes. */
#include "passes/fuse_groups.h"
#include "passes/passes.h"

#include <string.h>

bool fuser_init(fuser *f, graph *g, error *e)
{
    size_t n = g->n_nodes, v = (size_t)g->n_values + 1, candidates = 0;

    *f = (fuser){.g = g, .e = e};
    arena_init(&f->mem, g->alloc);
    for (size_t i = 0; i < n; i++)
        candidates +=
            node_class(g->nodes[i]) == OP_POINTWISE || node_class(g->nodes[i]) == OP_REDUCTION;
    f->words = candidates / 64 + 1;
    f->index = arena_array(&f->mem, v, sizeof *f->index, e);
    f->unit = arena_array(&f->mem, n, sizeof *f->unit, e);
    f->escapes = arena_array(&f->mem, v, sizeof *f->escapes, e);
    f->done = arena_array(&f->mem, n, sizeof *f->done, e);
    f->stack = arena_array(&f->mem, n + 1, sizeof *f->stack, e);
    f->reach = arena_array(&f->mem, n, sizeof *f->reach, e);
    f->deps = arena_array(&f->mem, candidates + 1, sizeof *f->deps, e);
    if (!f->index || !f->unit || !f->escapes || !f->done || !f->stack || !f->reach || !f->deps)
        return false;
    for (size_t i = 0; i < n; i++) {
        f->unit[i] = -1;
        f->index[g->nodes[i]->out[0].id] = i;
    }
    return true;
}

void fuser_free(fuser *f)
{
    mem_free(f->g->alloc, f->groups, f->cap_groups * sizeof *f->groups);
    arena_free(&f->mem);
}

static bool set_has(const uint64_t *s, int i)
{
    return s[i / 64] >> (i % 64) & 1u;
}

static void set_add(uint64_t *s, int i)
{
    s[i / 64] |= (uint64_t)1 << (i % 64);
}

static void set_join(const fuser *f, uint64_t *to, const uint64_t *from)
{
    for (size_t i = 0; i < f->words; i++)
        to[i] |= from[i];
}

static size_t def_index(const fuser *f, const value *v)
{
    return f->index[v->def->out[0].id];
}

/* --- what a node is ------------------------------------------------------------------------- */

static void class_add(fuse_class *c, dtype dt)
{
    fuse_class k = FUSE_I64;

    if (dt == INGOT_BOOL)
        return;
    if (dt == INGOT_F64)
        k = FUSE_F64;
    else if (dtype_is_float(dt))
        k = FUSE_F32;
    /* f64 wins over f32 wins over integers: a cast computes in the wider float */
    if (*c == FUSE_ANY || k == FUSE_F64 || (k == FUSE_F32 && *c == FUSE_I64))
        *c = k;
}

static fuse_class class_of(const node *n)
{
    fuse_class c = FUSE_ANY;

    for (int i = 0; i < n->n_in; i++)
        class_add(&c, n->in[i]->type.dt);
    class_add(&c, n->out[0].type.dt);
    return c;
}

/* A value that a region of class c may read while it is still in a register. */
static bool native(fuse_class c, dtype dt)
{
    return dt == INGOT_BOOL || (c == FUSE_F32 && dt == INGOT_F32) ||
           (c == FUSE_F64 && dt == INGOT_F64) || (c == FUSE_I64 && dt == INGOT_I64);
}

static bool is_loop_reduction(const node *n)
{
    static const char *const names[] = {"sum", "prod", "max", "min", "any", "all"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (node_is(n, names[i]))
            return true;
    return false;
}

static unsigned axes_of(const node *n)
{
    ints axes = node_attr(n, "axes")->a;
    int rank = n->in[0]->type.rank;
    unsigned mask = 0;

    for (int i = 0; i < axes.n; i++)
        mask |= 1u << (axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i]);
    return axes.n ? mask : (1u << rank) - 1u;
}

/* --- may it join ---------------------------------------------------------------------------- */

/* Does anything in the set `from` lead to group target, following deps? */
static bool leads_to(const fuser *f, const uint64_t *from, int target, uint64_t *seen)
{
    bool grew = true;

    memcpy(seen, from, f->words * sizeof *seen);
    while (grew) {
        grew = false;
        if (set_has(seen, target))
            return true;
        for (int gi = 0; gi < f->n_groups; gi++) {
            if (!set_has(seen, gi))
                continue;
            for (size_t k = 0; k < f->words; k++) {
                uint64_t more = f->deps[gi][k] & ~seen[k];

                seen[k] |= more;
                grew = grew || more;
            }
        }
    }
    return false;
}

/* Whether v, read by a joining node, is in a register of group gi. */
static bool in_register(const fuser *f, const value *v, int gi)
{
    size_t d = def_index(f, v);
    const node *n = f->g->nodes[d];

    return f->unit[d] == gi && !is_loop_reduction(n) && native(f->groups[gi].cls, v->type.dt);
}

static bool is_fixed(const fuser *f, const node *n)
{
    return f->fixed && f->fixed[n->out[0].id];
}

static int new_externals(const fuser *f, const node *n, int gi)
{
    const group *u = &f->groups[gi];
    int count = 0;

    for (int i = 0; i < n->n_in; i++) {
        bool known = in_register(f, n->in[i], gi);

        for (int k = 0; k < u->n_ext; k++)
            known = known || u->ext[k] == n->in[i];
        count += !known;
    }
    return count;
}

static bool may_join(fuser *f, const node *n, fuse_class cls, const type *space, bool reduces,
                     unsigned axes, int gi, uint64_t *seen)
{
    const group *u = &f->groups[gi];

    if (u->n_members >= FUSE_MAX_MEMBERS || u->fixed != is_fixed(f, n) ||
        !shape_equal(space, &u->space) ||
        (cls != u->cls && cls != FUSE_ANY && u->cls != FUSE_ANY) ||
        (reduces && u->reduces && axes != u->reduce_axes) ||
        u->n_ext + new_externals(f, n, gi) > FUSE_MAX_IN)
        return false;
    for (int i = 0; i < n->n_in; i++) {
        size_t d = def_index(f, n->in[i]);

        if (in_register(f, n->in[i], gi))
            continue;
        if (f->unit[d] == gi || leads_to(f, f->reach[d], gi, seen))
            return false;
    }
    return true;
}

static bool join(fuser *f, size_t at, fuse_class cls, bool reduces, unsigned axes, int gi)
{
    const node *n = f->g->nodes[at];
    group *u = &f->groups[gi];

    if (u->cls == FUSE_ANY)
        u->cls = cls;
    u->members[u->n_members++] = at;
    f->unit[at] = gi;
    if (reduces) {
        u->reduces = true;
        u->reduce_axes = axes;
    }
    for (int i = 0; i < n->n_in; i++) {
        size_t d = def_index(f, n->in[i]);
        bool known = f->unit[d] == gi;

        for (int k = 0; k < u->n_ext; k++)
            known = known || u->ext[k] == n->in[i];
        if (!known)
            u->ext[u->n_ext++] = n->in[i];
        if (f->unit[d] != gi)
            set_join(f, f->deps[gi], f->reach[d]);
    }
    return true;
}

static bool new_group(fuser *f, size_t at, fuse_class cls, const type *space, bool reduces,
                      unsigned axes)
{
    int gi = f->n_groups;

    if (!vec_reserve(f->g->alloc, (void **)&f->groups, sizeof *f->groups, (size_t)gi + 1,
                     &f->cap_groups, "fusion groups", f->e))
        return false;
    f->deps[gi] = arena_array(&f->mem, f->words, sizeof **f->deps, f->e);
    if (!f->deps[gi])
        return false;
    f->groups[gi] = (group){.cls = cls, .space = *space, .fixed = is_fixed(f, f->g->nodes[at])};
    f->n_groups++;
    return join(f, at, cls, reduces, axes, gi);
}

/* A group of n's inputs that n may join, or -1. */
static int find_group(fuser *f, const node *n, fuse_class cls, const type *space, bool reduces,
                      unsigned axes, uint64_t *seen)
{
    for (int i = 0; i < n->n_in; i++) {
        int gi = f->unit[def_index(f, n->in[i])];

        if (gi >= 0 && in_register(f, n->in[i], gi) &&
            may_join(f, n, cls, space, reduces, axes, gi, seen))
            return gi;
    }
    return -1;
}

bool fuser_place(fuser *f, size_t at)
{
    const node *n = f->g->nodes[at];
    bool reduces = n->form == NODE_OP && is_loop_reduction(n);
    bool candidate = (reduces || node_class(n) == OP_POINTWISE) && n->n_in <= 4;
    uint64_t *seen = NULL;
    bool ok = true;

    f->reach[at] = arena_array(&f->mem, f->words, sizeof **f->reach, f->e);
    if (!f->reach[at])
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i])
            set_join(f, f->reach[at], f->reach[def_index(f, n->in[i])]);
    if (candidate) {
        const type *space = reduces ? &n->in[0]->type : &n->out[0].type;
        fuse_class cls = class_of(n);
        unsigned axes = reduces ? axes_of(n) : 0;
        int gi;

        seen = arena_array(&f->mem, f->words, sizeof *seen, f->e);
        if (!seen)
            return false;
        gi = find_group(f, n, cls, space, reduces, axes, seen);
        ok = gi >= 0 ? join(f, at, cls, reduces, axes, gi)
                     : new_group(f, at, cls, space, reduces, axes);
        if (ok)
            set_add(f->reach[at], f->unit[at]);
    }
    return ok;
}
