/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's passes. Each leaves a graph that verifies, and run again changes nothing. */
#ifndef PASSES_PASSES_H
#define PASSES_PASSES_H

#include "ir/ir.h"

/* Computes a node of constants; out[i] has room for result i. false = cannot (no error set). */
typedef bool (*fold_fn)(void *user, const node *n, void *const *out);

typedef struct pass_options {
    fold_fn fold; /* NULL = leave folding off */
    void *fold_user;
    bool fixed_params; /* params never change: what depends on them alone runs once */
    const char *off;   /* passes to leave out, by name, separated by commas; NULL = none */
    /* After each pass: its name and the graph; for save_graphs and logs. NULL = none. */
    bool (*after)(void *user, const char *pass, const graph *g, error *e);
    void *after_user;
} pass_options;

typedef bool (*pass_fn)(graph *g, const pass_options *o, error *e);

bool pass_expand(graph *g, const pass_options *o, error *e);
bool pass_simplify(graph *g, const pass_options *o, error *e);
bool pass_fold(graph *g, const pass_options *o, error *e);
bool pass_cse(graph *g, const pass_options *o, error *e);
bool pass_prune(graph *g, const pass_options *o, error *e);
bool pass_absorb(graph *g, const pass_options *o, error *e);
bool pass_fuse(graph *g, const pass_options *o, error *e);
bool pass_hoist(graph *g, const pass_options *o, error *e);

typedef struct pass_row {
    const char *name;
    pass_fn run;
    bool needed; /* may not be left out */
} pass_row;

/* In the order of compilation, ended by a NULL name. */
extern const pass_row passes[];
/* Runs them all, but those in o->off. */
bool passes_run(graph *g, const pass_options *o, error *e);
/* Whether every name in the list is a pass that may be left out; else an error that lists those. */
bool passes_off_check(const char *off, error *e);
/* Whether name is a pass or "trace", the graph before them all; else an error that lists them. */
bool passes_name_check(const char *name, error *e);

/* By value id: whether it is the same in every run as long as the params are. NULL: no memory. */
bool *fixed_values(const graph *g, arena *mem, error *e);

/* --- memory plan ---------------------------------------------------------------------------- */
/* Where a value lives when the program runs. */
typedef enum place_kind {
    PLACE_NONE,  /* nobody reads it */
    PLACE_ARENA, /* at offset */
    PLACE_INPUT, /* memory of input `index` */
    PLACE_PARAM, /* memory of param `index` */
    PLACE_CONST, /* the constant's own bytes (node) */
    PLACE_OUTPUT /* memory of output `index` */
} place_kind;

typedef struct place {
    place_kind kind;
    size_t offset;
    int index;
    const node *node;
} place;

/* What an op's kernel allows and needs, asked of the runtime for each node. */
typedef struct node_needs {
    unsigned inplace; /* bit i: result 0 may take input i's memory */
    size_t work;      /* bytes shared by the call's workers */
    bool once;        /* runs before all others, in the first run alone */
    bool keeps_work;  /* what leading phases leave in work is read in every run */
    unsigned packed;  /* bit i: input i is read by those phases only */
    bool alias;       /* result 0 is input 0's memory (reshape) */
} node_needs;

/* A copy that the program must make at its end, in order. */
typedef struct late_copy {
    const value *from;
    const value *to;   /* a param's value, or NULL */
    int output;        /* else the output it goes to, or -1 */
    bool through_temp; /* reads a param that an earlier copy may have overwritten */
    size_t offset;     /* of the temporary */
} late_copy;

typedef struct memory_plan {
    place *places;       /* by value id */
    size_t *work_offset; /* by node index; SIZE_MAX = none */
    size_t *pack_after; /* by node index, keeps_work: the node after which its leading phases run */
    size_t *live;       /* by node index: bytes of the arena in use while it runs */
    late_copy *copies;
    size_t n_copies;
    size_t arena_bytes; /* the peak */
    size_t naive_bytes; /* every intermediate value in memory of its own */
    size_t n_values, n_nodes;
    arena mem;
} memory_plan;

bool memory_plan_make(memory_plan *p, const graph *g, const node_needs *needs, error *e);
void memory_plan_free(memory_plan *p);

#endif
