/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/run.h"

#include "base/random.h"
#include "ingot/ops.h"
#include "runtime/engine.h"

#include <string.h>

double op_weight(int stream, int k, int64_t i)
{
    rng_key key = rng_split(rng_split(rng_seed(77), (uint64_t)stream), (uint64_t)k);

    return 2.0 * (double)rng_uniform(key, (uint64_t)i) - 1.0;
}

typedef struct job {
    const op_instance *c;
    op_order order;
    ingot_parameter *param[CASE_IN];
} job;

static ingot_tensor *weights(ingot_context *ctx, int stream, int k, const type *t)
{
    int64_t n = type_count(t);
    ingot_tensor *w = ingot_tensor_new(ctx, t->dt, (ingot_ints){t->dim, t->rank}, NULL);

    for (int64_t i = 0; w && i < n; i++)
        dtype_set_f64(t->dt, ingot_tensor_data(w), i, op_weight(stream, k, i));
    return w;
}

/* sum + <t, weights>, or NULL and t not NULL: the context's error. */
static ingot_tensor *add_dot(ingot_context *ctx, ingot_tensor *sum, ingot_tensor *t, int stream,
                             int k)
{
    type whole = type_make(ingot_tensor_dtype(t), t->type.rank, t->type.dim);
    ingot_tensor *dot = ingot_sum(ctx, ingot_mul(ctx, t, weights(ctx, stream, k, &whole)), NULL);

    return sum ? ingot_add(ctx, sum, dot) : dot;
}

static int gradients(ingot_context *ctx, const op_instance *c, ingot_tensor *loss,
                     ingot_tensor *const *x, int stream, ingot_tensor **out, ingot_tensor **next)
{
    ingot_tensor *wrt[CASE_IN], *g[CASE_IN];
    int n = 0;

    *next = NULL;
    for (int i = 0; i < c->n_in; i++)
        if (c->diff[i])
            wrt[n++] = x[i];
    if (ingot_grad(ctx, loss, wrt, n, g) != INGOT_OK)
        return -1;
    for (int k = 0; k < n; k++) {
        out[k] = g[k];
        *next = add_dot(ctx, *next, g[k], stream, k);
    }
    return n;
}

static int construct(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                     int max_out, void *user)
{
    const job *j = user;
    const op_instance *c = j->c;
    ingot_tensor *x[CASE_IN], *y, *loss = NULL, *next;
    int n = 0, m;

    (void)n_in;
    (void)max_out;
    for (int i = 0; i < c->n_in; i++)
        x[i] = c->in[i].rank < 0 ? NULL : j->param[i] ? ingot_parameter_tensor(j->param[i]) : *in++;
    y = engine_emit(ctx, c->op->row, x, c->n_in, c->attrs, c->op->n_attrs);
    for (int o = 0; y && o < c->n_out; o++) {
        out[n] = ingot_result(ctx, y, o);
        if (j->order != ORDER_FORWARD && dtype_is_float(ingot_tensor_dtype(out[n])))
            loss = add_dot(ctx, loss, out[n], 1, o);
        n++;
    }
    for (int order = 1; y && order <= (int)j->order; order++) {
        m = gradients(ctx, c, loss, x, 2, out + n, &next);
        if (m < 0)
            return -1;
        n += m;
        loss = next;
    }
    return y ? n : -1;
}

bool op_run(ingot_context *ctx, const op_instance *c, op_order order, op_result *r)
{
    job j = {.c = c, .order = order};
    ingot_tensor *in[CASE_IN], *out[CASE_OUT + 2 * CASE_IN];
    int n_in = 0, n_out = c->n_out, k;
    ingot_function *f;

    memset(r, 0, sizeof *r);
    for (int i = 0; i < c->n_in; i++) {
        ingot_ints shape = {c->in[i].dim, c->in[i].rank};

        if (c->in[i].rank < 0)
            continue;
        if (c->row->param >> i & 1u)
            j.param[i] = ingot_parameter_new(ctx, "p", c->in[i].dt, shape, c->data[i], true);
        else
            in[n_in++] = ingot_tensor_new(ctx, c->in[i].dt, shape, c->data[i]);
        for (int o = 0; o < (int)order && c->diff[i]; o++)
            n_out++;
    }
    f = ingot_function_new(ctx, construct, &j, NULL);
    if (f)
        (void)!ingot_function_call(f, in, n_in, out, n_out);
    ingot_function_free(f);
    for (int i = 0; i < c->n_in; i++)
        ingot_parameter_free(j.param[i]);
    if (ingot_error(ctx))
        return false;
    for (k = 0; k < c->n_out; k++)
        r->y[k] = out[k];
    for (int i = 0; i < c->n_in && order > ORDER_FORWARD; i++)
        if (c->diff[i])
            r->g[i] = out[k++];
    for (int i = 0; i < c->n_in && order > ORDER_FIRST; i++)
        if (c->diff[i])
            r->h[i] = out[k++];
    return true;
}

ingot_tensor *op_emit(ingot_context *ctx, const op_instance *c)
{
    ingot_tensor *x[CASE_IN];

    for (int i = 0; i < c->n_in; i++)
        x[i] = c->in[i].rank < 0
                   ? NULL
                   : ingot_tensor_new(ctx, c->in[i].dt, (ingot_ints){c->in[i].dim, c->in[i].rank},
                                      c->data[i]);
    return engine_emit(ctx, c->op->row, x, c->n_in, c->attrs, c->op->n_attrs);
}
