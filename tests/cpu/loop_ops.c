/* SPDX-License-Identifier: Apache-2.0 */
/* Every opcode of the loop engine in its three classes, on all pairs of special values, against
   formulas written here. The f32 class of the elementary functions is tested closely in math.c. */
#include "cpu/loop/loop.h"
#include "cpu/run_kernel.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define P 0.75 /* the ops' real attributes */
#define Q 2.5

/* Of |x| <= 30 and the values that are not finite, so that the formulas need no care. */
static const double values[] = {
    0.0,  -0.0, 1.0,   -1.0,    0.5,  -0.5, 1.5,         -1.5,     2.0,       -2.0,
    2.5,  -2.5, 3.0,   -3.0,    0.75, 0.25, 7.25,        -7.25,    20.0,      -20.0,
    30.0, 1e-3, -1e-3, 0x1p-20, 8.0,  -8.0, (double)NAN, HUGE_VAL, -HUGE_VAL, 0.375,
};
#define N_VALUES (sizeof values / sizeof values[0])
#define N_PAIRS  (N_VALUES * N_VALUES)

/* As NumPy: the sign of the divisor, also that of a zero. */
static double ref_mod(double a, double b)
{
    double r = fmod(a, b);

    if (r != r)
        return r;
    if (r == 0.0)
        return copysign(0.0, b);
    return (r < 0.0) != (b < 0.0) ? r + b : r;
}

static double ref_max(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}

static double ref_min(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b);
}

static double ref_sign(double a)
{
    return a != a || a == 0.0 ? a : copysign(1.0, a);
}

/* x times what vanishes at -infinity. */
static double vanish(double x, double factor)
{
    return x == -HUGE_VAL ? -0.0 : x * factor;
}

static double ref_hard_swish(double a)
{
    return vanish(a, a != a ? a : ref_min(ref_max(a / 6.0 + 0.5, 0.0), 1.0));
}

static double gelu_tanh_factor(double a)
{
    return 1.0 / (1.0 + exp(-1.5957691216057307 * (a + 0.044715 * a * a * a)));
}

/* OP(name, operands, units in the last place in f32, in f64, the formula in double) */
#define OPS(OP)                                                                     \
    OP(copy, 1, 0, 0, a)                                                            \
    OP(neg, 1, 0, 0, -a)                                                            \
    OP(abs, 1, 0, 0, fabs(a))                                                       \
    OP(sign, 1, 0, 0, ref_sign(a))                                                  \
    OP(square, 1, 0.5, 0, a *a)                                                     \
    OP(exp, 1, 1.1, 2, exp(a))                                                      \
    OP(expm1, 1, 2, 2, expm1(a))                                                    \
    OP(log, 1, 1, 2, log(a))                                                        \
    OP(log1p, 1, 3, 2, log1p(a))                                                    \
    OP(sqrt, 1, 0.5, 0, sqrt(a))                                                    \
    OP(rsqrt, 1, 1.5, 0, 1.0 / sqrt(a))                                             \
    OP(reciprocal, 1, 0.5, 0, 1.0 / a)                                              \
    OP(sin, 1, 3, 2, sin(a))                                                        \
    OP(cos, 1, 3, 2, cos(a))                                                        \
    OP(tan, 1, 4, 2, sin(a) / cos(a))                                               \
    OP(erf, 1, 3, 2, erf(a))                                                        \
    OP(floor, 1, 0, 0, floor(a))                                                    \
    OP(ceil, 1, 0, 0, ceil(a))                                                      \
    OP(round, 1, 0, 0, rint(a))                                                     \
    OP(trunc, 1, 0, 0, trunc(a))                                                    \
    OP(relu, 1, 0, 0, ref_max(a, 0.0))                                              \
    OP(leaky_relu, 1, 0.5, 0, a > 0.0 ? a : P * a)                                  \
    OP(elu, 1, 3, 2, a > 0.0 ? a : P * expm1(a))                                    \
    OP(sigmoid, 1, 3, 3, a < 0.0 ? exp(a) / (1.0 + exp(a)) : 1.0 / (1.0 + exp(-a))) \
    OP(tanh, 1, 3, 2, tanh(a))                                                      \
    OP(softplus, 1, 3, 3, a > 40.0 ? a : log1p(exp(a)))                             \
    OP(silu, 1, 4, 4, vanish(a, 1.0 / (1.0 + exp(-a))))                             \
    OP(hard_swish, 1, 4, 4, ref_hard_swish(a))                                      \
    OP(gelu, 1, 7, 3, vanish(a, 0.5 * erfc(-a * 0.70710678118654752)))              \
    OP(gelu_tanh, 1, 404, 404, vanish(a, gelu_tanh_factor(a)))                      \
    OP(clip, 1, 0, 0, ref_min(ref_max(a, P), Q))                                    \
    OP(add, 2, 0.5, 0, a + b)                                                       \
    OP(sub, 2, 0.5, 0, a - b)                                                       \
    OP(mul, 2, 0.5, 0, a *b)                                                        \
    OP(div, 2, 0.5, 0, a / b)                                                       \
    OP(pow, 2, 1, 1, pow(a, b))                                                     \
    OP(mod, 2, 0.5, 0, ref_mod(a, b))                                               \
    OP(minimum, 2, 0, 0, ref_min(a, b))                                             \
    OP(maximum, 2, 0, 0, ref_max(a, b))                                             \
    OP(eq, 2, 0, 0, !(a < b) && !(a > b) && a == a && b == b)                       \
    OP(ne, 2, 0, 0, a<b || a> b || a != a || b != b)                                \
    OP(lt, 2, 0, 0, a < b)                                                          \
    OP(le, 2, 0, 0, a <= b)                                                         \
    OP(gt, 2, 0, 0, a > b)                                                          \
    OP(ge, 2, 0, 0, a >= b)                                                         \
    OP(is_nan, 1, 0, 0, isnan(a) != 0)                                              \
    OP(is_inf, 1, 0, 0, isinf(a) != 0)                                              \
    OP(is_finite, 1, 0, 0, isfinite(a) != 0)                                        \
    OP(logical_not, 1, 0, 0, a == 0.0)                                              \
    OP(logical_and, 2, 0, 0, a != 0.0 && b != 0.0)                                  \
    OP(logical_or, 2, 0, 0, a != 0.0 || b != 0.0)                                   \
    OP(logical_xor, 2, 0, 0, (a != 0.0) != (b != 0.0))                              \
    OP(where, 3, 0, 0, a != 0.0 ? b : -b)

#define OP(name, arity, f32, f64, formula)           \
    static double formula_##name(double a, double b) \
    {                                                \
        (void)b;                                     \
        return formula;                              \
    }
OPS(OP)
#undef OP

static const struct {
    const char *name;
    int arity;
    double ulp_f32, ulp_f64;
    double (*formula)(double, double);
} ops[] = {
#define OP(name, arity, f32, f64, formula) {#name, arity, f32, f64, formula_##name},
    OPS(OP)
#undef OP
};
#define N_OPS (sizeof ops / sizeof ops[0])

/* Runs the opcode on x[0], x[1], x[2], of n elements of dt, into out. */
static void run_op(const char *isa, const char *name, loop_class cls, dtype dt, void *const x[3],
                   void *out, int64_t n)
{
    int op = loop_op_find(name, strlen(name));
    loop_desc d = {.cls = cls, .rank = 1, .n_in = 3, .n_inst = 1, .n_out = 1};
    run_case r = {.isa = isa, .op = "fused", .n_in = 3, .n_out = 1, .extra = &d};
    error e = {0};

    d.dim[0] = n;
    d.inst[0] = (loop_inst){.op = (loop_op)op, .a = 0, .b = 1, .c = 2, .imm = {P, Q}};
    d.out[0] = (loop_out){.dt = dt, .reg = 3};
    for (int i = 0; i < 3; i++) {
        d.in[i].dt = dt;
        d.in[i].stride[0] = 1;
        r.in[i] = type_make(dt, 1, &n);
        r.buf[i] = x[i];
    }
    r.buf[3] = out;
    if (op < 0 || !run_kernel(&r, &e))
        fail_msg("%s: %s", name, op < 0 ? "no such opcode" : e.text);
}

/* In units of the last place of a format with that many bits; a bad NaN or infinity is infinite,
   and so is a zero's sign where the op is exact. */
static double distance(double got, double want, int bits, bool exact)
{
    int exponent;

    if (got != got || want != want)
        return got != got && want != want ? 0.0 : HUGE_VAL;
    if (got == want)
        return exact && got == 0.0 && !signbit(got) != !signbit(want) ? HUGE_VAL : 0.0;
    if (isinf(got) || isinf(want))
        return bits == 24 && got == (double)(float)want ? 0.0 : HUGE_VAL;
    (void)frexp(want, &exponent);
    exponent = bits == 24 && exponent < -125 ? -125 : exponent;
    return fabs(got - want) / ldexp(1.0, exponent - bits);
}

/* Ties of zeros: which of 0 and -0 a minimum or maximum gives is nobody's business. */
static bool zero_ties(const char *name)
{
    return !strcmp(name, "minimum") || !strcmp(name, "maximum") || !strcmp(name, "relu");
}

static void check_float(const char *isa, size_t k, loop_class cls)
{
    bool wide = cls == LOOP_F64;
    double bound = wide ? ops[k].ulp_f64 : ops[k].ulp_f32;
    double a[N_PAIRS], b[N_PAIRS], c[N_PAIRS], out[N_PAIRS];
    float fa[N_PAIRS], fb[N_PAIRS], fc[N_PAIRS], fout[N_PAIRS];

    for (size_t i = 0; i < N_PAIRS; i++) {
        a[i] = values[i % N_VALUES];
        b[i] = values[i / N_VALUES];
        fa[i] = (float)a[i], fb[i] = (float)b[i], fc[i] = -fb[i];
        if (!wide)
            a[i] = (double)fa[i], b[i] = (double)fb[i];
        c[i] = -b[i];
    }
    if (wide)
        run_op(isa, ops[k].name, cls, INGOT_F64, (void *[]){a, b, c}, out, N_PAIRS);
    else
        run_op(isa, ops[k].name, cls, INGOT_F32, (void *[]){fa, fb, fc}, fout, N_PAIRS);
    for (size_t i = 0; i < N_PAIRS; i++) {
        double got = wide ? out[i] : (double)fout[i], want = ops[k].formula(a[i], b[i]);
        bool exact = bound <= 0.5 && !zero_ties(ops[k].name);
        double u = distance(got, want, wide ? 53 : 24, exact);

        if (!(u <= bound))
            fail_msg("%s: %s of class %d (%.17g, %.17g) = %.17g, not %.17g: %g units", isa,
                     ops[k].name, (int)cls, a[i], b[i], got, want, u);
    }
}

static void test_float_classes(void **state)
{
    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t k = 0; k < N_OPS; k++) {
            check_float(*isa, k, LOOP_F32);
            check_float(*isa, k, LOOP_F64);
        }
}

static void test_names(void **state)
{
    static const char *const names[] = {
#define OPCODE(name, ...) #name,
#include "cpu/loop/opcodes.inc"
#undef OPCODE
    };

    (void)state;
    assert_int_equal(loop_op_find("nothing", 7), -1);
    assert_int_equal(loop_op_find("ex", 2), -1);
    assert_int_equal(N_OPS, LOOP_OP_COUNT);
    for (size_t i = 0; i < N_OPS; i++) {
        int op = loop_op_find(ops[i].name, strlen(ops[i].name));

        assert_true(op >= 0);
        assert_string_equal(names[op], ops[i].name);
        assert_int_equal(loop_op_arity((loop_op)op), ops[i].arity);
    }
}

/* Integers wrap, divisions by 0 give 0, quotients are cut, remainders have the divisor's sign. */
static void test_integers(void **state)
{
    static const int64_t least = INT64_MIN, most = INT64_MAX;
    const struct {
        const char *op;
        int64_t a, b, want;
    } rows[] = {
        {"add", most, 1, least},   {"add", 3, -5, -2},        {"sub", least, 1, most},
        {"mul", most, 2, -2},      {"mul", -3, 7, -21},       {"neg", least, 0, least},
        {"neg", 4, 0, -4},         {"abs", -4, 0, 4},         {"abs", least, 0, least},
        {"sign", -9, 0, -1},       {"sign", 0, 0, 0},         {"sign", 5, 0, 1},
        {"square", -5, 0, 25},     {"square", most, 0, 1},    {"relu", -1, 0, 0},
        {"relu", 7, 0, 7},         {"div", 7, 2, 3},          {"div", -7, 2, -3},
        {"div", 7, -2, -3},        {"div", 7, 0, 0},          {"div", least, -1, least},
        {"mod", 7, 3, 1},          {"mod", -7, 3, 2},         {"mod", 7, -3, -2},
        {"mod", -7, -3, -1},       {"mod", 7, 0, 0},          {"mod", least, -1, 0},
        {"mod", -6, 3, 0},         {"pow", 3, 4, 81},         {"pow", -2, 3, -8},
        {"pow", 2, 63, least},     {"pow", 5, 0, 1},          {"pow", 0, 0, 1},
        {"pow", 2, -1, 0},         {"pow", -1, -3, -1},       {"pow", -1, -4, 1},
        {"pow", 1, -9, 1},         {"minimum", -3, 2, -3},    {"maximum", -3, 2, 2},
        {"eq", most, most - 1, 0}, {"ne", most, most - 1, 1}, {"lt", least, most, 1},
        {"le", 3, 3, 1},           {"gt", most, most - 1, 1}, {"ge", 2, 3, 0},
        {"logical_not", 0, 0, 1},  {"logical_not", 5, 0, 0},  {"logical_and", 2, 4, 1},
        {"logical_or", 0, 4, 1},   {"logical_xor", 2, 4, 0},  {"where", 2, 7, 7},
        {"where", 0, 7, 11},       {"copy", most, 0, most},   {"clip", 0, 0, 1},
        {"clip", 3, 0, 2},         {"clip", least, 0, 1},     {"clip", 2, 0, 2},
    };
    int64_t c = 11, got;

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            int64_t a = rows[i].a, b = rows[i].b;

            run_op(*isa, rows[i].op, LOOP_I64, INGOT_I64, (void *[]){&a, &b, &c}, &got, 1);
            if (got != rows[i].want)
                fail_msg("%s: %s(%lld, %lld) = %lld, not %lld", *isa, rows[i].op, (long long)a,
                         (long long)b, (long long)got, (long long)rows[i].want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_float_classes),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests_name("cpu/loop_ops", tests, NULL, NULL);
}
