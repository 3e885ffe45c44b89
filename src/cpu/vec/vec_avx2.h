/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabulary of vec.h on AVX2, FMA and F16C: 8 lanes, masks are vectors of all-ones lanes. */
#ifndef CPU_VEC_AVX2_H
#define CPU_VEC_AVX2_H

#include <immintrin.h>

#define VF32_LANES 8

typedef __m256 vf32;
typedef __m256i vi32;
typedef __m256 vm32;

static inline __m256i vec_first_(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline vm32 vm32_first(int n)
{
    return _mm256_castsi256_ps(vec_first_(n));
}

static inline vf32 vf32_zero(void)
{
    return _mm256_setzero_ps();
}

static inline vf32 vf32_set1(float x)
{
    return _mm256_set1_ps(x);
}

static inline vf32 vf32_iota(void)
{
    return _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
}

static inline vf32 vf32_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline void vf32_store(float *p, vf32 a)
{
    _mm256_storeu_ps(p, a);
}

static inline void vf32_store_nt(float *p, vf32 a)
{
    _mm256_stream_ps(p, a);
}

static inline vf32 vf32_load_n(const float *p, int n)
{
    return _mm256_maskload_ps(p, vec_first_(n));
}

/* The first n elements of the i-th vector from p on. */
static inline vf32 vec_load_at_(const float *p, int i, int n)
{
    n -= 8 * i;
    return vf32_load_n(p + 8 * i, n < 0 ? 0 : n > 8 ? 8 : n);
}

static inline vf32 vec_even_(vf32 low, vf32 high)
{
    __m256 mixed = _mm256_shuffle_ps(low, high, 0x88); /* 0 2 8 10 | 4 6 12 14 */

    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xd8));
}

static inline vf32 vf32_load_even_n(const float *p, int n)
{
    return vec_even_(vec_load_at_(p, 0, 2 * n - 1), vec_load_at_(p, 1, 2 * n - 1));
}

static inline void vf32_store_n(float *p, vf32 a, int n)
{
    _mm256_maskstore_ps(p, vec_first_(n), a);
}

static inline vf32 vf32_load_bf16(const uint16_t *p)
{
    __m128i h = _mm_loadu_si128((const void *)p);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

static inline vf32 vf32_load_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
}

static inline vf32 vf32_load_i32(const int32_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_loadu_si256((const void *)p));
}

static inline vf32 vf32_load_i32_n(const int32_t *p, int n)
{
    return _mm256_cvtepi32_ps(_mm256_maskload_epi32(p, vec_first_(n)));
}

static inline vf32 vf32_load_u8(const uint8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)p)));
}

static inline vf32 vf32_load_i8(const int8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)p)));
}

/* There are no masked accesses below 32 bits: partial ones go through a small array. */
#define VEC_LOAD_N_(name, type)                       \
    static inline vf32 name##_n(const type *p, int n) \
    {                                                 \
        type t[VF32_LANES] = {0};                     \
        memcpy(t, p, (size_t)n * sizeof(type));       \
        return name(t);                               \
    }
VEC_LOAD_N_(vf32_load_bf16, uint16_t)
VEC_LOAD_N_(vf32_load_f16, uint16_t)
VEC_LOAD_N_(vf32_load_u8, uint8_t)
VEC_LOAD_N_(vf32_load_i8, int8_t)
#undef VEC_LOAD_N_

/* Ties to even on the upper half; a NaN keeps its upper half and becomes quiet. */
static inline void vf32_store_bf16(uint16_t *p, vf32 a)
{
    __m256i u = _mm256_castps_si256(a);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i r = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));

    r = _mm256_blendv_epi8(r, _mm256_or_si256(u, _mm256_set1_epi32(0x400000)), nan);
    r = _mm256_srli_epi32(r, 16);
    r = _mm256_permute4x64_epi64(_mm256_packus_epi32(r, r), 0x08);
    _mm_storeu_si128((void *)p, _mm256_castsi256_si128(r));
}

static inline void vf32_store_f16(uint16_t *p, vf32 a)
{
    _mm_storeu_si128((void *)p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline void vf32_store_bf16_n(uint16_t *p, vf32 a, int n)
{
    uint16_t t[VF32_LANES];
    vf32_store_bf16(t, a);
    memcpy(p, t, (size_t)n * sizeof t[0]);
}

static inline void vf32_store_f16_n(uint16_t *p, vf32 a, int n)
{
    uint16_t t[VF32_LANES];
    vf32_store_f16(t, a);
    memcpy(p, t, (size_t)n * sizeof t[0]);
}

static inline vf32 vf32_add(vf32 a, vf32 b)
{
    return _mm256_add_ps(a, b);
}

static inline vf32 vf32_sub(vf32 a, vf32 b)
{
    return _mm256_sub_ps(a, b);
}

static inline vf32 vf32_mul(vf32 a, vf32 b)
{
    return _mm256_mul_ps(a, b);
}

static inline vf32 vf32_div(vf32 a, vf32 b)
{
    return _mm256_div_ps(a, b);
}

static inline vf32 vf32_fma(vf32 a, vf32 b, vf32 c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline vf32 vf32_fnma(vf32 a, vf32 b, vf32 c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

/* The instruction gives b when either is NaN: only a NaN in a needs care. */
static inline vf32 vf32_min(vf32 a, vf32 b)
{
    return _mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

static inline vf32 vf32_max(vf32 a, vf32 b)
{
    return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

static inline vf32 vf32_abs(vf32 a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

static inline vf32 vf32_neg(vf32 a)
{
    return _mm256_xor_ps(_mm256_set1_ps(-0.0f), a);
}

static inline vf32 vf32_copysign(vf32 a, vf32 sign)
{
    __m256 s = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(s, a), _mm256_and_ps(s, sign));
}

static inline vf32 vf32_sqrt(vf32 a)
{
    return _mm256_sqrt_ps(a);
}

static inline vf32 vf32_floor(vf32 a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

static inline vf32 vf32_ceil(vf32 a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}

static inline vf32 vf32_trunc(vf32 a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

static inline vf32 vf32_round(vf32 a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline vm32 vf32_lt(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

static inline vm32 vf32_le(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_LE_OQ);
}

static inline vm32 vf32_eq(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}

static inline vm32 vf32_ne(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_NEQ_UQ);
}

static inline vf32 vf32_select(vm32 m, vf32 a, vf32 b)
{
    return _mm256_blendv_ps(b, a, m);
}

static inline vi32 vf32_bits(vf32 a)
{
    return _mm256_castps_si256(a);
}

static inline vf32 vi32_float(vi32 a)
{
    return _mm256_castsi256_ps(a);
}

static inline vf32 vf32_from_i32(vi32 a)
{
    return _mm256_cvtepi32_ps(a);
}

static inline vi32 vi32_from_f32(vf32 a)
{
    return _mm256_cvtps_epi32(a);
}

static inline vi32 vi32_set1(int32_t x)
{
    return _mm256_set1_epi32(x);
}

static inline vi32 vi32_load(const int32_t *p)
{
    return _mm256_loadu_si256((const void *)p);
}

static inline void vi32_store(int32_t *p, vi32 a)
{
    _mm256_storeu_si256((void *)p, a);
}

static inline vi32 vi32_add(vi32 a, vi32 b)
{
    return _mm256_add_epi32(a, b);
}

static inline vi32 vi32_sub(vi32 a, vi32 b)
{
    return _mm256_sub_epi32(a, b);
}

static inline vi32 vi32_mul(vi32 a, vi32 b)
{
    return _mm256_mullo_epi32(a, b);
}

static inline vi32 vi32_and(vi32 a, vi32 b)
{
    return _mm256_and_si256(a, b);
}

static inline vi32 vi32_or(vi32 a, vi32 b)
{
    return _mm256_or_si256(a, b);
}

static inline vi32 vi32_xor(vi32 a, vi32 b)
{
    return _mm256_xor_si256(a, b);
}

static inline vi32 vi32_shl(vi32 a, int n)
{
    return _mm256_sll_epi32(a, _mm_cvtsi32_si128(n));
}

static inline vi32 vi32_shr(vi32 a, int n)
{
    return _mm256_srl_epi32(a, _mm_cvtsi32_si128(n));
}

static inline vi32 vi32_sra(vi32 a, int n)
{
    return _mm256_sra_epi32(a, _mm_cvtsi32_si128(n));
}

static inline vm32 vi32_eq(vi32 a, vi32 b)
{
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b));
}

static inline vm32 vi32_lt(vi32 a, vi32 b)
{
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a));
}

static inline vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return _mm256_blendv_epi8(b, a, _mm256_castps_si256(m));
}

static inline vm32 vm32_and(vm32 a, vm32 b)
{
    return _mm256_and_ps(a, b);
}

static inline vm32 vm32_or(vm32 a, vm32 b)
{
    return _mm256_or_ps(a, b);
}

static inline vm32 vm32_not(vm32 a)
{
    return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}

static inline bool vm32_any(vm32 a)
{
    return _mm256_movemask_ps(a) != 0;
}

static inline bool vm32_all(vm32 a)
{
    return _mm256_movemask_ps(a) == 0xff;
}

static inline void vm32_store_u8_n(uint8_t *p, vm32 a, int n)
{
    unsigned bits = (unsigned)_mm256_movemask_ps(a);
    for (int l = 0; l < n; l++)
        p[l] = (uint8_t)(bits >> l & 1u);
}

static inline float vf32_hsum(vf32 a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    s = _mm_add_ss(s, _mm_movehdup_ps(s));
    return _mm_cvtss_f32(s);
}

static inline float vf32_hmax(vf32 a)
{
    vf32 m = vf32_max(a, _mm256_permute2f128_ps(a, a, 1));
    m = vf32_max(m, _mm256_permute_ps(m, 0x4e));
    m = vf32_max(m, _mm256_permute_ps(m, 0xb1));
    return _mm256_cvtss_f32(m);
}

static inline float vf32_hmin(vf32 a)
{
    vf32 m = vf32_min(a, _mm256_permute2f128_ps(a, a, 1));
    m = vf32_min(m, _mm256_permute_ps(m, 0x4e));
    m = vf32_min(m, _mm256_permute_ps(m, 0xb1));
    return _mm256_cvtss_f32(m);
}

static inline void vf32_transpose(vf32 r[VF32_LANES])
{
    vf32 t[8], u[8];

    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
}

#endif
