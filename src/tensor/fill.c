/* SPDX-License-Identifier: Apache-2.0 */
/* Random fills, and the context's allocator for user code. */
#include "base/hash.h"
#include "tensor/context.h"

#include <math.h>
#include <string.h>

/* Sets these keys apart from the steps', which are children of the seed by their number. */
#define FILL_DOMAIN UINT64_C(0x66696c6c00000000) /* "fill" */

typedef struct draw {
    rng_key key;
    double a, b, cut; /* cut: truncated normal alone */
} draw;

typedef double (*draw_fn)(const draw *d, uint64_t i);

uint64_t ingot_stream(const char *name)
{
    return name ? hash_bytes(name, strlen(name), 0) : 0;
}

static double draw_uniform(const draw *d, uint64_t i)
{
    return d->a + (d->b - d->a) * (double)rng_uniform(d->key, i);
}

static double draw_normal(const draw *d, uint64_t i)
{
    return d->a + d->b * rng_normal(d->key, i);
}

/* Each attempt has its own key, so that an element never depends on its neighbours' attempts. */
static double draw_truncated(const draw *d, uint64_t i)
{
    double z;
    uint64_t attempt = 0;

    do
        z = rng_normal(rng_split(d->key, attempt++), i);
    while (fabs(z) > d->cut);
    return d->a + d->b * z;
}

static bool check(ingot_context *ctx, const ingot_tensor *t, const draw *d)
{
    if (!t)
        return fail(&ctx->err, INGOT_E_ARGUMENT, "fill: the tensor is NULL");
    if (!t->mem)
        return fail(&ctx->err, INGOT_E_STATE, "fill: the tensor is symbolic");
    if (t->type.dt != INGOT_F32 && t->type.dt != INGOT_F64)
        return fail(&ctx->err, INGOT_E_DTYPE, "fill: the tensor is %s, f32 or f64 is needed",
                    dtype_name(t->type.dt));
    if (!isfinite(d->a) || !isfinite(d->b))
        return fail(&ctx->err, INGOT_E_ARGUMENT, "fill: %g and %g are to be finite", d->a, d->b);
    return true;
}

static ingot_status fill(ingot_context *ctx, ingot_tensor *t, uint64_t stream, draw d, draw_fn fn)
{
    int64_t n;

    if (!context_ok(ctx))
        return ingot_error(ctx);
    if (!check(ctx, t, &d))
        return ctx->err.code;
    d.key = rng_split(rng_split(rng_seed(ctx->opt.seed), FILL_DOMAIN), stream);
    n = type_count(&t->type);
    for (int64_t i = 0; i < n; i++)
        dtype_set_f64(t->type.dt, t->mem->data, i, fn(&d, (uint64_t)i));
    return INGOT_OK;
}

ingot_status ingot_fill_uniform(ingot_context *ctx, ingot_tensor *t, uint64_t stream, double low,
                                double high)
{
    if (context_ok(ctx) && !(low <= high))
        fail(&ctx->err, INGOT_E_ARGUMENT, "fill: low %g is above high %g", low, high);
    return fill(ctx, t, stream, (draw){.a = low, .b = high}, draw_uniform);
}

ingot_status ingot_fill_normal(ingot_context *ctx, ingot_tensor *t, uint64_t stream, double mean,
                               double std)
{
    if (context_ok(ctx) && !(std >= 0.0))
        fail(&ctx->err, INGOT_E_ARGUMENT, "fill: standard deviation %g is negative", std);
    return fill(ctx, t, stream, (draw){.a = mean, .b = std}, draw_normal);
}

ingot_status ingot_fill_truncated_normal(ingot_context *ctx, ingot_tensor *t, uint64_t stream,
                                         double mean, double std, double cut)
{
    if (context_ok(ctx) && !(std >= 0.0 && cut >= 0.1))
        fail(&ctx->err, INGOT_E_ARGUMENT,
             "fill: standard deviation %g is negative, or cut %g below 0.1", std, cut);
    return fill(ctx, t, stream, (draw){.a = mean, .b = std, .cut = cut}, draw_truncated);
}

/* The size stands before the memory: the allocator wants it back. 16 bytes keep the alignment. */
#define ALLOC_HEADER 16

void *ingot_alloc(ingot_context *ctx, size_t size)
{
    unsigned char *p;
    size_t all;

    if (!ctx)
        return NULL;
    if (!size_add(size, ALLOC_HEADER, &all)) {
        fail(&ctx->err, INGOT_E_MEMORY, "out of memory: %zu bytes for user code", size);
        return NULL;
    }
    p = mem_new(&ctx->alloc, all, "user code", &ctx->err);
    if (!p)
        return NULL;
    memcpy(p, &all, sizeof all);
    return p + ALLOC_HEADER;
}

void ingot_free(ingot_context *ctx, void *p)
{
    unsigned char *base = p;
    size_t all;

    if (!ctx || !p)
        return;
    base -= ALLOC_HEADER;
    memcpy(&all, base, sizeof all);
    mem_free(&ctx->alloc, base, all);
}
