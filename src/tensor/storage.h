/* SPDX-License-Identifier: Apache-2.0 */
/* Reference-counted memory of a tensor: contiguous, row-major, 64-byte aligned. */
#ifndef TENSOR_STORAGE_H
#define TENSOR_STORAGE_H

#include "tensor/type.h"

typedef struct storage {
    const allocator *alloc;
    void *data;
    size_t bytes;
    int refs;     /* one context's thread only: no atomics */
    bool borrowed; /* data belongs to somebody else */
} storage;

storage *storage_new(const allocator *a, size_t bytes, error *e); /* zeroed */
storage *storage_borrow(const allocator *a, void *data, size_t bytes, error *e);
storage *storage_ref(storage *s);
void storage_unref(storage *s); /* NULL allowed */

#endif
