/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FORMATS_IMAGE_FORMAT_H
#define FORMATS_IMAGE_FORMAT_H

#include "formats/image.h"

bool image_check(const image_info *info, error *e);
bool image_decode_jpeg(const unsigned char *bytes, size_t size, int channels, image_room_fn room,
                       void *user, error *e);
bool image_decode_png(const unsigned char *bytes, size_t size, int channels, image_room_fn room,
                      void *user, error *e);

#endif
