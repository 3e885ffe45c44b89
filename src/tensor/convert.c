/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of arrays. Pairs that matter for speed have a loop of their own; the others go in
   chunks through double (from floats) or int64 (from integers), both exact, so that there is
   one rounding in all. */
#include "tensor/dtype.h"

#include <string.h>

#define CHUNK 256

/* Truncates toward zero and saturates; NaN gives 0. lo and hi are exact in double, or hi is one
   above the largest when it is 2^63. */
static int64_t saturate(double v, int64_t lo, int64_t hi)
{
    if (v >= (double)hi)
        return hi;
    if (v <= (double)lo)
        return lo;
    return v != v ? 0 : (int64_t)v;
}

/* The bits below bfloat16's that would be lost in double become one sticky bit, so that the
   second rounding sees which side of a tie the integer lies on. */
static double sticky_f64(int64_t v)
{
    uint64_t a = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    double d;

    if (a >> 53)
        a = (a >> 11 | ((a & 0x7ff) != 0)) << 11;
    d = (double)a;
    return v < 0 ? -d : d;
}

#define LOAD(code, ctype, expr)     \
    case INGOT_##code: {            \
        const ctype *p = src;       \
                                    \
        for (int i = 0; i < n; i++) \
            out[i] = expr;          \
        break;                      \
    }

static void load_f64(dtype from, const void *src, double *out, int n)
{
    switch (from) {
        LOAD(F32, float, (double)p[i])
        LOAD(F64, double, p[i])
        LOAD(F16, uint16_t, (double)f16_to_f32(p[i]))
        LOAD(BF16, uint16_t, (double)bf16_to_f32(p[i]))
    default:
        break;
    }
}

static void load_i64(dtype from, const void *src, int64_t *out, int n)
{
    switch (from) {
        LOAD(I8, int8_t, p[i])
        LOAD(U8, uint8_t, p[i])
        LOAD(I16, int16_t, p[i])
        LOAD(I32, int32_t, p[i])
        LOAD(I64, int64_t, p[i])
        LOAD(BOOL, uint8_t, p[i] != 0)
    default:
        break;
    }
}
#undef LOAD

#define STORE(code, ctype, expr)    \
    case INGOT_##code: {            \
        ctype *p = dst;             \
                                    \
        for (int i = 0; i < n; i++) \
            p[i] = expr;            \
        break;                      \
    }

static void store_f64(dtype to, const double *v, void *dst, int n)
{
    switch (to) {
        STORE(F32, float, (float)v[i])
        STORE(F64, double, v[i])
        STORE(F16, uint16_t, f64_to_f16(v[i]))
        STORE(BF16, uint16_t, f64_to_bf16(v[i]))
        STORE(I8, int8_t, (int8_t)saturate(v[i], INT8_MIN, INT8_MAX))
        STORE(U8, uint8_t, (uint8_t)saturate(v[i], 0, UINT8_MAX))
        STORE(I16, int16_t, (int16_t)saturate(v[i], INT16_MIN, INT16_MAX))
        STORE(I32, int32_t, (int32_t)saturate(v[i], INT32_MIN, INT32_MAX))
        STORE(I64, int64_t, saturate(v[i], INT64_MIN, INT64_MAX))
        STORE(BOOL, uint8_t, v[i] != 0)
    }
}

/* Narrowing goes through the unsigned type, where wrapping is defined. */
static void store_i64(dtype to, const int64_t *v, void *dst, int n)
{
    switch (to) {
        STORE(F32, float, (float)v[i])
        STORE(F64, double, (double)v[i])
        STORE(F16, uint16_t, f64_to_f16(sticky_f64(v[i])))
        STORE(BF16, uint16_t, f64_to_bf16(sticky_f64(v[i])))
        STORE(I8, uint8_t, (uint8_t)v[i])
        STORE(U8, uint8_t, (uint8_t)v[i])
        STORE(I16, uint16_t, (uint16_t)v[i])
        STORE(I32, uint32_t, (uint32_t)v[i])
        STORE(I64, int64_t, v[i])
        STORE(BOOL, uint8_t, v[i] != 0)
    }
}
#undef STORE

static void by_chunks(dtype from, const void *src, dtype to, void *dst, int64_t n)
{
    const unsigned char *in = src;
    unsigned char *out = dst;

    for (int64_t i = 0; i < n; i += CHUNK) {
        int m = n - i < CHUNK ? (int)(n - i) : CHUNK;
        union {
            double f[CHUNK];
            int64_t i[CHUNK];
        } v;

        if (dtype_is_float(from)) {
            load_f64(from, in, v.f, m);
            store_f64(to, v.f, out, m);
        } else {
            load_i64(from, in, v.i, m);
            store_i64(to, v.i, out, m);
        }
        in += (size_t)m * dtype_size(from);
        out += (size_t)m * dtype_size(to);
    }
}

#define PAIR(from, to) (INGOT_##from * 16 + INGOT_##to)
#define FAST(from, ftype, to, ttype, expr) \
    case PAIR(from, to): {                 \
        const ftype *p = src;              \
        ttype *q = dst;                    \
                                           \
        for (int64_t i = 0; i < n; i++)    \
            q[i] = expr;                   \
        return;                            \
    }

void dtype_convert(dtype from, const void *src, dtype to, void *dst, int64_t n)
{
    if (n <= 0 || !dtype_valid(from) || !dtype_valid(to))
        return;
    if (from == to) {
        if (src != dst)
            memcpy(dst, src, (size_t)n * dtype_size(from));
        return;
    }
    switch ((int)from * 16 + (int)to) {
        FAST(U8, uint8_t, F32, float, p[i])
        FAST(F32, float, F16, uint16_t, f32_to_f16(p[i]))
        FAST(F32, float, BF16, uint16_t, f32_to_bf16(p[i]))
        FAST(F16, uint16_t, F32, float, f16_to_f32(p[i]))
        FAST(BF16, uint16_t, F32, float, bf16_to_f32(p[i]))
        FAST(F32, float, F64, double, (double)p[i])
        FAST(F64, double, F32, float, (float)p[i])
        FAST(I32, int32_t, I64, int64_t, p[i])
    default:
        by_chunks(from, src, to, dst, n);
    }
}
#undef FAST

static const void *element(dtype d, const void *p, int64_t i)
{
    return (const unsigned char *)p + (size_t)i * dtype_size(d);
}

double dtype_get_f64(dtype d, const void *p, int64_t i)
{
    double v = 0;

    dtype_convert(d, element(d, p, i), INGOT_F64, &v, 1);
    return v;
}

int64_t dtype_get_i64(dtype d, const void *p, int64_t i)
{
    int64_t v = 0;

    dtype_convert(d, element(d, p, i), INGOT_I64, &v, 1);
    return v;
}

void dtype_set_f64(dtype d, void *p, int64_t i, double v)
{
    dtype_convert(INGOT_F64, &v, d, (unsigned char *)p + (size_t)i * dtype_size(d), 1);
}

void dtype_set_i64(dtype d, void *p, int64_t i, int64_t v)
{
    dtype_convert(INGOT_I64, &v, d, (unsigned char *)p + (size_t)i * dtype_size(d), 1);
}
