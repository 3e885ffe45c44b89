/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that hold in eager and in graph mode alike. */
#ifndef TESTS_RUNTIME_BOTH_H
#define TESTS_RUNTIME_BOTH_H

#include "base/check.h"

#include "ingot/function.h"
#include "ingot/ops.h"

#define N_MODES 2

static const ingot_mode modes[N_MODES] = {INGOT_EAGER, INGOT_GRAPH};

static inline ingot_context *open_mode(ingot_mode mode, uint64_t seed)
{
    ingot_context *ctx = ingot_open(
        &(ingot_context_options){.mode = mode, .threads = 2, .seed = seed, .isa = "generic"});

    if (ingot_error(ctx) != INGOT_OK)
        fail_msg("%s", ingot_error_text(ctx));
    return ctx;
}

/* Fails with the context's error when there is one. */
static inline void check_ok(ingot_context *ctx)
{
    if (ingot_error(ctx) != INGOT_OK)
        fail_msg("%s", ingot_error_text(ctx));
}

/* The context has an error that contains text; clears it. */
static inline void check_error(ingot_context *ctx, ingot_status s, const char *text)
{
    if (ingot_error(ctx) != s || !strstr(ingot_error_text(ctx), text))
        fail_msg("%s '%s' is not %s '%s'", ingot_status_name(ingot_error(ctx)),
                 ingot_error_text(ctx), ingot_status_name(s), text);
    ingot_clear_error(ctx);
}

static inline ingot_tensor *vector(ingot_context *ctx, int n, const float *v)
{
    return ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(n), v);
}

static inline void check_values(ingot_tensor *t, int n, const double *want)
{
    assert_non_null(t);
    assert_int_equal(ingot_tensor_count(t), n);
    for (int i = 0; i < n; i++)
        if (!(ingot_tensor_item(t, i) == want[i]))
            fail_msg("element %d is %.9g, not %.9g", i, ingot_tensor_item(t, i), want[i]);
}

#define CHECK_VALUES(t, ...)                                                   \
    check_values((t), (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), \
                 (const double[]){__VA_ARGS__})

#endif
