/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabulary of vec.h on AArch64's Advanced SIMD: 4 lanes, masks are integer vectors. */
#ifndef CPU_VEC_NEON_H
#define CPU_VEC_NEON_H

#include <arm_neon.h>

#define VF32_LANES 4

typedef float32x4_t vf32;
typedef int32x4_t vi32;
typedef uint32x4_t vm32;

static inline vm32 vm32_first(int n)
{
    static const int32_t lane[4] = {0, 1, 2, 3};
    return vcltq_s32(vld1q_s32(lane), vdupq_n_s32(n));
}

static inline vf32 vf32_zero(void)
{
    return vdupq_n_f32(0.0f);
}

static inline vf32 vf32_set1(float x)
{
    return vdupq_n_f32(x);
}

static inline vf32 vf32_iota(void)
{
    static const float lane[4] = {0, 1, 2, 3};
    return vld1q_f32(lane);
}

static inline vf32 vf32_load(const float *p)
{
    return vld1q_f32(p);
}

static inline void vf32_store(float *p, vf32 a)
{
    vst1q_f32(p, a);
}

static inline void vf32_store_nt(float *p, vf32 a)
{
    vst1q_f32(p, a);
}

static inline vf32 vf32_load_bf16(const uint16_t *p)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
}

static inline vf32 vf32_load_f16(const uint16_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

static inline vf32 vf32_load_i32(const int32_t *p)
{
    return vcvtq_f32_s32(vld1q_s32(p));
}

static inline vf32 vf32_load_u8(const uint8_t *p)
{
    uint32_t u;
    memcpy(&u, p, sizeof u);
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(u)))));
}

static inline vf32 vf32_load_i8(const int8_t *p)
{
    uint32_t u;
    memcpy(&u, p, sizeof u);
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(u)))));
}

static inline void vf32_store_f16(uint16_t *p, vf32 a)
{
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(a)));
}

/* Ties to even on the upper half; a NaN keeps its upper half and becomes quiet. */
static inline void vf32_store_bf16(uint16_t *p, vf32 a)
{
    uint32x4_t u = vreinterpretq_u32_f32(a);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
    uint32x4_t r = vaddq_u32(u, vaddq_u32(odd, vdupq_n_u32(0x7fff)));

    r = vbslq_u32(vceqq_f32(a, a), r, vorrq_u32(u, vdupq_n_u32(0x400000)));
    vst1_u16(p, vshrn_n_u32(r, 16));
}

/* There are no masked accesses: partial ones go through a small array. */
#define VEC_LOAD_N_(name, type)                       \
    static inline vf32 name##_n(const type *p, int n) \
    {                                                 \
        type t[VF32_LANES] = {0};                     \
        memcpy(t, p, (size_t)n * sizeof(type));       \
        return name(t);                               \
    }
#define VEC_STORE_N_(name, type)                        \
    static inline void name##_n(type *p, vf32 a, int n) \
    {                                                   \
        type t[VF32_LANES];                             \
        name(t, a);                                     \
        memcpy(p, t, (size_t)n * sizeof(type));         \
    }
VEC_LOAD_N_(vf32_load, float)
VEC_LOAD_N_(vf32_load_bf16, uint16_t)
VEC_LOAD_N_(vf32_load_f16, uint16_t)
VEC_LOAD_N_(vf32_load_i32, int32_t)
VEC_LOAD_N_(vf32_load_u8, uint8_t)
VEC_LOAD_N_(vf32_load_i8, int8_t)
VEC_STORE_N_(vf32_store, float)
VEC_STORE_N_(vf32_store_bf16, uint16_t)
VEC_STORE_N_(vf32_store_f16, uint16_t)
#undef VEC_LOAD_N_
#undef VEC_STORE_N_

static inline vf32 vf32_load_even_n(const float *p, int n)
{
    float t[VF32_LANES] = {0};

    for (int l = 0; l < n; l++)
        t[l] = p[2 * l];
    return vld1q_f32(t);
}

static inline vf32 vf32_add(vf32 a, vf32 b)
{
    return vaddq_f32(a, b);
}

static inline vf32 vf32_sub(vf32 a, vf32 b)
{
    return vsubq_f32(a, b);
}

static inline vf32 vf32_mul(vf32 a, vf32 b)
{
    return vmulq_f32(a, b);
}

static inline vf32 vf32_div(vf32 a, vf32 b)
{
    return vdivq_f32(a, b);
}

static inline vf32 vf32_fma(vf32 a, vf32 b, vf32 c)
{
    return vfmaq_f32(c, a, b);
}

static inline vf32 vf32_fnma(vf32 a, vf32 b, vf32 c)
{
    return vfmsq_f32(c, a, b);
}

static inline vf32 vf32_min(vf32 a, vf32 b)
{
    return vminq_f32(a, b);
}

static inline vf32 vf32_max(vf32 a, vf32 b)
{
    return vmaxq_f32(a, b);
}

static inline vf32 vf32_abs(vf32 a)
{
    return vabsq_f32(a);
}

static inline vf32 vf32_neg(vf32 a)
{
    return vnegq_f32(a);
}

static inline vf32 vf32_copysign(vf32 a, vf32 sign)
{
    return vbslq_f32(vdupq_n_u32(0x80000000u), sign, a);
}

static inline vf32 vf32_sqrt(vf32 a)
{
    return vsqrtq_f32(a);
}

static inline vf32 vf32_floor(vf32 a)
{
    return vrndmq_f32(a);
}

static inline vf32 vf32_ceil(vf32 a)
{
    return vrndpq_f32(a);
}

static inline vf32 vf32_trunc(vf32 a)
{
    return vrndq_f32(a);
}

static inline vf32 vf32_round(vf32 a)
{
    return vrndnq_f32(a);
}

static inline vm32 vf32_lt(vf32 a, vf32 b)
{
    return vcltq_f32(a, b);
}

static inline vm32 vf32_le(vf32 a, vf32 b)
{
    return vcleq_f32(a, b);
}

static inline vm32 vf32_eq(vf32 a, vf32 b)
{
    return vceqq_f32(a, b);
}

static inline vm32 vf32_ne(vf32 a, vf32 b)
{
    return vmvnq_u32(vceqq_f32(a, b));
}

static inline vf32 vf32_select(vm32 m, vf32 a, vf32 b)
{
    return vbslq_f32(m, a, b);
}

static inline vi32 vf32_bits(vf32 a)
{
    return vreinterpretq_s32_f32(a);
}

static inline vf32 vi32_float(vi32 a)
{
    return vreinterpretq_f32_s32(a);
}

static inline vf32 vf32_from_i32(vi32 a)
{
    return vcvtq_f32_s32(a);
}

static inline vi32 vi32_from_f32(vf32 a)
{
    return vcvtnq_s32_f32(a);
}

static inline vi32 vi32_set1(int32_t x)
{
    return vdupq_n_s32(x);
}

static inline vi32 vi32_load(const int32_t *p)
{
    return vld1q_s32(p);
}

static inline void vi32_store(int32_t *p, vi32 a)
{
    vst1q_s32(p, a);
}

static inline vi32 vi32_add(vi32 a, vi32 b)
{
    return vaddq_s32(a, b);
}

static inline vi32 vi32_sub(vi32 a, vi32 b)
{
    return vsubq_s32(a, b);
}

static inline vi32 vi32_mul(vi32 a, vi32 b)
{
    return vmulq_s32(a, b);
}

static inline vi32 vi32_and(vi32 a, vi32 b)
{
    return vandq_s32(a, b);
}

static inline vi32 vi32_or(vi32 a, vi32 b)
{
    return vorrq_s32(a, b);
}

static inline vi32 vi32_xor(vi32 a, vi32 b)
{
    return veorq_s32(a, b);
}

static inline vi32 vi32_shl(vi32 a, int n)
{
    return vshlq_s32(a, vdupq_n_s32(n));
}

static inline vi32 vi32_shr(vi32 a, int n)
{
    return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-n)));
}

static inline vi32 vi32_sra(vi32 a, int n)
{
    return vshlq_s32(a, vdupq_n_s32(-n));
}

static inline vm32 vi32_eq(vi32 a, vi32 b)
{
    return vceqq_s32(a, b);
}

static inline vm32 vi32_lt(vi32 a, vi32 b)
{
    return vcltq_s32(a, b);
}

static inline vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return vbslq_s32(m, a, b);
}

static inline vm32 vm32_and(vm32 a, vm32 b)
{
    return vandq_u32(a, b);
}

static inline vm32 vm32_or(vm32 a, vm32 b)
{
    return vorrq_u32(a, b);
}

static inline vm32 vm32_not(vm32 a)
{
    return vmvnq_u32(a);
}

static inline bool vm32_any(vm32 a)
{
    return vmaxvq_u32(a) != 0;
}

static inline bool vm32_all(vm32 a)
{
    return vminvq_u32(a) != 0;
}

static inline void vm32_store_u8_n(uint8_t *p, vm32 a, int n)
{
    uint32_t t[VF32_LANES];
    vst1q_u32(t, a);
    for (int l = 0; l < n; l++)
        p[l] = (uint8_t)(t[l] & 1u);
}

static inline float vf32_hsum(vf32 a)
{
    return vaddvq_f32(a);
}

static inline float vf32_hmax(vf32 a)
{
    return vmaxvq_f32(a);
}

static inline float vf32_hmin(vf32 a)
{
    return vminvq_f32(a);
}

static inline void vf32_transpose(vf32 r[VF32_LANES])
{
    float32x4x2_t a = vtrnq_f32(r[0], r[1]), b = vtrnq_f32(r[2], r[3]);

    r[0] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
    r[1] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
    r[2] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
    r[3] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
}

#endif
