/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that slide over height and width: what convolution and pooling share. */
#ifndef OPS_WINDOW_H
#define OPS_WINDOW_H

#include "ops/op.h"

typedef struct window {
    int64_t kernel[2], stride[2], dilation[2];
    int64_t before[2], after[2]; /* padding */
    bool ceil_mode;
} window;

/* Fills stride, dilation and padding from the attributes of those names (dilated false: there is no
   such attribute); stride 0 or none = `stride`. kernel is set already. */
bool window_read(infer *c, window *w, const int64_t stride[2], bool dilated);
/* An attribute of one (both) or two (height, width) entries; none or 0 = otherwise. */
bool window_pair(infer *c, const char *name, const int64_t otherwise[2], int64_t out[2]);
/* Output height and width for an input of height and width in[0], in[1]. */
bool window_out(infer *c, const window *w, const int64_t in[2], int64_t out[2]);

#endif
