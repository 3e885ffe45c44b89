/* SPDX-License-Identifier: Apache-2.0 */
/* Workers take the numbers of batches in order and each makes whole batches; the reader takes them
   from a ring in the same order. What a batch holds depends on its number alone. */
#include "data/pipeline.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

/* Memory that a thread works with. */
typedef struct worker {
    pipeline *p;
    pthread_t thread;
    bool started;
    ingot_array column[DATA_COLUMNS], step[2];
    array_owner column_owner[DATA_COLUMNS], step_owner[2];
    error err;
} worker;

struct pipeline {
    ingot_dataset *ds;
    int64_t batches; /* of an epoch, at least 1 */
    worker *workers; /* one at least: without threads the reader is it */
    int n_workers, n_threads, n_slots;
    batch_slot *slots;
    pthread_mutex_t lock;
    pthread_cond_t made, room;
    bool locks;          /* the three above are there */
    uint64_t next, done; /* sequence numbers: to be taken by a worker, to be read */
    int busy;            /* workers that make a batch */
    bool stop, pause;
};

/* --- one batch
 * -------------------------------------------------------------------------------------- */

static bool apply_maps(worker *w, int c, const ingot_map_info *base, const ingot_array **out)
{
    const map_list *m = &w->p->ds->maps[c];
    const ingot_array *in = &w->column[c];
    rng_key key = {base->random[0], base->random[1]};

    for (int i = 0; i < m->n; i++) {
        ingot_array *to = &w->step[i % 2];
        rng_key mine = rng_split(key, (uint64_t)c * DATA_TRANSFORMS + (uint64_t)i);
        ingot_map_info info = {base->epoch, base->index, {mine.key, mine.salt}};

        to->data = NULL; /* a user's transform may make nothing */
        if (!m->t[i]->apply(m->t[i], in, to, &info, &w->err))
            return w->err.code
                       ? false
                       : fail(&w->err, INGOT_E_ARGUMENT, "transform %d of column \"%s\" failed", i,
                              w->p->ds->columns[c]);
        if (!to->data)
            return fail(&w->err, INGOT_E_ARGUMENT, "transform %d of column \"%s\" made no value", i,
                        w->p->ds->columns[c]);
        in = to;
    }
    *out = in;
    return true;
}

/* Puts a value at place k of a column of `count`; the first one gives the type. */
static bool stack(worker *w, batch_column *col, const ingot_array *v, int64_t k, int64_t count)
{
    const allocator *a = w->p->ds->alloc;
    type t = array_type(v), whole = {.dt = t.dt, .rank = t.rank + 1, .dim = {count}};
    size_t bytes = type_bytes(&t);

    if (t.rank == MAX_RANK)
        return fail(&w->err, INGOT_E_SHAPE, "a sample of rank %d cannot be batched", t.rank);
    memcpy(whole.dim + 1, t.dim, (size_t)t.rank * sizeof *t.dim);
    if (k == 0) {
        size_t need;

        if (!type_check(&whole, &w->err))
            return false;
        need = type_bytes(&whole) ? type_bytes(&whole) : 1;
        if (need > col->cap) {
            void *p = mem_resize(a, col->data, col->cap, need, "batch", &w->err);

            if (!p)
                return false;
            col->data = p;
            col->cap = need;
        }
        col->type = whole;
    } else if (!type_equal(&whole, &col->type)) {
        char x[TYPE_TEXT], y[TYPE_TEXT];
        type first = whole;

        first.dt = col->type.dt;
        first.rank = col->type.rank;
        memcpy(first.dim, col->type.dim, sizeof first.dim);
        return fail(&w->err, INGOT_E_SHAPE, "a batch of %s cannot take in %s: resize or crop first",
                    type_text(&first, x), type_text(&t, y));
    }
    if (bytes)
        memcpy((char *)col->data + (size_t)k * bytes, v->data, bytes);
    return true;
}

static bool make_sample(worker *w, batch_slot *s, uint64_t epoch, int64_t i, int64_t k,
                        int64_t count)
{
    ingot_dataset *ds = w->p->ds;
    ingot_map_info info = {.epoch = epoch};
    uint64_t pass;
    rng_key key;
    bool ok;

    info.index = dataset_index(ds, epoch, i, &pass);
    key = rng_split(rng_split(rng_split(ds->key, 2), pass), (uint64_t)info.index);
    info.random[0] = key.key;
    info.random[1] = key.salt;
    ok = ds->src.get(ds->src.self, info.index, w->column, &w->err);
    if (!ok && w->err.code == INGOT_OK)
        fail(&w->err, INGOT_E_ARGUMENT, "the generator failed");
    for (int c = 0; ok && c < ds->n_columns; c++) {
        const ingot_array *v = NULL;

        ok = apply_maps(w, c, &info, &v) && stack(w, &s->col[c], v, k, count);
    }
    if (!ok)
        dataset_blame(ds, info.index, &w->err);
    return ok;
}

static void make_batch(worker *w, uint64_t seq)
{
    pipeline *p = w->p;
    ingot_dataset *ds = p->ds;
    batch_slot *s = &p->slots[seq % (uint64_t)p->n_slots];
    uint64_t epoch = seq / (uint64_t)p->batches;
    int64_t first = (int64_t)(seq % (uint64_t)p->batches) * ds->batch;
    int64_t left = ingot_dataset_size(ds) - first, count = left < ds->batch ? left : ds->batch;

    error_clear(&w->err);
    for (int64_t k = 0; k < count; k++)
        if (!make_sample(w, s, epoch, first + k, k, count))
            break;
    s->err = w->err;
}

/* --- threads
 * ---------------------------------------------------------------------------------------- */

static void *work(void *user)
{
    worker *w = user;
    pipeline *p = w->p;

    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        uint64_t seq = p->next;

        if (p->pause || seq >= p->done + (uint64_t)p->n_slots) {
            (void)pthread_cond_wait(&p->room, &p->lock);
            continue;
        }
        p->next++;
        p->busy++;
        (void)pthread_mutex_unlock(&p->lock);
        make_batch(w, seq);
        (void)pthread_mutex_lock(&p->lock);
        p->slots[seq % (uint64_t)p->n_slots].ready = seq + 1;
        p->busy--;
        (void)pthread_cond_broadcast(&p->made);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

static uint64_t position(const pipeline *p)
{
    return p->ds->epoch * (uint64_t)p->batches + (uint64_t)p->ds->at;
}

void pipeline_restart(pipeline *p)
{
    (void)pthread_mutex_lock(&p->lock);
    p->pause = true;
    while (p->busy > 0)
        (void)pthread_cond_wait(&p->made, &p->lock);
    p->next = p->done = position(p);
    for (int i = 0; i < p->n_slots; i++)
        p->slots[i].ready = 0;
    p->pause = false;
    (void)pthread_cond_broadcast(&p->room);
    (void)pthread_mutex_unlock(&p->lock);
}

const batch_slot *pipeline_wait(pipeline *p)
{
    uint64_t seq = p->done; /* only the reader writes it */
    batch_slot *s = &p->slots[seq % (uint64_t)p->n_slots];

    if (p->n_threads == 0) {
        if (s->ready != seq + 1)
            make_batch(&p->workers[0], seq);
        s->ready = seq + 1;
        return s;
    }
    (void)pthread_mutex_lock(&p->lock);
    while (s->ready != seq + 1)
        (void)pthread_cond_wait(&p->made, &p->lock);
    (void)pthread_mutex_unlock(&p->lock);
    return s;
}

void pipeline_advance(pipeline *p)
{
    (void)pthread_mutex_lock(&p->lock);
    p->done++;
    (void)pthread_cond_broadcast(&p->room);
    (void)pthread_mutex_unlock(&p->lock);
}

static bool start(pipeline *p, error *e)
{
    for (int i = 0; i < p->n_workers; i++) {
        worker *w = &p->workers[i];

        w->p = p;
        for (int c = 0; c < DATA_COLUMNS; c++)
            array_init(&w->column[c], &w->column_owner[c], p->ds->alloc, &w->err);
        for (int k = 0; k < 2; k++)
            array_init(&w->step[k], &w->step_owner[k], p->ds->alloc, &w->err);
    }
    if (pthread_mutex_init(&p->lock, NULL) != 0)
        return fail(e, INGOT_E_MEMORY, "dataset: no lock for its threads");
    if (pthread_cond_init(&p->made, NULL) != 0 || pthread_cond_init(&p->room, NULL) != 0)
        return fail(e, INGOT_E_MEMORY, "dataset: no condition for its threads");
    p->locks = true;
    for (int i = 0; i < p->n_threads; i++) {
        if (pthread_create(&p->workers[i].thread, NULL, work, &p->workers[i]) != 0)
            return fail(e, INGOT_E_MEMORY, "dataset: thread %d of %d could not be started", i + 1,
                        p->n_threads);
        p->workers[i].started = true;
    }
    return true;
}

pipeline *pipeline_new(ingot_dataset *ds, error *e)
{
    pipeline *p = mem_new(ds->alloc, sizeof *p, "pipeline", e);

    if (!p)
        return NULL;
    p->ds = ds;
    p->batches = ingot_dataset_batches(ds);
    p->n_threads = ds->workers;
    p->n_workers = ds->workers ? ds->workers : 1;
    p->n_slots = p->n_workers + (ds->workers ? ds->prefetch : 0);
    p->workers =
        mem_new_array(ds->alloc, (size_t)p->n_workers, sizeof *p->workers, "data workers", e);
    p->slots = mem_new_array(ds->alloc, (size_t)p->n_slots, sizeof *p->slots, "batches", e);
    p->next = p->done = position(p);
    if (!p->workers || !p->slots || !start(p, e)) {
        pipeline_free(p);
        return NULL;
    }
    return p;
}

void pipeline_free(pipeline *p)
{
    const allocator *a;

    if (!p)
        return;
    a = p->ds->alloc;
    if (p->locks) {
        (void)pthread_mutex_lock(&p->lock);
        p->stop = true;
        (void)pthread_cond_broadcast(&p->room);
        (void)pthread_mutex_unlock(&p->lock);
    }
    for (int i = 0; p->workers && i < p->n_workers; i++) {
        worker *w = &p->workers[i];

        if (w->started)
            (void)pthread_join(w->thread, NULL);
        for (int c = 0; c < DATA_COLUMNS && w->p; c++)
            array_free(&w->column[c]);
        for (int k = 0; k < 2 && w->p; k++)
            array_free(&w->step[k]);
    }
    for (int i = 0; p->slots && i < p->n_slots; i++)
        for (int c = 0; c < DATA_COLUMNS; c++)
            mem_free(a, p->slots[i].col[c].data, p->slots[i].col[c].cap);
    if (p->locks) {
        (void)pthread_mutex_destroy(&p->lock);
        (void)pthread_cond_destroy(&p->made);
        (void)pthread_cond_destroy(&p->room);
    }
    mem_free(a, p->workers, (size_t)p->n_workers * sizeof *p->workers);
    mem_free(a, p->slots, (size_t)p->n_slots * sizeof *p->slots);
    mem_free(a, p, sizeof *p);
}
