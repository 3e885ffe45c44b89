/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes change, elements don't: reshape and what is written in it, transpose, concat, tile. */
#include "ops/op.h"

#include <inttypes.h>

/* Dimensions as the attribute gives them, 0 resolved; the place of -1 in *open, else -1. */
static bool reshape_read(infer *c, const type *x, type *t, int *open)
{
    ints shape = infer_ints(c, "shape");
    bool zero = infer_int(c, "allow_zero") != 0;

    if (shape.n > MAX_RANK)
        return infer_fail(c, INGOT_E_SHAPE, "shape has %d dimensions; %d at most", shape.n,
                          MAX_RANK);
    *t = (type){.dt = x->dt, .rank = shape.n};
    *open = -1;
    for (int i = 0; i < shape.n; i++) {
        int64_t d = shape.v[i];

        if (d == 0 && !zero) {
            if (i >= x->rank)
                return infer_fail(c, INGOT_E_SHAPE, "shape copies dimension %d of %s", i,
                                  infer_text(c, x));
            d = x->dim[i];
        } else if (d == -1) {
            if (*open >= 0)
                return infer_fail(c, INGOT_E_SHAPE, "shape has -1 at axes %d and %d; one at most",
                                  *open, i);
            *open = i;
            d = 1;
        } else if (d < 0) {
            return infer_fail(c, INGOT_E_SHAPE, "shape: dimension %d is %" PRId64, i, d);
        }
        t->dim[i] = d;
    }
    return true;
}

static bool reshape_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    int64_t from, to;
    int open = -1;
    type t;

    if (!reshape_read(c, x, &t, &open))
        return false;
    if (!type_check(&t, NULL))
        return infer_fail(c, INGOT_E_SHAPE, "shape holds too many elements");
    from = type_count(x);
    to = type_count(&t);
    if (open >= 0 && type_symbolic(x) && !type_symbolic(&t) && from == to)
        t.dim[open] = DIM_SYM;
    else if (open >= 0 && to > 0 && from % to == 0)
        t.dim[open] = from / to;
    else if (open >= 0)
        return infer_fail(c, INGOT_E_SHAPE, "%s does not fill the -1 of the new shape",
                          infer_text(c, x));
    if (type_symbolic(x) != type_symbolic(&t) || type_count(&t) != from)
        return infer_fail(c, INGOT_E_SHAPE, "%s has not as many elements as %s", infer_text(c, x),
                          infer_text(c, &t));
    return infer_out(c, 0, t);
}

static void reshape_grad(rule *r)
{
    grad_to(r, 0, ir_reshape_to(rule_builder(r), grad_of(r, 0), &rule_in(r, 0)->type));
}

const op_row op_reshape = {
    .sig = "reshape(x: any, shape: ints, allow_zero: flag = 0) -> y",
    .doc =
        "The same elements in another shape; an entry of 0 copies x's dimension (with allow_zero it is "
        "0), one of -1 takes what is left.",
    .infer = reshape_infer,
    .grad = reshape_grad,
    .kind = OP_MOVEMENT,
    .onnx = {"Reshape", 14},
};

static bool flatten_range(infer *c, const type *x, int *start, int *end)
{
    int64_t last = infer_int(c, "end");

    if (!infer_axis(c, "start", x->rank, start))
        return false;
    *end = x->rank - 1;
    if (last != 0 && !infer_axis(c, "end", x->rank, end))
        return false;
    return *start <= *end ||
           infer_fail(c, INGOT_E_ARGUMENT, "start %d is behind end %d", *start, *end);
}

static bool flatten_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    type t = {.dt = x->dt};
    int start = 0, end = 0;
    int64_t inner = 1;

    if (x->rank == 0) {
        t.dim[t.rank++] = 1;
        return infer_out(c, 0, t);
    }
    if (!flatten_range(c, x, &start, &end))
        return false;
    for (int i = start; i <= end; i++) {
        if (start < end && x->dim[i] == DIM_SYM)
            return infer_fail(c, INGOT_E_SHAPE, "%s: the batch cannot be flattened into others",
                              infer_text(c, x));
        inner = start == end ? x->dim[i] : inner * x->dim[i];
    }
    for (int i = 0; i < start; i++)
        t.dim[t.rank++] = x->dim[i];
    t.dim[t.rank++] = inner;
    for (int i = end + 1; i < x->rank; i++)
        t.dim[t.rank++] = x->dim[i];
    return infer_out(c, 0, t);
}

/* Of the concrete type of the node's result. */
static void expand_as_reshape(rule *r, const type *t)
{
    value *x = rule_in(r, 0);

    expand_to(r, 0, ir_reshape(rule_builder(r), x, (ints){t->dim, t->rank}, true));
}

static void flatten_expand(rule *r)
{
    const type *x = &rule_in(r, 0)->type;
    int64_t start = rule_int(r, "start"), end = rule_int(r, "end"), inner = 1;
    type t = {.dt = x->dt};

    start = start < 0 ? start + x->rank : start;
    end = end == 0 ? x->rank - 1 : end < 0 ? end + x->rank : end;
    for (int i = 0; i < x->rank; i++) {
        inner = i < start || i > end ? x->dim[i] : inner * x->dim[i];
        if (i < start || i >= end) {
            t.dim[t.rank++] = inner;
            inner = 1;
        }
    }
    if (x->rank == 0)
        t.dim[t.rank++] = 1;
    expand_as_reshape(r, &t);
}

const op_row op_flatten = {
    .sig = "flatten(x: any, start: int = 0, end: int = 0) -> y",
    .doc = "The axes from start to end (0 = the last) made one.",
    .infer = flatten_infer,
    .expand = flatten_expand,
    .kind = OP_MOVEMENT,
};

static bool squeeze_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    bool all = infer_ints(c, "axes").n == 0;
    type t = {.dt = x->dt};
    unsigned mask;

    if (!infer_axes(c, "axes", x->rank, &mask))
        return false;
    for (int i = 0; i < x->rank; i++) {
        bool drop = (mask >> i & 1) && x->dim[i] == 1;

        if (!all && (mask >> i & 1) && !drop)
            return infer_fail(c, INGOT_E_SHAPE, "axis %d of %s is not of size 1", i,
                              infer_text(c, x));
        if (!drop)
            t.dim[t.rank++] = x->dim[i];
    }
    return infer_out(c, 0, t);
}

static void squeeze_expand(rule *r)
{
    const type *x = &rule_in(r, 0)->type;
    ints axes = rule_ints(r, "axes");
    type t = {.dt = x->dt};
    unsigned mask = axes.n ? 0 : ~0u;

    for (int i = 0; i < axes.n; i++)
        mask |= 1u << (axes.v[i] < 0 ? axes.v[i] + x->rank : axes.v[i]);
    for (int i = 0; i < x->rank; i++)
        if (!(mask >> i & 1) || x->dim[i] != 1)
            t.dim[t.rank++] = x->dim[i];
    expand_as_reshape(r, &t);
}

const op_row op_squeeze = {
    .sig = "squeeze(x: any, axes: ints = 0) -> y",
    .doc = "x without the axes named, which must be of size 1; none named = without all of size 1.",
    .infer = squeeze_infer,
    .expand = squeeze_expand,
    .kind = OP_MOVEMENT,
    .onnx = {"Squeeze", 13},
};

static type unsqueezed(const type *x, unsigned mask, int rank)
{
    type t = {.dt = x->dt, .rank = rank};

    for (int i = 0, k = 0; i < rank; i++)
        t.dim[i] = mask >> i & 1 ? 1 : x->dim[k++];
    return t;
}

static bool unsqueeze_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    int n = infer_ints(c, "axes").n, rank = x->rank + n;
    unsigned mask;

    if (n == 0 || rank > MAX_RANK)
        return infer_fail(c, INGOT_E_SHAPE, "%d new axes for %s; 1 to %d are possible", n,
                          infer_text(c, x), MAX_RANK - x->rank);
    return infer_axes(c, "axes", rank, &mask) && infer_out(c, 0, unsqueezed(x, mask, rank));
}

static void unsqueeze_expand(rule *r)
{
    const type *x = &rule_in(r, 0)->type;
    ints axes = rule_ints(r, "axes");
    int rank = x->rank + axes.n;
    unsigned mask = 0;
    type t;

    for (int i = 0; i < axes.n; i++)
        mask |= 1u << (axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i]);
    t = unsqueezed(x, mask, rank);
    expand_as_reshape(r, &t);
}

const op_row op_unsqueeze = {
    .sig = "unsqueeze(x: any, axes: ints) -> y",
    .doc = "x with axes of size 1 put in at the places, counted in the result, that axes names.",
    .infer = unsqueeze_infer,
    .expand = unsqueeze_expand,
    .kind = OP_MOVEMENT,
    .onnx = {"Unsqueeze", 13},
};

static bool transpose_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    ints perm = infer_ints(c, "perm");
    type t = *x;
    unsigned seen = 0;

    if (perm.n != 0 && perm.n != x->rank)
        return infer_fail(c, INGOT_E_SHAPE, "perm has %d entries for %s", perm.n, infer_text(c, x));
    for (int i = 0; i < x->rank; i++) {
        int64_t from = perm.n ? perm.v[i] : x->rank - 1 - i;

        if (from < 0 || from >= x->rank || (seen >> from & 1))
            return infer_fail(c, INGOT_E_ARGUMENT,
                              "perm entry %d is %" PRId64 ": no permutation of [0, %d)", i, from,
                              x->rank);
        seen |= 1u << from;
        t.dim[i] = x->dim[from];
    }
    return infer_out(c, 0, t);
}

static void transpose_grad(rule *r)
{
    ints perm = rule_ints(r, "perm");
    int64_t inverse[MAX_RANK];

    for (int i = 0; i < perm.n; i++)
        inverse[perm.v[i]] = i;
    grad_to(r, 0, ir_transpose(rule_builder(r), grad_of(r, 0), (ints){inverse, perm.n}));
}

const op_row op_transpose = {
    .sig = "transpose(x: any, perm: ints = 0) -> y",
    .doc = "Axis i of y is axis perm[i] of x; no perm = the axes in reverse.",
    .infer = transpose_infer,
    .grad = transpose_grad,
    .kind = OP_MOVEMENT,
    .onnx = {"Transpose", 1},
};

static bool concat_infer(infer *c)
{
    const type *first = infer_in(c, 0);
    type t = *first;
    int axis;

    if (!infer_axis(c, "axis", first->rank, &axis))
        return false;
    for (int i = 1; i < infer_count(c); i++) {
        const type *x = infer_in(c, i);
        bool fits = x->dt == first->dt && x->rank == first->rank;

        for (int d = 0; fits && d < x->rank; d++)
            fits = d == axis || x->dim[d] == first->dim[d];
        if (!fits || !i64_add(t.dim[axis], x->dim[axis], &t.dim[axis]))
            return infer_fail(c, x->dt == first->dt ? INGOT_E_SHAPE : INGOT_E_DTYPE,
                              "input %d is %s, which does not join %s along axis %d", i,
                              infer_text(c, x), infer_text(c, first), axis);
    }
    for (int i = 0; infer_count(c) > 1 && i < infer_count(c); i++)
        if (infer_in(c, i)->dim[axis] == DIM_SYM)
            return infer_fail(c, INGOT_E_SHAPE, "input %d is %s: the batch cannot be joined", i,
                              infer_text(c, infer_in(c, i)));
    return infer_out(c, 0, t);
}

static void concat_grad(rule *r)
{
    const type *y = &grad_of(r, 0)->type;
    int64_t axis = rule_int(r, "axis"), starts[MAX_RANK] = {0};

    axis = axis < 0 ? axis + y->rank : axis;
    for (int i = 0; i < rule_count(r); i++) {
        const type *x = &rule_in(r, i)->type;

        if (grad_needed(r, i))
            grad_to(r, i,
                    ir_slice(rule_builder(r), grad_of(r, 0), (ints){starts, x->rank},
                             (ints){x->dim, x->rank}, NO_INTS));
        starts[axis] += x->dim[axis];
    }
}

const op_row op_concat = {
    .sig = "concat(xs: any..., axis: int) -> y",
    .doc = "The inputs one behind the other along axis.",
    .infer = concat_infer,
    .grad = concat_grad,
    .kind = OP_MOVEMENT,
    .onnx = {"Concat", 13},
};

static bool tile_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    ints repeats = infer_ints(c, "repeats");
    type t = *x;

    if (repeats.n != x->rank)
        return infer_fail(c, INGOT_E_SHAPE, "repeats has %d entries for %s", repeats.n,
                          infer_text(c, x));
    if (x->rank > MAX_RANK / 2)
        return infer_fail(c, INGOT_E_SHAPE, "x is %s; rank %d at most", infer_text(c, x),
                          MAX_RANK / 2);
    for (int i = 0; i < x->rank; i++)
        if (repeats.v[i] < 0 || (x->dim[i] == DIM_SYM && repeats.v[i] != 1) ||
            (x->dim[i] != DIM_SYM && !i64_mul(x->dim[i], repeats.v[i], &t.dim[i])))
            return infer_fail(c, INGOT_E_SHAPE, "repeats: %" PRId64 " times axis %d of %s",
                              repeats.v[i], i, infer_text(c, x));
    return infer_out(c, 0, t);
}

/* [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r a, s b] */
static void tile_expand(rule *r)
{
    builder *b = rule_builder(r);
    const type *x = &rule_in(r, 0)->type;
    ints repeats = rule_ints(r, "repeats");
    type split = {.dt = x->dt, .rank = 2 * x->rank}, wide = split, out = *x;

    for (int i = 0; i < x->rank; i++) {
        split.dim[2 * i] = 1;
        wide.dim[2 * i] = repeats.v[i];
        split.dim[2 * i + 1] = wide.dim[2 * i + 1] = x->dim[i];
        out.dim[i] = x->dim[i] * repeats.v[i];
    }
    value *v = ir_reshape(b, rule_in(r, 0), (ints){split.dim, split.rank}, true);

    expand_to(r, 0, ir_reshape_to(b, ir_expand_to(b, v, &wide), &out));
}

const op_row op_tile = {
    .sig = "tile(x: any, repeats: ints) -> y",
    .doc = "x repeated repeats[i] times along axis i.",
    .infer = tile_infer,
    .expand = tile_expand,
    .kind = OP_MOVEMENT,
    .onnx = {"Tile", 13},
};
