/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/bind.h"

#include "cpu/loop/loop.h"

#include <stdio.h>
#include <string.h>

static bool fill_types(kcall *c, const node *n, arena *mem, error *e)
{
    type *in = arena_array(mem, (size_t)n->n_in + 1, sizeof *in, e);
    type *out = arena_array(mem, (size_t)n->n_out, sizeof *out, e);

    if (!in || !out)
        return false;
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] ? n->in[i]->type : TYPE_ABSENT;
    for (int i = 0; i < n->n_out; i++)
        out[i] = n->out[i].type;
    c->in = in;
    c->out = out;
    c->n_in = n->n_in;
    c->n_out = n->n_out;
    if (n->form == NODE_OP) {
        c->attrs = n->attrs;
        c->attr_names = n->op->attr_names;
        c->n_attrs = n->op->n_attrs;
    }
    return true;
}

/* The loop description of a region node or of one pointwise or reduction op. */
static bool describe_loop(const node *n, arena *mem, const void **extra, error *e)
{
    loop_desc *d = arena_alloc(mem, sizeof *d, e);
    const value *ins[LOOP_IN_MAX], *outs[LOOP_OUT_MAX];
    node *nodes[LOOP_REGS];
    int n_ins = 0, n_outs = 0, n_nodes = 0;

    if (!d)
        return false;
    *extra = d;
    if (n->form == NODE_OP) {
        node *self = n->out[0].def;

        for (int i = 0; i < n->n_in && i < LOOP_IN_MAX; i++)
            ins[n_ins++] = n->in[i];
        outs[n_outs++] = &n->out[0];
        return loop_build(&self, 1, ins, n_ins, outs, n_outs, d, e);
    }
    for (size_t i = 0; i < n->region->n_nodes; i++) {
        node *x = n->region->nodes[i];

        if (x->form == NODE_INPUT && n_ins < LOOP_IN_MAX)
            ins[n_ins++] = &x->out[0];
        else if (x->form == NODE_OP && loop_lowerable(x) && n_nodes < LOOP_REGS)
            nodes[n_nodes++] = x;
        else
            return fail(e, INGOT_E_UNSUPPORTED, "fused region: '%s' cannot be in one, or too many",
                        x->form == NODE_OP ? x->op->name : "leaf");
    }
    for (size_t i = 0; i < n->region->n_outputs; i++) {
        if (n_outs == LOOP_OUT_MAX)
            return fail(e, INGOT_E_UNSUPPORTED, "fused region: more than %d results", LOOP_OUT_MAX);
        outs[n_outs++] = n->region->outputs[i];
    }
    return loop_build(nodes, n_nodes, ins, n_ins, outs, n_outs, d, e);
}

static bool no_kernel(const engine *eng, const node *n, error *e)
{
    char text[256];
    size_t len = 0;

    text[0] = 0;
    for (int i = 0; i < n->n_in && len < sizeof text; i++) {
        char t[TYPE_TEXT];

        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? ", " : "",
                                n->in[i] ? type_text(&n->in[i]->type, t) : "_");
    }
    return fail(e, INGOT_E_UNSUPPORTED, "op '%s'%s%s%s: device '%s' (%s) has no kernel for (%s)",
                n->form == NODE_OP ? n->op->name : "fused", n->name ? " (" : "",
                n->name ? n->name : "", n->name ? ")" : "", eng->dev->name, eng->mach.isa, text);
}

/* A result may take the place of an input that is walked like it: one of the space's own shape.
   (The planner asks for equal types besides.) */
static unsigned loop_inplace(const node *n, const loop_desc *d)
{
    unsigned mask = 0;

    for (int i = 0; i < n->n_in && i < 32; i++) {
        const type *t = &n->in[i]->type;
        bool same = t->rank == d->rank;

        for (int k = 0; same && k < t->rank; k++)
            same = t->dim[k] == d->dim[k];
        mask |= (unsigned)same << i;
    }
    return mask;
}

bool node_bind(const engine *eng, const node *n, arena *mem, bound *out, error *e)
{
    return node_bind_fixed(eng, n, 0, mem, out, e);
}

bool node_bind_fixed(const engine *eng, const node *n, unsigned fixed, arena *mem, bound *out,
                     error *e)
{
    kcall *c = &out->call;
    bool loop = n->form == NODE_FUSED || loop_lowerable(n);

    memset(out, 0, sizeof *out);
    if (node_is(n, "reshape")) {
        out->needs.alias = true;
        return true;
    }
    for (int i = 0; i < n->n_out; i++)
        if (type_symbolic(&n->out[i].type))
            return fail(e, INGOT_E_SHAPE, "op '%s': the batch dimension must be bound first",
                        n->form == NODE_OP ? n->op->name : "fused");
    c->mach = &eng->mach;
    c->fixed = fixed;
    if (!fill_types(c, n, mem, e) || (loop && !describe_loop(n, mem, &c->extra, e)))
        return false;
    out->row = eng->dev->kernel(&eng->mach, loop ? "fused" : n->op->name, c->in, c->n_in);
    if (!out->row)
        return no_kernel(eng, n, e);
    c->plan = arena_alloc(mem, out->row->plan_size ? out->row->plan_size : 1, e);
    if (!c->plan)
        return false;
    c->phases = 1;
    for (int i = 0; i < KCALL_PHASES; i++)
        c->grain[i] = 1;
    if (!out->row->plan(c, e)) {
        if (n->form == NODE_OP)
            error_prefix(e, "op '%s'%s%s%s", n->op->name, n->name ? " (" : "",
                         n->name ? n->name : "", n->name ? ")" : "");
        return false;
    }
    c->scratch = (c->scratch + 63) & ~(size_t)63; /* each worker's piece is 64-aligned */
    out->needs.inplace = loop ? loop_inplace(n, c->extra) : out->row->inplace;
    out->needs.work = c->work;
    out->needs.keeps_work = c->once > 0;
    out->needs.packed = c->once > 0 ? c->packed : 0;
    return true;
}

typedef struct job {
    const bound *b;
    void *const *buf;
    int phase;
    char *scratch;
    void *work;
} job;

static void run_units(void *user, int64_t lo, int64_t hi, int worker)
{
    const job *j = user;

    j->b->row->run(&j->b->call, j->buf, j->phase, lo, hi,
                   j->scratch + (size_t)worker * j->b->call.scratch, j->work);
}

void bound_run(pool *p, const bound *b, void *const *buf, void *scratch, void *work)
{
    bound_run_phases(p, b, buf, scratch, work, 0, b->call.phases);
}

void bound_run_phases(pool *p, const bound *b, void *const *buf, void *scratch, void *work,
                      int from, int to)
{
    job j = {.b = b, .buf = buf, .scratch = scratch, .work = work};

    for (j.phase = from; j.phase < to; j.phase++)
        if (b->call.units[j.phase] > 0)
            pool_run(p, run_units, &j, b->call.units[j.phase], b->call.grain[j.phase]);
}
