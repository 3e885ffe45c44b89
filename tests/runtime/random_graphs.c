/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of ops that change shapes, broadcast, reduce, multiply and share values: compiled,
   fused or not, they give the bits of the same ops run one by one; their text round-trips after
   every pass; a pass run again changes nothing; what is computed once, from parameters that never
   change, gives in every run what computing it each time gives. */
#include "runtime/both.h"

#include "base/random.h"
#include "runtime/function.h"

#include <stdlib.h>

#define VALUES  40
#define IN      3
#define RESULTS 4

static uint64_t n_graphs = 1000; /* the program's argument says otherwise */

typedef struct dice {
    rng_key key;
    uint64_t n;
} dice;

static int roll(dice *d, int sides)
{
    return (int)rng_below(d->key, d->n++, (uint64_t)sides);
}

static ingot_tensor *unary(ingot_context *ctx, dice *d, ingot_tensor *x)
{
    switch (roll(d, 8)) {
    case 0:
        return ingot_tanh(ctx, x);
    case 1:
        return ingot_relu(ctx, x);
    case 2:
        return ingot_neg(ctx, x);
    case 3:
        return ingot_sigmoid(ctx, x);
    case 4:
        return ingot_square(ctx, ingot_tanh(ctx, x));
    case 5:
        return ingot_clip(ctx, x, -1, 1);
    case 6:
        return ingot_sin(ctx, x);
    default:
        return ingot_cast(ctx, ingot_cast(ctx, x, INGOT_F16), INGOT_F32);
    }
}

static ingot_tensor *binary(ingot_context *ctx, dice *d, ingot_tensor *x, ingot_tensor *y)
{
    switch (roll(d, 6)) {
    case 0:
        return ingot_add(ctx, x, y);
    case 1:
        return ingot_sub(ctx, x, y);
    case 2:
        return ingot_mul(ctx, x, y);
    case 3:
        return ingot_maximum(ctx, x, y);
    case 4:
        return ingot_where(ctx, ingot_lt(ctx, x, y), x, y);
    default:
        return ingot_add(ctx, x, ingot_scalar(ctx, INGOT_F32, roll(d, 2)));
    }
}

/* Everything stays [4, 6] but for a moment, so that any two values meet. */
static ingot_tensor *through_shapes(ingot_context *ctx, dice *d, ingot_tensor *x, ingot_tensor *y)
{
    ingot_tensor *t;

    switch (roll(d, 7)) {
    case 0:
        t = ingot_sum(ctx, x, &(ingot_sum_options){.axes = INGOT_INTS(1), .keepdims = true});
        return ingot_add(ctx, y, ingot_mul(ctx, t, ingot_scalar(ctx, INGOT_F32, 0.125)));
    case 1:
        t = ingot_max(ctx, x, &(ingot_max_options){.axes = INGOT_INTS(0), .keepdims = true});
        return ingot_sub(ctx, y, t);
    case 2:
        t = ingot_transpose(ctx, x, NULL);
        return ingot_reshape(ctx, ingot_tanh(ctx, t), INGOT_INTS(4, 6), NULL);
    case 3:
        t = ingot_matmul(ctx, x, y, &(ingot_matmul_options){.trans_y = true});
        return ingot_tanh(ctx, ingot_matmul(ctx, t, x, NULL));
    case 4:
        t = ingot_concat(ctx, (ingot_tensor *[]){x, y}, 2, 0);
        return ingot_slice(ctx, t, INGOT_INTS(roll(d, 4), 0), INGOT_INTS(4, 6), NULL);
    case 5:
        return ingot_softmax(ctx, x, -1);
    default:
        t = ingot_reshape(ctx, ingot_reshape(ctx, x, INGOT_INTS(24), NULL), INGOT_INTS(2, 2, 6),
                          NULL);
        return ingot_reshape(ctx, ingot_add(ctx, t, t), INGOT_INTS(4, 6), NULL);
    }
}

typedef struct recipe {
    uint64_t seed;
    bool gradient;
} recipe;

static int build(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                 int max_out, void *user)
{
    const recipe *r = user;
    dice d = {.key = rng_seed(r->seed)};
    ingot_tensor *v[VALUES];
    int n = n_in, steps = 3 + roll(&d, VALUES - IN - 3);

    (void)max_out;
    for (int i = 0; i < n_in; i++)
        v[i] = in[i];
    for (; n < n_in + steps; n++) {
        ingot_tensor *x = v[roll(&d, n)], *y = v[n - 1 - roll(&d, n < 4 ? n : 4)];
        int kind = roll(&d, 8);

        v[n] = kind < 3   ? unary(ctx, &d, y)
               : kind < 6 ? binary(ctx, &d, x, y)
                          : through_shapes(ctx, &d, x, y);
    }
    for (int i = 0; i < RESULTS - 1; i++)
        out[i] = v[n - 1 - roll(&d, n < 6 ? n : 6)];
    out[RESULTS - 1] = ingot_mean(ctx, v[n - 1], NULL);
    if (r->gradient && ingot_grad(ctx, out[RESULTS - 1], in, IN, out + RESULTS) != INGOT_OK)
        return -1;
    return RESULTS + (r->gradient ? IN : 0);
}

static void make_inputs(ingot_context *ctx, uint64_t seed, ingot_tensor **in)
{
    for (int k = 0; k < IN; k++) {
        in[k] = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(4, 6), NULL);
        for (int64_t i = 0; i < 24; i++)
            ((float *)ingot_tensor_data(in[k]))[i] =
                (float)rng_normal(rng_split(rng_seed(seed), (uint64_t)k), (uint64_t)i);
    }
}

static void call(ingot_context *ctx, recipe *r, ingot_tensor **out)
{
    ingot_function *f = ingot_function_new(ctx, build, r, NULL);
    ingot_tensor *in[IN];

    make_inputs(ctx, r->seed, in);
    (void)!ingot_function_call(f, in, IN, out, RESULTS + (r->gradient ? IN : 0));
    if (ingot_error(ctx) != INGOT_OK)
        fail_msg("seed %d: %s", (int)r->seed, ingot_error_text(ctx));
    ingot_function_free(f);
}

static void compiled_graphs_keep_every_bit(void **state)
{
    static const ingot_context_options options[] = {
        {.mode = INGOT_EAGER, .threads = 1}, {.threads = 1}, {.threads = 1, .passes_off = "fuse"}};
    ingot_context *ctx[3];

    (void)state;
    for (int m = 0; m < 3; m++)
        ctx[m] = ingot_open(&options[m]);
    for (uint64_t seed = 0; seed < n_graphs; seed++) {
        recipe r = {seed, seed % 2 == 1};
        ingot_tensor *out[3][RESULTS + IN];

        for (int m = 0; m < 3; m++) {
            ingot_scope_begin(ctx[m]);
            call(ctx[m], &r, out[m]);
        }
        for (int i = 0; i < RESULTS + (r.gradient ? IN : 0); i++)
            for (int m = 1; m < 3; m++) {
                size_t bytes = (size_t)ingot_tensor_count(out[0][i]) * sizeof(float);

                if (memcmp(ingot_tensor_data(out[0][i]), ingot_tensor_data(out[m][i]), bytes))
                    fail_msg("seed %d: result %d, %s, differs from eager mode", (int)seed, i,
                             m == 1 ? "fused" : "unfused");
            }
        for (int m = 0; m < 3; m++)
            ingot_scope_end(ctx[m]);
    }
    for (int m = 0; m < 3; m++)
        ingot_close(ctx[m]);
}

static void text_of(const graph *g, buffer *b)
{
    error e = {0};

    b->len = 0;
    if (!graph_print(g, b, &e))
        fail_msg("%s", e.text);
}

static void check_round_trip(const graph *g, const op_registry *ops, buffer *text, buffer *again)
{
    error e = {0};
    graph *copy;

    text_of(g, text);
    copy = graph_parse(NULL, ops, text->data, text->len, &e);
    if (!copy || !graph_verify(copy, &e))
        fail_msg("%s in\n%s", e.text, text->data);
    text_of(copy, again);
    assert_string_equal(text->data, again->data);
    graph_free(copy);
}

static void passes_verify_repeat_and_print(void **state)
{
    ingot_context *ctx = open_mode(INGOT_GRAPH, 0);
    const pass_options o = {0};
    buffer text, again;

    (void)state;
    buffer_init(&text, NULL, 0);
    buffer_init(&again, NULL, 0);
    for (uint64_t seed = 0; seed < n_graphs; seed++) {
        recipe r = {seed, seed % 2 == 1};
        type t = type_make(INGOT_F32, 2, (const int64_t[]){4, 6}), types[IN] = {t, t, t};
        trace *tr = function_trace(ctx, "random", build, &r, types, IN, NULL, NULL);
        error e = {0};

        check_ok(ctx);
        check_round_trip(tr->g, ctx->engine->ops, &text, &again);
        for (const pass_row *p = passes; p->name; p++) {
            if (!p->run(tr->g, &o, &e) || !graph_verify(tr->g, &e))
                fail_msg("seed %d, %s: %s", (int)seed, p->name, e.text);
            check_round_trip(tr->g, ctx->engine->ops, &text, &again);
            if (!p->run(tr->g, &o, &e) || !graph_verify(tr->g, &e))
                fail_msg("seed %d, %s again: %s", (int)seed, p->name, e.text);
            text_of(tr->g, &again);
            if (strcmp(text.data, again.data) != 0)
                fail_msg("seed %d: %s again changes\n%s\nto\n%s", (int)seed, p->name, text.data,
                         again.data);
        }
        trace_free(tr);
    }
    buffer_free(&text);
    buffer_free(&again);
    ingot_close(ctx);
}

/* The graph with its inputs but the first turned into parameters. */
static graph *with_params(const graph *g, const op_registry *ops, buffer *text)
{
    error e = {0};
    graph *made;
    int inputs = 0;

    text_of(g, text);
    for (char *at = text->data; (at = strstr(at, " = input ")) != NULL; at += 8)
        if (inputs++ > 0)
            memcpy(at, " = param ", 9);
    made = graph_parse(NULL, ops, text->data, text->len, &e);
    if (!made)
        fail_msg("%s in\n%s", e.text, text->data);
    return made;
}

/* Binds and runs; the largest use of the arena that the plan speaks of is the arena. */
static void run_program(program *p, float (*data)[24], const float *x, float (*out)[24])
{
    const memory_plan *m = program_memory(p);
    void *in[1] = {(void *)(uintptr_t)x}, *to[RESULTS + IN];
    size_t live = 0;
    error e = {0};

    for (size_t i = 0; i < program_graph(p)->n_nodes; i++)
        live = m->live[i] > live ? m->live[i] : live;
    assert_true(live <= m->arena_bytes && m->arena_bytes <= m->naive_bytes);
    for (size_t i = 0; i < program_graph(p)->n_params; i++)
        program_bind_param(p, i, data[i]);
    for (int i = 0; i < RESULTS + IN; i++)
        to[i] = out[i];
    if (!program_run(p, in, to, &e))
        fail_msg("%s", e.text);
}

static void once_is_as_good_as_each_time(void **state)
{
    ingot_context *ctx = open_mode(INGOT_GRAPH, 0);
    buffer text;

    (void)state;
    buffer_init(&text, NULL, 0);
    for (uint64_t seed = 0; seed < n_graphs; seed++) {
        recipe r = {seed, seed % 4 == 1};
        type t = type_make(INGOT_F32, 2, (const int64_t[]){4, 6}), types[IN] = {t, t, t};
        trace *tr = function_trace(ctx, "random", build, &r, types, IN, NULL, NULL);
        float data[IN][24], x[24], first[RESULTS + IN][24] = {0}, second[RESULTS + IN][24] = {0};
        program *each, *once;
        error e = {0};
        graph *g;

        check_ok(ctx);
        g = with_params(tr->g, ctx->engine->ops, &text);
        each = program_new(ctx->engine, g, NULL, &e);
        once = program_new(ctx->engine, g, &(program_options){.fixed_params = true}, &e);
        if (!each || !once)
            fail_msg("seed %d: %s", (int)seed, e.text);
        for (int k = 0; k < IN; k++)
            for (int i = 0; i < 24; i++)
                data[k][i] = (float)rng_normal(rng_split(rng_seed(seed), (uint64_t)k), (uint64_t)i);
        for (int run = 0; run < 2; run++) {
            for (int i = 0; i < 24; i++)
                x[i] = data[0][i] + (float)run;
            run_program(each, data + 1, x, first);
            run_program(once, data + 1, x, second);
            if (memcmp(first, second, sizeof first) != 0)
                fail_msg("seed %d: run %d with what is computed once differs", (int)seed, run);
        }
        program_free(each);
        program_free(once);
        graph_free(g);
        trace_free(tr);
    }
    buffer_free(&text);
    ingot_close(ctx);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_graphs_keep_every_bit),
        cmocka_unit_test(passes_verify_repeat_and_print),
        cmocka_unit_test(once_is_as_good_as_each_time),
    };

    if (argc == 2)
        n_graphs = strtoull(argv[1], NULL, 10);
    if (n_graphs == 0)
        return 2;
    return cmocka_run_group_tests_name("runtime/random_graphs", tests, NULL, NULL);
}
