/* SPDX-License-Identifier: Apache-2.0 */
/* The public op functions: one path for all of them. */
#include "ingot/ops.h"

#include "ops/op.h"
#include "runtime/engine.h"
#include "runtime/trace.h"

#include <inttypes.h>
#include <string.h>

static const op *op_of_row(const engine *eng, const op_row *row)
{
    return op_find(eng->ops, row->sig, strcspn(row->sig, "("));
}

/* The value that stands for a parameter's memory, whatever was assigned to it since. */
static value *param_value(const trace *t, const ingot_tensor *x)
{
    for (size_t i = 0; x->param && i < t->n_params; i++)
        if (t->params[i] == x->param)
            return &t->g->params[i]->out[0];
    return NULL;
}

/* Inputs in t's graph; values[i] NULL where in[i] is absent. An effect's first is its target. */
static bool collect(trace *t, const op *o, ingot_tensor *const *in, int n_in, value **values)
{
    for (int i = 0; i < n_in; i++) {
        values[i] = NULL;
        if (in[i] && in[i]->ctx != t->eng->ctx)
            return fail(&t->eng->ctx->err, INGOT_E_ARGUMENT,
                        "input %d is a tensor of another context", i);
        if (in[i] && i == 0 && o->row->kind == OP_EFFECT)
            values[i] = param_value(t, in[i]);
        if (in[i] && !values[i] && !(values[i] = trace_value(t, in[i])))
            return false;
    }
    return true;
}

static ingot_tensor *emit_in(trace *t, const op *o, ingot_tensor *const *in, int n_in,
                             const attr *attrs, int n_attrs)
{
    ingot_context *ctx = t->eng->ctx;
    value **values =
        mem_new_array(&ctx->alloc, (size_t)n_in + 1, sizeof *values, "inputs", &ctx->err);
    value *v = NULL;
    ingot_tensor *x = NULL;

    if (values && collect(t, o, in, n_in, values)) {
        t->b.path = t->eng->path_len ? t->eng->path : NULL;
        v = ir_emit_op(&t->b, o, values, n_in, attrs, n_attrs, NULL);
        x = trace_handles(t, v);
    }
    mem_free(&ctx->alloc, values, ((size_t)n_in + 1) * sizeof *values);
    /* from now on the target's handle means what was assigned to it */
    if (x && o->row->kind == OP_EFFECT && n_in > 0 && in[0])
        in[0]->value = v;
    return x;
}

ingot_tensor *engine_emit(ingot_context *ctx, const op_row *row, ingot_tensor *const *in, int n_in,
                          const attr *attrs, int n_attrs)
{
    engine *eng = engine_of(ctx);
    const op *o = eng ? op_of_row(eng, row) : NULL;
    ingot_tensor *x;
    trace *t;

    if (!o)
        return NULL;
    for (int i = 0; i < n_in; i++) {
        int decl = i < o->n_in ? i : o->n_in - 1;

        if (!in[i] && !o->in[decl].optional) {
            fail(&ctx->err, INGOT_E_ARGUMENT, "op '%s': input '%s' is NULL", o->name,
                 o->in[decl].name);
            return NULL;
        }
    }
    if (eng->trace)
        return emit_in(eng->trace, o, in, n_in, attrs, n_attrs);
    /* no tape: the op runs in a trace that is gone afterwards */
    t = trace_new(eng, o->name, true);
    x = t ? emit_in(t, o, in, n_in, attrs, n_attrs) : NULL;
    trace_free(t);
    return x;
}

ingot_tensor *ingot_result(ingot_context *ctx, ingot_tensor *t, int i)
{
    ingot_tensor *x = t;

    if (!context_ok(ctx) || !t)
        return NULL;
    for (int k = 0; x && k < i; k++)
        x = x->sibling;
    if (!x || i < 0)
        fail(&ctx->err, INGOT_E_ARGUMENT, "result %d: the op has fewer results", i);
    return i < 0 ? NULL : x;
}

/* With starts and sizes of the other axes left whole. */
ingot_status ingot_split(ingot_context *ctx, ingot_tensor *x, ingot_ints sizes, int64_t axis,
                         ingot_tensor **out)
{
    int64_t start[MAX_RANK] = {0}, size[MAX_RANK];
    int rank = ingot_tensor_rank(x);
    int64_t at = axis < 0 ? axis + rank : axis, sum = 0;

    if (!context_ok(ctx) || !x)
        return ctx && ctx->err.code ? ctx->err.code : INGOT_E_ARGUMENT;
    if (at < 0 || at >= rank) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "split: axis %" PRId64 " is outside [-%d, %d)", axis,
             rank, rank);
        return ctx->err.code;
    }
    for (int i = 0; i < sizes.n; i++)
        if (sizes.v[i] < 0 || !i64_add(sum, sizes.v[i], &sum))
            sum = -1;
    if (sum != x->type.dim[at]) {
        fail(&ctx->err, INGOT_E_SHAPE,
             "split: the sizes add up to %" PRId64 " and axis %" PRId64 " has %" PRId64, sum, axis,
             x->type.dim[at]);
        return ctx->err.code;
    }
    for (int i = 0; i < rank; i++)
        size[i] = -1;
    for (int i = 0; i < sizes.n; i++) {
        size[at] = sizes.v[i];
        out[i] = ingot_slice(ctx, x, (ingot_ints){start, rank}, (ingot_ints){size, rank}, NULL);
        start[at] += sizes.v[i];
    }
    return ctx->err.code;
}

#include "ops/builders.inc"
