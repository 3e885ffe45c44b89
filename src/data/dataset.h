/* SPDX-License-Identifier: Apache-2.0 */
/* A dataset: a source that gives any sample by its number, what is done to samples, and how they
   are ordered and batched. */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include "base/random.h"
#include "ingot/data.h"
#include "tensor/context.h"

#define DATA_COLUMNS    16
#define DATA_WORKERS    256
#define DATA_PREFETCH   64
#define DATA_TRANSFORMS 32

/* The memory behind an ingot_array; grows, and is used again for the next sample. */
typedef struct array_owner {
    const allocator *alloc;
    void *mem;
    size_t cap;
    error *e; /* where a failed allocation is told */
} array_owner;

void array_init(ingot_array *a, array_owner *o, const allocator *alloc, error *e);
void array_free(ingot_array *a);
type array_type(const ingot_array *a);

/* Where samples come from. get and name are called from several threads at once. */
typedef struct source {
    bool (*get)(void *self, int64_t index, ingot_array *columns, error *e);
    /* A sample's name for messages; NULL = "sample N". */
    void (*name)(void *self, int64_t index, char *buf, size_t size);
    void (*free)(void *self, const allocator *a);
    void *self;
    int64_t count;
} source;

struct ingot_transform {
    ingot_context *ctx;
    bool (*apply)(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                  const ingot_map_info *info, error *e);
    union {
        int64_t size[3]; /* height, width, padding; or a dtype, or channels */
        double p;
        struct {
            int channels;
            float scale[4], shift[4]; /* f32: x * scale + shift */
        } norm;
        struct {
            ingot_map_fn fn;
            void *user;
        } map;
    } u;
};

typedef struct map_list {
    ingot_transform *t[DATA_TRANSFORMS];
    int n;
} map_list;

struct ingot_dataset {
    ingot_context *ctx;
    const allocator *alloc;
    source src;
    int n_columns;
    char *columns[DATA_COLUMNS];
    map_list maps[DATA_COLUMNS];
    char **classes;
    int n_classes;

    int64_t from, count; /* the part of the source that is taken */
    bool split, second;
    int64_t split_at; /* of count, how many are in the first part */
    rng_key split_key;
    bool shuffle, drop_remainder;
    int64_t repeat, batch;
    int workers, prefetch;
    rng_key key; /* of order and augmentation */

    struct pipeline *pipe; /* NULL before the first batch */
    uint64_t epoch;        /* the next batch */
    int64_t at;
};

/* A dataset over src, which is taken over, also on failure. names are copied. */
ingot_dataset *dataset_new(ingot_context *ctx, const source *src, const char *const *names, int n);
/* The source index of sample i of an epoch, and the number of its pass. */
int64_t dataset_index(const ingot_dataset *ds, uint64_t epoch, int64_t i, uint64_t *pass);
/* Number i of a permutation of 0..n-1, without an array: a Feistel network over the next powers
   of two, walked until it falls below n (Black and Rogaway 2002). */
int64_t permute(rng_key key, int64_t i, int64_t n);
/* "path" or "sample 7" before the text of an error. */
void dataset_blame(const ingot_dataset *ds, int64_t index, error *e);
/* A context's class names from an array; copies. */
bool dataset_classes(ingot_dataset *ds, const char *const *names, int n);

#endif
