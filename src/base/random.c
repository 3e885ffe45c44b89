/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>

/* Flips the key when children are derived, so that no child's key is a word that the parent's
   own stream gives out. */
#define SPLIT_DOMAIN UINT64_C(0x9e3779b97f4a7c15)

rng_key rng_seed(uint64_t seed)
{
    return (rng_key){.key = seed, .salt = 0};
}

void rng_block(rng_key k, uint64_t i, uint32_t out[4])
{
    philox4x32_ctr_t c = {
        {(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)k.salt, (uint32_t)(k.salt >> 32)}};
    philox4x32_key_t key = {{(uint32_t)k.key, (uint32_t)(k.key >> 32)}};

    c = philox4x32(c, key);
    for (int j = 0; j < 4; j++)
        out[j] = c.v[j];
}

static uint64_t join(uint32_t lo, uint32_t hi)
{
    return (uint64_t)hi << 32 | lo;
}

rng_key rng_split(rng_key k, uint64_t n)
{
    uint32_t w[4];

    k.key ^= SPLIT_DOMAIN;
    rng_block(k, n, w);
    return (rng_key){.key = join(w[0], w[1]), .salt = join(w[2], w[3])};
}

uint64_t rng_u64(rng_key k, uint64_t i)
{
    uint32_t w[4];

    rng_block(k, i >> 1, w);
    return i & 1 ? join(w[2], w[3]) : join(w[0], w[1]);
}

float rng_uniform(rng_key k, uint64_t i)
{
    uint32_t w[4];

    rng_block(k, i >> 2, w);
    return (float)(w[i & 3] >> 8) * 0x1p-24f;
}

/* High half of a 64 x 64 bit product, in portable C. */
static uint64_t mul_high(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32);
    uint64_t mid2 = al * bh + (uint32_t)mid;

    return ah * bh + (mid >> 32) + (mid2 >> 32);
}

uint64_t rng_below(rng_key k, uint64_t i, uint64_t n)
{
    return mul_high(rng_u64(k, i), n);
}

/* The C library's log, sin and cos differ in the last bit between versions and CPUs; these use
   basic arithmetic alone, which IEEE 754 fixes, so that normals are the same everywhere. */

/* log of u in [2^-53, 1]: u = m * 2^e with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh(s). */
static double exact_log(double u)
{
    uint64_t x;
    int e;
    double m, s, z, sum = 0.0;

    memcpy(&x, &u, sizeof(x));
    e = (int)(x >> 52) - 1023;
    x = (x & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&m, &x, sizeof(m));
    if (m >= 1.4142135623730951) {
        m *= 0.5;
        e++;
    }
    s = (m - 1.0) / (m + 1.0);
    z = s * s;
    for (int k = 25; k >= 3; k -= 2) /* z <= 0.0295: the next term is below 2^-66 */
        sum = (sum + 1.0 / k) * z;
    return e * 0.6931471805599453 + (2.0 * s + 2.0 * s * sum);
}

/* Taylor series on [-pi/4, pi/4]; the terms left out are below 2^-58. */
static double small_sin(double x)
{
    double z = x * x, sum = 0.0;

    for (int k = 16; k >= 2; k -= 2)
        sum = (1.0 + sum) * -z / (double)(k * (k + 1));
    return x + x * sum;
}

static double small_cos(double x)
{
    double z = x * x, sum = 0.0;

    for (int k = 17; k >= 1; k -= 2)
        sum = (1.0 + sum) * -z / (double)(k * (k + 1));
    return 1.0 + sum;
}

/* Box-Muller: block i/2 gives radius and angle; even i take the cosine, odd ones the sine. */
double rng_normal(rng_key k, uint64_t i)
{
    uint32_t w[4];
    double u, turns, x;
    int quarter;

    rng_block(k, i >> 1, w);
    u = (double)((join(w[0], w[1]) >> 11) + 1) * 0x1p-53; /* (0, 1]: its log is finite */
    turns = (double)(join(w[2], w[3]) >> 11) * 0x1p-51;   /* in quarters of the circle */
    quarter = (int)(turns + 0.5);
    x = (turns - quarter) * 1.5707963267948966; /* the difference is exact */
    if (i & 1)
        quarter += 3; /* sin(x) = cos(x - pi/2) */
    x = quarter & 1 ? -small_sin(x) : small_cos(x);
    return sqrt(-2.0 * exact_log(u)) * (quarter & 2 ? -x : x);
}

void rng_permutation(rng_key k, int64_t *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t j = rng_below(k, 2 * (uint64_t)i, (uint64_t)i + 1); /* first word of block i */
        int64_t t = p[i];

        p[i] = p[j];
        p[j] = t;
    }
}
