/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/model_file.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define SIDE_MAX 65536 /* of a picture */

/* The text of a JSON value in mem; frees the value. */
static const char *dump(arena *mem, json_t *j, error *e)
{
    size_t n = j ? json_dumpb(j, NULL, 0, JSON_COMPACT) : 0;
    char *text = n ? arena_alloc(mem, n + 1, e) : NULL;

    if (text)
        (void)json_dumpb(j, text, n, JSON_COMPACT);
    else
        fail(e, INGOT_E_ARGUMENT, "model file: its facts are no valid UTF-8");
    json_decref(j);
    return text;
}

const char *facts_classes_text(arena *mem, const char *const *names, int n, error *e)
{
    json_t *list;

    if (n < 0 || n > CLASSES_MAX || !names) {
        fail(e, INGOT_E_ARGUMENT,
             "export: %d classes %s names; 0 to %d, each with a name, are kept", n,
             names ? "with" : "without", CLASSES_MAX);
        return NULL;
    }
    list = json_array();
    for (int i = 0; list && i < n; i++)
        if (!names[i] || json_array_append_new(list, json_string(names[i])) != 0) {
            json_decref(list);
            fail(e, INGOT_E_ARGUMENT, "export: class %d of %d has no name in valid UTF-8", i, n);
            return NULL;
        }
    return dump(mem, list, e);
}

static json_t *reals(const double *v, int n)
{
    json_t *list = json_array();

    for (int i = 0; list && i < n; i++)
        (void)json_array_append_new(list, json_real(v[i]));
    return list;
}

/* What the writer refuses and the reader refuses is the same. */
static bool size_fits(int64_t channels, int64_t height, int64_t width)
{
    return channels >= 1 && channels <= INGOT_IMAGE_CHANNELS && height >= 1 && height <= SIDE_MAX &&
           width >= 1 && width <= SIDE_MAX;
}

const char *facts_image_text(arena *mem, const ingot_image_facts *f, error *e)
{
    if (!size_fits(f->channels, f->height, f->width)) {
        fail(
            e, INGOT_E_ARGUMENT,
            "export: pictures of %d x %d with %d channels; at most %d x %d with 1 to %d can be kept",
            f->height, f->width, f->channels, SIDE_MAX, SIDE_MAX, INGOT_IMAGE_CHANNELS);
        return NULL;
    }
    for (int i = 0; i < f->channels; i++)
        if (!isfinite(f->mean[i]) || !isfinite(f->std[i]) || f->std[i] <= 0.0) {
            fail(e, INGOT_E_ARGUMENT,
                 "export: mean %g and std %g of channel %d; finite, and std above 0, are needed",
                 f->mean[i], f->std[i], i);
            return NULL;
        }
    return dump(mem,
                json_pack("{s:i, s:i, s:i, s:o, s:o}", "channels", f->channels, "height", f->height,
                          "width", f->width, "mean", reals(f->mean, f->channels), "std",
                          reals(f->std, f->channels)),
                e);
}

static bool read_classes(model_facts *f, arena *mem, const char *text, error *e)
{
    json_t *list = json_loads(text, 0, NULL);
    size_t n = json_array_size(list);
    bool ok = json_is_array(list) && n <= CLASSES_MAX;

    if (!ok)
        fail(e, INGOT_E_FORMAT, "model file: \"" META_CLASSES "\" is no list of names");
    if (ok) {
        f->classes = arena_array(mem, n + 1, sizeof *f->classes, e);
        ok = f->classes != NULL;
    }
    for (size_t i = 0; ok && i < n; i++) {
        const char *name = json_string_value(json_array_get(list, i));

        ok = name ? (f->classes[i] = arena_strdup(mem, name, e)) != NULL
                  : fail(e, INGOT_E_FORMAT, "model file: class %zu is no text", i);
    }
    f->n_classes = ok ? (int)n : 0;
    json_decref(list);
    return ok;
}

static bool read_reals(const json_t *list, int n, double *out)
{
    for (int i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, (size_t)i);

        out[i] = json_number_value(v);
        if (!json_is_number(v) || !isfinite(out[i]))
            return false;
    }
    return json_array_size(list) == (size_t)n;
}

static bool read_image(ingot_image_facts *f, const char *text, error *e)
{
    json_t *j = json_loads(text, 0, NULL);
    json_int_t c = json_integer_value(json_object_get(j, "channels"));
    json_int_t h = json_integer_value(json_object_get(j, "height"));
    json_int_t w = json_integer_value(json_object_get(j, "width"));
    bool ok = size_fits(c, h, w);

    if (ok) {
        *f = (ingot_image_facts){.channels = (int)c, .height = (int)h, .width = (int)w};
        ok = read_reals(json_object_get(j, "mean"), f->channels, f->mean) &&
             read_reals(json_object_get(j, "std"), f->channels, f->std);
        for (int i = 0; ok && i < f->channels; i++)
            ok = f->std[i] > 0.0;
    }
    json_decref(j);
    return ok ||
           fail(e, INGOT_E_FORMAT, "model file: \"" META_IMAGE "\" does not describe pictures");
}

bool facts_read(model_facts *f, arena *mem, const safetensors *file, error *e)
{
    const char *classes = safetensors_meta_find(file, META_CLASSES);
    const char *image = safetensors_meta_find(file, META_IMAGE);

    *f = (model_facts){0};
    return (!classes || read_classes(f, mem, classes, e)) &&
           (!image || read_image(&f->image, image, e));
}

graph *model_graph(const safetensors *file, const allocator *a, const op_registry *ops, error *e)
{
    const char *text = safetensors_meta_find(file, META_GRAPH);
    graph *g;

    if (!text) {
        fail(e, INGOT_E_FORMAT, "no model file: its metadata has no \"" META_GRAPH "\"");
        return NULL;
    }
    g = graph_parse(a, ops, text, strlen(text), e);
    if (!g)
        error_prefix(e, "\"" META_GRAPH "\"");
    if (g && !graph_verify(g, e)) {
        graph_free(g);
        g = NULL;
    }
    return g;
}
