/* SPDX-License-Identifier: Apache-2.0 */
/* One sweep over the nodes in reverse. Gradients live in a side array indexed by value id; a
   value used twice gets the sum, in the order in which the sweep meets its users. */
#include "autodiff/autodiff.h"
#include "ir/op_internal.h"
#include "ops/op.h"

typedef struct sweep {
    builder *b;
    bool *active; /* by value id: depends on something in wrt */
    value **grad; /* by value id */
    size_t n;     /* length of both */
} sweep;

static bool sweep_init(sweep *s, builder *b)
{
    *s = (sweep){.b = b, .n = (size_t)b->g->n_values};
    s->active = mem_new(b->g->alloc, s->n + 1, "autodiff", b->err);
    s->grad = mem_new_array(b->g->alloc, s->n + 1, sizeof *s->grad, "autodiff", b->err);
    return s->active && s->grad;
}

static void sweep_free(sweep *s)
{
    mem_free(s->b->g->alloc, s->active, s->n + 1);
    mem_free(s->b->g->alloc, s->grad, (s->n + 1) * sizeof *s->grad);
}

static bool add_grad(sweep *s, const value *to, value *v)
{
    value **slot = &s->grad[to->id];

    if (!shape_equal(&v->type, &to->type) || v->type.dt != to->type.dt) {
        char a[TYPE_TEXT], c[TYPE_TEXT];

        return fail(s->b->err, INGOT_E_INTERNAL, "gradient of type %s for a value of type %s",
                    type_text(&v->type, a), type_text(&to->type, c));
    }
    *slot = *slot ? ir_add(s->b, *slot, v) : v;
    return *slot != NULL;
}

static bool backward(builder *b, value *const *outs, value *const *sens, int n_outs, size_t first,
                     value *const *wrt, int n, value **grads);

/* A node without a rule of its own: differentiates what it expands to. */
static bool grad_by_expansion(builder *b, const node *n, value *const *dout, const bool *needed,
                              value **din)
{
    value *outs[OP_MAX_OUT], *sens[OP_MAX_OUT], *result[OP_MAX_OUT] = {0};
    size_t first = b->g->n_nodes;
    rule r = {.b = b, .n = n, .in = n->in, .result = result};
    int k = 0;

    n->op->row->expand(&r);
    for (int i = 0; i < n->n_out; i++) {
        if (!result[i])
            return false;
        if (dout[i]) {
            outs[k] = result[i];
            sens[k++] = dout[i];
        }
    }
    (void)needed;
    return backward(b, outs, sens, k, first, n->in, n->n_in, din);
}

static bool node_backward(sweep *s, node *n)
{
    const op_row *row = n->op->row;
    value *dout[OP_MAX_OUT] = {0}, *outs[OP_MAX_OUT];
    const allocator *a = s->b->g->alloc;
    size_t count = (size_t)n->n_in + 1;
    value **din;
    bool *needed, any = false, ok;

    for (int i = 0; i < n->n_out; i++) {
        dout[i] = s->grad[n->out[i].id];
        outs[i] = &n->out[i];
        any = any || dout[i];
    }
    if (!any || !s->active[n->out[0].id])
        return true;
    if (!row->grad && !row->expand)
        return fail(s->b->err, INGOT_E_UNSUPPORTED,
                    "op '%s'%s%s%s has no gradient: use stop_gradient, or leave it out of the loss",
                    n->op->name, n->name ? " (" : "", n->name ? n->name : "", n->name ? ")" : "");
    din = mem_new_array(a, count, sizeof *din, "autodiff", s->b->err);
    needed = mem_new(a, count, "autodiff", s->b->err);
    ok = din && needed;
    for (int i = 0; ok && i < n->n_in; i++)
        needed[i] = n->in[i] && s->active[n->in[i]->id] && dtype_is_float(n->in[i]->type.dt);
    if (ok && row->grad) {
        rule r = {.b = s->b,
                  .n = n,
                  .in = n->in,
                  .out = outs,
                  .dout = dout,
                  .result = din,
                  .needed = needed};

        row->grad(&r);
        ok = s->b->err->code == INGOT_OK;
    } else if (ok) {
        ok = grad_by_expansion(s->b, n, dout, needed, din);
    }
    for (int i = 0; ok && i < n->n_in; i++)
        if (needed[i] && din[i])
            ok = add_grad(s, n->in[i], din[i]);
    mem_free(a, din, count * sizeof *din);
    mem_free(a, needed, count);
    return ok;
}

/* Values between `first` and the end that depend on wrt. A multi-result node is active as one. */
static void mark_active(sweep *s, size_t first, value *const *wrt, int n)
{
    const graph *g = s->b->g;

    for (int i = 0; i < n; i++)
        if (wrt[i])
            s->active[wrt[i]->id] = true;
    for (size_t i = first; i < g->n_nodes; i++) {
        const node *x = g->nodes[i];
        bool active = false;

        for (int k = 0; k < x->n_in; k++)
            active = active || (x->in[k] && s->active[x->in[k]->id]);
        for (int k = 0; active && k < x->n_out; k++)
            s->active[x->out[k].id] = true;
    }
}

/* Gradients of several outputs at once, over the nodes from `first` on. grads[i] stays NULL where
   nothing arrives. */
static bool backward(builder *b, value *const *outs, value *const *sens, int n_outs, size_t first,
                     value *const *wrt, int n, value **grads)
{
    size_t last = b->g->n_nodes;
    sweep s;
    bool ok = sweep_init(&s, b);

    if (ok)
        mark_active(&s, first, wrt, n);
    for (int i = 0; ok && i < n_outs; i++)
        ok = add_grad(&s, outs[i], sens[i]);
    for (size_t i = last; ok && i-- > first;) {
        node *x = b->g->nodes[i];

        if (x->form == NODE_OP)
            ok = node_backward(&s, x);
    }
    for (int i = 0; ok && i < n; i++)
        grads[i] = wrt[i] && (size_t)wrt[i]->id < s.n ? s.grad[wrt[i]->id] : NULL;
    sweep_free(&s);
    return ok;
}

bool autodiff(builder *b, value *out, value *sens, value *const *wrt, int n, value **grads)
{
    char text[TYPE_TEXT];

    if (!out)
        return fail(b->err, INGOT_E_ARGUMENT, "gradient: no value to differentiate");
    if (!dtype_is_float(out->type.dt))
        return fail(b->err, INGOT_E_DTYPE, "gradient of a %s: a floating type is needed",
                    type_text(&out->type, text));
    if (!sens) {
        if (type_count(&out->type) != 1)
            return fail(b->err, INGOT_E_SHAPE,
                        "gradient of a %s: give the sensitivity, or reduce it to one element",
                        type_text(&out->type, text));
        sens = ir_full(b, (ints){out->type.dim, out->type.rank}, 1.0, out->type.dt);
    } else if (!type_equal(&sens->type, &out->type)) {
        return fail(b->err, INGOT_E_SHAPE, "gradient: the sensitivity differs in type from the %s",
                    type_text(&out->type, text));
    }
    for (int i = 0; i < n; i++)
        if (!wrt[i])
            return fail(b->err, INGOT_E_ARGUMENT, "gradient: target %d is NULL", i);
    if (!sens || !backward(b, &out, &sens, 1, 0, wrt, n, grads))
        return false;
    for (int i = 0; i < n; i++) {
        if (!grads[i])
            grads[i] = ir_zeros_like(b, wrt[i]);
        if (!grads[i])
            return false;
    }
    return true;
}
