/* SPDX-License-Identifier: Apache-2.0 */
/* The transforms. */
#include "data/dataset.h"
#include "data/resize.h"
#include "formats/image.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SIDE_MAX IMAGE_SIDE_MAX

static ingot_transform *transform_new(ingot_context *ctx,
                                      bool (*apply)(const ingot_transform *, const ingot_array *,
                                                    ingot_array *, const ingot_map_info *, error *))
{
    ingot_transform *t =
        context_ok(ctx) ? mem_new(&ctx->alloc, sizeof *t, "transform", &ctx->err) : NULL;

    if (t) {
        t->ctx = ctx;
        t->apply = apply;
    }
    return t;
}

void ingot_transform_free(ingot_transform *t)
{
    if (t)
        mem_free(&t->ctx->alloc, t, sizeof *t);
}

/* A picture u8 [H, W, C]. */
static bool want_picture(const ingot_array *in, const char *who, error *e)
{
    type t = array_type(in);
    char text[TYPE_TEXT];

    return (in->dtype == INGOT_U8 && in->rank == 3 && in->dim[0] > 0 && in->dim[1] > 0 &&
            in->dim[2] > 0) ||
           fail(e, INGOT_E_SHAPE, "%s: %s is no picture; u8[H,W,C] is needed (decode it first)",
                who, type_text(&t, text));
}

static bool check_size(ingot_context *ctx, const char *who, int64_t height, int64_t width,
                       int64_t least_width)
{
    if (!context_ok(ctx))
        return false;
    return (height >= 1 && height <= SIDE_MAX && width >= least_width && width <= SIDE_MAX) ||
           fail(&ctx->err, INGOT_E_ARGUMENT,
                "%s: size %" PRId64 " x %" PRId64 " is outside [1, %d]", who, height, width,
                SIDE_MAX);
}

/* --- decode
 * ----------------------------------------------------------------------------------------- */

static unsigned char *decode_room(void *user, const image_info *info, size_t n)
{
    (void)n;
    return ingot_array_alloc(user, INGOT_U8, INGOT_INTS(info->height, info->width, info->channels));
}

static bool decode_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                         const ingot_map_info *info, error *e)
{
    (void)info;
    if (in->dtype != INGOT_U8 || in->rank != 1)
        return fail(e, INGOT_E_SHAPE, "decode: not a file's bytes (is it decoded already?)");
    return image_decode(in->data, (size_t)in->dim[0], (int)t->u.size[0], decode_room, out, e);
}

ingot_transform *ingot_decode(ingot_context *ctx, int channels)
{
    ingot_transform *t;

    if (context_ok(ctx) && channels != 1 && channels != 3)
        fail(&ctx->err, INGOT_E_ARGUMENT, "decode: channels %d; 1 or 3 is needed", channels);
    t = transform_new(ctx, decode_apply);
    if (t)
        t->u.size[0] = channels;
    return t;
}

/* --- geometry
 * --------------------------------------------------------------------------------------- */

static bool resize_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                         const ingot_map_info *info, error *e)
{
    int64_t h = t->u.size[0], w = t->u.size[1];

    (void)info;
    if (!want_picture(in, "resize", e))
        return false;
    if (w == 0) {
        int64_t side = h;
        bool tall = in->dim[0] >= in->dim[1];

        h = tall ? side * in->dim[0] / in->dim[1] : side;
        w = tall ? side : side * in->dim[1] / in->dim[0];
        if (h > SIDE_MAX || w > SIDE_MAX)
            return fail(e, INGOT_E_SHAPE, "resize: %" PRId64 " x %" PRId64 " is too long", h, w);
    }
    unsigned char *to = ingot_array_alloc(out, INGOT_U8, INGOT_INTS(h, w, in->dim[2]));

    return to &&
           resize_u8(&t->ctx->alloc, in->data, in->dim[0], in->dim[1], in->dim[2], to, h, w, e);
}

ingot_transform *ingot_resize(ingot_context *ctx, int64_t height, int64_t width)
{
    ingot_transform *t =
        check_size(ctx, "resize", height, width, 0) ? transform_new(ctx, resize_apply) : NULL;

    if (t) {
        t->u.size[0] = height;
        t->u.size[1] = width;
    }
    return t;
}

/* The h x w piece whose corner is (y, x) of the picture with zeros around where it is left. */
static bool crop(const ingot_array *in, int64_t y, int64_t x, int64_t h, int64_t w,
                 ingot_array *out)
{
    int64_t c = in->dim[2], from = x < 0 ? -x : 0;
    int64_t to = in->dim[1] - x < w ? in->dim[1] - x : w;
    unsigned char *p = ingot_array_alloc(out, INGOT_U8, INGOT_INTS(h, w, c));

    if (!p)
        return false;
    for (int64_t i = 0; i < h; i++, p += w * c) {
        const unsigned char *row = in->data;

        if (y + i < 0 || y + i >= in->dim[0] || from >= to) {
            memset(p, 0, (size_t)(w * c));
            continue;
        }
        row += ((y + i) * in->dim[1] + x + from) * c;
        memset(p, 0, (size_t)(from * c));
        memcpy(p + from * c, row, (size_t)((to - from) * c));
        memset(p + to * c, 0, (size_t)((w - to) * c));
    }
    return true;
}

static bool center_crop_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                              const ingot_map_info *info, error *e)
{
    int64_t h = t->u.size[0], w = t->u.size[1];

    (void)info;
    if (!want_picture(in, "center_crop", e))
        return false;
    if (in->dim[0] < h || in->dim[1] < w)
        return fail(e, INGOT_E_SHAPE,
                    "center_crop: %" PRId64 " x %" PRId64 " of a picture of %" PRId64 " x %" PRId64
                    " (resize it first)",
                    h, w, in->dim[0], in->dim[1]);
    return crop(in, (in->dim[0] - h) / 2, (in->dim[1] - w) / 2, h, w, out);
}

ingot_transform *ingot_center_crop(ingot_context *ctx, int64_t height, int64_t width)
{
    ingot_transform *t = check_size(ctx, "center_crop", height, width, 1)
                             ? transform_new(ctx, center_crop_apply)
                             : NULL;

    if (t) {
        t->u.size[0] = height;
        t->u.size[1] = width;
    }
    return t;
}

static rng_key key_of(const ingot_map_info *info)
{
    return (rng_key){info->random[0], info->random[1]};
}

static bool random_crop_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                              const ingot_map_info *info, error *e)
{
    int64_t h = t->u.size[0], w = t->u.size[1], pad = t->u.size[2];
    int64_t room_y, room_x;

    if (!want_picture(in, "random_crop", e))
        return false;
    room_y = in->dim[0] + 2 * pad - h;
    room_x = in->dim[1] + 2 * pad - w;
    if (room_y < 0 || room_x < 0)
        return fail(e, INGOT_E_SHAPE,
                    "random_crop: %" PRId64 " x %" PRId64 " of a picture of %" PRId64 " x %" PRId64
                    " padded by %" PRId64,
                    h, w, in->dim[0], in->dim[1], pad);
    return crop(in, (int64_t)rng_below(key_of(info), 0, (uint64_t)room_y + 1) - pad,
                (int64_t)rng_below(key_of(info), 1, (uint64_t)room_x + 1) - pad, h, w, out);
}

ingot_transform *ingot_random_crop(ingot_context *ctx, int64_t height, int64_t width,
                                   int64_t padding)
{
    ingot_transform *t = NULL;

    if (context_ok(ctx) && (padding < 0 || padding > SIDE_MAX))
        fail(&ctx->err, INGOT_E_ARGUMENT, "random_crop: padding %" PRId64 " is outside [0, %d]",
             padding, SIDE_MAX);
    if (check_size(ctx, "random_crop", height, width, 1))
        t = transform_new(ctx, random_crop_apply);
    if (t) {
        t->u.size[0] = height;
        t->u.size[1] = width;
        t->u.size[2] = padding;
    }
    return t;
}

static bool flip_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                       const ingot_map_info *info, error *e)
{
    bool turn = (double)rng_uniform(key_of(info), 0) < t->u.p;
    int64_t w, c;
    unsigned char *to;

    if (!want_picture(in, "random_horizontal_flip", e))
        return false;
    w = in->dim[1];
    c = in->dim[2];
    to = ingot_array_alloc(out, INGOT_U8, (ingot_ints){in->dim, 3});
    if (!to)
        return false;
    if (!turn) {
        memcpy(to, in->data, (size_t)(in->dim[0] * w * c));
        return true;
    }
    for (int64_t y = 0; y < in->dim[0]; y++)
        for (int64_t x = 0; x < w; x++)
            memcpy(to + (y * w + x) * c, (const unsigned char *)in->data + (y * w + w - 1 - x) * c,
                   (size_t)c);
    return true;
}

ingot_transform *ingot_random_horizontal_flip(ingot_context *ctx, double p)
{
    ingot_transform *t;

    if (context_ok(ctx) && !(p >= 0.0 && p <= 1.0))
        fail(&ctx->err, INGOT_E_ARGUMENT, "random_horizontal_flip: p %g is outside [0, 1]", p);
    t = transform_new(ctx, flip_apply);
    if (t)
        t->u.p = p;
    return t;
}

/* --- numbers
 * ---------------------------------------------------------------------------------------- */

static bool normalize_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                            const ingot_map_info *info, error *e)
{
    int64_t c = in->rank == 3 ? in->dim[2] : 0, pixels;
    float *to;

    (void)info;
    if (c != t->u.norm.channels || (in->dtype != INGOT_U8 && in->dtype != INGOT_F32)) {
        type got = array_type(in);
        char text[TYPE_TEXT];

        return fail(e, INGOT_E_SHAPE, "normalize: %s; u8 or f32 [H,W,%d] is needed",
                    type_text(&got, text), t->u.norm.channels);
    }
    pixels = in->dim[0] * in->dim[1];
    to = ingot_array_alloc(out, INGOT_F32, (ingot_ints){in->dim, 3});
    if (!to)
        return false;
    for (int64_t ch = 0; ch < c; ch++) {
        float scale = t->u.norm.scale[ch], shift = t->u.norm.shift[ch];

        if (in->dtype == INGOT_U8) {
            const unsigned char *from = in->data;
            float byte = scale / 255.0f;

            for (int64_t i = ch; i < pixels * c; i += c)
                to[i] = (float)from[i] * byte + shift;
        } else {
            const float *from = in->data;

            for (int64_t i = ch; i < pixels * c; i += c)
                to[i] = from[i] * scale + shift;
        }
    }
    return true;
}

ingot_transform *ingot_normalize(ingot_context *ctx, const double *mean, const double *std,
                                 int channels)
{
    ingot_transform *t;

    if (context_ok(ctx) && (channels < 1 || channels > 4))
        fail(&ctx->err, INGOT_E_ARGUMENT, "normalize: %d channels; 1 to 4 are possible", channels);
    for (int i = 0; context_ok(ctx) && i < channels; i++)
        if (!isfinite(mean[i]) || !(std[i] > 0.0) || !isfinite(std[i]))
            fail(&ctx->err, INGOT_E_ARGUMENT, "normalize: mean %g and std %g of channel %d",
                 mean[i], std[i], i);
    t = transform_new(ctx, normalize_apply);
    if (!t)
        return NULL;
    t->u.norm.channels = channels;
    for (int i = 0; i < channels; i++) {
        t->u.norm.scale[i] = (float)(1.0 / std[i]);
        t->u.norm.shift[i] = (float)(-mean[i] / std[i]);
    }
    return t;
}

static bool hwc2chw_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                          const ingot_map_info *info, error *e)
{
    size_t size = dtype_size(in->dtype);
    int64_t pixels, c;
    char *to;

    (void)t;
    (void)info;
    if (in->rank != 3)
        return fail(e, INGOT_E_SHAPE, "hwc2chw: rank %d; [H,W,C] is needed", in->rank);
    c = in->dim[2];
    pixels = in->dim[0] * in->dim[1];
    to = ingot_array_alloc(out, in->dtype, INGOT_INTS(c, in->dim[0], in->dim[1]));
    if (!to)
        return false;
    if (c == 1) {
        memcpy(to, in->data, (size_t)pixels * size);
        return true;
    }
    for (int64_t ch = 0; ch < c; ch++)
        for (int64_t i = 0; i < pixels; i++, to += size)
            memcpy(to, (const char *)in->data + (size_t)(i * c + ch) * size, size);
    return true;
}

ingot_transform *ingot_hwc2chw(ingot_context *ctx)
{
    return transform_new(ctx, hwc2chw_apply);
}

static bool cast_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                       const ingot_map_info *info, error *e)
{
    dtype to = (dtype)t->u.size[0];
    type whole = array_type(in);

    (void)info;
    (void)e;
    if (!ingot_array_alloc(out, to, (ingot_ints){in->dim, in->rank}))
        return false;
    dtype_convert(in->dtype, in->data, to, out->data, type_count(&whole));
    return true;
}

ingot_transform *ingot_type_cast(ingot_context *ctx, ingot_dtype to)
{
    ingot_transform *t;

    if (context_ok(ctx) && !dtype_valid(to))
        fail(&ctx->err, INGOT_E_DTYPE, "type_cast: %d is no dtype", (int)to);
    t = transform_new(ctx, cast_apply);
    if (t)
        t->u.size[0] = (int64_t)to;
    return t;
}

static bool user_apply(const ingot_transform *t, const ingot_array *in, ingot_array *out,
                       const ingot_map_info *info, error *e)
{
    (void)e;
    return t->u.map.fn(in, out, info, t->u.map.user);
}

ingot_transform *ingot_transform_new(ingot_context *ctx, ingot_map_fn fn, void *user)
{
    ingot_transform *t;

    if (context_ok(ctx) && !fn)
        fail(&ctx->err, INGOT_E_ARGUMENT, "transform: fn is NULL");
    t = transform_new(ctx, user_apply);
    if (t) {
        t->u.map.fn = fn;
        t->u.map.user = user;
    }
    return t;
}
