/* SPDX-License-Identifier: Apache-2.0 */
/* Making datasets, their settings, and the order of samples. */
#include "data/dataset.h"

#include "data/pipeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Purposes that the context's seed is split for. */
#define DATA_STREAM  0x64617461 /* "data" */
#define ORDER_STREAM 1

static void free_names(const allocator *a, char **names, int n)
{
    for (int i = 0; names && i < n; i++)
        mem_strfree(a, names[i]);
}

ingot_dataset *dataset_new(ingot_context *ctx, const source *src, const char *const *names, int n)
{
    const allocator *a = &ctx->alloc;
    ingot_dataset *ds = NULL;

    if (n < 1 || n > DATA_COLUMNS)
        fail(&ctx->err, INGOT_E_ARGUMENT, "dataset: %d columns; 1 to %d are possible", n,
             DATA_COLUMNS);
    else
        ds = mem_new(a, sizeof *ds, "dataset", &ctx->err);
    if (!ds) {
        src->free(src->self, a);
        return NULL;
    }
    ds->ctx = ctx;
    ds->alloc = a;
    ds->src = *src;
    ds->count = src->count;
    ds->repeat = ds->batch = 1;
    ds->prefetch = 2;
    ds->key = rng_split(rng_seed(ingot_seed(ctx)), DATA_STREAM);
    for (int i = 0; i < n; i++) {
        ds->columns[i] = mem_strdup(a, names[i] ? names[i] : "", &ctx->err);
        ds->n_columns++;
        if (!ds->columns[i]) {
            ingot_dataset_free(ds);
            return NULL;
        }
    }
    return ds;
}

void ingot_dataset_free(ingot_dataset *ds)
{
    if (!ds)
        return;
    pipeline_free(ds->pipe);
    for (int c = 0; c < ds->n_columns; c++)
        for (int i = 0; i < ds->maps[c].n; i++)
            ingot_transform_free(ds->maps[c].t[i]);
    free_names(ds->alloc, ds->columns, ds->n_columns);
    free_names(ds->alloc, ds->classes, ds->n_classes);
    mem_free(ds->alloc, ds->classes, (size_t)ds->n_classes * sizeof *ds->classes);
    ds->src.free(ds->src.self, ds->alloc);
    mem_free(ds->alloc, ds, sizeof *ds);
}

bool dataset_classes(ingot_dataset *ds, const char *const *names, int n)
{
    error *e = &ds->ctx->err;
    char **copy = mem_new_array(ds->alloc, (size_t)n, sizeof *copy, "class names", e);

    for (int i = 0; copy && i < n; i++) {
        copy[i] = mem_strdup(ds->alloc, names[i], e);
        if (!copy[i]) {
            free_names(ds->alloc, copy, i);
            mem_free(ds->alloc, copy, (size_t)n * sizeof *copy);
            copy = NULL;
        }
    }
    if (!copy)
        return false;
    free_names(ds->alloc, ds->classes, ds->n_classes);
    mem_free(ds->alloc, ds->classes, (size_t)ds->n_classes * sizeof *ds->classes);
    ds->classes = copy;
    ds->n_classes = n;
    return true;
}

/* Whether settings may still change; NULL ds means an earlier failure. */
static bool open_for(ingot_dataset *ds, const char *what)
{
    if (!ds || !context_ok(ds->ctx))
        return false;
    return !ds->pipe || fail(&ds->ctx->err, INGOT_E_STATE,
                             "dataset: %s must be said before the first batch is read", what);
}

static ingot_status status_of(const ingot_dataset *ds)
{
    return ds ? ingot_error(ds->ctx) : INGOT_E_ARGUMENT;
}

ingot_status ingot_dataset_set_classes(ingot_dataset *ds, const char *const *names, int n)
{
    if (open_for(ds, "classes") && n > 0)
        dataset_classes(ds, names, n);
    return status_of(ds);
}

static bool map_append(ingot_dataset *ds, const char *column, ingot_transform *t)
{
    error *e = &ds->ctx->err;
    map_list *m = NULL;

    for (int i = 0; i < ds->n_columns; i++)
        if (strcmp(ds->columns[i], column) == 0)
            m = &ds->maps[i];
    if (!m)
        return fail(e, INGOT_E_NOT_FOUND, "dataset: no column \"%s\"; the first is \"%s\"", column,
                    ds->columns[0]);
    if (m->n == DATA_TRANSFORMS)
        return fail(e, INGOT_E_ARGUMENT, "dataset: more than %d transforms of column \"%s\"",
                    DATA_TRANSFORMS, column);
    m->t[m->n++] = t;
    return true;
}

ingot_status ingot_dataset_map(ingot_dataset *ds, const char *column,
                               ingot_transform *const *transforms, int workers)
{
    bool ok = open_for(ds, "a map");

    if (ok && !column)
        ok = fail(&ds->ctx->err, INGOT_E_ARGUMENT, "dataset: a map's column is NULL");
    if (ok && (workers < 0 || workers > DATA_WORKERS))
        ok = fail(&ds->ctx->err, INGOT_E_ARGUMENT, "dataset: %d workers; 0 to %d are possible",
                  workers, DATA_WORKERS);
    for (; transforms && *transforms; transforms++) {
        ok = ok && map_append(ds, column, *transforms);
        if (!ok)
            ingot_transform_free(*transforms);
    }
    if (ok && workers > ds->workers)
        ds->workers = workers;
    return status_of(ds);
}

ingot_status ingot_dataset_shuffle(ingot_dataset *ds)
{
    if (open_for(ds, "shuffle"))
        ds->shuffle = true;
    return status_of(ds);
}

ingot_status ingot_dataset_repeat(ingot_dataset *ds, int64_t count)
{
    int64_t all;

    if (!open_for(ds, "repeat"))
        return status_of(ds);
    if (count < 1 || !i64_mul(count, ds->src.count, &all))
        fail(&ds->ctx->err, INGOT_E_ARGUMENT, "dataset: repeat %" PRId64 "; 1 or more is needed",
             count);
    else
        ds->repeat = count;
    return status_of(ds);
}

ingot_status ingot_dataset_batch(ingot_dataset *ds, int64_t size, bool drop_remainder)
{
    if (!open_for(ds, "batch"))
        return status_of(ds);
    if (size < 1 || size > (int64_t)1 << 30) {
        fail(&ds->ctx->err, INGOT_E_ARGUMENT, "dataset: batch %" PRId64 "; 1 to 2^30 is possible",
             size);
    } else {
        ds->batch = size;
        ds->drop_remainder = drop_remainder;
    }
    return status_of(ds);
}

ingot_status ingot_dataset_prefetch(ingot_dataset *ds, int batches)
{
    if (!open_for(ds, "prefetch"))
        return status_of(ds);
    if (batches < 0 || batches > DATA_PREFETCH)
        fail(&ds->ctx->err, INGOT_E_ARGUMENT, "dataset: prefetch %d; 0 to %d is possible", batches,
             DATA_PREFETCH);
    else
        ds->prefetch = batches;
    return status_of(ds);
}

ingot_status ingot_dataset_take(ingot_dataset *ds, int64_t from, int64_t count)
{
    if (!open_for(ds, "take"))
        return status_of(ds);
    if (from < 0 || count < 0 || from > ds->src.count || count > ds->src.count - from ||
        ds->split) {
        fail(&ds->ctx->err, INGOT_E_ARGUMENT,
             "dataset: %" PRId64 " samples from %" PRId64 " of %" PRId64, count, from,
             ds->src.count);
    } else {
        ds->from = from;
        ds->count = count;
    }
    return status_of(ds);
}

ingot_status ingot_dataset_split(ingot_dataset *ds, double fraction, uint64_t seed, bool second)
{
    if (!open_for(ds, "split"))
        return status_of(ds);
    if (!(fraction >= 0.0 && fraction <= 1.0) || ds->split) {
        fail(&ds->ctx->err, INGOT_E_ARGUMENT, "dataset: fraction %g is outside [0, 1]", fraction);
    } else {
        ds->split = true;
        ds->second = second;
        ds->split_at = ds->count - (int64_t)llround((double)ds->count * fraction);
        ds->split_key = rng_split(rng_seed(seed), DATA_STREAM);
    }
    return status_of(ds);
}

/* Samples of one pass. */
static int64_t pass_size(const ingot_dataset *ds)
{
    if (!ds->split)
        return ds->count;
    return ds->second ? ds->count - ds->split_at : ds->split_at;
}

int64_t ingot_dataset_size(const ingot_dataset *ds)
{
    return ds ? pass_size(ds) * ds->repeat : 0;
}

int64_t ingot_dataset_batches(const ingot_dataset *ds)
{
    int64_t n = ingot_dataset_size(ds);

    if (!ds)
        return 0;
    return n / ds->batch + (!ds->drop_remainder && n % ds->batch != 0);
}

int ingot_dataset_column_count(const ingot_dataset *ds)
{
    return ds ? ds->n_columns : 0;
}

const char *ingot_dataset_column(const ingot_dataset *ds, int i)
{
    return ds && i >= 0 && i < ds->n_columns ? ds->columns[i] : NULL;
}

int ingot_dataset_class_count(const ingot_dataset *ds)
{
    return ds ? ds->n_classes : 0;
}

const char *ingot_dataset_class(const ingot_dataset *ds, int i)
{
    return ds && i >= 0 && i < ds->n_classes ? ds->classes[i] : NULL;
}

#define FEISTEL_ROUNDS 6

int64_t permute(rng_key key, int64_t i, int64_t n)
{
    int bits = 2;
    uint64_t x = (uint64_t)i;

    while (bits < 62 && ((uint64_t)1 << bits) < (uint64_t)n)
        bits += 2; /* two halves of equal width */
    do {
        uint64_t mask = ((uint64_t)1 << bits / 2) - 1, left = x >> bits / 2, right = x & mask;

        for (uint64_t round = 0; round < FEISTEL_ROUNDS; round++) {
            uint64_t f = rng_u64(key, (right << 3 | round) << 1) & mask, t = left ^ f;

            left = right;
            right = t;
        }
        x = left << bits / 2 | right;
    } while (x >= (uint64_t)n);
    return (int64_t)x;
}

int64_t dataset_index(const ingot_dataset *ds, uint64_t epoch, int64_t i, uint64_t *pass)
{
    int64_t size = pass_size(ds);

    *pass = epoch * (uint64_t)ds->repeat + (uint64_t)(i / size);
    i %= size;
    if (ds->shuffle)
        i = permute(rng_split(rng_split(ds->key, ORDER_STREAM), *pass), i, size);
    if (ds->split)
        i = permute(ds->split_key, i + (ds->second ? ds->split_at : 0), ds->count);
    return ds->from + i;
}

void dataset_blame(const ingot_dataset *ds, int64_t index, error *e)
{
    char name[512];

    if (ds->src.name)
        ds->src.name(ds->src.self, index, name, sizeof name);
    else
        (void)snprintf(name, sizeof name, "sample %" PRId64, index);
    error_prefix(e, "%s", name);
}

/* --- values
 * --------------------------------------------------------------------------------------- */

void array_init(ingot_array *a, array_owner *o, const allocator *alloc, error *e)
{
    *o = (array_owner){.alloc = alloc, .e = e};
    *a = (ingot_array){.owner = o};
}

void array_free(ingot_array *a)
{
    array_owner *o = a->owner;

    mem_free(o->alloc, o->mem, o->cap);
    o->mem = NULL;
    o->cap = 0;
}

type array_type(const ingot_array *a)
{
    return type_make(a->dtype, a->rank, a->dim);
}

void *ingot_array_alloc(ingot_array *a, ingot_dtype dt, ingot_ints shape)
{
    array_owner *o = a ? a->owner : NULL;
    size_t need;
    type t;

    if (!o || shape.n < 0 || shape.n > MAX_RANK || !dtype_valid(dt))
        return NULL;
    t = type_make(dt, shape.n, shape.v);
    if (!type_check(&t, o->e) || type_symbolic(&t))
        return NULL;
    need = type_bytes(&t) ? type_bytes(&t) : 1;
    if (need > o->cap) { /* grown generously: pictures differ in size */
        size_t cap = need > SIZE_MAX / 2 ? need : need + need / 4;

        mem_free(o->alloc, o->mem, o->cap);
        o->cap = 0;
        o->mem = mem_new(o->alloc, cap, "sample", o->e);
        if (!o->mem)
            return NULL;
        o->cap = cap;
    }
    a->dtype = dt;
    a->rank = shape.n;
    memcpy(a->dim, t.dim, sizeof a->dim);
    a->data = o->mem;
    return a->data;
}
