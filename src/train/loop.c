/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of training and evaluation. */
#include "base/clock.h"
#include "train/model.h"

#include <inttypes.h>
#include <math.h>

#define FEED_COLUMNS 16

/* What a loop works on. */
typedef struct feed {
    ingot_dataset *ds;
    int input, target;
    int64_t batches;     /* of an epoch */
    ingot_tensor *x, *y; /* the batch */
    int64_t samples;
} feed;

/* --- data ------------------------------------------------------------------------------------- */

/* Which columns are read; ds must have them and at least one batch. */
static bool feed_open(ingot_model *m, feed *f, ingot_dataset *ds, const ingot_train_options *opt)
{
    error *e = &m->ctx->err;
    int n = ingot_dataset_column_count(ds);

    if (!ds)
        return fail(e, INGOT_E_ARGUMENT, "model: the dataset is NULL");
    *f = (feed){.ds = ds, .input = 0, .target = 1, .batches = ingot_dataset_batches(ds)};
    if (opt && (opt->input || opt->target)) {
        f->input = opt->input;
        f->target = opt->target;
    }
    for (int k = 0; k < 2; k++) {
        int column = k ? f->target : f->input;

        if (column < 0 || column >= n)
            return fail(e, INGOT_E_ARGUMENT, "model: column %d is asked for; the dataset has %d",
                        column, n);
    }
    if (n > FEED_COLUMNS)
        return fail(e, INGOT_E_UNSUPPORTED, "model: a dataset of %d columns; %d at most", n,
                    FEED_COLUMNS);
    if (f->batches == 0)
        return fail(e, INGOT_E_ARGUMENT, "model: the dataset has no batch (%" PRId64 " samples)",
                    ingot_dataset_size(ds));
    return true;
}

static bool feed_seek(ingot_model *m, feed *f, int64_t epoch, int64_t batch)
{
    (void)m;
    return ingot_dataset_seek(f->ds, (uint64_t)epoch, batch) == INGOT_OK;
}

/* The next batch, into the current scope. */
static bool feed_next(ingot_model *m, feed *f)
{
    ingot_tensor *column[FEED_COLUMNS];
    bool more;

    if (ingot_dataset_next(f->ds, column, ingot_dataset_column_count(f->ds), &more) != INGOT_OK)
        return false;
    if (!more)
        return fail(&m->ctx->err, INGOT_E_STATE,
                    "model: the dataset ended after fewer batches than "
                    "it said it has");
    f->x = column[f->input];
    f->y = column[f->target];
    f->samples = ingot_tensor_rank(f->y) > 0 ? ingot_tensor_dim(f->y, 0) : 1;
    return true;
}

/* What callbacks see, but for what only the loops know. */
static void progress_set(ingot_model *m, const feed *f)
{
    ingot_progress *p = &m->progress;

    p->step = m->step;
    p->epoch = m->epoch;
    p->batch = m->batch;
    p->batches = f->batches;
    p->samples = f->samples;
    p->train = sums_metrics(&m->sums, m);
    if (m->step > 0) /* of the last update, which another process may have made */
        p->lr = ingot_optimizer_lr(m->optimizer, m->step - 1);
}

/* --- one step --------------------------------------------------------------------------------- */

/* Labels are compared with the classes now, or, when the net has not told yet how many there are,
   while it is traced: before a step is made with them in either case. */
static bool check_fed(ingot_model *m, const feed *f, int64_t before)
{
    m->fed = f->y;
    m->fed_at = before;
    return labels_check(m);
}

static bool train_step(ingot_model *m, feed *f)
{
    ingot_context *ctx = m->ctx;
    ingot_tensor *out[2];
    double loss;

    ingot_set_step(ctx, m->step);
    if (!check_fed(m, f, m->sums.samples) || !model_train_fn(m) ||
        ingot_function_call(m->train_fn, (ingot_tensor *const[]){f->x, f->y}, 2, out, 2) !=
            INGOT_OK)
        return false;
    loss = ingot_tensor_item(out[0], 0);
    m->progress.loss = loss;
    m->progress.lr = ingot_optimizer_lr(m->optimizer, m->step);
    if (!isfinite(loss))
        return fail(&ctx->err, INGOT_E_NUMERIC,
                    "step %" PRIu64 " (epoch %" PRId64 ", batch %" PRId64 "): the loss is %g",
                    m->step + 1, m->epoch + 1, m->batch + 1, loss);
    sums_add(&m->sums, m, loss, out[1], f->y, f->samples);
    m->step++;
    m->batch++;
    return true;
}

/* Waits for a batch and trains with it; the tensors of the step die with it. */
static bool one_step(ingot_model *m, feed *f)
{
    uint64_t begin = clock_ns(), ready;
    bool ok;

    ingot_scope_begin(m->ctx);
    ok = feed_next(m, f);
    ready = clock_ns();
    ok = ok && model_emit(m, INGOT_STEP_BEGIN) && train_step(m, f);
    m->fed = NULL;
    ingot_scope_end(m->ctx);
    if (!ok)
        return false;
    m->progress.data_ns = ready - begin;
    m->progress.step_ns = clock_ns() - begin;
    progress_set(m, f);
    return model_emit(m, INGOT_STEP_END);
}

/* --- evaluation ------------------------------------------------------------------------------- */

static bool eval_step(ingot_model *m, feed *f, sums *s)
{
    ingot_tensor *out[2];
    int n = m->loss ? 2 : 1;

    if (!check_fed(m, f, s->samples) || !model_eval_fn(m) ||
        ingot_function_call(m->eval_fn, (ingot_tensor *const[]){f->x, f->y}, 2, out, n) != INGOT_OK)
        return false;
    sums_add(s, m, n == 2 ? ingot_tensor_item(out[1], 0) : 0.0, out[0], f->y, f->samples);
    return true;
}

static bool eval_batches(ingot_model *m, feed *f, sums *s)
{
    for (int64_t i = 0; i < f->batches; i++) {
        bool ok;

        ingot_scope_begin(m->ctx);
        ok = feed_next(m, f) && eval_step(m, f, s);
        m->fed = NULL;
        ingot_scope_end(m->ctx);
        if (!ok)
            return false;
        m->progress.batch = i + 1;
        if (!model_emit(m, INGOT_EVAL_STEP))
            return false;
        if (atomic_load(&m->stop))
            break;
    }
    return true;
}

/* A pass over ds, whose result becomes m->eval, unless ingot_model_stop ends it early. The same
   samples in the same order each time. */
static bool evaluate(ingot_model *m, ingot_dataset *ds, const ingot_train_options *opt)
{
    ingot_progress before = m->progress;
    bool training = ingot_training(m->ctx), ok;
    sums s = {0};
    feed f;

    if (!feed_open(m, &f, ds, opt) || !feed_seek(m, &f, 0, 0))
        return false;
    ingot_set_training(m->ctx, false);
    m->progress.batch = 0;
    m->progress.batches = f.batches;
    ok = model_emit(m, INGOT_EVAL_BEGIN) && eval_batches(m, &f, &s);
    ingot_set_training(m->ctx, training);
    if (ok && !atomic_load(&m->stop)) {
        m->eval = sums_metrics(&s, m);
        m->progress.eval = &m->eval;
        ok = model_emit(m, INGOT_EVAL_END);
    }
    m->progress.batch = before.batch;
    m->progress.batches = before.batches;
    return ok;
}

ingot_status ingot_model_eval(ingot_model *m, ingot_dataset *ds, const ingot_train_options *opt,
                              ingot_metrics *out)
{
    if (!m)
        return INGOT_E_ARGUMENT;
    if (!context_ok(m->ctx))
        return ingot_error(m->ctx);
    m->progress.step = m->step;
    m->progress.epoch = m->epoch;
    if (evaluate(m, ds, opt) && atomic_exchange(&m->stop, 0))
        fail(&m->ctx->err, INGOT_E_CANCELLED, "evaluation was stopped");
    if (out && context_ok(m->ctx))
        *out = m->eval;
    return ingot_error(m->ctx);
}

/* --- training --------------------------------------------------------------------------------- */

/* Whether to make no further step; a stop from outside is noted for the callbacks. */
static bool finished(ingot_model *m, const ingot_train_options *opt)
{
    if (atomic_load(&m->stop))
        m->progress.stopping = true;
    return m->progress.stopping || (opt && opt->max_steps && m->step >= opt->max_steps);
}

/* The rest of the running epoch. Position and sums say how far it is, so that an epoch which was
   interrupted ends as if it had not been. */
static bool run_epoch(ingot_model *m, feed *f, const ingot_train_options *opt)
{
    if (m->batch > f->batches)
        return fail(&m->ctx->err, INGOT_E_STATE,
                    "model: it stands at batch %" PRId64 " of an epoch, the dataset has %" PRId64,
                    m->batch, f->batches);
    if (m->batch < f->batches && !feed_seek(m, f, m->epoch, m->batch))
        return false;
    progress_set(m, f);
    if (!model_emit(m, INGOT_EPOCH_BEGIN))
        return false;
    while (m->batch < f->batches && !finished(m, opt))
        if (!one_step(m, f))
            return false;
    if (m->batch < f->batches || atomic_load(&m->stop))
        return true;
    if (opt && opt->eval && !evaluate(m, opt->eval, opt))
        return false;
    if (atomic_load(&m->stop))
        return true;
    progress_set(m, f);
    m->progress.epoch = ++m->epoch;
    m->batch = 0;
    m->sums = (sums){0}; /* checkpoints of the epoch's end stand at the next one's begin */
    return model_emit(m, INGOT_EPOCH_END);
}

static bool check_train(ingot_model *m, int64_t epochs)
{
    error *e = &m->ctx->err;

    if (!m->optimizer)
        return fail(e, INGOT_E_STATE, "model: it was made without an optimizer");
    if (m->running)
        return fail(e, INGOT_E_STATE, "model: it is being trained already");
    if (epochs < 0)
        return fail(e, INGOT_E_ARGUMENT, "model: epochs %" PRId64 " is negative", epochs);
    return true;
}

static bool train(ingot_model *m, feed *f, int64_t epochs, const ingot_train_options *opt)
{
    bool ok;

    m->progress.stopping = false;
    m->progress.eval = NULL;
    m->progress.epochs = epochs;
    progress_set(m, f);
    ok = model_emit(m, INGOT_TRAIN_BEGIN);
    while (ok && m->epoch < epochs && !finished(m, opt))
        ok = run_epoch(m, f, opt);
    finished(m, opt); /* a late stop is for the callbacks to know, too */
    if (!ok || !model_emit(m, INGOT_TRAIN_END))
        return false;
    if (atomic_load(&m->stop))
        return fail(&m->ctx->err, INGOT_E_CANCELLED,
                    "training was stopped after step %" PRIu64 " (epoch %" PRId64 ", batch %" PRId64
                    ")",
                    m->step, m->epoch + 1, m->batch);
    return true;
}

ingot_status ingot_model_train(ingot_model *m, int64_t epochs, ingot_dataset *ds,
                               const ingot_train_options *opt)
{
    ingot_context *ctx = m ? m->ctx : NULL;
    bool training;
    feed f;

    if (!m)
        return INGOT_E_ARGUMENT;
    if (!context_ok(ctx) || !check_train(m, epochs) || !feed_open(m, &f, ds, opt))
        return ingot_error(ctx);
    training = ingot_training(ctx);
    ingot_set_training(ctx, true);
    m->running = true;
    train(m, &f, epochs, opt);
    m->running = false;
    ingot_set_training(ctx, training);
    atomic_store(&m->stop, 0);
    return ingot_error(ctx);
}
