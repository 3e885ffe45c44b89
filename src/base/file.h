/* SPDX-License-Identifier: Apache-2.0 */
/* Files: whole-file reading, mapping, atomic replacement, folders. Paths are UTF-8 bytes. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/memory.h"

/* A read-only view of a whole file, mapped. size 0 gives data pointing at an empty string. */
typedef struct file_map {
    const unsigned char *data;
    size_t size;
    void *base; /* private */
} file_map;

bool file_map_open(file_map *m, const char *path, error *e); /* refuses folders and devices */
void file_map_close(file_map *m);                            /* zeroed map allowed */

/* Reads a whole file into *b (appending); more than b->max bytes is an error naming both. */
bool file_read(const char *path, buffer *b, error *e);

/* Writes to "path.tmp.PID.N" beside path; commit flushes, fsyncs, renames over path and fsyncs the
   folder. Until the rename the old file is intact, after it the new one is whole: when the last
   step fails, commit returns false though the new file is in place. commit ends the writer
   whatever it returns and leaves no temporary file. abort removes the temporary file; abort after
   commit or on a zeroed writer does nothing. */
typedef struct file_writer {
    const allocator *alloc;
    char *path, *tmp;
    size_t tmp_size;
    int fd;
    bool open;
    uint64_t written;
    unsigned char *buf;
    size_t buf_len;
} file_writer;

bool file_writer_open(file_writer *w, const allocator *a, const char *path, error *e);
bool file_writer_write(file_writer *w, const void *p, size_t n, error *e);
bool file_writer_commit(file_writer *w, error *e);
void file_writer_abort(file_writer *w);

bool file_exists(const char *path);
bool file_is_folder(const char *path);
bool file_size(const char *path, uint64_t *size, error *e);
bool file_remove(const char *path, error *e);
bool folder_make(const char *path, error *e); /* with parents; an existing one is fine */

/* Names in a folder, sorted by byte value, without "." and ".."; hidden ones included. */
typedef struct folder_list {
    char **names;
    size_t count;
    arena mem;
} folder_list;
bool folder_list_read(folder_list *l, const allocator *a, const char *path, error *e);
void folder_list_free(folder_list *l);

/* Hooks for fault tests: when set, called before each system call of this file with its name
   ("open" "read" "mmap" "write" "fsync" "rename"); true = pretend it failed with EIO. Null otherwise.
   The hook travels in the thread, not in a global: tests set it around one call. */
typedef bool (*file_fault_fn)(void *user, const char *call);
void file_fault_set(file_fault_fn fn, void *user); /* thread-local, tests only */

#endif
