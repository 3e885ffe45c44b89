/* SPDX-License-Identifier: Apache-2.0 */
/* Describes pointwise and reduction nodes to the loop engine. */
#include "cpu/loop/loop.h"
#include "runtime/bind.h"

#include <string.h>

static const struct {
    const char *op;
    loop_reduce reduce;
} reductions[] = {
    {"sum", REDUCE_SUM}, {"prod", REDUCE_PROD}, {"max", REDUCE_MAX},
    {"min", REDUCE_MIN}, {"any", REDUCE_MAX},   {"all", REDUCE_MIN},
};

static loop_reduce reduction_of(const node *n)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (node_is(n, reductions[i].op))
            return reductions[i].reduce;
    return REDUCE_NONE;
}

bool loop_lowerable(const node *n)
{
    return node_class(n) == OP_POINTWISE || reduction_of(n) != REDUCE_NONE;
}

static void widen(bool *f64, bool *f32, bool *integers, dtype dt)
{
    *f64 = *f64 || dt == INGOT_F64;
    *f32 = *f32 || (dtype_is_float(dt) && dt != INGOT_F64);
    *integers = *integers || dtype_is_int(dt);
}

/* f64 if anything is, else f32 if anything is a float, else integers; bools alone go as f32. */
static loop_class class_of(node *const *nodes, int n)
{
    bool f64 = false, f32 = false, integers = false;

    for (int i = 0; i < n; i++) {
        for (int k = 0; k < nodes[i]->n_in; k++)
            widen(&f64, &f32, &integers, nodes[i]->in[k]->type.dt);
        widen(&f64, &f32, &integers, nodes[i]->out[0].type.dt);
    }
    if (f64)
        return LOOP_F64;
    return f32 || !integers ? LOOP_F32 : LOOP_I64;
}

static unsigned axes_mask(const node *n)
{
    ints axes = node_attr(n, "axes")->a;
    int rank = n->in[0]->type.rank;
    unsigned mask = 0;

    for (int i = 0; i < axes.n; i++)
        mask |= 1u << (axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i]);
    return axes.n ? mask : (1u << rank) - 1u;
}

/* The iteration space: what a reduction reads, else what a pointwise node writes. */
static void set_space(loop_desc *d, node *const *nodes, int n)
{
    const type *space = &nodes[0]->out[0].type;

    for (int i = 0; i < n; i++)
        if (reduction_of(nodes[i]) != REDUCE_NONE) {
            space = &nodes[i]->in[0]->type;
            d->reduce_axes = axes_mask(nodes[i]);
        }
    d->rank = space->rank;
    for (int i = 0; i < space->rank; i++)
        d->dim[i] = space->dim[i];
}

static bool set_input(loop_desc *d, const value *v, error *e)
{
    loop_in *in = &d->in[d->n_in];
    const type *t = &v->type;
    int64_t stride[MAX_RANK];

    if (d->n_in == LOOP_IN_MAX || t->rank > d->rank)
        return fail(e, INGOT_E_INTERNAL, "fused region: input %d does not fit", d->n_in);
    type_strides(t, stride);
    in->dt = t->dt;
    for (int i = 0; i < t->rank; i++) {
        int at = d->rank - t->rank + i;

        if (t->dim[i] != d->dim[at] && t->dim[i] != 1)
            return fail(e, INGOT_E_INTERNAL, "fused region: input %d does not broadcast", d->n_in);
        in->stride[at] = t->dim[i] == 1 ? 0 : stride[i];
    }
    d->n_in++;
    return true;
}

static int find_value(const value *const *list, int n, const value *v)
{
    for (int i = 0; i < n; i++)
        if (list[i] == v)
            return i;
    return -1;
}

typedef struct region {
    loop_desc *d;
    const value *const *ins;
    int n_ins;
    node *const *nodes;
    int n_nodes;
    int reg[LOOP_REGS]; /* register of each node's result */
    error *e;
} region;

static int register_of(const region *r, const value *v)
{
    int i = find_value(r->ins, r->n_ins, v);

    if (i >= 0)
        return i;
    for (i = 0; i < r->n_nodes; i++)
        if (&r->nodes[i]->out[0] == v)
            return r->reg[i];
    return -1;
}

static int add_inst(region *r, loop_op opcode, int a, int b, int c)
{
    loop_desc *d = r->d;

    if (d->n_in + d->n_inst >= LOOP_REGS) {
        fail(r->e, INGOT_E_INTERNAL, "fused region: more than %d registers", LOOP_REGS);
        return -1;
    }
    d->inst[d->n_inst] = (loop_inst){.op = opcode, .a = a, .b = b, .c = c};
    return d->n_in + d->n_inst++;
}

static int named_inst(region *r, const char *name, int a, int b, int c)
{
    int opcode = loop_op_find(name, strlen(name));

    if (opcode < 0) {
        fail(r->e, INGOT_E_UNSUPPORTED, "op '%s': the loop engine has no such opcode", name);
        return -1;
    }
    return add_inst(r, (loop_op)opcode, a, b, c);
}

/* A pointwise node is the opcode of its name; casts and stop_gradient copy. A cast to bool asks
   whether the element is zero, twice negated, for a register holds 1 or 0 for a bool. */
static int pointwise_inst(region *r, const node *n)
{
    int at[3] = {0}, reg;

    for (int i = 0; i < n->n_in && i < 3; i++) {
        at[i] = register_of(r, n->in[i]);
        if (at[i] < 0) {
            fail(r->e, INGOT_E_INTERNAL, "fused region: an operand of '%s' is not in it",
                 n->op->name);
            return -1;
        }
    }
    if (node_is(n, "cast") && n->out[0].type.dt == INGOT_BOOL) {
        reg = named_inst(r, "logical_not", at[0], 0, 0);
        return reg < 0 ? reg : named_inst(r, "logical_not", reg, 0, 0);
    }
    if (node_is(n, "cast") || node_is(n, "stop_gradient"))
        return named_inst(r, "copy", at[0], 0, 0);
    reg = named_inst(r, n->op->name, at[0], at[1], at[2]);
    if (reg >= 0)
        for (int i = 0, k = 0; i < n->op->n_attrs && k < 2; i++)
            if (n->attrs[i].kind == ATTR_REAL)
                r->d->inst[r->d->n_inst - 1].imm[k++] = n->attrs[i].f;
    return reg;
}

static bool set_output(region *r, const value *v)
{
    loop_desc *d = r->d;
    loop_reduce reduce = reduction_of(v->def);
    int reg = register_of(r, v);

    if (d->n_out == LOOP_OUT_MAX || reg < 0)
        return fail(r->e, INGOT_E_INTERNAL, "fused region: output %d does not fit", d->n_out);
    d->out[d->n_out++] = (loop_out){.dt = v->type.dt, .reg = reg, .reduce = reduce};
    return true;
}

bool loop_build(node *const *nodes, int n_nodes, const value *const *ins, int n_ins,
                const value *const *outs, int n_outs, loop_desc *d, error *e)
{
    region r = {.d = d, .ins = ins, .n_ins = n_ins, .nodes = nodes, .n_nodes = n_nodes, .e = e};

    memset(d, 0, sizeof *d);
    if (n_nodes < 1 || n_nodes > LOOP_REGS)
        return fail(e, INGOT_E_INTERNAL, "fused region: %d nodes", n_nodes);
    d->cls = class_of(nodes, n_nodes);
    set_space(d, nodes, n_nodes);
    for (int i = 0; i < n_ins; i++)
        if (!set_input(d, ins[i], e))
            return false;
    for (int i = 0; i < n_nodes; i++) {
        /* a reduction has no instruction: it is how its operand's register is written out */
        r.reg[i] = reduction_of(nodes[i]) != REDUCE_NONE ? register_of(&r, nodes[i]->in[0])
                                                         : pointwise_inst(&r, nodes[i]);
        if (r.reg[i] < 0)
            return e->code == INGOT_OK
                       ? fail(e, INGOT_E_INTERNAL, "fused region: operand not in it")
                       : false;
    }
    for (int i = 0; i < n_outs; i++)
        if (!set_output(&r, outs[i]))
            return false;
    return true;
}
