/* SPDX-License-Identifier: Apache-2.0 */
/* cse: of nodes with the same op, inputs and attributes the first one stays. Random ops are
   functions of their key, so they merge too: a mask recomputed in backward costs nothing.

   before:  %2 = exp(%0)   %3 = exp(%0)   %4 = add(%2, %3)
   after:   %2 = exp(%0)   %4 = add(%2, %2) */
#include "base/hash.h"
#include "passes/passes.h"

#include <string.h>

static uint64_t hash_attr(const attr *a, uint64_t h)
{
    h = hash_bytes(&a->kind, sizeof a->kind, h);
    switch (a->kind) {
    case ATTR_INT:
    case ATTR_FLAG:
    case ATTR_DTYPE:
        return hash_bytes(&a->i, sizeof a->i, h);
    case ATTR_REAL:
        return hash_bytes(&a->f, sizeof a->f, h);
    case ATTR_INTS:
        return a->a.n ? hash_bytes(a->a.v, (size_t)a->a.n * sizeof *a->a.v, h) : h;
    case ATTR_STR:
        return hash_bytes(a->s, strlen(a->s), h);
    }
    return h;
}

static uint64_t hash_node(const rewriter *w, const node *n)
{
    const type *t = &n->out[0].type;
    uint64_t h = 0;

    if (n->form == NODE_CONST)
        return hash_bytes(n->data, type_bytes(t), (uint64_t)t->dt + 1);
    h = hash_bytes(&n->op, sizeof n->op, h);
    for (int i = 0; i < n->n_in; i++) {
        const value *v = rewrite_in(w, n->in[i]);

        h = hash_bytes(&v, sizeof v, h);
    }
    for (int i = 0; i < n->op->n_attrs; i++)
        h = hash_attr(&n->attrs[i], h);
    return h;
}

/* n (old) against c (new, already kept). */
static bool same_node(const rewriter *w, const node *n, const node *c)
{
    if (n->form != c->form || !type_equal(&n->out[0].type, &c->out[0].type))
        return false;
    if (n->form == NODE_CONST)
        return memcmp(n->data, c->data, type_bytes(&n->out[0].type)) == 0;
    if (n->op != c->op || n->n_in != c->n_in)
        return false;
    for (int i = 0; i < n->n_in; i++)
        if (rewrite_in(w, n->in[i]) != c->in[i])
            return false;
    for (int i = 0; i < n->op->n_attrs; i++)
        if (!attr_equal(&n->attrs[i], &c->attrs[i]))
            return false;
    return true;
}

static bool mergeable(const node *n)
{
    return n->form == NODE_CONST || (n->form == NODE_OP && node_class(n) != OP_EFFECT);
}

/* Keeps n unless an equal node is in the table (open addressing, size a power of two). */
static bool merge_or_keep(rewriter *w, const node *n, node **table, size_t mask)
{
    size_t at = (size_t)hash_node(w, n) & mask;

    for (; table[at]; at = (at + 1) & mask) {
        if (same_node(w, n, table[at])) {
            for (int i = 0; i < n->n_out; i++)
                w->map[n->out[i].id] = &table[at]->out[i];
            return true;
        }
    }
    if (!rewrite_keep(w, n))
        return false;
    table[at] = w->map[n->out[0].id]->def;
    return true;
}

bool pass_cse(graph *g, const pass_options *o, error *e)
{
    size_t size = 16;
    const allocator *a = g->alloc;
    node **table;
    rewriter w;
    bool ok = true;

    (void)o;
    while (size < g->n_nodes * 2)
        size *= 2;
    table = mem_new_array(a, size, sizeof *table, "cse table", e);
    if (!table)
        return false;
    if (rewrite_begin(&w, g, e)) {
        for (size_t i = 0; ok && i < g->n_nodes; i++)
            ok = mergeable(g->nodes[i]) ? merge_or_keep(&w, g->nodes[i], table, size - 1)
                                        : rewrite_keep(&w, g->nodes[i]);
        ok = rewrite_end(&w, ok);
    } else {
        ok = false;
    }
    mem_free(a, table, size * sizeof *table);
    return ok;
}
