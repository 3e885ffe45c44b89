/* SPDX-License-Identifier: Apache-2.0 */
/* assign: parameters change when a function is done; who read them before keeps what was there. */
#include "runtime/both.h"

typedef struct pair {
    ingot_parameter *p, *q;
} pair;

static pair make_pair(ingot_context *ctx)
{
    return (pair){ingot_parameter_new(ctx, "p", INGOT_F32, INGOT_INTS(2), (float[]){1, 2}, true),
                  ingot_parameter_new(ctx, "q", INGOT_F32, INGOT_INTS(2), (float[]){10, 20}, true)};
}

static void free_pair(pair *k)
{
    ingot_parameter_free(k->p);
    ingot_parameter_free(k->q);
}

typedef void (*after_fn)(ingot_context *ctx, const pair *k, ingot_tensor **out);

/* Calls fn twice in each mode on fresh parameters; after gets the outputs of the second call. */
static void in_both(ingot_construct_fn fn, int n_out, after_fn after)
{
    for (int m = 0; m < N_MODES; m++) {
        ingot_context *ctx = open_mode(modes[m], 0);
        pair k = make_pair(ctx);
        ingot_function *f = ingot_function_new(ctx, fn, &k, NULL);
        ingot_tensor *out[8];

        for (int i = 0; i < 2; i++)
            (void)!ingot_function_call(f, NULL, 0, out, n_out);
        check_ok(ctx);
        after(ctx, &k, out);
        ingot_function_free(f);
        free_pair(&k);
        ingot_close(ctx);
    }
}

#define CONSTRUCT(name)                                                                        \
    static int name(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out, \
                    int max_out, void *user)

/* p += 1, three results: the old p, what p becomes, what its handle means from now on. */
CONSTRUCT(counts)
{
    ingot_tensor *p = ingot_parameter_tensor(((pair *)user)->p);
    ingot_tensor *one = ingot_scalar(ctx, INGOT_F32, 1);

    (void)in, (void)n_in, (void)max_out;
    out[0] = ingot_neg(ctx, p);
    out[1] = ingot_assign(ctx, p, ingot_add(ctx, p, one));
    out[2] = ingot_neg(ctx, p);
    return 3;
}

static void check_counts(ingot_context *ctx, const pair *k, ingot_tensor **out)
{
    (void)ctx;
    CHECK_VALUES(out[0], -2, -3);
    CHECK_VALUES(out[1], 3, 4);
    CHECK_VALUES(out[2], -3, -4);
    CHECK_VALUES(ingot_parameter_tensor(k->p), 3, 4);
}

static void readers_before_see_the_old_content(void **state)
{
    (void)state;
    in_both(counts, 3, check_counts);
}

/* A swap through a third value, and one without any arithmetic. */
CONSTRUCT(swaps)
{
    ingot_tensor *p = ingot_parameter_tensor(((pair *)user)->p);
    ingot_tensor *q = ingot_parameter_tensor(((pair *)user)->q);
    ingot_tensor *old_p = ingot_mul(ctx, p, ingot_scalar(ctx, INGOT_F32, 1));

    (void)in, (void)n_in, (void)max_out;
    out[0] = ingot_sub(ctx, p, q);
    ingot_assign(ctx, p, q);
    ingot_assign(ctx, q, old_p);
    return 1;
}

static void check_swaps(ingot_context *ctx, const pair *k, ingot_tensor **out)
{
    (void)ctx;
    CHECK_VALUES(out[0], 9, 18); /* of the second call */
    CHECK_VALUES(ingot_parameter_tensor(k->p), 1, 2);
    CHECK_VALUES(ingot_parameter_tensor(k->q), 10, 20);
}

static void parameters_swap(void **state)
{
    (void)state;
    in_both(swaps, 1, check_swaps);
}

/* Twice to one parameter, as a layer that is used twice does with its statistics. */
CONSTRUCT(adds_twice)
{
    ingot_tensor *p = ingot_parameter_tensor(((pair *)user)->p);
    ingot_tensor *q = ingot_parameter_tensor(((pair *)user)->q);

    (void)in, (void)n_in, (void)max_out;
    for (int i = 0; i < 2; i++)
        ingot_assign(ctx, p, ingot_add(ctx, p, q));
    out[0] = ingot_neg(ctx, p);
    return 1;
}

static void check_adds_twice(ingot_context *ctx, const pair *k, ingot_tensor **out)
{
    (void)ctx;
    CHECK_VALUES(ingot_parameter_tensor(k->p), 41, 82);
    CHECK_VALUES(ingot_parameter_tensor(k->q), 10, 20);
    CHECK_VALUES(out[0], -41, -82);
}

static void the_last_assign_counts(void **state)
{
    (void)state;
    in_both(adds_twice, 1, check_adds_twice);
}

/* The gradient of what was computed before is that of the old content. */
CONSTRUCT(differentiates_late)
{
    ingot_tensor *p = ingot_parameter_tensor(((pair *)user)->p);
    ingot_tensor *x = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2), (float[]){1, 1});
    ingot_tensor *y = ingot_mul(ctx, p, x); /* its gradient to x is p */

    (void)in, (void)n_in, (void)max_out;
    ingot_assign(ctx, p, ingot_add(ctx, p, x));
    if (ingot_grad(ctx, ingot_sum(ctx, y, NULL), &x, 1, out) != INGOT_OK)
        return -1;
    return 1;
}

static void check_differentiates_late(ingot_context *ctx, const pair *k, ingot_tensor **out)
{
    (void)ctx;
    CHECK_VALUES(out[0], 2, 3); /* p before the second call */
    CHECK_VALUES(ingot_parameter_tensor(k->p), 3, 4);
}

static void gradients_see_the_old_content(void **state)
{
    (void)state;
    in_both(differentiates_late, 1, check_differentiates_late);
}

/* To itself, to a constant, and what it becomes is a result too. */
CONSTRUCT(odd_ones)
{
    ingot_tensor *p = ingot_parameter_tensor(((pair *)user)->p);
    ingot_tensor *q = ingot_parameter_tensor(((pair *)user)->q);

    (void)in, (void)n_in, (void)max_out;
    ingot_assign(ctx, p, p);
    out[0] = p;
    out[1] = ingot_assign(ctx, q, ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2), (float[]){5, 6}));
    out[2] = q;
    return 3;
}

static void check_odd_ones(ingot_context *ctx, const pair *k, ingot_tensor **out)
{
    (void)ctx;
    CHECK_VALUES(out[0], 1, 2);
    CHECK_VALUES(out[1], 5, 6);
    CHECK_VALUES(out[2], 5, 6);
    CHECK_VALUES(ingot_parameter_tensor(k->p), 1, 2);
    CHECK_VALUES(ingot_parameter_tensor(k->q), 5, 6);
}

static void sources_may_be_anything(void **state)
{
    (void)state;
    in_both(odd_ones, 3, check_odd_ones);
}

CONSTRUCT(to_an_input)
{
    (void)user, (void)n_in, (void)max_out;
    out[0] = ingot_assign(ctx, in[0], in[0]);
    return 1;
}

static void only_parameters_are_assigned(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODES; m++) {
        ingot_context *ctx = open_mode(modes[m], 0);
        ingot_function *f = ingot_function_new(ctx, to_an_input, NULL, NULL);
        ingot_tensor *x = vector(ctx, 1, (float[]){1}), *out[1];

        assert_int_not_equal(ingot_function_call(f, &x, 1, out, 1), INGOT_OK);
        check_error(ctx, INGOT_E_UNSUPPORTED, "op 'assign'");
        ingot_function_free(f);
        ingot_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_before_see_the_old_content),
        cmocka_unit_test(parameters_swap),
        cmocka_unit_test(the_last_assign_counts),
        cmocka_unit_test(gradients_see_the_old_content),
        cmocka_unit_test(sources_may_be_anything),
        cmocka_unit_test(only_parameters_are_assigned),
    };

    return cmocka_run_group_tests_name("runtime/assign", tests, NULL, NULL);
}
