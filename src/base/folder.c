/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Makes one folder; one that exists is fine, whoever made it. */
static bool make_one(const char *path, error *e)
{
    if (mkdir(path, 0777) == 0)
        return true;
    if (errno == EEXIST && file_is_folder(path))
        return true;
    return fail_errno(e, "folder '%s': making", path);
}

bool folder_make(const char *path, error *e)
{
    char *part;
    bool ok = true;

    if (!*path)
        return fail(e, INGOT_E_ARGUMENT, "folder '': an empty path");
    if (file_is_folder(path))
        return true;
    part = mem_strdup(NULL, path, e);
    if (!part)
        return false;
    for (char *s = part + 1; ok && *s; s++) {
        if (*s != '/' || s[-1] == '/')
            continue;
        *s = '\0';
        ok = make_one(part, e);
        *s = '/';
    }
    ok = ok && make_one(part, e);
    mem_strfree(NULL, part);
    return ok;
}

static int by_bytes(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

static bool read_names(folder_list *l, DIR *d, const char *path, error *e)
{
    char **names = NULL;
    size_t n = 0, cap = 0;
    bool ok = false;

    for (;;) {
        struct dirent *entry;
        void *v = names;

        errno = 0;
        entry = readdir(d);
        if (!entry) {
            ok = errno == 0 || fail_errno(e, "folder '%s': reading", path);
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!vec_reserve(l->mem.alloc, &v, sizeof(char *), n + 1, &cap, "a folder's names", e))
            break;
        names = v;
        names[n] = arena_strdup(&l->mem, entry->d_name, e);
        if (!names[n])
            break;
        n++;
    }
    if (ok) {
        l->names = arena_copy(&l->mem, names, n * sizeof(char *), e);
        l->count = n;
        ok = l->names != NULL;
    }
    mem_free(l->mem.alloc, names, cap * sizeof(char *));
    return ok;
}

bool folder_list_read(folder_list *l, const allocator *a, const char *path, error *e)
{
    DIR *d;
    bool ok;

    *l = (folder_list){0};
    arena_init(&l->mem, a);
    d = opendir(path);
    if (!d)
        return fail_errno(e, "folder '%s'", path);
    ok = read_names(l, d, path, e);
    closedir(d);
    if (!ok)
        folder_list_free(l);
    else if (l->count > 1)
        qsort(l->names, l->count, sizeof(char *), by_bytes);
    return ok;
}

void folder_list_free(folder_list *l)
{
    arena_free(&l->mem);
    l->names = NULL;
    l->count = 0;
}
