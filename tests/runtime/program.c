/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of graphs with a symbolic batch, the files of save_graphs, and every allocation failing
   in turn. */
#include "runtime/both.h"

#include "base/file.h"
#include "runtime/function.h"

#include <stdio.h>
#include <unistd.h>

static int net(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
               int max_out, void *user)
{
    ingot_parameter *const *w = user;

    (void)n_in, (void)max_out;
    ingot_tensor *y =
        ingot_linear(ctx, in[0], ingot_parameter_tensor(w[0]), ingot_parameter_tensor(w[1]));
    out[0] = ingot_softmax(ctx, ingot_tanh(ctx, y), -1);
    return 1;
}

static void make_weights(ingot_context *ctx, ingot_parameter **w)
{
    float v[15];

    for (int i = 0; i < 15; i++)
        v[i] = 0.1f * (float)(i % 7) - 0.3f;
    w[0] = ingot_parameter_new(ctx, "w", INGOT_F32, INGOT_INTS(3, 5), v, true);
    w[1] = ingot_parameter_new(ctx, "b", INGOT_F32, INGOT_INTS(3), v, true);
}

/* One traced graph, bound to several batch sizes, against the same ops run eagerly. */
static void any_batch_can_be_bound(void **state)
{
    ingot_context *ctx = open_mode(INGOT_EAGER, 0);
    ingot_parameter *w[2];
    type t = type_make(INGOT_F32, 2, (const int64_t[]){DIM_SYM, 5});
    error e = {0};

    (void)state;
    make_weights(ctx, w);
    trace *tr = function_trace(ctx, "net", net, w, &t, 1, NULL, NULL);
    check_ok(ctx);
    assert_true(type_symbolic(&tr->g->outputs[0]->type));
    assert_null(program_new(ctx->engine, tr->g, NULL, &e));
    check_contains(e.text, "batch");
    error_clear(&e);
    for (int64_t n = 0; n < 9; n = 2 * n + 1) {
        graph *g = graph_bind(tr->g, n, &e);
        program *p = g ? program_new(ctx->engine, g, NULL, &e) : NULL;
        ingot_tensor *x = ingot_full(ctx, INGOT_INTS(n, 5), 0.25, INGOT_F32), *want[1];
        float got[64];

        if (!p)
            fail_msg("%s", e.text);
        assert_int_equal(g->outputs[0]->type.dim[0], n);
        for (int64_t i = 0; i < 5 * n; i++)
            ((float *)ingot_tensor_data(x))[i] = (float)(i % 11) - 5.0f;
        assert_false(program_run(p, (void *[]){ingot_tensor_data(x)}, (void *[]){got}, &e));
        error_clear(&e); /* no memory bound to the params yet */
        for (size_t i = 0; i < 2; i++)
            program_bind_param(p, i, ingot_tensor_data(ingot_parameter_tensor(tr->params[i])));
        assert_true(program_run(p, (void *[]){ingot_tensor_data(x)}, (void *[]){got}, &e));
        net(ctx, &x, 1, want, 1, w);
        if (n)
            assert_memory_equal(got, ingot_tensor_data(want[0]), (size_t)(3 * n) * sizeof(float));
        program_free(p);
        graph_free(g);
    }
    trace_free(tr);
    ingot_parameter_free(w[0]);
    ingot_parameter_free(w[1]);
    ingot_close(ctx);
}

static int step(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                int max_out, void *user)
{
    ingot_parameter *const *w = user;
    ingot_tensor *wrt[2] = {ingot_parameter_tensor(w[0]), ingot_parameter_tensor(w[1])}, *g[2],
                 *y[1];

    if (net(ctx, in, n_in, y, max_out, user) < 0)
        return -1;
    out[0] = ingot_sum(ctx, ingot_square(ctx, y[0]), NULL);
    if (ingot_grad(ctx, out[0], wrt, 2, g) != INGOT_OK)
        return -1;
    for (int i = 0; i < 2; i++)
        ingot_assign(ctx, wrt[i], ingot_sub(ctx, wrt[i], g[i]));
    return 1;
}

static void *public_alloc(void *ptr, size_t old_size, size_t new_size, void *user)
{
    return checked_alloc(user, ptr, old_size, new_size);
}

/* One training step with the n-th allocation failing; true when it went through. */
static bool try_step(ingot_mode mode, long fail_at)
{
    checked_heap heap = {.fail_at = fail_at};
    ingot_context *ctx = ingot_open(&(ingot_context_options){
        .mode = mode, .threads = 1, .isa = "generic", .alloc = public_alloc, .alloc_user = &heap});
    ingot_parameter *w[2] = {NULL, NULL};
    ingot_tensor *out[1] = {NULL};
    bool ok;

    if (ctx)
        make_weights(ctx, w);
    ingot_function *f = ingot_function_new(ctx, step, w, NULL);
    ingot_tensor *x = ingot_full(ctx, INGOT_INTS(2, 5), 0.25, INGOT_F32);
    (void)!ingot_function_call(f, &x, 1, out, 1);
    ok = ctx && ingot_error(ctx) == INGOT_OK;
    if (ctx && !ok && ingot_error(ctx) != INGOT_E_MEMORY)
        fail_msg("allocation %ld: %s %s", fail_at, ingot_status_name(ingot_error(ctx)),
                 ingot_error_text(ctx));
    ingot_function_free(f);
    ingot_parameter_free(w[0]);
    ingot_parameter_free(w[1]);
    ingot_close(ctx);
    if (heap.live_objects || heap.wrong_size)
        fail_msg("allocation %ld: %zu objects are left", fail_at, heap.live_objects);
    return ok;
}

static void every_failing_allocation_is_an_error(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODES; m++) {
        long n = 1;

        while (!try_step(modes[m], n))
            n++;
        assert_in_range(n, 50, 100000);
    }
}

static void saved_graphs_read_back(void **state)
{
    char folder[64], path[400];
    error e = {0};
    folder_list l;

    (void)state;
    snprintf(folder, sizeof folder, "test-save-graphs.%ld", (long)getpid());
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = 1, .save_graphs = folder});
    ingot_parameter *w[2];
    make_weights(ctx, w);
    ingot_function *f = ingot_function_new(ctx, step, w, &(ingot_function_options){.name = "step"});
    ingot_tensor *x = ingot_full(ctx, INGOT_INTS(2, 5), 0.25, INGOT_F32), *out[1];
    (void)!ingot_function_call(f, &x, 1, out, 1);
    check_ok(ctx);
    assert_true(folder_list_read(&l, NULL, folder, &e));
    assert_true(l.count >= 6); /* as traced, and after each pass */
    check_contains(l.names[0], "trace");
    for (size_t i = 0; i < l.count; i++) {
        buffer text, again;

        buffer_init(&text, NULL, 0);
        buffer_init(&again, NULL, 0);
        snprintf(path, sizeof path, "%s/%.300s", folder, l.names[i]);
        assert_true(file_read(path, &text, &e));
        graph *g = graph_parse(NULL, ctx->engine->ops, text.data, text.len, &e);
        if (!g || !graph_verify(g, &e) || !graph_print(g, &again, &e))
            fail_msg("%s: %s", path, e.text);
        assert_string_equal(text.data, again.data);
        graph_free(g);
        buffer_free(&text);
        buffer_free(&again);
        assert_true(file_remove(path, &e));
    }
    folder_list_free(&l);
    assert_int_equal(rmdir(folder), 0);
    ingot_function_free(f);
    ingot_parameter_free(w[0]);
    ingot_parameter_free(w[1]);
    ingot_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_batch_can_be_bound),
        cmocka_unit_test(every_failing_allocation_is_an_error),
        cmocka_unit_test(saved_graphs_read_back),
    };

    return cmocka_run_group_tests_name("runtime/program", tests, NULL, NULL);
}
