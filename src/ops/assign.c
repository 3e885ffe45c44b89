/* SPDX-License-Identifier: Apache-2.0 */
/* The one effect. */
#include "ops/op.h"

static bool assign_infer(infer *c)
{
    const type *dst = infer_in(c, 0), *src = infer_in(c, 1);

    if (!type_equal(dst, src))
        return infer_fail(c, dst->dt == src->dt ? INGOT_E_SHAPE : INGOT_E_DTYPE,
                          "%s cannot become %s", infer_text(c, dst), infer_text(c, src));
    return infer_same(c);
}

static void assign_grad(rule *r)
{
    grad_to(r, 1, grad_of(r, 0));
}

const op_row op_assign = {
    .sig = "assign(dst: any, src: any) -> out",
    .doc = "Makes src the content of the parameter dst when the run ends; the result is src.",
    .infer = assign_infer,
    .grad = assign_grad,
    .kind = OP_EFFECT,
};
