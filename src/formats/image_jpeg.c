/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/image_format.h"

#include <string.h>
#include <turbojpeg.h>

/* A few stray bytes between markers are common and harmless; every other warning means that pixels
   are missing or wrong. */
static bool harmless(tjhandle h)
{
    return tjGetErrorCode(h) == TJERR_WARNING && strstr(tjGetErrorStr2(h), "extraneous bytes");
}

static bool decode(tjhandle h, const unsigned char *bytes, size_t size, int channels,
                   image_room_fn room, void *user, error *e)
{
    image_info info = {.channels = channels};
    unsigned char *to;
    int sampling, space;
    size_t n;

    if (tjDecompressHeader3(h, bytes, (unsigned long)size, &info.width, &info.height, &sampling,
                            &space) != 0 &&
        !harmless(h))
        return fail(e, INGOT_E_FORMAT, "JPEG: %s", tjGetErrorStr2(h));
    if (info.width == 0 || info.height == 0)
        return fail(e, INGOT_E_FORMAT, "JPEG: no picture in it");
    if (!image_check(&info, e))
        return false;
    if (space == TJCS_CMYK || space == TJCS_YCCK)
        return fail(e, INGOT_E_UNSUPPORTED, "JPEG in CMYK: convert it to RGB");
    n = (size_t)info.width * (size_t)info.height * (size_t)channels;
    to = room(user, &info, n);
    if (!to)
        return fail_memory(e, n, "picture");
    if (tjDecompress2(h, bytes, (unsigned long)size, to, info.width, 0, info.height,
                      channels == 1 ? TJPF_GRAY : TJPF_RGB, 0) != 0 &&
        !harmless(h))
        return fail(e, INGOT_E_FORMAT, "JPEG: %s", tjGetErrorStr2(h));
    return true;
}

bool image_decode_jpeg(const unsigned char *bytes, size_t size, int channels, image_room_fn room,
                       void *user, error *e)
{
    tjhandle h = tjInitDecompress();
    bool ok;

    if (!h)
        return fail(e, INGOT_E_MEMORY, "JPEG: no decoder: %s", tjGetErrorStr2(NULL));
    ok = decode(h, bytes, size, channels, room, user, e);
    (void)tjDestroy(h);
    return ok;
}
