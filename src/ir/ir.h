/* SPDX-License-Identifier: Apache-2.0 */
/* The intermediate representation: a graph is an array of nodes in SSA form, each before its
   users. docs/ir.md has the grammar of the text form. */
#ifndef IR_IR_H
#define IR_IR_H

#include "ir/op.h"

typedef struct graph graph;

struct value {
    node *def;
    int index; /* which result of def */
    int id;    /* dense in the graph: passes index side arrays with it */
    type type;
};

/* The four node forms that are not op rows. */
typedef enum node_form {
    NODE_OP,
    NODE_INPUT, /* fed at each run; name */
    NODE_PARAM, /* memory that outlives a run; name; slot */
    NODE_CONST, /* data */
    NODE_FUSED, /* region: pointwise and reduction nodes run as one loop; its n_in region inputs
                   match in[], its outputs match out[] */
} node_form;

struct node {
    node_form form;
    const op *op; /* NODE_OP only */
    int n_in, n_out;
    value **in;       /* NULL entries: absent optional inputs */
    value *out;       /* n_out of them */
    attr *attrs;      /* op->n_attrs of them */
    const char *name; /* for people: "layer2.0.conv1"; NULL = none */
    const void *data; /* NODE_CONST: row-major bytes */
    graph *region;    /* NODE_FUSED */
    int slot;         /* NODE_PARAM: index in graph->params */
};

struct graph {
    const allocator *alloc;
    arena mem;
    const op_registry *ops;
    const char *name;
    node **nodes;
    size_t n_nodes, cap_nodes;
    node **inputs, **params; /* in order of creation */
    size_t n_inputs, cap_inputs, n_params, cap_params;
    value **outputs;
    const char **output_names; /* entries may be NULL */
    size_t n_outputs, cap_outputs, cap_output_names;
    int n_values;
};

graph *graph_new(const allocator *a, const op_registry *ops, const char *name, error *e);
void graph_free(graph *g);
graph *graph_clone(const graph *g, error *e);
bool graph_output(graph *g, value *v, const char *name, error *e);

/* Where nodes are made. on_emit (eager mode) runs after each new node; false = error set. */
struct builder {
    graph *g;
    error *err;
    const char *path; /* prefix of names; NULL = none */
    bool (*on_emit)(void *user, node *n);
    void *user;
};

/* Each returns NULL with the error set. NULL inputs that the op does not allow to be absent mean
   an earlier failure: NULL is returned and the first error kept. */
value *ir_emit(builder *b, const char *op, value *const *in, int n_in, const attr *attrs,
               int n_attrs);
value *ir_emit_op(builder *b, const op *op, value *const *in, int n_in, const attr *attrs,
                  int n_attrs, const char *name);
value *ir_input(builder *b, const char *name, const type *t);
value *ir_param(builder *b, const char *name, const type *t);
value *ir_const(builder *b, const type *t, const void *data);
value *ir_scalar(builder *b, dtype dt, double v); /* rank 0 */
value *ir_fused(builder *b, graph *region, value *const *in, int n_in, const char *name);
/* Result i of the node that v is a result of. */
value *ir_result(value *v, int i);
/* Copies a node into b with new inputs; results correspond by index. */
node *ir_copy_node(builder *b, const node *n, value *const *in);

const attr *node_attr(const node *n, const char *name); /* asserted to exist */
bool node_is(const node *n, const char *op);
op_class node_class(const node *n); /* INPUT, PARAM, CONST, FUSED: OP_OPAQUE */

/* Rewriting: walk the old graph, copy or replace each node into a fresh one, then swap. map[id]
   of old values is the new value. Inputs, params and their order are kept. */
typedef struct rewriter {
    graph *g;    /* being replaced */
    builder b;   /* into the new one */
    value **map; /* g->n_values */
    error *err;
} rewriter;
bool rewrite_begin(rewriter *w, graph *g, error *e);
bool rewrite_keep(rewriter *w, const node *n); /* copies n with mapped inputs */
value *rewrite_in(const rewriter *w, const value *old);
/* ok false: throws the new graph away. Returns ok and no error. */
bool rewrite_end(rewriter *w, bool ok);

/* Verifier: order, uses, types as infer gives them, attributes, regions. Names the node. */
bool graph_verify(const graph *g, error *e);

/* Text form (docs/ir.md). print appends; parse reads exactly what print writes and more. */
bool graph_print(const graph *g, buffer *out, error *e);
graph *graph_parse(const allocator *a, const op_registry *ops, const char *text, size_t n,
                   error *e); /* "line:column: ..." */
bool graph_dot(const graph *g, buffer *out, error *e);

/* A copy with DIM_SYM of every input set to batch and all types inferred anew. */
graph *graph_bind(const graph *g, int64_t batch, error *e);

/* Removes what no output and no effect needs (inputs and params stay). */
bool graph_prune(graph *g, error *e);

#endif
