/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/dtype.h"

#include <string.h>

typedef struct dtype_row {
    const char *name;
    size_t size;
} dtype_row;

static const dtype_row rows[] = {
#define X(code, name, size) {name, size},
    INGOT_DTYPE_MAP(X)
#undef X
};

#define N_DTYPES (sizeof(rows) / sizeof(rows[0]))

#define BIT(d)     (1u << INGOT_##d)
#define FLOAT_BITS (BIT(F16) | BIT(BF16) | BIT(F32) | BIT(F64))
#define INT_BITS   (BIT(I8) | BIT(U8) | BIT(I16) | BIT(I32) | BIT(I64))

bool dtype_valid(dtype d)
{
    return (unsigned)d < N_DTYPES;
}

bool dtype_is_float(dtype d)
{
    return dtype_valid(d) && (FLOAT_BITS >> d & 1u);
}

bool dtype_is_int(dtype d)
{
    return dtype_valid(d) && (INT_BITS >> d & 1u);
}

size_t dtype_size(dtype d)
{
    return dtype_valid(d) ? rows[d].size : 0;
}

const char *dtype_name(dtype d)
{
    return dtype_valid(d) ? rows[d].name : "?";
}

bool dtype_parse(const char *name, size_t n, dtype *out)
{
    for (unsigned d = 0; d < N_DTYPES; d++) {
        if (strlen(rows[d].name) == n && memcmp(rows[d].name, name, n) == 0) {
            *out = (dtype)d;
            return true;
        }
    }
    return false;
}

const char *ingot_dtype_name(ingot_dtype dt)
{
    return dtype_name(dt);
}

size_t ingot_dtype_size(ingot_dtype dt)
{
    return dtype_size(dt);
}

static uint32_t bits_of(float f)
{
    uint32_t x;

    memcpy(&x, &f, sizeof(x));
    return x;
}

static float float_of(uint32_t x)
{
    float f;

    memcpy(&f, &x, sizeof(f));
    return f;
}

float f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;

    if (rest < 0x0400) /* zero or denormal: a multiple of 2^-24, exact in f32 */
        return float_of(bits_of((float)rest * 0x1p-24f) | sign);
    if (rest < 0x7c00)
        return float_of(sign | ((rest << 13) + (112u << 23)));
    return float_of(sign | 0x7f800000 | rest << 13 | (rest > 0x7c00 ? 0x400000u : 0));
}

uint16_t f32_to_f16(float f)
{
    uint32_t x = bits_of(f), sign = x >> 16 & 0x8000, a = x & 0x7fffffff, q;

    if (a > 0x7f800000) /* NaN: made quiet, top ten payload bits kept */
        return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
    if (a >= 0x477ff000) /* 65520 and up round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (a < 0x38800000) { /* below 2^-14: denormal, in units of 2^-24 */
        uint32_t shift = 126 - (a >> 23), m = (a & 0x7fffff) | 0x800000, half, rest;

        if (shift > 24)
            return (uint16_t)sign;
        half = 1u << (shift - 1);
        rest = m & (2 * half - 1);
        q = m >> shift;
        q += rest > half || (rest == half && (q & 1));
        return (uint16_t)(sign | q);
    }
    q = a - (112u << 23);
    q += 0xfff + (q >> 13 & 1);
    return (uint16_t)(sign | q >> 13);
}

float bf16_to_f32(uint16_t h)
{
    uint32_t quiet = (h & 0x7fff) > 0x7f80 ? 0x400000u : 0;

    return float_of((uint32_t)h << 16 | quiet);
}

uint16_t f32_to_bf16(float f)
{
    uint32_t x = bits_of(f);

    if ((x & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(x >> 16 | 0x40);
    return (uint16_t)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

/* Rounds a double once to a 16-bit format with `mant` stored mantissa bits. */
static uint16_t f64_narrow(double d, int mant, int bias)
{
    const uint64_t top = (UINT64_C(1) << (15 - mant)) - 1; /* the exponent of infinity */
    uint64_t x, sign, m, q, half, rest;
    int field, shift = 52 - mant;

    memcpy(&x, &d, sizeof(x));
    sign = x >> 48 & 0x8000;
    field = (int)(x >> 52 & 0x7ff);
    m = x & ((UINT64_C(1) << 52) - 1);
    if (field == 0x7ff && m)
        return (uint16_t)(sign | top << mant | UINT64_C(1) << (mant - 1) | m >> shift);
    if (field == 0) /* zero, or far below the smallest denormal */
        return (uint16_t)sign;
    field += bias - 1023;
    if (field >= (int)top)
        return (uint16_t)(sign | top << mant);
    m |= UINT64_C(1) << 52;
    if (field <= 0) { /* denormal: no hidden bit */
        shift += 1 - field;
        if (shift > 53)
            return (uint16_t)sign;
        field = 1;
    }
    half = UINT64_C(1) << (shift - 1);
    rest = m & (2 * half - 1);
    /* The hidden bit, or a carry out of the mantissa, raises the exponent by one. */
    q = ((uint64_t)(field - 1) << mant) + (m >> shift);
    q += rest > half || (rest == half && (q & 1));
    return (uint16_t)(sign | q);
}

uint16_t f64_to_f16(double d)
{
    return f64_narrow(d, 10, 15);
}

uint16_t f64_to_bf16(double d)
{
    return f64_narrow(d, 7, 127);
}
