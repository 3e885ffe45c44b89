/* SPDX-License-Identifier: Apache-2.0 */
/* What the graph, the passes and autodiff need of the infer and rule surfaces that op rows see. */
#ifndef IR_OP_INTERNAL_H
#define IR_OP_INTERNAL_H

#include "ir/ir.h"

#define INFER_TEXTS 16

struct infer {
    const op *op;
    const char *name; /* of the node, for messages; NULL = none */
    const type *in;   /* n_in of them; rank -1: absent */
    int n_in;
    const attr *attrs; /* op->n_attrs of them */
    type out[OP_MAX_OUT];
    unsigned out_set; /* bit i: out[i] was given */
    error *err;
    char text[INFER_TEXTS][TYPE_TEXT]; /* infer_text's, used in turn */
    int n_text;
};

/* For grad: result[i] is the gradient of input i. For expand: result[i] is output i. */
struct rule {
    builder *b;
    const node *n;
    value *const *in;
    value *const *out;  /* grad only */
    value *const *dout; /* grad only; NULL entries: no gradient arrives */
    value **result;
    const bool *needed; /* grad only: by input */
};

/* Result types of o on these inputs, after checking number and dtype classes of the inputs, kinds
   of the attributes, and that infer gave every result. */
bool op_infer(const op *o, const char *name, const type *in, int n_in, const attr *attrs,
              int n_attrs, type *out, error *e);

#endif
