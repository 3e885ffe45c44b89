/* SPDX-License-Identifier: Apache-2.0 */
/* What the built-in cells share. */
#ifndef NN_CELL_H
#define NN_CELL_H

#include "ingot/nn.h"

/* A parameter or buffer of one cell. */
typedef struct cell_entry {
    ingot_parameter *param;
    ingot_init init;
    bool buffer;
    bool pending; /* its first values are still to come */
} cell_entry;

struct ingot_cell {
    ingot_context *ctx;
    ingot_cell *parent;
    char *name; /* in parent; NULL of a root */
    ingot_cell_construct_fn construct;
    void *user;
    void (*free_user)(void *user);
    bool built_in; /* user came from ingot_alloc */
    bool pending;  /* an entry of the tree may be */
    cell_entry *entries;
    int n_entries, cap_entries;
    ingot_cell **children;
    int n_children, cap_children;
};

/* A built-in cell with a copy of its configuration, which construct gets as user. */
ingot_cell *cell_make(ingot_context *ctx, ingot_cell_construct_fn construct, const void *config,
                      size_t size);
/* Frees cell, whatever its parent, and returns NULL: the end of a builder that failed. */
ingot_cell *cell_drop(ingot_cell *cell);
/* Gives pending entries of the tree their first values. */
ingot_status cell_settle(ingot_cell *cell);
/* The tensor of a cell's own i-th entry. */
ingot_tensor *cell_tensor(ingot_cell *cell, int i);
/* Sets "what: n inputs are needed, m were given" and returns false when they differ. */
bool cell_inputs(ingot_context *ctx, const char *what, int need, int given);
/* Sets an error unless low <= v. */
bool cell_at_least(ingot_context *ctx, const char *what, const char *key, int64_t v, int64_t low);
/* init, unless it is the default: then `layer`. */
ingot_init init_or(ingot_init init, ingot_init layer);

#endif
