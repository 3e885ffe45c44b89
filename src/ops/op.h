/* SPDX-License-Identifier: Apache-2.0 */
/* All that an op author needs: the row, infer and rule surfaces (ir/op.h), one typed builder
   ir_NAME(b, inputs, attributes) per op (generated into ops/emit.h) and these helpers. */
#ifndef OPS_OP_H
#define OPS_OP_H

#include "ir/ir.h"
#include "ops/emit.h"

/* Every built-in row, NULL-ended (generated). */
extern const op_row *const op_rows[];

/* Each returns NULL when v is NULL or on an error. */
/* Sums v over the axes along which `to` was broadcast, and reshapes: the gradient of broadcasting.
 */
value *ir_sum_to(builder *b, value *v, const type *to);
/* v broadcast to the shape of t (no node when it already has it). */
value *ir_expand_to(builder *b, value *v, const type *t);
value *ir_cast_to(builder *b, value *v, dtype dt); /* no node when it is that already */
/* v with the shape of t, which has as many elements (no node when it has it). */
value *ir_reshape_to(builder *b, value *v, const type *t);
value *ir_zeros_like(builder *b, const value *v);
/* A scalar of x's dtype, for arithmetic with x. NULL when x is. */
value *ir_like(builder *b, const value *x, double v);
/* Shorthand for arithmetic with a constant. */
value *ir_scale(builder *b, value *x, double factor);
value *ir_offset(builder *b, value *x, double term);
/* Over the axes in mask, which stay as 1; x itself when the mask is empty. */
value *ir_sum_keep(builder *b, value *x, unsigned mask);
value *ir_mean_keep(builder *b, value *x, unsigned mask);

/* Common infer rules. */
bool infer_same(infer *c);      /* one result like input 0 */
bool infer_broadcast(infer *c); /* pointwise: dtypes equal, shapes broadcast */
bool infer_compare(infer *c);   /* as broadcast, result bool */
bool infer_test(infer *c);      /* shape of input 0, result bool */
/* A rank that the op needs, with an error that names the input. */
bool infer_rank(infer *c, int input, const char *name, int at_least, int at_most);
/* Both inputs have the same dtype; false = error set. */
bool infer_same_dtype(infer *c, int a, int b);
/* Dimensions from an attribute: every one >= 0. */
bool infer_shape(infer *c, const char *name, dtype dt, type *out);

/* A rule for ops whose derivative is zero wherever there is one. */
void grad_none(rule *r);

#endif
