/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/parameter.h"

ingot_parameter *ingot_parameter_new(ingot_context *ctx, const char *name, ingot_dtype dt,
                                     ingot_ints shape, const void *data, bool trainable)
{
    ingot_parameter *p;

    if (!context_ok(ctx))
        return NULL;
    if (!name || !*name) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "parameter: the name is empty");
        return NULL;
    }
    p = mem_new(&ctx->alloc, sizeof *p, "parameter", &ctx->err);
    if (!p)
        return NULL;
    p->ctx = ctx;
    p->trainable = trainable;
    p->name = mem_strdup(&ctx->alloc, name, &ctx->err);
    p->tensor = p->name ? tensor_detach(ingot_tensor_new(ctx, dt, shape, data)) : NULL;
    if (!p->tensor) {
        error_prefix(&ctx->err, "parameter '%s'", name);
        ingot_parameter_free(p);
        return NULL;
    }
    p->tensor->param = p;
    return p;
}

void ingot_parameter_free(ingot_parameter *p)
{
    if (!p)
        return;
    tensor_free(p->tensor);
    mem_strfree(&p->ctx->alloc, p->name);
    mem_free(&p->ctx->alloc, p, sizeof *p);
}

ingot_tensor *ingot_parameter_tensor(ingot_parameter *p)
{
    return p ? p->tensor : NULL;
}

const char *ingot_parameter_name(const ingot_parameter *p)
{
    return p ? p->name : "";
}

ingot_status ingot_parameter_rename(ingot_parameter *p, const char *name)
{
    char *copy;

    if (!p)
        return INGOT_E_ARGUMENT;
    if (!name || !*name) {
        fail(&p->ctx->err, INGOT_E_ARGUMENT, "parameter '%s': the new name is empty", p->name);
        return p->ctx->err.code;
    }
    copy = mem_strdup(&p->ctx->alloc, name, &p->ctx->err);
    if (!copy)
        return INGOT_E_MEMORY;
    mem_strfree(&p->ctx->alloc, p->name);
    p->name = copy;
    return INGOT_OK;
}

bool ingot_parameter_trainable(const ingot_parameter *p)
{
    return p && p->trainable;
}

void ingot_parameter_set_trainable(ingot_parameter *p, bool trainable)
{
    if (p)
        p->trainable = trainable;
}
