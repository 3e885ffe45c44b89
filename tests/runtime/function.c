/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, tapes, random keys and host scalars: what user code sees of the runtime. */
#include "runtime/both.h"

#include <math.h>

/* --- functions ---------------------------------------------------------------------------------
 */

typedef struct counter {
    int traced;
    int outputs; /* what construct claims */
} counter;

static int square_sum(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                      int max_out, void *user)
{
    counter *k = user;

    (void)n_in, (void)max_out;
    k->traced++;
    out[0] = ingot_square(ctx, in[0]);
    out[1] = ingot_sum(ctx, out[0], NULL);
    return k->outputs;
}

static void a_function_is_traced_once_for_each_type(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODES; m++) {
        ingot_context *ctx = open_mode(modes[m], 0);
        counter k = {.outputs = 2};
        ingot_function *f = ingot_function_new(ctx, square_sum, &k, NULL);
        ingot_tensor *out[2];

        for (int i = 0; i < 3; i++) {
            ingot_tensor *x = vector(ctx, 2, (float[]){(float)i, 2});

            (void)!ingot_function_call(f, &x, 1, out, 2);
            check_ok(ctx);
            CHECK_VALUES(out[0], i * i, 4);
            CHECK_VALUES(out[1], i * i + 4);
        }
        assert_int_equal(k.traced, modes[m] == INGOT_GRAPH ? 1 : 3);
        ingot_tensor *x = vector(ctx, 3, (float[]){1, 2, 3});
        (void)!ingot_function_call(f, &x, 1, out, 2);
        CHECK_VALUES(out[1], 14);
        assert_int_equal(k.traced, modes[m] == INGOT_GRAPH ? 2 : 4);
        x = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(0), NULL);
        (void)!ingot_function_call(f, &x, 1, out, 2);
        CHECK_VALUES(out[1], 0);
        ingot_function_free(f);
        check_ok(ctx);
        ingot_close(ctx);
    }
}

static void wrong_calls_are_errors_and_leave_the_function_usable(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODES; m++) {
        ingot_context *ctx = open_mode(modes[m], 0);
        counter k = {.outputs = 2};
        ingot_function *f =
            ingot_function_new(ctx, square_sum, &k, &(ingot_function_options){.name = "step"});
        ingot_tensor *x = vector(ctx, 2, (float[]){1, 2}), *none = NULL, *out[3];

        assert_int_not_equal(ingot_function_call(f, &x, 1, out, 3), INGOT_OK);
        check_error(ctx, INGOT_E_ARGUMENT, "function 'step': it has 2 outputs, 3 were asked for");
        assert_null(out[0]);
        assert_int_not_equal(ingot_function_call(f, &none, 1, out, 2), INGOT_OK);
        check_error(ctx, INGOT_E_ARGUMENT, "function 'step': input 0 is NULL");
        x = ingot_tensor_new(ctx, INGOT_BOOL, INGOT_INTS(2), NULL);
        assert_int_not_equal(ingot_function_call(f, &x, 1, out, 2), INGOT_OK);
        check_error(ctx, INGOT_E_DTYPE, "op 'square'");
        x = vector(ctx, 2, (float[]){1, 2});
        assert_int_equal(ingot_function_call(f, &x, 1, out, 2), INGOT_OK);
        CHECK_VALUES(out[0], 1, 4);
        ingot_function_free(f);
        assert_null(ingot_function_new(ctx, NULL, NULL, NULL));
        check_error(ctx, INGOT_E_ARGUMENT, "construct is NULL");
        ingot_close(ctx);
    }
    ingot_function_free(NULL);
    assert_int_not_equal(ingot_function_call(NULL, NULL, 0, NULL, 0), INGOT_OK);
}

static int looks_inside(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                        int max_out, void *user)
{
    (void)ctx, (void)n_in, (void)max_out, (void)user;
    out[0] = in[0];
    return ingot_tensor_data(in[0]) ? 1 : -1;
}

static int counts_wrong(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                        int max_out, void *user)
{
    (void)ctx, (void)in, (void)n_in, (void)out, (void)user;
    return max_out + 1;
}

static void while_tracing_there_is_nothing_to_see(void **state)
{
    ingot_context *ctx = open_mode(INGOT_GRAPH, 0);
    ingot_function *f = ingot_function_new(ctx, looks_inside, NULL, NULL);
    ingot_function *g = ingot_function_new(ctx, counts_wrong, NULL, NULL);
    ingot_tensor *x = vector(ctx, 1, (float[]){1}), *out[1];

    (void)state;
    assert_int_not_equal(ingot_function_call(f, &x, 1, out, 1), INGOT_OK);
    check_error(ctx, INGOT_E_STATE, "symbolic");
    assert_int_not_equal(ingot_function_call(g, &x, 1, out, 1), INGOT_OK);
    check_error(ctx, INGOT_E_ARGUMENT, "construct returned 65 outputs, allowed are 0 to 64");
    ingot_function_free(f);
    ingot_function_free(g);
    ingot_close(ctx);
}

static int layers(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                  int max_out, void *user)
{
    ingot_tensor *x = in[0];

    (void)n_in, (void)max_out;
    for (int i = 0; i < *(int *)user; i++)
        x = ingot_matmul(ctx, ingot_relu(ctx, x), in[1], NULL);
    out[0] = x;
    return 1;
}

/* A chain needs two buffers at a time, however long it is. */
static void memory_of_a_chain_is_reused(void **state)
{
    ingot_context *ctx = open_mode(INGOT_GRAPH, 0);
    ingot_tensor *in[] = {ingot_full(ctx, INGOT_INTS(64, 64), 0.01, INGOT_F32),
                          ingot_full(ctx, INGOT_INTS(64, 64), 0.01, INGOT_F32)};
    const size_t one = 64 * 64 * sizeof(float);

    (void)state;
    for (int n = 4; n <= 16; n *= 2) {
        ingot_function *f = ingot_function_new(ctx, layers, &n, NULL);
        ingot_tensor *out[1];

        (void)!ingot_function_call(f, in, 2, out, 1);
        check_ok(ctx);
        assert_true(ingot_function_naive_bytes(f) >= (2 * (size_t)n - 1) * one);
        assert_true(ingot_function_arena_bytes(f) >= one);
        /* two values, and what a kernel works in */
        assert_true(ingot_function_arena_bytes(f) <= 5 * one);
        ingot_function_free(f);
    }
    ingot_close(ctx);
}

/* --- tapes -------------------------------------------------------------------------------------
 */

static void gradients_need_a_tape(void **state)
{
    ingot_context *ctx = open_mode(INGOT_EAGER, 0);
    ingot_tensor *x = vector(ctx, 2, (float[]){3, -4}), *y = ingot_square(ctx, x), *g[2];
    ingot_tensor *other = vector(ctx, 3, (float[]){1, 1, 1});

    (void)state;
    assert_int_not_equal(ingot_grad(ctx, y, &x, 1, g), INGOT_OK);
    check_error(ctx, INGOT_E_STATE, "ingot_tape_begin");
    ingot_tape_begin(ctx);
    ingot_tape_begin(ctx);
    check_error(ctx, INGOT_E_STATE, "a tape is open already");
    y = ingot_square(ctx, x);
    assert_int_not_equal(ingot_grad(ctx, y, &x, 1, g), INGOT_OK);
    check_error(ctx, INGOT_E_SHAPE, "f32[2]");
    ingot_tensor *wrt[] = {x, other};
    (void)!ingot_grad(ctx, ingot_sum(ctx, y, NULL), wrt, 2, g);
    check_ok(ctx);
    CHECK_VALUES(g[0], 6, -8);
    CHECK_VALUES(g[1], 0, 0, 0); /* the loss does not depend on it */
    (void)!ingot_grad_with(ctx, y, vector(ctx, 2, (float[]){1, 10}), wrt, 1, g);
    CHECK_VALUES(g[0], 6, -80);
    (void)!ingot_grad_with(ctx, g[0], vector(ctx, 2, (float[]){1, 1}), wrt, 1, g);
    check_ok(ctx);
    CHECK_VALUES(g[0], 2, 20);
    ingot_tape_end(ctx);
    ingot_tape_end(ctx);
    CHECK_VALUES(y, 9, 16); /* what the tape made stays */
    CHECK_VALUES(ingot_add(ctx, y, g[0]), 11, 36);
    ingot_tape_begin(ctx);
    y = ingot_sum(ctx, ingot_cast(ctx, ingot_argmax(ctx, x, 0, NULL), INGOT_F32), NULL);
    assert_int_not_equal(ingot_grad(ctx, y, &x, 1, g) == INGOT_OK &&
                             (ingot_tensor_item(g[0], 0) != 0 || ingot_tensor_item(g[0], 1) != 0),
                         1);
    ingot_clear_error(ctx);
    ingot_tape_end(ctx);
    ingot_close(ctx);
}

/* A value used twice gets both gradients; stop_gradient cuts one. */
static int twice(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                 int max_out, void *user)
{
    ingot_tensor *x = in[0], *y = ingot_mul(ctx, x, ingot_exp(ctx, x));
    ingot_tensor *z = ingot_mul(ctx, x, ingot_stop_gradient(ctx, x));

    (void)n_in, (void)max_out, (void)user;
    if (ingot_grad(ctx, ingot_sum(ctx, y, NULL), &x, 1, &out[0]) != INGOT_OK ||
        ingot_grad(ctx, ingot_sum(ctx, z, NULL), &x, 1, &out[1]) != INGOT_OK)
        return -1;
    return 2;
}

static void uses_add_up(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODES; m++) {
        ingot_context *ctx = open_mode(modes[m], 0);
        ingot_function *f = ingot_function_new(ctx, twice, NULL, NULL);
        ingot_tensor *x = vector(ctx, 2, (float[]){0, 0.5f}), *out[2];

        (void)!ingot_function_call(f, &x, 1, out, 2);
        check_ok(ctx);
        assert_true(ingot_tensor_item(out[0], 0) == 1.0);
        assert_true(fabs(ingot_tensor_item(out[0], 1) - 1.5 * exp(0.5)) < 1e-6);
        CHECK_VALUES(out[1], 0, 0.5);
        ingot_function_free(f);
        ingot_close(ctx);
    }
}

/* --- random keys, host scalars -------------------------------------------------------------------
 */

static int draws(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                 int max_out, void *user)
{
    (void)in, (void)n_in, (void)max_out, (void)user;
    for (int i = 0; i < 2; i++)
        out[i] = ingot_random_uniform(ctx, ingot_random_key(ctx), INGOT_INTS(50), 0, 1);
    return 2;
}

static bool same(ingot_tensor *a, ingot_tensor *b)
{
    return !memcmp(ingot_tensor_data(a), ingot_tensor_data(b), 50 * sizeof(float));
}

static void numbers_are_those_of_seed_step_and_call(void **state)
{
    ingot_tensor *kept[N_MODES][2];
    ingot_context *ctx[N_MODES];

    (void)state;
    for (int m = 0; m < N_MODES; m++) {
        ctx[m] = open_mode(modes[m], 42);
        ingot_function *f = ingot_function_new(ctx[m], draws, NULL, NULL);
        ingot_tensor *again[2], *later[2];

        ingot_set_step(ctx[m], 7);
        (void)!ingot_function_call(f, NULL, 0, kept[m], 2);
        (void)!ingot_function_call(f, NULL, 0, again, 2);
        ingot_set_step(ctx[m], 8);
        (void)!ingot_function_call(f, NULL, 0, later, 2);
        check_ok(ctx[m]);
        assert_false(same(kept[m][0], kept[m][1]));
        for (int i = 0; i < 2; i++) {
            assert_true(same(kept[m][i], again[i]));
            assert_false(same(kept[m][i], later[0]));
            assert_false(same(kept[m][i], later[1]));
        }
        ingot_function_free(f);
    }
    assert_true(same(kept[0][0], kept[1][0]) && same(kept[0][1], kept[1][1]));
    ingot_context *other = open_mode(INGOT_GRAPH, 43);
    ingot_function *f = ingot_function_new(other, draws, NULL, NULL);
    ingot_tensor *out[2];
    ingot_set_step(other, 7);
    (void)!ingot_function_call(f, NULL, 0, out, 2);
    assert_false(same(out[0], kept[0][0]));
    ingot_function_free(f);
    ingot_close(other);
    for (int m = 0; m < N_MODES; m++)
        ingot_close(ctx[m]);
}

static double half_of(uint64_t step, void *user)
{
    *(int *)user += 1;
    return (double)step / 2;
}

static int scales(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                  int max_out, void *user)
{
    ingot_tensor *rate = ingot_host_scalar(ctx, "rate", half_of, user);

    (void)n_in, (void)max_out;
    out[0] = ingot_mul(ctx, in[0], rate);
    out[1] = ingot_add(ctx, in[0], ingot_host_scalar(ctx, "rate", half_of, user));
    return 2;
}

static void host_scalars_follow_the_step(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODES; m++) {
        ingot_context *ctx = open_mode(modes[m], 0);
        int asked = 0;
        ingot_function *f = ingot_function_new(ctx, scales, &asked, NULL);
        ingot_tensor *x = vector(ctx, 2, (float[]){1, 2}), *out[2];

        for (uint64_t step = 0; step < 4; step++) {
            ingot_set_step(ctx, step);
            (void)!ingot_function_call(f, &x, 1, out, 2);
            check_ok(ctx);
            CHECK_VALUES(out[0], (double)step / 2, (double)step);
            CHECK_VALUES(out[1], 1 + (double)step / 2, 2 + (double)step / 2);
        }
        assert_int_equal(asked, 4); /* once for each step */
        ingot_function_free(f);
        ingot_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_traced_once_for_each_type),
        cmocka_unit_test(wrong_calls_are_errors_and_leave_the_function_usable),
        cmocka_unit_test(while_tracing_there_is_nothing_to_see),
        cmocka_unit_test(memory_of_a_chain_is_reused),
        cmocka_unit_test(gradients_need_a_tape),
        cmocka_unit_test(uses_add_up),
        cmocka_unit_test(numbers_are_those_of_seed_step_and_call),
        cmocka_unit_test(host_scalars_follow_the_step),
    };

    return cmocka_run_group_tests_name("runtime/function", tests, NULL, NULL);
}
