/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks: the mechanism, the monitors, early stopping. */
#include "train/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINE_TEXT 256

ingot_callback *ingot_callback_new(ingot_context *ctx, ingot_callback_fn fn, void *user,
                                   void (*release)(void *user))
{
    ingot_callback *cb = NULL;

    if (context_ok(ctx) && !fn)
        fail(&ctx->err, INGOT_E_ARGUMENT, "callback: the function is NULL");
    if (context_ok(ctx))
        cb = mem_new(&ctx->alloc, sizeof *cb, "a callback", &ctx->err);
    if (!cb) {
        if (release)
            release(user);
        return NULL;
    }
    *cb = (ingot_callback){.ctx = ctx, .fn = fn, .user = user, .release = release};
    return cb;
}

void ingot_callback_free(ingot_callback *cb)
{
    if (!cb)
        return;
    if (cb->release)
        cb->release(cb->user);
    mem_free(&cb->ctx->alloc, cb, sizeof *cb);
}

ingot_status ingot_model_add_callback(ingot_model *m, ingot_callback *cb)
{
    if (!m || !cb) {
        ingot_callback_free(cb);
        return m && !context_ok(m->ctx) ? ingot_error(m->ctx) : INGOT_E_ARGUMENT;
    }
    if (!vec_reserve(&m->ctx->alloc, (void **)&m->callbacks, sizeof(ingot_callback *),
                     m->n_callbacks + 1, &m->cap_callbacks, "callbacks", &m->ctx->err)) {
        ingot_callback_free(cb);
        return ingot_error(m->ctx);
    }
    m->callbacks[m->n_callbacks++] = cb;
    return INGOT_OK;
}

bool model_emit(ingot_model *m, ingot_event event)
{
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < m->n_callbacks; i++) {
            ingot_callback *cb = m->callbacks[i];

            if (cb->last != (last == 1))
                continue;
            if (cb->fn(event, &m->progress, cb->user) != 0)
                m->progress.stopping = true;
            if (!context_ok(m->ctx))
                return false;
        }
    return true;
}

/* --- monitors --------------------------------------------------------------------------------- */

typedef struct monitor {
    ingot_context *ctx;
    uint64_t every;
    ingot_log_fn out;
    void *out_user;
    uint64_t steps, step_ns, data_ns; /* of the running epoch */
} monitor;

static void release_monitor(void *user)
{
    monitor *m = user;

    mem_free(&m->ctx->alloc, m, sizeof *m);
}

static ingot_callback *monitor_new(ingot_context *ctx, ingot_callback_fn fn, const monitor *set)
{
    monitor *m = NULL;

    if (context_ok(ctx))
        m = mem_new(&ctx->alloc, sizeof *m, "a monitor", &ctx->err);
    if (!m)
        return NULL;
    *m = *set;
    m->ctx = ctx;
    if (!m->out) {
        m->out = ctx->log;
        m->out_user = ctx->log_user;
    }
    return ingot_callback_new(ctx, fn, m, release_monitor);
}

static void say(const monitor *m, const char *line)
{
    if (m->out)
        m->out(line, m->out_user);
}

/* " accuracy 0.9731 top-5 0.9990", or what of it applies. */
static const char *shares(const ingot_metrics *r, const ingot_model *m, char buf[LINE_TEXT])
{
    int n = 0;

    buf[0] = 0;
    if (!isnan(r->accuracy))
        n = snprintf(buf, LINE_TEXT, " accuracy %.4f", r->accuracy);
    if (!isnan(r->top_k) && n >= 0)
        (void)snprintf(buf + n, LINE_TEXT - (size_t)n, " top-%d %.4f", m->opt.top_k, r->top_k);
    return buf;
}

static int loss_monitor(ingot_event event, const ingot_progress *p, void *user)
{
    const monitor *m = user;
    char line[2 * LINE_TEXT], rest[LINE_TEXT];

    if (event == INGOT_STEP_END && p->step % m->every == 0) {
        (void)snprintf(line, sizeof line,
                       "epoch %" PRId64 "/%" PRId64 " batch %" PRId64 "/%" PRId64 " step %" PRIu64
                       " loss %.6g lr %.4g",
                       p->epoch + 1, p->epochs, p->batch, p->batches, p->step, p->loss, p->lr);
        say(m, line);
    } else if (event == INGOT_EVAL_END && p->eval) {
        (void)snprintf(line, sizeof line, "evaluation step %" PRIu64 " loss %.6g%s", p->step,
                       p->eval->loss, shares(p->eval, p->model, rest));
        say(m, line);
    }
    return 0;
}

ingot_callback *ingot_loss_monitor(ingot_context *ctx, uint64_t every, ingot_log_fn out, void *user)
{
    return monitor_new(
        ctx, loss_monitor,
        &(monitor){.every = every ? every : 1, .out = out, .out_user = out ? user : NULL});
}

static int time_monitor(ingot_event event, const ingot_progress *p, void *user)
{
    monitor *m = user;
    char line[LINE_TEXT];
    double n;

    if (event == INGOT_EPOCH_BEGIN) {
        m->steps = m->step_ns = m->data_ns = 0;
    } else if (event == INGOT_STEP_END) {
        m->steps++;
        m->step_ns += p->step_ns;
        m->data_ns += p->data_ns;
    } else if (event == INGOT_EPOCH_END && m->steps) {
        n = (double)m->steps * 1e6;
        (void)snprintf(line, sizeof line,
                       "epoch %" PRId64 "/%" PRId64
                       " time %.3f s, %.3f ms a step, of which %.3f ms waiting for data",
                       p->epoch, p->epochs, (double)m->step_ns / 1e9, (double)m->step_ns / n,
                       (double)m->data_ns / n);
        say(m, line);
    }
    return 0;
}

ingot_callback *ingot_time_monitor(ingot_context *ctx, ingot_log_fn out, void *user)
{
    return monitor_new(ctx, time_monitor, &(monitor){.out = out, .out_user = out ? user : NULL});
}

/* --- early stopping ----------------------------------------------------------------------------
 */

#define KEY_BEST "early_stop.best"
#define KEY_WAIT "early_stop.wait"

typedef struct early {
    ingot_context *ctx;
    int patience;
    ingot_early_stop_options opt;
} early;

static void release_early(void *user)
{
    early *s = user;

    mem_free(&s->ctx->alloc, s, sizeof *s);
}

/* The state lives in the model's numbers, so that an interruption does not change when it stops. */
static int early_stop(ingot_event event, const ingot_progress *p, void *user)
{
    const early *s = user;
    double wait = ingot_model_number(p->model, KEY_WAIT, 0.0);
    double best = ingot_model_number(p->model, KEY_BEST, (double)INFINITY);
    const ingot_metrics *r = p->eval ? p->eval : &p->train;
    double now = s->opt.accuracy ? -r->accuracy : r->loss;

    if (event == INGOT_TRAIN_BEGIN)
        return wait >= s->patience;
    if (event != INGOT_EPOCH_END)
        return 0;
    if (isnan(now)) {
        ingot_set_error(p->ctx, INGOT_E_STATE, "early stop: the %s that it watches is not known",
                        s->opt.accuracy ? "accuracy" : "loss");
        return 1;
    }
    if (now < best - s->opt.min_delta || isinf(best)) {
        best = now;
        wait = 0.0;
    } else {
        wait += 1.0;
    }
    if (ingot_model_set_number(p->model, KEY_BEST, best) != INGOT_OK ||
        ingot_model_set_number(p->model, KEY_WAIT, wait) != INGOT_OK)
        return 1;
    return wait >= s->patience;
}

ingot_callback *ingot_early_stop(ingot_context *ctx, int patience,
                                 const ingot_early_stop_options *opt)
{
    early *s = NULL;

    if (context_ok(ctx) && patience < 1)
        fail(&ctx->err, INGOT_E_ARGUMENT, "early stop: patience %d is below 1", patience);
    else if (context_ok(ctx) && opt && !(opt->min_delta >= 0.0))
        fail(&ctx->err, INGOT_E_ARGUMENT, "early stop: min_delta %g is negative", opt->min_delta);
    if (context_ok(ctx))
        s = mem_new(&ctx->alloc, sizeof *s, "early stopping", &ctx->err);
    if (!s)
        return NULL;
    *s = (early){.ctx = ctx, .patience = patience};
    if (opt)
        s->opt = *opt;
    return ingot_callback_new(ctx, early_stop, s, release_early);
}
