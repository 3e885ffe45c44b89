/* SPDX-License-Identifier: Apache-2.0 */
/* The elementary functions of the loop engine's f32 class against libm in double: over all
   magnitudes, densely where their formulas change, and at every special value. */
#include "cpu/loop/loop.h"
#include "cpu/run_kernel.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define STRIDE 5003 /* of bit patterns; prime, so that all low bits occur */

static double ref_sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double ref_softplus(double x)
{
    return x > 40.0 ? x : log1p(exp(x));
}

static double ref_silu(double x)
{
    return x < -700.0 ? -0.0 : x * ref_sigmoid(x);
}

static double ref_gelu(double x)
{
    return x < -50.0 ? -0.0 : 0.5 * x * erfc(-x * 0.707106781186547524401);
}

static double gelu_tanh_argument(double x)
{
    return 1.5957691216057307117 * (x + 0.044715 * x * x * x);
}

static double ref_rsqrt(double x)
{
    return 1.0 / sqrt(x);
}

static double ref_reciprocal(double x)
{
    return 1.0 / x;
}

/* The largest error in units in the last place of the f32 result, as cpu/vec/math.h states it. */
static const struct {
    const char *op;
    double (*ref)(double);
    double bound;
} functions[] = {
    {"exp", exp, 1.1},
    {"expm1", expm1, 2},
    {"log", log, 1},
    {"log1p", log1p, 3},
    {"sqrt", sqrt, 0.5},
    {"rsqrt", ref_rsqrt, 1.5},
    {"reciprocal", ref_reciprocal, 0.5},
    {"sin", sin, 3},
    {"cos", cos, 3},
    {"tan", tan, 4},
    {"tanh", tanh, 3},
    {"sigmoid", ref_sigmoid, 3},
    {"erf", erf, 3},
    {"softplus", ref_softplus, 3},
    {"silu", ref_silu, 4},
    {"gelu", ref_gelu, 7},
};
#define N_FUNCTIONS (sizeof functions / sizeof functions[0])

static float bits_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static const float specials[] = {
    0.0f,      -0.0f,     1.0f,    -1.0f,   INFINITY, -INFINITY, NAN,    FLT_MAX, -FLT_MAX,
    FLT_MIN,   -FLT_MIN,  1e-45f,  -1e-45f, 88.7228f, 88.7229f,  -87.4f, -103.9f, -104.1f,
    8191.999f, -8192.0f,  8193.0f, 1e10f,   -1e22f,   20.0f,     -30.0f, 0.5f,    2.0f,
    1.570796f, 3.141593f, 11.0f,   -0.999f, 1e30f,    -10.0f,
};

typedef struct samples {
    float *x, *y;
    int64_t n;
} samples;

/* All magnitudes of both signs, then 2^-6 .. 2^7 and the special values. */
static samples make_samples(void)
{
    const size_t n_special = sizeof specials / sizeof specials[0];
    const int64_t wide = (int64_t)(0x100000000 / STRIDE), near = 400000;
    samples s = {.n = wide + near + (int64_t)n_special};

    s.x = test_malloc((size_t)s.n * sizeof(float));
    s.y = test_malloc((size_t)s.n * sizeof(float));
    for (int64_t i = 0; i < wide; i++)
        s.x[i] = bits_float((uint32_t)i * STRIDE);
    for (int64_t i = 0; i < near; i++) {
        float m = bits_float(
            0x3c800000u + (uint32_t)((uint64_t)i * (0x43000000u - 0x3c800000u) / (uint64_t)near));
        s.x[wide + i] = i % 2 ? -m : m;
    }
    memcpy(s.x + wide + near, specials, sizeof specials);
    return s;
}

static void run_op(const char *isa, const char *op, const float *x, const float *x2, float *y,
                   int64_t n)
{
    int code = loop_op_find(op, strlen(op)), n_in = x2 ? 2 : 1;
    loop_desc d = {.cls = LOOP_F32, .rank = 1, .n_in = n_in, .n_inst = 1, .n_out = 1};
    run_case r = {.isa = isa, .op = "fused", .n_in = n_in, .n_out = 1, .extra = &d};
    error e = {0};

    if (code < 0)
        fail_msg("no opcode %s", op);
    d.dim[0] = n;
    d.inst[0] = (loop_inst){.op = (loop_op)code, .b = n_in - 1};
    d.out[0] = (loop_out){.dt = INGOT_F32, .reg = n_in};
    for (int i = 0; i < n_in; i++) {
        d.in[i].dt = INGOT_F32;
        d.in[i].stride[0] = 1;
        r.in[i] = type_make(INGOT_F32, 1, &n);
        r.buf[i] = (void *)(uintptr_t)(i ? x2 : x);
    }
    r.out[0] = type_make(INGOT_F32, 1, &n);
    r.buf[n_in] = y;
    if (!run_kernel(&r, &e))
        fail_msg("%s", e.text);
}

/* |got - want| in units in the last place of want as a float; a wrong NaN, infinity or sign of
   zero counts as infinitely many. */
static double ulps(float got, double want)
{
    float near = (float)want;
    int exponent;

    if (near != near || got != got)
        return near != near && got != got ? 0.0 : HUGE_VAL;
    if (isinf(near) || isinf(got)) {
        /* one side of the overflow: compare with 2^128 */
        double g = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
        double w = fabs(want) > 0x1p128 ? copysign(0x1p128, want) : want;
        return fabs(g - w) / 0x1p104;
    }
    if (near == 0.0f && got == 0.0f && want == 0.0)
        return !signbit(want) == !signbit(got) ? 0.0 : HUGE_VAL;
    (void)frexp(fabs(want) < (double)FLT_MIN ? (double)FLT_MIN : want, &exponent);
    return fabs((double)got - want) / ldexp(1.0, exponent - 24);
}

static void check(const char *isa, const char *op, float x, float got, double want, double bound)
{
    double u = ulps(got, want);

    if (!(u <= bound))
        fail_msg("%s: %s(%.9g) = %.9g, not %.9g: %g units in the last place", isa, op, (double)x,
                 (double)got, want, u);
}

static void test_unary(void **state)
{
    samples s = make_samples();
    double *want = test_malloc((size_t)s.n * sizeof *want);

    (void)state;
    for (size_t f = 0; f < N_FUNCTIONS; f++) {
        for (int64_t i = 0; i < s.n; i++)
            want[i] = functions[f].ref((double)s.x[i]);
        for (const char *const *isa = cpu_isas(); *isa; isa++) {
            run_op(*isa, functions[f].op, s.x, NULL, s.y, s.n);
            for (int64_t i = 0; i < s.n; i++)
                check(*isa, functions[f].op, s.x[i], s.y[i], want[i], functions[f].bound);
        }
    }
    test_free(want);
    test_free(s.x);
    test_free(s.y);
}

/* Below 0 its error grows with the argument of its sigmoid. */
static void test_gelu_tanh(void **state)
{
    samples s = make_samples();

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        run_op(*isa, "gelu_tanh", s.x, NULL, s.y, s.n);
        for (int64_t i = 0; i < s.n; i++) {
            double x = (double)s.x[i], u = fmin(0.0, gelu_tanh_argument(x));
            double want = u < -700.0 ? -0.0 : x * ref_sigmoid(gelu_tanh_argument(x));

            check(*isa, "gelu_tanh", s.x[i], s.y[i], want, 4.0 + 4.0 * fmin(-u, 110.0));
        }
    }
    test_free(s.x);
    test_free(s.y);
}

static void test_pow(void **state)
{
    static const float exponents[] = {0.0f, 1.0f,  -1.0f, 2.0f,  3.0f,     0.5f,      -0.5f, 0.1f,
                                      7.5f, -3.0f, 31.0f, 1e10f, INFINITY, -INFINITY, NAN,   1e-5f};
    samples s = make_samples();
    float *y = test_malloc((size_t)s.n * sizeof *y);
    int64_t n = 0;

    (void)state;
    for (int64_t i = 0; i < s.n; i += 16, n++)
        s.x[n] = s.x[i];
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        s.x[n++] = specials[i];
    for (size_t k = 0; k < sizeof exponents / sizeof exponents[0]; k++) {
        for (int64_t i = 0; i < n; i++)
            y[i] = exponents[k];
        for (const char *const *isa = cpu_isas(); *isa; isa++) {
            run_op(*isa, "pow", s.x, y, s.y, n);
            for (int64_t i = 0; i < n; i++)
                check(*isa, "pow", s.x[i], s.y[i], pow((double)s.x[i], (double)y[i]), 1.0);
        }
    }
    test_free(y);
    test_free(s.x);
    test_free(s.y);
}

/* An element's bits must not depend on its place, its neighbours or being in the last vector. */
static void test_each_alone(void **state)
{
    enum { N = 67 };
    float x[N], y[N], alone;

    (void)state;
    fill_random(x, N, 5);
    for (int i = 0; i < N; i++)
        x[i] = i % 7 == 3 ? specials[i % (int)(sizeof specials / sizeof *specials)] : 20.0f * x[i];
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t f = 0; f < N_FUNCTIONS; f++) {
            run_op(*isa, functions[f].op, x, NULL, y, N);
            for (int i = 0; i < N; i++) {
                run_op(*isa, functions[f].op, x + i, NULL, &alone, 1);
                if (memcmp(&alone, y + i, sizeof alone) != 0 && alone == alone)
                    fail_msg("%s: %s(%.9g) is %.9g alone, %.9g among others", *isa, functions[f].op,
                             (double)x[i], (double)alone, (double)y[i]);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary),
        cmocka_unit_test(test_gelu_tanh),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_each_alone),
    };
    return cmocka_run_group_tests_name("cpu/math", tests, NULL, NULL);
}
