/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: nodes that change nothing vanish, and movement sinks into what can describe it. Only
   rules that keep every bit: x + 0 stays, for it turns -0 into 0.

   before:  %1 = transpose(%0) {perm=[1, 0]}
            %3 = matmul(%2, %1) {trans_x=false, trans_y=false}
   after:   %3 = matmul(%2, %0) {trans_x=false, trans_y=true} */
#include "ops/op.h"
#include "passes/passes.h"

#include <string.h>

/* A constant whose elements all equal v. */
static bool const_equals(const value *x, double v)
{
    const node *n = x->def;
    int64_t count = type_count(&x->type);

    if (n->form != NODE_CONST || count == 0 || count > 16)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (dtype_get_f64(x->type.dt, n->data, i) != v)
            return false;
    return true;
}

static bool is_identity_perm(ints perm)
{
    for (int i = 0; i < perm.n; i++)
        if (perm.v[i] != i)
            return false;
    return perm.n > 0;
}

/* The input of `full` nodes and constants that a pointwise op may take as a scalar. */
static bool full_equals(const value *x, double v)
{
    if (node_is(x->def, "full"))
        return node_attr(x->def, "value")->f == v;
    return const_equals(x, v);
}

/* x op neutral = x, where the shape stays. Exact for every x but a signalling NaN. */
static value *drop_neutral(const node *n, value *const *in)
{
    bool mul = node_is(n, "mul"), div = node_is(n, "div"), sub = node_is(n, "sub");

    if (!dtype_is_float(n->out[0].type.dt))
        return NULL;
    if ((mul || div) && full_equals(in[1], 1.0) && type_equal(&in[0]->type, &n->out[0].type))
        return in[0];
    if (mul && full_equals(in[0], 1.0) && type_equal(&in[1]->type, &n->out[0].type))
        return in[1];
    if (sub && full_equals(in[1], 0.0) && type_equal(&in[0]->type, &n->out[0].type))
        return in[0];
    return NULL;
}

/* Swaps the last two dimensions and leaves the others. */
static bool swaps_last(const node *n)
{
    ints perm = node_attr(n, "perm")->a;
    int rank = n->in[0]->type.rank;

    if (rank < 2)
        return false;
    if (perm.n == 0)
        return rank == 2;
    for (int i = 0; i < rank - 2; i++)
        if (perm.v[i] != i)
            return false;
    return perm.v[rank - 2] == rank - 1 && perm.v[rank - 1] == rank - 2;
}

static value *sink_transposes(rewriter *w, const node *n, value *const *in)
{
    bool tx = node_attr(n, "trans_x")->i != 0, ty = node_attr(n, "trans_y")->i != 0;
    bool sx = node_is(in[0]->def, "transpose") && swaps_last(in[0]->def);
    bool sy = node_is(in[1]->def, "transpose") && swaps_last(in[1]->def);

    if (!sx && !sy)
        return NULL;
    return ir_matmul(&w->b, sx ? in[0]->def->in[0] : in[0], sy ? in[1]->def->in[0] : in[1], tx ^ sx,
                     ty ^ sy);
}

/* Pointwise operands may stay unbroadcast when the result's shape does not need them broadcast. */
static value *unbroadcast(rewriter *w, const node *n, value *const *in)
{
    value *bare[OP_MAX_IN];
    type shape = {.rank = 0};
    bool any = false;

    if (n->n_in < 2)
        return NULL;
    for (int i = 0; i < n->n_in; i++) {
        bare[i] = in[i];
        if (node_is(in[i]->def, "broadcast_to")) {
            bare[i] = in[i]->def->in[0];
            any = true;
        }
        if (!shape_broadcast(&shape, &bare[i]->type, &shape))
            return NULL;
    }
    if (!any || !shape_equal(&shape, &n->out[0].type))
        return NULL;
    return ir_emit_op(&w->b, n->op, bare, n->n_in, n->attrs, n->op->n_attrs, n->name);
}

static value *compose_transposes(rewriter *w, const node *n, value *x)
{
    int64_t perm[MAX_RANK];
    int rank = n->out[0].type.rank;
    ints outer = node_attr(n, "perm")->a, inner = node_attr(x->def, "perm")->a;

    for (int i = 0; i < rank; i++) {
        int64_t o = outer.n ? outer.v[i] : rank - 1 - i;

        perm[i] = inner.n ? inner.v[o] : rank - 1 - o;
    }
    return ir_transpose(&w->b, x->def->in[0], (ints){perm, rank});
}

/* What may stand for n, or NULL. */
static value *simplify_node(rewriter *w, const node *n, value *const *in)
{
    const type *out = &n->out[0].type;
    bool same = n->n_in > 0 && in[0] && type_equal(&in[0]->type, out);

    if (node_is(n, "stop_gradient"))
        return in[0];
    if (same && (node_is(n, "reshape") || node_is(n, "broadcast_to") || node_is(n, "cast")))
        return in[0];
    if (node_is(n, "reshape") && node_is(in[0]->def, "reshape"))
        return ir_reshape(&w->b, in[0]->def->in[0], (ints){out->dim, out->rank}, true);
    if (node_is(n, "transpose") && is_identity_perm(node_attr(n, "perm")->a))
        return in[0];
    if (node_is(n, "transpose") && node_is(in[0]->def, "transpose"))
        return compose_transposes(w, n, in[0]);
    if (node_is(n, "matmul"))
        return sink_transposes(w, n, in);
    if (node_class(n) == OP_POINTWISE) {
        value *v = drop_neutral(n, in);

        return v ? v : unbroadcast(w, n, in);
    }
    return NULL;
}

/* One walk; *changed tells whether another could find more. */
static bool simplify_once(graph *g, bool *changed, error *e)
{
    rewriter w;
    bool ok = rewrite_begin(&w, g, e);

    *changed = false;
    if (!ok)
        return false;
    for (size_t i = 0; ok && i < g->n_nodes; i++) {
        const node *n = g->nodes[i];
        value *in[OP_MAX_IN], *v = NULL;

        if (n->form == NODE_OP && n->n_in <= OP_MAX_IN) {
            for (int k = 0; k < n->n_in; k++)
                in[k] = rewrite_in(&w, n->in[k]);
            v = simplify_node(&w, n, in);
            ok = v || e->code == INGOT_OK;
        }
        if (v) {
            w.map[n->out[0].id] = v;
            *changed = true;
        } else if (ok) {
            ok = rewrite_keep(&w, n);
            /* assign's result is what was assigned: readers take that */
            if (ok && node_is(n, "assign"))
                w.map[n->out[0].id] = rewrite_in(&w, n->in[1]);
        }
    }
    return rewrite_end(&w, ok);
}

bool pass_simplify(graph *g, const pass_options *o, error *e)
{
    bool changed = true;

    (void)o;
    for (int i = 0; changed && i < 8; i++)
        if (!simplify_once(g, &changed, e) || !graph_prune(g, e))
            return false;
    return true;
}
