/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a tensor: slice, its gradient, pad. */
#include "ops/op.h"

#include <inttypes.h>

/* What starts, sizes and steps take from a tensor of shape x; sizes NULL = those of out. */
static bool slice_check(infer *c, const type *x, ints starts, ints steps, type *out)
{
    if (starts.n != x->rank || (steps.n != 0 && steps.n != x->rank))
        return infer_fail(c, INGOT_E_SHAPE, "starts and steps have %d and %d entries for %s",
                          starts.n, steps.n, infer_text(c, x));
    for (int i = 0; i < x->rank; i++) {
        int64_t start = starts.v[i], step = steps.n ? steps.v[i] : 1, size = out->dim[i], last;

        if (size == -1 && start == 0 && step == 1) {
            out->dim[i] = x->dim[i];
            continue;
        }
        if (size < 0 || step == 0 || start < 0 || x->dim[i] == DIM_SYM ||
            !i64_mul(size > 0 ? size - 1 : 0, step, &last) || !i64_add(last, start, &last) ||
            (size > 0 && (start >= x->dim[i] || last < 0 || last >= x->dim[i])))
            return infer_fail(c, INGOT_E_SHAPE,
                              "axis %d: %" PRId64 " elements from %" PRId64 " in steps of %" PRId64
                              " are not within %s",
                              i, size, start, step, infer_text(c, x));
    }
    return true;
}

static bool slice_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    ints sizes = infer_ints(c, "sizes");
    type t = *x;

    if (sizes.n != x->rank)
        return infer_fail(c, INGOT_E_SHAPE, "sizes has %d entries for %s", sizes.n,
                          infer_text(c, x));
    for (int i = 0; i < x->rank; i++)
        t.dim[i] = sizes.v[i];
    return slice_check(c, x, infer_ints(c, "starts"), infer_ints(c, "steps"), &t) &&
           infer_out(c, 0, t);
}

static void slice_grad(rule *r)
{
    const type *x = &rule_in(r, 0)->type;

    grad_to(r, 0,
            ir_slice_backward(rule_builder(r), grad_of(r, 0), (ints){x->dim, x->rank},
                              rule_ints(r, "starts"), rule_ints(r, "steps")));
}

const op_row op_slice = {
    .sig = "slice(x: any, starts: ints, sizes: ints, steps: ints = 0) -> y",
    .doc =
        "sizes[i] elements from starts[i] on along each axis i, steps[i] (none given = 1) apart; a size "
        "of -1 takes the whole axis.",
    .infer = slice_infer,
    .grad = slice_grad,
    .kind = OP_MOVEMENT,
    .onnx = {"Slice", 10},
};

static bool slice_backward_infer(infer *c)
{
    const type *dy = infer_in(c, 0);
    type t, taken = *dy;

    if (!infer_shape(c, "shape", dy->dt, &t))
        return false;
    if (t.rank != dy->rank)
        return infer_fail(c, INGOT_E_SHAPE, "shape has %d entries for %s", t.rank,
                          infer_text(c, dy));
    return slice_check(c, &t, infer_ints(c, "starts"), infer_ints(c, "steps"), &taken) &&
           infer_out(c, 0, t);
}

static void slice_backward_grad(rule *r)
{
    const type *dy = &rule_in(r, 0)->type;

    grad_to(r, 0,
            ir_slice(rule_builder(r), grad_of(r, 0), rule_ints(r, "starts"),
                     (ints){dy->dim, dy->rank}, rule_ints(r, "steps")));
}

const op_row op_slice_backward = {
    .sig = "slice_backward(dy: any, shape: ints, starts: ints, steps: ints = 0) -> dx",
    .doc = "Zeros of shape with dy where a slice of it would be read: the gradient of slice.",
    .infer = slice_backward_infer,
    .grad = slice_backward_grad,
    .kind = OP_MOVEMENT,
};

static bool pad_infer(infer *c)
{
    const type *x = infer_in(c, 0);
    ints pads = infer_ints(c, "pads");
    type t = *x;

    if (pads.n != 2 * x->rank)
        return infer_fail(c, INGOT_E_SHAPE, "pads has %d entries for %s; %d are needed", pads.n,
                          infer_text(c, x), 2 * x->rank);
    for (int i = 0; i < x->rank; i++) {
        int64_t before = pads.v[i], after = pads.v[x->rank + i];

        if (before < 0 || after < 0 || (x->dim[i] == DIM_SYM && (before || after)) ||
            (x->dim[i] != DIM_SYM &&
             (!i64_add(t.dim[i], before, &t.dim[i]) || !i64_add(t.dim[i], after, &t.dim[i]))))
            return infer_fail(c, INGOT_E_SHAPE,
                              "pads %" PRId64 " and %" PRId64
                              " at axis %d of %s: 0 or more is needed",
                              before, after, i, infer_text(c, x));
    }
    return infer_out(c, 0, t);
}

static void pad_grad(rule *r)
{
    const type *x = &rule_in(r, 0)->type;
    ints pads = rule_ints(r, "pads");

    grad_to(r, 0,
            ir_slice(rule_builder(r), grad_of(r, 0), (ints){pads.v, x->rank},
                     (ints){x->dim, x->rank}, NO_INTS));
}

const op_row op_pad = {
    .sig = "pad(x: any, pads: ints, value: real = 0) -> y",
    .doc = "x with pads[i] elements of value before and pads[rank + i] behind along each axis i.",
    .infer = pad_infer,
    .grad = pad_grad,
    .kind = OP_MOVEMENT,
    .onnx = {"Pad", 11},
};
