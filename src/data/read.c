/* SPDX-License-Identifier: Apache-2.0 */
/* Reading batches. */
#include "data/pipeline.h"

#include <inttypes.h>
#include <string.h>

/* Positions are counted as epoch * batches + batch. */
static bool position_fits(const ingot_dataset *ds, uint64_t epoch)
{
    int64_t batches = ingot_dataset_batches(ds);

    return batches == 0 || epoch < (uint64_t)INT64_MAX / (uint64_t)batches - 1;
}

ingot_status ingot_dataset_seek(ingot_dataset *ds, uint64_t epoch, int64_t batch)
{
    if (!ds)
        return INGOT_E_ARGUMENT;
    if (!context_ok(ds->ctx))
        return ingot_error(ds->ctx);
    if (batch < 0 || batch > ingot_dataset_batches(ds) || !position_fits(ds, epoch)) {
        fail(&ds->ctx->err, INGOT_E_ARGUMENT,
             "dataset: batch %" PRId64 " of epoch %" PRIu64 "; an epoch has %" PRId64, batch, epoch,
             ingot_dataset_batches(ds));
        return ingot_error(ds->ctx);
    }
    if (ds->epoch == epoch && ds->at == batch)
        return INGOT_OK;
    /* the end of an epoch is where the next one begins, as far as the workers are concerned */
    bool same = ds->at == ingot_dataset_batches(ds) && ds->epoch + 1 == epoch && batch == 0;

    ds->epoch = epoch;
    ds->at = batch;
    if (ds->pipe && !same)
        pipeline_restart(ds->pipe);
    return INGOT_OK;
}

static bool to_tensors(ingot_dataset *ds, const batch_slot *s, ingot_tensor **out)
{
    for (int c = 0; c < ds->n_columns; c++) {
        const batch_column *col = &s->col[c];

        out[c] = ingot_tensor_new(ds->ctx, col->type.dt,
                                  (ingot_ints){col->type.dim, col->type.rank}, col->data);
        if (!out[c])
            return false;
    }
    return true;
}

ingot_status ingot_dataset_next(ingot_dataset *ds, ingot_tensor **out, int n, bool *more)
{
    const batch_slot *s;
    error *e;

    if (!ds)
        return INGOT_E_ARGUMENT;
    e = &ds->ctx->err;
    *more = false;
    if (!context_ok(ds->ctx))
        return e->code;
    if (n != ds->n_columns) {
        fail(e, INGOT_E_ARGUMENT, "dataset: room for %d columns; it has %d", n, ds->n_columns);
        return e->code;
    }
    if (ds->at == ingot_dataset_batches(ds)) {
        ds->at = 0;
        ds->epoch++;
        return INGOT_OK;
    }
    if (!ds->pipe) {
        ds->pipe = pipeline_new(ds, e);
        if (!ds->pipe)
            return e->code;
    }
    s = pipeline_wait(ds->pipe);
    if (s->err.code) {
        fail(e, s->err.code, "%s", s->err.text);
        return e->code;
    }
    if (!to_tensors(ds, s, out))
        return e->code;
    pipeline_advance(ds->pipe);
    ds->at++;
    *more = true;
    return INGOT_OK;
}
