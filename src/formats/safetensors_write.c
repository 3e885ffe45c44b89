/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "formats/safetensors_format.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int compare_items(const void *a, const void *b)
{
    const safetensors_item *x = a, *y = b;
    size_t wx = dtype_size(x->type.dt), wy = dtype_size(y->type.dt);

    if (wx != wy)
        return wx > wy ? -1 : 1;
    if (x->type.dt != y->type.dt)
        return strcmp(dtype_name(x->type.dt), dtype_name(y->type.dt));
    return strcmp(x->name, y->name);
}

void safetensors_sort(safetensors_item *items, size_t n)
{
    if (n > 1)
        qsort(items, n, sizeof *items, compare_items);
}

static int add_json(const char *p, size_t n, void *user)
{
    error ignored = {0};

    return buffer_add(user, p, n, &ignored) ? 0 : -1;
}

/* s as a JSON string, quotes included. */
static bool add_string(buffer *b, const char *s, const char *what, error *e)
{
    json_t *j = json_string(s);

    if (!j)
        return fail(e, INGOT_E_ARGUMENT, "safetensors: %s is not valid UTF-8", what);
    int rc = json_dump_callback(j, add_json, b, JSON_ENCODE_ANY);
    json_decref(j);
    return rc == 0 ? true : fail_memory(e, strlen(s), "a safetensors header");
}

static bool add_item(buffer *b, const safetensors_item *t, uint64_t *at, error *e)
{
    if (!type_check(&t->type, e))
        return false;
    if (type_symbolic(&t->type))
        return fail(e, INGOT_E_ARGUMENT, "safetensors: tensor '%.200s' has no fixed shape",
                    t->name);
    if (!t->data && type_bytes(&t->type) > 0)
        return fail(e, INGOT_E_ARGUMENT, "safetensors: tensor '%.200s' has no data", t->name);
    uint64_t end = *at + type_bytes(&t->type);
    if (!add_string(b, t->name, "a tensor's name", e) ||
        !buffer_printf(b, e, ":{\"dtype\":\"%s\",\"shape\":[", format_dtype_name(t->type.dt)))
        return false;
    for (int i = 0; i < t->type.rank; i++)
        if (!buffer_printf(b, e, "%s%" PRId64, i ? "," : "", t->type.dim[i]))
            return false;
    if (!buffer_printf(b, e, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *at, end))
        return false;
    *at = end;
    return true;
}

static int compare_pointers(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

static bool check_duplicates(const allocator *a, const safetensors_item *items, size_t n, error *e)
{
    const char **names = mem_new_array(a, n, sizeof *names, "names of tensors", e);
    bool ok = names != NULL;

    for (size_t i = 0; ok && i < n; i++)
        names[i] = items[i].name;
    if (ok && n > 1)
        qsort(names, n, sizeof *names, compare_pointers);
    for (size_t i = 0; ok && i < n; i++)
        if (strcmp(names[i], "__metadata__") == 0 || (i && strcmp(names[i - 1], names[i]) == 0))
            ok = fail(e, INGOT_E_ARGUMENT, "safetensors: tensor name '%.200s' is taken", names[i]);
    mem_free(a, names, n * sizeof *names);
    return ok;
}

/* The header with the checksum's digits still zeros, padded with spaces to 8 bytes. */
static bool make_header(buffer *b, const safetensors_item *items, size_t n,
                        const safetensors_meta *meta, size_t n_meta, error *e)
{
    uint64_t at = 0;

    if (!buffer_printf(b, e, CHECKSUM_PREFIX "%016d\"", 0))
        return false;
    for (size_t i = 0; i < n_meta; i++)
        if (!buffer_add(b, ",", 1, e) || !add_string(b, meta[i].key, "a metadata key", e) ||
            !buffer_add(b, ":", 1, e) || !add_string(b, meta[i].value, "a metadata value", e))
            return false;
    if (!buffer_add(b, "}", 1, e))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!buffer_add(b, ",", 1, e) || !add_item(b, &items[i], &at, e))
            return false;
    if (!buffer_add(b, "}", 1, e))
        return false;
    while (b->len % 8 != 0)
        if (!buffer_add(b, " ", 1, e))
            return false;
    return true;
}

static uint64_t checksum(const unsigned char length[LENGTH_BYTES], const buffer *header,
                         const safetensors_item *items, size_t n)
{
    size_t digits_at = sizeof CHECKSUM_PREFIX - 1, rest_at = digits_at + CHECKSUM_DIGITS;
    hash_stream h;

    hash_begin(&h);
    hash_update(&h, length, LENGTH_BYTES);
    hash_update(&h, header->data, digits_at);
    hash_update(&h, header->data + rest_at, header->len - rest_at);
    for (size_t i = 0; i < n; i++)
        hash_update(&h, items[i].data, type_bytes(&items[i].type));
    return hash_end(&h);
}

static bool write_all(file_writer *w, const unsigned char length[LENGTH_BYTES],
                      const buffer *header, const safetensors_item *items, size_t n, error *e)
{
    if (!file_writer_write(w, length, LENGTH_BYTES, e) ||
        !file_writer_write(w, header->data, header->len, e))
        return false;
    for (size_t i = 0; i < n; i++)
        if (type_bytes(&items[i].type) > 0 &&
            !file_writer_write(w, items[i].data, type_bytes(&items[i].type), e))
            return false;
    return true;
}

/* There are few entries. */
static bool check_meta(const safetensors_meta *meta, size_t n, error *e)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(meta[i].key, CHECKSUM_KEY) == 0)
            return fail(e, INGOT_E_ARGUMENT,
                        "safetensors: metadata \"" CHECKSUM_KEY "\" is the writer's own");
        for (size_t k = 0; k < i; k++)
            if (strcmp(meta[i].key, meta[k].key) == 0)
                return fail(e, INGOT_E_ARGUMENT, "safetensors: metadata \"%s\" is given twice",
                            meta[i].key);
    }
    return true;
}

bool safetensors_write(const char *path, const allocator *a, const safetensors_item *items,
                       size_t n, const safetensors_meta *meta, size_t n_meta, error *e)
{
    unsigned char length[LENGTH_BYTES];
    char digits[CHECKSUM_DIGITS + 1];
    file_writer w = {0};
    buffer header;
    bool ok = false;

    buffer_init(&header, a, SAFETENSORS_HEADER_MAX);
    if (!check_duplicates(a, items, n, e) || !check_meta(meta, n_meta, e) ||
        !make_header(&header, items, n, meta, n_meta, e)) {
        error_prefix(e, "file '%s'", path);
        goto done;
    }
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)((uint64_t)header.len >> (8 * i));
    format_digits(checksum(length, &header, items, n), digits);
    memcpy(header.data + sizeof CHECKSUM_PREFIX - 1, digits, CHECKSUM_DIGITS);
    if (!file_writer_open(&w, a, path, e))
        goto done;
    if (!write_all(&w, length, &header, items, n, e)) {
        file_writer_abort(&w);
        goto done;
    }
    ok = file_writer_commit(&w, e);
done:
    buffer_free(&header);
    return ok;
}
