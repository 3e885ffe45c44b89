/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and adding by index. An index outside of its axis reads zeros and adds nothing: kernels
   have no way to fail, so that whoever makes indices checks them (training checks its labels). */
#include "ops/op.h"

/* x[:axis] + indices + x[axis+1:] */
static bool taken_type(infer *c, const type *x, const type *indices, int axis, type *t)
{
    if (x->rank - 1 + indices->rank > MAX_RANK)
        return infer_fail(c, INGOT_E_SHAPE, "%s by %s has a rank above %d", infer_text(c, x),
                          infer_text(c, indices), MAX_RANK);
    *t = (type){.dt = x->dt};
    for (int i = 0; i < axis; i++)
        t->dim[t->rank++] = x->dim[i];
    for (int i = 0; i < indices->rank; i++)
        t->dim[t->rank++] = indices->dim[i];
    for (int i = axis + 1; i < x->rank; i++)
        t->dim[t->rank++] = x->dim[i];
    return true;
}

static bool gather_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    int axis;
    type t;

    return infer_axis(c, "axis", x->rank, &axis) && taken_type(c, x, infer_in(c, 1), axis, &t) &&
           infer_out(c, 0, t);
}

static void gather_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *zeros = ir_zeros_like(b, rule_in(r, 0));

    grad_to(r, 0, ir_index_add(b, zeros, rule_in(r, 1), grad_of(r, 0), rule_int(r, "axis")));
}

const op_row op_gather = {
    .sig = "gather(x: any, indices: index, axis: int) -> y",
    .doc = "The slices of x along axis that indices names: x[:axis] + indices' shape + x[axis+1:].",
    .infer = gather_infer,
    .grad = gather_grad,
    .kind = OP_MOVEMENT,
    .onnx = {"Gather", 13},
};

static bool index_add_infer(infer *c)
{
    const type *x = infer_in(c, 0), *updates = infer_in(c, 2);
    int axis;
    type t;

    if (!infer_axis(c, "axis", x->rank, &axis) || !infer_same_dtype(c, 0, 2) ||
        !taken_type(c, x, infer_in(c, 1), axis, &t))
        return false;
    if (!shape_equal(&t, updates))
        return infer_fail(c, INGOT_E_SHAPE, "updates is %s; %s is needed", infer_text(c, updates),
                          infer_text(c, &t));
    return infer_out(c, 0, *x);
}

static void index_add_grad(rule *r)
{
    grad_to(r, 0, grad_of(r, 0));
    if (grad_needed(r, 2))
        grad_to(r, 2,
                ir_gather(rule_builder(r), grad_of(r, 0), rule_in(r, 1), rule_int(r, "axis")));
}

const op_row op_index_add = {
    .sig = "index_add(x: numeric, indices: index, updates: numeric, axis: int) -> y",
    .doc =
        "x with the slices of updates added where gather would read them, in the order of indices.",
    .infer = index_add_infer,
    .grad = index_add_grad,
    .kind = OP_OPAQUE,
};

/* indices has x's rank and, but for axis, no dimension greater than x's. */
static bool elements_check(infer *c, int *axis)
{
    const type *x = infer_in(c, 0), *indices = infer_in(c, 1);

    if (!infer_axis(c, "axis", x->rank, axis))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (indices->rank != x->rank ||
            (i != *axis &&
             (indices->dim[i] == DIM_SYM || x->dim[i] == DIM_SYM ? indices->dim[i] != x->dim[i]
                                                                 : indices->dim[i] > x->dim[i])))
            return infer_fail(c, INGOT_E_SHAPE,
                              "indices is %s, which does not fit %s along axis %d",
                              infer_text(c, indices), infer_text(c, x), *axis);
    return true;
}

static bool gather_elements_infer(infer *c)
{
    type t;
    int axis;

    if (!elements_check(c, &axis))
        return false;
    t = *infer_in(c, 1);
    t.dt = infer_in(c, 0)->dt;
    return infer_out(c, 0, t);
}

static void gather_elements_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *zeros = ir_zeros_like(b, rule_in(r, 0));

    grad_to(r, 0,
            ir_scatter_add_elements(b, zeros, rule_in(r, 1), grad_of(r, 0), rule_int(r, "axis")));
}

const op_row op_gather_elements = {
    .sig = "gather_elements(x: any, indices: index, axis: int) -> y",
    .doc =
        "For each element of indices the element of x at the same place, but for the place along axis, "
        "which is the index.",
    .infer = gather_elements_infer,
    .grad = gather_elements_grad,
    .kind = OP_MOVEMENT,
    .onnx = {"GatherElements", 13},
};

static bool scatter_add_elements_infer(infer *c)
{
    const type *indices = infer_in(c, 1), *updates = infer_in(c, 2);
    int axis;

    if (!infer_same_dtype(c, 0, 2) || !elements_check(c, &axis))
        return false;
    if (!shape_equal(indices, updates))
        return infer_fail(c, INGOT_E_SHAPE,
                          "updates is %s and indices %s; the shapes must be equal",
                          infer_text(c, updates), infer_text(c, indices));
    return infer_same(c);
}

static void scatter_add_elements_grad(rule *r)
{
    grad_to(r, 0, grad_of(r, 0));
    if (grad_needed(r, 2))
        grad_to(
            r, 2,
            ir_gather_elements(rule_builder(r), grad_of(r, 0), rule_in(r, 1), rule_int(r, "axis")));
}

const op_row op_scatter_add_elements = {
    .sig = "scatter_add_elements(x: numeric, indices: index, updates: numeric, axis: int) -> y",
    .doc = "x with each element of updates added where gather_elements would read it.",
    .infer = scatter_add_elements_infer,
    .grad = scatter_add_elements_grad,
    .kind = OP_OPAQUE,
};

static bool embedding_infer(infer *c)
{
    type t;

    return infer_rank(c, 0, "weight", 2, 2) &&
           taken_type(c, infer_in(c, 0), infer_in(c, 1), 0, &t) && infer_out(c, 0, t);
}

static void embedding_expand(rule *r)
{
    expand_to(r, 0, ir_gather(rule_builder(r), rule_in(r, 0), rule_in(r, 1), 0));
}

const op_row op_embedding = {
    .sig = "embedding(weight: float, indices: index) -> y",
    .doc = "The rows of weight [count, width] that indices names.",
    .infer = embedding_infer,
    .expand = embedding_expand,
    .kind = OP_MOVEMENT,
};

static bool one_hot_infer(infer *c)
{
    type t = *infer_in(c, 0);
    int64_t depth = infer_int(c, "depth");

    if (depth < 1 || t.rank == MAX_RANK)
        return infer_fail(c, INGOT_E_ARGUMENT, "depth %lld for %s: 1 or more, and a rank below %d",
                          (long long)depth, infer_text(c, &t), MAX_RANK);
    t.dim[t.rank++] = depth;
    t.dt = (dtype)infer_int(c, "dtype");
    return infer_out(c, 0, t);
}

static void one_hot_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *indices = rule_in(r, 0);
    type column = indices->type;

    column.dim[column.rank++] = 1;
    value *classes = ir_iota(b, INTS(rule_int(r, "depth")), 0, indices->type.dt);
    value *hit = ir_eq(b, ir_reshape_to(b, indices, &column), classes);

    expand_to(r, 0, ir_cast_to(b, hit, (dtype)rule_int(r, "dtype")));
}

const op_row op_one_hot = {
    .sig = "one_hot(indices: index, depth: int, dtype: dtype) -> y",
    .doc =
        "1 at the index and 0 elsewhere along a new last axis of size depth; all 0 for an index outside.",
    .infer = one_hot_infer,
    .expand = one_hot_expand,
    .kind = OP_MOVEMENT,
};
