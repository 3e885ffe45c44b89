/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: learning, metrics, callbacks, stopping, and what must end a run. */
#include "train/run.h"

/* --- learning and metrics --------------------------------------------------------------------- */

static void training_learns(void **state)
{
    const ingot_mode modes[] = {INGOT_GRAPH, INGOT_EAGER};

    (void)state;
    for (int k = 0; k < 2; k++) {
        run r = run_open(&(run_options){.threads = 1, .mode = modes[k]});
        ingot_metrics before, after;

        assert_int_equal(ingot_model_eval(r.model, r.ds, NULL, &before), INGOT_OK);
        if (ingot_model_train(r.model, 40, r.ds, NULL) != INGOT_OK)
            fail_msg("%s", ingot_error_text(r.ctx));
        assert_int_equal(ingot_model_eval(r.model, r.ds, NULL, &after), INGOT_OK);
        assert_int_equal(after.samples, SAMPLES);
        if (!(after.loss < 0.5 * before.loss && after.accuracy > 0.9))
            fail_msg("loss %g -> %g, accuracy %g -> %g", before.loss, after.loss, before.accuracy,
                     after.accuracy);
        assert_true(after.top_k >= after.accuracy);
        if (modes[k] == INGOT_GRAPH)
            assert_in_range(ingot_model_arena_bytes(r.model), 1, ingot_model_naive_bytes(r.model));
        run_close(&r);
    }
}

/* A net that gives its input as logits, so that the metrics can be told by hand. */
static ingot_tensor *first_three(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                 int n_in, void *user)
{
    (void)cell;
    (void)n_in;
    (void)user;
    return ingot_slice(ctx, in[0], INGOT_INTS(0, 0),
                       INGOT_INTS(ingot_tensor_dim(in[0], 0), CLASSES), NULL);
}

static void metrics_are_those_of_all_samples(void **state)
{
    run r = run_open(&(run_options){.threads = 1});
    ingot_cell *net = ingot_cell_new(r.ctx, &(ingot_cell_options){.construct = first_three});
    ingot_model *m = ingot_model_new(r.ctx, net, ingot_nn_cross_entropy(r.ctx, NULL), NULL,
                                     &(ingot_model_options){.top_k = 2});
    ingot_metrics got;
    double loss = 0;
    int right = 0, top = 0;

    (void)state;
    for (int64_t i = 0; i < SAMPLES; i++) {
        float x[FEATURES];
        int32_t label = 0;
        double sum = 0;
        int above = 0;

        sample_of(i, x, &label);
        for (int c = 0; c < CLASSES; c++) {
            sum += exp((double)x[c]);
            above += x[c] > x[label];
        }
        loss += log(sum) - (double)x[label];
        right += above == 0;
        top += above < 2;
    }
    if (ingot_model_eval(m, r.ds, NULL, &got) != INGOT_OK)
        fail_msg("%s", ingot_error_text(r.ctx));
    assert_true(fabs(got.loss - loss / SAMPLES) < 1e-5);
    assert_true(right < SAMPLES && right < top); /* else this shows nothing */
    assert_true(got.accuracy == (double)right / SAMPLES);
    assert_true(got.top_k == (double)top / SAMPLES);
    assert_int_equal(ingot_model_train(m, 1, r.ds, NULL), INGOT_E_STATE);
    check_error(r.ctx, INGOT_E_STATE, "without an optimizer");
    ingot_model_free(m);
    ingot_cell_free(net);
    run_close(&r);
}

static void predictions_are_those_of_evaluation(void **state)
{
    run r = run_open(&(run_options){.threads = 1});
    ingot_tensor *x, *y, *z;
    float row[FEATURES];
    int32_t label;

    (void)state;
    sample_of(3, row, &label);
    x = ingot_tensor_new(r.ctx, INGOT_F32, INGOT_INTS(1, FEATURES), row);
    y = ingot_model_predict(r.model, x);
    z = ingot_model_predict(r.model, x);
    check_ok(r.ctx);
    assert_int_equal(ingot_tensor_dim(y, 1), CLASSES);
    for (int i = 0; i < CLASSES; i++) /* no dropout */
        assert_true(ingot_tensor_item(y, i) == ingot_tensor_item(z, i));
    run_close(&r);
}

/* --- callbacks -------------------------------------------------------------------------------- */

typedef struct record {
    char events[512];
    size_t n;
    uint64_t stop_at;  /* step; 0 = never */
    bool from_outside; /* by ingot_model_stop */
    int released;
} record;

static int note(ingot_event event, const ingot_progress *p, void *user)
{
    record *r = user;

    if (r->n + 1 < sizeof r->events)
        r->events[r->n++] = "TebsEtvxV"[event];
    if (event == INGOT_STEP_END && p->step == r->stop_at) {
        if (!r->from_outside)
            return 1;
        ingot_model_stop(p->model);
    }
    return 0;
}

static void release_record(void *user)
{
    ((record *)user)->released++;
}

static void callbacks_see_every_event_in_order(void **state)
{
    run r = run_open(&(run_options){.threads = 1});
    record seen = {.n = 0};

    (void)state;
    ingot_model_add_callback(r.model, ingot_callback_new(r.ctx, note, &seen, release_record));
    assert_int_equal(ingot_model_train(r.model, 1, r.ds, &(ingot_train_options){.eval = r.test}),
                     INGOT_OK);
    assert_string_equal(seen.events, "Tebsbsbsbsbsbsbs"
                                     "vxxxxxxxVEt");
    run_close(&r);
    assert_int_equal(seen.released, 1);
}

static void a_callback_can_stop_training(void **state)
{
    run r = run_open(&(run_options){.threads = 1});
    record seen = {.stop_at = 3};

    (void)state;
    ingot_model_add_callback(r.model, ingot_callback_new(r.ctx, note, &seen, release_record));
    assert_int_equal(ingot_model_train(r.model, 5, r.ds, NULL), INGOT_OK);
    assert_string_equal(seen.events, "Tebsbsbst");
    assert_int_equal(ingot_model_step(r.model), 3);
    assert_int_equal(ingot_model_train(r.model, 1, r.ds, NULL), INGOT_OK); /* goes on */
    assert_int_equal(ingot_model_step(r.model), BATCHES);
    run_close(&r);
}

static void a_stop_from_outside_saves_and_cancels(void **state)
{
    test_folder f;
    run r = run_open(&(run_options){.threads = 1});
    record seen = {.stop_at = 4, .from_outside = true};
    const char *latest;

    (void)state;
    folder_open(&f);
    ingot_model_add_callback(r.model, ingot_checkpoint(r.ctx, f.path, NULL));
    ingot_model_add_callback(r.model, ingot_callback_new(r.ctx, note, &seen, release_record));
    assert_int_equal(ingot_model_train(r.model, 5, r.ds, NULL), INGOT_E_CANCELLED);
    check_error(r.ctx, INGOT_E_CANCELLED, "stopped after step 4 (epoch 1, batch 4)");
    latest = ingot_checkpoint_latest(r.ctx, f.path);
    assert_non_null(latest);
    check_contains(latest, "000000000004");
    assert_int_equal(ingot_model_train(r.model, 1, r.ds, NULL), INGOT_OK);
    assert_int_equal(ingot_model_step(r.model), BATCHES);
    run_close(&r);
    folder_close(&f);
}

static int fail_at_two(ingot_event event, const ingot_progress *p, void *user)
{
    (void)user;
    if (event == INGOT_STEP_END && p->step == 2)
        ingot_set_error(p->ctx, INGOT_E_IO, "the disk of step %d is full", (int)p->step);
    return 0;
}

static void an_error_of_a_callback_ends_training(void **state)
{
    run r = run_open(&(run_options){.threads = 1});

    (void)state;
    ingot_model_add_callback(r.model, ingot_callback_new(r.ctx, fail_at_two, NULL, NULL));
    assert_int_equal(ingot_model_train(r.model, 1, r.ds, NULL), INGOT_E_IO);
    check_error(r.ctx, INGOT_E_IO, "the disk of step 2 is full");
    run_close(&r);
}

/* --- monitors --------------------------------------------------------------------------------- */

typedef struct lines {
    char text[4096];
    int n;
} lines;

static void keep_line(const char *line, void *user)
{
    lines *l = user;
    size_t used = strlen(l->text);

    snprintf(l->text + used, sizeof l->text - used, "%s\n", line);
    l->n++;
}

static void monitors_write_lines(void **state)
{
    run r = run_open(&(run_options){.threads = 1});
    lines loss = {.n = 0}, timing = {.n = 0};

    (void)state;
    ingot_model_add_callback(r.model, ingot_loss_monitor(r.ctx, 5, keep_line, &loss));
    ingot_model_add_callback(r.model, ingot_time_monitor(r.ctx, keep_line, &timing));
    assert_int_equal(ingot_model_train(r.model, 2, r.ds, &(ingot_train_options){.eval = r.test}),
                     INGOT_OK);
    assert_int_equal(loss.n, 2 + 2); /* steps 5 and 10, two evaluations */
    check_contains(loss.text, "epoch 1/2 batch 5/7 step 5 loss ");
    check_contains(loss.text, "epoch 2/2 batch 3/7 step 10 loss ");
    check_contains(loss.text, "evaluation step 7 loss ");
    check_contains(loss.text, " accuracy 0.");
    check_contains(loss.text, " top-2 ");
    assert_int_equal(timing.n, 2);
    check_contains(timing.text, "epoch 2/2 time ");
    run_close(&r);
}

static void early_stopping_waits_with_patience(void **state)
{
    test_folder f;
    char path[256];
    run_options o = {.threads = 1, .lr = 1e-30}; /* nothing ever improves */
    run r = run_open(&o);

    (void)state;
    folder_open(&f);
    snprintf(path, sizeof path, "%s/a", f.path);
    ingot_model_add_callback(
        r.model, ingot_early_stop(r.ctx, 3, &(ingot_early_stop_options){.min_delta = 1e-3}));
    assert_int_equal(ingot_model_train(r.model, 2, r.ds, &(ingot_train_options){.eval = r.test}),
                     INGOT_OK);
    assert_int_equal(ingot_model_save(r.model, path), INGOT_OK);
    run_close(&r);
    r = run_open(&o); /* what it waited before counts */
    ingot_model_add_callback(
        r.model, ingot_early_stop(r.ctx, 3, &(ingot_early_stop_options){.min_delta = 1e-3}));
    assert_int_equal(ingot_model_load(r.model, path), INGOT_OK);
    assert_int_equal(ingot_model_train(r.model, 50, r.ds, &(ingot_train_options){.eval = r.test}),
                     INGOT_OK);
    assert_int_equal(ingot_model_epoch(r.model), 4); /* the first is the best, then three */
    assert_int_equal(ingot_model_train(r.model, 50, r.ds, &(ingot_train_options){.eval = r.test}),
                     INGOT_OK);
    assert_int_equal(ingot_model_epoch(r.model), 4);
    assert_null(ingot_early_stop(r.ctx, 0, NULL));
    check_error(r.ctx, INGOT_E_ARGUMENT, "patience 0 is below 1");
    run_close(&r);
    folder_close(&f);
}

/* --- what must end a run -----------------------------------------------------------------------
 */

static void a_loss_that_is_nan_names_its_step(void **state)
{
    test_folder f;
    run r = run_open(&(run_options){.threads = 1, .nan_row = 20});

    (void)state;
    folder_open(&f);
    ingot_model_add_callback(
        r.model, ingot_checkpoint(r.ctx, f.path, &(ingot_checkpoint_options){.every = 1}));
    assert_int_equal(ingot_model_train(r.model, 2, r.ds, NULL), INGOT_E_NUMERIC);
    check_error(r.ctx, INGOT_E_NUMERIC, "step 3 (epoch 1, batch 3): the loss is");
    check_contains(ingot_checkpoint_latest(r.ctx, f.path), "000000000002");
    run_close(&r);
    folder_close(&f);
}

/* In the first batch, when the net has not told its classes yet, and in a later one. */
static void a_label_outside_names_itself(void **state)
{
    static const int rows[] = {5, 20};
    const ingot_mode modes[] = {INGOT_GRAPH, INGOT_EAGER};

    (void)state;
    for (int k = 0; k < 4; k++) {
        run r =
            run_open(&(run_options){.threads = 1, .bad_row = rows[k / 2], .mode = modes[k % 2]});
        char text[64];

        snprintf(text, sizeof text, "label 7 of sample %d ", rows[k / 2]);
        assert_int_equal(ingot_model_train(r.model, 1, r.ds, NULL), INGOT_E_ARGUMENT);
        assert_int_equal(ingot_model_step(r.model), rows[k / 2] / BATCH);
        check_contains(ingot_error_text(r.ctx), "is outside [0, 3)");
        check_error(r.ctx, INGOT_E_ARGUMENT, text);
        assert_int_equal(ingot_model_eval(r.model, r.ds, NULL, NULL), INGOT_E_ARGUMENT);
        check_error(r.ctx, INGOT_E_ARGUMENT, text);
        run_close(&r);
    }
}

static void models_say_what_they_lack(void **state)
{
    run r = run_open(&(run_options){.threads = 1});

    (void)state;
    assert_null(ingot_model_new(r.ctx, NULL, ingot_nn_mse_loss(r.ctx, NULL), NULL, NULL));
    check_error(r.ctx, INGOT_E_ARGUMENT, "the net is NULL");
    assert_int_equal(ingot_model_train(r.model, 1, r.ds, &(ingot_train_options){.target = 9}),
                     INGOT_E_ARGUMENT);
    check_error(r.ctx, INGOT_E_ARGUMENT, "column 9");
    assert_int_equal(ingot_model_train(r.model, -1, r.ds, NULL), INGOT_E_ARGUMENT);
    check_error(r.ctx, INGOT_E_ARGUMENT, "epochs -1 is negative");
    assert_int_equal(ingot_model_train(r.model, 0, r.ds, NULL), INGOT_OK);
    assert_int_equal(ingot_model_step(r.model), 0);
    assert_int_equal(ingot_model_set_number(r.model, "", 1), INGOT_E_ARGUMENT);
    check_error(r.ctx, INGOT_E_ARGUMENT, "the key of a number is empty");
    run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_learns),
        cmocka_unit_test(metrics_are_those_of_all_samples),
        cmocka_unit_test(predictions_are_those_of_evaluation),
        cmocka_unit_test(callbacks_see_every_event_in_order),
        cmocka_unit_test(a_callback_can_stop_training),
        cmocka_unit_test(a_stop_from_outside_saves_and_cancels),
        cmocka_unit_test(an_error_of_a_callback_ends_training),
        cmocka_unit_test(monitors_write_lines),
        cmocka_unit_test(early_stopping_waits_with_patience),
        cmocka_unit_test(a_loss_that_is_nan_names_its_step),
        cmocka_unit_test(a_label_outside_names_itself),
        cmocka_unit_test(models_say_what_they_lack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
