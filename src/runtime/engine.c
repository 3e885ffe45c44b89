/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a context; step, training flag, names, random keys. */
#include "runtime/engine.h"

#include "ingot/ops.h"
#include "ops/op.h"
#include "passes/passes.h"

#include <string.h>

static bool engine_open(ingot_context *ctx)
{
    engine *eng = mem_new(&ctx->alloc, sizeof *eng, "engine", &ctx->err);

    if (!eng)
        return false;
    ctx->engine = eng;
    eng->ctx = ctx;
    eng->dev = &device_cpu;
    if (!passes_off_check(ctx->opt.passes_off, &ctx->err) ||
        !eng->dev->open(ctx->opt.isa, &eng->mach, &ctx->err))
        return false;
    ctx->pool = pool_new(&ctx->alloc, ctx->opt.threads, !ctx->opt.no_pin, &ctx->err);
    if (!ctx->pool)
        return false;
    eng->mach.threads = pool_threads(ctx->pool);
    eng->mach.no_winograd = ctx->opt.no_winograd;
    eng->ops = op_registry_new(&ctx->alloc, op_rows, &ctx->err);
    return eng->ops != NULL;
}

ingot_context *ingot_open(const ingot_context_options *opt)
{
    ingot_context *ctx = context_new(opt);

    if (context_ok(ctx))
        engine_open(ctx);
    return ctx;
}

void ingot_close(ingot_context *ctx)
{
    engine *eng = ctx ? ctx->engine : NULL;

    if (eng) {
        trace_free(eng->trace);
        op_registry_free(eng->ops);
        mem_free(&ctx->alloc, eng, sizeof *eng);
        ctx->engine = NULL;
    }
    context_free(ctx);
}

engine *engine_of(ingot_context *ctx)
{
    if (!context_ok(ctx))
        return NULL;
    return ctx->engine;
}

const char *ingot_isa(const ingot_context *ctx)
{
    return ctx && ctx->engine && ctx->engine->mach.isa ? ctx->engine->mach.isa : "none";
}

const char *ingot_cpu(const ingot_context *ctx)
{
    return ctx && ctx->engine && ctx->engine->mach.cpu ? ctx->engine->mach.cpu : "unknown CPU";
}

const char *ingot_isa_available(const ingot_context *ctx, int i)
{
    const char *const *isas = cpu_isas();

    for (int k = 0; isas[k]; k++)
        if (k == i && ctx)
            return isas[k];
    return NULL;
}

int ingot_op_count(const ingot_context *ctx)
{
    return ctx && ctx->engine && ctx->engine->ops ? op_count(ctx->engine->ops) : 0;
}

int ingot_kernel_count(const ingot_context *ctx)
{
    const kernel_row *const *family = ctx && ctx->engine ? cpu_kernels(ingot_isa(ctx)) : NULL;
    int n = 0;

    for (; family && *family; family++)
        for (const kernel_row *row = *family; row->op; row++)
            n++;
    return n;
}

bool ingot_training(const ingot_context *ctx)
{
    return ctx && ctx->engine && ctx->engine->training;
}

void ingot_set_training(ingot_context *ctx, bool training)
{
    if (ctx && ctx->engine)
        ctx->engine->training = training;
}

uint64_t ingot_step(const ingot_context *ctx)
{
    return ctx && ctx->engine ? ctx->engine->step : 0;
}

void ingot_set_step(ingot_context *ctx, uint64_t step)
{
    if (ctx && ctx->engine) {
        ctx->engine->step = step;
        ctx->engine->stream = 0;
    }
}

void ingot_path_push(ingot_context *ctx, const char *name)
{
    engine *eng = ctx ? ctx->engine : NULL;
    size_t n = name ? strlen(name) : 0;

    if (!eng || !name)
        return;
    if (eng->path_lost || eng->path_len + n + 2 > sizeof eng->path) {
        eng->path_lost++;
        return;
    }
    if (eng->path_len)
        eng->path[eng->path_len++] = '.';
    memcpy(eng->path + eng->path_len, name, n + 1);
    eng->path_len += n;
}

/* Names hold no '.', so the last one found is where the last push began. */
void ingot_path_pop(ingot_context *ctx)
{
    engine *eng = ctx ? ctx->engine : NULL;

    if (!eng)
        return;
    if (eng->path_lost) {
        eng->path_lost--;
        return;
    }
    while (eng->path_len && eng->path[eng->path_len - 1] != '.')
        eng->path_len--;
    if (eng->path_len)
        eng->path_len--;
    eng->path[eng->path_len] = 0;
}

ingot_tensor *ingot_random_key(ingot_context *ctx)
{
    engine *eng = engine_of(ctx);
    ingot_tensor *base, *key;
    value *v;

    if (!eng)
        return NULL;
    if (eng->trace) {
        trace *t = eng->trace;
        uint64_t stream = t->eager ? eng->stream++ : t->stream++;

        v = trace_implicit(t, "rng", NULL, NULL);
        return v ? trace_handles(t, ir_random_split(&t->b, v, (int64_t)stream)) : NULL;
    }
    base = tensor_alloc(ctx, &(type){.dt = INGOT_I64, .rank = 1, .dim = {2}});
    if (!base)
        return NULL;
    implicit_fill(eng, &(implicit_input){0}, eng->step, base->mem->data);
    key = ingot_random_split(ctx, base, (int64_t)eng->stream++);
    tensor_free(base);
    return key;
}

ingot_tensor *ingot_host_scalar(ingot_context *ctx, const char *name, ingot_host_scalar_fn fn,
                                void *user)
{
    engine *eng = engine_of(ctx);
    ingot_tensor *t;

    if (!eng)
        return NULL;
    if (!fn) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "host scalar '%s': the function is NULL",
             name ? name : "");
        return NULL;
    }
    if (eng->trace) {
        value *v = trace_implicit(eng->trace, name, fn, user);

        return trace_handles(eng->trace, v);
    }
    t = tensor_alloc(ctx, &(type){.dt = INGOT_F32});
    if (t)
        implicit_fill(eng, &(implicit_input){.fn = fn, .user = user}, eng->step, t->mem->data);
    return t;
}
