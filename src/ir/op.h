/* SPDX-License-Identifier: Apache-2.0 */
/* One op, one row: everything the engine knows of an op, in the op's own file. */
#ifndef IR_OP_H
#define IR_OP_H

#include "tensor/attr.h"

typedef struct value value;
typedef struct node node;
typedef struct builder builder;
typedef struct infer infer;
typedef struct rule rule;

#define OP_MAX_IN    8 /* declared inputs; a variadic last one may repeat beyond */
#define OP_MAX_ATTRS 10
#define OP_MAX_OUT   4

/* Ordered by how hard it is to fuse, so that "may these fuse" is a comparison. */
typedef enum op_class {
    OP_POINTWISE, /* an opcode of the loop engine (cpu/loop/opcodes.inc), operands broadcast */
    OP_BROADCAST, /* broadcast_to, full, iota: no reading of its own */
    OP_MOVEMENT,  /* elements move, values don't change */
    OP_REDUCTION,
    OP_CONTRACTION,
    OP_OPAQUE, /* a kernel that nothing may enter */
    OP_EFFECT  /* assign: kept though nobody reads it */
} op_class;

typedef enum amp_class { AMP_FOLLOW, AMP_LOW, AMP_FULL } amp_class;

/* sig: "name(input: class, ..., attr: type, ...) -> result, ..."
   input classes: float (f16 bf16 f32 f64), integer (i8..i64 u8), index (i32 i64), boolean, numeric
   (float or integer), any; "?" after the class: may be absent; "..." : one or more (last input
   only). attr types: int (int64), real (double), flag (bool), ints, str, dtype. "= 0" after the
   type: a default of zero / false / empty; such attributes go to the public options struct; any
   other default is refused. */
typedef struct op_row {
    const char *sig;
    const char *doc;        /* first sentence is the public header's comment */
    bool (*infer)(infer *); /* result types; false = error set */
    void (*grad)(rule *);   /* emits IR; NULL with expand = derive the expansion;
                               NULL without = not differentiable */
    void (*expand)(rule *); /* the op written in other ops; then it needs no kernel */
    double (*flops)(const type *in, const type *out); /* NULL = one per output element */
    op_class kind;
    amp_class amp;
    struct {
        const char *name; /* NULL = none of the same meaning */
        int since;        /* first opset with it */
    } onnx;
} op_row;

/* --- what infer may call ------------------------------------------------------------------- */
int infer_count(const infer *c);                     /* inputs given (absent ones counted) */
const type *infer_in(const infer *c, int i);         /* NULL when absent */
int64_t infer_int(const infer *c, const char *name); /* int, flag, dtype */
double infer_real(const infer *c, const char *name);
ints infer_ints(const infer *c, const char *name);
const char *infer_str(const infer *c, const char *name); /* never NULL */
bool infer_out(infer *c, int i, type t);                 /* checks the type; true */
/* "op 'softmax' (layer2.attn): " + the text. Returns false. */
bool infer_fail(infer *c, ingot_status code, const char *fmt, ...) INGOT_PRINTF(3, 4);
/* axis in [-rank, rank) made non-negative; false = error set naming the value and the range. */
bool infer_axis(infer *c, const char *attr, int rank, int *out);
/* A list of axes as a mask; empty = all. Duplicates and out of range are errors. */
bool infer_axes(infer *c, const char *attr, int rank, unsigned *mask);
/* Text for messages; lives as long as c. */
const char *infer_text(infer *c, const type *t);

/* --- what grad and expand may call --------------------------------------------------------- */
builder *rule_builder(rule *r);
value *rule_in(const rule *r, int i); /* NULL when absent */
int rule_count(const rule *r);
value *rule_out(const rule *r, int i); /* grad only: the node's own results */
int64_t rule_int(const rule *r, const char *name);
double rule_real(const rule *r, const char *name);
ints rule_ints(const rule *r, const char *name);
const char *rule_str(const rule *r, const char *name); /* never NULL */
value *grad_of(const rule *r, int i);   /* gradient of result i; NULL when none arrives (only
                                           ops with several results need to ask) */
bool grad_needed(const rule *r, int i); /* does input i want a gradient */
void grad_to(rule *r, int i, value *v); /* v NULL = error set or no gradient */
void expand_to(rule *r, int i, value *v);

/* --- an op as the graph sees it: the row with its signature read ----------------------------- */
typedef enum input_class {
    IN_ANY,
    IN_FLOAT,
    IN_INTEGER,
    IN_INDEX,
    IN_BOOLEAN,
    IN_NUMERIC
} input_class;

typedef struct op_input {
    const char *name;
    input_class cls;
    bool optional, variadic;
} op_input;

typedef struct op_attr {
    const char *name;
    attr_kind kind;
    bool optional; /* "= 0" */
} op_attr;

typedef struct op {
    const op_row *row;
    const char *name;
    int n_in, n_attrs, n_out;
    op_input in[OP_MAX_IN];
    op_attr attrs[OP_MAX_ATTRS];
    const char *attr_names[OP_MAX_ATTRS];
    const char *out[OP_MAX_OUT];
} op;

/* All ops of a context: the built-in rows and those that the user registered. */
typedef struct op_registry op_registry;
op_registry *op_registry_new(const allocator *a, const op_row *const *rows, error *e);
void op_registry_free(op_registry *r);
bool op_registry_add(op_registry *r, const op_row *row, error *e);   /* bad sig or a taken name */
const op *op_find(const op_registry *r, const char *name, size_t n); /* NULL = none */
int op_count(const op_registry *r);
const op *op_at(const op_registry *r, int i); /* in order of registration */
/* The nearest name by edit distance, for "did you mean"; NULL when nothing is near. */
const char *op_nearest(const op_registry *r, const char *name, size_t n);

#endif
