/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/idx.h"

#include "base/file.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#define IDX_HEADER_MAX (4 + 4 * MAX_RANK)

/* Reads bytes in order, from memory or from an archive as it is unpacked. */
typedef struct source {
    const unsigned char *at;
    size_t left;
    z_stream *zip; /* NULL = plain */
    const char *path;
    error *e;
} source;

static bool unpack(source *s, unsigned char *to, size_t n)
{
    z_stream *z = s->zip;

    while (n > 0) {
        uInt want = n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)n;
        int err;

        z->next_out = to;
        z->avail_out = want;
        err = inflate(z, Z_NO_FLUSH);
        to += want - z->avail_out;
        n -= want - z->avail_out;
        if (err == Z_STREAM_END && n > 0)
            return fail(s->e, INGOT_E_FORMAT, "%s: IDX: %zu bytes are missing at its end", s->path,
                        n);
        if (err != Z_OK && err != Z_STREAM_END)
            return fail(s->e, INGOT_E_FORMAT, "%s: gzip: %s", s->path,
                        z->msg               ? z->msg
                        : err == Z_BUF_ERROR ? "it is cut short"
                                             : "damaged");
    }
    return true;
}

static bool take(source *s, unsigned char *to, size_t n)
{
    if (s->zip)
        return unpack(s, to, n);
    if (n > s->left)
        return fail(s->e, INGOT_E_FORMAT, "%s: IDX: %zu bytes are missing at its end", s->path,
                    n - s->left);
    if (n)
        memcpy(to, s->at, n);
    s->at += n;
    s->left -= n;
    return true;
}

/* Nothing may follow; in an archive its own checksum is checked on the way. */
static bool at_end(source *s)
{
    unsigned char extra;
    int err;

    if (!s->zip)
        return s->left == 0 ||
               fail(s->e, INGOT_E_FORMAT, "%s: IDX: %zu bytes follow its end", s->path, s->left);
    s->zip->next_out = &extra;
    s->zip->avail_out = 1;
    err = inflate(s->zip, Z_FINISH);
    if (s->zip->avail_out == 0)
        return fail(s->e, INGOT_E_FORMAT, "%s: IDX: bytes follow its end", s->path);
    if (err != Z_STREAM_END)
        return fail(s->e, INGOT_E_FORMAT, "%s: gzip: %s", s->path,
                    s->zip->msg ? s->zip->msg : "it is cut short");
    return s->zip->avail_in == 0 ||
           fail(s->e, INGOT_E_FORMAT, "%s: gzip: bytes follow its end", s->path);
}

static bool dtype_of_code(unsigned char code, dtype *dt)
{
    switch (code) {
    case 0x08:
        *dt = INGOT_U8;
        return true;
    case 0x09:
        *dt = INGOT_I8;
        return true;
    case 0x0b:
        *dt = INGOT_I16;
        return true;
    case 0x0c:
        *dt = INGOT_I32;
        return true;
    case 0x0d:
        *dt = INGOT_F32;
        return true;
    case 0x0e:
        *dt = INGOT_F64;
        return true;
    default:
        return false;
    }
}

static bool read_header(source *s, type *t)
{
    unsigned char h[IDX_HEADER_MAX];

    *t = (type){0};
    if (!take(s, h, 4))
        return false;
    if (h[0] || h[1] || !dtype_of_code(h[2], &t->dt))
        return fail(s->e, INGOT_E_FORMAT, "%s: no IDX file: it begins with %02x %02x %02x %02x",
                    s->path, h[0], h[1], h[2], h[3]);
    if (h[3] < 1 || h[3] > MAX_RANK)
        return fail(s->e, INGOT_E_FORMAT, "%s: IDX: %d dimensions; 1 to %d are taken", s->path,
                    h[3], MAX_RANK);
    t->rank = h[3];
    if (!take(s, h, 4 * (size_t)t->rank))
        return false;
    for (int i = 0; i < t->rank; i++)
        t->dim[i] = (int64_t)h[4 * i] << 24 | (int64_t)h[4 * i + 1] << 16 |
                    (int64_t)h[4 * i + 2] << 8 | h[4 * i + 3];
    if (!type_check(t, s->e) || type_bytes(t) > IDX_BYTES_MAX) {
        error_clear(s->e);
        return fail(s->e, INGOT_E_FORMAT, "%s: IDX: the header claims more than %zu bytes", s->path,
                    IDX_BYTES_MAX);
    }
    return true;
}

static void to_native(unsigned char *p, size_t bytes, size_t width)
{
    const uint16_t one = 1;
    unsigned char little;

    memcpy(&little, &one, 1);
    if (!little)
        return;
    for (size_t i = 0; i + width <= bytes; i += width)
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char t = p[i + k];

            p[i + k] = p[i + width - 1 - k];
            p[i + width - 1 - k] = t;
        }
}

/* Reads in pieces, so that a header which claims too much costs no more memory than the file has
   bytes to give. */
static bool read_elements(source *s, idx_file *f)
{
    const size_t piece = (size_t)1 << 24;
    size_t want = type_bytes(&f->type);

    while (f->bytes < want) {
        size_t n = want - f->bytes < piece ? want - f->bytes : piece, now = f->bytes + n;
        unsigned char *p = mem_resize(f->alloc, f->data, f->bytes, now, "IDX elements", s->e);

        if (!p)
            return false;
        f->data = p;
        p += f->bytes;
        f->bytes = now;
        if (!take(s, p, n))
            return false;
    }
    to_native(f->data, f->bytes, dtype_size(f->type.dt));
    return at_end(s);
}

static bool read_source(idx_file *f, const allocator *a, source *s)
{
    *f = (idx_file){.alloc = a};
    if (read_header(s, &f->type) && read_elements(s, f))
        return true;
    idx_free(f);
    return false;
}

bool idx_parse(idx_file *f, const allocator *a, const unsigned char *bytes, size_t size,
               const char *path, error *e)
{
    source s = {.at = bytes, .left = size, .path = path, .e = e};

    return read_source(f, a, &s);
}

static bool read_gzip(idx_file *f, const allocator *a, const file_map *map, const char *path,
                      error *e)
{
    z_stream z = {0};
    source s = {.zip = &z, .path = path, .e = e};
    bool ok;

    *f = (idx_file){0};
    if (map->size > UINT32_MAX)
        return fail(e, INGOT_E_FORMAT, "%s: gzip: larger than 4 GiB; unpack it first", path);
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return fail(e, INGOT_E_MEMORY, "%s: gzip: no memory", path);
    z.next_in = (z_const Bytef *)map->data;
    z.avail_in = (uInt)map->size;
    ok = read_source(f, a, &s);
    (void)inflateEnd(&z);
    return ok;
}

bool idx_read(idx_file *f, const allocator *a, const char *path, error *e)
{
    file_map map;
    bool ok;

    *f = (idx_file){0};
    if (!file_map_open(&map, path, e))
        return false;
    if (map.size >= 2 && map.data[0] == 0x1f && map.data[1] == 0x8b)
        ok = read_gzip(f, a, &map, path, e);
    else
        ok = idx_parse(f, a, map.data, map.size, path, e);
    file_map_close(&map);
    return ok;
}

void idx_free(idx_file *f)
{
    mem_free(f->alloc, f->data, f->bytes);
    *f = (idx_file){0};
}
