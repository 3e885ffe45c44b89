/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, scopes and tensor handles, without the runtime. */
#include "base/check.h"

#include "tensor/context.h"

#include <math.h>
#include <stdio.h>

static void *public_alloc(void *ptr, size_t old_size, size_t new_size, void *user)
{
    return checked_alloc(user, ptr, old_size, new_size);
}

static void tensors_die_with_their_scope(void **state)
{
    checked_heap heap = {0};
    ingot_context *ctx =
        context_new(&(ingot_context_options){.alloc = public_alloc, .alloc_user = &heap});
    ingot_tensor *outer, *t;
    size_t before;

    (void)state;
    outer = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2, 2), (float[]){1, 2, 3, 4});
    before = heap.live_objects;
    ingot_scope_begin(ctx);
    for (int i = 0; i < 5; i++)
        assert_non_null(ingot_tensor_full(ctx, INGOT_I32, INGOT_INTS(10), i));
    ingot_scope_begin(ctx);
    t = tensor_detach(ingot_scalar(ctx, INGOT_F32, 7));
    ingot_scope_end(ctx);
    ingot_scope_end(ctx);
    assert_true(ingot_tensor_item(outer, 3) == 4.0);
    assert_true(ingot_tensor_item(t, 0) == 7.0);
    tensor_free(t);
    assert_int_equal(heap.live_objects, before);
    ingot_scope_end(ctx);
    assert_int_equal(ingot_error(ctx), INGOT_E_STATE);
    context_free(ctx);
    assert_int_equal(heap.live_objects, 0);
    assert_false(heap.wrong_size);
}

static void errors_stick_until_cleared(void **state)
{
    ingot_context *ctx = context_new(NULL);

    (void)state;
    assert_null(ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2, -3), NULL));
    assert_int_equal(ingot_error(ctx), INGOT_E_SHAPE);
    check_contains(ingot_error_text(ctx), "dimension 1 is -3");
    assert_null(ingot_scalar(ctx, INGOT_F32, 1));
    assert_int_equal(ingot_set_error(ctx, INGOT_E_IO, "later %d", 1), INGOT_E_IO);
    check_contains(ingot_error_text(ctx), "dimension 1");
    ingot_clear_error(ctx);
    assert_string_equal(ingot_error_text(ctx), "");
    assert_non_null(ingot_scalar(ctx, INGOT_F32, 1));
    assert_int_equal(ingot_set_error(ctx, INGOT_E_IO, "user's %d%%", 50), INGOT_E_IO);
    assert_string_equal(ingot_error_text(ctx), "user's 50%");
    context_free(ctx);
    assert_int_equal(ingot_error(NULL), INGOT_E_MEMORY);
    ingot_clear_error(NULL);
    context_free(NULL);
}

static void bad_arguments_name_value_and_range(void **state)
{
    ingot_context *ctx = context_new(NULL);
    ingot_tensor *t = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2, 3), NULL);

    (void)state;
    assert_null(ingot_tensor_new(ctx, (ingot_dtype)99, INGOT_INTS(1), NULL));
    check_contains(ingot_error_text(ctx), "99");
    ingot_clear_error(ctx);
    assert_null(ingot_tensor_new(ctx, INGOT_F32, (ingot_ints){NULL, 9}, NULL));
    ingot_clear_error(ctx);
    assert_null(ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(1, 1, 1, 1, 1, 1, 1, 1, 1), NULL));
    check_contains(ingot_error_text(ctx), "9 is outside [0, 8]");
    ingot_clear_error(ctx);
    assert_null(ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(INT64_MAX, 2), NULL));
    check_contains(ingot_error_text(ctx), "overflows");
    ingot_clear_error(ctx);
    assert_int_equal(ingot_tensor_dim(t, -1), 3);
    assert_int_equal(ingot_tensor_dim(t, 0), 2);
    assert_int_equal(ingot_tensor_dim(t, 2), 0);
    check_contains(ingot_error_text(ctx), "axis 2 is outside [-2, 2)");
    ingot_clear_error(ctx);
    assert_true(isnan(ingot_tensor_item(t, 6)));
    check_contains(ingot_error_text(ctx), "6 is outside [0, 6)");
    context_free(ctx);
    ctx = context_new(&(ingot_context_options){.threads = -1});
    check_contains(ingot_error_text(ctx), "threads -1 is outside [0, 1024]");
    context_free(ctx);
    ctx = context_new(&(ingot_context_options){.mode = (ingot_mode)5});
    check_contains(ingot_error_text(ctx), "mode 5");
    context_free(ctx);
}

static void null_handles_are_harmless(void **state)
{
    (void)state;
    assert_int_equal(ingot_tensor_dtype(NULL), INGOT_F32);
    assert_int_equal(ingot_tensor_rank(NULL), 0);
    assert_int_equal(ingot_tensor_dim(NULL, 0), 0);
    assert_int_equal(ingot_tensor_count(NULL), 0);
    assert_null(ingot_tensor_data(NULL));
    assert_null(ingot_tensor_new(NULL, INGOT_F32, INGOT_INTS(1), NULL));
    assert_true(isnan(ingot_tensor_item(NULL, 0)));
    tensor_free(NULL);
    ingot_scope_begin(NULL);
    ingot_scope_end(NULL);
}

static void fills_reach_every_element(void **state)
{
    ingot_context *ctx = context_new(NULL);

    (void)state;
    for (int64_t n = 0; n < 40; n++)
        for (int d = 0; d <= INGOT_BOOL; d++) {
            ingot_tensor *t = ingot_tensor_full(ctx, (ingot_dtype)d, INGOT_INTS(n), 3.0);

            for (int64_t i = 0; i < n; i++)
                assert_true(ingot_tensor_item(t, i) == (d == INGOT_BOOL ? 1.0 : 3.0));
        }
    ingot_tensor *zero = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(3), -0.0);
    assert_true(signbit(ingot_tensor_item(zero, 2)));
    context_free(ctx);
}

static void texts_are_cut_in_the_middle(void **state)
{
    ingot_context *ctx = context_new(NULL);
    ingot_tensor *t =
        ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2, 3), (float[]){1, 2.5f, 3, 4, 5, 6});
    int64_t many[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    char buf[200], small[12];

    (void)state;
    assert_string_equal(ingot_tensor_text(t, buf, sizeof(buf)),
                        "f32[2,3] [[1, 2.5, 3], [4, 5, 6]]");
    assert_string_equal(ingot_tensor_text(t, small, sizeof(small)), "f32[2,3] [[");
    t = ingot_tensor_new(ctx, INGOT_I64, INGOT_INTS(9), many);
    assert_string_equal(ingot_tensor_text(t, buf, sizeof(buf)), "i64[9] [1, 2, 3, ..., 7, 8, 9]");
    t = ingot_scalar(ctx, INGOT_BOOL, 1);
    assert_string_equal(ingot_tensor_text(t, buf, sizeof(buf)), "bool[] true");
    assert_string_equal(ingot_tensor_text(NULL, buf, sizeof(buf)), "(no tensor)");
    assert_string_equal(ingot_tensor_text(t, NULL, 0), "");
    context_free(ctx);
}

static void build_some(ingot_context *ctx)
{
    ingot_scope_begin(ctx);
    ingot_tensor_full(ctx, INGOT_F64, INGOT_INTS(100), 1.5);
    ingot_scope_begin(ctx);
    ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(1000, 1000), NULL);
    ingot_scalar(ctx, INGOT_I8, 1);
    ingot_scope_end(ctx);
    ingot_scalar(ctx, INGOT_I8, 2);
    ingot_scope_end(ctx);
}

/* The n-th allocation fails, for every n: an error of memory, no leak, no crash. */
static void every_failing_allocation_is_an_error(void **state)
{
    bool ok = false;

    (void)state;
    for (long n = 1; !ok; n++) {
        checked_heap heap = {.fail_at = n};
        ingot_context *ctx = context_new(
            &(ingot_context_options){.alloc = public_alloc, .alloc_user = &heap, .isa = "generic"});

        assert_true(n < 100);
        build_some(ctx);
        ok = ingot_error(ctx) == INGOT_OK;
        if (!ok)
            assert_int_equal(ingot_error(ctx), INGOT_E_MEMORY);
        context_free(ctx);
        assert_int_equal(heap.live_objects, 0);
        assert_false(heap.wrong_size);
    }
}

static void log_line(const char *line, void *user)
{
    snprintf(user, 100, "%s", line);
}

static void logs_go_to_the_callback(void **state)
{
    char line[100] = "";
    ingot_context *ctx = context_new(&(ingot_context_options){.log = log_line, .log_user = line});

    (void)state;
    context_log(ctx, "%s %d", "step", 3);
    assert_string_equal(line, "step 3");
    context_log(NULL, "nothing");
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_die_with_their_scope),
        cmocka_unit_test(errors_stick_until_cleared),
        cmocka_unit_test(bad_arguments_name_value_and_range),
        cmocka_unit_test(null_handles_are_harmless),
        cmocka_unit_test(fills_reach_every_element),
        cmocka_unit_test(texts_are_cut_in_the_middle),
        cmocka_unit_test(every_failing_allocation_is_an_error),
        cmocka_unit_test(logs_go_to_the_callback),
    };

    return cmocka_run_group_tests_name("tensor/context", tests, NULL, NULL);
}
