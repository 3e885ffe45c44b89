/* SPDX-License-Identifier: Apache-2.0 */
/* Running model files. */
#include "deploy/model_file.h"
#include "runtime/program.h"

#include <inttypes.h>
#include <string.h>

/* A program for one batch size, with its graph's memory. */
typedef struct compiled {
    int64_t batch;
    program *prog;
    struct compiled *next;
} compiled;

struct ingot_session {
    ingot_context *ctx;
    safetensors file;
    arena mem;
    graph *g;
    model_facts facts;
    const void **weights; /* by slot of g's params, aligned for their dtype */
    compiled *cache;
};

/* A weight's bytes in the mapping, or a copy where the file does not align them. */
static const void *weight(ingot_session *s, const node *param, error *e)
{
    const safetensors_entry *entry = safetensors_find(&s->file, param->name);
    const type *want = &param->out[0].type;
    char text[TYPE_TEXT];

    if (!entry) {
        fail(e, INGOT_E_FORMAT, "the graph's parameter \"%s\" is not in the file", param->name);
        return NULL;
    }
    if (!entry->known || !type_equal(&entry->type, want)) {
        fail(e, INGOT_E_FORMAT, "parameter \"%s\" is no %s in the file", param->name,
             type_text(want, text));
        return NULL;
    }
    if ((uintptr_t)entry->data % dtype_size(want->dt) == 0)
        return entry->data;
    return arena_copy(&s->mem, entry->data, entry->bytes, e);
}

static bool bind_weights(ingot_session *s, error *e)
{
    s->weights = arena_array(&s->mem, s->g->n_params + 1, sizeof *s->weights, e);
    if (!s->weights)
        return false;
    for (size_t i = 0; i < s->g->n_params; i++) {
        if (!s->g->params[i]->name)
            return fail(e, INGOT_E_FORMAT, "parameter %zu of the graph has no name", i);
        s->weights[i] = weight(s, s->g->params[i], e);
        if (!s->weights[i])
            return false;
    }
    return true;
}

/* A session runs what depends on its inputs and weights alone, and leaves the weights alone. */
static bool check_graph(const graph *g, error *e)
{
    if (g->n_outputs == 0 || g->n_outputs > INGOT_MAX_OUTPUTS || g->n_inputs > INGOT_MAX_OUTPUTS)
        return fail(e, INGOT_E_FORMAT, "the graph has %zu inputs and %zu outputs", g->n_inputs,
                    g->n_outputs);
    for (size_t i = 0; i < g->n_nodes; i++)
        if (node_class(g->nodes[i]) == OP_EFFECT)
            return fail(e, INGOT_E_UNSUPPORTED,
                        "the graph changes its parameters: no model to run");
    return true;
}

static bool load(ingot_session *s, const char *path, error *e)
{
    return safetensors_open(&s->file, &s->ctx->alloc, path, e) && safetensors_verify(&s->file, e) &&
           (s->g = model_graph(&s->file, &s->ctx->alloc, s->ctx->engine->ops, e)) != NULL &&
           check_graph(s->g, e) && facts_read(&s->facts, &s->mem, &s->file, e) &&
           bind_weights(s, e);
}

ingot_session *ingot_session_load(ingot_context *ctx, const char *path)
{
    ingot_session *s;

    if (!context_ok(ctx))
        return NULL;
    s = mem_new(&ctx->alloc, sizeof *s, "session", &ctx->err);
    if (!s)
        return NULL;
    s->ctx = ctx;
    arena_init(&s->mem, &ctx->alloc);
    if (!load(s, path, &ctx->err)) {
        if (!strstr(ctx->err.text, path))
            error_prefix(&ctx->err, "%s", path);
        ingot_session_free(s);
        return NULL;
    }
    return s;
}

void ingot_session_free(ingot_session *s)
{
    if (!s)
        return;
    for (compiled *c = s->cache, *next; c; c = next) {
        next = c->next;
        program_free(c->prog);
        mem_free(&s->ctx->alloc, c, sizeof *c);
    }
    graph_free(s->g);
    arena_free(&s->mem);
    safetensors_close(&s->file);
    mem_free(&s->ctx->alloc, s, sizeof *s);
}

/* --- facts
 * ------------------------------------------------------------------------------------------ */

static const node *input_at(const ingot_session *s, int i)
{
    return s && i >= 0 && (size_t)i < s->g->n_inputs ? s->g->inputs[i] : NULL;
}

static const value *output_at(const ingot_session *s, int i)
{
    return s && i >= 0 && (size_t)i < s->g->n_outputs ? s->g->outputs[i] : NULL;
}

static int64_t dim_of(const type *t, int axis)
{
    axis = axis < 0 ? axis + t->rank : axis;
    return axis >= 0 && axis < t->rank ? t->dim[axis] : 0;
}

int ingot_session_input_count(const ingot_session *s)
{
    return s ? (int)s->g->n_inputs : 0;
}

const char *ingot_session_input_name(const ingot_session *s, int i)
{
    const node *n = input_at(s, i);

    return n ? n->name : NULL;
}

ingot_dtype ingot_session_input_dtype(const ingot_session *s, int i)
{
    const node *n = input_at(s, i);

    return n ? n->out[0].type.dt : INGOT_F32;
}

int ingot_session_input_rank(const ingot_session *s, int i)
{
    const node *n = input_at(s, i);

    return n ? n->out[0].type.rank : 0;
}

int64_t ingot_session_input_dim(const ingot_session *s, int i, int axis)
{
    const node *n = input_at(s, i);

    return n ? dim_of(&n->out[0].type, axis) : 0;
}

int ingot_session_output_count(const ingot_session *s)
{
    return s ? (int)s->g->n_outputs : 0;
}

const char *ingot_session_output_name(const ingot_session *s, int i)
{
    return output_at(s, i) ? s->g->output_names[i] : NULL;
}

ingot_dtype ingot_session_output_dtype(const ingot_session *s, int i)
{
    const value *v = output_at(s, i);

    return v ? v->type.dt : INGOT_F32;
}

int ingot_session_output_rank(const ingot_session *s, int i)
{
    const value *v = output_at(s, i);

    return v ? v->type.rank : 0;
}

int64_t ingot_session_output_dim(const ingot_session *s, int i, int axis)
{
    const value *v = output_at(s, i);

    return v ? dim_of(&v->type, axis) : 0;
}

int ingot_session_class_count(const ingot_session *s)
{
    return s ? s->facts.n_classes : 0;
}

const char *ingot_session_class_name(const ingot_session *s, int i)
{
    return s && i >= 0 && i < s->facts.n_classes ? s->facts.classes[i] : NULL;
}

const ingot_image_facts *ingot_session_image(const ingot_session *s)
{
    return s ? &s->facts.image : NULL;
}

const char *ingot_session_meta(const ingot_session *s, const char *key)
{
    return s && key ? safetensors_meta_find(&s->file, key) : NULL;
}

/* --- running
 * ---------------------------------------------------------------------------------------- */

/* Whether got is what the graph's input says, but for the batch. */
static bool match(const type *want, const type *got)
{
    if (want->dt != got->dt || want->rank != got->rank)
        return false;
    for (int i = 0; i < want->rank; i++)
        if (want->dim[i] != DIM_SYM && want->dim[i] != got->dim[i])
            return false;
    return true;
}

/* One batch size for all inputs; -1 = not known yet. */
static bool same_batch(const node *n, const type *got, int64_t *batch, error *e)
{
    const type *want = &n->out[0].type;

    for (int i = 0; i < want->rank; i++) {
        if (want->dim[i] != DIM_SYM)
            continue;
        if (*batch >= 0 && *batch != got->dim[i])
            return fail(e, INGOT_E_SHAPE,
                        "session: input \"%s\" has a batch of %" PRId64
                        ", what was given before it one of %" PRId64,
                        n->name, got->dim[i], *batch);
        *batch = got->dim[i];
    }
    return true;
}

static bool check_inputs(ingot_session *s, ingot_tensor *const *in, int n_in, void **data,
                         int64_t *batch)
{
    error *e = &s->ctx->err;

    if ((size_t)n_in != s->g->n_inputs)
        return fail(e, INGOT_E_ARGUMENT, "session: %d inputs given, the model has %zu", n_in,
                    s->g->n_inputs);
    for (int i = 0; i < n_in; i++) {
        const node *n = s->g->inputs[i];
        char want[TYPE_TEXT], got[TYPE_TEXT];

        if (!in[i])
            return fail(e, INGOT_E_ARGUMENT, "session: input \"%s\" is NULL", n->name);
        if (!match(&n->out[0].type, &in[i]->type))
            return fail(e, INGOT_E_SHAPE, "session: input \"%s\" is %s; the model takes %s",
                        n->name, type_text(&in[i]->type, got), type_text(&n->out[0].type, want));
        if (!same_batch(n, &in[i]->type, batch, e))
            return false;
        data[i] = ingot_tensor_data(in[i]);
        if (!data[i])
            return false;
    }
    return true;
}

static program *compile(ingot_session *s, int64_t batch)
{
    error *e = &s->ctx->err;
    compiled *c;
    graph *bound;

    for (c = s->cache; c; c = c->next)
        if (c->batch == batch)
            return c->prog;
    c = mem_new(&s->ctx->alloc, sizeof *c, "session", e);
    if (!c)
        return NULL;
    bound = graph_bind(s->g, batch < 0 ? 1 : batch, e);
    c->batch = batch;
    c->prog = bound
                  ? program_new(s->ctx->engine, bound, &(program_options){.fixed_params = true}, e)
                  : NULL;
    graph_free(bound);
    if (!c->prog) {
        mem_free(&s->ctx->alloc, c, sizeof *c);
        return NULL;
    }
    for (size_t i = 0; i < s->g->n_params; i++)
        program_bind_param(c->prog, i, (void *)(uintptr_t)s->weights[i]); /* never written to */
    c->next = s->cache;
    s->cache = c;
    return c->prog;
}

static bool make_outputs(ingot_session *s, const program *p, ingot_tensor **out, int n_out,
                         void **data)
{
    const graph *g = program_graph(p);

    if ((size_t)n_out != g->n_outputs)
        return fail(&s->ctx->err, INGOT_E_ARGUMENT,
                    "session: room for %d outputs, the model has %zu", n_out, g->n_outputs);
    for (int i = 0; i < n_out; i++) {
        out[i] = tensor_alloc(s->ctx, &g->outputs[i]->type);
        if (!out[i])
            return false;
        data[i] = ingot_tensor_data(out[i]);
    }
    return true;
}

ingot_status ingot_session_run(ingot_session *s, ingot_tensor *const *in, int n_in,
                               ingot_tensor **out, int n_out)
{
    void *inputs[INGOT_MAX_OUTPUTS], *outputs[INGOT_MAX_OUTPUTS];
    int64_t batch = -1;
    program *p;

    if (!s)
        return INGOT_E_ARGUMENT;
    if (!context_ok(s->ctx) || !check_inputs(s, in, n_in, inputs, &batch))
        return s->ctx->err.code;
    p = compile(s, batch);
    if (p && make_outputs(s, p, out, n_out, outputs))
        program_run(p, inputs, outputs, &s->ctx->err);
    return s->ctx->err.code;
}
