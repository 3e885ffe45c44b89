/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from memory, and from the user's function. */
#include "data/dataset.h"

#include <inttypes.h>
#include <string.h>

typedef struct arrays {
    type row[DATA_COLUMNS];
    void *data[DATA_COLUMNS];
    size_t bytes[DATA_COLUMNS]; /* of a row; the whole is count times that */
    int64_t count;
    int n;
} arrays;

static bool arrays_get(void *self, int64_t index, ingot_array *columns, error *e)
{
    const arrays *s = self;

    (void)e;
    for (int i = 0; i < s->n; i++) {
        void *to = ingot_array_alloc(&columns[i], s->row[i].dt,
                                     (ingot_ints){s->row[i].dim, s->row[i].rank});

        if (!to)
            return false;
        memcpy(to, (const char *)s->data[i] + (size_t)index * s->bytes[i], s->bytes[i]);
    }
    return true;
}

static void arrays_free(void *self, const allocator *a)
{
    arrays *s = self;

    for (int i = 0; i < s->n; i++)
        mem_free(a, s->data[i], s->bytes[i] * (size_t)s->count);
    mem_free(a, s, sizeof *s);
}

static bool add_column(arrays *s, const allocator *a, ingot_tensor *t, int i, error *e)
{
    const void *data = t ? ingot_tensor_data(t) : NULL;
    type row;

    if (!t || !data || t->type.rank < 1)
        return fail(e, INGOT_E_ARGUMENT, "array dataset: column %d is no tensor with rows", i);
    if (i > 0 && t->type.dim[0] != s->count)
        return fail(e, INGOT_E_SHAPE,
                    "array dataset: column %d has %" PRId64 " rows, the first %" PRId64, i,
                    t->type.dim[0], s->count);
    s->count = t->type.dim[0];
    row = type_make(t->type.dt, t->type.rank - 1, t->type.dim + 1);
    s->row[i] = row;
    s->bytes[i] = type_bytes(&row);
    s->data[i] = mem_new(a, s->bytes[i] * (size_t)s->count, "array dataset", e);
    if (!s->data[i])
        return false;
    s->n = i + 1;
    memcpy(s->data[i], data, s->bytes[i] * (size_t)s->count);
    return true;
}

ingot_dataset *ingot_array_dataset(ingot_context *ctx, ingot_tensor *const *columns,
                                   const char *const *names, int n)
{
    source src = {.get = arrays_get, .free = arrays_free};
    arrays *s;

    if (!context_ok(ctx))
        return NULL;
    if (n < 1 || n > DATA_COLUMNS) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "array dataset: %d columns; 1 to %d are possible", n,
             DATA_COLUMNS);
        return NULL;
    }
    s = mem_new(&ctx->alloc, sizeof *s, "array dataset", &ctx->err);
    if (!s)
        return NULL;
    for (int i = 0; i < n; i++)
        if (!add_column(s, &ctx->alloc, columns[i], i, &ctx->err)) {
            arrays_free(s, &ctx->alloc);
            return NULL;
        }
    src.self = s;
    src.count = s->count;
    return dataset_new(ctx, &src, names, n);
}

typedef struct generator {
    ingot_generator_fn fn;
    void *user;
    int n;
} generator;

static bool generator_get(void *self, int64_t index, ingot_array *columns, error *e)
{
    const generator *g = self;

    for (int i = 0; i < g->n; i++)
        columns[i].data = NULL;
    if (!g->fn(index, columns, g->n, g->user))
        return false;
    for (int i = 0; i < g->n; i++)
        if (!columns[i].data)
            return fail(e, INGOT_E_ARGUMENT, "the generator left column %d unset", i);
    return true;
}

static void generator_free(void *self, const allocator *a)
{
    mem_free(a, self, sizeof(generator));
}

ingot_dataset *ingot_generator_dataset(ingot_context *ctx, int64_t count, ingot_generator_fn fn,
                                       void *user, const char *const *names, int n)
{
    source src = {.get = generator_get, .free = generator_free, .count = count};
    generator *g;

    if (!context_ok(ctx))
        return NULL;
    if (!fn || count < 0) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "generator dataset: %s",
             fn ? "count is negative" : "fn is NULL");
        return NULL;
    }
    g = mem_new(&ctx->alloc, sizeof *g, "generator dataset", &ctx->err);
    if (!g)
        return NULL;
    *g = (generator){fn, user, n};
    src.self = g;
    return dataset_new(ctx, &src, names, n);
}
