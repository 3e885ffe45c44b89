/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/eager.h"

#include "ir/op_internal.h"
#include "runtime/bind.h"
#include "runtime/parameter.h"

#include <string.h>

bool eager_set(trace *t, const value *v, storage *s)
{
    size_t old = t->cap_mem;
    ingot_context *ctx = t->eng->ctx;

    if (!s)
        return false;
    if (!vec_reserve(&ctx->alloc, (void **)&t->mem, sizeof *t->mem, (size_t)v->id + 1, &t->cap_mem,
                     "tape", &ctx->err)) {
        storage_unref(s);
        return false;
    }
    if (t->cap_mem > old)
        memset(t->mem + old, 0, (t->cap_mem - old) * sizeof *t->mem);
    storage_unref(t->mem[v->id]);
    t->mem[v->id] = s;
    return true;
}

static void *data_of(const trace *t, const value *v)
{
    return v ? t->mem[v->id]->data : NULL;
}

static bool is_param(const value *v)
{
    return v->def->form == NODE_PARAM;
}

static storage *copy_of(trace *t, const value *v)
{
    ingot_context *ctx = t->eng->ctx;
    size_t bytes = type_bytes(&v->type);
    storage *s = storage_new(&ctx->alloc, bytes, &ctx->err);

    if (s && bytes)
        memcpy(s->data, data_of(t, v), bytes);
    return s;
}

/* assign(dst, src): dst is a parameter, whose memory changes now. What the tape holds of a
   parameter, as dst or as src, becomes a copy: gradients that are taken later see the content of
   this moment. */
static bool run_assign(trace *t, const node *n)
{
    const value *dst = n->in[0], *src = n->in[1];
    storage *memory;

    if (!is_param(dst))
        return fail(&t->eng->ctx->err, INGOT_E_UNSUPPORTED,
                    "op 'assign': its target must be a parameter");
    if (is_param(src) && !eager_set(t, src, copy_of(t, src)))
        return false;
    if (dst != src && !eager_set(t, dst, copy_of(t, dst)))
        return false;
    memory = t->params[dst->def->slot]->tensor->mem;
    memmove(memory->data, data_of(t, src), type_bytes(&dst->type));
    return eager_set(t, &n->out[0], storage_ref(t->mem[src->id]));
}

/* The expansion runs in a trace of its own, so that the tape keeps the op itself. */
static bool run_expansion(trace *t, node *n)
{
    ingot_context *ctx = t->eng->ctx;
    trace *inner = trace_new(t->eng, n->op->name, true);
    value *result[OP_MAX_OUT] = {0};
    value **in =
        mem_new_array(&ctx->alloc, (size_t)n->n_in + 1, sizeof *in, "expansion", &ctx->err);
    bool ok = inner && in;

    for (int i = 0; ok && i < n->n_in; i++) {
        if (!n->in[i])
            continue;
        in[i] = ir_input(&inner->b, NULL, &n->in[i]->type);
        ok = in[i] && eager_set(inner, in[i], storage_ref(t->mem[n->in[i]->id]));
    }
    if (ok) {
        rule r = {.b = &inner->b, .n = n, .in = in, .result = result};

        n->op->row->expand(&r);
        ok = ctx->err.code == INGOT_OK;
    }
    for (int i = 0; ok && i < n->n_out; i++) {
        if (!result[i])
            ok = fail(&ctx->err, INGOT_E_INTERNAL, "op '%s': its expansion lacks result %d",
                      n->op->name, i);
        else
            ok = eager_set(t, &n->out[i], storage_ref(inner->mem[result[i]->id]));
    }
    mem_free(&ctx->alloc, in, ((size_t)n->n_in + 1) * sizeof *in);
    trace_free(inner);
    return ok;
}

/* A reshape shares memory, but never a parameter's: that may change under the result. */
static bool run_alias(trace *t, const node *n)
{
    const value *x = n->in[0];

    return eager_set(t, &n->out[0], is_param(x) ? copy_of(t, x) : storage_ref(t->mem[x->id]));
}

static bool run_kernel(trace *t, const node *n, const bound *b, void **buf)
{
    ingot_context *ctx = t->eng->ctx;
    const device *dev = t->eng->dev;
    size_t per = (b->call.scratch + 63) & ~(size_t)63, scratch_bytes, work = b->call.work + 64;
    bound padded = *b;
    void *scratch, *shared;
    bool ok;

    padded.call.scratch = per;
    if (!size_mul(per + 64, (size_t)pool_threads(ctx->pool), &scratch_bytes))
        return fail(&ctx->err, INGOT_E_MEMORY, "op '%s': scratch size overflows", n->op->name);
    scratch = dev->alloc(&ctx->alloc, scratch_bytes, "scratch", &ctx->err);
    shared = dev->alloc(&ctx->alloc, work, "work", &ctx->err);
    ok = scratch && shared;
    if (ok)
        bound_run(ctx->pool, &padded, buf, scratch, shared);
    if (scratch)
        dev->free(&ctx->alloc, scratch, scratch_bytes);
    if (shared)
        dev->free(&ctx->alloc, shared, work);
    return ok;
}

static bool run_node(trace *t, node *n)
{
    ingot_context *ctx = t->eng->ctx;
    arena mem;
    bound b;
    void **buf;
    bool ok;

    arena_init(&mem, &ctx->alloc);
    ok = node_bind(t->eng, n, &mem, &b, &ctx->err);
    if (ok && b.needs.alias) {
        arena_free(&mem);
        return run_alias(t, n);
    }
    buf = ok ? arena_array(&mem, (size_t)n->n_in + (size_t)n->n_out, sizeof *buf, &ctx->err) : NULL;
    ok = buf != NULL;
    for (int i = 0; ok && i < n->n_in; i++)
        buf[i] = data_of(t, n->in[i]);
    for (int i = 0; ok && i < n->n_out; i++) {
        ok = eager_set(t, &n->out[i],
                       storage_new(&ctx->alloc, type_bytes(&n->out[i].type), &ctx->err));
        if (ok)
            buf[n->n_in + i] = data_of(t, &n->out[i]);
    }
    ok = ok && run_kernel(t, n, &b, buf);
    arena_free(&mem);
    return ok;
}

static bool run_const(trace *t, const node *n)
{
    ingot_context *ctx = t->eng->ctx;
    size_t bytes = type_bytes(&n->out[0].type);
    storage *s = storage_new(&ctx->alloc, bytes, &ctx->err);

    if (s && bytes)
        memcpy(s->data, n->data, bytes);
    return eager_set(t, &n->out[0], s);
}

bool eager_on_emit(void *user, node *n)
{
    trace *t = user;

    switch (n->form) {
    case NODE_INPUT:
    case NODE_PARAM:
        return true; /* whoever made it gives it its memory */
    case NODE_CONST:
        return run_const(t, n);
    case NODE_FUSED:
        return run_node(t, n);
    case NODE_OP:
        break;
    }
    if (node_class(n) == OP_EFFECT)
        return run_assign(t, n);
    return n->op->row->expand ? run_expansion(t, n) : run_node(t, n);
}
