/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions: every 16-bit pattern, and neighbours of every midpoint between them. */
#include "base/check.h"

#include "base/random.h"
#include "tensor/dtype.h"

#include <math.h>

/* A 16-bit format evaluated from its definition: sign, exponent, mantissa bits. */
typedef struct format {
    int mant, bias;
    float (*widen)(uint16_t);
    uint16_t (*narrow)(float);
    uint16_t (*narrow64)(double);
} format;

static const format formats[] = {
    {10, 15, f16_to_f32, f32_to_f16, f64_to_f16},
    {7, 127, bf16_to_f32, f32_to_bf16, f64_to_bf16},
};

static double value_of(const format *f, unsigned h)
{
    unsigned m = h & ((1u << f->mant) - 1), top = (1u << (15 - f->mant)) - 1;
    unsigned exponent = h >> f->mant & top;
    double v;

    if (exponent == top)
        v = m ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        v = ldexp(m, 1 - f->bias - f->mant);
    else
        v = ldexp(m + ldexp(1, f->mant), (int)exponent - f->bias - f->mant);
    return h & 0x8000 ? -v : v;
}

static void every_pattern_widens_and_comes_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const format *f = &formats[k];

        for (unsigned h = 0; h < 65536; h++) {
            double v = value_of(f, h);
            float got = f->widen((uint16_t)h);

            if (isnan(v)) {
                unsigned quiet = h | 1u << (f->mant - 1);

                assert_true(isnan(got));
                assert_int_equal(f->narrow(got), quiet);
                assert_int_equal(f->narrow64((double)got), quiet);
                continue;
            }
            assert_true((double)got == v && !signbit(got) == !(h & 0x8000));
            assert_int_equal(f->narrow(got), h);
            assert_int_equal(f->narrow64(v), h);
        }
    }
}

/* Between neighbours lo and hi: the midpoint goes to the even one, what is nearer goes there. */
static void rounding_is_to_nearest_even(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const format *f = &formats[k];
        unsigned inf = ((1u << (15 - f->mant)) - 1) << f->mant;

        for (unsigned h = 0; h < inf; h++) {
            double lo = value_of(f, h);
            double hi = h + 1 < inf ? value_of(f, h + 1) : 2 * lo - value_of(f, h - 1);
            double mid = lo + (hi - lo) / 2;
            unsigned even = h & 1 ? h + 1 : h;

            for (unsigned sign = 0; sign <= 0x8000; sign += 0x8000) {
                double s = sign ? -1 : 1;

                assert_int_equal(f->narrow64(s * mid), even | sign);
                assert_int_equal(f->narrow64(s * nextafter(mid, 0)), h | sign);
                assert_int_equal(f->narrow64(s * nextafter(mid, (double)INFINITY)), (h + 1) | sign);
                if ((double)(float)mid == mid) {
                    float m = (float)mid;

                    assert_int_equal(f->narrow((float)s * m), even | sign);
                    assert_int_equal(f->narrow((float)s * nextafterf(m, 0)), h | sign);
                    if (nextafterf(m, INFINITY) < INFINITY)
                        assert_int_equal(f->narrow((float)s * nextafterf(m, INFINITY)),
                                         (h + 1) | sign);
                }
            }
        }
        assert_int_equal(f->narrow64(1e300), inf);
        assert_int_equal(f->narrow64(-(double)INFINITY), inf | 0x8000);
        assert_int_equal(f->narrow64(1e-300), 0);
        assert_int_equal(f->narrow64(-1e-300), 0x8000);
        assert_int_equal(f->narrow(INFINITY), inf);
    }
}

static void every_name_parses(void **state)
{
    dtype d = INGOT_I16;

    (void)state;
    for (int i = 0; i <= INGOT_BOOL; i++) {
        const char *name = dtype_name((dtype)i);

        assert_true(dtype_parse(name, strlen(name), &d));
        assert_int_equal(d, i);
        assert_false(dtype_parse(name, strlen(name) - 1, &d) && d == (dtype)i);
        assert_true(dtype_size((dtype)i) > 0);
        assert_false(dtype_is_float((dtype)i) && dtype_is_int((dtype)i));
        assert_int_equal(dtype_is_float((dtype)i) || dtype_is_int((dtype)i), i != INGOT_BOOL);
    }
    assert_false(dtype_parse("f31", 3, &d));
    assert_false(dtype_parse("", 0, &d));
    assert_string_equal(dtype_name((dtype)99), "?");
    assert_int_equal(dtype_size((dtype)-1), 0);
    assert_false(dtype_valid((dtype)(INGOT_BOOL + 1)));
}

static int64_t low_of(dtype d)
{
    switch (d) {
    case INGOT_I8:
        return INT8_MIN;
    case INGOT_I16:
        return INT16_MIN;
    case INGOT_I32:
        return INT32_MIN;
    case INGOT_I64:
        return INT64_MIN;
    default:
        return 0;
    }
}

static int64_t high_of(dtype d)
{
    return d == INGOT_U8 ? UINT8_MAX : -(low_of(d) + 1);
}

static void floats_saturate_to_integers(void **state)
{
    static const dtype ints[] = {INGOT_I8, INGOT_U8, INGOT_I16, INGOT_I32, INGOT_I64};
    static const double in[] = {0.0, -0.0, 0.99, -0.99, 1.5, -1.5, 126.9, 127.1, 1e30, -1e30};

    (void)state;
    for (size_t k = 0; k < 5; k++) {
        dtype d = ints[k];
        double lo = (double)low_of(d), hi = (double)high_of(d);
        unsigned char out[8];

        for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
            double t = trunc(in[i]);
            int64_t want = t <= lo ? low_of(d) : t >= hi ? high_of(d) : (int64_t)t;

            dtype_set_f64(d, out, 0, in[i]);
            assert_true(dtype_get_i64(d, out, 0) == want);
        }
        dtype_set_f64(d, out, 0, (double)NAN);
        assert_true(dtype_get_i64(d, out, 0) == 0);
        dtype_set_f64(d, out, 0, (double)INFINITY);
        assert_true(dtype_get_i64(d, out, 0) == high_of(d));
        dtype_set_f64(d, out, 0, -(double)INFINITY);
        assert_true(dtype_get_i64(d, out, 0) == low_of(d));
    }
}

static void integers_wrap_and_bools_are_truth(void **state)
{
    int64_t v = INT64_C(0x123456789abcdef0);
    unsigned char b = 7;
    double nan = (double)NAN;

    (void)state;
    unsigned char out[8];
    dtype_convert(INGOT_I64, &v, INGOT_I32, out, 1);
    assert_true(dtype_get_i64(INGOT_I32, out, 0) == (int32_t)(uint32_t)0x9abcdef0u);
    dtype_convert(INGOT_I64, &v, INGOT_I16, out, 1);
    assert_true(dtype_get_i64(INGOT_I16, out, 0) == 0xdef0 - 0x10000);
    dtype_convert(INGOT_I64, &v, INGOT_I8, out, 1);
    assert_true(dtype_get_i64(INGOT_I8, out, 0) == -16);
    dtype_convert(INGOT_I64, &v, INGOT_U8, out, 1);
    assert_true(dtype_get_i64(INGOT_U8, out, 0) == 0xf0);
    assert_true(dtype_get_f64(INGOT_BOOL, &b, 0) == 1.0);
    dtype_convert(INGOT_F64, &nan, INGOT_BOOL, out, 1);
    assert_int_equal(out[0], 1);
    dtype_set_f64(INGOT_BOOL, out, 0, 0.25);
    assert_int_equal(out[0], 1);
    dtype_set_f64(INGOT_BOOL, out, 0, -0.0);
    assert_int_equal(out[0], 0);
}

/* Integers with more bits than a double has: one rounding to 16 bits, not two. */
static void big_integers_round_once(void **state)
{
    int64_t tie = (INT64_C(0x101) << 54) + 1; /* just above the midpoint of two bf16 */
    uint16_t h;

    (void)state;
    dtype_convert(INGOT_I64, &tie, INGOT_BF16, &h, 1);
    assert_true((double)bf16_to_f32(h) == ldexp(0x102, 54));
    tie -= 1;
    dtype_convert(INGOT_I64, &tie, INGOT_BF16, &h, 1);
    assert_true((double)bf16_to_f32(h) == ldexp(0x100, 54));
    tie = -tie - 1;
    dtype_convert(INGOT_I64, &tie, INGOT_BF16, &h, 1);
    assert_true((double)bf16_to_f32(h) == -ldexp(0x102, 54));
}

/* Arrays longer than a chunk give, for every pair of dtypes, what single elements give. */
static void arrays_convert_as_elements(void **state)
{
    enum { N = 777 };
    static unsigned char from[N * 8], to[N * 8], one[8];
    rng_key key = rng_seed(11);

    (void)state;
    for (int a = 0; a <= INGOT_BOOL; a++)
        for (int b = 0; b <= INGOT_BOOL; b++) {
            size_t sa = dtype_size((dtype)a), sb = dtype_size((dtype)b);

            for (int64_t i = 0; i < N; i++)
                dtype_set_f64((dtype)a, from, i, 300.0 * rng_normal(key, (uint64_t)i));
            dtype_convert((dtype)a, from, (dtype)b, to, N);
            for (size_t i = 0; i < N; i++) {
                if (a == b)
                    memcpy(one, from + i * sa, sa);
                else if (dtype_is_float((dtype)a))
                    dtype_set_f64((dtype)b, one, 0, dtype_get_f64((dtype)a, from, (int64_t)i));
                else
                    dtype_set_i64((dtype)b, one, 0, dtype_get_i64((dtype)a, from, (int64_t)i));
                assert_memory_equal(to + i * sb, one, sb);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_widens_and_comes_back),
        cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(every_name_parses),
        cmocka_unit_test(floats_saturate_to_integers),
        cmocka_unit_test(integers_wrap_and_bools_are_truth),
        cmocka_unit_test(big_integers_round_once),
        cmocka_unit_test(arrays_convert_as_elements),
    };

    return cmocka_run_group_tests_name("tensor/dtype", tests, NULL, NULL);
}
