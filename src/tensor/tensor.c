/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/tensor.h"

#include "tensor/context.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void unlink_tensor(ingot_tensor *t)
{
    if (t->next)
        t->next->prev = t->prev;
    if (t->prev) {
        t->prev->next = t->next;
    } else {
        for (scope *s = t->ctx->scope; s; s = s->outer)
            if (s->tensors == t)
                s->tensors = t->next;
    }
    t->next = t->prev = NULL;
}

ingot_tensor *tensor_new(ingot_context *ctx, const type *t)
{
    ingot_tensor *h;

    if (!context_ok(ctx) || !type_check(t, &ctx->err))
        return NULL;
    h = mem_new(&ctx->alloc, sizeof(*h), "a tensor", &ctx->err);
    if (!h)
        return NULL;
    h->ctx = ctx;
    h->type = *t;
    h->next = ctx->scope->tensors;
    if (h->next)
        h->next->prev = h;
    ctx->scope->tensors = h;
    return h;
}

ingot_tensor *tensor_over(ingot_context *ctx, const type *t, storage *mem)
{
    ingot_tensor *h = tensor_new(ctx, t);

    if (h)
        h->mem = mem;
    else
        storage_unref(mem);
    return h;
}

ingot_tensor *tensor_alloc(ingot_context *ctx, const type *t)
{
    storage *mem;

    if (!context_ok(ctx) || !type_check(t, &ctx->err))
        return NULL;
    if (type_symbolic(t)) {
        char text[TYPE_TEXT];

        fail(&ctx->err, INGOT_E_SHAPE, "tensor %s: a symbolic dimension has no memory",
             type_text(t, text));
        return NULL;
    }
    mem = storage_new(&ctx->alloc, type_bytes(t), &ctx->err);
    return mem ? tensor_over(ctx, t, mem) : NULL;
}

void tensor_free(ingot_tensor *t)
{
    if (!t)
        return;
    unlink_tensor(t);
    storage_unref(t->mem);
    mem_free(&t->ctx->alloc, t, sizeof(*t));
}

ingot_tensor *tensor_detach(ingot_tensor *t)
{
    if (t)
        unlink_tensor(t);
    return t;
}

/* The type that a caller's dtype and shape make; false with the error set when they are none. */
static bool public_type(ingot_context *ctx, ingot_dtype dt, ingot_ints shape, type *out)
{
    if (!context_ok(ctx))
        return false;
    if (shape.n > 0 && !shape.v)
        return fail(&ctx->err, INGOT_E_ARGUMENT, "tensor: the shape is NULL");
    if (shape.n < 0 || shape.n > MAX_RANK)
        return fail(&ctx->err, INGOT_E_SHAPE, "tensor: rank %d is outside [0, %d]", shape.n,
                    MAX_RANK);
    for (int i = 0; i < shape.n; i++)
        if (shape.v[i] < 0)
            return fail(&ctx->err, INGOT_E_SHAPE, "tensor: dimension %d is %" PRId64 ", negative",
                        i, shape.v[i]);
    *out = type_make(dt, shape.n, shape.v);
    return type_check(out, &ctx->err);
}

ingot_tensor *ingot_tensor_new(ingot_context *ctx, ingot_dtype dt, ingot_ints shape,
                               const void *data)
{
    ingot_tensor *h;
    type t;

    if (!public_type(ctx, dt, shape, &t))
        return NULL;
    h = tensor_alloc(ctx, &t);
    if (h && data && type_bytes(&t))
        memcpy(h->mem->data, data, type_bytes(&t));
    return h;
}

ingot_tensor *ingot_tensor_full(ingot_context *ctx, ingot_dtype dt, ingot_ints shape, double value)
{
    ingot_tensor *h = ingot_tensor_new(ctx, dt, shape, NULL);
    size_t size, bytes, done;
    unsigned char *p;

    bytes = h ? type_bytes(&h->type) : 0;
    if (bytes == 0 || (value == 0.0 && !signbit(value))) /* made as zeros; -0.0 is not one */
        return h;
    p = h->mem->data;
    size = dtype_size(dt);
    dtype_set_f64(dt, p, 0, value);
    for (done = size; done < bytes; done += size) { /* doubles what is there */
        size = done < bytes - done ? done : bytes - done;
        memcpy(p + done, p, size);
    }
    return h;
}

ingot_tensor *ingot_scalar(ingot_context *ctx, ingot_dtype dt, double value)
{
    return ingot_tensor_full(ctx, dt, (ingot_ints){NULL, 0}, value);
}

ingot_dtype ingot_tensor_dtype(const ingot_tensor *t)
{
    return t ? t->type.dt : INGOT_F32;
}

int ingot_tensor_rank(const ingot_tensor *t)
{
    return t ? t->type.rank : 0;
}

int64_t ingot_tensor_dim(const ingot_tensor *t, int axis)
{
    int rank = t ? t->type.rank : 0;

    if (!t)
        return 0;
    if (axis < -rank || axis >= rank) {
        fail(&t->ctx->err, INGOT_E_ARGUMENT, "ingot_tensor_dim: axis %d is outside [-%d, %d)", axis,
             rank, rank);
        return 0;
    }
    return t->type.dim[axis < 0 ? axis + rank : axis];
}

int64_t ingot_tensor_count(const ingot_tensor *t)
{
    return t ? type_count(&t->type) : 0;
}

void *ingot_tensor_data(ingot_tensor *t)
{
    if (!t)
        return NULL;
    if (!t->mem) {
        fail(&t->ctx->err, INGOT_E_STATE,
             "ingot_tensor_data: the tensor is symbolic: its graph is being traced");
        return NULL;
    }
    return t->mem->data;
}

double ingot_tensor_item(ingot_tensor *t, int64_t i)
{
    void *p = ingot_tensor_data(t);

    if (!p)
        return (double)NAN;
    if (i < 0 || i >= type_count(&t->type)) {
        fail(&t->ctx->err, INGOT_E_ARGUMENT,
             "ingot_tensor_item: element %" PRId64 " is outside [0, %" PRId64 ")", i,
             type_count(&t->type));
        return (double)NAN;
    }
    return dtype_get_f64(t->type.dt, p, i);
}
