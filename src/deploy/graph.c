/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs to look at. */
#include "deploy/graph_view.h"
#include "deploy/model_file.h"
#include "runtime/engine.h"

#include <string.h>

struct ingot_graph {
    ingot_context *ctx;
    graph *g;
    buffer text, dot;
    buffer memory; /* of a compiled graph, else empty */
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

static ingot_graph *view_new(ingot_context *ctx)
{
    ingot_graph *view = mem_new(&ctx->alloc, sizeof *view, "graph", &ctx->err);

    if (!view)
        return NULL;
    view->ctx = ctx;
    buffer_init(&view->text, &ctx->alloc, 0);
    buffer_init(&view->dot, &ctx->alloc, 0);
    buffer_init(&view->memory, &ctx->alloc, 0);
    return view;
}

/* The view, once it has a graph that verifies; else NULL, and it is freed. */
static ingot_graph *view_finish(ingot_graph *view)
{
    error *e = &view->ctx->err;

    if (view->g && graph_verify(view->g, e) && graph_print(view->g, &view->text, e) &&
        graph_dot(view->g, &view->dot, e))
        return view;
    ingot_graph_free(view);
    return NULL;
}

ingot_graph *ingot_graph_load(ingot_context *ctx, const char *path)
{
    ingot_graph *view = context_ok(ctx) ? view_new(ctx) : NULL;

    if (!view)
        return NULL;
    view->g = read_graph(ctx, path, &ctx->err);
    return view_finish(view);
}

typedef struct keeper {
    ingot_graph *view;
    const char *pass; /* whose graph is kept */
} keeper;

static bool keep_after(void *user, const char *pass, const graph *g, error *e)
{
    keeper *k = user;

    if (strcmp(pass, k->pass) != 0)
        return true;
    k->view->g = graph_clone(g, e);
    return k->view->g != NULL;
}

static bool has_effects(const graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        if (node_class(g->nodes[i]) == OP_EFFECT)
            return true;
    return false;
}

ingot_graph *ingot_graph_compile(const ingot_graph *from, const ingot_graph_compile_options *opt)
{
    const ingot_graph_compile_options o = opt ? *opt : (ingot_graph_compile_options){0};
    ingot_context *ctx = from ? from->ctx : NULL;
    ingot_graph *view = context_ok(ctx) ? view_new(ctx) : NULL;
    keeper k = {view, o.after ? o.after : "tidy"};
    program_options po = {.after = keep_after, .after_user = &k};
    program *p = NULL;
    graph *bound = NULL;

    if (!view)
        return NULL;
    if (o.batch < 0)
        fail(&ctx->err, INGOT_E_ARGUMENT, "batch: %lld is below 1", (long long)o.batch);
    else if (passes_name_check(k.pass, &ctx->err))
        bound = graph_bind(from->g, o.batch ? o.batch : 1, &ctx->err);
    if (bound) {
        po.fixed_params = !has_effects(bound);
        p = program_new(ctx->engine, bound, &po, &ctx->err);
    }
    if (p && !view->g)
        fail(&ctx->err, INGOT_E_ARGUMENT, "no graph after pass '%s': passes_off leaves it out",
             k.pass);
    if (!p || !view->g || !memory_report(p, &view->memory, &ctx->err)) {
        graph_free(view->g);
        view->g = NULL;
    }
    program_free(p);
    graph_free(bound);
    return view_finish(view);
}

void ingot_graph_free(ingot_graph *view)
{
    if (!view)
        return;
    graph_free(view->g);
    buffer_free(&view->text);
    buffer_free(&view->dot);
    buffer_free(&view->memory);
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

const char *ingot_graph_memory(const ingot_graph *view)
{
    return view ? view->memory.data : NULL;
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
