/* SPDX-License-Identifier: Apache-2.0 */
/* All that an op author needs: the row, infer and rule surfaces (ir/op.h), one typed builder
   ir_NAME(b, inputs, attributes) per op (generated into ops/emit.h) and these helpers. */
#ifndef OPS_OP_H
#define OPS_OP_H

#include "ir/ir.h"
#include "ops/emit.h"

/* Every built-in row, NULL-ended (generated). */
extern const op_row *const op_rows[];

/* Sums v over the axes along which `to` was broadcast, and reshapes: the gradient of broadcasting. */
value *ir_sum_to(builder *b, value *v, const type *to);
/* v broadcast to the shape of t (no node when it already has it). */
value *ir_expand_to(builder *b, value *v, const type *t);
value *ir_cast_to(builder *b, value *v, dtype dt); /* no node when it is that already */
value *ir_zeros_like(builder *b, const value *v);
/* A scalar of x's dtype, for arithmetic with x. */
value *ir_like(builder *b, const value *x, double v);

/* Common infer rules. */
bool infer_same(infer *c);      /* one result like input 0 */
bool infer_broadcast(infer *c); /* pointwise: dtypes equal, shapes broadcast */
bool infer_compare(infer *c);   /* as broadcast, result bool */

#endif
