/* SPDX-License-Identifier: Apache-2.0 */
/* A net as a file. */
#include "deploy/model_file.h"
#include "runtime/function.h"
#include "runtime/parameter.h"

#include <inttypes.h>
#include <string.h>

#define META_ENTRIES 4

static int construct(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                     int max_out, void *user)
{
    (void)ctx;
    (void)n_in;
    (void)max_out;
    out[0] = ingot_cell_call(user, in[0]);
    return out[0] ? 1 : -1;
}

/* The net as it behaves outside training. */
static trace *trace_net(ingot_context *ctx, ingot_cell *net, const type *in,
                        const ingot_export_options *opt)
{
    const char *input = opt && opt->input_name ? opt->input_name : "input";
    const char *output = opt && opt->output_name ? opt->output_name : "output";
    bool training = ingot_training(ctx);
    trace *t;

    ingot_set_training(ctx, false);
    t = function_trace(ctx, opt && opt->name ? opt->name : "main", construct, net, in, 1, &input,
                       &output);
    ingot_set_training(ctx, training);
    return t;
}

static bool collect(const trace *t, safetensors_item *items, error *e)
{
    if (t->n_implicit)
        return fail(e, INGOT_E_UNSUPPORTED,
                    "export: the net draws random numbers or reads the step outside training");
    for (size_t i = 0; i < t->n_params; i++) {
        ingot_parameter *p = t->params[i];

        items[i] = (safetensors_item){
            .name = p->name, .type = p->tensor->type, .data = ingot_tensor_data(p->tensor)};
    }
    safetensors_sort(items, t->n_params);
    return true;
}

static bool facts(arena *mem, const ingot_export_options *opt, safetensors_meta *meta, size_t *n,
                  error *e)
{
    if (opt && opt->n_classes != 0) {
        const char *text = facts_classes_text(mem, opt->class_names, opt->n_classes, e);

        if (!text)
            return false;
        meta[(*n)++] = (safetensors_meta){META_CLASSES, text};
    }
    if (opt && opt->image && opt->image->channels) {
        const char *text = facts_image_text(mem, opt->image, e);

        if (!text)
            return false;
        meta[(*n)++] = (safetensors_meta){META_IMAGE, text};
    }
    return true;
}

static bool write_model(const trace *t, const char *path, const ingot_export_options *opt, error *e)
{
    const allocator *a = t->g->alloc;
    size_t n_meta = 2, bytes = (t->n_params + 1) * sizeof(safetensors_item);
    safetensors_item *items = mem_new(a, bytes, "export", e);
    safetensors_meta meta[META_ENTRIES];
    arena mem;
    buffer text;
    bool ok;

    arena_init(&mem, a);
    buffer_init(&text, a, 0);
    ok = items && collect(t, items, e) && graph_print(t->g, &text, e);
    if (ok) {
        meta[0] = (safetensors_meta){META_VERSION, INGOT_VERSION};
        meta[1] = (safetensors_meta){META_GRAPH, text.data};
        ok = facts(&mem, opt, meta, &n_meta, e) &&
             safetensors_write(path, a, items, t->n_params, meta, n_meta, e);
    }
    buffer_free(&text);
    arena_free(&mem);
    mem_free(a, items, bytes);
    return ok;
}

ingot_status ingot_export(ingot_context *ctx, ingot_cell *net, ingot_dtype dt, ingot_ints shape,
                          const char *path, const ingot_export_options *opt)
{
    type in = {.dt = dt, .rank = shape.n + 1, .dim = {DIM_SYM}};
    trace *t;

    if (!ctx)
        return INGOT_E_ARGUMENT;
    if (!context_ok(ctx))
        return ctx->err.code;
    if (!net || !path || shape.n < 0 || shape.n >= MAX_RANK) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "export: %s",
             !net    ? "net is NULL"
             : !path ? "path is NULL"
                     : "the shape's rank is too large");
        return ctx->err.code;
    }
    for (int i = 0; i < shape.n; i++) {
        if (shape.v[i] < 0) { /* -1 would be a second batch */
            fail(&ctx->err, INGOT_E_ARGUMENT,
                 "export: dimension %d of the shape is %" PRId64 "; 0 or more is needed", i,
                 shape.v[i]);
            return ctx->err.code;
        }
        in.dim[i + 1] = shape.v[i];
    }
    t = trace_net(ctx, net, &in, opt);
    if (t)
        write_model(t, path, opt, &ctx->err);
    trace_free(t);
    return ctx->err.code;
}
