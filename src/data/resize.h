/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_RESIZE_H
#define DATA_RESIZE_H

#include "base/memory.h"

/* from [h, w, c] u8 to [to_h, to_w, c] u8; all sides at least 1. Bilinear; when shrinking the
   filter widens with the scale. Needs memory for the weights and one strip. */
bool resize_u8(const allocator *a, const unsigned char *from, int64_t h, int64_t w, int64_t c,
               unsigned char *to, int64_t to_h, int64_t to_w, error *e);

#endif
