/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions on vectors of f32, for the whole domain: NaN gives NaN, infinities and
   denormals what IEEE 754 would. A lane's result depends on that lane alone. Errors in units in the
   last place, measured by tests/cpu/math.c: log pow 1, exp 1.1, expm1 2, sin cos log1p tanh sigmoid
   softplus erf 3, silu tan 4, gelu 7; gelu_tanh 4, and below 0, where it is x e^u / (1 + e^u), 4
   |u| more. Methods: argument reduction and minimax polynomials (Cody and Waite, "Software Manual
   for the Elementary Functions"; coefficients after Moshier's Cephes, erf fitted anew). */
#ifndef CPU_VEC_MATH_H
#define CPU_VEC_MATH_H

#include "cpu/vec/vec.h"

#include <float.h>
#include <math.h>

static inline vf32 vm_c(float x)
{
    return vf32_set1(x);
}

/* c[0] + c[1] x + ...: Horner. */
static VEC_FORCE_INLINE vf32 vm_poly(vf32 x, const float *c, int n)
{
    vf32 r = vm_c(c[n - 1]);

    for (int i = n - 2; i >= 0; i--)
        r = vf32_fma(r, x, vm_c(c[i]));
    return r;
}

/* A scalar function on each lane: for what is rare or hard. */
static inline vf32 vm_lanes(vf32 a, vf32 b, float (*fn)(float, float))
{
    float x[VF32_LANES], y[VF32_LANES];

    vf32_store(x, a);
    vf32_store(y, b);
    for (int i = 0; i < VF32_LANES; i++)
        x[i] = fn(x[i], y[i]);
    return vf32_load(x);
}

/* 2^n for whole n in [-126, 127]. */
static inline vf32 vm_pow2(vi32 n)
{
    return vi32_float(vi32_shl(vi32_add(n, vi32_set1(127)), 23));
}

/* x = n ln 2 + r with |r| <= ln 2 / 2 (|x| < 150); q = e^r - 1. */
static inline vf32 vm_exp_reduce(vf32 x, vf32 *n)
{
    static const float c[] = {5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                              8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f};
    vf32 r;

    *n = vf32_round(vf32_mul(x, vm_c(1.44269504088896341f)));
    r = vf32_fnma(*n, vm_c(0.693359375f), x);
    r = vf32_fnma(*n, vm_c(-2.12194440e-4f), r);
    return vf32_fma(vf32_mul(r, r), vm_poly(r, c, 6), r);
}

/* e^x = y s[0] s[1] with y in [1/2, 2]. Multiplying in that order rounds a denormal result once and
   lets 2^128 fit; another factor belongs to y, before the scaling. */
static inline vf32 vm_exp_parts(vf32 x, vf32 s[2])
{
    /* beyond these e^x, and 2^17 times it below, is infinite or 0; NaN passes through both */
    vf32 in = vf32_max(vf32_min(x, vm_c(89.0f)), vm_c(-120.0f)), n, q;
    vi32 whole, half;

    q = vm_exp_reduce(in, &n);
    n = vf32_select(vf32_eq(n, n), n, vf32_zero());
    whole = vi32_from_f32(n);
    half = vi32_sra(whole, 1);
    s[0] = vm_pow2(half);
    s[1] = vm_pow2(vi32_sub(whole, half));
    return vf32_add(q, vm_c(1.0f));
}

static inline vf32 vm_exp(vf32 x)
{
    vf32 s[2], y = vm_exp_parts(x, s);

    return vf32_mul(vf32_mul(y, s[0]), s[1]);
}

static inline vf32 vm_expm1(vf32 x)
{
    vf32 in = vf32_max(vf32_min(x, vm_c(30.0f)), vm_c(-30.0f)), n, q, scale, y;

    q = vm_exp_reduce(in, &n);
    n = vf32_select(vf32_eq(n, n), n, vf32_zero());
    scale = vm_pow2(vi32_from_f32(n));
    y = vf32_fma(scale, q, vf32_sub(scale, vm_c(1.0f)));
    y = vf32_select(vf32_lt(vm_c(20.0f), x), vm_exp(x), y);
    return vf32_select(vf32_eq(x, vf32_zero()), x, y); /* keeps -0 */
}

static inline vf32 vm_log(vf32 x)
{
    static const float c[] = {3.3333331174e-1f,  -2.4999993993e-1f, 2.0000714765e-1f,
                              -1.6668057665e-1f, 1.4249322787e-1f,  -1.2420140846e-1f,
                              1.1676998740e-1f,  -1.1514610310e-1f, 7.0376836292e-2f};
    const float inf = INFINITY;
    vm32 tiny = vf32_lt(x, vm_c(1.17549435e-38f)), low;
    vf32 m = vf32_select(tiny, vf32_mul(x, vm_c(8388608.0f)), x), e, z, y;
    vi32 bits = vf32_bits(m);

    e = vf32_from_i32(vi32_sub(vi32_and(vi32_shr(bits, 23), vi32_set1(255)), vi32_set1(126)));
    e = vf32_sub(e, vf32_select(tiny, vm_c(23.0f), vf32_zero()));
    m = vi32_float(vi32_or(vi32_and(bits, vi32_set1(0x007fffff)), vi32_set1(0x3f000000)));
    low = vf32_lt(m, vm_c(0.707106781186547524f)); /* m in [1/2, 1) to [sqrt 1/2, sqrt 2) */
    e = vf32_sub(e, vf32_select(low, vm_c(1.0f), vf32_zero()));
    m = vf32_sub(vf32_add(m, vf32_select(low, m, vf32_zero())), vm_c(1.0f));
    z = vf32_mul(m, m);
    y = vf32_mul(vf32_mul(m, z), vm_poly(m, c, 9));
    y = vf32_fma(e, vm_c(-2.12194440e-4f), y);
    y = vf32_fnma(vm_c(0.5f), z, y);
    y = vf32_fma(e, vm_c(0.693359375f), vf32_add(m, y));
    y = vf32_select(vf32_eq(x, vm_c(inf)), x, y);
    y = vf32_select(vf32_eq(x, vf32_zero()), vm_c(-inf), y);
    y = vf32_select(vf32_lt(x, vf32_zero()), vm_c(NAN), y);
    return vf32_select(vf32_ne(x, x), x, y);
}

/* log(u) x / (u - 1) with u = 1 + x rounded: the error of u cancels (Kahan). */
static inline vf32 vm_log1p(vf32 x)
{
    vf32 one = vm_c(1.0f), u = vf32_add(x, one), d = vf32_sub(u, one), y;
    vm32 same = vf32_eq(d, vf32_zero());

    y = vf32_mul(vm_log(u), vf32_div(x, vf32_select(same, one, d)));
    y = vf32_select(same, x, y);
    y = vf32_select(vf32_eq(u, vm_c(INFINITY)), u, y);
    return vf32_select(vf32_eq(u, vf32_zero()), vm_c(-INFINITY), y);
}

static inline float vm_sin_far(float x, float unused)
{
    (void)unused;
    return (float)sin((double)x);
}

static inline float vm_cos_far(float x, float unused)
{
    (void)unused;
    return (float)cos((double)x);
}

/* Beyond this the three-part reduction below loses bits. */
#define VM_TRIG_MAX 8192.0f

/* x = q pi/2 + r with |r| <= pi/4: sine and cosine of r, and q mod 4. Lanes beyond VM_TRIG_MAX
   are left to the caller. */
static inline vi32 vm_trig(vf32 x, vf32 *s, vf32 *c)
{
    static const float sine[] = {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f};
    static const float cosine[] = {4.166664568298827e-2f, -1.388731625493765e-3f,
                                   2.443315711809948e-5f};
    vf32 near = vf32_select(vf32_lt(vf32_abs(x), vm_c(VM_TRIG_MAX)), x, vf32_zero());
    vf32 q = vf32_round(vf32_mul(near, vm_c(0.63661977236758134f))), r, z;

    r = vf32_fnma(q, vm_c(1.5703125f), near); /* the four parts of pi/2: each product is exact */
    r = vf32_fnma(q, vm_c(4.835128784179688e-4f), r);
    r = vf32_fnma(q, vm_c(3.138557076454163e-7f), r);
    r = vf32_fnma(q, vm_c(6.077100628276710e-11f), r);
    z = vf32_mul(r, r);
    *s = vf32_fma(vf32_mul(z, r), vm_poly(z, sine, 3), r);
    *c = vf32_fma(vf32_mul(z, z), vm_poly(z, cosine, 3), vf32_fnma(vm_c(0.5f), z, vm_c(1.0f)));
    return vi32_and(vi32_from_f32(q), vi32_set1(3));
}

/* y, but fn of the lanes that vm_trig leaves out; the others' bits do not depend on these. */
static inline vf32 vm_with_far(vf32 x, vf32 y, float (*fn)(float, float))
{
    vm32 near = vf32_lt(vf32_abs(x), vm_c(VM_TRIG_MAX));

    return vm32_all(near) ? y : vf32_select(near, y, vm_lanes(x, x, fn));
}

/* v with the sign turned where bit 1 of q is set. */
static inline vf32 vm_turn(vf32 v, vi32 q)
{
    return vi32_float(vi32_xor(vf32_bits(v), vi32_shl(vi32_shr(q, 1), 31)));
}

static inline vf32 vm_sin(vf32 x)
{
    vf32 s, c, y;
    vi32 q = vm_trig(x, &s, &c);

    y = vf32_select(vi32_eq(vi32_and(q, vi32_set1(1)), vi32_set1(0)), s, c);
    y = vf32_select(vf32_eq(x, vf32_zero()), x, vm_turn(y, q));
    return vm_with_far(x, y, vm_sin_far);
}

static inline vf32 vm_cos(vf32 x)
{
    vf32 s, c, y;
    vi32 q = vm_trig(x, &s, &c);

    y = vf32_select(vi32_eq(vi32_and(q, vi32_set1(1)), vi32_set1(0)), c, s);
    y = vm_turn(y, vi32_add(q, vi32_set1(1))); /* odd q: cos(r + pi/2) = -sin r */
    return vm_with_far(x, y, vm_cos_far);
}

static inline float vm_tan_far(float x, float unused)
{
    (void)unused;
    return (float)tan((double)x);
}

static inline vf32 vm_tan(vf32 x)
{
    vf32 s, c, y;
    vm32 even = vi32_eq(vi32_and(vm_trig(x, &s, &c), vi32_set1(1)), vi32_set1(0));

    s = vf32_select(vf32_eq(x, vf32_zero()), x, s);
    y = vf32_div(vf32_select(even, s, c), vf32_select(even, c, vf32_neg(s)));
    return vm_with_far(x, y, vm_tan_far);
}

/* t / (t + 2) with t = e^2|x| - 1. */
static inline vf32 vm_tanh(vf32 x)
{
    vf32 a = vf32_min(vf32_abs(x), vm_c(10.0f)), t = vm_expm1(vf32_add(a, a));

    return vf32_copysign(vf32_div(t, vf32_add(t, vm_c(2.0f))), x);
}

/* With e = e^-|x|: 1 / (1 + e) above 0, e / (1 + e) below: nothing overflows or is lost. */
static inline vf32 vm_sigmoid(vf32 x)
{
    vf32 one = vm_c(1.0f), e = vm_exp(vf32_neg(vf32_abs(x)));

    return vf32_div(vf32_select(vf32_lt(x, vf32_zero()), e, one), vf32_add(one, e));
}

static inline vf32 vm_softplus(vf32 x)
{
    return vf32_add(vf32_max(x, vf32_zero()), vm_log1p(vm_exp(vf32_neg(vf32_abs(x)))));
}

/* Finite below, so that 0 times it is 0: what functions go to that vanish at -infinity. */
static inline vf32 vm_finite_below(vf32 x)
{
    return vf32_max(x, vm_c(-FLT_MAX));
}

/* With e = e^-|x|: x / (1 + e) above 0, x e / (1 + e) below; x joins e before that is scaled, for
   it may be denormal. */
static inline vf32 vm_silu(vf32 x)
{
    vf32 s[2], y = vm_exp_parts(vf32_neg(vf32_abs(x)), s);
    vf32 e = vf32_mul(vf32_mul(y, s[0]), s[1]);
    vf32 below = vf32_mul(vf32_mul(vf32_mul(vf32_max(x, vm_c(-128.0f)), y), s[0]), s[1]);

    return vf32_div(vf32_select(vf32_lt(x, vf32_zero()), below, x), vf32_add(vm_c(1.0f), e));
}

/* erf(x) for |x| < 1. */
static inline vf32 vm_erf_small(vf32 x)
{
    static const float c[] = {1.128379225730896f,     -3.7612637877464294e-1f,
                              1.1283782124519348e-1f, -2.68654003739357e-2f,
                              5.220945458859205e-3f,  -8.482828852720559e-4f,
                              1.1256946891080588e-4f, -9.641512406233232e-6f};

    return vf32_mul(x, vm_poly(vf32_mul(x, x), c, 8));
}

/* e^x^2 (1 - erf(x)) for x in [0.38, 10.7], given d = 1 + x / 2: t Q(t) with t = 1 / d. */
static inline vf32 vm_erfcx(vf32 d)
{
    static const float c[] = {
        2.8207670884372181e-1f,  2.8257330346001455e-1f,  2.4143940117830628e-1f,
        2.1022736810415442e-1f,  -4.6808521872902209e-2f, 3.1083750776274319e-1f,
        -5.1880741581355193e-1f, 3.0117167270389691e-1f,  -6.2707358701955722e-2f};
    vf32 t = vf32_div(vm_c(1.0f), d);

    return vf32_mul(t, vm_poly(t, c, 9));
}

/* e^(-k x^2) as in vm_exp_parts. What x^2 loses by rounding is put back (Dekker: the halves of x
   have 12 bits, so that their products are exact), for the exponential enlarges it. */
static inline vf32 vm_bell_parts(vf32 x, float k, vf32 s[2])
{
    vf32 hi = vi32_float(vi32_and(vf32_bits(x), vi32_set1(~0xfff))), lo = vf32_sub(x, hi);
    vf32 square = vf32_mul(x, x), lost = vf32_sub(vf32_mul(hi, hi), square), y;

    lost = vf32_add(lost, vf32_mul(vf32_add(hi, hi), lo));
    lost = vf32_add(lost, vf32_mul(lo, lo));
    y = vm_exp_parts(vf32_mul(vm_c(-k), square), s);
    return vf32_fnma(vf32_mul(vm_c(k), lost), y, y);
}

static inline vf32 vm_erf(vf32 x)
{
    vf32 a = vf32_abs(x);
    vf32 in = vf32_min(a, vm_c(10.5f)), s[2], y = vm_bell_parts(in, 1.0f, s);
    vf32 d = vf32_fma(in, vm_c(0.5f), vm_c(1.0f));
    vf32 tail = vf32_mul(vf32_mul(vf32_mul(vm_erfcx(d), y), s[0]), s[1]);
    vf32 large = vf32_copysign(vf32_sub(vm_c(1.0f), tail), x);

    return vf32_select(vf32_lt(a, vm_c(1.0f)), vm_erf_small(x), large);
}

/* x P(x) with P(x) = erfc(-x / sqrt 2) / 2, which keeps its relative precision below 0:
   1/2 + erf / 2 only where these two do not cancel. */
static inline vf32 vm_gelu(vf32 x)
{
    vf32 half = vm_c(0.5f), one = vm_c(1.0f);
    vf32 a = vf32_min(vf32_abs(x), vm_c(15.0f)), z = vf32_mul(a, vm_c(0.70710678118654752f));
    vf32 d = vf32_fma(a, vm_c(0.35355339059327376f), one); /* 1 + z / 2 with one rounding less */
    vf32 s[2], y = vf32_mul(vm_bell_parts(a, 0.5f, s), vf32_mul(half, vm_erfcx(d)));
    vf32 below = vf32_neg(vf32_mul(vf32_mul(vf32_mul(a, y), s[0]), s[1]));
    vf32 above = vf32_mul(x, vf32_sub(one, vf32_mul(vf32_mul(y, s[0]), s[1])));
    vf32 small = vf32_mul(half, vm_erf_small(vf32_copysign(z, x)));

    small = vf32_mul(x, vf32_add(half, small));
    y = vf32_select(vf32_lt(x, vf32_zero()), below, above);
    return vf32_select(vf32_lt(z, vm_c(0.4f)), small, y);
}

/* (1 + tanh u) / 2 = sigmoid(2 u) */
static inline vf32 vm_gelu_tanh(vf32 x)
{
    vf32 u = vf32_mul(x, vf32_fma(vf32_mul(x, x), vm_c(0.044715f), vm_c(1.0f)));

    return vf32_mul(vm_finite_below(x), vm_sigmoid(vf32_mul(u, vm_c(1.5957691216057308f))));
}

static inline vf32 vm_elu(vf32 x, vf32 alpha)
{
    return vf32_select(vf32_lt(vf32_zero(), x), x, vf32_mul(alpha, vm_expm1(x)));
}

static inline vf32 vm_sign(vf32 x)
{
    vf32 one = vf32_copysign(vm_c(1.0f), x);

    return vf32_select(vm32_or(vf32_ne(x, x), vf32_eq(x, vf32_zero())), x, one);
}

/* In double: a product of logarithms in f32 would lose up to seven bits. */
static inline float vm_pow_lane(float x, float y)
{
    return (float)pow((double)x, (double)y);
}

static inline vf32 vm_pow(vf32 x, vf32 y)
{
    return vm_lanes(x, y, vm_pow_lane);
}

/* The remainder with the divisor's sign, a zero's too. */
static inline float vm_mod_lane(float x, float y)
{
    float r = fmodf(x, y);

    if (r == 0.0f)
        return copysignf(0.0f, y);
    return (r < 0.0f) != (y < 0.0f) ? r + y : r;
}

static inline vf32 vm_mod(vf32 x, vf32 y)
{
    return vm_lanes(x, y, vm_mod_lane);
}

#endif
