/* SPDX-License-Identifier: Apache-2.0 */
/* Tapes and gradients. */
#include "autodiff/autodiff.h"
#include "runtime/engine.h"

void ingot_tape_begin(ingot_context *ctx)
{
    engine *eng = engine_of(ctx);

    if (!eng || (eng->trace && !eng->trace->eager))
        return;
    if (eng->trace) {
        fail(&ctx->err, INGOT_E_STATE, "ingot_tape_begin: a tape is open already");
        return;
    }
    eng->trace = trace_new(eng, "tape", true);
}

/* Ends a tape even when an error is set: that is when it matters most. */
void ingot_tape_end(ingot_context *ctx)
{
    engine *eng = ctx ? ctx->engine : NULL;

    if (!eng || !eng->trace || !eng->trace->eager)
        return;
    trace_free(eng->trace);
    eng->trace = NULL;
}

static ingot_tensor *handle_of(trace *t, value *v)
{
    ingot_tensor *x = tensor_new(t->eng->ctx, &v->type);

    if (!x)
        return NULL;
    x->value = v;
    x->trace = t->serial;
    if (t->eager)
        x->mem = storage_ref(t->mem[v->id]);
    return x;
}

static bool gradients(trace *t, ingot_tensor *output, ingot_tensor *sens, ingot_tensor *const *wrt,
                      int n, ingot_tensor **grads)
{
    ingot_context *ctx = t->eng->ctx;
    size_t bytes = ((size_t)n + 1) * sizeof(value *);
    value **in = mem_new(&ctx->alloc, bytes, "gradients", &ctx->err);
    value **out = mem_new(&ctx->alloc, bytes, "gradients", &ctx->err);
    value *y = NULL, *s = NULL;
    bool ok = in && out;

    ok = ok && (y = trace_value(t, output)) && (!sens || (s = trace_value(t, sens)));
    for (int i = 0; ok && i < n; i++)
        ok = wrt[i] ? (in[i] = trace_value(t, wrt[i])) != NULL
                    : fail(&ctx->err, INGOT_E_ARGUMENT, "gradient: target %d is NULL", i);
    if (ok) {
        t->b.path = "grad";
        ok = autodiff(&t->b, y, s, in, n, out);
        t->b.path = NULL;
    }
    for (int i = 0; ok && i < n; i++)
        ok = (grads[i] = handle_of(t, out[i])) != NULL;
    mem_free(&ctx->alloc, in, bytes);
    mem_free(&ctx->alloc, out, bytes);
    return ok;
}

ingot_status ingot_grad_with(ingot_context *ctx, ingot_tensor *output, ingot_tensor *sensitivity,
                             ingot_tensor *const *wrt, int n, ingot_tensor **grads)
{
    engine *eng = engine_of(ctx);

    for (int i = 0; i < n; i++)
        grads[i] = NULL;
    if (!eng)
        return ingot_error(ctx);
    if (!eng->trace)
        fail(&ctx->err, INGOT_E_STATE,
             "gradient: nothing was recorded: call ingot_tape_begin before computing the loss");
    else if (!output || n < 0)
        fail(&ctx->err, INGOT_E_ARGUMENT, "gradient: the output is NULL, or n is %d", n);
    else
        gradients(eng->trace, output, sensitivity, wrt, n, grads);
    return ctx->err.code;
}

ingot_status ingot_grad(ingot_context *ctx, ingot_tensor *loss, ingot_tensor *const *wrt, int n,
                        ingot_tensor **grads)
{
    return ingot_grad_with(ctx, loss, NULL, wrt, n, grads);
}
