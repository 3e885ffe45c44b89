/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/trace.h"

#include "runtime/eager.h"
#include "runtime/engine.h"
#include "runtime/parameter.h"

#include <string.h>

trace *trace_new(engine *eng, const char *name, bool eager)
{
    ingot_context *ctx = eng->ctx;
    trace *t = mem_new(&ctx->alloc, sizeof *t, "trace", &ctx->err);

    if (!t)
        return NULL;
    t->eng = eng;
    t->eager = eager;
    t->serial = ++eng->serial;
    t->g = graph_new(&ctx->alloc, eng->ops, name, &ctx->err);
    if (!t->g) {
        trace_free(t);
        return NULL;
    }
    t->b = (builder){.g = t->g, .err = &ctx->err};
    if (eager) {
        t->b.on_emit = eager_on_emit;
        t->b.user = t;
    }
    return t;
}

void trace_free(trace *t)
{
    const allocator *a;

    if (!t)
        return;
    a = &t->eng->ctx->alloc;
    for (size_t i = 0; i < t->cap_mem; i++)
        storage_unref(t->mem[i]);
    mem_free(a, t->mem, t->cap_mem * sizeof *t->mem);
    mem_free(a, t->params, t->cap_params * sizeof *t->params);
    mem_free(a, t->implicit, t->cap_implicit * sizeof *t->implicit);
    graph_free(t->g);
    mem_free(a, t, sizeof *t);
}

/* Enters x as a parameter; its slot is its place in params. */
static value *lift_parameter(trace *t, ingot_tensor *x)
{
    error *e = &t->eng->ctx->err;

    if (!vec_reserve(&t->eng->ctx->alloc, (void **)&t->params, sizeof *t->params, t->n_params + 1,
                     &t->cap_params, "trace", e))
        return NULL;
    t->params[t->n_params++] = x->param;
    return ir_param(&t->b, x->param->name, &x->type);
}

value *trace_value(trace *t, ingot_tensor *x)
{
    value *v;

    if (x->trace == t->serial && x->value)
        return x->value;
    if (!x->mem) {
        fail(&t->eng->ctx->err, INGOT_E_STATE,
             "a tensor of another trace is used: it has no values outside of it");
        return NULL;
    }
    if (t->eager) {
        v = x->param ? lift_parameter(t, x) : ir_input(&t->b, NULL, &x->type);
        if (v && !eager_set(t, v, storage_ref(x->mem)))
            v = NULL;
    } else {
        v = x->param ? lift_parameter(t, x) : ir_const(&t->b, &x->type, x->mem->data);
    }
    if (v) {
        x->value = v;
        x->trace = t->serial;
    }
    return v;
}

value *trace_implicit(trace *t, const char *name, ingot_host_scalar_fn fn, void *user)
{
    ingot_context *ctx = t->eng->ctx;
    struct type t_in =
        fn ? type_make(INGOT_F32, 0, NULL) : type_make(INGOT_I64, 1, (const int64_t[]){2});
    implicit_input *in;

    for (size_t i = 0; i < t->n_implicit; i++)
        if (t->implicit[i].fn == fn && t->implicit[i].user == user)
            return t->implicit[i].v;
    if (!vec_reserve(&ctx->alloc, (void **)&t->implicit, sizeof *t->implicit, t->n_implicit + 1,
                     &t->cap_implicit, "trace", &ctx->err))
        return NULL;
    in = &t->implicit[t->n_implicit];
    *in = (implicit_input){.fn = fn, .user = user, .input = (int)t->g->n_inputs};
    in->v = ir_input(&t->b, name, &t_in);
    if (!in->v)
        return NULL;
    if (t->eager) {
        storage *s = storage_new(&ctx->alloc, type_bytes(&t_in), &ctx->err);

        if (!s)
            return NULL;
        implicit_fill(t->eng, in, t->eng->step, s->data);
        if (!eager_set(t, in->v, s))
            return NULL;
    }
    t->n_implicit++;
    return in->v;
}

void implicit_fill(engine *eng, const implicit_input *in, uint64_t step, void *data)
{
    if (in->fn) {
        float f = (float)in->fn(step, in->user);

        memcpy(data, &f, sizeof f);
    } else {
        rng_key k = rng_split(rng_seed(eng->ctx->opt.seed), step);

        memcpy(data, (const uint64_t[]){k.key, k.salt}, 2 * sizeof(uint64_t));
    }
}

ingot_tensor *trace_handles(trace *t, value *v)
{
    ingot_tensor *first = NULL, *last = NULL;

    if (!v)
        return NULL;
    for (int i = 0; i < v->def->n_out; i++) {
        value *r = &v->def->out[i];
        ingot_tensor *x = tensor_new(t->eng->ctx, &r->type);

        if (!x)
            return NULL;
        x->value = r;
        x->trace = t->serial;
        if (t->eager)
            x->mem = storage_ref(t->mem[r->id]);
        if (last)
            last->sibling = x;
        else
            first = x;
        last = x;
    }
    return first;
}
