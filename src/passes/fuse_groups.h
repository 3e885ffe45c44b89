/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes may run as one region. */
#ifndef PASSES_FUSE_GROUPS_H
#define PASSES_FUSE_GROUPS_H

#include "ir/ir.h"

/* Within the loop engine's limits (cpu/loop/loop.h: 24 inputs, 64 registers, 12 outputs). */
#define FUSE_MAX_IN      20
#define FUSE_MAX_MEMBERS 40
#define FUSE_MAX_OUT     12

/* The engine computes a region in one of these; a node of bools alone goes with any. */
typedef enum fuse_class { FUSE_ANY, FUSE_F32, FUSE_F64, FUSE_I64 } fuse_class;

typedef struct group {
    fuse_class cls;
    bool fixed; /* all of it runs once */
    type space; /* its shape counts */
    bool reduces;
    unsigned reduce_axes; /* when it reduces */
    int n_members, n_ext;
    size_t members[FUSE_MAX_MEMBERS]; /* node indices, ascending */
    const value *ext[FUSE_MAX_IN];    /* inputs from outside */
} group;

typedef struct fuser {
    graph *g;
    error *e;
    arena mem;
    size_t *index; /* node index by the id of a node's first result */
    int *unit;     /* group of a node, or -1 */
    bool *escapes; /* by value id: read outside its unit */
    bool *done;    /* emitted */
    size_t *stack;
    group *groups;
    int n_groups;
    size_t cap_groups;
    bool *fixed;      /* by value id: the same in every run; NULL = none */
    uint64_t **reach; /* by node: groups it depends on through anything */
    uint64_t **deps;  /* by group: groups it depends on */
    size_t words;     /* of one set */
} fuser;

bool fuser_init(fuser *f, graph *g, error *e);
void fuser_free(fuser *f);
/* Puts node i in a group, an old one or one of its own, or in none. Called in order. */
bool fuser_place(fuser *f, size_t i);

#endif
