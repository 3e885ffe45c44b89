/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/function.h"

#include "runtime/parameter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_INPUTS 64

/* One compiled form: for these input types, in training or not. */
typedef struct compiled {
    type types[MAX_INPUTS];
    int n_in;
    bool training;
    trace *trace; /* keeps parameters and implicit inputs; its graph is the source */
    program *prog;
    void **inputs; /* of the graph: explicit, then implicit, then as used */
    void **outputs;
    size_t n_inputs, n_outputs;
    struct compiled *next;
} compiled;

struct ingot_function {
    ingot_context *ctx;
    ingot_construct_fn fn;
    void *user;
    char *name;
    arena mem;
    const char *const *input_names;
    const char *const *output_names;
    compiled *cache;
    const program *last;
};

/* --- tracing ------------------------------------------------------------------------------------
 */

static bool trace_body(trace *t, ingot_construct_fn fn, void *user, const type *types, int n_in,
                       const char *const *input_names, const char *const *output_names)
{
    ingot_context *ctx = t->eng->ctx;
    ingot_tensor *in[MAX_INPUTS], *out[INGOT_MAX_OUTPUTS] = {0};
    int n_out;

    for (int i = 0; i < n_in; i++) {
        char fallback[32];

        (void)snprintf(fallback, sizeof fallback, "input%d", i);
        in[i] = trace_handles(
            t,
            ir_input(&t->b, input_names && input_names[i] ? input_names[i] : fallback, &types[i]));
        if (!in[i])
            return false;
    }
    n_out = fn(ctx, in, n_in, out, INGOT_MAX_OUTPUTS, user);
    if (ctx->err.code != INGOT_OK)
        return false;
    if (n_out < 0 || n_out > INGOT_MAX_OUTPUTS)
        return fail(&ctx->err, INGOT_E_ARGUMENT,
                    "function '%s': construct returned %d outputs, allowed are 0 to %d", t->g->name,
                    n_out, INGOT_MAX_OUTPUTS);
    for (int i = 0; i < n_out; i++) {
        value *v;

        if (!out[i])
            return fail(&ctx->err, INGOT_E_ARGUMENT, "function '%s': output %d is NULL", t->g->name,
                        i);
        v = trace_value(t, out[i]);
        if (!v || !graph_output(t->g, v, output_names ? output_names[i] : NULL, &ctx->err))
            return false;
    }
    return true;
}

trace *function_trace(ingot_context *ctx, const char *name, ingot_construct_fn fn, void *user,
                      const type *types, int n_in, const char *const *input_names,
                      const char *const *output_names)
{
    engine *eng = engine_of(ctx);
    trace *t;
    bool ok;

    if (!eng)
        return NULL;
    if (eng->trace) {
        fail(&ctx->err, INGOT_E_STATE, "function '%s': called while a graph is being traced", name);
        return NULL;
    }
    if (n_in < 0 || n_in > MAX_INPUTS) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "function '%s': %d inputs, at most %d", name, n_in,
             MAX_INPUTS);
        return NULL;
    }
    t = trace_new(eng, name, false);
    if (!t)
        return NULL;
    eng->trace = t;
    ingot_scope_begin(ctx);
    ok = trace_body(t, fn, user, types, n_in, input_names, output_names);
    ingot_scope_end(ctx);
    eng->trace = NULL;
    if (!ok) {
        trace_free(t);
        return NULL;
    }
    return t;
}

/* --- functions ----------------------------------------------------------------------------------
 */

static bool copy_names(ingot_function *f, const ingot_function_options *opt)
{
    f->input_names = opt ? opt->input_names : NULL;
    f->output_names = opt ? opt->output_names : NULL;
    f->name = mem_strdup(&f->ctx->alloc, opt && opt->name ? opt->name : "main", &f->ctx->err);
    return f->name != NULL;
}

ingot_function *ingot_function_new(ingot_context *ctx, ingot_construct_fn fn, void *user,
                                   const ingot_function_options *opt)
{
    ingot_function *f;

    if (!context_ok(ctx))
        return NULL;
    if (!fn) {
        fail(&ctx->err, INGOT_E_ARGUMENT, "function: construct is NULL");
        return NULL;
    }
    f = mem_new(&ctx->alloc, sizeof *f, "function", &ctx->err);
    if (!f)
        return NULL;
    f->ctx = ctx;
    f->fn = fn;
    f->user = user;
    arena_init(&f->mem, &ctx->alloc);
    if (!copy_names(f, opt)) {
        ingot_function_free(f);
        return NULL;
    }
    return f;
}

static void compiled_free(ingot_function *f, compiled *c)
{
    const allocator *a = &f->ctx->alloc;

    for (size_t i = 0; c->trace && i < c->trace->n_implicit; i++)
        mem_free(a, c->inputs ? c->inputs[c->trace->implicit[i].input] : NULL, 16);
    program_free(c->prog);
    trace_free(c->trace);
    mem_free(a, c->inputs, (c->n_inputs + 1) * sizeof *c->inputs);
    mem_free(a, c->outputs, (c->n_outputs + 1) * sizeof *c->outputs);
    mem_free(a, c, sizeof *c);
}

void ingot_function_free(ingot_function *f)
{
    if (!f)
        return;
    while (f->cache) {
        compiled *c = f->cache;

        f->cache = c->next;
        compiled_free(f, c);
    }
    arena_free(&f->mem);
    mem_strfree(&f->ctx->alloc, f->name);
    mem_free(&f->ctx->alloc, f, sizeof *f);
}

static bool compile(ingot_function *f, compiled *c)
{
    ingot_context *ctx = f->ctx;
    trace *t = function_trace(ctx, f->name, f->fn, f->user, c->types, c->n_in, f->input_names,
                              f->output_names);

    if (!t)
        return false;
    c->trace = t;
    c->prog = program_new(ctx->engine, t->g, NULL, &ctx->err);
    if (!c->prog)
        return false;
    for (size_t i = 0; i < t->n_params; i++)
        program_bind_param(c->prog, i, t->params[i]->tensor->mem->data);
    c->n_inputs = t->g->n_inputs;
    c->n_outputs = t->g->n_outputs;
    c->inputs =
        mem_new_array(&ctx->alloc, c->n_inputs + 1, sizeof *c->inputs, "function", &ctx->err);
    c->outputs =
        mem_new_array(&ctx->alloc, c->n_outputs + 1, sizeof *c->outputs, "function", &ctx->err);
    if (!c->inputs || !c->outputs)
        return false;
    for (size_t i = 0; i < t->n_implicit; i++) {
        void **slot = &c->inputs[t->implicit[i].input];

        *slot = mem_new(&ctx->alloc, 16, "function", &ctx->err);
        if (!*slot)
            return false;
    }
    return true;
}

/* The compiled form for these inputs, made when there is none yet. */
static compiled *find_compiled(ingot_function *f, ingot_tensor *const *in, int n_in)
{
    ingot_context *ctx = f->ctx;
    bool training = ctx->engine->training;
    compiled *c;

    for (c = f->cache; c; c = c->next) {
        bool same = c->n_in == n_in && c->training == training;

        for (int i = 0; same && i < n_in; i++)
            same = type_equal(&c->types[i], &in[i]->type);
        if (same)
            return c;
    }
    c = mem_new(&ctx->alloc, sizeof *c, "function", &ctx->err);
    if (!c)
        return NULL;
    c->n_in = n_in;
    c->training = training;
    for (int i = 0; i < n_in; i++)
        c->types[i] = in[i]->type;
    if (!compile(f, c)) {
        compiled_free(f, c);
        return NULL;
    }
    c->next = f->cache;
    f->cache = c;
    return c;
}

static bool check_inputs(ingot_function *f, ingot_tensor *const *in, int n_in)
{
    if (n_in < 0 || n_in > MAX_INPUTS)
        return fail(&f->ctx->err, INGOT_E_ARGUMENT, "function '%s': %d inputs, at most %d", f->name,
                    n_in, MAX_INPUTS);
    for (int i = 0; i < n_in; i++)
        if (!in[i] || !in[i]->mem)
            return fail(&f->ctx->err, INGOT_E_ARGUMENT, "function '%s': input %d %s", f->name, i,
                        in[i] ? "is symbolic" : "is NULL");
    return true;
}

static bool count_fits(ingot_function *f, int given, int n_out)
{
    if (given == n_out)
        return true;
    return fail(&f->ctx->err, INGOT_E_ARGUMENT,
                "function '%s': it has %d outputs, %d were asked for", f->name, given, n_out);
}

static bool call_eager(ingot_function *f, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                       int n_out)
{
    ingot_context *ctx = f->ctx;
    ingot_tensor *made[INGOT_MAX_OUTPUTS] = {0};
    bool own_tape = !ctx->engine->trace;
    int n;

    ctx->engine->stream = 0;
    if (own_tape)
        ingot_tape_begin(ctx);
    n = f->fn(ctx, in, n_in, made, INGOT_MAX_OUTPUTS, f->user);
    if (own_tape)
        ingot_tape_end(ctx);
    if (ctx->err.code != INGOT_OK || !count_fits(f, n, n_out))
        return false;
    for (int i = 0; i < n_out; i++)
        out[i] = made[i];
    return true;
}

static bool call_graph(ingot_function *f, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                       int n_out)
{
    ingot_context *ctx = f->ctx;
    compiled *c = find_compiled(f, in, n_in);
    const graph *g;

    if (!c || !count_fits(f, (int)c->n_outputs, n_out))
        return false;
    g = c->trace->g;
    for (int i = 0; i < n_in; i++)
        c->inputs[i] = in[i]->mem->data;
    for (size_t i = 0; i < c->trace->n_implicit; i++)
        implicit_fill(ctx->engine, &c->trace->implicit[i], ctx->engine->step,
                      c->inputs[c->trace->implicit[i].input]);
    for (int i = 0; i < n_out; i++) {
        out[i] = tensor_alloc(ctx, &g->outputs[i]->type);
        if (!out[i])
            return false;
        c->outputs[i] = out[i]->mem->data;
    }
    f->last = c->prog;
    return program_run(c->prog, c->inputs, c->outputs, &ctx->err);
}

ingot_status ingot_function_call(ingot_function *f, ingot_tensor *const *in, int n_in,
                                 ingot_tensor **out, int n_out)
{
    engine *eng = f ? engine_of(f->ctx) : NULL;

    for (int i = 0; i < n_out; i++)
        out[i] = NULL;
    if (!eng)
        return f ? ingot_error(f->ctx) : INGOT_E_ARGUMENT;
    if (!check_inputs(f, in, n_in))
        return f->ctx->err.code;
    if (f->ctx->opt.mode == INGOT_EAGER)
        call_eager(f, in, n_in, out, n_out);
    else
        call_graph(f, in, n_in, out, n_out);
    return f->ctx->err.code;
}

size_t ingot_function_arena_bytes(const ingot_function *f)
{
    return f && f->last ? program_memory(f->last)->arena_bytes : 0;
}

size_t ingot_function_naive_bytes(const ingot_function *f)
{
    return f && f->last ? program_memory(f->last)->naive_bytes : 0;
}
