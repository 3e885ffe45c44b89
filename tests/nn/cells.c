/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of cells: names, ownership, first values, user-defined cells. */
#include "ingot/ops.h"
#include "nn/golden.h"

#include <stdio.h>

static void *heap_alloc(void *ptr, size_t old_size, size_t new_size, void *user)
{
    return checked_alloc(user, ptr, old_size, new_size);
}

static ingot_context *open_on(checked_heap *heap, uint64_t seed)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){
        .threads = 1, .seed = seed, .alloc = heap ? heap_alloc : NULL, .alloc_user = heap});

    assert_non_null(ctx);
    return ctx;
}

static ingot_cell *small_net(ingot_context *ctx)
{
    ingot_cell *body =
        ingot_nn_sequential(ctx, INGOT_CELLS(ingot_nn_linear(ctx, 3, 5, NULL), ingot_nn_relu(ctx),
                                             ingot_nn_linear(ctx, 5, 3, NULL)));
    ingot_cell *net = ingot_nn_sequential(ctx, INGOT_CELLS(ingot_nn_residual(ctx, body, NULL)));

    ingot_cell_add(net, "norm", ingot_nn_batch_norm(ctx, 3, NULL));
    return net;
}

static void names_are_paths_in_order(void **state)
{
    static const char *const want[] = {"0.body.0.weight",   "0.body.0.bias",   "0.body.2.weight",
                                       "0.body.2.bias",     "norm.weight",     "norm.bias",
                                       "norm.running_mean", "norm.running_var"};
    ingot_context *ctx = open_on(NULL, 1);
    ingot_cell *net = small_net(ctx);

    (void)state;
    assert_int_equal(ingot_cell_parameter_count(net), 8);
    for (int i = 0; i < 8; i++) {
        ingot_parameter *p = ingot_cell_parameter(net, i);

        assert_string_equal(ingot_parameter_name(p), want[i]);
        assert_ptr_equal(ingot_cell_find(net, want[i]), p);
    }
    assert_null(ingot_cell_parameter(net, 8));
    assert_null(ingot_cell_parameter(net, -1));
    assert_null(ingot_cell_find(net, "0.body.1.weight"));
    assert_null(ingot_cell_find(net, "0.body.0.weights"));
    assert_int_equal(ingot_cell_element_count(net), 15 + 5 + 15 + 3 + 3 + 3);
    assert_int_equal(ingot_cell_child_count(net), 2);
    assert_ptr_equal(ingot_cell_child_by_name(net, "norm"), ingot_cell_child(net, 1));
    ingot_cell_free(net);
    ingot_close(ctx);
}

static void freezing_spares_buffers(void **state)
{
    ingot_context *ctx = open_on(NULL, 1);
    ingot_cell *net = small_net(ctx);

    (void)state;
    ingot_cell_freeze(net, true);
    for (int i = 0; i < 8; i++)
        assert_false(ingot_parameter_trainable(ingot_cell_parameter(net, i)));
    ingot_cell_freeze(net, false);
    for (int i = 0; i < 8; i++)
        assert_int_equal(ingot_parameter_trainable(ingot_cell_parameter(net, i)), i < 6);
    ingot_cell_freeze(ingot_cell_child_by_name(net, "norm"), true);
    for (int i = 0; i < 8; i++)
        assert_int_equal(ingot_parameter_trainable(ingot_cell_parameter(net, i)), i < 4);
    ingot_cell_free(net);
    ingot_close(ctx);
}

static void joining_refuses_what_makes_no_tree(void **state)
{
    ingot_context *ctx = open_on(NULL, 1);
    ingot_cell *net = small_net(ctx), *inner = ingot_cell_child(net, 0);

    (void)state;
    assert_null(ingot_cell_add(net, "norm", ingot_nn_relu(ctx)));
    check_error(ctx, INGOT_E_ARGUMENT, "there is a child 'norm' already");
    assert_null(ingot_cell_add(net, "a.b", ingot_nn_relu(ctx)));
    check_error(ctx, INGOT_E_ARGUMENT, "'a.b' is empty or has a '.'");
    assert_null(ingot_cell_add(ingot_cell_child_by_name(net, "norm"), "bias", ingot_nn_relu(ctx)));
    check_error(ctx, INGOT_E_ARGUMENT, "there is a parameter 'bias' already");
    assert_null(ingot_cell_add(inner, "net", net));
    check_error(ctx, INGOT_E_ARGUMENT, "its own parent");
    ingot_cell_free(inner);
    check_error(ctx, INGOT_E_STATE, "it has a parent");
    assert_null(ingot_cell_add(NULL, "x", ingot_nn_relu(ctx)));
    assert_null(ingot_cell_add(net, "x", NULL));
    assert_int_equal(ingot_cell_child_count(net), 2);
    ingot_cell_free(net);
    ingot_close(ctx);
}

static ingot_tensor *weight(ingot_cell *net, const char *name)
{
    return ingot_parameter_tensor(ingot_cell_find(net, name));
}

/* Values depend on seed and full name; not on when a cell was made or first looked at. */
static void first_values_follow_seed_and_name(void **state)
{
    ingot_context *a = open_on(NULL, 1), *b = open_on(NULL, 1), *c = open_on(NULL, 2);
    ingot_cell *late = ingot_nn_linear(b, 40, 30, NULL), *net_a = small_net(a);
    ingot_cell *net_b = small_net(b), *net_c = small_net(c);
    ingot_tensor *x, *y, *z;

    (void)state;
    ingot_cell_add(net_a, "fc", ingot_nn_linear(a, 40, 30, NULL));
    ingot_cell_add(net_b, "fc", late);
    ingot_cell_add(net_c, "fc", ingot_nn_linear(c, 40, 30, NULL));
    x = weight(net_a, "fc.weight");
    y = weight(net_b, "fc.weight");
    z = weight(net_c, "fc.weight");
    assert_memory_equal(ingot_tensor_data(x), ingot_tensor_data(y), 1200 * sizeof(float));
    assert_memory_not_equal(ingot_tensor_data(x), ingot_tensor_data(z), 1200 * sizeof(float));
    assert_memory_not_equal(ingot_tensor_data(weight(net_a, "0.body.0.weight")),
                            ingot_tensor_data(weight(net_a, "0.body.2.weight")),
                            15 * sizeof(float));
    ingot_cell_free(net_a);
    ingot_cell_free(net_b);
    ingot_cell_free(net_c);
    ingot_close(a);
    ingot_close(b);
    ingot_close(c);
}

typedef struct moments {
    double mean, sd, low, high;
} moments;

static moments moments_of(ingot_tensor *t)
{
    int64_t n = ingot_tensor_count(t);
    moments m = {.low = (double)INFINITY, .high = -(double)INFINITY};

    for (int64_t i = 0; i < n; i++) {
        double v = ingot_tensor_item(t, i);

        m.mean += v / (double)n;
        m.low = fmin(m.low, v);
        m.high = fmax(m.high, v);
    }
    for (int64_t i = 0; i < n; i++)
        m.sd += pow(ingot_tensor_item(t, i) - m.mean, 2) / (double)n;
    m.sd = sqrt(m.sd);
    return m;
}

/* Weight [300, 20, 2, 3]: fan in 120, fan out 1800. */
static void initialisers_have_their_moments(void **state)
{
    static const struct {
        ingot_init init;
        double mean, sd, low, high;
    } rows[] = {
        {{INGOT_INIT_CONSTANT, 2.5, 0}, 2.5, 0, 2.5, 2.5},
        {{INGOT_INIT_UNIFORM, -1, 3}, 1, 4 / 3.4641016, -1, 3},
        {{INGOT_INIT_NORMAL, 2, 0.5}, 2, 0.5, -1, 5},
        {{INGOT_INIT_TRUNCATED_NORMAL, 1, 2}, 1, 2 * 0.8796257, -3, 5},
        {{INGOT_INIT_KAIMING_UNIFORM, 0, 0}, 0, 0.1290994, -0.2236068, 0.2236068},
        {{INGOT_INIT_KAIMING_NORMAL, 1, 0}, 0, 0.0912871, -0.6, 0.6},
        {{INGOT_INIT_XAVIER_UNIFORM, 0, 0}, 0, 0.0322749, -0.0559017, 0.0559017},
        {{INGOT_INIT_XAVIER_NORMAL, 2, 0}, 0, 0.0645497, -0.4, 0.4},
    };
    ingot_context *ctx = open_on(NULL, 3);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ingot_tensor *t = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(300, 20, 2, 3), NULL);
        moments m;

        assert_int_equal(ingot_init_apply(ctx, t, &rows[i].init, 11 + i), INGOT_OK);
        m = moments_of(t);
        if (fabs(m.mean - rows[i].mean) > 0.02 * rows[i].sd + 1e-9 ||
            fabs(m.sd - rows[i].sd) > 0.01 * rows[i].sd + 1e-9 || m.low < rows[i].low - 1e-6 ||
            m.high > rows[i].high + 1e-6)
            fail_msg("row %zu: mean %g, sd %g, range [%g, %g]", i, m.mean, m.sd, m.low, m.high);
    }
    assert_int_equal(ingot_init_apply(ctx, ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(4), NULL),
                                      &rows[4].init, 1),
                     INGOT_E_SHAPE);
    check_error(ctx, INGOT_E_SHAPE, "rank 2 or more");
    assert_int_equal(ingot_init_apply(ctx, ingot_tensor_new(ctx, INGOT_I32, INGOT_INTS(4), NULL),
                                      &rows[1].init, 1),
                     INGOT_E_DTYPE);
    ingot_close(ctx);
}

static void layers_start_as_pytorch_starts_them(void **state)
{
    ingot_context *ctx = open_on(NULL, 3);
    ingot_cell *cell = ingot_nn_linear(ctx, 100, 200, NULL);
    ingot_cell *conv = ingot_nn_conv2d(ctx, 8, 50, 5, &(ingot_nn_conv2d_options){.groups = 2});
    moments m = moments_of(weight(cell, "weight"));

    (void)state;
    assert_true(m.high <= 0.1 && m.high > 0.099 && m.low >= -0.1 && m.low < -0.099);
    m = moments_of(weight(cell, "bias"));
    assert_true(m.high <= 0.1 && m.high > 0.09 && m.low >= -0.1 && m.low < -0.09);
    m = moments_of(weight(conv, "weight")); /* fan in 4 * 25 */
    assert_true(m.high <= 0.1 && m.high > 0.099 && m.low >= -0.1 && m.low < -0.099);
    ingot_cell_free(cell);
    ingot_cell_free(conv);
    ingot_close(ctx);
}

/* --- a cell of the user's: y = scale * x + inner(x) ---------------------------------------------
 */

typedef struct scaled {
    ingot_parameter *scale;
    ingot_cell *inner;
    int *freed;
} scaled;

static ingot_tensor *scaled_construct(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                      int n_in, void *user)
{
    scaled *s = user;

    assert_int_equal(n_in, 1);
    assert_ptr_equal(ingot_cell_user(cell), s);
    return ingot_add(ctx, ingot_mul(ctx, in[0], ingot_parameter_tensor(s->scale)),
                     ingot_cell_call(s->inner, in[0]));
}

static void scaled_free(void *user)
{
    ++*((scaled *)user)->freed;
}

static void users_cells_compute_and_train(void **state)
{
    ingot_init three = {.kind = INGOT_INIT_CONSTANT, .a = 3.0};
    ingot_mode modes[] = {INGOT_GRAPH, INGOT_EAGER};

    (void)state;
    for (int k = 0; k < 2; k++) {
        ingot_context *ctx = open_mode(modes[k]);
        int freed = 0;
        scaled s = {.freed = &freed};
        ingot_cell *cell = ingot_cell_new(
            ctx,
            &(ingot_cell_options){.construct = scaled_construct, .user = &s, .free = scaled_free});
        ingot_tensor *x = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(4), (float[]){-1, 0, 2, 5});

        s.scale = ingot_cell_add_parameter(cell, "scale", INGOT_F32, INGOT_INTS(1), &three);
        s.inner = ingot_cell_add(cell, "act", ingot_nn_relu(ctx));
        check_near("scaled", run_cell(ctx, cell, &x, 1), (float[]){-3, 0, 8, 20}, 4, 0, 1e-7);
        check_ok(ctx);
        assert_true(ingot_parameter_trainable(s.scale));
        ingot_cell_free(cell);
        assert_int_equal(freed, 1);
        assert_null(ingot_cell_new(ctx, &(ingot_cell_options){.user = &s, .free = scaled_free}));
        check_error(ctx, INGOT_E_ARGUMENT, "construct is NULL");
        assert_int_equal(freed, 2);
        ingot_close(ctx);
    }
}

static void nets_by_name(void **state)
{
    static const struct {
        const char *name;
        int64_t parameters;
    } rows[] = {
        {"cnn", 320 + 18496 + 401536 + 1290}, /* PyTorch's MNIST example with padding */
        {"mlp", 100480 + 16512 + 1290},
        {"resnet8", 77754}, /* He et al. 2015, with projections */
        {"resnet14", 174970},
    };
    ingot_context *ctx = open_on(NULL, 1);
    ingot_net_options o = {.channels = 1, .height = 28, .width = 28, .classes = 10};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ingot_cell *net = ingot_net_by_name(ctx, rows[i].name, &o);
        ingot_tensor *x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(2, 1, 28, 28), 0.5), *y;

        check_ok(ctx);
        assert_int_equal(ingot_cell_element_count(net), rows[i].parameters);
        y = run_cell(ctx, net, &x, 1);
        check_ok(ctx);
        assert_int_equal(ingot_tensor_dim(y, 0), 2);
        assert_int_equal(ingot_tensor_dim(y, 1), 10);
        ingot_cell_free(net);
    }
    assert_null(ingot_net_by_name(ctx, "resnet9", &o));
    check_error(ctx, INGOT_E_NOT_FOUND, "'resnet9' is not one of cnn, mlp");
    assert_null(ingot_net_by_name(ctx, "cnn", NULL));
    check_error(ctx, INGOT_E_ARGUMENT, "options are NULL");
    o.width = 3;
    assert_null(ingot_net_by_name(ctx, "cnn", &o));
    check_error(ctx, INGOT_E_ARGUMENT, "28 x 3 are too small to be halved 2 times");
    ingot_close(ctx);
}

/* Every allocation fails once: an error each time, and nothing is lost. */
static void building_survives_any_failed_allocation(void **state)
{
    checked_heap heap = {0};
    ingot_context *ctx = open_on(&heap, 1);
    ingot_net_options o = {.channels = 1, .height = 8, .width = 8, .classes = 3, .features = 2};
    size_t objects = heap.live_objects;
    ingot_cell *net = NULL;

    (void)state;
    for (long n = 1; !net; n++) {
        heap.calls = 0;
        heap.fail_at = n;
        net = ingot_net_resnet(ctx, &o);
        heap.fail_at = 0;
        if (net)
            break;
        assert_int_equal(ingot_error(ctx), INGOT_E_MEMORY);
        ingot_clear_error(ctx);
        assert_int_equal(heap.live_objects, objects);
    }
    assert_true(heap.calls > 100);
    ingot_cell_free(net);
    assert_int_equal(heap.live_objects, objects);
    assert_false(heap.wrong_size);
    ingot_close(ctx);
    assert_int_equal(heap.live_objects, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_paths_in_order),
        cmocka_unit_test(freezing_spares_buffers),
        cmocka_unit_test(joining_refuses_what_makes_no_tree),
        cmocka_unit_test(first_values_follow_seed_and_name),
        cmocka_unit_test(initialisers_have_their_moments),
        cmocka_unit_test(layers_start_as_pytorch_starts_them),
        cmocka_unit_test(users_cells_compute_and_train),
        cmocka_unit_test(nets_by_name),
        cmocka_unit_test(building_survives_any_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
