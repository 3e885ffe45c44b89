/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabulary of vec.h in plain C11: the reference, and the fallback for every machine. */
#ifndef CPU_VEC_GENERIC_H
#define CPU_VEC_GENERIC_H

#include "tensor/dtype.h"

#include <math.h>

#define VF32_LANES 4

typedef struct vf32 {
    float v[VF32_LANES];
} vf32;
typedef struct vi32 {
    int32_t v[VF32_LANES];
} vi32;
typedef struct vm32 {
    bool v[VF32_LANES];
} vm32;

/* Lane-wise functions, by arity and types; expr is over lane l. */
#define VEC_FN1_(ret, name, ta, expr)        \
    static inline ret name(ta a)             \
    {                                        \
        ret r;                               \
        for (int l = 0; l < VF32_LANES; l++) \
            r.v[l] = (expr);                 \
        return r;                            \
    }
#define VEC_FN2_(ret, name, ta, tb, expr)    \
    static inline ret name(ta a, tb b)       \
    {                                        \
        ret r;                               \
        for (int l = 0; l < VF32_LANES; l++) \
            r.v[l] = (expr);                 \
        return r;                            \
    }
#define VEC_FN3_(ret, name, ta, tb, tc, expr) \
    static inline ret name(ta a, tb b, tc c)  \
    {                                         \
        ret r;                                \
        for (int l = 0; l < VF32_LANES; l++)  \
            r.v[l] = (expr);                  \
        return r;                             \
    }
/* A load from an array of another type, whole and partial. */
#define VEC_LOAD_(name, type, conv)                   \
    static inline vf32 name##_n(const type *p, int n) \
    {                                                 \
        vf32 r;                                       \
        for (int l = 0; l < VF32_LANES; l++)          \
            r.v[l] = l < n ? conv(p[l]) : 0.0f;       \
        return r;                                     \
    }                                                 \
    static inline vf32 name(const type *p)            \
    {                                                 \
        vf32 r;                                       \
        for (int l = 0; l < VF32_LANES; l++)          \
            r.v[l] = conv(p[l]);                      \
        return r;                                     \
    }
#define VEC_STORE_(name, type, conv)                    \
    static inline void name##_n(type *p, vf32 a, int n) \
    {                                                   \
        for (int l = 0; l < n; l++)                     \
            p[l] = conv(a.v[l]);                        \
    }                                                   \
    static inline void name(type *p, vf32 a)            \
    {                                                   \
        for (int l = 0; l < VF32_LANES; l++)            \
            p[l] = conv(a.v[l]);                        \
    }

static inline float vec_bits_float(int32_t i)
{
    float f;
    memcpy(&f, &i, sizeof f);
    return f;
}

static inline int32_t vec_float_bits(float f)
{
    int32_t i;
    memcpy(&i, &f, sizeof i);
    return i;
}

/* Integer arithmetic wraps. */
static inline int32_t vec_wrap(uint32_t u)
{
    int32_t i;
    memcpy(&i, &u, sizeof i);
    return i;
}

static inline vf32 vf32_zero(void)
{
    return (vf32){{0}};
}

static inline vf32 vf32_set1(float x)
{
    vf32 r;
    for (int l = 0; l < VF32_LANES; l++)
        r.v[l] = x;
    return r;
}

static inline vf32 vf32_iota(void)
{
    vf32 r;
    for (int l = 0; l < VF32_LANES; l++)
        r.v[l] = (float)l;
    return r;
}

VEC_LOAD_(vf32_load, float, (float))
VEC_LOAD_(vf32_load_bf16, uint16_t, bf16_to_f32)
VEC_LOAD_(vf32_load_f16, uint16_t, f16_to_f32)
VEC_LOAD_(vf32_load_i32, int32_t, (float))
VEC_LOAD_(vf32_load_u8, uint8_t, (float))
VEC_LOAD_(vf32_load_i8, int8_t, (float))
VEC_STORE_(vf32_store, float, (float))
VEC_STORE_(vf32_store_bf16, uint16_t, f32_to_bf16)
VEC_STORE_(vf32_store_f16, uint16_t, f32_to_f16)

static inline vf32 vf32_load_even_n(const float *p, int n)
{
    vf32 r;
    for (int l = 0; l < VF32_LANES; l++)
        r.v[l] = l < n ? p[2 * l] : 0.0f;
    return r;
}

static inline void vf32_store_nt(float *p, vf32 a)
{
    vf32_store(p, a);
}

VEC_FN2_(vf32, vf32_add, vf32, vf32, a.v[l] + b.v[l])
VEC_FN2_(vf32, vf32_sub, vf32, vf32, a.v[l] - b.v[l])
VEC_FN2_(vf32, vf32_mul, vf32, vf32, a.v[l] * b.v[l])
VEC_FN2_(vf32, vf32_div, vf32, vf32, a.v[l] / b.v[l])
VEC_FN3_(vf32, vf32_fma, vf32, vf32, vf32, a.v[l] * b.v[l] + c.v[l])
VEC_FN3_(vf32, vf32_fnma, vf32, vf32, vf32, c.v[l] - a.v[l] * b.v[l])
VEC_FN2_(vf32, vf32_min, vf32, vf32, a.v[l] < b.v[l] || a.v[l] != a.v[l] ? a.v[l] : b.v[l])
VEC_FN2_(vf32, vf32_max, vf32, vf32, a.v[l] > b.v[l] || a.v[l] != a.v[l] ? a.v[l] : b.v[l])
VEC_FN1_(vf32, vf32_abs, vf32, fabsf(a.v[l]))
VEC_FN1_(vf32, vf32_neg, vf32, -a.v[l])
VEC_FN2_(vf32, vf32_copysign, vf32, vf32, copysignf(a.v[l], b.v[l]))
VEC_FN1_(vf32, vf32_sqrt, vf32, sqrtf(a.v[l]))
VEC_FN1_(vf32, vf32_floor, vf32, floorf(a.v[l]))
VEC_FN1_(vf32, vf32_ceil, vf32, ceilf(a.v[l]))
VEC_FN1_(vf32, vf32_trunc, vf32, truncf(a.v[l]))
VEC_FN1_(vf32, vf32_round, vf32, nearbyintf(a.v[l]))
VEC_FN2_(vm32, vf32_lt, vf32, vf32, a.v[l] < b.v[l])
VEC_FN2_(vm32, vf32_le, vf32, vf32, a.v[l] <= b.v[l])
VEC_FN2_(vm32, vf32_eq, vf32, vf32, a.v[l] == b.v[l])
VEC_FN2_(vm32, vf32_ne, vf32, vf32, a.v[l] != b.v[l])
VEC_FN3_(vf32, vf32_select, vm32, vf32, vf32, a.v[l] ? b.v[l] : c.v[l])

VEC_FN1_(vi32, vf32_bits, vf32, vec_float_bits(a.v[l]))
VEC_FN1_(vf32, vi32_float, vi32, vec_bits_float(a.v[l]))
VEC_FN1_(vf32, vf32_from_i32, vi32, (float)a.v[l])
VEC_FN1_(vi32, vi32_from_f32, vf32, (int32_t)nearbyintf(a.v[l]))

static inline vi32 vi32_set1(int32_t x)
{
    vi32 r;
    for (int l = 0; l < VF32_LANES; l++)
        r.v[l] = x;
    return r;
}

static inline vi32 vi32_load(const int32_t *p)
{
    vi32 r;
    memcpy(r.v, p, sizeof r.v);
    return r;
}

static inline void vi32_store(int32_t *p, vi32 a)
{
    memcpy(p, a.v, sizeof a.v);
}

VEC_FN2_(vi32, vi32_add, vi32, vi32, vec_wrap((uint32_t)a.v[l] + (uint32_t)b.v[l]))
VEC_FN2_(vi32, vi32_sub, vi32, vi32, vec_wrap((uint32_t)a.v[l] - (uint32_t)b.v[l]))
VEC_FN2_(vi32, vi32_mul, vi32, vi32, vec_wrap((uint32_t)a.v[l] * (uint32_t)b.v[l]))
VEC_FN2_(vi32, vi32_and, vi32, vi32, a.v[l] & b.v[l])
VEC_FN2_(vi32, vi32_or, vi32, vi32, a.v[l] | b.v[l])
VEC_FN2_(vi32, vi32_xor, vi32, vi32, a.v[l] ^ b.v[l])
VEC_FN2_(vi32, vi32_shl, vi32, int, vec_wrap((uint32_t)a.v[l] << b))
VEC_FN2_(vi32, vi32_shr, vi32, int, vec_wrap((uint32_t)a.v[l] >> b))
VEC_FN2_(vi32, vi32_sra, vi32, int, a.v[l] >> b)
VEC_FN2_(vm32, vi32_eq, vi32, vi32, a.v[l] == b.v[l])
VEC_FN2_(vm32, vi32_lt, vi32, vi32, a.v[l] < b.v[l])
VEC_FN3_(vi32, vi32_select, vm32, vi32, vi32, a.v[l] ? b.v[l] : c.v[l])

VEC_FN1_(vm32, vm32_first, int, l < a)
VEC_FN2_(vm32, vm32_and, vm32, vm32, a.v[l] && b.v[l])
VEC_FN2_(vm32, vm32_or, vm32, vm32, a.v[l] || b.v[l])
VEC_FN1_(vm32, vm32_not, vm32, !a.v[l])

static inline bool vm32_any(vm32 a)
{
    return a.v[0] || a.v[1] || a.v[2] || a.v[3];
}

static inline bool vm32_all(vm32 a)
{
    return a.v[0] && a.v[1] && a.v[2] && a.v[3];
}

static inline void vm32_store_u8_n(uint8_t *p, vm32 a, int n)
{
    for (int l = 0; l < n; l++)
        p[l] = a.v[l];
}

static inline float vf32_hsum(vf32 a)
{
    return (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]);
}

static inline float vf32_hmax(vf32 a)
{
    float m = a.v[0];
    for (int l = 1; l < VF32_LANES; l++)
        m = a.v[l] > m || a.v[l] != a.v[l] ? a.v[l] : m;
    return m;
}

static inline float vf32_hmin(vf32 a)
{
    float m = a.v[0];
    for (int l = 1; l < VF32_LANES; l++)
        m = a.v[l] < m || a.v[l] != a.v[l] ? a.v[l] : m;
    return m;
}

static inline void vf32_transpose(vf32 r[VF32_LANES])
{
    for (int i = 0; i < VF32_LANES; i++)
        for (int l = i + 1; l < VF32_LANES; l++) {
            float t = r[i].v[l];
            r[i].v[l] = r[l].v[i];
            r[l].v[i] = t;
        }
}

#undef VEC_FN1_
#undef VEC_FN2_
#undef VEC_FN3_
#undef VEC_LOAD_
#undef VEC_STORE_

#endif
