/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts the user's callback, which takes `user` last, behind the library's allocator. */
static void *user_alloc(void *user, void *ptr, size_t old_size, size_t new_size)
{
    const ingot_context_options *opt = user;

    return opt->alloc(ptr, old_size, new_size, opt->alloc_user);
}

static void log_stderr(const char *line, void *user)
{
    (void)user;
    (void)fprintf(stderr, "%s\n", line);
}

static const char *copy_option(ingot_context *ctx, const char *s)
{
    return s ? arena_strdup(&ctx->mem, s, &ctx->err) : NULL;
}

static bool check_options(ingot_context *ctx)
{
    const ingot_context_options *o = &ctx->opt;

    if (o->mode != INGOT_GRAPH && o->mode != INGOT_EAGER)
        return fail(&ctx->err, INGOT_E_ARGUMENT,
                    "context: mode %d is neither INGOT_GRAPH nor "
                    "INGOT_EAGER",
                    (int)o->mode);
    if (o->threads < 0 || o->threads > POOL_THREADS_MAX)
        return fail(&ctx->err, INGOT_E_ARGUMENT, "context: threads %d is outside [0, %d]",
                    o->threads, POOL_THREADS_MAX);
    return true;
}

ingot_context *context_new(const ingot_context_options *opt)
{
    ingot_context_options o = {0};
    allocator boot = allocator_libc;
    ingot_context *ctx;
    const char *env;

    if (opt)
        o = *opt;
    if (o.alloc)
        boot = (allocator){user_alloc, &o};
    ctx = mem_new(&boot, sizeof(*ctx), "a context", NULL);
    if (!ctx)
        return NULL;
    ctx->opt = o;
    ctx->alloc = o.alloc ? (allocator){user_alloc, &ctx->opt} : allocator_libc;
    arena_init(&ctx->mem, &ctx->alloc);
    ctx->scope = &ctx->root;
    ctx->opt.isa = copy_option(ctx, o.isa);
    ctx->opt.save_graphs = copy_option(ctx, o.save_graphs);
    ctx->opt.passes_off = copy_option(ctx, o.passes_off);
    env = getenv("INGOT_LOG");
    ctx->log = o.log ? o.log : env && *env ? log_stderr : NULL;
    ctx->log_user = o.log_user;
    check_options(ctx);
    return ctx;
}

static void free_tensors(scope *s)
{
    while (s->tensors)
        tensor_free(s->tensors);
}

void context_free(ingot_context *ctx)
{
    ingot_context_options o;
    allocator boot = allocator_libc;

    if (!ctx)
        return;
    ctx->lost_scopes = 0;
    while (ctx->scope != &ctx->root)
        ingot_scope_end(ctx);
    free_tensors(&ctx->root);
    pool_free(ctx->pool);
    arena_free(&ctx->mem);
    o = ctx->opt; /* outlives the context, for the call that frees it */
    if (o.alloc)
        boot = (allocator){user_alloc, &o};
    mem_free(&boot, ctx, sizeof(*ctx));
}

bool context_ok(const ingot_context *ctx)
{
    return ctx && ctx->err.code == INGOT_OK;
}

void context_log(ingot_context *ctx, const char *fmt, ...)
{
    char line[1024];
    va_list args;

    if (!ctx || !ctx->log)
        return;
    va_start(args, fmt);
    if (vsnprintf(line, sizeof(line), fmt, args) < 0)
        line[0] = '\0';
    va_end(args);
    ctx->log(line, ctx->log_user);
}

ingot_status ingot_error(const ingot_context *ctx)
{
    return ctx ? ctx->err.code : INGOT_E_MEMORY;
}

const char *ingot_error_text(const ingot_context *ctx)
{
    return ctx ? ctx->err.text : "out of memory: no context";
}

void ingot_clear_error(ingot_context *ctx)
{
    if (ctx)
        error_clear(&ctx->err);
}

ingot_status ingot_set_error(ingot_context *ctx, ingot_status s, const char *fmt, ...)
{
    char text[ERROR_TEXT];
    va_list args;

    if (!ctx || s == INGOT_OK)
        return s;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    fail(&ctx->err, s, "%s", text);
    return s;
}

/* A begin that finds no memory is counted, so that its end does not free the outer scope. */
void ingot_scope_begin(ingot_context *ctx)
{
    scope *s;

    if (!ctx)
        return;
    s = ctx->lost_scopes ? NULL : mem_new(&ctx->alloc, sizeof(*s), "a scope", &ctx->err);
    if (!s) {
        ctx->lost_scopes++;
        return;
    }
    s->outer = ctx->scope;
    ctx->scope = s;
}

void ingot_scope_end(ingot_context *ctx)
{
    scope *s;

    if (!ctx)
        return;
    if (ctx->lost_scopes) {
        ctx->lost_scopes--;
        return;
    }
    s = ctx->scope;
    if (s == &ctx->root) {
        fail(&ctx->err, INGOT_E_STATE, "ingot_scope_end: no scope was begun");
        return;
    }
    free_tensors(s);
    ctx->scope = s->outer;
    mem_free(&ctx->alloc, s, sizeof(*s));
}

int ingot_threads(const ingot_context *ctx)
{
    return ctx ? pool_threads(ctx->pool) : 0;
}

ingot_mode ingot_context_mode(const ingot_context *ctx)
{
    return ctx ? ctx->opt.mode : INGOT_GRAPH;
}

uint64_t ingot_seed(const ingot_context *ctx)
{
    return ctx ? ctx->opt.seed : 0;
}
