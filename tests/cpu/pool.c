/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling against definitions in float64, window by window. */
#include "cpu/run_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct pool_case {
    int64_t n, c, h, w;
    int64_t kernel[2], stride[2], padding[4], dilation[2];
    int64_t oh, ow;
    bool count_pad;
} pool_case;

/* Written out by hand; oh and ow as PyTorch gives them (the last three with ceil_mode). */
static const pool_case cases[] = {
    {2, 3, 8, 8, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 4, 4, false},
    {3, 5, 28, 28, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 14, 14, false},
    {1, 2, 7, 9, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 4, 5, true},
    {1, 2, 7, 9, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 4, 5, false},
    {2, 1, 20, 41, {3, 2}, {1, 1}, {1, 0, 1, 1}, {1, 1}, 20, 41, true},
    {2, 1, 20, 41, {3, 2}, {1, 3}, {0, 1, 1, 0}, {2, 3}, 17, 13, false},
    {1, 1, 5, 5, {5, 5}, {5, 5}, {0, 0, 0, 0}, {1, 1}, 1, 1, false},
    {1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, 1, false},
    {0, 3, 4, 4, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 2, 2, false},
    {2, 0, 4, 4, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 2, 2, false},
    {1, 2, 6, 6, {3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 3, 3, false},
    {1, 2, 6, 7, {3, 3}, {2, 3}, {1, 1, 1, 1}, {1, 1}, 4, 3, true},
    {1, 2, 6, 7, {3, 3}, {2, 3}, {1, 1, 1, 1}, {1, 1}, 4, 3, false},
};
#define N_CASES ((int)(sizeof cases / sizeof cases[0]))

static type shape4(dtype dt, int64_t n, int64_t c, int64_t h, int64_t w)
{
    return type_make(dt, 4, (int64_t[]){n, c, h, w});
}

static void add_window(run_case *r, const pool_case *p, bool dilated)
{
    run_attr_ints(r, "kernel", (ints){p->kernel, 2});
    run_attr_ints(r, "stride", (ints){p->stride, 2});
    run_attr_ints(r, "padding", (ints){p->padding, 4});
    if (dilated)
        run_attr_ints(r, "dilation", (ints){p->dilation, 2});
    run_attr_int(r, "ceil_mode", 0);
    if (!dilated)
        run_attr_int(r, "count_include_pad", p->count_pad);
}

static void run(const run_case *r)
{
    error e = {0};

    if (!run_kernel(r, &e))
        fail_msg("%s: %s", r->op, e.text);
}

/* More threads must give the same bytes in output i, which has `size` of them. */
static void check_threads(run_case r, int i, size_t size)
{
    static const int threads[] = {2, 3, 7};
    void *want = r.buf[r.n_in + i], *got = test_malloc(size + 1);

    r.buf[r.n_in + i] = got;
    for (size_t t = 0; t < 3; t++) {
        r.threads = threads[t];
        memset(got, 0xee, size);
        run(&r);
        if (memcmp(got, want, size) != 0)
            fail_msg("%s: %d threads change the result", r.op, threads[t]);
    }
    test_free(got);
}

static void close_to(const char *what, int row, int64_t at, float got, double want)
{
    if (!(fabs((double)got - want) <= 1e-6 + 2e-6 * fabs(want)))
        fail_msg("%s, case %d: element %lld is %g; %g is right", what, row, (long long)at,
                 (double)got, want);
}

/* --- max --- */

static void max_at(const pool_case *p, const float *plane, int64_t oy, int64_t ox, float *y,
                   int64_t *at)
{
    *y = -INFINITY;
    *at = -1;
    for (int64_t ky = 0; ky < p->kernel[0]; ky++)
        for (int64_t kx = 0; kx < p->kernel[1]; kx++) {
            int64_t iy = oy * p->stride[0] + ky * p->dilation[0] - p->padding[0];
            int64_t ix = ox * p->stride[1] + kx * p->dilation[1] - p->padding[1];
            if (iy < 0 || iy >= p->h || ix < 0 || ix >= p->w)
                continue;
            float v = plane[iy * p->w + ix];
            if (*at < 0 || (isnan(v) && !isnan(*y)) || v > *y) {
                *y = v;
                *at = iy * p->w + ix;
            }
        }
}

static void check_max(const char *isa, int row, const float *x, bool threads)
{
    const pool_case *p = &cases[row];
    size_t count = (size_t)(p->n * p->c * p->oh * p->ow);
    float *y = test_malloc((count + 1) * sizeof(float));
    int64_t *at = test_malloc((count + 1) * sizeof(int64_t));
    run_case r = {.isa = isa, .op = "max_pool2d", .n_in = 1, .n_out = 2};

    r.in[0] = shape4(INGOT_F32, p->n, p->c, p->h, p->w);
    r.out[0] = shape4(INGOT_F32, p->n, p->c, p->oh, p->ow);
    r.out[1] = shape4(INGOT_I64, p->n, p->c, p->oh, p->ow);
    memcpy(r.buf, (void *[]){(void *)(uintptr_t)x, y, at}, 3 * sizeof(void *));
    add_window(&r, p, true);
    y[count] = 1e30f;
    at[count] = 77;
    run(&r);
    assert_true(y[count] == 1e30f && at[count] == 77);
    for (size_t i = 0; i < count; i++) {
        int64_t o = (int64_t)i, plane = o / (p->oh * p->ow), where;
        float want;

        max_at(p, x + plane * p->h * p->w, o / p->ow % p->oh, o % p->ow, &want, &where);
        if (at[i] != where || (y[i] != want && !(isnan(want) && isnan(y[i]))))
            fail_msg("max_pool2d, case %d: element %zu is %g at %lld; %g at %lld is right", row, i,
                     (double)y[i], (long long)at[i], (double)want, (long long)where);
    }
    if (threads) {
        check_threads(r, 0, count * sizeof(float));
        check_threads(r, 1, count * sizeof(int64_t));
    }
    test_free(y);
    test_free(at);
}

static void test_max(void **state)
{
    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (int row = 0; row < N_CASES; row++) {
            size_t n = (size_t)(cases[row].n * cases[row].c * cases[row].h * cases[row].w);
            float *x = test_malloc((n + 1) * sizeof(float));

            fill_random(x, (int64_t)n, 5);
            check_max(*isa, row, x, true);
            for (size_t i = 0; i < n; i++) /* ties, infinities and NaNs */
                x[i] = i % 11 == 3   ? NAN
                       : i % 7 == 2  ? -INFINITY
                       : i % 13 == 5 ? INFINITY
                                     : floorf(2 * x[i]);
            check_max(*isa, row, x, false);
            for (size_t i = 0; i < n; i++)
                x[i] = -INFINITY;
            check_max(*isa, row, x, false);
            test_free(x);
        }
}

/* A window between whose taps the whole input lies: no element, and no place to send a gradient. */
static void test_max_of_nothing(void **state)
{
    const pool_case p = {1, 1, 1, 1, {2, 2}, {1, 1}, {1, 1, 1, 1}, {2, 2}, 1, 1, false};
    float x = 3, y = 0;
    int64_t at = 0;

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        run_case r = {.isa = *isa, .op = "max_pool2d", .n_in = 1, .n_out = 2};

        r.in[0] = r.out[0] = shape4(INGOT_F32, 1, 1, 1, 1);
        r.out[1] = shape4(INGOT_I64, 1, 1, 1, 1);
        memcpy(r.buf, (void *[]){&x, &y, &at}, 3 * sizeof(void *));
        add_window(&r, &p, true);
        run(&r);
        assert_true(y == -INFINITY && at == -1);
    }
}

/* --- mean: the weights that output o gives to each input, which serve both directions --- */

static double weight_of(const pool_case *p, int64_t oy, int64_t ox, int64_t iy, int64_t ix)
{
    int64_t y0 = oy * p->stride[0] - p->padding[0], x0 = ox * p->stride[1] - p->padding[1];
    int64_t count = 0;

    if (iy < y0 || iy >= y0 + p->kernel[0] || ix < x0 || ix >= x0 + p->kernel[1])
        return 0;
    for (int64_t y = y0; y < y0 + p->kernel[0]; y++)
        for (int64_t x = x0; x < x0 + p->kernel[1]; x++)
            count += p->count_pad ? y < p->h + p->padding[2] && x < p->w + p->padding[3]
                                  : y >= 0 && y < p->h && x >= 0 && x < p->w;
    return 1.0 / (double)count;
}

static double adaptive_weight(const pool_case *p, int64_t oy, int64_t ox, int64_t iy, int64_t ix)
{
    double y0 = floor((double)(oy * p->h) / (double)p->oh);
    double y1 = ceil((double)((oy + 1) * p->h) / (double)p->oh);
    double x0 = floor((double)(ox * p->w) / (double)p->ow);
    double x1 = ceil((double)((ox + 1) * p->w) / (double)p->ow);

    if ((double)iy < y0 || (double)iy >= y1 || (double)ix < x0 || (double)ix >= x1)
        return 0;
    return 1.0 / ((y1 - y0) * (x1 - x0));
}

typedef double (*weight_fn)(const pool_case *p, int64_t oy, int64_t ox, int64_t iy, int64_t ix);

/* from, to: one plane each, of the input's size and of the output's, or the other way round. */
static void check_plane(const char *op, int row, const pool_case *p, weight_fn weight,
                        const float *from, const float *to, bool backward)
{
    int64_t in = p->h * p->w, out = p->oh * p->ow, n_to = backward ? in : out;

    for (int64_t t = 0; t < n_to; t++) {
        double sum = 0;

        for (int64_t f = 0; f < (backward ? out : in); f++) {
            int64_t o = backward ? f : t, i = backward ? t : f;
            sum += (double)from[f] * weight(p, o / p->ow, o % p->ow, i / p->w, i % p->w);
        }
        close_to(op, row, t, to[t], sum);
    }
}

static void check_mean(const char *isa, int row, const pool_case *p, bool adaptive, bool backward)
{
    static const char *const ops[2][2] = {{"avg_pool2d", "avg_pool2d_backward"},
                                          {"adaptive_avg_pool2d", "adaptive_avg_pool2d_backward"}};
    int64_t planes = p->n * p->c, in = p->h * p->w, out = p->oh * p->ow;
    int64_t n_from = backward ? out : in, n_to = backward ? in : out;
    float *from = test_malloc((size_t)(planes * n_from + 1) * sizeof(float));
    float *to = test_malloc((size_t)(planes * n_to + 1) * sizeof(float));
    int64_t shape[4] = {p->n, p->c, p->h, p->w};
    run_case r = {.isa = isa, .op = ops[adaptive][backward], .n_in = 1, .n_out = 1};

    r.in[0] =
        backward ? shape4(INGOT_F32, p->n, p->c, p->oh, p->ow) : type_make(INGOT_F32, 4, shape);
    r.out[0] =
        backward ? type_make(INGOT_F32, 4, shape) : shape4(INGOT_F32, p->n, p->c, p->oh, p->ow);
    memcpy(r.buf, (void *[]){from, to}, 2 * sizeof(void *));
    if (backward)
        run_attr_ints(&r, "shape", (ints){shape, 4});
    else if (adaptive)
        run_attr_ints(&r, "size", (ints){(int64_t[]){p->oh, p->ow}, 2});
    if (!adaptive)
        add_window(&r, p, false);
    fill_random(from, planes * n_from, 6);
    to[planes * n_to] = 1e30f;
    run(&r);
    assert_true(to[planes * n_to] == 1e30f);
    for (int64_t i = 0; i < planes; i++)
        check_plane(r.op, row, p, adaptive ? adaptive_weight : weight_of, from + i * n_from,
                    to + i * n_to, backward);
    check_threads(r, 0, (size_t)(planes * n_to) * sizeof(float));
    test_free(from);
    test_free(to);
}

static void test_mean(void **state)
{
    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (int row = 0; row < N_CASES; row++) {
            const pool_case *p = &cases[row];
            if (p->dilation[0] != 1)
                continue;
            check_mean(*isa, row, p, false, false);
            check_mean(*isa, row, p, false, true);
        }
}

static void test_adaptive(void **state)
{
    static const pool_case sizes[] = {
        {.n = 2, .c = 3, .h = 7, .w = 7, .oh = 1, .ow = 1},
        {.n = 1, .c = 2, .h = 14, .w = 19, .oh = 4, .ow = 7},
        {.n = 1, .c = 2, .h = 5, .w = 40, .oh = 3, .ow = 2},
        {.n = 1, .c = 1, .h = 3, .w = 4, .oh = 7, .ow = 5},
        {.n = 1, .c = 2, .h = 6, .w = 6, .oh = 6, .ow = 6},
        {.n = 0, .c = 2, .h = 6, .w = 6, .oh = 2, .ow = 2},
    };

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (int row = 0; row < 6; row++) {
            check_mean(*isa, row, &sizes[row], true, false);
            check_mean(*isa, row, &sizes[row], true, true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max),
        cmocka_unit_test(test_max_of_nothing),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_adaptive),
    };
    return cmocka_run_group_tests_name("cpu/pool", tests, NULL, NULL);
}
