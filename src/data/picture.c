/* SPDX-License-Identifier: Apache-2.0 */
/* Single pictures, and datasets as folders of them. */
#include "base/file.h"
#include "data/dataset.h"
#include "data/resize.h"
#include "formats/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned char *room(void *user, const image_info *info, size_t n)
{
    (void)n;
    return ingot_array_alloc(user, INGOT_U8, INGOT_INTS(info->height, info->width, info->channels));
}

ingot_tensor *ingot_image_read(ingot_context *ctx, const char *path, int channels)
{
    ingot_tensor *t = NULL;
    ingot_array a;
    array_owner owner;
    file_map map;

    if (!context_ok(ctx) || !file_map_open(&map, path, &ctx->err))
        return NULL;
    array_init(&a, &owner, &ctx->alloc, &ctx->err);
    if (image_decode(map.data, map.size, channels, room, &a, &ctx->err))
        t = ingot_tensor_new(ctx, INGOT_U8, (ingot_ints){a.dim, 3}, a.data);
    else
        error_prefix(&ctx->err, "%s", path);
    array_free(&a);
    file_map_close(&map);
    return t;
}

/* A tensor's pixels; NULL = error set. */
static const unsigned char *pixels(ingot_context *ctx, ingot_tensor *t, const char *who,
                                   image_info *info)
{
    char text[TYPE_TEXT];

    if (!t)
        return NULL;
    if (t->type.dt != INGOT_U8 || t->type.rank != 3 || t->type.dim[0] < 1 || t->type.dim[1] < 1 ||
        t->type.dim[0] > IMAGE_SIDE_MAX || t->type.dim[1] > IMAGE_SIDE_MAX ||
        (t->type.dim[2] != 1 && t->type.dim[2] != 3)) {
        fail(&ctx->err, INGOT_E_SHAPE, "%s: %s; u8[H,W,1] or u8[H,W,3] is needed", who,
             type_text(&t->type, text));
        return NULL;
    }
    *info = (image_info){(int)t->type.dim[0], (int)t->type.dim[1], (int)t->type.dim[2]};
    return ingot_tensor_data(t);
}

ingot_tensor *ingot_image_resize(ingot_context *ctx, ingot_tensor *picture, int64_t height,
                                 int64_t width)
{
    const unsigned char *from;
    ingot_tensor *to;
    image_info info;

    if (!context_ok(ctx))
        return NULL;
    from = pixels(ctx, picture, "image_resize", &info);
    if (!from)
        return NULL;
    if (height < 1 || width < 1 || height > IMAGE_SIDE_MAX || width > IMAGE_SIDE_MAX) {
        fail(&ctx->err, INGOT_E_ARGUMENT,
             "image_resize: %" PRId64 " x %" PRId64 " is outside [1, %d]", height, width,
             IMAGE_SIDE_MAX);
        return NULL;
    }
    to = ingot_tensor_new(ctx, INGOT_U8, INGOT_INTS(height, width, info.channels), NULL);
    if (!to || !resize_u8(&ctx->alloc, from, info.height, info.width, info.channels,
                          ingot_tensor_data(to), height, width, &ctx->err))
        return NULL;
    return to;
}

static bool write_png(const allocator *a, const char *path, const unsigned char *p,
                      const image_info *info, error *e)
{
    file_writer w;
    buffer png;
    bool ok;

    buffer_init(&png, a, 0);
    ok = image_encode_png(p, info, &png, e);
    if (!ok)
        error_prefix(e, "%s", path);
    if (ok && (ok = file_writer_open(&w, a, path, e))) {
        ok = file_writer_write(&w, png.data, png.len, e) && file_writer_commit(&w, e);
        file_writer_abort(&w);
    }
    buffer_free(&png);
    return ok;
}

ingot_status ingot_png_write(ingot_context *ctx, const char *path, ingot_tensor *picture)
{
    const unsigned char *p;
    image_info info;

    if (!ctx)
        return INGOT_E_ARGUMENT;
    p = context_ok(ctx) ? pixels(ctx, picture, "png_write", &info) : NULL;
    if (p)
        write_png(&ctx->alloc, path, p, &info, &ctx->err);
    return ingot_error(ctx);
}

#define PATH_TEXT 4096

/* Whether a class's name can be its folder's, and one that ingot_image_folder sees. */
static bool names_folder(const char *name, size_t room)
{
    return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < room;
}

static bool write_sample(const ingot_dataset *ds, const char *folder, int64_t index,
                         const ingot_array *columns, error *e)
{
    const ingot_array *image = &columns[0], *label = &columns[1];
    char path[PATH_TEXT], class[256];
    image_info info;
    int64_t k;

    if (image->dtype != INGOT_U8 || image->rank != 3 ||
        (image->dim[2] != 1 && image->dim[2] != 3) || label->dtype != INGOT_I64 || label->rank != 0)
        return fail(e, INGOT_E_SHAPE,
                    "write_images: columns u8 [H,W,1 or 3] and i64 [] are needed");
    memcpy(&k, label->data, sizeof k);
    if (k >= 0 && k < ds->n_classes && names_folder(ds->classes[k], sizeof class))
        (void)snprintf(class, sizeof class, "%s", ds->classes[k]);
    else
        (void)snprintf(class, sizeof class, "%02" PRId64, k);
    if (snprintf(path, sizeof path, "%s/%s", folder, class) >= (int)sizeof path - 32)
        return fail(e, INGOT_E_ARGUMENT, "%s: the path is too long", folder);
    if (!folder_make(path, e))
        return false;
    size_t n = strlen(path);

    (void)snprintf(path + n, sizeof path - n, "/%06" PRId64 ".png", index);
    info = (image_info){(int)image->dim[0], (int)image->dim[1], (int)image->dim[2]};
    return write_png(ds->alloc, path, image->data, &info, e);
}

ingot_status ingot_dataset_write_images(ingot_dataset *ds, const char *folder, int64_t limit)
{
    ingot_array columns[DATA_COLUMNS];
    array_owner owners[DATA_COLUMNS];
    error *e;

    if (!ds)
        return INGOT_E_ARGUMENT;
    e = &ds->ctx->err;
    if (!context_ok(ds->ctx))
        return e->code;
    if (ds->n_columns < 2 || strcmp(ds->columns[0], "image") != 0 ||
        strcmp(ds->columns[1], "label") != 0) {
        fail(e, INGOT_E_ARGUMENT, "write_images: the columns are not \"image\" and \"label\"");
        return e->code;
    }
    for (int i = 0; i < ds->n_columns; i++)
        array_init(&columns[i], &owners[i], ds->alloc, e);
    for (int64_t i = 0; i < ds->count && (limit <= 0 || i < limit); i++)
        if (!ds->src.get(ds->src.self, ds->from + i, columns, e) ||
            !write_sample(ds, folder, ds->from + i, columns, e))
            break;
    for (int i = 0; i < ds->n_columns; i++)
        array_free(&columns[i]);
    return e->code;
}
