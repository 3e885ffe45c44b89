/* SPDX-License-Identifier: Apache-2.0 */
/* The random kernels: element i is number i of the key's stream, for every instruction set, number
   of threads and shape. base/random.h, with tests of its own, says what the stream is. */
#include "base/random.h"
#include "cpu/run_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT 20011

static const int64_t counts[] = {0, 1, 2, 3, 17, 2047, 2048, 2049, COUNT};
#define N_COUNTS (sizeof counts / sizeof counts[0])

/* A draw of two real attributes; the second is left out when its name is NULL. */
static void draw(const char *isa, const char *op, rng_key key, const char *const names[2],
                 const double v[2], const type *out, void *to, int threads)
{
    run_case r = {.isa = isa, .op = op, .n_in = 1, .n_out = 1, .threads = threads};
    int64_t words[2];
    error e = {0};

    memcpy(words, (uint64_t[]){key.key, key.salt}, sizeof words);
    r.in[0] = type_make(INGOT_I64, 1, (int64_t[]){2});
    r.out[0] = *out;
    for (int i = 0; i < 2 && names[i]; i++)
        run_attr_real(&r, names[i], v[i]);
    r.buf[0] = words;
    r.buf[1] = to;
    if (!run_kernel(&r, &e))
        fail_msg("%s", e.text);
}

static void test_split(void **state)
{
    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (int64_t stream = -1; stream < 5; stream++) {
            run_case r = {.isa = *isa, .op = "random_split", .n_in = 1, .n_out = 1};
            rng_key key = rng_split(rng_seed(5), 9), want = rng_split(key, (uint64_t)stream);
            uint64_t in[2] = {key.key, key.salt}, out[2];
            error e = {0};

            r.in[0] = r.out[0] = type_make(INGOT_I64, 1, (int64_t[]){2});
            run_attr_int(&r, "stream", stream);
            r.buf[0] = in;
            r.buf[1] = out;
            assert_true(run_kernel(&r, &e));
            assert_true(out[0] == want.key && out[1] == want.salt);
        }
}

static void test_uniform(void **state)
{
    static const char *const names[2] = {"low", "high"};
    static const double ranges[][2] = {{0, 1}, {-2.5, 7}, {3, 3}, {-0.1, 0.1}};
    static float got[COUNT];
    rng_key key = rng_split(rng_seed(1), 3);

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t k = 0; k < N_COUNTS; k++)
            for (int i = 0; i < 4; i++)
                for (int threads = 1; threads <= 3; threads++) {
                    type t = type_make(INGOT_F32, 1, &counts[k]);
                    double sum = 0, low = ranges[i][0], high = ranges[i][1];

                    draw(*isa, "random_uniform", key, names, ranges[i], &t, got, threads);
                    for (int64_t n = 0; n < counts[k]; n++) {
                        double u = (double)rng_uniform(key, (uint64_t)n);
                        assert_true(got[n] == (float)(low + (high - low) * u));
                        assert_true(got[n] >= (float)low && got[n] <= (float)high);
                        sum += (double)got[n];
                    }
                    if (counts[k] == COUNT) /* 5 deviations of the mean */
                        assert_true(fabs(sum / COUNT - 0.5 * (low + high)) <=
                                    5.0 * (high - low) / sqrt(12.0 * COUNT) + 1e-6);
                }
}

static void test_normal(void **state)
{
    static const char *const names[2] = {"mean", "std"};
    static const double shapes[][2] = {{0, 1}, {-3, 0.25}, {5, 0}};
    static float got[COUNT];
    rng_key key = rng_split(rng_seed(2), 4);

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t k = 0; k < N_COUNTS; k++)
            for (int i = 0; i < 3; i++) {
                type t = type_make(INGOT_F32, 1, &counts[k]);
                double sum = 0, squares = 0, mean = shapes[i][0], std = shapes[i][1];

                draw(*isa, "random_normal", key, names, shapes[i], &t, got, 1 + (int)k % 3);
                for (int64_t n = 0; n < counts[k]; n++) {
                    double v = (double)got[n] - mean;
                    assert_true(got[n] == (float)(mean + std * rng_normal(key, (uint64_t)n)));
                    sum += v;
                    squares += v * v;
                }
                if (counts[k] == COUNT) {
                    assert_true(fabs(sum / COUNT) <= 5.0 * std / sqrt(COUNT));
                    assert_true(fabs(squares / COUNT - std * std) <=
                                5.0 * std * std * sqrt(2.0 / COUNT));
                }
            }
}

/* Never for 0, always for 1, else with that probability; below it, not at it. */
static void test_bernoulli(void **state)
{
    static const char *const names[2] = {"p", NULL};
    static uint8_t got[COUNT];
    rng_key key = rng_seed(3);
    const double chances[] = {0.0, 0.1, 0.5, 0.9, 1.0, (double)rng_uniform(key, 0)};

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t k = 0; k < N_COUNTS; k++)
            for (int i = 0; i < 6; i++) {
                type t = type_make(INGOT_BOOL, 1, &counts[k]);
                double p = chances[i];
                int64_t hits = 0;

                draw(*isa, "random_bernoulli", key, names, &chances[i], &t, got, 1 + (int)k % 3);
                for (int64_t n = 0; n < counts[k]; n++) {
                    assert_int_equal(got[n], (double)rng_uniform(key, (uint64_t)n) < p);
                    hits += got[n];
                }
                if (counts[k] == COUNT)
                    assert_true(fabs((double)hits / COUNT - p) <=
                                5.0 * sqrt(p * (1.0 - p) / COUNT));
            }
}

/* The shape does not matter, the key does. */
static void test_shape_and_key(void **state)
{
    static const char *const names[2] = {"low", "high"};
    static const double range[2] = {0, 1};
    static float flat[6000], cube[6000], other[6000];
    type a = type_make(INGOT_F32, 1, (int64_t[]){6000});
    type b = type_make(INGOT_F32, 3, (int64_t[]){10, 20, 30});
    int same = 0;

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        draw(*isa, "random_uniform", rng_seed(8), names, range, &a, flat, 1);
        draw(*isa, "random_uniform", rng_seed(8), names, range, &b, cube, 2);
        draw(*isa, "random_uniform", rng_split(rng_seed(8), 0), names, range, &a, other, 1);
        assert_memory_equal(flat, cube, sizeof flat);
        for (int i = 0; i < 6000; i++)
            same += flat[i] == other[i];
        assert_in_range(same, 0, 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),         cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_normal),        cmocka_unit_test(test_bernoulli),
        cmocka_unit_test(test_shape_and_key),
    };
    return cmocka_run_group_tests_name("cpu/random", tests, NULL, NULL);
}
