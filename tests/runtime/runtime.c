/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, parameters, effects, tapes, what depends on the step, and the memory plan. */
#include "ingot/function.h"
#include "ingot/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const ingot_mode both[] = {INGOT_GRAPH, INGOT_EAGER};

static ingot_tensor *vector(ingot_context *ctx, float a, float b)
{
    const float v[] = {a, b};

    return ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2), v);
}

static void check_vector(ingot_tensor *t, double a, double b)
{
    assert_non_null(t);
    assert_int_equal(ingot_tensor_count(t), 2);
    if (ingot_tensor_item(t, 0) != a || ingot_tensor_item(t, 1) != b)
        fail_msg("%g %g, expected %g %g", ingot_tensor_item(t, 0), ingot_tensor_item(t, 1), a, b);
}

/* p becomes p + x; who read p before sees the old content, the handle afterwards means the new. */
static int step(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                int max_out, void *user)
{
    ingot_tensor *p = ingot_parameter_tensor(user), *before = ingot_neg(ctx, p);

    (void)n_in;
    (void)max_out;
    ingot_assign(ctx, p, ingot_add(ctx, p, in[0]));
    out[0] = before;
    out[1] = ingot_neg(ctx, p);
    return 2;
}

static void assignments_take_effect_at_the_end(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.mode = both[m], .threads = 1});
        const float start[] = {1, 2};
        ingot_parameter *p = ingot_parameter_new(ctx, "p", INGOT_F32, INGOT_INTS(2), start, true);
        ingot_function *f = ingot_function_new(ctx, step, p, NULL);
        ingot_tensor *x = vector(ctx, 10, 20), *out[2];

        for (int i = 0; i < 3; i++) {
            if (ingot_function_call(f, &x, 1, out, 2) != INGOT_OK)
                fail_msg("%s", ingot_error_text(ctx));
            check_vector(out[0], -(1 + 10 * i), -(2 + 20 * i));
            check_vector(out[1], -(11 + 10 * i), -(22 + 20 * i));
            check_vector(ingot_parameter_tensor(p), 11 + 10 * i, 22 + 20 * i);
        }
        ingot_function_free(f);
        ingot_parameter_free(p);
        ingot_close(ctx);
    }
}

/* Two parameters exchange their contents: neither may be written before the other is read. */
static int exchange(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                    int max_out, void *user)
{
    ingot_parameter *const *p = user;
    ingot_tensor *a = ingot_parameter_tensor(p[0]), *b = ingot_parameter_tensor(p[1]);
    ingot_tensor *old_a = ingot_stop_gradient(ctx, a), *old_b = ingot_stop_gradient(ctx, b);

    (void)in;
    (void)n_in;
    (void)max_out;
    ingot_assign(ctx, a, old_b);
    ingot_assign(ctx, b, old_a);
    out[0] = ingot_add(ctx, old_a, old_b);
    return 1;
}

static void parameters_can_exchange_contents(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.mode = both[m], .threads = 1});
        const float x[] = {1, 2}, y[] = {3, 4};
        ingot_parameter *p[2] = {ingot_parameter_new(ctx, "a", INGOT_F32, INGOT_INTS(2), x, true),
                                 ingot_parameter_new(ctx, "b", INGOT_F32, INGOT_INTS(2), y, true)};
        ingot_function *f = ingot_function_new(ctx, exchange, p, NULL);
        ingot_tensor *out;

        assert_int_equal(ingot_function_call(f, NULL, 0, &out, 1), INGOT_OK);
        check_vector(ingot_parameter_tensor(p[0]), 3, 4);
        check_vector(ingot_parameter_tensor(p[1]), 1, 2);
        assert_int_equal(ingot_function_call(f, NULL, 0, &out, 1), INGOT_OK);
        check_vector(ingot_parameter_tensor(p[0]), 1, 2);
        ingot_function_free(f);
        ingot_parameter_free(p[0]);
        ingot_parameter_free(p[1]);
        ingot_close(ctx);
    }
}

static double ten_times_step(uint64_t at, void *user)
{
    (void)user;
    return 10.0 * (double)at;
}

static int draw(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                int max_out, void *user)
{
    (void)in;
    (void)n_in;
    (void)max_out;
    (void)user;
    out[0] = ingot_random_uniform(ctx, ingot_random_key(ctx), INGOT_INTS(2), 0, 1);
    out[1] = ingot_random_uniform(ctx, ingot_random_key(ctx), INGOT_INTS(2), 0, 1);
    out[2] = ingot_host_scalar(ctx, "ten", ten_times_step, NULL);
    return 3;
}

/* The same numbers in both modes; others for another step, another key or another seed. */
static void the_step_decides_random_numbers(void **state)
{
    float first[2][2], again[2];
    ingot_tensor *out[3];

    (void)state;
    for (int m = 0; m < 2; m++) {
        ingot_context *ctx =
            ingot_open(&(ingot_context_options){.mode = both[m], .threads = 1, .seed = 3});
        ingot_function *f = ingot_function_new(ctx, draw, NULL, NULL);

        ingot_set_step(ctx, 7);
        assert_int_equal(ingot_function_call(f, NULL, 0, out, 3), INGOT_OK);
        assert_true(ingot_tensor_item(out[2], 0) == 70.0);
        memcpy(first[m], ingot_tensor_data(out[0]), sizeof first[m]);
        assert_memory_not_equal(first[m], ingot_tensor_data(out[1]), sizeof first[m]);
        ingot_set_step(ctx, 8);
        assert_int_equal(ingot_function_call(f, NULL, 0, out, 3), INGOT_OK);
        assert_true(ingot_tensor_item(out[2], 0) == 80.0);
        assert_memory_not_equal(first[m], ingot_tensor_data(out[0]), sizeof first[m]);
        ingot_set_step(ctx, 7);
        assert_int_equal(ingot_function_call(f, NULL, 0, out, 3), INGOT_OK);
        memcpy(again, ingot_tensor_data(out[0]), sizeof again);
        assert_memory_equal(first[m], again, sizeof again);
        ingot_function_free(f);
        ingot_close(ctx);
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
}

static void a_tape_gives_gradients_of_gradients(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.mode = INGOT_EAGER, .threads = 1});
    ingot_tensor *x = vector(ctx, 2, -3), *y, *g, *h;

    (void)state;
    ingot_tape_begin(ctx);
    y = ingot_sum(ctx, ingot_mul(ctx, x, ingot_square(ctx, x)), NULL);
    assert_true(ingot_tensor_item(y, 0) == 8.0 - 27.0);
    assert_int_equal(ingot_grad(ctx, y, &x, 1, &g), INGOT_OK);
    check_vector(g, 12, 27); /* 3 x^2 */
    assert_int_equal(ingot_grad(ctx, ingot_sum(ctx, g, NULL), &x, 1, &h), INGOT_OK);
    check_vector(h, 12, -18); /* 6 x */
    ingot_tape_end(ctx);
    check_vector(ingot_neg(ctx, g), -12, -27); /* a plain value now */
    assert_int_equal(ingot_grad(ctx, y, &x, 1, &h), INGOT_E_STATE);
    ingot_clear_error(ctx);
    ingot_close(ctx);
}

static int branch_free(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                       int max_out, void *user)
{
    ingot_tensor *x = in[0];

    (void)n_in;
    (void)max_out;
    (void)user;
    for (int i = 0; i < 20; i++)
        x = ingot_softmax(ctx, ingot_matmul(ctx, x, in[0], NULL), 1);
    out[0] = x;
    return 1;
}

static void a_chain_needs_the_memory_of_its_widest_step(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = 1});
    ingot_function *f = ingot_function_new(ctx, branch_free, NULL, NULL);
    ingot_tensor *x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(64, 64), 0.01), *out;

    (void)state;
    assert_int_equal(ingot_function_call(f, &x, 1, &out, 1), INGOT_OK);
    assert_true(ingot_function_naive_bytes(f) >= 39u * 64 * 64 * 4);
    assert_true(ingot_function_arena_bytes(f) <= 6u * 64 * 64 * 4); /* two values, packed copies */
    ingot_function_free(f);
    ingot_close(ctx);
}

static int nothing_good(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                        int max_out, void *user)
{
    (void)n_in;
    (void)max_out;
    (void)user;
    out[0] = ingot_matmul(ctx, in[0], in[0], NULL);
    return 1;
}

static void what_goes_wrong_in_a_function_is_told(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.mode = both[m], .threads = 1});
        ingot_function *f = ingot_function_new(ctx, nothing_good, NULL, NULL);
        ingot_tensor *x = vector(ctx, 1, 2), *out[3];

        ingot_path_push(ctx, "head");
        assert_int_equal(ingot_function_call(f, &x, 1, out, 1), INGOT_E_SHAPE);
        assert_non_null(strstr(ingot_error_text(ctx), "op 'matmul' (head)"));
        assert_non_null(strstr(ingot_error_text(ctx), "f32[2]"));
        ingot_path_pop(ctx);
        ingot_clear_error(ctx);
        x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(2, 2), 1.0);
        assert_int_equal(ingot_function_call(f, &x, 1, out, 1), INGOT_OK);
        assert_int_equal(ingot_function_call(f, &x, 1, out, 3), INGOT_E_ARGUMENT);
        ingot_clear_error(ctx);
        ingot_function_free(f);
        ingot_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assignments_take_effect_at_the_end),
        cmocka_unit_test(parameters_can_exchange_contents),
        cmocka_unit_test(the_step_decides_random_numbers),
        cmocka_unit_test(a_tape_gives_gradients_of_gradients),
        cmocka_unit_test(a_chain_needs_the_memory_of_its_widest_step),
        cmocka_unit_test(what_goes_wrong_in_a_function_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
