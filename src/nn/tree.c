/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a tree of cells: parameters, children, first values. */
#include "nn/cell.h"

#include <string.h>

ingot_status cell_settle(ingot_cell *cell)
{
    if (!cell->pending)
        return INGOT_OK;
    for (int i = 0; i < cell->n_entries; i++) {
        cell_entry *e = &cell->entries[i];
        ingot_status s;

        if (!e->pending)
            continue;
        s = ingot_init_apply(cell->ctx, ingot_parameter_tensor(e->param), &e->init,
                             ingot_stream(ingot_parameter_name(e->param)));
        if (s != INGOT_OK)
            return s;
        e->pending = false;
    }
    for (int i = 0; i < cell->n_children; i++) {
        ingot_status s = cell_settle(cell->children[i]);

        if (s != INGOT_OK)
            return s;
    }
    cell->pending = false;
    return INGOT_OK;
}

int ingot_cell_parameter_count(const ingot_cell *cell)
{
    int n;

    if (!cell)
        return 0;
    n = cell->n_entries;
    for (int i = 0; i < cell->n_children; i++)
        n += ingot_cell_parameter_count(cell->children[i]);
    return n;
}

/* Counts *left down on the way; the entry at which it is 0. */
static cell_entry *entry_at(ingot_cell *cell, int *left)
{
    if (*left < cell->n_entries)
        return &cell->entries[*left];
    *left -= cell->n_entries;
    for (int i = 0; i < cell->n_children; i++) {
        cell_entry *e = entry_at(cell->children[i], left);

        if (e)
            return e;
    }
    return NULL;
}

ingot_parameter *ingot_cell_parameter(ingot_cell *cell, int i)
{
    cell_entry *e;

    if (!cell || i < 0 || cell_settle(cell) != INGOT_OK)
        return NULL;
    e = entry_at(cell, &i);
    return e ? e->param : NULL;
}

ingot_parameter *ingot_cell_find(ingot_cell *cell, const char *path)
{
    const char *dot;

    if (!cell || !path || cell_settle(cell) != INGOT_OK)
        return NULL;
    dot = strchr(path, '.');
    if (dot) {
        for (int i = 0; i < cell->n_children; i++) {
            const char *name = cell->children[i]->name;
            size_t n = strlen(name);

            if (n == (size_t)(dot - path) && strncmp(name, path, n) == 0)
                return ingot_cell_find(cell->children[i], dot + 1);
        }
        return NULL;
    }
    for (int i = 0; i < cell->n_entries; i++) {
        const char *full = ingot_parameter_name(cell->entries[i].param);
        const char *last = strrchr(full, '.');

        if (strcmp(last ? last + 1 : full, path) == 0)
            return cell->entries[i].param;
    }
    return NULL;
}

int ingot_cell_child_count(const ingot_cell *cell)
{
    return cell ? cell->n_children : 0;
}

ingot_cell *ingot_cell_child(const ingot_cell *cell, int i)
{
    return cell && i >= 0 && i < cell->n_children ? cell->children[i] : NULL;
}

ingot_cell *ingot_cell_child_by_name(const ingot_cell *cell, const char *name)
{
    for (int i = 0; cell && name && i < cell->n_children; i++)
        if (strcmp(cell->children[i]->name, name) == 0)
            return cell->children[i];
    return NULL;
}

void ingot_cell_freeze(ingot_cell *cell, bool frozen)
{
    if (!cell)
        return;
    for (int i = 0; i < cell->n_entries; i++)
        if (!cell->entries[i].buffer)
            ingot_parameter_set_trainable(cell->entries[i].param, !frozen);
    for (int i = 0; i < cell->n_children; i++)
        ingot_cell_freeze(cell->children[i], frozen);
}

int64_t ingot_cell_element_count(ingot_cell *cell)
{
    int64_t n = 0;

    if (!cell)
        return 0;
    for (int i = 0; i < cell->n_entries; i++)
        if (!cell->entries[i].buffer)
            n += ingot_tensor_count(ingot_parameter_tensor(cell->entries[i].param));
    for (int i = 0; i < cell->n_children; i++)
        n += ingot_cell_element_count(cell->children[i]);
    return n;
}
