/* SPDX-License-Identifier: Apache-2.0 */
/* matmul against a float64 sum, element by element. */
#include "cpu/run_kernel.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct shape_case {
    type x, y, out;
    bool tx, ty;
} shape_case;

typedef struct index_map {
    int64_t step[MAX_RANK]; /* elements per step of the output's batch dimensions */
} index_map;

static index_map batch_map(const type *t, int rank)
{
    index_map m = {{0}};
    int64_t step = t->dim[t->rank - 1] * t->dim[t->rank - 2];

    for (int d = rank - 1, i = t->rank - 3; d >= 0 && i >= 0; d--, i--) {
        m.step[d] = t->dim[i] == 1 ? 0 : step;
        step *= t->dim[i];
    }
    return m;
}

/* The worst |got - want| / (eps * (sum |a||b|) * sqrt(k) + tiny) over all elements. */
static double worst_error(const shape_case *s, const float *x, const float *y, const float *out)
{
    int rank = s->out.rank - 2;
    int64_t m = s->out.dim[rank], n = s->out.dim[rank + 1], batch = 1;
    int64_t k = s->x.dim[s->x.rank - (s->tx ? 2 : 1)];
    index_map xm = batch_map(&s->x, rank), ym = batch_map(&s->y, rank);
    double worst = 0;

    for (int d = 0; d < rank; d++)
        batch *= s->out.dim[d];
    for (int64_t b = 0; b < batch; b++) {
        const float *xb = x, *yb = y;
        int64_t rest = b;
        for (int d = rank - 1; d >= 0; rest /= s->out.dim[d], d--) {
            xb += rest % s->out.dim[d] * xm.step[d];
            yb += rest % s->out.dim[d] * ym.step[d];
        }
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0, size = 0;
                for (int64_t p = 0; p < k; p++) {
                    double v = (double)xb[s->tx ? p * m + i : i * k + p] *
                               (double)yb[s->ty ? j * k + p : p * n + j];
                    sum += v;
                    size += fabs(v);
                }
                double err = fabs((double)out[(b * m + i) * n + j] - sum);
                double unit = (double)FLT_EPSILON * size + 1e-30;
                if (!(err / unit <= worst))
                    worst = err / unit;
            }
    }
    return worst;
}

static void run_matmul(const char *isa, const shape_case *s, const float *x, const float *y,
                       float *out, int threads)
{
    run_case r = {.isa = isa, .op = "matmul", .n_in = 2, .n_out = 1, .threads = threads};
    error e = {0};

    r.in[0] = s->x;
    r.in[1] = s->y;
    r.out[0] = s->out;
    memcpy(r.buf, (void *[]){(void *)(uintptr_t)x, (void *)(uintptr_t)y, out}, 3 * sizeof(void *));
    run_attr_int(&r, "trans_x", s->tx);
    run_attr_int(&r, "trans_y", s->ty);
    if (!run_kernel(&r, &e))
        fail_msg("%s", e.text);
}

/* Guards around the output must survive; 1e30 in place of what was not written is an error. */
#define GUARD 64

static void check_shape(const shape_case *s)
{
    size_t nx = (size_t)type_count(&s->x), ny = (size_t)type_count(&s->y);
    size_t no = (size_t)type_count(&s->out);
    float *x = test_malloc((nx + 1) * sizeof(float)), *y = test_malloc((ny + 1) * sizeof(float));
    float *out = test_malloc((no + 2 * GUARD) * sizeof(float));
    float *other = test_malloc((no + 1) * sizeof(float));

    fill_random(x, (int64_t)nx, 1);
    fill_random(y, (int64_t)ny, 2);
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        for (size_t i = 0; i < no + 2 * GUARD; i++)
            out[i] = 1e30f;
        run_matmul(*isa, s, x, y, out + GUARD, 1);
        double worst = worst_error(s, x, y, out + GUARD);
        char a[TYPE_TEXT], b[TYPE_TEXT];
        double k = (double)s->x.dim[s->x.rank - (s->tx ? 2 : 1)];
        if (!(worst <= 2.0 + sqrt(k)))
            fail_msg("%s: matmul %s%s %s%s: error %g units", *isa, type_text(&s->x, a),
                     s->tx ? "T" : "", type_text(&s->y, b), s->ty ? "T" : "", worst);
        for (size_t i = 0; i < GUARD; i++)
            if (out[i] != 1e30f || out[GUARD + no + i] != 1e30f)
                fail_msg("%s: written outside the output of %s", *isa, type_text(&s->out, a));
        for (int threads = 2; threads <= 7; threads += threads == 3 ? 4 : 1) {
            run_matmul(*isa, s, x, y, other, threads);
            if (memcmp(other, out + GUARD, no * sizeof(float)) != 0)
                fail_msg("%s: %d threads change the result of %s", *isa, threads,
                         type_text(&s->out, a));
        }
    }
    test_free(x);
    test_free(y);
    test_free(out);
    test_free(other);
}

static shape_case plain(int64_t m, int64_t n, int64_t k, bool tx, bool ty)
{
    return (shape_case){
        .x = type_make(INGOT_F32, 2, (int64_t[]){tx ? k : m, tx ? m : k}),
        .y = type_make(INGOT_F32, 2, (int64_t[]){ty ? n : k, ty ? k : n}),
        .out = type_make(INGOT_F32, 2, (int64_t[]){m, n}),
        .tx = tx,
        .ty = ty,
    };
}

static void test_small_sizes(void **state)
{
    static const int64_t m[] = {0, 1, 2, 3, 5, 6, 7, 13, 14, 15, 29};
    static const int64_t n[] = {0, 1, 4, 8, 15, 16, 17, 31, 32, 33};
    static const int64_t k[] = {0, 1, 7, 16, 33};

    (void)state;
    for (size_t i = 0; i < sizeof m / sizeof m[0]; i++)
        for (size_t j = 0; j < sizeof n / sizeof n[0]; j++)
            for (size_t p = 0; p < sizeof k / sizeof k[0]; p++) {
                shape_case s = plain(m[i], n[j], k[p], (i + j + p) % 2, (i + j + p) / 2 % 2);
                check_shape(&s);
            }
}

static void test_transposes_and_blocks(void **state)
{
    static const int64_t size[][3] = {
        {57, 65, 130},  {112, 31, 385}, {113, 100, 400}, {3, 600, 257},
        {300, 3, 129},  {32, 784, 128}, {32, 10, 500},   {1, 1, 3000},
        {130, 530, 40}, {1, 300, 300},  {300, 1, 300},
    };

    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        for (int t = 0; t < 4; t++) {
            shape_case s = plain(size[i][0], size[i][1], size[i][2], t & 1, t >> 1);
            check_shape(&s);
        }
}

static void test_batches(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        shape_case s = {.tx = t & 1, .ty = t >> 1};
        int64_t xm = s.tx ? 9 : 17, xk = s.tx ? 17 : 9, yk = s.ty ? 21 : 9, yn = s.ty ? 9 : 21;

        s.out = type_make(INGOT_F32, 4, (int64_t[]){3, 4, 17, 21});
        s.x = type_make(INGOT_F32, 4, (int64_t[]){3, 4, xm, xk});
        s.y = type_make(INGOT_F32, 4, (int64_t[]){3, 4, yk, yn});
        check_shape(&s);
        s.y = type_make(INGOT_F32, 3, (int64_t[]){4, yk, yn});
        check_shape(&s);
        s.y = type_make(INGOT_F32, 4, (int64_t[]){3, 1, yk, yn});
        check_shape(&s);
        s.y = type_make(INGOT_F32, 2, (int64_t[]){yk, yn});
        check_shape(&s);
        s.x = type_make(INGOT_F32, 4, (int64_t[]){1, 4, xm, xk});
        s.y = type_make(INGOT_F32, 4, (int64_t[]){3, 1, yk, yn});
        check_shape(&s);
        s.x = type_make(INGOT_F32, 2, (int64_t[]){xm, xk});
        s.y = type_make(INGOT_F32, 4, (int64_t[]){3, 4, yk, yn});
        check_shape(&s);
        s.out = type_make(INGOT_F32, 3, (int64_t[]){0, 17, 21});
        s.x = type_make(INGOT_F32, 3, (int64_t[]){0, xm, xk});
        s.y = type_make(INGOT_F32, 2, (int64_t[]){yk, yn});
        check_shape(&s);
    }
}

/* A NaN or infinity reaches exactly the elements that depend on it. */
static void test_not_finite(void **state)
{
    shape_case s = plain(20, 40, 30, false, false);
    float x[20 * 30], y[30 * 40], out[20 * 40];

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        fill_random(x, 20 * 30, 3);
        fill_random(y, 30 * 40, 4);
        x[7 * 30 + 11] = NAN;
        y[5 * 40 + 39] = INFINITY;
        run_matmul(*isa, &s, x, y, out, 1);
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 40; j++)
                assert_int_equal(isfinite(out[i * 40 + j]) != 0, i != 7 && j != 39);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_sizes),
        cmocka_unit_test(test_transposes_and_blocks),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests_name("cpu/gemm", tests, NULL, NULL);
}
