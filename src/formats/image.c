/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/image.h"

#include "formats/image_format.h"

#include <string.h>

bool image_check(const image_info *info, error *e)
{
    if (info->height < 1 || info->width < 1 || info->height > IMAGE_SIDE_MAX ||
        info->width > IMAGE_SIDE_MAX ||
        (size_t)info->height * (size_t)info->width > IMAGE_PIXELS_MAX)
        return fail(e, INGOT_E_FORMAT, "picture of %d x %d pixels: sides from 1 to %d are taken",
                    info->width, info->height, IMAGE_SIDE_MAX);
    return true;
}

bool image_decode(const unsigned char *bytes, size_t size, int channels, image_room_fn room,
                  void *user, error *e)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G'}, jpeg[] = {0xff, 0xd8};

    if (channels != 1 && channels != 3)
        return fail(e, INGOT_E_ARGUMENT, "decode: channels %d; 1 or 3 is needed", channels);
    if (size == 0)
        return fail(e, INGOT_E_FORMAT, "the file is empty");
    if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
        return image_decode_png(bytes, size, channels, room, user, e);
    if (size >= sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0)
        return image_decode_jpeg(bytes, size, channels, room, user, e);
    return fail(e, INGOT_E_FORMAT, "neither JPEG nor PNG: it begins with %02x %02x", bytes[0],
                size > 1 ? bytes[1] : 0);
}
