/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs to look at. */
#include "deploy/model_file.h"
#include "runtime/engine.h"

#include <string.h>

struct ingot_graph {
    ingot_context *ctx;
    graph *g;
    buffer text, dot;
};

/* A safetensors file begins with the length of its header, which begins with a brace. */
static bool is_model(const file_map *m)
{
    return m->size > 8 && m->data[8] == '{' && (m->data[6] | m->data[7]) == 0;
}

static graph *read_graph(ingot_context *ctx, const char *path, error *e)
{
    safetensors file = {0};
    file_map map;
    graph *g = NULL;

    if (!file_map_open(&map, path, e))
        return NULL;
    if (!is_model(&map))
        g = graph_parse(&ctx->alloc, ctx->engine->ops, (const char *)map.data, map.size, e);
    else if (safetensors_parse(&file, &ctx->alloc, map.data, map.size, e) &&
             safetensors_verify(&file, e))
        g = model_graph(&file, &ctx->alloc, ctx->engine->ops, e);
    if (!g && !strstr(e->text, path))
        error_prefix(e, "%s", path);
    safetensors_close(&file);
    file_map_close(&map);
    return g;
}

ingot_graph *ingot_graph_load(ingot_context *ctx, const char *path)
{
    ingot_graph *view;

    if (!context_ok(ctx))
        return NULL;
    view = mem_new(&ctx->alloc, sizeof *view, "graph", &ctx->err);
    if (!view)
        return NULL;
    view->ctx = ctx;
    buffer_init(&view->text, &ctx->alloc, 0);
    buffer_init(&view->dot, &ctx->alloc, 0);
    view->g = read_graph(ctx, path, &ctx->err);
    if (!view->g || !graph_verify(view->g, &ctx->err) ||
        !graph_print(view->g, &view->text, &ctx->err) ||
        !graph_dot(view->g, &view->dot, &ctx->err)) {
        ingot_graph_free(view);
        return NULL;
    }
    return view;
}

void ingot_graph_free(ingot_graph *view)
{
    if (!view)
        return;
    graph_free(view->g);
    buffer_free(&view->text);
    buffer_free(&view->dot);
    mem_free(&view->ctx->alloc, view, sizeof *view);
}

const char *ingot_graph_text(const ingot_graph *view)
{
    return view ? view->text.data : NULL;
}

const char *ingot_graph_dot(const ingot_graph *view)
{
    return view ? view->dot.data : NULL;
}

int64_t ingot_graph_op_count(const ingot_graph *view)
{
    int64_t n = 0;

    for (size_t i = 0; view && i < view->g->n_nodes; i++)
        n += view->g->nodes[i]->form == NODE_OP || view->g->nodes[i]->form == NODE_FUSED;
    return n;
}

int64_t ingot_graph_parameter_count(const ingot_graph *view)
{
    int64_t n = 0;

    for (size_t i = 0; view && i < view->g->n_params; i++)
        n += type_count(&view->g->params[i]->out[0].type);
    return n;
}
