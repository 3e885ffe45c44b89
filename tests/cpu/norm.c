/* SPDX-License-Identifier: Apache-2.0 */
/* softmax, log_softmax, layer_norm, batch_norm_stats, argmax and argmin against float64. */
#include "cpu/run_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MAX_COUNT 80000

/* [outer, n, inner]: vectors, tails, sums over more than one chain, strided rows. */
static const int64_t shapes[][3] = {
    {1, 1, 1},   {3, 2, 1},   {5, 7, 1},    {4, 8, 1},    {9, 10, 1},  {2, 17, 1},
    {3, 100, 1}, {2, 512, 1}, {2, 513, 1},  {1, 5003, 1}, {64, 31, 1}, {1, 2, 3},
    {2, 9, 5},   {3, 33, 4},  {2, 600, 17}, {700, 10, 1}, {0, 4, 2},   {2, 3, 0},
};
#define N_SHAPES (sizeof shapes / sizeof shapes[0])

typedef struct buffers {
    float *x, *out[3], *other[3];
} buffers;

static void setup(buffers *b)
{
    b->x = test_malloc(MAX_COUNT * sizeof(float));
    for (int i = 0; i < 3; i++) {
        b->out[i] = test_malloc(MAX_COUNT * sizeof(float));
        b->other[i] = test_malloc(MAX_COUNT * sizeof(float));
    }
}

static void teardown(buffers *b)
{
    test_free(b->x);
    for (int i = 0; i < 3; i++) {
        test_free(b->out[i]);
        test_free(b->other[i]);
    }
}

/* Runs r with its outputs in b->out and, where there is work to share, for 2 and 3 threads in
   b->other: the same bits. */
static void run_threads(run_case *r, buffers *b)
{
    int most = type_count(&r->in[0]) < 500 ? 1 : 3;
    error e = {0};

    for (int threads = 1; threads <= most; threads++) {
        r->threads = threads;
        for (int o = 0; o < r->n_out; o++)
            r->buf[r->n_in + o] = threads == 1 ? b->out[o] : b->other[o];
        if (!run_kernel(r, &e))
            fail_msg("%s", e.text);
        for (int o = 0; o < r->n_out && threads > 1; o++)
            assert_memory_equal(b->out[o], b->other[o], type_bytes(&r->out[o]));
    }
}

static void check_close(const char *isa, const char *op, int64_t at, float got, double want,
                        double rtol, double atol)
{
    if (!(fabs((double)got - want) <= rtol * fabs(want) + atol))
        fail_msg("%s: %s: element %lld is %.9g, not %.9g", isa, op, (long long)at, (double)got,
                 want);
}

/* want[i] = softmax or its log of x along n, in float64. */
static void check_softmax(const char *isa, bool logs, const int64_t s[3], const float *x,
                          const float *y)
{
    const char *op = logs ? "log_softmax" : "softmax";

    for (int64_t row = 0; row < s[0] * s[2]; row++) {
        int64_t base = row / s[2] * s[1] * s[2] + row % s[2];
        double max = -HUGE_VAL, sum = 0;

        for (int64_t i = 0; i < s[1]; i++)
            max = fmax(max, (double)x[base + i * s[2]]);
        for (int64_t i = 0; i < s[1]; i++)
            sum += exp((double)x[base + i * s[2]] - max);
        for (int64_t i = 0; i < s[1]; i++) {
            int64_t at = base + i * s[2];
            double shifted = (double)x[at] - max;

            /* x - max is rounded, and exp turns its absolute into a relative error */
            if (logs)
                check_close(isa, op, at, y[at], shifted - log(sum), 3e-7, 1e-6);
            else
                check_close(isa, op, at, y[at], exp(shifted) / sum, 1e-6 + 6e-8 * fabs(shifted),
                            1e-44);
        }
    }
}

static void test_softmax(void **state)
{
    buffers b;

    (void)state;
    setup(&b);
    for (size_t i = 0; i < N_SHAPES; i++)
        for (int logs = 0; logs < 2; logs++)
            for (const char *const *isa = cpu_isas(); *isa; isa++) {
                run_case r = {.isa = *isa, .n_in = 1, .n_out = 1};
                int64_t n = shapes[i][0] * shapes[i][1] * shapes[i][2];

                r.op = logs ? "log_softmax" : "softmax";
                r.in[0] = r.out[0] = type_make(INGOT_F32, 3, shapes[i]);
                run_attr_int(&r, "axis", i % 2 ? 1 : -2);
                fill_random(b.x, n, i);
                for (int64_t k = 0; k < n; k++)
                    b.x[k] = 15.0f * b.x[k] + (i % 3 == 0 ? 1e4f : 0.0f);
                r.buf[0] = b.x;
                run_threads(&r, &b);
                check_softmax(*isa, logs, shapes[i], b.x, b.out[0]);
                memcpy(b.other[0], b.x, (size_t)n * sizeof(float)); /* in place */
                r.buf[0] = r.buf[1] = b.other[0];
                error e = {0};
                assert_true(run_kernel(&r, &e));
                assert_memory_equal(b.out[0], b.other[0], (size_t)n * sizeof(float));
            }
    teardown(&b);
}

/* A masked element has no probability; a row with a NaN is NaN, others are not. */
static void test_softmax_not_finite(void **state)
{
    float x[3][20], y[3][20];

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        run_case r = {.isa = *isa, .op = "softmax", .n_in = 1, .n_out = 1};
        error e = {0};

        fill_random(x[0], 60, 7);
        x[0][3] = -INFINITY;
        x[1][19] = NAN;
        r.in[0] = r.out[0] = type_make(INGOT_F32, 2, (int64_t[]){3, 20});
        run_attr_int(&r, "axis", 1);
        r.buf[0] = x;
        r.buf[1] = y;
        assert_true(run_kernel(&r, &e));
        assert_true(y[0][3] == 0.0f);
        for (int i = 0; i < 60; i++)
            assert_int_equal(isnan(y[i / 20][i % 20]) != 0, i / 20 == 1);
    }
}

static void check_layer_norm(const run_case *r, int64_t rows, int64_t n, double eps,
                             const buffers *b)
{
    const float *scale = r->buf[1], *bias = r->buf[2];

    for (int64_t row = 0; row < rows; row++) {
        const float *x = b->x + row * n;
        double sum = 0, squares = 0;

        for (int64_t i = 0; i < n; i++)
            sum += (double)x[i];
        double mean = sum / (double)n;
        for (int64_t i = 0; i < n; i++)
            squares += ((double)x[i] - mean) * ((double)x[i] - mean);
        double rstd = 1.0 / sqrt(squares / (double)n + eps);
        check_close(r->isa, "mean", row, b->out[1][row], mean, 3e-7, 1e-7);
        check_close(r->isa, "rstd", row, b->out[2][row], rstd, 1e-5, 0);
        for (int64_t i = 0; i < n; i++) {
            double y = ((double)x[i] - mean) * rstd * (scale ? (double)scale[i] : 1.0) +
                       (bias ? (double)bias[i] : 0.0);
            check_close(r->isa, "layer_norm", row * n + i, b->out[0][row * n + i], y, 1e-5, 4e-6);
        }
    }
}

/* Normalises over one and over two dimensions, with and without scale and bias. */
static void test_layer_norm(void **state)
{
    float *scale = test_malloc(2 * MAX_COUNT * sizeof(float)), *bias = scale + MAX_COUNT;
    buffers b;

    (void)state;
    setup(&b);
    fill_random(scale, 2 * MAX_COUNT, 3);
    for (size_t i = 0; i < N_SHAPES; i++)
        for (int mask = 0; mask < 4; mask++)
            for (const char *const *isa = cpu_isas(); *isa; isa++) {
                run_case r = {.isa = *isa, .op = "layer_norm", .n_in = 3, .n_out = 3};
                int64_t rows = shapes[i][0], n = shapes[i][1] * shapes[i][2];
                double eps = mask % 2 ? 1e-5 : 1e-3;

                if (n == 0)
                    continue;
                r.in[0] = r.out[0] = type_make(INGOT_F32, 3, shapes[i]);
                r.in[1] = r.in[2] = type_make(INGOT_F32, 2, shapes[i] + 1);
                if (!(mask & 1))
                    r.in[1] = TYPE_ABSENT;
                if (!(mask & 2))
                    r.in[2] = TYPE_ABSENT;
                r.out[1] = r.out[2] = type_make(INGOT_F32, 1, shapes[i]);
                run_attr_int(&r, "axis", i % 2 ? 1 : -2);
                run_attr_real(&r, "eps", eps);
                fill_random(b.x, rows * n, i);
                for (int64_t k = 0; k < rows * n; k++)
                    b.x[k] += 0.5f;
                r.buf[0] = b.x;
                r.buf[1] = mask & 1 ? scale : NULL;
                r.buf[2] = mask & 2 ? bias : NULL;
                run_threads(&r, &b);
                check_layer_norm(&r, rows, n, eps, &b);
            }
    teardown(&b);
    test_free(scale);
}

/* [N, C, S], also around a mean that is large against the deviation (two passes are needed). */
static void test_batch_norm_stats(void **state)
{
    static const int64_t dims[][4] = {
        {1, 1, 1, 1},  {8, 3, 1, 1},  {4, 5, 3, 7},     {2, 3, 23, 23}, {70, 1, 5, 5},
        {1, 64, 8, 8}, {3, 65, 4, 4}, {100, 2, 14, 14}, {7, 70, 1, 1},
    };
    buffers b;

    (void)state;
    setup(&b);
    for (size_t i = 0; i < 2 * (sizeof dims / sizeof dims[0]); i++)
        for (const char *const *isa = cpu_isas(); *isa; isa++) {
            run_case r = {.isa = *isa, .op = "batch_norm_stats", .n_in = 1, .n_out = 2};
            const int64_t *d = dims[i / 2], size = d[2] * d[3], per = d[0] * size;
            float shift = i % 2 ? 1000.0f : 0.25f;

            r.in[0] = type_make(INGOT_F32, size == 1 ? 2 : 4, d);
            r.out[0] = r.out[1] = type_make(INGOT_F32, 1, d + 1);
            fill_random(b.x, per * d[1], i);
            for (int64_t k = 0; k < per * d[1]; k++)
                b.x[k] += shift;
            r.buf[0] = b.x;
            run_threads(&r, &b);
            for (int64_t c = 0; c < d[1]; c++) {
                double sum = 0, squares = 0;

                for (int64_t k = 0; k < per; k++)
                    sum += (double)b.x[(k / size * d[1] + c) * size + k % size];
                for (int64_t k = 0; k < per; k++) {
                    double v = (double)b.x[(k / size * d[1] + c) * size + k % size];
                    squares += (v - sum / (double)per) * (v - sum / (double)per);
                }
                check_close(*isa, "mean", c, b.out[0][c], sum / (double)per, 3e-7, 1e-7);
                /* about the rounded mean: its error, 3e-5 for 1000, is squared */
                check_close(*isa, "var", c, b.out[1][c], squares / (double)per, 1e-6,
                            i % 2 ? 4e-9 : 1e-12);
            }
        }
    teardown(&b);
}

/* --- argmax, argmin ------------------------------------------------------------------------- */

/* Values of few kinds, so that there are ties; floats get a NaN in some rows. */
static void fill_ties(dtype dt, void *x, int64_t n, uint64_t seed)
{
    float v[1];

    for (int64_t i = 0; i < n; i++) {
        fill_random(v, 1, seed * 1000003 + (uint64_t)i);
        dtype_set_f64(dt, x, i, floor((double)v[0] * 9.0));
        if (dtype_is_float(dt) && i % 53 == 11)
            dtype_set_f64(dt, x, i, (double)NAN);
    }
}

static int64_t place(dtype dt, const void *x, int64_t base, int64_t n, int64_t step, bool max)
{
    int64_t best = 0;

    for (int64_t i = 0; i < n; i++) {
        double v = dtype_is_float(dt) ? dtype_get_f64(dt, x, base + i * step)
                                      : (double)dtype_get_i64(dt, x, base + i * step);
        double w = dtype_is_float(dt) ? dtype_get_f64(dt, x, base + best * step)
                                      : (double)dtype_get_i64(dt, x, base + best * step);
        if (isnan(v))
            return i;
        if (max ? v > w : v < w)
            best = i;
    }
    return best;
}

static void test_extremum(void **state)
{
    static const dtype dtypes[] = {INGOT_F32, INGOT_F64, INGOT_I32, INGOT_I64};
    double x[2 * 600 * 17];
    buffers b;

    (void)state;
    setup(&b);
    for (size_t i = 0; i < N_SHAPES; i++)
        for (int k = 0; k < 8; k++) {
            int64_t outer = shapes[i][0], n = shapes[i][1], inner = shapes[i][2];
            dtype dt = dtypes[k / 2];

            fill_ties(dt, x, outer * n * inner, i);
            for (const char *const *isa = cpu_isas(); *isa; isa++) {
                run_case r = {.isa = *isa, .n_in = 1, .n_out = 1};
                const int64_t *got = (const int64_t *)(const void *)b.out[0];

                r.op = k % 2 ? "argmax" : "argmin";
                r.in[0] = type_make(dt, 3, shapes[i]);
                r.out[0] = type_make(INGOT_I64, 2, (int64_t[]){outer, inner});
                run_attr_int(&r, "axis", i % 2 ? 1 : -2);
                run_attr_int(&r, "keepdims", 0);
                r.buf[0] = x;
                run_threads(&r, &b);
                for (int64_t u = 0; u < outer * inner; u++)
                    assert_int_equal(
                        got[u], place(dt, x, u / inner * n * inner + u % inner, n, inner, k % 2));
            }
        }
    teardown(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax),    cmocka_unit_test(test_softmax_not_finite),
        cmocka_unit_test(test_layer_norm), cmocka_unit_test(test_batch_norm_stats),
        cmocka_unit_test(test_extremum),
    };
    return cmocka_run_group_tests_name("cpu/norm", tests, NULL, NULL);
}
