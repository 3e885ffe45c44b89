/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"

#include "base/pool.h"
#include "base/random.h"

#include <math.h>

/* Random123's known answers (kat_vectors, philox4x32 10): counter, key, result. */
static void philox_gives_the_known_answers(void **state)
{
    static const struct {
        uint32_t ctr[4], key[2], out[4];
    } kat[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(kat) / sizeof(kat[0]); i++) {
        const uint32_t *c = kat[i].ctr, *k = kat[i].key;
        rng_key key = {.key = (uint64_t)k[1] << 32 | k[0], .salt = (uint64_t)c[3] << 32 | c[2]};
        uint32_t out[4];

        rng_block(key, (uint64_t)c[1] << 32 | c[0], out);
        assert_memory_equal(out, kat[i].out, sizeof(out));
    }
}

static void words_come_from_blocks(void **state)
{
    rng_key k = rng_seed(1234);

    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        uint32_t w[4];

        rng_block(k, i, w);
        assert_true(rng_u64(k, 2 * i) == ((uint64_t)w[1] << 32 | w[0]));
        assert_true(rng_u64(k, 2 * i + 1) == ((uint64_t)w[3] << 32 | w[2]));
        for (uint64_t j = 0; j < 4; j++)
            assert_true((double)rng_uniform(k, 4 * i + j) == floor(w[j] / 256.0) / 16777216.0);
    }
}

static void uniforms_are_uniform(void **state)
{
    enum { N = 200000, BINS = 64 };
    rng_key k = rng_seed(7);
    double sum = 0, chi = 0;
    long bins[BINS] = {0};

    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        float u = rng_uniform(k, i);

        assert_true(u >= 0.0f && u < 1.0f);
        sum += (double)u;
        bins[(int)(u * BINS)]++;
    }
    assert_true(fabs(sum / N - 0.5) < 5.0 * sqrt(1.0 / 12 / N));
    for (int b = 0; b < BINS; b++) {
        double d = (double)bins[b] - (double)N / BINS;

        chi += d * d / ((double)N / BINS);
    }
    assert_true(chi < BINS - 1 + 6 * sqrt(2.0 * (BINS - 1)));
    assert_true(chi > BINS - 1 - 6 * sqrt(2.0 * (BINS - 1)));
}

static void below_is_the_high_half_of_the_product(void **state)
{
    static const uint64_t ns[] = {
        1, 2, 3, 10, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 63, UINT64_MAX};
    rng_key k = rng_seed(99);

    (void)state;
    for (size_t j = 0; j < sizeof(ns) / sizeof(ns[0]); j++) {
        for (uint64_t i = 0; i < 1000; i++) {
            __extension__ typedef unsigned __int128 wide;
            uint64_t expected = (uint64_t)((wide)rng_u64(k, i) * ns[j] >> 64);

            assert_true(rng_below(k, i, ns[j]) == expected);
            assert_true(expected < ns[j]);
        }
    }
    assert_true(rng_below(k, 0, 0) == 0);
}

/* The same transform with the C library's functions, and the moments of the distribution. */
static void normals_are_normal(void **state)
{
    enum { N = 200000 };
    rng_key k = rng_seed(2024);
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;

    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        double u = (double)((rng_u64(k, i & ~UINT64_C(1)) >> 11) + 1) / 9007199254740992.0;
        double v = (double)(rng_u64(k, i | 1) >> 11) / 9007199254740992.0;
        double angle = 2.0 * acos(-1.0) * v, z = rng_normal(k, i);
        double ref = sqrt(-2.0 * log(u)) * (i & 1 ? sin(angle) : cos(angle));

        if (!(fabs(z - ref) <= 8e-15))
            fail_msg("normal %d: %.17g, libm says %.17g", (int)i, z, ref);
        m1 += z;
        m2 += z * z;
        m3 += z * z * z;
        m4 += z * z * z * z;
    }
    assert_true(fabs(m1 / N) < 5.0 * sqrt(1.0 / N));
    assert_true(fabs(m2 / N - 1.0) < 5.0 * sqrt(2.0 / N));
    assert_true(fabs(m3 / N) < 5.0 * sqrt(15.0 / N));
    assert_true(fabs(m4 / N - 3.0) < 5.0 * sqrt(96.0 / N));
}

static int by_value(const void *a, const void *b)
{
    const rng_key *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static void children_are_independent(void **state)
{
    enum { N = 20000 };
    rng_key parent = rng_seed(5), *kids = malloc(N * sizeof(*kids));
    double product = 0;

    (void)state;
    assert_non_null(kids);
    for (uint64_t i = 0; i < N; i++) {
        kids[i] = rng_split(parent, i);
        assert_true(kids[i].key != rng_u64(parent, 2 * i)); /* not a word of the parent's stream */
        product += ((double)rng_uniform(kids[i], 0) - 0.5) *
                   ((double)rng_uniform(rng_split(parent, i + 1), 0) - 0.5);
    }
    assert_true(fabs(product / N) < 5.0 / 12.0 / sqrt((double)N));
    qsort(kids, N, sizeof(*kids), by_value);
    for (size_t i = 1; i < N; i++)
        assert_true(kids[i].key != kids[i - 1].key);
    assert_true(rng_split(rng_split(parent, 1), 2).key != rng_split(rng_split(parent, 2), 1).key);
    assert_true(rng_split(rng_seed(5), 3).key == rng_split(parent, 3).key);
    free(kids);
}

static void check_permutation(const int64_t *p, int64_t n)
{
    unsigned char *seen = calloc((size_t)n + 1, 1);

    assert_non_null(seen);
    for (int64_t i = 0; i < n; i++) {
        assert_in_range(p[i], 0, n - 1);
        assert_false(seen[p[i]]);
        seen[p[i]] = 1;
    }
    free(seen);
}

static void permutations_are_fair(void **state)
{
    enum { N = 24000 };
    long count[256] = {0};
    double chi = 0;
    int kinds = 0;
    int64_t p[1000];

    (void)state;
    for (int64_t n = 0; n <= 1000; n = n * 3 + 1) {
        rng_permutation(rng_seed((uint64_t)n), p, n);
        check_permutation(p, n);
    }
    for (uint64_t i = 0; i < N; i++) {
        rng_permutation(rng_split(rng_seed(3), i), p, 4);
        count[p[0] | p[1] << 2 | p[2] << 4 | p[3] << 6]++;
    }
    for (int i = 0; i < 256; i++) {
        kinds += count[i] > 0;
        if (count[i])
            chi += ((double)count[i] - 1000) * ((double)count[i] - 1000) / 1000;
    }
    assert_int_equal(kinds, 24);
    assert_true(chi < 23 + 6 * sqrt(46.0));
}

typedef struct fill {
    uint64_t seed;
    double normal[500];
    int64_t perm[500][20];
} fill;

static void fill_some(void *user, int64_t lo, int64_t hi, int worker)
{
    fill *f = user;

    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        f->normal[i] = rng_normal(rng_seed(f->seed), (uint64_t)i);
        rng_permutation(rng_split(rng_seed(f->seed), (uint64_t)i), f->perm[i], 20);
    }
}

static void numbers_do_not_depend_on_threads(void **state)
{
    static const int threads[] = {2, 3, 7};
    static fill one, many;

    (void)state;
    one.seed = 17;
    pool_run(NULL, fill_some, &one, 500, 1);
    for (size_t i = 0; i < 3; i++) {
        pool *p = pool_new(NULL, threads[i], false, NULL);

        assert_non_null(p);
        memset(&many, 0, sizeof(many));
        many.seed = 17;
        pool_run(p, fill_some, &many, 500, 3);
        assert_memory_equal(&one, &many, sizeof(one));
        pool_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(words_come_from_blocks),
        cmocka_unit_test(uniforms_are_uniform),
        cmocka_unit_test(below_is_the_high_half_of_the_product),
        cmocka_unit_test(normals_are_normal),
        cmocka_unit_test(children_are_independent),
        cmocka_unit_test(permutations_are_fair),
        cmocka_unit_test(numbers_do_not_depend_on_threads),
    };

    return cmocka_run_group_tests_name("base/random", tests, NULL, NULL);
}
