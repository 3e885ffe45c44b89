/* SPDX-License-Identifier: Apache-2.0 */
/* The opcodes' scalar forms where an expression does not do: f64, and integers, which wrap. */
#ifndef CPU_LOOP_SCALAR_H
#define CPU_LOOP_SCALAR_H

#include <float.h>
#include <math.h>
#include <stdint.h>

static inline int64_t i64_wrap(uint64_t u)
{
    return u <= INT64_MAX ? (int64_t)u : -1 - (int64_t)(UINT64_MAX - u);
}

static inline int64_t i64_div_op(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? i64_wrap(0 - (uint64_t)a) : a / b;
}

static inline int64_t i64_mod_op(int64_t a, int64_t b)
{
    int64_t r;

    if (b == 0 || b == -1)
        return 0;
    r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int64_t i64_pow_op(int64_t a, int64_t b)
{
    uint64_t r = 1, x = (uint64_t)a;

    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (; b; b >>= 1, x *= x)
        if (b & 1)
            r *= x;
    return i64_wrap(r);
}

/* A bound of clip: reals beyond the range of integers limit nothing. */
static inline int64_t i64_bound(double v)
{
    if (!(v > -9223372036854775808.0))
        return INT64_MIN;
    return v >= 9223372036854775807.0 ? INT64_MAX : (int64_t)v;
}

static inline int64_t i64_clip_op(int64_t a, double lo, double hi)
{
    int64_t l = i64_bound(ceil(lo)), h = i64_bound(floor(hi));

    return a < l ? l : a > h ? h : a;
}

static inline double f64_sigmoid(double x)
{
    double e = exp(-fabs(x));

    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

static inline double f64_softplus(double x)
{
    return (x > 0.0 ? x : x != x ? x : 0.0) + log1p(exp(-fabs(x)));
}

/* Finite below, so that 0 times it is 0. */
static inline double f64_finite_below(double x)
{
    return x < -DBL_MAX ? -DBL_MAX : x;
}

static inline double f64_silu(double x)
{
    return f64_finite_below(x) * f64_sigmoid(x);
}

static inline double f64_gelu(double x)
{
    return 0.5 * f64_finite_below(x) * erfc(-x * 0.70710678118654752);
}

static inline double f64_gelu_tanh(double x)
{
    return f64_finite_below(x) * f64_sigmoid(1.5957691216057308 * x * (1.0 + 0.044715 * x * x));
}

static inline double f64_sign(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}

static inline double f64_mod(double x, double y)
{
    double r = fmod(x, y);

    if (r == 0.0)
        return copysign(0.0, y);
    return (r < 0.0) != (y < 0.0) ? r + y : r;
}

static inline double f64_min(double x, double y)
{
    return x != x || x < y ? x : y;
}

static inline double f64_max(double x, double y)
{
    return x != x || x > y ? x : y;
}

#endif
