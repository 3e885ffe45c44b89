/* SPDX-License-Identifier: Apache-2.0 */
/* Whole nets against PyTorch's: names of all parameters, and losses of six steps of training. */
#include "ingot/optim.h"
#include "nn/golden.h"
#include "nn/golden_nets.inc"

typedef struct trainer {
    ingot_cell *net, *loss;
    ingot_optimizer *opt;
} trainer;

static int construct_step(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                          int max_out, void *user)
{
    trainer *t = user;
    ingot_tensor *pair[2] = {ingot_cell_call(t->net, in[0]), in[1]};

    (void)ctx;
    (void)n_in;
    (void)max_out;
    out[0] = ingot_cell_call_n(t->loss, pair, 2);
    return out[0] && ingot_optimizer_minimize(t->opt, out[0]) == INGOT_OK ? 1 : -1;
}

/* The formula of golden.py. */
static void set_weights(ingot_cell *net)
{
    for (int k = 0; k < ingot_cell_parameter_count(net); k++) {
        ingot_parameter *p = ingot_cell_parameter(net, k);
        ingot_tensor *t = ingot_parameter_tensor(p);
        float *v = ingot_tensor_data(t);

        if (!ingot_parameter_trainable(p))
            continue;
        for (int64_t i = 0; i < ingot_tensor_count(t); i++)
            v[i] = (float)(sin((double)i * 0.7 + ingot_tensor_rank(t)) * 0.3);
    }
}

#define SIDE_MAX 64

static void check_trace(ingot_context *ctx, ingot_cell *net, int64_t side, double lr,
                        const char *const *names, size_t n, const float *want)
{
    trainer t = {.net = net, .loss = ingot_nn_cross_entropy(ctx, NULL)};
    ingot_function *f = ingot_function_new(ctx, construct_step, &t, NULL);
    ingot_tensor *in[2], *out;
    static float x[4 * 2 * SIDE_MAX * SIDE_MAX];

    check_ok(ctx);
    assert_int_equal(ingot_cell_parameter_count(net), n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(ingot_parameter_name(ingot_cell_parameter(net, (int)i)), names[i]);
    set_weights(net);
    t.opt = ingot_sgd(ctx, net, &(ingot_schedule){.lr = lr}, &(ingot_sgd_options){.momentum = 0.9});
    for (int i = 0; i < 4 * 2 * side * side; i++)
        x[i] = (float)sin(i * 0.37);
    in[0] = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(4, 2, side, side), x);
    in[1] = ingot_tensor_new(ctx, INGOT_I32, INGOT_INTS(4), (int32_t[]){0, 2, 1, 2});
    ingot_set_training(ctx, true);
    for (int s = 0; s < 6; s++) {
        ingot_set_step(ctx, (uint64_t)s);
        if (ingot_function_call(f, in, 2, &out, 1) != INGOT_OK)
            fail_msg("step %d: %s", s, ingot_error_text(ctx));
        check_near("loss", out, &want[s], 1, 0, 2e-4);
    }
    ingot_function_free(f);
    ingot_optimizer_free(t.opt);
    ingot_cell_free(t.loss);
}

static void check_net(const char *name, int64_t side, int64_t features, double lr,
                      const char *const *names, size_t n, const float *want)
{
    const ingot_mode modes[] = {INGOT_GRAPH, INGOT_EAGER};

    for (int k = 0; k < 2; k++) {
        ingot_context *ctx = open_mode(modes[k]);
        ingot_cell *net = ingot_net_by_name(
            ctx, name,
            &(ingot_net_options){
                .channels = 2, .height = side, .width = side, .classes = 3, .features = features});

        check_trace(ctx, net, side, lr, names, n, want);
        ingot_cell_free(net);
        ingot_close(ctx);
    }
}

#define NET(name, side, features, lr)                                        \
    static void name(void **state)                                           \
    {                                                                        \
        (void)state;                                                         \
        check_net(#name, side, features, lr, name##_names,                   \
                  sizeof name##_names / sizeof *name##_names, name##_trace); \
    }
NET(resnet8, 8, 4, 0.01)
NET(cnn, 8, 3, 0.01)
NET(resnet18, 64, 4, 0.01)
NET(resnet50, 64, 4, 0.001)

static void unknown_layers(void **state)
{
    ingot_context *ctx = open_mode(INGOT_GRAPH);
    const ingot_net_options o = {.channels = 3, .height = 64, .width = 64, .classes = 10};

    (void)state;
    assert_null(ingot_net_resnet_imagenet(ctx, 51, &o));
    check_error(ctx, INGOT_E_ARGUMENT, "51 layers are not one of 18, 34, 50, 101, 152");
    assert_null(ingot_net_by_name(ctx, "resnet51", &o));
    check_error(ctx, INGOT_E_NOT_FOUND, "net 'resnet51' is not one of");
    ingot_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resnet8),        cmocka_unit_test(cnn),
        cmocka_unit_test(resnet18),       cmocka_unit_test(resnet50),
        cmocka_unit_test(unknown_layers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
