/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from IDX files. */
#include "base/file.h"
#include "data/dataset.h"
#include "formats/idx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct idx_source {
    idx_file images, labels;
    int64_t h, w, c;
} idx_source;

static bool idx_get(void *self, int64_t index, ingot_array *columns, error *e)
{
    const idx_source *s = self;
    size_t n = (size_t)(s->h * s->w * s->c);
    void *image = ingot_array_alloc(&columns[0], INGOT_U8, INGOT_INTS(s->h, s->w, s->c));
    int64_t *label = ingot_array_alloc(&columns[1], INGOT_I64, (ingot_ints){NULL, 0});

    (void)e;
    if (!image || !label)
        return false;
    memcpy(image, s->images.data + (size_t)index * n, n);
    *label = s->labels.data[index];
    return true;
}

static void idx_source_free(void *self, const allocator *a)
{
    idx_source *s = self;

    idx_free(&s->images);
    idx_free(&s->labels);
    mem_free(a, s, sizeof *s);
}

static bool idx_open(idx_source *s, const allocator *a, const char *images, const char *labels,
                     error *e)
{
    char text[TYPE_TEXT];

    if (!idx_read(&s->images, a, images, e) || !idx_read(&s->labels, a, labels, e))
        return false;
    const type *x = &s->images.type, *y = &s->labels.type;

    if (x->dt != INGOT_U8 || (x->rank != 3 && x->rank != 4))
        return fail(e, INGOT_E_FORMAT, "%s: holds %s; u8 [N,H,W] or [N,H,W,C] is needed", images,
                    type_text(x, text));
    if (y->dt != INGOT_U8 || y->rank != 1)
        return fail(e, INGOT_E_FORMAT, "%s: holds %s; u8 [N] is needed", labels,
                    type_text(y, text));
    if (x->dim[0] != y->dim[0])
        return fail(e, INGOT_E_FORMAT, "%s has %" PRId64 " labels for the %" PRId64 " images of %s",
                    labels, y->dim[0], x->dim[0], images);
    s->h = x->dim[1];
    s->w = x->dim[2];
    s->c = x->rank == 4 ? x->dim[3] : 1;
    return true;
}

ingot_dataset *ingot_idx_dataset(ingot_context *ctx, const char *images, const char *labels)
{
    static const char *const names[] = {"image", "label"};
    source src = {.get = idx_get, .free = idx_source_free};
    idx_source *s;

    if (!context_ok(ctx))
        return NULL;
    s = mem_new(&ctx->alloc, sizeof *s, "IDX dataset", &ctx->err);
    if (!s)
        return NULL;
    if (!idx_open(s, &ctx->alloc, images, labels, &ctx->err)) {
        idx_source_free(s, &ctx->alloc);
        return NULL;
    }
    src.self = s;
    src.count = s->images.type.dim[0];
    return dataset_new(ctx, &src, names, 2);
}

#define PATH_TEXT 4096

static bool find_file(const char *folder, const char *set, const char *what, char *path, error *e)
{
    static const char *const ends[] = {"", ".gz"};

    for (int i = 0; i < 2; i++) {
        int n = snprintf(path, PATH_TEXT, "%s/%s-%s-ubyte%s", folder, set, what, ends[i]);

        if (n < 0 || n >= PATH_TEXT)
            return fail(e, INGOT_E_ARGUMENT, "%s: the path is too long", folder);
        if (file_exists(path))
            return true;
    }
    return fail(e, INGOT_E_NOT_FOUND, "%s: no file %s-%s-ubyte or %s-%s-ubyte.gz in it", folder,
                set, what, set, what);
}

ingot_dataset *ingot_mnist(ingot_context *ctx, const char *folder, bool train)
{
    const char *set = train ? "train" : "t10k";
    char images[PATH_TEXT], labels[PATH_TEXT];

    if (!context_ok(ctx) || !find_file(folder, set, "images-idx3", images, &ctx->err) ||
        !find_file(folder, set, "labels-idx1", labels, &ctx->err))
        return NULL;
    return ingot_idx_dataset(ctx, images, labels);
}
