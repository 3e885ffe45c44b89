/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from a folder of class folders. Sorted by the bytes of their names, so that every machine
   numbers them alike. */
#include "base/file.h"
#include "data/dataset.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct picture {
    const char *path;
    int64_t label;
} picture;

typedef struct folder_source {
    const allocator *alloc;
    arena mem;
    picture *pictures;
    size_t n, cap;
    const char **classes;
    size_t n_classes, cap_classes;
} folder_source;

static bool folder_get(void *self, int64_t index, ingot_array *columns, error *e)
{
    const folder_source *s = self;
    const picture *p = &s->pictures[index];
    file_map map;
    void *to;
    int64_t *label = ingot_array_alloc(&columns[1], INGOT_I64, (ingot_ints){NULL, 0});

    if (!label || !file_map_open(&map, p->path, e))
        return false;
    *label = p->label;
    to = ingot_array_alloc(&columns[0], INGOT_U8, INGOT_INTS((int64_t)map.size));
    if (to && map.size)
        memcpy(to, map.data, map.size);
    file_map_close(&map);
    return to != NULL;
}

static void folder_name(void *self, int64_t index, char *buf, size_t size)
{
    const folder_source *s = self;

    (void)snprintf(buf, size, "%s", s->pictures[index].path);
}

static void folder_free(void *self, const allocator *a)
{
    folder_source *s = self;

    mem_free(a, s->pictures, s->cap * sizeof *s->pictures);
    mem_free(a, s->classes, s->cap_classes * sizeof *s->classes);
    arena_free(&s->mem);
    mem_free(a, s, sizeof *s);
}

static bool is_picture(const char *name)
{
    static const char *const ends[] = {".jpg", ".jpeg", ".png"};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(dot, ends[i]) == 0)
            return name[0] != '.';
    return false;
}

static bool add_class(folder_source *s, const char *folder, const char *name, error *e)
{
    char *path = arena_printf(&s->mem, e, "%s/%s", folder, name);
    char *copy = arena_strdup(&s->mem, name, e);
    size_t before = s->n;
    folder_list files;
    bool ok;

    if (!path || !copy || !folder_list_read(&files, s->alloc, path, e))
        return false;
    ok = vec_reserve(s->alloc, (void **)&s->classes, sizeof *s->classes, s->n_classes + 1,
                     &s->cap_classes, "classes", e);
    for (size_t i = 0; ok && i < files.count; i++) {
        if (!is_picture(files.names[i]))
            continue;
        char *file = arena_printf(&s->mem, e, "%s/%s", path, files.names[i]);

        ok = file && vec_reserve(s->alloc, (void **)&s->pictures, sizeof *s->pictures, s->n + 1,
                                 &s->cap, "pictures", e);
        if (ok)
            s->pictures[s->n++] = (picture){file, (int64_t)s->n_classes};
    }
    folder_list_free(&files);
    if (ok && s->n == before)
        return fail(e, INGOT_E_NOT_FOUND,
                    "%s: a class without pictures (.jpg, .jpeg or .png); remove it, or list the "
                    "classes to use in a class file",
                    path);
    if (ok)
        s->classes[s->n_classes++] = copy;
    return ok;
}

static bool all_folders(folder_source *s, const char *path, error *e)
{
    folder_list entries;
    bool ok;

    if (!folder_list_read(&entries, s->alloc, path, e))
        return false;
    ok = true;
    for (size_t i = 0; ok && i < entries.count; i++) {
        char *full = arena_printf(&s->mem, e, "%s/%s", path, entries.names[i]);

        ok = full != NULL;
        if (ok && entries.names[i][0] != '.' && file_is_folder(full))
            ok = add_class(s, path, entries.names[i], e);
    }
    folder_list_free(&entries);
    return ok;
}

static bool has_class(const folder_source *s, const char *name)
{
    for (size_t i = 0; i < s->n_classes; i++)
        if (strcmp(s->classes[i], name) == 0)
            return true;
    return false;
}

static bool listed_folders(folder_source *s, const char *path, const char *class_file, error *e)
{
    buffer text;
    bool ok;

    buffer_init(&text, s->alloc, (size_t)1 << 24);
    ok = file_read(class_file, &text, e);
    for (char *line = text.data, *next; ok && line && *line; line = next) {
        size_t n = strcspn(line, "\r\n");

        next = line + n;
        next += strspn(next, "\r\n");
        line[n] = 0;
        if (n && (strchr(line, '/') || strcmp(line, ".") == 0 || strcmp(line, "..") == 0))
            ok = fail(e, INGOT_E_FORMAT, "%s: class \"%s\" is no folder's name", class_file, line);
        else if (n && has_class(s, line))
            ok = fail(e, INGOT_E_FORMAT, "%s: class \"%s\" is listed twice", class_file, line);
        else if (n)
            ok = add_class(s, path, line, e);
    }
    buffer_free(&text);
    return ok;
}

ingot_dataset *ingot_image_folder(ingot_context *ctx, const char *path,
                                  const ingot_image_folder_options *opt)
{
    static const char *const names[] = {"image", "label"};
    source src = {.get = folder_get, .name = folder_name, .free = folder_free};
    ingot_dataset *ds;
    folder_source *s;
    bool ok;

    if (!context_ok(ctx))
        return NULL;
    s = mem_new(&ctx->alloc, sizeof *s, "image folder", &ctx->err);
    if (!s)
        return NULL;
    s->alloc = &ctx->alloc;
    arena_init(&s->mem, s->alloc);
    ok = opt && opt->class_file ? listed_folders(s, path, opt->class_file, &ctx->err)
                                : all_folders(s, path, &ctx->err);
    if (ok && s->n_classes == 0)
        ok = fail(&ctx->err, INGOT_E_NOT_FOUND, "%s: no class folders in it", path);
    if (!ok) {
        folder_free(s, s->alloc);
        return NULL;
    }
    src.self = s;
    src.count = (int64_t)s->n;
    ds = dataset_new(ctx, &src, names, 2);
    if (ds && !dataset_classes(ds, s->classes, (int)s->n_classes)) {
        ingot_dataset_free(ds);
        return NULL;
    }
    return ds;
}
