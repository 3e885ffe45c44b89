/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing with golden values, and running a cell as a compiled function or eagerly. */
#ifndef TESTS_NN_GOLDEN_H
#define TESTS_NN_GOLDEN_H

#include "base/check.h"
#include "ingot/nn.h"

#include <math.h>

static inline ingot_context *open_mode(ingot_mode mode)
{
    ingot_context *ctx =
        ingot_open(&(ingot_context_options){.mode = mode, .threads = 2, .no_pin = true, .seed = 7});

    if (ingot_error(ctx) != INGOT_OK)
        fail_msg("%s", ingot_error_text(ctx));
    return ctx;
}

static inline void check_ok(ingot_context *ctx)
{
    if (ingot_error(ctx) != INGOT_OK)
        fail_msg("%s: %s", ingot_status_name(ingot_error(ctx)), ingot_error_text(ctx));
}

static inline void check_error(ingot_context *ctx, ingot_status s, const char *part)
{
    assert_string_equal(ingot_status_name(ingot_error(ctx)), ingot_status_name(s));
    check_contains(ingot_error_text(ctx), part);
    ingot_clear_error(ctx);
}

/* |got - want| <= atol + rtol |want|, for all elements and exactly n of them. */
static inline void check_near(const char *what, ingot_tensor *got, const float *want, size_t n,
                              double atol, double rtol)
{
    assert_non_null(got);
    if ((size_t)ingot_tensor_count(got) != n)
        fail_msg("%s: %zu elements, %zu are wanted", what, (size_t)ingot_tensor_count(got), n);
    for (size_t i = 0; i < n; i++) {
        double a = ingot_tensor_item(got, (int64_t)i), b = (double)want[i];

        if (!(fabs(a - b) <= atol + rtol * fabs(b)))
            fail_msg("%s: element %zu is %.9g, %.9g is wanted", what, i, a, b);
    }
}
#define CHECK_NEAR(what, got, want) \
    check_near(what, got, want, sizeof(want) / sizeof(*(want)), 2e-6, 2e-5)

/* Copies values into a parameter of the cell. */
static inline void set_weight(ingot_cell *cell, const char *path, const float *v, size_t n)
{
    ingot_tensor *t = ingot_parameter_tensor(ingot_cell_find(cell, path));

    if (!t)
        fail_msg("there is no parameter '%s'", path);
    assert_int_equal(ingot_tensor_count(t), n);
    memcpy(ingot_tensor_data(t), v, n * sizeof *v);
}
#define SET_WEIGHT(cell, path, v) set_weight(cell, path, v, sizeof(v) / sizeof(*(v)))

static inline int construct_cell(ingot_context *ctx, ingot_tensor *const *in, int n_in,
                                 ingot_tensor **out, int max_out, void *user)
{
    (void)ctx;
    (void)max_out;
    out[0] = ingot_cell_call_n(user, in, n_in);
    return out[0] ? 1 : -1;
}

/* The output of a cell, by a function, as the context's mode says. */
static inline ingot_tensor *run_cell(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                     int n_in)
{
    ingot_function *f = ingot_function_new(ctx, construct_cell, cell, NULL);
    ingot_tensor *y = NULL;

    if (ingot_function_call(f, in, n_in, &y, 1) != INGOT_OK)
        y = NULL;
    ingot_function_free(f);
    return y;
}

#endif
