/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

/* Inlined, so that the embedded state's size is the compiled code's, whatever library is
   installed where the program runs. */
#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(((hash_stream *)0)->state),
               "hash_stream holds an XXH3 state");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(hash_stream), "hash_stream is aligned");

static XXH3_state_t *state_of(hash_stream *h)
{
    return (XXH3_state_t *)(void *)h->state;
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

void hash_begin(hash_stream *h)
{
    XXH3_64bits_reset(state_of(h));
}

void hash_update(hash_stream *h, const void *p, size_t n)
{
    if (n)
        XXH3_64bits_update(state_of(h), p, n);
}

uint64_t hash_end(hash_stream *h)
{
    return XXH3_64bits_digest(state_of(h));
}
