/* SPDX-License-Identifier: Apache-2.0 */
/* The op registry: rows by name. */
#include "ir/op.h"

#include "base/hash.h"
#include "ir/signature.h"

#include <string.h>

struct op_registry {
    const allocator *alloc;
    arena mem;
    const op **ops;
    size_t n, cap;
    uint32_t *slots; /* open addressing; 0 = empty, else index + 1 */
    size_t n_slots;  /* a power of two, at least twice n */
};

static size_t slot_of(const op_registry *r, const char *name, size_t n)
{
    size_t at = (size_t)hash_bytes(name, n, 0) & (r->n_slots - 1);

    while (r->slots[at]) {
        const op *o = r->ops[r->slots[at] - 1];

        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
            break;
        at = (at + 1) & (r->n_slots - 1);
    }
    return at;
}

static bool grow_slots(op_registry *r, error *e)
{
    size_t old = r->n_slots, want = old ? 2 * old : 256;
    uint32_t *slots;

    if (2 * (r->n + 1) <= old)
        return true;
    slots = mem_new_array(r->alloc, want, sizeof *slots, "op table", e);
    if (!slots)
        return false;
    mem_free(r->alloc, r->slots, old * sizeof *slots);
    r->slots = slots;
    r->n_slots = want;
    for (size_t i = 0; i < r->n; i++)
        r->slots[slot_of(r, r->ops[i]->name, strlen(r->ops[i]->name))] = (uint32_t)i + 1;
    return true;
}

bool op_registry_add(op_registry *r, const op_row *row, error *e)
{
    op *o = arena_alloc(&r->mem, sizeof *o, e);
    size_t at;

    if (!o || !signature_read(row, &r->mem, o, e))
        return false;
    if (!row->infer)
        return fail(e, INGOT_E_ARGUMENT, "op '%s': its row has no infer", o->name);
    if (!grow_slots(r, e) || !vec_reserve(r->alloc, (void **)&r->ops, sizeof(const op *), r->n + 1,
                                          &r->cap, "op table", e))
        return false;
    at = slot_of(r, o->name, strlen(o->name));
    if (r->slots[at])
        return fail(e, INGOT_E_ARGUMENT, "op '%s': there is an op of that name already", o->name);
    r->ops[r->n++] = o;
    r->slots[at] = (uint32_t)r->n;
    return true;
}

op_registry *op_registry_new(const allocator *a, const op_row *const *rows, error *e)
{
    op_registry *r = mem_new(a, sizeof *r, "op registry", e);

    if (!r)
        return NULL;
    r->alloc = a;
    arena_init(&r->mem, a);
    for (; *rows; rows++)
        if (!op_registry_add(r, *rows, e)) {
            op_registry_free(r);
            return NULL;
        }
    return r;
}

void op_registry_free(op_registry *r)
{
    if (!r)
        return;
    arena_free(&r->mem);
    mem_free(r->alloc, r->ops, r->cap * sizeof(const op *));
    mem_free(r->alloc, r->slots, r->n_slots * sizeof *r->slots);
    mem_free(r->alloc, r, sizeof *r);
}

const op *op_find(const op_registry *r, const char *name, size_t n)
{
    size_t at;

    if (!r->n_slots)
        return NULL;
    at = slot_of(r, name, n);
    return r->slots[at] ? r->ops[r->slots[at] - 1] : NULL;
}

int op_count(const op_registry *r)
{
    return (int)r->n;
}

const op *op_at(const op_registry *r, int i)
{
    return i >= 0 && (size_t)i < r->n ? r->ops[i] : NULL;
}

#define NAME_MAX_LEN 48

/* Levenshtein distance, one row at a time; both at most NAME_MAX_LEN. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t row[NAME_MAX_LEN + 1];

    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const char *op_nearest(const op_registry *r, const char *name, size_t n)
{
    const char *best = NULL;
    size_t best_distance = n / 3 + 2; /* farther than that is another word */

    if (n > NAME_MAX_LEN)
        return NULL;
    for (size_t i = 0; i < r->n; i++) {
        size_t m = strlen(r->ops[i]->name), d;

        if (m > NAME_MAX_LEN)
            continue;
        d = edit_distance(name, n, r->ops[i]->name, m);
        if (d < best_distance) {
            best_distance = d;
            best = r->ops[i]->name;
        }
    }
    return best;
}
