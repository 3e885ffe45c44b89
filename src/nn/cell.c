/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of cells: making, joining, calling, freeing. */
#include "nn/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_TEXT 512 /* longest full name of a parameter */

static bool usable(const ingot_context *ctx)
{
    return ingot_error(ctx) == INGOT_OK;
}

static char *copy_text(ingot_context *ctx, const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = ingot_alloc(ctx, n);

    if (p)
        memcpy(p, s, n);
    return p;
}

/* Room for one more element; a fresh array, or NULL with the old one untouched. */
static void *grow(ingot_context *ctx, void *old, size_t size, int count, int *cap)
{
    int bigger = *cap ? *cap * 2 : 4;
    void *p;

    if (count < *cap)
        return old;
    p = ingot_alloc(ctx, size * (size_t)bigger);
    if (!p)
        return NULL;
    if (count)
        memcpy(p, old, size * (size_t)count);
    ingot_free(ctx, old);
    *cap = bigger;
    return p;
}

ingot_cell *ingot_cell_new(ingot_context *ctx, const ingot_cell_options *opt)
{
    ingot_cell *cell = NULL;

    if (usable(ctx) && (!opt || !opt->construct))
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "cell: construct is NULL");
    if (usable(ctx))
        cell = ingot_alloc(ctx, sizeof *cell);
    if (!cell) {
        if (opt && opt->free)
            opt->free(opt->user);
        return NULL;
    }
    cell->ctx = ctx;
    cell->construct = opt->construct;
    cell->user = opt->user;
    cell->free_user = opt->free;
    return cell;
}

ingot_cell *cell_make(ingot_context *ctx, ingot_cell_construct_fn construct, const void *config,
                      size_t size)
{
    ingot_cell *cell = ingot_cell_new(ctx, &(ingot_cell_options){.construct = construct});

    if (!cell)
        return NULL;
    cell->built_in = true;
    if (!size)
        return cell;
    cell->user = ingot_alloc(ctx, size);
    if (!cell->user)
        return cell_drop(cell);
    memcpy(cell->user, config, size);
    return cell;
}

ingot_cell *cell_drop(ingot_cell *cell)
{
    ingot_context *ctx;

    if (!cell)
        return NULL;
    ctx = cell->ctx;
    for (int i = 0; i < cell->n_children; i++)
        cell_drop(cell->children[i]);
    for (int i = 0; i < cell->n_entries; i++)
        ingot_parameter_free(cell->entries[i].param);
    if (cell->built_in)
        ingot_free(ctx, cell->user);
    else if (cell->free_user)
        cell->free_user(cell->user);
    ingot_free(ctx, cell->entries);
    ingot_free(ctx, cell->children);
    ingot_free(ctx, cell->name);
    ingot_free(ctx, cell);
    return NULL;
}

void ingot_cell_free(ingot_cell *cell)
{
    if (cell && cell->parent)
        ingot_set_error(cell->ctx, INGOT_E_STATE, "cell '%s': it has a parent, which will free it",
                        cell->name);
    else
        cell_drop(cell);
}

/* --- names ------------------------------------------------------------------------------------ */

/* The last part of a full name: what the parameter is called in its cell. */
static const char *local_name(const ingot_parameter *p)
{
    const char *full = ingot_parameter_name(p), *dot = strrchr(full, '.');

    return dot ? dot + 1 : full;
}

static bool name_ok(ingot_cell *cell, const char *name)
{
    if (!name || !*name || strchr(name, '.')) {
        ingot_set_error(cell->ctx, INGOT_E_ARGUMENT, "cell: name '%s' is empty or has a '.' in it",
                        name ? name : "");
        return false;
    }
    for (int i = 0; i < cell->n_entries; i++)
        if (strcmp(local_name(cell->entries[i].param), name) == 0) {
            ingot_set_error(cell->ctx, INGOT_E_ARGUMENT, "cell: there is a parameter '%s' already",
                            name);
            return false;
        }
    if (ingot_cell_child_by_name(cell, name)) {
        ingot_set_error(cell->ctx, INGOT_E_ARGUMENT, "cell: there is a child '%s' already", name);
        return false;
    }
    return true;
}

/* "a.b.c" of cell's place and a name in it. */
static bool full_name(const ingot_cell *cell, const char *name, char out[NAME_TEXT])
{
    size_t at = NAME_TEXT - 1, n = strlen(name);

    out[at] = 0;
    for (;;) {
        if (n + 1 > at) {
            ingot_set_error(cell->ctx, INGOT_E_ARGUMENT,
                            "cell: the full name of '%s' is longer than %d bytes", name,
                            NAME_TEXT - 1);
            return false;
        }
        at -= n;
        memcpy(out + at, name, n);
        if (!cell->parent)
            break;
        out[--at] = '.';
        name = cell->name;
        n = strlen(name);
        cell = cell->parent;
    }
    memmove(out, out + at, NAME_TEXT - at);
    return true;
}

static bool rename_all(ingot_cell *cell)
{
    char name[NAME_TEXT];

    for (int i = 0; i < cell->n_entries; i++)
        if (!full_name(cell, local_name(cell->entries[i].param), name) ||
            ingot_parameter_rename(cell->entries[i].param, name) != INGOT_OK)
            return false;
    for (int i = 0; i < cell->n_children; i++)
        if (!rename_all(cell->children[i]))
            return false;
    return true;
}

/* --- joining ---------------------------------------------------------------------------------- */

static void mark_pending(ingot_cell *cell)
{
    for (; cell; cell = cell->parent)
        cell->pending = true;
}

static bool below(const ingot_cell *cell, const ingot_cell *root)
{
    for (; cell; cell = cell->parent)
        if (cell == root)
            return true;
    return false;
}

static bool join(ingot_cell *cell, const char *name, ingot_cell *child)
{
    ingot_context *ctx = cell->ctx;
    void *grown;

    if (!usable(ctx) || !name_ok(cell, name))
        return false;
    grown = grow(ctx, cell->children, sizeof(ingot_cell *), cell->n_children, &cell->cap_children);
    if (!grown)
        return false;
    cell->children = grown;
    child->name = copy_text(ctx, name);
    if (!child->name)
        return false;
    child->parent = cell;
    if (!rename_all(child))
        return false;
    cell->children[cell->n_children++] = child;
    if (child->pending)
        mark_pending(cell);
    return true;
}

ingot_cell *ingot_cell_add(ingot_cell *cell, const char *name, ingot_cell *child)
{
    if (!child)
        return NULL;
    if (cell && (child->parent || cell->ctx != child->ctx || below(cell, child))) {
        ingot_set_error(cell->ctx, INGOT_E_ARGUMENT,
                        "cell: child '%s' has a parent, is of another context or its own parent",
                        name ? name : "");
        return NULL;
    }
    if (!cell)
        return child->parent ? NULL : cell_drop(child);
    return join(cell, name, child) ? child : cell_drop(child);
}

static ingot_parameter *add_entry(ingot_cell *cell, const char *name, ingot_dtype dt,
                                  ingot_ints shape, cell_entry e)
{
    char full[NAME_TEXT];
    cell_entry *grown;

    if (!cell || !usable(cell->ctx) || !name_ok(cell, name) || !full_name(cell, name, full))
        return NULL;
    grown = grow(cell->ctx, cell->entries, sizeof *grown, cell->n_entries, &cell->cap_entries);
    if (!grown)
        return NULL;
    cell->entries = grown;
    e.param = ingot_parameter_new(cell->ctx, full, dt, shape, NULL, !e.buffer);
    if (!e.param)
        return NULL;
    cell->entries[cell->n_entries++] = e;
    if (e.pending)
        mark_pending(cell);
    return e.param;
}

ingot_parameter *ingot_cell_add_parameter(ingot_cell *cell, const char *name, ingot_dtype dt,
                                          ingot_ints shape, const ingot_init *init)
{
    cell_entry e = {.pending = init && init->kind != INGOT_INIT_DEFAULT};

    if (init)
        e.init = *init;
    return add_entry(cell, name, dt, shape, e);
}

ingot_parameter *ingot_cell_add_buffer(ingot_cell *cell, const char *name, ingot_dtype dt,
                                       ingot_ints shape, double value)
{
    cell_entry e = {
        .buffer = true, .pending = value != 0.0, .init = {.kind = INGOT_INIT_CONSTANT, .a = value}};

    return add_entry(cell, name, dt, shape, e);
}

/* --- calling ---------------------------------------------------------------------------------- */

ingot_tensor *ingot_cell_call_n(ingot_cell *cell, ingot_tensor *const *in, int n_in)
{
    ingot_tensor *out;

    if (!cell || !usable(cell->ctx))
        return NULL;
    for (int i = 0; i < n_in; i++)
        if (!in[i])
            return NULL;
    if (cell_settle(cell) != INGOT_OK)
        return NULL;
    if (cell->name)
        ingot_path_push(cell->ctx, cell->name);
    out = cell->construct(cell->ctx, cell, in, n_in, cell->user);
    if (cell->name)
        ingot_path_pop(cell->ctx);
    if (!out && usable(cell->ctx))
        ingot_set_error(cell->ctx, INGOT_E_STATE, "cell '%s': construct gave no output",
                        cell->name ? cell->name : "");
    return out;
}

ingot_tensor *ingot_cell_call(ingot_cell *cell, ingot_tensor *x)
{
    return ingot_cell_call_n(cell, &x, 1);
}

ingot_tensor *cell_tensor(ingot_cell *cell, int i)
{
    return i < cell->n_entries ? ingot_parameter_tensor(cell->entries[i].param) : NULL;
}

bool cell_inputs(ingot_context *ctx, const char *what, int need, int given)
{
    if (need == given)
        return true;
    ingot_set_error(ctx, INGOT_E_ARGUMENT, "cell %s: it takes %d inputs, %d were given", what, need,
                    given);
    return false;
}

bool cell_at_least(ingot_context *ctx, const char *what, const char *key, int64_t v, int64_t low)
{
    if (v >= low)
        return true;
    ingot_set_error(ctx, INGOT_E_ARGUMENT, "%s: %s is %" PRId64 ", at least %" PRId64 " is needed",
                    what, key, v, low);
    return false;
}

void *ingot_cell_user(const ingot_cell *cell)
{
    return cell && !cell->built_in ? cell->user : NULL;
}

ingot_context *ingot_cell_context(const ingot_cell *cell)
{
    return cell ? cell->ctx : NULL;
}
