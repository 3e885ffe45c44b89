/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/image_format.h"

#include <spng.h>

/* ITU-R 601 luma in 16 fractional bits, as Pillow's "L". */
static unsigned char luma(const unsigned char *rgb)
{
    return (unsigned char)((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

/* Colour to grey goes through a picture of its own. */
static bool decode_grey(spng_ctx *png, unsigned char *to, size_t pixels, error *e)
{
    unsigned char *rgb = mem_new_array(NULL, pixels, 3, "picture", e);
    int err;

    if (!rgb)
        return false;
    err = spng_decode_image(png, rgb, pixels * 3, SPNG_FMT_RGB8, 0);
    for (size_t i = 0; !err && i < pixels; i++)
        to[i] = luma(rgb + 3 * i);
    mem_free(NULL, rgb, pixels * 3);
    return err ? fail(e, INGOT_E_FORMAT, "PNG: %s", spng_strerror(err)) : true;
}

static bool decode(spng_ctx *png, const unsigned char *bytes, size_t size, int channels,
                   image_room_fn room, void *user, error *e)
{
    image_info info = {.channels = channels};
    struct spng_ihdr head;
    unsigned char *to;
    size_t pixels;
    int err = spng_set_png_buffer(png, bytes, size);

    if (!err)
        err = spng_set_image_limits(png, IMAGE_SIDE_MAX, IMAGE_SIDE_MAX);
    if (!err)
        err = spng_set_chunk_limits(png, (size_t)1 << 26, (size_t)1 << 26);
    if (!err)
        err = spng_get_ihdr(png, &head);
    if (err)
        return fail(e, INGOT_E_FORMAT, "PNG: %s", spng_strerror(err));
    info.width = (int)head.width;
    info.height = (int)head.height;
    if (!image_check(&info, e))
        return false;
    pixels = (size_t)info.width * (size_t)info.height;
    to = room(user, &info, pixels * (size_t)channels);
    if (!to)
        return fail_memory(e, pixels * (size_t)channels, "picture");
    if (channels == 1 && (head.color_type != SPNG_COLOR_TYPE_GRAYSCALE || head.bit_depth > 8))
        return decode_grey(png, to, pixels, e);
    err = spng_decode_image(png, to, pixels * (size_t)channels,
                            channels == 1 ? SPNG_FMT_G8 : SPNG_FMT_RGB8, 0);
    return err ? fail(e, INGOT_E_FORMAT, "PNG: %s", spng_strerror(err)) : true;
}

bool image_decode_png(const unsigned char *bytes, size_t size, int channels, image_room_fn room,
                      void *user, error *e)
{
    spng_ctx *png = spng_ctx_new(0);
    bool ok;

    if (!png)
        return fail(e, INGOT_E_MEMORY, "PNG: no memory for a decoder");
    ok = decode(png, bytes, size, channels, room, user, e);
    spng_ctx_free(png);
    return ok;
}

typedef struct sink {
    buffer *out;
    error *e;
} sink;

static int write_some(spng_ctx *png, void *user, void *p, size_t n)
{
    sink *s = user;

    (void)png;
    return buffer_add(s->out, p, n, s->e) ? 0 : SPNG_EMEM;
}

bool image_encode_png(const unsigned char *pixels, const image_info *info, buffer *out, error *e)
{
    struct spng_ihdr head = {
        .width = (uint32_t)info->width,
        .height = (uint32_t)info->height,
        .bit_depth = 8,
        .color_type = info->channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR,
    };
    size_t n = (size_t)info->width * (size_t)info->height * (size_t)info->channels;
    sink s = {.out = out, .e = e};
    spng_ctx *png;
    int err;

    if (!image_check(info, e))
        return false;
    png = spng_ctx_new(SPNG_CTX_ENCODER);
    if (!png)
        return fail(e, INGOT_E_MEMORY, "PNG: no memory for an encoder");
    err = spng_set_png_stream(png, write_some, &s);
    if (!err)
        err = spng_set_ihdr(png, &head);
    if (!err)
        err = spng_encode_image(png, pixels, n, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    spng_ctx_free(png);
    return err ? fail(e, INGOT_E_INTERNAL, "PNG: %s", spng_strerror(err)) : true;
}
