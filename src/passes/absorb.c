/* SPDX-License-Identifier: Apache-2.0 */
/* absorb: where parameters never change, what scales or shifts the channels of a convolution moves
   into its weight and bias, which are computed once: batch norm outside training vanishes. Results
   differ by rounding.

   before:  %3 = conv2d(%0, %w, _)   %4 = sub(%3, %mean)   %5 = mul(%4, %factor)
   after:   %5 = conv2d(%0, mul(%w, %factor'), mul(neg(%mean'), %factor'')) */
#include "ops/op.h"
#include "passes/passes.h"

typedef struct absorber {
    rewriter w;
    arena mem;
    bool *fixed; /* by old value id */
    int *uses;   /* by old value id */
} absorber;

/* v, which spreads over [N, C, ..] and differs between channels only, as a vector [C]; else NULL.
 */
static value *channel_vector(absorber *a, value *v, const type *y)
{
    const type *t = &v->type;
    int at = t->rank - (y->rank - 1); /* the dimension of the channels in v, or -1 */
    builder *b = &a->w.b;

    if (t->dt != y->dt || t->rank > y->rank)
        return NULL;
    for (int i = 0; i < t->rank; i++)
        if (i != at && t->dim[i] != 1)
            return NULL;
    type flat = {.dt = t->dt, .rank = 1, .dim = {y->dim[1]}};
    type one = {.dt = t->dt, .rank = 1, .dim = {1}};

    if (at < 0 || at >= t->rank || t->dim[at] == 1)
        return ir_expand_to(b, ir_reshape_to(b, v, &one), &flat);
    return t->dim[at] == y->dim[1] ? ir_reshape_to(b, v, &flat) : NULL;
}

/* w [O, ..] with each output channel times s [O]. */
static value *scale_rows(builder *b, value *w, value *s)
{
    type t = {.dt = w->type.dt, .rank = w->type.rank, .dim = {w->type.dim[0]}};

    for (int i = 1; i < t.rank; i++)
        t.dim[i] = 1;
    return ir_mul(b, w, ir_reshape_to(b, s, &t));
}

/* Whether old value v is read once and is now a convolution, which may have absorbed others. */
static bool takes(const absorber *a, const value *v)
{
    return a->uses[v->id] == 1 && node_is(rewrite_in(&a->w, v)->def, "conv2d");
}

/* The convolution that stands for n, or NULL: none, or an error is set. */
static value *absorb(absorber *a, const node *n)
{
    bool mul = node_is(n, "mul"), sub = node_is(n, "sub");
    builder *b = &a->w.b;

    if (!mul && !sub && !node_is(n, "add"))
        return NULL;
    for (int k = 0; k < (sub ? 1 : 2); k++) {
        value *y = rewrite_in(&a->w, n->in[k]), *s = rewrite_in(&a->w, n->in[1 - k]), *in[3];

        if (!a->fixed[n->in[1 - k]->id] || !takes(a, n->in[k]) ||
            !type_equal(&y->type, &n->out[0].type))
            continue;
        for (int i = 0; i < 3; i++)
            in[i] = y->def->in[i];
        s = channel_vector(a, s, &y->type);
        if (!s)
            return NULL;
        if (mul) {
            in[1] = scale_rows(b, in[1], s);
            in[2] = in[2] ? ir_mul(b, in[2], s) : NULL;
        } else if (sub) {
            in[2] = in[2] ? ir_sub(b, in[2], s) : ir_neg(b, s);
        } else {
            in[2] = in[2] ? ir_add(b, in[2], s) : s;
        }
        if (!in[1] || (!in[2] && !(mul && !y->def->in[2])))
            return NULL;
        return ir_emit_op(b, y->def->op, in, 3, y->def->attrs, y->def->op->n_attrs, y->def->name);
    }
    return NULL;
}

/* Counts the readers of each value; a convolution whose weight changes gets one too many. */
static void count_uses(absorber *a)
{
    const graph *g = a->w.g;

    for (size_t i = 0; i < g->n_nodes; i++) {
        const node *n = g->nodes[i];

        for (int k = 0; k < n->n_in; k++)
            if (n->in[k])
                a->uses[n->in[k]->id]++;
    }
    for (size_t i = 0; i < g->n_outputs; i++)
        a->uses[g->outputs[i]->id]++;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const node *n = g->nodes[i];

        if (node_is(n, "conv2d") &&
            (!a->fixed[n->in[1]->id] || (n->in[2] && !a->fixed[n->in[2]->id])))
            a->uses[n->out[0].id] = 2;
    }
}

bool pass_absorb(graph *g, const pass_options *o, error *e)
{
    absorber a = {.uses = NULL};
    bool ok;

    if (!o->fixed_params)
        return true;
    arena_init(&a.mem, g->alloc);
    a.fixed = fixed_values(g, &a.mem, e);
    a.uses = arena_array(&a.mem, (size_t)g->n_values + 1, sizeof *a.uses, e);
    ok = a.fixed && a.uses && rewrite_begin(&a.w, g, e);
    if (!ok) {
        arena_free(&a.mem);
        return false;
    }
    count_uses(&a);
    for (size_t i = 0; ok && i < g->n_nodes; i++) {
        const node *n = g->nodes[i];
        value *v = n->form == NODE_OP ? absorb(&a, n) : NULL;

        if (v)
            a.w.map[n->out[0].id] = v;
        else
            ok = e->code == INGOT_OK && rewrite_keep(&a.w, n);
    }
    arena_free(&a.mem);
    return rewrite_end(&a.w, ok);
}
