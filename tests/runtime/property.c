/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: whatever the passes make of a graph, fused or not, on any number of threads, it
   gives the bits of its ops run one by one, gradients included. */
#include "base/random.h"
#include "ingot/function.h"
#include "ingot/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PROGRAMS 150
#define OPS_MAX  24
#define INPUTS   3
#define ROWS     5
#define COLUMNS  7

/* The numbers that decide a program: the same in every mode. */
typedef struct dice {
    rng_key key;
    uint64_t at;
} dice;

static int roll(dice *d, int n)
{
    return (int)rng_below(d->key, d->at++, (uint64_t)n);
}

static ingot_tensor *pointwise(ingot_context *c, dice *d, ingot_tensor *a, ingot_tensor *b)
{
    switch (roll(d, 16)) {
    case 0:
        return ingot_add(c, a, b);
    case 1:
        return ingot_sub(c, a, b);
    case 2:
        return ingot_mul(c, a, b);
    case 3:
        return ingot_maximum(c, a, b);
    case 4:
        return ingot_where(c, ingot_gt(c, a, b), a, ingot_neg(c, b));
    case 5:
        return ingot_tanh(c, a);
    case 6:
        return ingot_sigmoid(c, a);
    case 7:
        return ingot_relu(c, a);
    case 8:
        return ingot_exp(c, ingot_clip(c, a, -3.0, 3.0));
    case 9:
        return ingot_mul(c, a, ingot_scalar(c, INGOT_F32, 1.0)); /* what simplify takes away */
    case 10:
        return ingot_softplus(c, a);
    case 11:
        return ingot_square(c, a);
    case 12:
        return ingot_div(c, a, ingot_add(c, ingot_abs(c, b), ingot_scalar(c, INGOT_F32, 1.0)));
    case 13:
        return ingot_cast(c, ingot_cast(c, a, INGOT_F16), INGOT_F32);
    case 14:
        return ingot_gelu(c, a);
    default:
        return ingot_abs(c, a);
    }
}

/* Of shape [ROWS, COLUMNS] again. */
static ingot_tensor *other(ingot_context *c, dice *d, ingot_tensor *a, ingot_tensor *b)
{
    const ingot_sum_options rows = {.axes = INGOT_INTS(0), .keepdims = true};
    const ingot_mean_options columns = {.axes = INGOT_INTS(1), .keepdims = true};

    switch (roll(d, 8)) {
    case 0:
        return ingot_sub(c, a, ingot_sum(c, b, &rows));
    case 1:
        return ingot_mul(c, a, ingot_mean(c, b, &columns));
    case 2:
        return ingot_softmax(c, a, roll(d, 2));
    case 3: /* a b^T a */
        return ingot_matmul(c, ingot_matmul(c, a, b, &(ingot_matmul_options){.trans_y = true}), a,
                            NULL);
    case 4:
        return ingot_transpose(c, ingot_tanh(c, ingot_transpose(c, a, NULL)), NULL);
    case 5:
        return ingot_reshape(c, ingot_reshape(c, a, INGOT_INTS(COLUMNS, ROWS), NULL),
                             INGOT_INTS(ROWS, COLUMNS), NULL);
    case 6: {
        ingot_tensor *const parts[] = {
            ingot_slice(c, a, INGOT_INTS(0, 3), INGOT_INTS(ROWS, COLUMNS - 3), NULL),
            ingot_slice(c, b, INGOT_INTS(0, 0), INGOT_INTS(ROWS, 3), NULL)};

        return ingot_concat(c, parts, 2, 1);
    }
    default:
        return ingot_log_softmax(c, a, 1);
    }
}

static int program(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                   int max_out, void *user)
{
    dice d = *(const dice *)user;
    ingot_tensor *v[INPUTS + OPS_MAX], *loss;
    int n = n_in, ops = 4 + roll(&d, OPS_MAX - 4);

    (void)max_out;
    memcpy(v, in, (size_t)n_in * sizeof *v);
    for (int i = 0; i < ops; i++) {
        ingot_tensor *a = v[roll(&d, n)], *b = v[roll(&d, n)];

        v[n++] = roll(&d, 3) ? pointwise(ctx, &d, a, b) : other(ctx, &d, a, b);
    }
    loss = ingot_mean(ctx, v[n - 1], NULL);
    out[0] = v[n - 1];
    out[1] = v[n - 2];
    out[2] = loss;
    if (ingot_grad(ctx, loss, in, n_in, out + 3) != INGOT_OK)
        return -1;
    return 3 + n_in;
}

static ingot_context *contexts[4];

static int open_contexts(void **state)
{
    const ingot_context_options opt[] = {{.mode = INGOT_EAGER, .threads = 2},
                                         {.threads = 2},
                                         {.threads = 3, .no_fuse = true},
                                         {.threads = 1}};

    (void)state;
    for (int i = 0; i < 4; i++)
        contexts[i] = ingot_open(&opt[i]);
    return 0;
}

static int close_contexts(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        ingot_close(contexts[i]);
    return 0;
}

static void run(ingot_context *ctx, dice *d, ingot_tensor **out)
{
    float values[ROWS * COLUMNS];
    ingot_tensor *in[INPUTS];
    ingot_function *f = ingot_function_new(ctx, program, d, NULL);

    for (int i = 0; i < INPUTS; i++) {
        for (int k = 0; k < ROWS * COLUMNS; k++)
            values[k] = 2.0f * rng_uniform(rng_seed(5), (uint64_t)(i * 100 + k)) - 1.0f;
        in[i] = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(ROWS, COLUMNS), values);
    }
    if (ingot_function_call(f, in, INPUTS, out, 3 + INPUTS) != INGOT_OK)
        fail_msg("%s", ingot_error_text(ctx));
    ingot_function_free(f);
}

static void every_mode_gives_the_same_bits(void **state)
{
    (void)state;
    for (uint64_t p = 0; p < PROGRAMS; p++) {
        ingot_tensor *want[3 + INPUTS], *got[3 + INPUTS];
        dice d = {.key = rng_seed(1000 + p)};

        ingot_scope_begin(contexts[0]);
        run(contexts[0], &d, want);
        for (int i = 1; i < 4; i++) {
            ingot_scope_begin(contexts[i]);
            run(contexts[i], &d, got);
            for (int k = 0; k < 3 + INPUTS; k++)
                if (memcmp(ingot_tensor_data(want[k]), ingot_tensor_data(got[k]),
                           (size_t)ingot_tensor_count(want[k]) * sizeof(float)) != 0)
                    fail_msg("program %llu, mode %d: result %d differs", (unsigned long long)p, i,
                             k);
            ingot_scope_end(contexts[i]);
        }
        ingot_scope_end(contexts[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_mode_gives_the_same_bits)};

    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
