/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, mapping and atomic replacement of files. */
#include "base/file.h"

#include "base/file_sys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK   ((size_t)64 << 10)
#define WRITE_BUFFER ((size_t)256 << 10)
#define TMP_TRIES    1000

bool file_map_open(file_map *m, const char *path, error *e)
{
    struct stat st;
    int fd;

    *m = (file_map){.data = (const unsigned char *)""};
    fd = sys_open(path, SYS_READ, 0);
    if (fd < 0)
        return fail_errno(e, "file '%s'", path);
    if (fstat(fd, &st) != 0) {
        fail_errno(e, "file '%s'", path);
        goto failed;
    }
    if (!S_ISREG(st.st_mode)) {
        fail(e, INGOT_E_IO, "file '%s': not a regular file", path);
        goto failed;
    }
    if ((uintmax_t)st.st_size > SIZE_MAX) {
        fail(e, INGOT_E_IO, "file '%s': %jd bytes are more than this machine can map", path,
             (intmax_t)st.st_size);
        goto failed;
    }
    if (st.st_size > 0) {
        m->base = sys_map(fd, (size_t)st.st_size);
        if (!m->base) {
            fail_errno(e, "file '%s': mapping %jd bytes", path, (intmax_t)st.st_size);
            goto failed;
        }
        m->data = m->base;
        m->size = (size_t)st.st_size;
    }
    close(fd);
    return true;
failed:
    close(fd);
    return false;
}

void file_map_close(file_map *m)
{
    if (m->base)
        munmap(m->base, m->size);
    *m = (file_map){0};
}

bool file_read(const char *path, buffer *b, error *e)
{
    size_t start = b->len, max = b->max ? b->max : BUFFER_MAX;
    int fd = sys_open(path, SYS_READ, 0);
    ssize_t got;

    if (fd < 0)
        return fail_errno(e, "file '%s'", path);
    do {
        size_t room = max - b->len < READ_CHUNK ? max - b->len : READ_CHUNK;
        char extra;

        if (!buffer_reserve(b, room, e)) {
            error_prefix(e, "file '%s'", path);
            goto failed;
        }
        got = room ? sys_read(fd, b->data + b->len, room) : sys_read(fd, &extra, 1);
        if (got < 0) {
            fail_errno(e, "file '%s': reading at byte %zu", path, b->len - start);
            goto failed;
        }
        if (got > 0 && !room) {
            fail(e, INGOT_E_FORMAT, "file '%s': longer than the %zu bytes that are allowed", path,
                 max - start);
            goto failed;
        }
        b->len += (size_t)got;
    } while (got > 0);
    b->data[b->len] = '\0';
    close(fd);
    return true;
failed:
    close(fd);
    b->len = start;
    if (b->data)
        b->data[start] = '\0';
    return false;
}

bool file_writer_open(file_writer *w, const allocator *a, const char *path, error *e)
{
    size_t len = strlen(path) + 48;

    *w = (file_writer){.alloc = a, .fd = -1};
    w->path = mem_strdup(a, path, e);
    w->tmp_size = len;
    w->tmp = mem_new(a, len, "a file name", e);
    w->buf = mem_new(a, WRITE_BUFFER, "a write buffer", e);
    if (!w->path || !w->tmp || !w->buf)
        goto failed;
    for (int n = 0; n < TMP_TRIES && w->fd < 0; n++) {
        (void)snprintf(w->tmp, len, "%s.tmp.%ld.%d", path, (long)getpid(), n);
        w->fd = sys_open(w->tmp, SYS_CREATE, 0666);
        if (w->fd < 0 && errno != EEXIST)
            break;
    }
    if (w->fd < 0) {
        fail_errno(e, "file '%s': creating '%s'", path, w->tmp);
        goto failed;
    }
    w->open = true;
    return true;
failed:
    file_writer_abort(w);
    return false;
}

/* Writes all of p; says how far it came when the disk is full. */
static bool write_all(file_writer *w, const unsigned char *p, size_t n, error *e)
{
    while (n > 0) {
        ssize_t done = sys_write(w->fd, p, n);

        if (done == 0)
            errno = ENOSPC;
        if (done <= 0)
            return fail_errno(e, "file '%s': writing %zu bytes at byte %" PRIu64, w->path, n,
                              w->written);
        p += done;
        n -= (size_t)done;
        w->written += (uint64_t)done;
    }
    return true;
}

bool file_writer_write(file_writer *w, const void *p, size_t n, error *e)
{
    if (!w->open)
        return fail(e, INGOT_E_STATE, "file writer: not open");
    if (n == 0)
        return true;
    if (n > WRITE_BUFFER - w->buf_len) {
        if (!write_all(w, w->buf, w->buf_len, e))
            return false;
        w->buf_len = 0;
    }
    if (n >= WRITE_BUFFER)
        return write_all(w, p, n, e);
    memcpy(w->buf + w->buf_len, p, n);
    w->buf_len += n;
    return true;
}

/* Opens the folder that holds path, to make the rename durable. */
static int open_parent(const char *path, const allocator *a, error *e)
{
    const char *slash = strrchr(path, '/');
    char *parent = mem_strdup(a, path, e);
    int fd;

    if (!parent)
        return -1;
    if (!slash)
        fd = sys_open(".", SYS_FOLDER, 0);
    else {
        char keep;
        size_t len = slash == path ? 1 : (size_t)(slash - path);

        keep = parent[len];
        parent[len] = '\0';
        fd = sys_open(parent, SYS_FOLDER, 0);
        parent[len] = keep;
    }
    if (fd < 0)
        fail_errno(e, "file '%s': opening its folder", path);
    mem_strfree(a, parent);
    return fd;
}

bool file_writer_commit(file_writer *w, error *e)
{
    bool ok = false;
    int folder = -1;

    if (!w->open)
        return fail(e, INGOT_E_STATE, "file writer: not open");
    if (!write_all(w, w->buf, w->buf_len, e))
        goto done;
    w->buf_len = 0;
    folder = open_parent(w->path, w->alloc, e);
    if (folder < 0)
        goto done;
    if (sys_fsync(w->fd) != 0) {
        fail_errno(e, "file '%s': flushing %" PRIu64 " bytes to disk", w->path, w->written);
        goto done;
    }
    if (sys_rename(w->tmp, w->path) != 0) {
        fail_errno(e, "file '%s': replacing it by '%s'", w->path, w->tmp);
        goto done;
    }
    w->tmp[0] = '\0'; /* it is the file now: nothing to remove */
    /* Some file systems cannot sync a folder and say so with EINVAL: the data is safe then. */
    if (sys_fsync(folder) != 0 && errno != EINVAL) {
        fail_errno(e, "file '%s': flushing its folder to disk", w->path);
        goto done;
    }
    ok = true;
done:
    if (folder >= 0)
        close(folder);
    file_writer_abort(w);
    return ok;
}

void file_writer_abort(file_writer *w)
{
    if (w->open) {
        close(w->fd);
        if (w->tmp[0])
            unlink(w->tmp);
    }
    mem_strfree(w->alloc, w->path);
    mem_free(w->alloc, w->tmp, w->tmp_size);
    mem_free(w->alloc, w->buf, WRITE_BUFFER);
    *w = (file_writer){0};
}

bool file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

bool file_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_size(const char *path, uint64_t *size, error *e)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return fail_errno(e, "file '%s'", path);
    if (!S_ISREG(st.st_mode))
        return fail(e, INGOT_E_IO, "file '%s': not a regular file", path);
    *size = (uint64_t)st.st_size;
    return true;
}

bool file_remove(const char *path, error *e)
{
    return unlink(path) == 0 || fail_errno(e, "file '%s': removing", path);
}
