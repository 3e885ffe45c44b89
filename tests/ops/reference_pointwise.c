/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/reference.h"

#include <math.h>

/* --- one operand -------------------------------------------------------------------------------
 */

typedef double (*fn1)(double x, double a, double b);

static void map1(const ref_call *c, fn1 f)
{
    double imm[2] = {0, 0};
    int n = 0;

    for (int i = 0; i < c->op->n_attrs && n < 2; i++)
        if (c->attrs[i].kind == ATTR_REAL)
            imm[n++] = c->attrs[i].f;
    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        double y = f(c->x[0][i], imm[0], imm[1]);

        c->y[0][i] = dtype_is_int(c->out[0].dt) ? ref_wrap(c->out[0].dt, (int64_t)y) : y;
    }
}

#define REF1(name, expr)                                 \
    static double f_##name(double x, double a, double b) \
    {                                                    \
        (void)a, (void)b;                                \
        return expr;                                     \
    }                                                    \
    void ref_##name(const ref_call *c)                   \
    {                                                    \
        map1(c, f_##name);                               \
    }

static double even(double x)
{
    double down = floor(x), rest = x - down;

    if (rest == 0.5)
        return fmod(down, 2.0) == 0.0 ? down : down + 1.0;
    return copysign(rest < 0.5 ? down : down + 1.0, x);
}

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

REF1(neg, -x)
REF1(abs, x < 0 ? -x : x == 0 ? 0.0 : x)
REF1(sign, x > 0 ? 1.0 : x < 0 ? -1.0 : x)
REF1(square, x *x)
REF1(exp, exp(x))
REF1(expm1, expm1(x))
REF1(log, log(x))
REF1(log1p, log1p(x))
REF1(sqrt, sqrt(x))
REF1(rsqrt, 1.0 / sqrt(x))
REF1(reciprocal, 1.0 / x)
REF1(sin, sin(x))
REF1(cos, cos(x))
REF1(tan, tan(x))
REF1(tanh, tanh(x))
REF1(sigmoid, 1.0 / (1.0 + exp(-x)))
REF1(erf, erf(x))
REF1(relu, x > 0 ? x : x != x ? x : 0.0)
REF1(gelu, isinf(x) && x < 0 ? 0.0 : x * normal_cdf(x))
REF1(gelu_tanh, isinf(x) && x < 0
                    ? 0.0
                    : 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x))))
REF1(silu, isinf(x) && x < 0 ? 0.0 : x / (1.0 + exp(-x)))
REF1(softplus, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)))
REF1(floor, floor(x))
REF1(ceil, ceil(x))
REF1(round, isfinite(x) && fabs(x) < 1e15 ? even(x) : x)
REF1(trunc, trunc(x))
REF1(leaky_relu, x > 0 ? x : a * x)
REF1(elu, x > 0 ? x : a * expm1(x))
REF1(clip, x<a ? a : x> b ? b : x)
REF1(is_nan, x != x)
REF1(is_inf, isinf(x) != 0)
REF1(is_finite, isfinite(x) != 0)
REF1(logical_not, x == 0)
REF1(stop_gradient, x)

/* Floats to integers: without the fraction, within the range, NaN as 0. */
void ref_cast(const ref_call *c)
{
    dtype from = c->in[0].dt, to = c->out[0].dt;

    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        double x = c->x[0][i], lo, hi;

        if (to == INGOT_BOOL) {
            x = x != 0;
        } else if (dtype_is_int(to) && dtype_is_float(from)) {
            int bits = 8 * (int)dtype_size(to) - (to != INGOT_U8);

            hi = ldexp(1.0, bits) - (bits < 60 ? 1.0 : 0.0);
            lo = to == INGOT_U8 ? 0.0 : -ldexp(1.0, bits);
            x = x != x ? 0.0 : x < lo ? lo : x > hi ? hi : trunc(x);
        } else if (dtype_is_int(to)) {
            x = ref_wrap(to, (int64_t)x);
        }
        c->y[0][i] = x;
    }
}

void ref_assign(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = c->x[1][i];
}

/* --- two operands, broadcast ---------------------------------------------------------------------
 */

static double operand(const ref_call *c, int k, const int64_t *at)
{
    const type *t = &c->in[k];
    int64_t from[MAX_RANK];

    for (int d = 0; d < t->rank; d++)
        from[d] = t->dim[d] == 1 ? 0 : at[c->out[0].rank - t->rank + d];
    return c->x[k][ref_flat(t, from)];
}

typedef double (*fn2)(double x, double y);
typedef int64_t (*fn2i)(int64_t x, int64_t y);

static void map2(const ref_call *c, fn2 f, fn2i g)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        int64_t at[MAX_RANK];
        double x, y;

        ref_unflat(&c->out[0], i, at);
        x = operand(c, 0, at);
        y = operand(c, 1, at);
        if (dtype_is_int(c->out[0].dt))
            c->y[0][i] = ref_wrap(c->out[0].dt, g((int64_t)x, (int64_t)y));
        else
            c->y[0][i] = f(x, y);
    }
}

#define REF2(name, expr, whole)                   \
    static double f_##name(double x, double y)    \
    {                                             \
        return expr;                              \
    }                                             \
    static int64_t i_##name(int64_t x, int64_t y) \
    {                                             \
        return whole;                             \
    }                                             \
    void ref_##name(const ref_call *c)            \
    {                                             \
        map2(c, f_##name, i_##name);              \
    }

static int64_t power(int64_t x, int64_t y)
{
    uint64_t p = 1;

    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (int64_t i = 0; i < y; i++)
        p *= (uint64_t)x;
    return (int64_t)p;
}

static int64_t modulo(int64_t x, int64_t y)
{
    int64_t r = y == 0 || y == -1 ? 0 : x % y;

    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static double float_modulo(double x, double y)
{
    double r = fmod(x, y);

    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

REF2(add, x + y, x + y)
REF2(sub, x - y, x - y)
REF2(mul, x *y, x *y)
REF2(div, x / y, y == 0 ? 0 : x / y)
REF2(pow, pow(x, y), power(x, y))
REF2(minimum, x != x ? x : y != y ? y : x < y ? x : y, x < y ? x : y)
REF2(maximum, x != x ? x : y != y ? y : x > y ? x : y, x > y ? x : y)
REF2(mod, float_modulo(x, y), modulo(x, y))
REF2(eq, x == y, x == y)
REF2(ne, x != y, x != y)
REF2(lt, x < y, x < y)
REF2(le, x <= y, x <= y)
REF2(gt, x > y, x > y)
REF2(ge, x >= y, x >= y)
REF2(logical_and, x != 0 && y != 0, x &&y)
REF2(logical_or, x != 0 || y != 0, x || y)
REF2(logical_xor, (x != 0) != (y != 0), !x != !y)

void ref_where(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        int64_t at[MAX_RANK];

        ref_unflat(&c->out[0], i, at);
        c->y[0][i] = operand(c, operand(c, 0, at) != 0 ? 1 : 2, at);
    }
}
