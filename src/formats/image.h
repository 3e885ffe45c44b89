/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures as bytes: JPEG (libjpeg-turbo) and PNG (libspng). Thread-safe. */
#ifndef FORMATS_IMAGE_H
#define FORMATS_IMAGE_H

#include "base/memory.h"

#define IMAGE_SIDE_MAX   65500             /* pixels: JPEG's own limit */
#define IMAGE_PIXELS_MAX ((size_t)1 << 28) /* more is refused before anything is allocated */

typedef struct image_info {
    int height, width, channels; /* channels: 1 or 3, as asked for */
} image_info;

/* Where decoded pixels go: room for n bytes, or NULL when there is none. */
typedef unsigned char *(*image_room_fn)(void *user, const image_info *info, size_t n);

/* Decodes what the first bytes say it is. Row-major [height, width, channels]. Errors: neither JPEG
   nor PNG, damaged, cut short, too large. */
bool image_decode(const unsigned char *bytes, size_t size, int channels, image_room_fn room,
                  void *user, error *e);

/* Appends a PNG of 8-bit pixels, channels 1 or 3. */
bool image_encode_png(const unsigned char *pixels, const image_info *info, buffer *out, error *e);

#endif
