/* SPDX-License-Identifier: Apache-2.0 */
/* Order, batches, workers, positions: what comes out depends on seed, epoch and index alone. */
#include "data/data.h"

enum { N = 53, BATCH = 8, BATCHES = 7 };

static bool make(int64_t index, ingot_array *columns, int n, void *user)
{
    unsigned char *x = ingot_array_alloc(&columns[0], INGOT_U8, INGOT_INTS(6, 6, 1));
    int64_t *y = ingot_array_alloc(&columns[1], INGOT_I64, (ingot_ints){NULL, 0});

    (void)n;
    if (!x || !y || (user && index == *(int64_t *)user))
        return false;
    for (int i = 0; i < 36; i++)
        x[i] = (unsigned char)(index * 5 + i * 7);
    *y = index;
    return true;
}

static ingot_dataset *open_data(ingot_context *ctx, int workers, int64_t *bad)
{
    static const char *const names[] = {"image", "label"};
    const double half = 0.5;
    ingot_dataset *ds = ingot_generator_dataset(ctx, N, make, bad, names, 2);

    (void)ingot_dataset_map(ds, "image",
                            (ingot_transform *[]){ingot_random_crop(ctx, 6, 6, 1),
                                                  ingot_random_horizontal_flip(ctx, 0.5),
                                                  ingot_normalize(ctx, &half, &half, 1),
                                                  ingot_hwc2chw(ctx), NULL},
                            workers);
    (void)ingot_dataset_shuffle(ds);
    (void)ingot_dataset_batch(ds, BATCH, false);
    check_ok(ctx);
    return ds;
}

typedef struct record {
    float x[BATCH * 36];
    int64_t y[BATCH];
    int64_t n;
} record;

static bool take(ingot_context *ctx, ingot_dataset *ds, record *r)
{
    ingot_tensor *out[2];
    bool more;

    memset(r, 0, sizeof *r);
    ingot_scope_begin(ctx);
    more = next(ctx, ds, out, 2);
    if (more) {
        r->n = ingot_tensor_dim(out[0], 0);
        memcpy(r->x, ingot_tensor_data(out[0]), (size_t)r->n * 36 * sizeof(float));
        memcpy(r->y, ingot_tensor_data(out[1]), (size_t)r->n * sizeof(int64_t));
    }
    ingot_scope_end(ctx);
    return more;
}

static record all[3][BATCHES]; /* three epochs, made without workers */

static int setup(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 9});
    ingot_dataset *ds = open_data(ctx, 0, NULL);
    record end;

    (void)state;
    for (int e = 0; e < 3; e++) {
        for (int b = 0; b < BATCHES; b++)
            assert_true(take(ctx, ds, &all[e][b]));
        assert_false(take(ctx, ds, &end));
    }
    ingot_dataset_free(ds);
    ingot_close(ctx);
    return 0;
}

static void an_epoch_is_a_permutation(void **state)
{
    int same = 0;

    (void)state;
    for (int e = 0; e < 3; e++) {
        int seen[N] = {0}, at_home = 0;

        for (int i = 0; i < N; i++) {
            int64_t y = all[e][i / BATCH].y[i % BATCH];

            assert_in_range(y, 0, N - 1);
            seen[y]++;
            at_home += y == i;
            same += e > 0 && y == all[0][i / BATCH].y[i % BATCH];
        }
        for (int i = 0; i < N; i++)
            assert_int_equal(seen[i], 1);
        assert_true(at_home < 10);
    }
    assert_true(same < 15); /* another order each time: two in 106 are expected */
    assert_int_equal(all[0][BATCHES - 1].n, N % BATCH);
}

static void workers_change_no_bit(void **state)
{
    static const int workers[] = {1, 3, 8};

    (void)state;
    for (int k = 0; k < 3; k++) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 9});
        ingot_dataset *ds = open_data(ctx, workers[k], NULL);
        record r;

        for (int e = 0; e < 3; e++) {
            for (int b = 0; b < BATCHES; b++) {
                assert_true(take(ctx, ds, &r));
                if (memcmp(&r, &all[e][b], sizeof r) != 0)
                    fail_msg("%d workers, epoch %d, batch %d", workers[k], e, b);
            }
            assert_false(take(ctx, ds, &r));
        }
        ingot_dataset_free(ds);
        ingot_close(ctx);
    }
}

/* From any position to any other, forwards and backwards. */
static void any_position_can_be_taken_up(void **state)
{
    (void)state;
    for (int workers = 0; workers <= 2; workers += 2) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 9});
        ingot_dataset *ds = open_data(ctx, workers, NULL);
        record r;

        for (int i = 0; i < 60; i++) {
            int e = i * 7 % 3, b = i * 5 % (BATCHES + 1);

            assert_int_equal(ingot_dataset_seek(ds, (uint64_t)e, b), INGOT_OK);
            if (b == BATCHES) {
                assert_false(take(ctx, ds, &r));
                e++;
                b = 0;
            }
            if (e < 3) {
                assert_true(take(ctx, ds, &r));
                assert_memory_equal(&r, &all[e][b], sizeof r);
            }
        }
        assert_int_equal(ingot_dataset_seek(ds, 0, BATCHES + 1), INGOT_E_ARGUMENT);
        check_error(ctx, INGOT_E_ARGUMENT, "an epoch has 7");
        ingot_dataset_free(ds);
        ingot_close(ctx);
    }
}

static void the_seed_decides(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 10});
    ingot_dataset *ds = open_data(ctx, 0, NULL);
    record r;

    (void)state;
    assert_true(take(ctx, ds, &r));
    assert_memory_not_equal(r.y, all[0][0].y, sizeof r.y);
    ingot_dataset_free(ds);
    ingot_close(ctx);
}

static void errors_come_in_their_turn(void **state)
{
    (void)state;
    for (int workers = 0; workers <= 3; workers += 3) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 9});
        int64_t bad = all[0][4].y[2];
        ingot_dataset *ds = open_data(ctx, workers, &bad);
        ingot_tensor *out[2];
        char text[64];
        record r;
        bool more;

        (void)snprintf(text, sizeof text, "sample %lld: the generator failed", (long long)bad);
        for (int b = 0; b < 4; b++)
            assert_true(take(ctx, ds, &r));
        for (int again = 0; again < 2; again++) {
            assert_int_equal(ingot_dataset_next(ds, out, 2, &more), INGOT_E_ARGUMENT);
            check_error(ctx, INGOT_E_ARGUMENT, text);
        }
        assert_int_equal(ingot_dataset_seek(ds, 0, 5), INGOT_OK);
        assert_true(take(ctx, ds, &r)); /* what follows is whole */
        assert_memory_equal(&r, &all[0][5], sizeof r);
        ingot_dataset_free(ds);
        ingot_close(ctx);
    }
}

static void parts_share_no_sample(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 9});
    int seen[N] = {0};

    (void)state;
    for (int part = 0; part < 2; part++) {
        ingot_dataset *ds = open_data(ctx, 0, NULL);
        record r;

        (void)ingot_dataset_split(ds, 0.25, 3, part);
        assert_int_equal(ingot_dataset_size(ds), part ? 13 : 40);
        while (take(ctx, ds, &r))
            for (int64_t i = 0; i < r.n; i++)
                seen[r.y[i]]++;
        assert_int_equal(ingot_dataset_repeat(ds, 2), INGOT_E_STATE);
        ingot_clear_error(ctx);
        ingot_dataset_free(ds);
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    ingot_close(ctx);
}

static void batches_are_counted(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    ingot_dataset *ds = open_data(ctx, 0, NULL);

    (void)state;
    assert_int_equal(ingot_dataset_batches(ds), 7);
    (void)ingot_dataset_batch(ds, BATCH, true);
    assert_int_equal(ingot_dataset_batches(ds), 6);
    (void)ingot_dataset_repeat(ds, 3);
    assert_int_equal(ingot_dataset_size(ds), 3 * N);
    (void)ingot_dataset_take(ds, 50, 3);
    assert_int_equal(ingot_dataset_size(ds), 9);
    assert_int_equal(ingot_dataset_take(ds, 50, 4), INGOT_E_ARGUMENT);
    ingot_clear_error(ctx);
    assert_int_equal(ingot_dataset_map(ds, "colour", (ingot_transform *[]){NULL}, 300),
                     INGOT_E_ARGUMENT);
    check_error(ctx, INGOT_E_ARGUMENT, "300 workers");
    assert_int_equal(
        ingot_dataset_map(ds, "colour", (ingot_transform *[]){ingot_hwc2chw(ctx), NULL}, 0),
        INGOT_E_NOT_FOUND);
    check_error(ctx, INGOT_E_NOT_FOUND, "no column \"colour\"");
    ingot_dataset_free(ds);
    ingot_close(ctx);
}

/* Two passes are an epoch; each sees the whole, in another order; batches reach over the seam. */
static void passes_are_repeated(void **state)
{
    (void)state;
    for (int workers = 0; workers <= 3; workers += 3) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 9});
        ingot_dataset *ds = open_data(ctx, workers, NULL);
        int64_t order[2 * N];
        int seen[N] = {0}, n = 0, same = 0;
        record r;

        (void)ingot_dataset_repeat(ds, 2);
        while (take(ctx, ds, &r))
            for (int64_t i = 0; i < r.n; i++)
                order[n++] = r.y[i];
        assert_int_equal(n, 2 * N);
        for (int i = 0; i < 2 * N; i++) {
            seen[order[i]]++;
            assert_int_equal(seen[order[i]], i < N ? 1 : 2);
            same += i < N && order[i] == order[i + N];
        }
        assert_true(same < 10);
        ingot_dataset_free(ds);
        ingot_close(ctx);
    }
}

static bool count_up(int64_t index, ingot_array *columns, int n, void *user)
{
    /* the value's length; 0 = no value at all, though the generator is content */
    const int64_t *lengths = user;
    int32_t *x;

    (void)n;
    if (lengths[index] == 0)
        return true;
    x = ingot_array_alloc(&columns[0], INGOT_I32, INGOT_INTS(lengths[index]));
    for (int64_t i = 0; x && i < lengths[index]; i++)
        x[i] = (int32_t)index;
    return x != NULL;
}

static void a_part_can_be_taken(void **state)
{
    static const char *const names[] = {"x"};
    int64_t lengths[] = {1, 1, 1, 1, 1, 1};
    ingot_context *ctx = ingot_open(NULL);
    ingot_dataset *ds = ingot_generator_dataset(ctx, 6, count_up, lengths, names, 1);
    ingot_tensor *out;

    (void)state;
    (void)ingot_dataset_take(ds, 2, 3);
    (void)ingot_dataset_batch(ds, 2, true);
    assert_true(next(ctx, ds, &out, 1));
    assert_true(ingot_tensor_item(out, 0) == 2 && ingot_tensor_item(out, 1) == 3);
    assert_false(next(ctx, ds, &out, 1)); /* the remainder is dropped */
    ingot_dataset_free(ds);
    ingot_close(ctx);
}

static bool makes_nothing(const ingot_array *in, ingot_array *out, const ingot_map_info *info,
                          void *user)
{
    (void)in;
    (void)info;
    (void)user;
    return ingot_array_alloc(out, INGOT_I32, (ingot_ints){NULL, -1}) == NULL;
}

/* The sample that does not stack is named, and so is a value that was never made. */
static void samples_must_stack(void **state)
{
    static const char *const names[] = {"x"};

    (void)state;
    for (int workers = 0; workers <= 2; workers += 2) {
        int64_t lengths[] = {3, 3, 3, 4, 0, 3};
        ingot_context *ctx = ingot_open(NULL);
        ingot_dataset *ds = ingot_generator_dataset(ctx, 6, count_up, lengths, names, 1);
        ingot_tensor *out;
        bool more;

        (void)ingot_dataset_batch(ds, 2, false);
        (void)ingot_dataset_map(ds, "x", (ingot_transform *[]){NULL}, workers);
        assert_true(next(ctx, ds, &out, 1));
        assert_int_equal(ingot_dataset_next(ds, &out, 1, &more), INGOT_E_SHAPE);
        assert_non_null(strstr(ingot_error_text(ctx), "i32[2,3]"));
        check_error(ctx, INGOT_E_SHAPE, "sample 3: a batch of");
        assert_int_equal(ingot_dataset_seek(ds, 0, 2), INGOT_OK);
        assert_int_equal(ingot_dataset_next(ds, &out, 1, &more), INGOT_E_ARGUMENT);
        check_error(ctx, INGOT_E_ARGUMENT, "sample 4: the generator left column 0 unset");
        assert_int_equal(ingot_dataset_seek(ds, 0, 0), INGOT_OK);
        assert_true(next(ctx, ds, &out, 1));
        ingot_dataset_free(ds);

        ds = ingot_generator_dataset(ctx, 6, count_up, lengths, names, 1);
        assert_int_equal(ingot_dataset_map(ds, NULL, (ingot_transform *[]){NULL}, 0),
                         INGOT_E_ARGUMENT);
        check_error(ctx, INGOT_E_ARGUMENT, "column is NULL");
        (void)ingot_dataset_map(
            ds, "x", (ingot_transform *[]){ingot_transform_new(ctx, makes_nothing, NULL), NULL},
            workers);
        (void)!ingot_dataset_next(ds, &out, 1, &more);
        check_error(ctx, INGOT_E_ARGUMENT, "sample 0: transform 0 of column \"x\" made no value");
        ingot_dataset_free(ds);
        ingot_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_is_a_permutation),    cmocka_unit_test(workers_change_no_bit),
        cmocka_unit_test(any_position_can_be_taken_up), cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(errors_come_in_their_turn),    cmocka_unit_test(parts_share_no_sample),
        cmocka_unit_test(batches_are_counted),          cmocka_unit_test(passes_are_repeated),
        cmocka_unit_test(a_part_can_be_taken),          cmocka_unit_test(samples_must_stack),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
