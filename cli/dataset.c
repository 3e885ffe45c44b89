/* SPDX-License-Identifier: Apache-2.0 */
#include "dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SIDE 64
#define TRANSFORMS   12

static bool there(const char *folder, const char *name)
{
    char path[4096];

    for (int gz = 0; gz < 2; gz++) {
        int n = snprintf(path, sizeof path, "%s/%s%s", folder, name, gz ? ".gz" : "");

        if (n > 0 && n < (int)sizeof path && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

bool data_is_idx(const char *path)
{
    return there(path, "train-images-idx3-ubyte") || there(path, "t10k-images-idx3-ubyte");
}

ingot_dataset *data_open(ingot_context *ctx, const char *path, data_part part)
{
    if (data_is_idx(path))
        return ingot_mnist(ctx, path, part == PART_TRAIN);
    return ingot_image_folder(ctx, path, NULL);
}

ingot_status data_prepare(ingot_context *ctx, ingot_dataset *ds, const char *path,
                          const picture_spec *spec, bool augment, int workers)
{
    bool idx = data_is_idx(path);
    int channels = spec->channels ? spec->channels : idx ? 1 : 3;
    int h = spec->height ? spec->height : idx ? 0 : DEFAULT_SIDE;
    int w = spec->width ? spec->width : h;
    ingot_transform *list[TRANSFORMS] = {NULL};
    int n = 0;

    if (!idx)
        list[n++] = ingot_decode(ctx, channels);
    if (h && h == w) { /* the middle square, so that nothing is distorted */
        list[n++] = ingot_resize(ctx, h, 0);
        list[n++] = ingot_center_crop(ctx, h, w);
    } else if (h) {
        list[n++] = ingot_resize(ctx, h, w);
    }
    if (augment && spec->crop_padding && h)
        list[n++] = ingot_random_crop(ctx, h, w, spec->crop_padding);
    if (augment && spec->flip)
        list[n++] = ingot_random_horizontal_flip(ctx, 0.5);
    list[n++] = ingot_normalize(ctx, spec->mean, spec->std, channels);
    list[n++] = ingot_hwc2chw(ctx);
    if (ingot_error(ctx)) {
        for (int i = 0; i < n; i++)
            ingot_transform_free(list[i]);
        return ingot_error(ctx);
    }
    return ingot_dataset_map(ds, "image", list, workers);
}

#define CLASSES_MAX 1024

ingot_status data_name_classes(ingot_context *ctx, ingot_dataset *ds, const char *names)
{
    const char *list[CLASSES_MAX];
    char text[4096], *at = text;
    int n = 0;

    if (strlen(names) >= sizeof text)
        return ingot_set_error(ctx, INGOT_E_CONFIG, "data.classes: longer than %zu bytes",
                               sizeof text - 1);
    memcpy(text, names, strlen(names) + 1);
    while (at && n < CLASSES_MAX) {
        char *comma = strchr(at, ',');

        if (comma)
            *comma = '\0';
        list[n++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return ingot_dataset_set_classes(ds, list, n);
}

ingot_status data_measure(ingot_context *ctx, ingot_dataset *ds, picture_spec *spec)
{
    ingot_tensor *column[2];
    ingot_status s;
    bool more;

    if (ingot_dataset_column_count(ds) != 2 || ingot_dataset_batches(ds) == 0)
        return ingot_set_error(ctx, INGOT_E_CONFIG,
                               "data: there are too few pictures for one batch");
    ingot_scope_begin(ctx);
    s = ingot_dataset_next(ds, column, 2, &more);
    if (s == INGOT_OK && ingot_tensor_rank(column[0]) == 4) {
        spec->channels = (int)ingot_tensor_dim(column[0], 1);
        spec->height = (int)ingot_tensor_dim(column[0], 2);
        spec->width = (int)ingot_tensor_dim(column[0], 3);
    }
    ingot_scope_end(ctx);
    return s == INGOT_OK ? ingot_dataset_seek(ds, 0, 0) : s;
}

/* The middle of a picture u8 [H, W, C], as the pipeline's resize and center_crop make it. */
static ingot_tensor *fit(ingot_context *ctx, ingot_tensor *p, const ingot_image_facts *f)
{
    int64_t h = ingot_tensor_dim(p, 0), w = ingot_tensor_dim(p, 1), c = ingot_tensor_dim(p, 2);
    int64_t nh = f->height, nw = f->width;
    ingot_tensor *out;

    if (nh == nw && h > w)
        nh = nw * h / w;
    else if (nh == nw)
        nw = nh * w / h;
    p = ingot_image_resize(ctx, p, nh, nw);
    out = ingot_tensor_new(ctx, INGOT_U8, INGOT_INTS(f->height, f->width, c), NULL);
    if (!p || !out)
        return NULL;
    const unsigned char *from = ingot_tensor_data(p);
    unsigned char *to = ingot_tensor_data(out);
    int64_t y0 = (nh - f->height) / 2, x0 = (nw - f->width) / 2;

    for (int64_t y = 0; y < f->height; y++)
        memcpy(to + y * f->width * c, from + ((y0 + y) * nw + x0) * c, (size_t)(f->width * c));
    return out;
}

ingot_tensor *picture_load(ingot_context *ctx, const char *path, const ingot_image_facts *facts,
                           ingot_tensor **raw)
{
    int64_t c = facts->channels, pixels = (int64_t)facts->height * facts->width;
    ingot_tensor *p = ingot_image_read(ctx, path, facts->channels), *x;

    p = p ? fit(ctx, p, facts) : NULL;
    x = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(1, c, facts->height, facts->width), NULL);
    if (!p || !x)
        return NULL;
    const unsigned char *from = ingot_tensor_data(p);
    float *to = ingot_tensor_data(x);

    /* the same arithmetic as ingot_normalize */
    for (int64_t k = 0; k < c; k++) {
        float scale = (float)(1.0 / facts->std[k]),
              shift = (float)(-facts->mean[k] / facts->std[k]);
        float byte = scale / 255.0f;

        for (int64_t i = 0; i < pixels; i++)
            to[k * pixels + i] = (float)from[i * c + k] * byte + shift;
    }
    if (raw)
        *raw = p;
    return x;
}
