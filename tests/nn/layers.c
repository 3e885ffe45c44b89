/* SPDX-License-Identifier: Apache-2.0 */
/* Layers and losses against PyTorch's, compiled and eager; each test runs in both modes. */
#include "nn/golden.h"
#include "nn/golden.inc"

static ingot_tensor *images_of(ingot_context *ctx)
{
    return ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2, 4, 6, 5), images);
}

static ingot_tensor *rows_of(ingot_context *ctx)
{
    return ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(3, 6), rows);
}

static ingot_context *context_of(void **state)
{
    return open_mode(*(const ingot_mode *)*state);
}

static void done(ingot_context *ctx, ingot_cell *cell)
{
    check_ok(ctx);
    ingot_cell_free(cell);
    ingot_close(ctx);
}

static void linear_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_linear(ctx, 6, 4, NULL);
    ingot_tensor *x = rows_of(ctx);

    SET_WEIGHT(cell, "weight", linear_weight);
    SET_WEIGHT(cell, "bias", linear_bias);
    CHECK_NEAR("linear", run_cell(ctx, cell, &x, 1), linear_y);
    done(ctx, cell);
}

static void conv2d_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_conv2d(
        ctx, 4, 6, 3, &(ingot_nn_conv2d_options){.stride = 2, .padding = 1, .groups = 2});
    ingot_tensor *x = images_of(ctx);

    SET_WEIGHT(cell, "weight", conv_weight);
    SET_WEIGHT(cell, "bias", conv_bias);
    CHECK_NEAR("conv2d", run_cell(ctx, cell, &x, 1), conv_y);
    done(ctx, cell);
}

static void dilated_conv2d_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_conv2d(
        ctx, 4, 2, 3,
        &(ingot_nn_conv2d_options){.kernel_width = 2, .dilation = 2, .no_bias = true});
    ingot_tensor *x = images_of(ctx);

    assert_int_equal(ingot_cell_parameter_count(cell), 1);
    SET_WEIGHT(cell, "weight", dilated_weight);
    CHECK_NEAR("dilated conv2d", run_cell(ctx, cell, &x, 1), dilated_y);
    done(ctx, cell);
}

static void layer_norm_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell =
        ingot_nn_layer_norm(ctx, INGOT_INTS(6, 5), &(ingot_nn_norm_options){.eps = 1e-3});
    ingot_tensor *x = images_of(ctx);

    CHECK_NEAR("weight", ingot_parameter_tensor(ingot_cell_find(cell, "weight")),
               layer_norm_weight);
    CHECK_NEAR("layer norm", run_cell(ctx, cell, &x, 1), layer_norm_y);
    done(ctx, cell);
}

static void embedding_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_embedding(ctx, 5, 3, NULL);
    ingot_tensor *x = ingot_tensor_new(ctx, INGOT_I64, INGOT_INTS(2, 2), embedding_index);

    SET_WEIGHT(cell, "weight", embedding_weight);
    CHECK_NEAR("embedding", run_cell(ctx, cell, &x, 1), embedding_y);
    done(ctx, cell);
}

/* Two batches in training, then one outside of it, by the statistics they left. */
static void batch_norm_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_batch_norm(ctx, 4, &(ingot_nn_norm_options){.momentum = 0.3});
    ingot_tensor *x = images_of(ctx), *moved = images_of(ctx);
    float *v = ingot_tensor_data(moved);

    for (int i = 0; i < 240; i++)
        v[i] = v[i] * 2 + 1;
    SET_WEIGHT(cell, "weight", batch_norm_weight);
    SET_WEIGHT(cell, "bias", batch_norm_bias);
    ingot_set_training(ctx, true);
    CHECK_NEAR("training", run_cell(ctx, cell, &x, 1), batch_norm_y);
    assert_non_null(run_cell(ctx, cell, &moved, 1));
    CHECK_NEAR("running_mean", ingot_parameter_tensor(ingot_cell_find(cell, "running_mean")),
               batch_norm_mean);
    CHECK_NEAR("running_var", ingot_parameter_tensor(ingot_cell_find(cell, "running_var")),
               batch_norm_var);
    ingot_set_training(ctx, false);
    CHECK_NEAR("evaluation", run_cell(ctx, cell, &x, 1), batch_norm_eval);
    CHECK_NEAR("untouched", ingot_parameter_tensor(ingot_cell_find(cell, "running_mean")),
               batch_norm_mean);
    done(ctx, cell);
}

static void batch_norm_needs_samples(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_batch_norm(ctx, 3, NULL);
    ingot_tensor *x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(1, 3), 2.0);

    ingot_set_training(ctx, true);
    assert_null(run_cell(ctx, cell, &x, 1));
    check_error(ctx, INGOT_E_SHAPE, "1 value in training, 2 or more");
    x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(4, 2), 2.0);
    assert_null(run_cell(ctx, cell, &x, 1));
    check_error(ctx, INGOT_E_SHAPE, "3 features");
    done(ctx, cell);
}

static void pooling(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_nn_pool_options o = {.stride = 2, .padding = 1, .ceil_mode = true};
    ingot_cell *max = ingot_nn_max_pool2d(ctx, 3, &o), *avg, *adaptive;
    ingot_tensor *x = images_of(ctx);

    o.ceil_mode = false;
    avg = ingot_nn_avg_pool2d(ctx, 3, &o);
    adaptive = ingot_nn_adaptive_avg_pool2d(ctx, 4, 2);
    CHECK_NEAR("max_pool2d", run_cell(ctx, max, &x, 1), max_pool_y);
    CHECK_NEAR("avg_pool2d", run_cell(ctx, avg, &x, 1), avg_pool_y);
    CHECK_NEAR("adaptive_avg_pool2d", run_cell(ctx, adaptive, &x, 1), adaptive_y);
    ingot_cell_free(max);
    ingot_cell_free(avg);
    done(ctx, adaptive);
}

static void activations(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_tensor *x = rows_of(ctx);
    ingot_cell *cells[] = {ingot_nn_relu(ctx),    ingot_nn_gelu(ctx), ingot_nn_silu(ctx),
                           ingot_nn_sigmoid(ctx), ingot_nn_tanh(ctx), ingot_nn_softmax(ctx, -1)};
    const float *want[] = {relu_y, gelu_y, silu_y, sigmoid_y, tanh_y, softmax_y};

    for (size_t i = 0; i < 6; i++) {
        check_near("activation", run_cell(ctx, cells[i], &x, 1), want[i], 18, 2e-6, 2e-5);
        ingot_cell_free(cells[i]);
    }
    done(ctx, NULL);
}

static void flatten_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_flatten(ctx);
    ingot_tensor *x = images_of(ctx), *y = run_cell(ctx, cell, &x, 1);

    CHECK_NEAR("flatten", y, images);
    assert_int_equal(ingot_tensor_rank(y), 2);
    assert_int_equal(ingot_tensor_dim(y, 1), 120);
    done(ctx, cell);
}

/* About a share p is zero, the others are scaled; nothing outside of training. */
static void dropout_layer(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_cell *cell = ingot_nn_dropout(ctx, 0.25);
    ingot_tensor *x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(100, 100), 3.0), *y, *z;
    int zeros = 0, differ = 0;

    ingot_set_training(ctx, true);
    ingot_set_step(ctx, 5);
    y = run_cell(ctx, cell, &x, 1);
    check_ok(ctx);
    for (int i = 0; i < 10000; i++) {
        double v = ingot_tensor_item(y, i);

        assert_true(v == 0.0 || fabs(v - 4.0) < 1e-6);
        zeros += v == 0.0;
    }
    assert_in_range(zeros, 2300, 2700);
    ingot_set_step(ctx, 6);
    z = run_cell(ctx, cell, &x, 1);
    for (int i = 0; i < 10000; i++)
        differ += ingot_tensor_item(y, i) != ingot_tensor_item(z, i);
    assert_in_range(differ, 3000, 4500); /* 2 p (1 - p) of them */
    ingot_set_training(ctx, false);
    y = run_cell(ctx, cell, &x, 1);
    for (int i = 0; i < 10000; i++)
        assert_true(ingot_tensor_item(y, i) == 3.0);
    assert_null(ingot_nn_dropout(ctx, 1.0));
    check_error(ctx, INGOT_E_ARGUMENT, "p 1 is outside [0, 1)");
    done(ctx, cell);
}

static void losses_by_name(void **state)
{
    ingot_context *ctx = context_of(state);
    ingot_nn_loss_options sum = {.reduction = "sum"}, none = {.reduction = "none"};
    ingot_nn_loss_options smooth = {.label_smoothing = 0.2};
    ingot_tensor *in[2], *dense_t, *hard;
    ingot_cell *cells[8];

    in[0] = rows_of(ctx);
    hard = ingot_tensor_new(ctx, INGOT_I64, INGOT_INTS(3), target);
    dense_t = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(3, 6), dense);
    cells[0] = ingot_nn_cross_entropy(ctx, NULL);
    cells[1] = ingot_nn_cross_entropy(ctx, &sum);
    cells[2] = ingot_nn_cross_entropy(ctx, &smooth);
    cells[3] = ingot_nn_cross_entropy(ctx, NULL);
    cells[4] = ingot_nn_cross_entropy(ctx, &smooth);
    cells[5] = ingot_nn_mse_loss(ctx, NULL);
    cells[6] = ingot_nn_l1_loss(ctx, &sum);
    cells[7] = ingot_nn_bce_with_logits(ctx, NULL);
    for (int i = 0; i < 8; i++) {
        in[1] = i < 3 ? hard : dense_t;
        check_near("loss", run_cell(ctx, cells[i], in, 2), &losses[i], 1, 2e-6, 2e-6);
        ingot_cell_free(cells[i]);
    }
    none.label_smoothing = 0.2;
    cells[0] = ingot_nn_cross_entropy(ctx, &none);
    in[1] = hard;
    CHECK_NEAR("none", run_cell(ctx, cells[0], in, 2), losses_none);
    ingot_cell_free(cells[0]);
    assert_null(ingot_nn_mse_loss(ctx, &(ingot_nn_loss_options){.reduction = "maen"}));
    check_error(ctx, INGOT_E_ARGUMENT, "'maen' is not one of mean, sum, none");
    done(ctx, NULL);
}

static void wrong_layers_say_why(void **state)
{
    ingot_context *ctx = context_of(state);

    assert_null(ingot_nn_linear(ctx, 0, 4, NULL));
    check_error(ctx, INGOT_E_ARGUMENT, "linear: in is 0, at least 1");
    assert_null(ingot_nn_conv2d(ctx, 4, 6, 3, &(ingot_nn_conv2d_options){.groups = 4}));
    check_error(ctx, INGOT_E_ARGUMENT, "4 groups do not divide the channels: 4 in, 6 out");
    assert_null(ingot_nn_max_pool2d(ctx, 2, &(ingot_nn_pool_options){.stride = -1}));
    check_error(ctx, INGOT_E_ARGUMENT, "max_pool2d: stride is -1");
    assert_null(ingot_nn_batch_norm(ctx, 2, &(ingot_nn_norm_options){.momentum = 1.5}));
    check_error(ctx, INGOT_E_ARGUMENT, "momentum 1.5 in (0, 1]");
    done(ctx, NULL);
}

int main(void)
{
    static const ingot_mode graph = INGOT_GRAPH, eager = INGOT_EAGER;
#define BOTH(f)                                               \
    {#f "/graph", f, NULL, NULL, (void *)(uintptr_t)&graph},  \
    {                                                         \
#f "/eager", f, NULL, NULL, (void *)(uintptr_t)&eager \
    }
    const struct CMUnitTest tests[] = {
        BOTH(linear_layer),
        BOTH(conv2d_layer),
        BOTH(dilated_conv2d_layer),
        BOTH(layer_norm_layer),
        BOTH(embedding_layer),
        BOTH(batch_norm_layer),
        BOTH(batch_norm_needs_samples),
        BOTH(pooling),
        BOTH(activations),
        BOTH(flatten_layer),
        BOTH(dropout_layer),
        BOTH(losses_by_name),
        BOTH(wrong_layers_say_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
