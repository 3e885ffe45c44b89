/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabulary of vec.h on AVX-512 (F, BW, DQ, VL): 16 lanes, mask registers. */
#ifndef CPU_VEC_AVX512_H
#define CPU_VEC_AVX512_H

#include <immintrin.h>

#define VF32_LANES 16

typedef __m512 vf32;
typedef __m512i vi32;
typedef __mmask16 vm32;

static inline vm32 vm32_first(int n)
{
    return (vm32)((1u << n) - 1u);
}

static inline vf32 vf32_zero(void)
{
    return _mm512_setzero_ps();
}

static inline vf32 vf32_set1(float x)
{
    return _mm512_set1_ps(x);
}

static inline vf32 vf32_iota(void)
{
    return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

static inline vf32 vf32_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline void vf32_store(float *p, vf32 a)
{
    _mm512_storeu_ps(p, a);
}

static inline void vf32_store_nt(float *p, vf32 a)
{
    _mm512_stream_ps(p, a);
}

static inline vf32 vf32_load_n(const float *p, int n)
{
    return _mm512_maskz_loadu_ps(vm32_first(n), p);
}

/* The first n elements of the i-th vector from p on. */
static inline vf32 vec_load_at_(const float *p, int i, int n)
{
    n -= 16 * i;
    return vf32_load_n(p + 16 * i, n < 0 ? 0 : n > 16 ? 16 : n);
}

static inline vf32 vec_even_(vf32 low, vf32 high)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    return _mm512_permutex2var_ps(low, even, high);
}

#define VEC_HAS_DEAL
static inline void vf32_deal(const float *p, uint32_t keep, int n, float *to, int64_t next)
{
    const __m512i each = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512 low = _mm512_maskz_loadu_ps((__mmask16)keep, p);
    const __m512 high = _mm512_maskz_loadu_ps((__mmask16)(keep >> 16), p + 16);

    for (int j = 0; j < 6; j++) {
        __m512i at = _mm512_add_epi32(each, _mm512_set1_epi32(j));

        _mm512_mask_storeu_ps(to + j * next, vm32_first(n), _mm512_permutex2var_ps(low, at, high));
    }
}

static inline vf32 vf32_load_even_n(const float *p, int n)
{
    return vec_even_(vec_load_at_(p, 0, 2 * n - 1), vec_load_at_(p, 1, 2 * n - 1));
}

static inline void vf32_store_n(float *p, vf32 a, int n)
{
    _mm512_mask_storeu_ps(p, vm32_first(n), a);
}

static inline vf32 vec_from_bf16_(__m256i h)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

static inline vf32 vf32_load_bf16(const uint16_t *p)
{
    return vec_from_bf16_(_mm256_loadu_si256((const void *)p));
}

static inline vf32 vf32_load_bf16_n(const uint16_t *p, int n)
{
    return vec_from_bf16_(_mm256_maskz_loadu_epi16(vm32_first(n), p));
}

static inline vf32 vf32_load_f16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
}

static inline vf32 vf32_load_f16_n(const uint16_t *p, int n)
{
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(vm32_first(n), p));
}

static inline vf32 vf32_load_i32(const int32_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_loadu_si512(p));
}

static inline vf32 vf32_load_i32_n(const int32_t *p, int n)
{
    return _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(vm32_first(n), p));
}

static inline vf32 vf32_load_u8(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p)));
}

static inline vf32 vf32_load_u8_n(const uint8_t *p, int n)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(vm32_first(n), p)));
}

static inline vf32 vf32_load_i8(const int8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)p)));
}

static inline vf32 vf32_load_i8_n(const int8_t *p, int n)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(vm32_first(n), p)));
}

/* Ties to even on the upper half; a NaN keeps its upper half and becomes quiet. */
static inline __m256i vec_to_bf16_(vf32 a)
{
    __m512i u = _mm512_castps_si512(a);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    __m512i r = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __mmask16 nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);

    r = _mm512_mask_or_epi32(r, nan, u, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(r, 16));
}

static inline void vf32_store_bf16(uint16_t *p, vf32 a)
{
    _mm256_storeu_si256((void *)p, vec_to_bf16_(a));
}

static inline void vf32_store_bf16_n(uint16_t *p, vf32 a, int n)
{
    _mm256_mask_storeu_epi16(p, vm32_first(n), vec_to_bf16_(a));
}

static inline void vf32_store_f16(uint16_t *p, vf32 a)
{
    _mm256_storeu_si256((void *)p,
                        _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline void vf32_store_f16_n(uint16_t *p, vf32 a, int n)
{
    _mm256_mask_storeu_epi16(p, vm32_first(n),
                             _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

static inline vf32 vf32_add(vf32 a, vf32 b)
{
    return _mm512_add_ps(a, b);
}

static inline vf32 vf32_sub(vf32 a, vf32 b)
{
    return _mm512_sub_ps(a, b);
}

static inline vf32 vf32_mul(vf32 a, vf32 b)
{
    return _mm512_mul_ps(a, b);
}

static inline vf32 vf32_div(vf32 a, vf32 b)
{
    return _mm512_div_ps(a, b);
}

static inline vf32 vf32_fma(vf32 a, vf32 b, vf32 c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline vf32 vf32_fnma(vf32 a, vf32 b, vf32 c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

/* The instruction gives b when either is NaN: only a NaN in a needs care. */
static inline vf32 vf32_min(vf32 a, vf32 b)
{
    return _mm512_mask_mov_ps(_mm512_min_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}

static inline vf32 vf32_max(vf32 a, vf32 b)
{
    return _mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a);
}

static inline vf32 vf32_abs(vf32 a)
{
    return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a);
}

static inline vf32 vf32_neg(vf32 a)
{
    return _mm512_xor_ps(_mm512_set1_ps(-0.0f), a);
}

static inline vf32 vf32_copysign(vf32 a, vf32 sign)
{
    __m512 s = _mm512_set1_ps(-0.0f);
    return _mm512_or_ps(_mm512_andnot_ps(s, a), _mm512_and_ps(s, sign));
}

static inline vf32 vf32_sqrt(vf32 a)
{
    return _mm512_sqrt_ps(a);
}

static inline vf32 vf32_floor(vf32 a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

static inline vf32 vf32_ceil(vf32 a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}

static inline vf32 vf32_trunc(vf32 a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

static inline vf32 vf32_round(vf32 a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline vm32 vf32_lt(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

static inline vm32 vf32_le(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}

static inline vm32 vf32_eq(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}

static inline vm32 vf32_ne(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ);
}

static inline vf32 vf32_select(vm32 m, vf32 a, vf32 b)
{
    return _mm512_mask_mov_ps(b, m, a);
}

static inline vi32 vf32_bits(vf32 a)
{
    return _mm512_castps_si512(a);
}

static inline vf32 vi32_float(vi32 a)
{
    return _mm512_castsi512_ps(a);
}

static inline vf32 vf32_from_i32(vi32 a)
{
    return _mm512_cvtepi32_ps(a);
}

static inline vi32 vi32_from_f32(vf32 a)
{
    return _mm512_cvtps_epi32(a);
}

static inline vi32 vi32_set1(int32_t x)
{
    return _mm512_set1_epi32(x);
}

static inline vi32 vi32_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline void vi32_store(int32_t *p, vi32 a)
{
    _mm512_storeu_si512(p, a);
}

static inline vi32 vi32_add(vi32 a, vi32 b)
{
    return _mm512_add_epi32(a, b);
}

static inline vi32 vi32_sub(vi32 a, vi32 b)
{
    return _mm512_sub_epi32(a, b);
}

static inline vi32 vi32_mul(vi32 a, vi32 b)
{
    return _mm512_mullo_epi32(a, b);
}

static inline vi32 vi32_and(vi32 a, vi32 b)
{
    return _mm512_and_si512(a, b);
}

static inline vi32 vi32_or(vi32 a, vi32 b)
{
    return _mm512_or_si512(a, b);
}

static inline vi32 vi32_xor(vi32 a, vi32 b)
{
    return _mm512_xor_si512(a, b);
}

static inline vi32 vi32_shl(vi32 a, int n)
{
    return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n));
}

static inline vi32 vi32_shr(vi32 a, int n)
{
    return _mm512_srl_epi32(a, _mm_cvtsi32_si128(n));
}

static inline vi32 vi32_sra(vi32 a, int n)
{
    return _mm512_sra_epi32(a, _mm_cvtsi32_si128(n));
}

static inline vm32 vi32_eq(vi32 a, vi32 b)
{
    return _mm512_cmpeq_epi32_mask(a, b);
}

static inline vm32 vi32_lt(vi32 a, vi32 b)
{
    return _mm512_cmplt_epi32_mask(a, b);
}

static inline vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return _mm512_mask_mov_epi32(b, m, a);
}

static inline vm32 vm32_and(vm32 a, vm32 b)
{
    return (vm32)(a & b);
}

static inline vm32 vm32_or(vm32 a, vm32 b)
{
    return (vm32)(a | b);
}

static inline vm32 vm32_not(vm32 a)
{
    return (vm32)~a;
}

static inline bool vm32_any(vm32 a)
{
    return a != 0;
}

static inline bool vm32_all(vm32 a)
{
    return a == 0xffff;
}

static inline void vm32_store_u8_n(uint8_t *p, vm32 a, int n)
{
    _mm_mask_storeu_epi8(p, vm32_first(n), _mm_maskz_set1_epi8(a, 1));
}

static inline float vf32_hsum(vf32 a)
{
    return _mm512_reduce_add_ps(a);
}

static inline float vf32_hmax(vf32 a)
{
    if (_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q))
        return _mm512_reduce_add_ps(
            _mm512_mask_mov_ps(_mm512_setzero_ps(), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a));
    return _mm512_reduce_max_ps(a);
}

static inline float vf32_hmin(vf32 a)
{
    if (_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q))
        return _mm512_reduce_add_ps(
            _mm512_mask_mov_ps(_mm512_setzero_ps(), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a));
    return _mm512_reduce_min_ps(a);
}

static inline void vf32_transpose(vf32 r[VF32_LANES])
{
    vf32 t[16], u[16];

    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        u[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    /* u[4g + c] holds columns c, c+4, c+8, c+12 of rows 4g..4g+3, one in each 128-bit part. */
    for (int c = 0; c < 4; c++) {
        vf32 lo0 = _mm512_shuffle_f32x4(u[c], u[4 + c], 0x88);
        vf32 lo1 = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0x88);
        vf32 hi0 = _mm512_shuffle_f32x4(u[c], u[4 + c], 0xdd);
        vf32 hi1 = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0xdd);

        r[c] = _mm512_shuffle_f32x4(lo0, lo1, 0x88);
        r[8 + c] = _mm512_shuffle_f32x4(lo0, lo1, 0xdd);
        r[4 + c] = _mm512_shuffle_f32x4(hi0, hi1, 0x88);
        r[12 + c] = _mm512_shuffle_f32x4(hi0, hi1, 0xdd);
    }
}

#endif
