/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/safetensors.h"

#include "base/hash.h"
#include "formats/safetensors_format.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const format_dtype dtypes[] = {
    {"F32", 4, true, INGOT_F32},      {"F16", 2, true, INGOT_F16},
    {"BF16", 2, true, INGOT_BF16},    {"F64", 8, true, INGOT_F64},
    {"I8", 1, true, INGOT_I8},        {"U8", 1, true, INGOT_U8},
    {"I16", 2, true, INGOT_I16},      {"I32", 4, true, INGOT_I32},
    {"I64", 8, true, INGOT_I64},      {"BOOL", 1, true, INGOT_BOOL},
    {"U16", 2, false, INGOT_F32},     {"U32", 4, false, INGOT_F32},
    {"U64", 8, false, INGOT_F32},     {"F8_E5M2", 1, false, INGOT_F32},
    {"C64", 8, false, INGOT_F32},     {"F8_E4M3", 1, false, INGOT_F32},
    {"F8_E8M0", 1, false, INGOT_F32},
};
#define N_DTYPES (sizeof dtypes / sizeof dtypes[0])

const format_dtype *format_dtype_find(const char *name)
{
    for (size_t i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return NULL;
}

const char *format_dtype_name(dtype dt)
{
    for (size_t i = 0; i < N_DTYPES; i++)
        if (dtypes[i].known && dtypes[i].dt == dt)
            return dtypes[i].name;
    return NULL;
}

void format_digits(uint64_t hash, char out[CHECKSUM_DIGITS + 1])
{
    for (int i = 0; i < CHECKSUM_DIGITS; i++)
        out[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    out[CHECKSUM_DIGITS] = '\0';
}

static bool bad(error *e, const char *name, const char *what)
{
    return fail(e, INGOT_E_FORMAT, "safetensors: tensor '%.200s': %s", name, what);
}

static bool read_shape(safetensors_entry *t, const json_t *shape, error *e)
{
    size_t rank = json_array_size(shape);

    if (!json_is_array(shape))
        return bad(e, t->name, "shape is not a list");
    if (rank > MAX_RANK)
        return fail(e, INGOT_E_UNSUPPORTED, "safetensors: tensor '%.200s': rank %zu is above %d",
                    t->name, rank, MAX_RANK);
    t->type.rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        const json_t *d = json_array_get(shape, i);
        if (!json_is_integer(d) || json_integer_value(d) < 0)
            return bad(e, t->name, "a dimension is not a whole number from 0 on");
        t->type.dim[i] = json_integer_value(d);
    }
    return true;
}

/* Elements by every dimension in turn, so that an overflow beside a zero is refused too. */
static bool expected_bytes(const safetensors_entry *t, size_t elem, size_t *bytes, error *e)
{
    *bytes = elem;
    for (int i = 0; i < t->type.rank; i++)
        if (!size_mul(*bytes, (size_t)t->type.dim[i], bytes) || *bytes > INT64_MAX)
            return bad(e, t->name, "its size overflows");
    return true;
}

static bool read_entry(safetensors *s, safetensors_entry *t, const char *name, const json_t *info,
                       size_t data_at, error *e)
{
    const char *dt = json_string_value(json_object_get(info, "dtype"));
    const json_t *at = json_object_get(info, "data_offsets");
    const json_t *begin = json_array_get(at, 0), *end = json_array_get(at, 1);
    size_t want;

    t->name = arena_strdup(&s->mem, name, e);
    if (!t->name)
        return false;
    if (!json_is_object(info) || json_object_size(info) != 3)
        return bad(e, name, "not an object of dtype, shape and data_offsets");
    const format_dtype *f = dt ? format_dtype_find(dt) : NULL;
    if (!f)
        return fail(e, INGOT_E_FORMAT, "safetensors: tensor '%.200s': unknown dtype '%.40s'", name,
                    dt ? dt : "(not a string)");
    t->dtype = f->name;
    t->known = f->known;
    t->type.dt = f->dt;
    if (!read_shape(t, json_object_get(info, "shape"), e) || !expected_bytes(t, f->size, &want, e))
        return false;
    if (json_array_size(at) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return bad(e, name, "data_offsets is not a pair of whole numbers");

    json_int_t lo = json_integer_value(begin), hi = json_integer_value(end);
    if (lo < 0 || hi < lo || (uint64_t)hi > s->size - data_at)
        return fail(e, INGOT_E_FORMAT,
                    "safetensors: tensor '%.200s': data_offsets [%" PRId64 ", %" PRId64
                    ") are outside the %zu bytes of data",
                    name, (int64_t)lo, (int64_t)hi, s->size - data_at);
    if ((uint64_t)(hi - lo) != want)
        return fail(e, INGOT_E_FORMAT,
                    "safetensors: tensor '%.200s': %" PRId64
                    " bytes of data, but its dtype and shape make %zu",
                    name, (int64_t)(hi - lo), want);
    t->bytes = want;
    t->data = s->file + data_at + (size_t)lo;
    return true;
}

static int compare_data(const void *a, const void *b)
{
    const safetensors_entry *x = a, *y = b;
    uintptr_t px = (uintptr_t)x->data, py = (uintptr_t)y->data;

    if (px != py)
        return px < py ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int compare_name(const void *a, const void *b)
{
    const safetensors_entry *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static int compare_meta(const void *a, const void *b)
{
    const safetensors_meta *x = a, *y = b;

    return strcmp(x->key, y->key);
}

static bool read_meta(safetensors *s, json_t *meta, error *e)
{
    const char *key;
    json_t *value;

    if (!json_is_object(meta))
        return fail(e, INGOT_E_FORMAT, "safetensors: __metadata__ is not an object");
    s->meta = arena_array(&s->mem, json_object_size(meta), sizeof *s->meta, e);
    if (!s->meta)
        return false;
    json_object_foreach(meta, key, value)
    {
        safetensors_meta *m = &s->meta[s->n_meta];
        if (!json_is_string(value))
            return fail(e, INGOT_E_FORMAT, "safetensors: metadata '%.200s' is not a string", key);
        m->key = arena_strdup(&s->mem, key, e);
        m->value = arena_strdup(&s->mem, json_string_value(value), e);
        if (!m->key || !m->value)
            return false;
        s->n_meta++;
    }
    qsort(s->meta, s->n_meta, sizeof *s->meta, compare_meta);
    return true;
}

/* The tensors' bytes must follow each other from 0 to the end of the file. */
static bool check_layout(const safetensors *s, size_t data_at, error *e)
{
    const unsigned char *next = s->file + data_at;

    for (size_t i = 0; i < s->count; i++) {
        const safetensors_entry *t = &s->entries[i];
        if (t->data != next)
            return bad(e, t->name,
                       (const unsigned char *)t->data < next ? "overlaps the tensor before it"
                                                             : "there is a hole before it");
        next += t->bytes;
    }
    if (next != s->file + s->size)
        return fail(e, INGOT_E_FORMAT, "safetensors: %zu bytes after the last tensor",
                    (size_t)(s->file + s->size - next));
    return true;
}

static bool read_header(safetensors *s, json_t *header, size_t data_at, error *e)
{
    const char *name;
    json_t *value;
    size_t n = json_object_size(header);

    s->entries = arena_array(&s->mem, n, sizeof *s->entries, e);
    s->by_name = arena_array(&s->mem, n, sizeof *s->by_name, e);
    if (!s->entries || !s->by_name)
        return false;
    json_object_foreach(header, name, value)
    {
        if (strcmp(name, "__metadata__") == 0) {
            if (!read_meta(s, value, e))
                return false;
            continue;
        }
        if (!read_entry(s, &s->entries[s->count], name, value, data_at, e))
            return false;
        s->count++;
    }
    qsort(s->entries, s->count, sizeof *s->entries, compare_data);
    for (size_t i = 0; i < s->count; i++)
        s->by_name[i] = &s->entries[i];
    qsort(s->by_name, s->count, sizeof(void *), compare_name);
    return check_layout(s, data_at, e);
}

static bool parse(safetensors *s, error *e)
{
    json_error_t je;
    uint64_t length = 0;

    if (s->size < LENGTH_BYTES)
        return fail(e, INGOT_E_FORMAT, "safetensors: %zu bytes are too few for a header", s->size);
    for (int i = 0; i < LENGTH_BYTES; i++)
        length |= (uint64_t)s->file[i] << (8 * i);
    if (length > SAFETENSORS_HEADER_MAX)
        return fail(e, INGOT_E_FORMAT,
                    "safetensors: a header of %" PRIu64 " bytes is above the format's %zu", length,
                    SAFETENSORS_HEADER_MAX);
    if (length > s->size - LENGTH_BYTES)
        return fail(e, INGOT_E_FORMAT,
                    "safetensors: a header of %" PRIu64 " bytes in a file of %zu", length, s->size);
    if (length == 0 || s->file[LENGTH_BYTES] != '{')
        return fail(e, INGOT_E_FORMAT, "safetensors: the header does not begin with '{'");

    json_t *header = json_loadb((const char *)s->file + LENGTH_BYTES, (size_t)length,
                                JSON_REJECT_DUPLICATES, &je);
    if (!header)
        return fail(e, INGOT_E_FORMAT, "safetensors: header byte %d: %s", je.position, je.text);
    bool ok = read_header(s, header, LENGTH_BYTES + (size_t)length, e);
    json_decref(header);
    return ok;
}

bool safetensors_parse(safetensors *s, const allocator *a, const void *data, size_t size, error *e)
{
    *s = (safetensors){.file = data, .size = size};
    arena_init(&s->mem, a);
    return parse(s, e);
}

bool safetensors_open(safetensors *s, const allocator *a, const char *path, error *e)
{
    *s = (safetensors){0};
    arena_init(&s->mem, a);
    if (!file_map_open(&s->map, path, e))
        return false;
    s->file = s->map.data;
    s->size = s->map.size;
    if (!parse(s, e)) {
        error_prefix(e, "file '%s'", path);
        return false;
    }
    return true;
}

void safetensors_close(safetensors *s)
{
    arena_free(&s->mem);
    file_map_close(&s->map);
    *s = (safetensors){0};
}

const safetensors_entry *safetensors_find(const safetensors *s, const char *name)
{
    size_t lo = 0, hi = s->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(s->by_name[mid]->name, name);
        if (c == 0)
            return s->by_name[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

const char *safetensors_meta_find(const safetensors *s, const char *key)
{
    for (size_t i = 0; i < s->n_meta; i++)
        if (strcmp(s->meta[i].key, key) == 0)
            return s->meta[i].value;
    return NULL;
}

bool safetensors_verify(const safetensors *s, error *e)
{
    static const size_t digits_at = LENGTH_BYTES + sizeof CHECKSUM_PREFIX - 1;
    size_t rest_at = digits_at + CHECKSUM_DIGITS;
    char want[CHECKSUM_DIGITS + 1];
    hash_stream h;

    if (s->size < rest_at ||
        memcmp(s->file + LENGTH_BYTES, CHECKSUM_PREFIX, sizeof CHECKSUM_PREFIX - 1) != 0)
        return fail(e, INGOT_E_FORMAT, "safetensors: no checksum at the start of the header");
    hash_begin(&h);
    hash_update(&h, s->file, digits_at);
    hash_update(&h, s->file + rest_at, s->size - rest_at);
    format_digits(hash_end(&h), want);
    if (memcmp(want, s->file + digits_at, CHECKSUM_DIGITS) != 0)
        return fail(e, INGOT_E_FORMAT,
                    "safetensors: checksum %.16s does not match the contents (%s): damaged file",
                    (const char *)s->file + digits_at, want);
    return true;
}
