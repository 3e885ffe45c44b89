/* SPDX-License-Identifier: Apache-2.0 */
/* Hashing: xxHash's XXH3 (64 bits) for checksums and tables. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);
typedef struct hash_stream hash_stream;

/* Streaming form; the state is embedded by the caller (no allocation). */
struct hash_stream {
    _Alignas(64) unsigned char state[576]; /* XXH3_state_t; checked by a static assertion */
};
void hash_begin(hash_stream *h);
void hash_update(hash_stream *h, const void *p, size_t n);
uint64_t hash_end(hash_stream *h);

#endif
