/* SPDX-License-Identifier: Apache-2.0 */
/* Making a model, its three functions, and what can be asked of it. */
#include "train/model.h"

#include <math.h>
#include <string.h>

ingot_model *ingot_model_new(ingot_context *ctx, ingot_cell *net, ingot_cell *loss,
                             ingot_optimizer *optimizer, const ingot_model_options *opt)
{
    ingot_model *m = NULL;

    if (context_ok(ctx) && !net)
        fail(&ctx->err, INGOT_E_ARGUMENT, "model: the net is NULL");
    else if (context_ok(ctx) && optimizer && !loss)
        fail(&ctx->err, INGOT_E_ARGUMENT, "model: an optimizer needs a loss");
    else if (context_ok(ctx) && opt && opt->top_k < 0)
        fail(&ctx->err, INGOT_E_ARGUMENT, "model: top_k %d is negative", opt->top_k);
    if (context_ok(ctx))
        m = mem_new(&ctx->alloc, sizeof *m, "a model", &ctx->err);
    if (!m) {
        ingot_cell_free(loss);
        ingot_optimizer_free(optimizer);
        return NULL;
    }
    m->ctx = ctx;
    m->net = net;
    m->loss = loss;
    m->optimizer = optimizer;
    if (opt)
        m->opt = *opt;
    atomic_init(&m->stop, 0);
    m->progress = (ingot_progress){.ctx = ctx, .model = m, .loss = (double)NAN};
    return m;
}

void ingot_model_free(ingot_model *m)
{
    const allocator *a;

    if (!m)
        return;
    a = &m->ctx->alloc;
    ingot_function_free(m->train_fn);
    ingot_function_free(m->eval_fn);
    ingot_function_free(m->predict_fn);
    for (size_t i = 0; i < m->n_callbacks; i++)
        ingot_callback_free(m->callbacks[i]);
    mem_free(a, m->callbacks, m->cap_callbacks * sizeof(ingot_callback *));
    mem_free(a, m->numbers, m->cap_numbers * sizeof *m->numbers);
    ingot_optimizer_free(m->optimizer);
    ingot_cell_free(m->loss);
    mem_free(a, m, sizeof *m);
}

/* --- functions -------------------------------------------------------------------------------- */

/* The net's output. Where it tells for the first time how many classes there are, the labels that
   wait are compared with that before anything is computed with them. */
static ingot_tensor *predictions(ingot_model *m, ingot_tensor *x)
{
    ingot_tensor *y = ingot_cell_call(m->net, x);

    if (!y)
        return NULL;
    m->classes = ingot_tensor_rank(y) == 2 ? ingot_tensor_dim(y, 1) : 0;
    return labels_check(m) ? y : NULL;
}

static int construct_train(ingot_context *ctx, ingot_tensor *const *in, int n_in,
                           ingot_tensor **out, int max_out, void *user)
{
    ingot_model *m = user;
    ingot_tensor *y = predictions(m, in[0]);
    ingot_tensor *loss = ingot_cell_call_n(m->loss, (ingot_tensor *const[]){y, in[1]}, 2);

    (void)n_in;
    (void)max_out;
    if (!loss || ingot_optimizer_minimize(m->optimizer, loss) != INGOT_OK)
        return -1;
    out[0] = loss;
    out[1] = y;
    return ingot_error(ctx) == INGOT_OK ? 2 : -1;
}

static int construct_eval(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                          int max_out, void *user)
{
    ingot_model *m = user;
    ingot_tensor *y = predictions(m, in[0]);

    (void)n_in;
    (void)max_out;
    if (!y)
        return -1;
    out[0] = y;
    if (!m->loss)
        return 1;
    out[1] = ingot_cell_call_n(m->loss, (ingot_tensor *const[]){y, in[1]}, 2);
    if (out[1] && ingot_tensor_count(out[1]) != 1)
        fail(&ctx->err, INGOT_E_SHAPE, "model: the loss is not a scalar: reduce it to one element");
    return out[1] && ingot_error(ctx) == INGOT_OK ? 2 : -1;
}

static int construct_predict(ingot_context *ctx, ingot_tensor *const *in, int n_in,
                             ingot_tensor **out, int max_out, void *user)
{
    ingot_model *m = user;

    (void)ctx;
    (void)n_in;
    (void)max_out;
    out[0] = ingot_cell_call(m->net, in[0]);
    return out[0] ? 1 : -1;
}

static ingot_function *function(ingot_model *m, ingot_function **f, const char *name,
                                ingot_construct_fn fn)
{
    if (!*f)
        *f = ingot_function_new(m->ctx, fn, m, &(ingot_function_options){.name = name});
    return *f;
}

ingot_function *model_train_fn(ingot_model *m)
{
    return function(m, &m->train_fn, "train", construct_train);
}

ingot_function *model_eval_fn(ingot_model *m)
{
    return function(m, &m->eval_fn, "eval", construct_eval);
}

ingot_tensor *ingot_model_predict(ingot_model *m, ingot_tensor *x)
{
    bool training;
    ingot_tensor *y = NULL;

    if (!m || !context_ok(m->ctx))
        return NULL;
    training = ingot_training(m->ctx);
    ingot_set_training(m->ctx, false);
    if (ingot_function_call(function(m, &m->predict_fn, "predict", construct_predict), &x, 1, &y,
                            1) != INGOT_OK)
        y = NULL;
    ingot_set_training(m->ctx, training);
    return y;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool key_ok(const char *key)
{
    size_t n = key ? strlen(key) : 0;

    if (n == 0 || n > NUMBER_KEY_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (key[i] < 0x21 || key[i] > 0x7e)
            return false;
    return true;
}

/* Where key is, or where it belongs. */
static size_t number_at(const ingot_model *m, const char *key)
{
    size_t i = 0;

    while (i < m->n_numbers && strcmp(m->numbers[i].key, key) < 0)
        i++;
    return i;
}

ingot_status ingot_model_set_number(ingot_model *m, const char *key, double value)
{
    size_t i;

    if (!m)
        return INGOT_E_ARGUMENT;
    if (!key_ok(key)) {
        fail(&m->ctx->err, INGOT_E_ARGUMENT,
             "model: the key of a number is empty, too long or not printable ASCII");
        return m->ctx->err.code;
    }
    i = number_at(m, key);
    if (i == m->n_numbers || strcmp(m->numbers[i].key, key) != 0) {
        if (!vec_reserve(&m->ctx->alloc, (void **)&m->numbers, sizeof *m->numbers, m->n_numbers + 1,
                         &m->cap_numbers, "numbers", &m->ctx->err))
            return m->ctx->err.code;
        memmove(m->numbers + i + 1, m->numbers + i, (m->n_numbers - i) * sizeof *m->numbers);
        memset(&m->numbers[i], 0, sizeof *m->numbers);
        memcpy(m->numbers[i].key, key, strlen(key));
        m->n_numbers++;
    }
    m->numbers[i].value = value;
    return INGOT_OK;
}

double ingot_model_number(const ingot_model *m, const char *key, double fallback)
{
    size_t i = m && key ? number_at(m, key) : 0;

    if (!m || !key || i == m->n_numbers || strcmp(m->numbers[i].key, key) != 0)
        return fallback;
    return m->numbers[i].value;
}

/* --- looking ---------------------------------------------------------------------------------- */

void ingot_model_stop(ingot_model *m)
{
    if (m)
        atomic_store(&m->stop, 1);
}

uint64_t ingot_model_step(const ingot_model *m)
{
    return m ? m->step : 0;
}

int64_t ingot_model_epoch(const ingot_model *m)
{
    return m ? m->epoch : 0;
}

ingot_cell *ingot_model_net(const ingot_model *m)
{
    return m ? m->net : NULL;
}

ingot_optimizer *ingot_model_optimizer(const ingot_model *m)
{
    return m ? m->optimizer : NULL;
}

size_t ingot_model_arena_bytes(const ingot_model *m)
{
    return m && m->train_fn ? ingot_function_arena_bytes(m->train_fn) : 0;
}

size_t ingot_model_naive_bytes(const ingot_model *m)
{
    return m && m->train_fn ? ingot_function_naive_bytes(m->train_fn) : 0;
}
