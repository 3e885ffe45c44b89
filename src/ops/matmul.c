/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products. */
#include "ops/op.h"

static bool matmul_infer(infer *c)
{
    const type *x = infer_in(c, 0), *y = infer_in(c, 1);
    bool tx = infer_int(c, "trans_x") != 0, ty = infer_int(c, "trans_y") != 0;
    type bx, by, t;

    if (!infer_rank(c, 0, "x", 2, MAX_RANK) || !infer_rank(c, 1, "y", 2, MAX_RANK) ||
        !infer_same_dtype(c, 0, 1))
        return false;
    bx = *x;
    by = *y;
    bx.rank -= 2;
    by.rank -= 2;
    if (x->dim[x->rank - (tx ? 2 : 1)] != y->dim[y->rank - (ty ? 1 : 2)] ||
        !shape_broadcast(&bx, &by, &t))
        return infer_fail(c, INGOT_E_SHAPE, "%s%s times %s%s does not fit", infer_text(c, x),
                          tx ? " (transposed)" : "", infer_text(c, y), ty ? " (transposed)" : "");
    t.dt = x->dt;
    t.dim[t.rank++] = x->dim[x->rank - (tx ? 1 : 2)];
    t.dim[t.rank++] = y->dim[y->rank - (ty ? 2 : 1)];
    return infer_out(c, 0, t);
}

/* [.., M, K] as [.. M, K]: what multiplies a plain matrix is one matrix with more rows. */
static value *as_rows(builder *b, value *v)
{
    type t = {.rank = 2, .dim = {1}};

    if (!v)
        return NULL;
    for (int i = 0; i < v->type.rank - 1; i++)
        t.dim[0] *= v->type.dim[i];
    t.dim[1] = v->type.dim[v->type.rank - 1];
    return ir_reshape_to(b, v, &t);
}

static void matmul_grad(rule *r)
{
    builder *b = rule_builder(r);
    value *x = rule_in(r, 0), *y = rule_in(r, 1), *dz = grad_of(r, 0);
    bool tx = rule_int(r, "trans_x") != 0, ty = rule_int(r, "trans_y") != 0;

    if (grad_needed(r, 0)) {
        value *dx = tx ? ir_matmul(b, y, dz, ty, true) : ir_matmul(b, dz, y, false, !ty);

        grad_to(r, 0, ir_sum_to(b, dx, &x->type));
    }
    if (grad_needed(r, 1)) {
        if (y->type.rank == 2 && !tx) {
            x = as_rows(b, x);
            dz = as_rows(b, dz);
        }
        value *dy = ty ? ir_matmul(b, dz, x, true, tx) : ir_matmul(b, x, dz, !tx, false);

        grad_to(r, 1, ir_sum_to(b, dy, &y->type));
    }
}

static double matmul_flops(const type *in, const type *out)
{
    /* Either order of x's last two dimensions gives M K; their product and out's N are known. */
    const type *x = &in[0];
    double m_k = (double)x->dim[x->rank - 1] * (double)x->dim[x->rank - 2];
    double batch = (double)type_count(out) /
                   ((double)out->dim[out->rank - 1] * (double)out->dim[out->rank - 2]);

    return 2.0 * batch * m_k * (double)out->dim[out->rank - 1];
}

const op_row op_matmul = {
    .sig = "matmul(x: float, y: float, trans_x: flag = 0, trans_y: flag = 0) -> z",
    .doc =
        "x [.., M, K] times y [.., K, N]; trans_x and trans_y: the last two axes are stored swapped; "
        "leading axes broadcast.",
    .infer = matmul_infer,
    .grad = matmul_grad,
    .flops = matmul_flops,
    .kind = OP_CONTRACTION,
    .amp = AMP_LOW,
    .onnx = {"MatMul", 13},
};

static bool linear_infer(infer *c)
{
    const type *x = infer_in(c, 0), *w = infer_in(c, 1), *bias = infer_in(c, 2);
    type t = *x;

    if (!infer_rank(c, 0, "x", 2, MAX_RANK) || !infer_rank(c, 1, "weight", 2, 2) ||
        !infer_same_dtype(c, 0, 1))
        return false;
    if (x->dim[x->rank - 1] != w->dim[1])
        return infer_fail(c, INGOT_E_SHAPE,
                          "x is %s and weight %s; the last dimensions must be equal",
                          infer_text(c, x), infer_text(c, w));
    if (bias && (bias->rank != 1 || bias->dim[0] != w->dim[0] || bias->dt != x->dt))
        return infer_fail(c, INGOT_E_SHAPE, "bias is %s for weight %s", infer_text(c, bias),
                          infer_text(c, w));
    t.dim[t.rank - 1] = w->dim[0];
    return infer_out(c, 0, t);
}

static void linear_expand(rule *r)
{
    builder *b = rule_builder(r);
    value *y = ir_matmul(b, rule_in(r, 0), rule_in(r, 1), false, true);

    expand_to(r, 0, rule_in(r, 2) ? ir_add(b, y, rule_in(r, 2)) : y);
}

const op_row op_linear = {
    .sig = "linear(x: float, weight: float, bias: float?) -> y",
    .doc = "x [.., in] times the transpose of weight [out, in], plus bias [out].",
    .infer = linear_infer,
    .expand = linear_expand,
    .kind = OP_CONTRACTION,
    .amp = AMP_LOW,
};
