/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers against 100 steps of PyTorch's (golden.py made golden.inc), compiled and eager. */
#include "ingot/ops.h"
#include "ingot/optim.h"
#include "nn/golden.h"
#include "optim/golden.inc"

typedef struct problem {
    ingot_cell *net;
    ingot_optimizer *opt;
    bool by_loss; /* minimize a loss with that gradient, instead of giving the gradient */
} problem;

static ingot_tensor *identity(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                              int n_in, void *user)
{
    (void)ctx;
    (void)cell;
    (void)n_in;
    (void)user;
    return in[0];
}

/* in: a, b, factor. The gradient is a (p - b) factor. */
static int construct_step(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                          int max_out, void *user)
{
    problem *q = user;
    ingot_tensor *p = ingot_parameter_tensor(ingot_cell_find(q->net, "p"));
    ingot_tensor *d = ingot_sub(ctx, p, in[1]);
    ingot_tensor *g = ingot_mul(ctx, ingot_mul(ctx, in[0], d), in[2]);
    ingot_status s;

    (void)n_in;
    (void)max_out;
    if (q->by_loss)
        s = ingot_optimizer_minimize(q->opt,
                                     ingot_mul(ctx, ingot_sum(ctx, ingot_mul(ctx, g, d), NULL),
                                               ingot_scalar(ctx, INGOT_F32, 0.5)));
    else
        s = ingot_optimizer_update(q->opt, &g, 1);
    out[0] = d;
    return s == INGOT_OK ? 1 : -1;
}

static ingot_cell *net_of(ingot_context *ctx)
{
    ingot_cell *net = ingot_cell_new(ctx, &(ingot_cell_options){.construct = identity});

    ingot_cell_add_parameter(net, "p", INGOT_F32, INGOT_INTS(GOLDEN_N), NULL);
    SET_WEIGHT(net, "p", golden_start);
    return net;
}

/* Runs all steps; want[] as golden.inc has it. */
static void follow(ingot_context *ctx, problem *q, const char *name, const float *want, double rtol)
{
    ingot_function *f = ingot_function_new(ctx, construct_step, q, NULL);
    ingot_tensor *p = ingot_parameter_tensor(ingot_cell_find(q->net, "p"));
    int kept = 0;

    for (int s = 0; s < GOLDEN_STEPS; s++) {
        ingot_tensor *in[3], *out;

        ingot_scope_begin(ctx);
        in[0] = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(GOLDEN_N), golden_a);
        in[1] = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(GOLDEN_N), golden_b);
        in[2] = ingot_scalar(ctx, INGOT_F32, 1 + s % 3);
        ingot_set_step(ctx, (uint64_t)s);
        if (ingot_function_call(f, in, 3, &out, 1) != INGOT_OK)
            fail_msg("%s, step %d: %s", name, s, ingot_error_text(ctx));
        if (kept < GOLDEN_KEPT && golden_kept[kept] == s)
            check_near(name, p, want + (ptrdiff_t)kept++ * GOLDEN_N, GOLDEN_N, 1e-6, rtol);
        ingot_scope_end(ctx);
    }
    assert_int_equal(kept, GOLDEN_KEPT);
    ingot_function_free(f);
}

typedef struct trace_row {
    const char *name;
    const float *want;
    ingot_optimizer *(*make)(ingot_context *ctx, ingot_cell *net);
} trace_row;

#define SGD(fname, ...)                                                \
    static ingot_optimizer *fname(ingot_context *ctx, ingot_cell *net) \
    {                                                                  \
        return ingot_sgd(ctx, net, &(ingot_schedule){.lr = RATE},      \
                         &(ingot_sgd_options){__VA_ARGS__});           \
    }
#define RATE 0.05
SGD(make_sgd, .momentum = 0)
SGD(make_sgd_decay, .weight_decay = 0.1)
SGD(make_clipped, .clip_norm = 0.5)
#undef RATE
#define RATE 0.02
SGD(make_momentum, .momentum = 0.9, .weight_decay = 0.01)
SGD(make_dampened, .momentum = 0.8, .dampening = 0.3)
SGD(make_nesterov, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01)

static ingot_optimizer *make_adam(ingot_context *ctx, ingot_cell *net)
{
    return ingot_adam(ctx, net, &(ingot_schedule){.lr = 0.03}, NULL);
}

static ingot_optimizer *make_adam_l2(ingot_context *ctx, ingot_cell *net)
{
    return ingot_adam(
        ctx, net, &(ingot_schedule){.lr = 0.03},
        &(ingot_adam_options){.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .weight_decay = 0.1});
}

static ingot_optimizer *make_adamw(ingot_context *ctx, ingot_cell *net)
{
    return ingot_adamw(ctx, net, &(ingot_schedule){.lr = 0.03},
                       &(ingot_adam_options){.weight_decay = 0.1});
}

static ingot_optimizer *make_cosine(ingot_context *ctx, ingot_cell *net)
{
    return ingot_adamw(
        ctx, net,
        &(ingot_schedule){
            .kind = INGOT_SCHEDULE_COSINE, .lr = 0.03, .end = 0.001, .period = GOLDEN_STEPS},
        NULL);
}

static const trace_row rows[] = {
    {"sgd", golden_sgd, make_sgd},
    {"sgd_decay", golden_sgd_decay, make_sgd_decay},
    {"momentum", golden_momentum, make_momentum},
    {"dampened", golden_dampened, make_dampened},
    {"nesterov", golden_nesterov, make_nesterov},
    {"adam", golden_adam, make_adam},
    {"adam_l2", golden_adam_l2, make_adam_l2},
    {"adamw", golden_adamw, make_adamw},
    {"clipped", golden_clipped, make_clipped},
    {"cosine", golden_cosine, make_cosine},
};

static void follows_pytorch(void **state)
{
    const trace_row *row = *state;

    for (int k = 0; k < 4; k++) {
        ingot_context *ctx = open_mode(k % 2 ? INGOT_EAGER : INGOT_GRAPH);
        problem q = {.net = net_of(ctx), .by_loss = k >= 2};

        q.opt = row->make(ctx, q.net);
        check_ok(ctx);
        follow(ctx, &q, row->name, row->want, 1e-5);
        ingot_optimizer_free(q.opt);
        ingot_cell_free(q.net);
        ingot_close(ctx);
    }
}

static void state_is_named_by_its_parameter(void **state)
{
    ingot_context *ctx = open_mode(INGOT_GRAPH);
    ingot_cell *net = ingot_nn_sequential(
        ctx, INGOT_CELLS(ingot_nn_linear(ctx, 2, 3, NULL), ingot_nn_linear(ctx, 3, 1, NULL)));
    ingot_optimizer *o;

    (void)state;
    ingot_cell_freeze(ingot_cell_child(net, 0), true);
    o = make_adamw(ctx, net);
    assert_int_equal(ingot_optimizer_parameter_count(o), 2);
    assert_string_equal(ingot_parameter_name(ingot_optimizer_parameter(o, 0)), "1.weight");
    assert_int_equal(ingot_optimizer_state_count(o), 4);
    assert_string_equal(ingot_parameter_name(ingot_optimizer_state(o, 0)),
                        "optim.exp_avg.1.weight");
    assert_string_equal(ingot_parameter_name(ingot_optimizer_state(o, 3)),
                        "optim.exp_avg_sq.1.bias");
    assert_null(ingot_optimizer_state(o, 4));
    assert_string_equal(ingot_optimizer_name(o), "adamw");
    ingot_optimizer_free(o);
    ingot_cell_freeze(net, true);
    assert_null(make_adamw(ctx, net));
    check_error(ctx, INGOT_E_ARGUMENT, "no trainable parameter");
    ingot_cell_free(net);
    ingot_close(ctx);
}

static void wrong_settings_say_why(void **state)
{
    ingot_context *ctx = open_mode(INGOT_GRAPH);
    ingot_cell *net = net_of(ctx);
    ingot_schedule lr = {.lr = 0.1};
    ingot_optimizer *o;

    (void)state;
    assert_null(ingot_sgd(ctx, net, &lr, &(ingot_sgd_options){.nesterov = true}));
    check_error(ctx, INGOT_E_ARGUMENT, "nesterov needs momentum");
    assert_null(ingot_sgd(ctx, net, &lr, &(ingot_sgd_options){.momentum = 1.0}));
    check_error(ctx, INGOT_E_ARGUMENT, "momentum 1 is outside [0, 1)");
    assert_null(ingot_adam(ctx, net, &lr, &(ingot_adam_options){.weight_decay = -1}));
    check_error(ctx, INGOT_E_ARGUMENT, "weight_decay -1");
    assert_null(ingot_adam(ctx, net, NULL, NULL));
    check_error(ctx, INGOT_E_ARGUMENT, "schedule: it is NULL");
    lr.kind = INGOT_SCHEDULE_COSINE;
    assert_null(ingot_adam(ctx, net, &lr, NULL));
    check_error(ctx, INGOT_E_ARGUMENT, "period is to be at least 1");
    o = make_sgd(ctx, net);
    assert_int_equal(
        ingot_optimizer_minimize(o, ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(3), 1)),
        INGOT_E_SHAPE);
    check_error(ctx, INGOT_E_SHAPE, "the loss is not a scalar");
    assert_int_equal(ingot_optimizer_update(o, NULL, 0), INGOT_E_ARGUMENT);
    check_error(ctx, INGOT_E_ARGUMENT, "0 gradients were given, 1 are needed");
    ingot_optimizer_free(o);
    ingot_cell_free(net);
    ingot_close(ctx);
}

/* --- schedules -------------------------------------------------------------------------------- */

static double half(uint64_t step, void *user)
{
    return *(const double *)user / (double)(1 + step);
}

static void schedules(void **state)
{
    double one = 1.0;
    ingot_schedule s[] = {
        {.lr = 0.5},
        {.lr = 0.5, .warmup = 4},
        {.kind = INGOT_SCHEDULE_STEP, .lr = 0.5, .period = 3},
        {.kind = INGOT_SCHEDULE_STEP, .lr = 0.5, .period = 3, .gamma = 0.5, .warmup = 2},
        {.kind = INGOT_SCHEDULE_COSINE, .lr = 0.5, .end = 0.1, .period = 4, .warmup = 2},
        {.kind = INGOT_SCHEDULE_CUSTOM, .lr = 0.5, .fn = half, .user = &one, .warmup = 1},
    };
    const double want[][8] = {
        {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
        {0.125, 0.25, 0.375, 0.5, 0.5, 0.5, 0.5, 0.5},
        {0.5, 0.5, 0.5, 0.05, 0.05, 0.05, 0.005, 0.005},
        {0.25, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25},
        {0.25, 0.5, 0.5, 0.1 + 0.2 * 1.7071067811865475, 0.3, 0.1 + 0.2 * 0.2928932188134525, 0.1,
         0.1},
        {0.5, 0.5, 0.25, 0.5 / 3, 0.125, 0.1, 0.5 / 6, 0.5 / 7},
    };

    (void)state;
    for (int i = 0; i < 6; i++)
        for (uint64_t k = 0; k < 8; k++) {
            double got = ingot_schedule_at(&s[i], k);

            if (fabs(got - want[i][k]) > 1e-15)
                fail_msg("schedule %d, step %d: %.17g, %.17g is wanted", i, (int)k, got,
                         want[i][k]);
        }
}

int main(void)
{
    enum { ROWS = sizeof rows / sizeof rows[0] };
    struct CMUnitTest tests[ROWS + 3] = {
        cmocka_unit_test(state_is_named_by_its_parameter),
        cmocka_unit_test(wrong_settings_say_why),
        cmocka_unit_test(schedules),
    };

    for (size_t i = 0; i < ROWS; i++)
        tests[3 + i] = (struct CMUnitTest){rows[i].name, follows_pytorch, NULL, NULL,
                                           (void *)(uintptr_t)&rows[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
