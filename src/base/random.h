/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy
   as 1, 2, 3", SC'11) from Random123. The same key and counter give the same numbers on every
   platform and for any split of the work. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

typedef struct rng_key {
    uint64_t key;  /* the Philox key */
    uint64_t salt; /* high half of the counter */
} rng_key;

rng_key rng_seed(uint64_t seed);
/* An independent key for the n-th child: purposes, workers, samples, epochs, layers. */
rng_key rng_split(rng_key k, uint64_t n);

/* Four 32-bit words of block i. */
void rng_block(rng_key k, uint64_t i, uint32_t out[4]);
/* The i-th 64-bit word, uniform float in [0,1) with 24 bits, integer in [0,n) by rejection-free
   multiply (bias below 2^-64 * n), standard normal by Box-Muller computed in double. */
uint64_t rng_u64(rng_key k, uint64_t i);
float rng_uniform(rng_key k, uint64_t i);
uint64_t rng_below(rng_key k, uint64_t i, uint64_t n);
double rng_normal(rng_key k, uint64_t i);
/* p becomes a permutation of 0..n-1 (Fisher-Yates, drawing block i for swap i). */
void rng_permutation(rng_key k, int64_t *p, int64_t n);

#endif
