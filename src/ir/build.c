/* SPDX-License-Identifier: Apache-2.0 */
/* Making nodes. Every op's result types come from its row's infer rule. */
#include "ir/internal.h"
#include "ir/ir.h"
#include "ir/op_internal.h"

#include <assert.h>
#include <string.h>

node *node_alloc(builder *b, node_form form, int n_in, int n_out)
{
    graph *g = b->g;
    node *n = arena_alloc(&g->mem, sizeof *n, b->err);

    if (!n)
        return NULL;
    n->form = form;
    n->n_in = n_in;
    n->n_out = n_out;
    n->in = arena_array(&g->mem, (size_t)n_in, sizeof(value *), b->err);
    n->out = arena_array(&g->mem, (size_t)n_out, sizeof(value), b->err);
    if (!n->in || !n->out)
        return NULL;
    for (int i = 0; i < n_out; i++)
        n->out[i] = (value){.def = n, .index = i};
    return n;
}

/* Numbers the results, appends the node and tells the eager executor. */
static value *node_finish(builder *b, node *n)
{
    for (int i = 0; i < n->n_out; i++)
        n->out[i].id = b->g->n_values++;
    if (!graph_append(b->g, n, b->err))
        return NULL;
    if (b->on_emit && !b->on_emit(b->user, n))
        return NULL;
    return n->n_out ? &n->out[0] : NULL;
}

/* "path.name", "path", "name" or NULL. */
static bool node_set_name(builder *b, node *n, const char *name)
{
    if (b->path && *b->path && name)
        n->name = arena_printf(&b->g->mem, b->err, "%s.%s", b->path, name);
    else if (name || (b->path && *b->path))
        n->name = arena_strdup(&b->g->mem, name ? name : b->path, b->err);
    else
        return true;
    return n->name != NULL;
}

static bool attr_copy(graph *g, const attr *from, attr *to, error *e)
{
    *to = *from;
    if (from->kind == ATTR_INTS && from->a.n > 0)
        to->a.v = arena_copy(&g->mem, from->a.v, (size_t)from->a.n * sizeof(int64_t), e);
    else if (from->kind == ATTR_INTS)
        to->a = NO_INTS;
    else if (from->kind == ATTR_STR)
        to->s = arena_strdup(&g->mem, from->s ? from->s : "", e);
    return (from->kind != ATTR_STR || to->s) &&
           (from->kind != ATTR_INTS || to->a.n == 0 || to->a.v);
}

/* Which inputs may be NULL: those that the signature marks optional. */
static bool inputs_given(const op *o, value *const *in, int n_in)
{
    for (int i = 0; i < n_in; i++) {
        bool optional = i < o->n_in && o->in[i].optional;

        if (!in[i] && !optional)
            return false;
    }
    return true;
}

static bool infer_types(builder *b, const op *o, const char *name, value *const *in, int n_in,
                        const attr *attrs, type *out)
{
    type small[OP_MAX_IN] = {{0}}, *types = small;
    size_t bytes = (size_t)n_in * sizeof *types;
    bool ok;

    if (n_in > OP_MAX_IN) {
        types = mem_new(b->g->alloc, bytes, "input types", b->err);
        if (!types)
            return false;
    }
    for (int i = 0; i < n_in; i++)
        types[i] = in[i] ? in[i]->type : (type){.rank = -1};
    ok = op_infer(o, name, types, n_in, attrs, o->n_attrs, out, b->err);
    if (types != small)
        mem_free(b->g->alloc, types, bytes);
    return ok;
}

value *ir_emit_op(builder *b, const op *o, value *const *in, int n_in, const attr *attrs,
                  int n_attrs, const char *name)
{
    type out[OP_MAX_OUT];
    node *n;

    if (n_attrs != o->n_attrs) {
        fail(b->err, INGOT_E_INTERNAL, "op '%s': %d attributes given, %d declared", o->name,
             n_attrs, o->n_attrs);
        return NULL;
    }
    if (!inputs_given(o, in, n_in)) {
        fail(b->err, INGOT_E_ARGUMENT, "op '%s': a required input is NULL", o->name);
        return NULL;
    }
    if (!infer_types(b, o, name ? name : b->path, in, n_in, attrs, out))
        return NULL;
    n = node_alloc(b, NODE_OP, n_in, o->n_out);
    if (!n)
        return NULL;
    n->op = o;
    n->attrs = arena_array(&b->g->mem, (size_t)n_attrs, sizeof(attr), b->err);
    if (!n->attrs || !node_set_name(b, n, name))
        return NULL;
    for (int i = 0; i < n_attrs; i++)
        if (!attr_copy(b->g, &attrs[i], &n->attrs[i], b->err))
            return NULL;
    if (n_in)
        memcpy(n->in, in, (size_t)n_in * sizeof *in);
    for (int i = 0; i < o->n_out; i++)
        n->out[i].type = out[i];
    return node_finish(b, n);
}

value *ir_emit(builder *b, const char *op_name, value *const *in, int n_in, const attr *attrs,
               int n_attrs)
{
    const op *o = op_find(b->g->ops, op_name, strlen(op_name));

    if (!o) {
        fail(b->err, INGOT_E_NOT_FOUND, "op '%s' does not exist", op_name);
        return NULL;
    }
    return ir_emit_op(b, o, in, n_in, attrs, n_attrs, NULL);
}

static value *emit_leaf(builder *b, node_form form, const char *name, const type *t,
                        const void *data)
{
    node *n;

    if (!type_check(t, b->err))
        return NULL;
    n = node_alloc(b, form, 0, 1);
    if (!n)
        return NULL;
    n->out[0].type = *t;
    n->data = data;
    if (name) {
        n->name = arena_strdup(&b->g->mem, name, b->err);
        if (!n->name)
            return NULL;
    }
    return node_finish(b, n);
}

value *ir_input(builder *b, const char *name, const type *t)
{
    return emit_leaf(b, NODE_INPUT, name, t, NULL);
}

value *ir_param(builder *b, const char *name, const type *t)
{
    return emit_leaf(b, NODE_PARAM, name, t, NULL);
}

value *ir_const(builder *b, const type *t, const void *data)
{
    void *copy;

    if (!type_check(t, b->err))
        return NULL;
    if (type_symbolic(t)) {
        fail(b->err, INGOT_E_SHAPE, "a constant cannot have the symbolic batch dimension");
        return NULL;
    }
    copy = arena_copy(&b->g->mem, data, type_bytes(t), b->err);
    return copy ? emit_leaf(b, NODE_CONST, NULL, t, copy) : NULL;
}

value *ir_scalar(builder *b, dtype dt, double v)
{
    type t = {.dt = dt, .rank = 0};
    unsigned char bytes[8] = {0};

    dtype_set_f64(dt, bytes, 0, v);
    return ir_const(b, &t, bytes);
}

value *ir_fused(builder *b, graph *region, value *const *in, int n_in, const char *name)
{
    node *n;

    if ((size_t)n_in != region->n_inputs || region->n_outputs == 0) {
        fail(b->err, INGOT_E_INTERNAL, "fused region: %d inputs given, %zu declared", n_in,
             region->n_inputs);
        return NULL;
    }
    n = node_alloc(b, NODE_FUSED, n_in, (int)region->n_outputs);
    if (!n)
        return NULL;
    for (int i = 0; i < n_in; i++) {
        if (!in[i] || !type_equal(&in[i]->type, &region->inputs[i]->out[0].type)) {
            fail(b->err, INGOT_E_INTERNAL, "fused region: input %d differs in type", i);
            return NULL;
        }
        n->in[i] = in[i];
    }
    for (int i = 0; i < n->n_out; i++)
        n->out[i].type = region->outputs[i]->type;
    if (name) {
        n->name = arena_strdup(&b->g->mem, name, b->err);
        if (!n->name)
            return NULL;
    }
    n->region = region; /* the node owns it from here on */
    return node_finish(b, n);
}

value *ir_result(value *v, int i)
{
    if (!v)
        return NULL;
    assert(i >= 0 && i < v->def->n_out);
    return &v->def->out[i];
}

node *ir_copy_node(builder *b, const node *n, value *const *in)
{
    const char *path = b->path;
    value *v = NULL;

    b->path = NULL; /* n->name is a full path already */
    switch (n->form) {
    case NODE_OP:
        v = ir_emit_op(b, n->op, in, n->n_in, n->attrs, n->op->n_attrs, n->name);
        break;
    case NODE_INPUT:
    case NODE_PARAM:
        v = emit_leaf(b, n->form, n->name, &n->out[0].type, NULL);
        break;
    case NODE_CONST:
        v = ir_const(b, &n->out[0].type, n->data);
        break;
    case NODE_FUSED: {
        graph *region = graph_clone(n->region, b->err);

        v = region ? ir_fused(b, region, in, n->n_in, n->name) : NULL;
        if (region && (!v || v->def->region != region))
            graph_free(region);
        break;
    }
    }
    b->path = path;
    return v ? v->def : NULL;
}

node *copy_mapped(builder *b, const node *n, value **map)
{
    value *small[16] = {0}, **in = small;
    size_t bytes = (size_t)n->n_in * sizeof *in;
    node *c;

    if (n->n_in > 16) {
        in = mem_new(b->g->alloc, bytes, "node inputs", b->err);
        if (!in)
            return NULL;
    }
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] ? map[n->in[i]->id] : NULL;
    c = ir_copy_node(b, n, in);
    if (in != small)
        mem_free(b->g->alloc, in, bytes);
    for (int i = 0; c && i < n->n_out; i++)
        map[n->out[i].id] = &c->out[i];
    return c;
}

const attr *node_attr(const node *n, const char *name)
{
    static const attr none = {.kind = ATTR_INT};

    for (int i = 0; n->op && i < n->op->n_attrs; i++)
        if (strcmp(n->op->attrs[i].name, name) == 0)
            return &n->attrs[i];
    assert(0 && "node_attr: no such attribute");
    return &none;
}

bool node_is(const node *n, const char *op_name)
{
    return n->form == NODE_OP && strcmp(n->op->name, op_name) == 0;
}

op_class node_class(const node *n)
{
    return n->form == NODE_OP ? n->op->row->kind : OP_OPAQUE;
}
