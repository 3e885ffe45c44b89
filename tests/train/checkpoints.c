/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: exact, complete, refused when damaged, and equal however the run got there. */
#include "train/run.h"

static void path_in(const test_folder *f, const char *name, char out[256])
{
    snprintf(out, 256, "%s/%s", f->path, name);
}

static buffer file_bytes(const char *path)
{
    buffer b;

    buffer_init(&b, NULL, 0);
    assert_true(file_read(path, &b, NULL));
    return b;
}

static void check_same_files(const char *a, const char *b)
{
    buffer x = file_bytes(a), y = file_bytes(b);

    assert_int_equal(x.len, y.len);
    for (size_t i = 0; i < x.len; i++)
        if (x.data[i] != y.data[i])
            fail_msg("%s and %s differ at byte %zu of %zu", a, b, i, x.len);
    buffer_free(&x);
    buffer_free(&y);
}

static void write_bytes(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Trains as o says to `epochs` and saves to path. */
static void train_to(const run_options *o, int64_t epochs, const char *path)
{
    run r = run_open(o);

    if (ingot_model_train(r.model, epochs, r.ds, NULL) != INGOT_OK)
        fail_msg("%s", ingot_error_text(r.ctx));
    assert_int_equal(ingot_model_save(r.model, path), INGOT_OK);
    run_close(&r);
}

static void a_checkpoint_gives_back_the_model(void **state)
{
    test_folder f;
    char a[256], b[256];
    run r, s;

    (void)state;
    folder_open(&f);
    path_in(&f, "a", a);
    path_in(&f, "b", b);
    r = run_open(&(run_options){.threads = 1});
    assert_int_equal(ingot_model_train(r.model, 2, r.ds, &(ingot_train_options){.max_steps = 10}),
                     INGOT_OK);
    ingot_model_set_number(r.model, "mine", 0.1);
    assert_int_equal(ingot_model_save(r.model, a), INGOT_OK);
    s = run_open(&(run_options){.threads = 1});
    if (ingot_model_load(s.model, a) != INGOT_OK)
        fail_msg("%s", ingot_error_text(s.ctx));
    assert_int_equal(ingot_model_step(s.model), 10);
    assert_int_equal(ingot_model_epoch(s.model), 1);
    assert_true(ingot_model_number(s.model, "mine", 0) == 0.1);
    assert_true(ingot_model_number(s.model, "other", -1) == -1);
    for (int i = 0; i < ingot_cell_parameter_count(r.net); i++) {
        ingot_tensor *x = ingot_parameter_tensor(ingot_cell_parameter(r.net, i));
        ingot_tensor *y = ingot_parameter_tensor(ingot_cell_parameter(s.net, i));

        assert_memory_equal(ingot_tensor_data(x), ingot_tensor_data(y),
                            (size_t)ingot_tensor_count(x) * sizeof(float));
    }
    assert_int_equal(ingot_model_save(s.model, b), INGOT_OK);
    check_same_files(a, b);
    run_close(&r);
    run_close(&s);
    folder_close(&f);
}

/* Any bit, any length: refused, and the model stays as it was. */
static void damaged_checkpoints_are_refused(void **state)
{
    test_folder f;
    char a[256], b[256], before[256];
    buffer bytes;
    run r;

    (void)state;
    folder_open(&f);
    path_in(&f, "a", a);
    path_in(&f, "b", b);
    path_in(&f, "before", before);
    train_to(&(run_options){.threads = 1}, 1, a);
    bytes = file_bytes(a);
    r = run_open(&(run_options){.threads = 1});
    assert_int_equal(ingot_model_save(r.model, before), INGOT_OK);
    for (size_t i = 0; i < bytes.len; i += 1 + bytes.len / 97) {
        bytes.data[i] = (char)(bytes.data[i] ^ (1 << (i % 8)));
        write_bytes(b, bytes.data, bytes.len);
        bytes.data[i] = (char)(bytes.data[i] ^ (1 << (i % 8)));
        if (ingot_model_load(r.model, b) == INGOT_OK)
            fail_msg("a checkpoint with another bit in byte %zu was loaded", i);
        check_contains(ingot_error_text(r.ctx), b);
        ingot_clear_error(r.ctx);
        write_bytes(b, bytes.data, i);
        assert_int_not_equal(ingot_model_load(r.model, b), INGOT_OK);
        ingot_clear_error(r.ctx);
    }
    assert_int_equal(ingot_model_load(r.model, "/nowhere/at/all"), INGOT_E_NOT_FOUND);
    ingot_clear_error(r.ctx);
    assert_int_equal(ingot_model_save(r.model, b), INGOT_OK);
    check_same_files(before, b);
    buffer_free(&bytes);
    run_close(&r);
    folder_close(&f);
}

static void checkpoints_of_another_run_are_refused(void **state)
{
    test_folder f;
    char a[256];
    run r;

    (void)state;
    folder_open(&f);
    path_in(&f, "a", a);
    train_to(&(run_options){.threads = 1, .seed = 1}, 1, a);
    r = run_open(&(run_options){.threads = 1, .seed = 2});
    assert_int_equal(ingot_model_load(r.model, a), INGOT_E_STATE);
    check_error(r.ctx, INGOT_E_STATE, "seed 1, the context has 2");
    run_close(&r);
    r = run_open(&(run_options){.threads = 1, .seed = 1, .sgd = true});
    (void)!ingot_model_load(r.model, a);
    check_error(r.ctx, INGOT_E_STATE, "optimizer 'adamw', the model has 'sgd'");
    assert_int_equal(ingot_weights_save(r.ctx, r.net, a), INGOT_OK);
    (void)!ingot_model_load(r.model, a);
    check_error(r.ctx, INGOT_E_FORMAT, a);
    run_close(&r);
    folder_close(&f);
}

static void threads_workers_and_modes_change_no_bit(void **state)
{
    static const run_options others[] = {
        {.threads = 2, .workers = 1},
        {.threads = 3, .workers = 3},
        {.threads = 2, .mode = INGOT_EAGER},
    };
    test_folder f;
    char a[256], b[256];

    (void)state;
    folder_open(&f);
    path_in(&f, "a", a);
    path_in(&f, "b", b);
    train_to(&(run_options){.threads = 1, .workers = 1}, 3, a);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        train_to(&others[i], 3, b);
        check_same_files(a, b);
    }
    folder_close(&f);
}

/* Interrupted after every number of steps in turn, in the middle of epochs and between them. */
static void an_interrupted_run_ends_like_the_others(void **state)
{
    test_folder f;
    char whole[256], part[256], end[256];

    (void)state;
    folder_open(&f);
    path_in(&f, "whole", whole);
    path_in(&f, "part", part);
    path_in(&f, "end", end);
    train_to(&(run_options){.threads = 1}, 3, whole);
    for (uint64_t n = 1; n < 3 * BATCHES; n += 3) {
        run r = run_open(&(run_options){.threads = 1});

        assert_int_equal(
            ingot_model_train(r.model, 3, r.ds, &(ingot_train_options){.max_steps = n}), INGOT_OK);
        assert_int_equal(ingot_model_step(r.model), n);
        assert_int_equal(ingot_model_save(r.model, part), INGOT_OK);
        run_close(&r);
        r = run_open(&(run_options){.threads = 2});
        assert_int_equal(ingot_model_load(r.model, part), INGOT_OK);
        if (ingot_model_train(r.model, 3, r.ds, NULL) != INGOT_OK)
            fail_msg("%s", ingot_error_text(r.ctx));
        assert_int_equal(ingot_model_save(r.model, end), INGOT_OK);
        check_same_files(whole, end);
        run_close(&r);
    }
    folder_close(&f);
}

static void the_newest_checkpoints_stay(void **state)
{
    test_folder f;
    char path[256];
    run r = run_open(&(run_options){.threads = 1});

    (void)state;
    folder_open(&f);
    path_in(&f, "notes.txt", path);
    write_bytes(path, "mine", 4);
    assert_null(ingot_checkpoint_latest(r.ctx, f.path));
    ingot_model_add_callback(
        r.model,
        ingot_checkpoint(r.ctx, f.path, &(ingot_checkpoint_options){.every = 4, .keep = 2}));
    assert_int_equal(ingot_model_train(r.model, 2, r.ds, &(ingot_train_options){.max_steps = 13}),
                     INGOT_OK);
    assert_int_equal(file_count(&f), 3); /* the note, step 12, and the end at 13 */
    path_in(&f, "checkpoint-000000000012.safetensors", path);
    assert_true(file_exists(path));
    path_in(&f, "checkpoint-000000000013.safetensors", path);
    assert_string_equal(ingot_checkpoint_latest(r.ctx, f.path), path);
    assert_int_equal(ingot_model_load(r.model, path), INGOT_OK);
    check_ok(r.ctx);
    assert_null(ingot_checkpoint_latest(r.ctx, "/nowhere/at/all"));
    check_ok(r.ctx);
    run_close(&r);
    folder_close(&f);
}

/* When writing fails, training says so and the older checkpoint is whole. */
static bool no_rename(void *user, const char *call)
{
    (void)user;
    return strcmp(call, "rename") == 0;
}

static void a_failed_write_spares_the_old_one(void **state)
{
    test_folder f;
    run r = run_open(&(run_options){.threads = 1});
    const char *latest;

    (void)state;
    folder_open(&f);
    ingot_model_add_callback(
        r.model, ingot_checkpoint(r.ctx, f.path, &(ingot_checkpoint_options){.keep = 1}));
    assert_int_equal(ingot_model_train(r.model, 1, r.ds, NULL), INGOT_OK);
    file_fault_set(no_rename, NULL);
    assert_int_equal(ingot_model_train(r.model, 2, r.ds, NULL), INGOT_E_IO);
    file_fault_set(NULL, NULL);
    ingot_clear_error(r.ctx);
    assert_int_equal(file_count(&f), 1);
    latest = ingot_checkpoint_latest(r.ctx, f.path);
    assert_int_equal(ingot_model_load(r.model, latest), INGOT_OK);
    assert_int_equal(ingot_model_epoch(r.model), 1);
    run_close(&r);
    folder_close(&f);
}

static void weights_move_between_nets(void **state)
{
    test_folder f;
    char a[256];
    run r = run_open(&(run_options){.threads = 1, .seed = 1});
    run s = run_open(&(run_options){.threads = 1, .seed = 2});
    ingot_cell *other = ingot_nn_sequential(s.ctx, INGOT_CELLS(ingot_nn_relu(s.ctx)));
    ingot_tensor *x, *y;

    (void)state;
    folder_open(&f);
    path_in(&f, "a", a);
    assert_int_equal(ingot_weights_save(r.ctx, r.net, a), INGOT_OK);
    assert_int_equal(ingot_weights_load(s.ctx, s.net, a, false), INGOT_OK);
    x = ingot_parameter_tensor(ingot_cell_parameter(r.net, 0));
    y = ingot_parameter_tensor(ingot_cell_parameter(s.net, 0));
    assert_memory_equal(ingot_tensor_data(x), ingot_tensor_data(y),
                        (size_t)ingot_tensor_count(x) * sizeof(float));
    ingot_cell_add(other, "fc1", ingot_nn_linear(s.ctx, FEATURES, 9, NULL));
    (void)!ingot_weights_load(s.ctx, other, a, true);
    check_error(s.ctx, INGOT_E_SHAPE, "tensor 'fc1.weight' is f32[16,6], the net has f32[9,6]");
    ingot_cell_free(other);
    other = ingot_nn_sequential(s.ctx, INGOT_CELLS(ingot_nn_linear(s.ctx, 2, 2, NULL)));
    (void)!ingot_weights_load(s.ctx, other, a, false);
    check_error(s.ctx, INGOT_E_NOT_FOUND, "there is no tensor '0.weight'");
    (void)!ingot_weights_load(s.ctx, other, a, true);
    check_error(s.ctx, INGOT_E_NOT_FOUND, "none of its tensors");
    ingot_cell_free(other);
    run_close(&r);
    run_close(&s);
    folder_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_gives_back_the_model),
        cmocka_unit_test(damaged_checkpoints_are_refused),
        cmocka_unit_test(checkpoints_of_another_run_are_refused),
        cmocka_unit_test(threads_workers_and_modes_change_no_bit),
        cmocka_unit_test(an_interrupted_run_ends_like_the_others),
        cmocka_unit_test(the_newest_checkpoints_stay),
        cmocka_unit_test(a_failed_write_spares_the_old_one),
        cmocka_unit_test(weights_move_between_nets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
