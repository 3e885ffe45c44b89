/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <Random123/philox.h>
#include <math.h>

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

double rng_normal(rng_key k, uint64_t i)
{
    const double tau = 6.283185307179586476925;
    uint32_t w[4];
    double u, angle, r;

    rng_block(k, i >> 1, w);
    u = (double)((join(w[0], w[1]) >> 11) + 1) * 0x1p-53; /* (0, 1]: its log is finite */
    angle = tau * ((double)(join(w[2], w[3]) >> 11) * 0x1p-53);
    r = sqrt(-2.0 * log(u));
    return i & 1 ? r * sin(angle) : r * cos(angle);
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
