/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_sys.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The one exception to "no mutable state outside a context": a test's fault hook. It is NULL
   unless a test of this thread set it, and thread-local, so that no other thread sees it. */
static _Thread_local struct {
    file_fault_fn fn;
    void *user;
} fault;

void file_fault_set(file_fault_fn fn, void *user)
{
    fault.fn = fn;
    fault.user = user;
}

static bool faulty(const char *call)
{
    if (!fault.fn || !fault.fn(fault.user, call))
        return false;
    errno = EIO;
    return true;
}

int sys_open(const char *path, sys_how how, mode_t mode)
{
    /* O_NONBLOCK: opening a pipe that nobody writes must not hang; files ignore it. */
    static const int flags[] = {
        [SYS_READ] = O_RDONLY | O_NONBLOCK,
        [SYS_CREATE] = O_WRONLY | O_CREAT | O_EXCL,
        [SYS_FOLDER] = O_RDONLY | O_DIRECTORY,
    };
    int fd;

    if (faulty("open"))
        return -1;
    do
        fd = open(path, flags[how] | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

ssize_t sys_read(int fd, void *p, size_t n)
{
    ssize_t got;

    if (faulty("read"))
        return -1;
    if (n > SSIZE_MAX)
        n = SSIZE_MAX;
    do
        got = read(fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t sys_write(int fd, const void *p, size_t n)
{
    ssize_t done;

    if (faulty("write"))
        return -1;
    if (n > SSIZE_MAX)
        n = SSIZE_MAX;
    do
        done = write(fd, p, n);
    while (done < 0 && errno == EINTR);
    return done;
}

int sys_fsync(int fd)
{
    int rc;

    if (faulty("fsync"))
        return -1;
    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc;
}

int sys_rename(const char *from, const char *to)
{
    if (faulty("rename"))
        return -1;
    return rename(from, to);
}

void *sys_map(int fd, size_t n)
{
    void *p;

    if (faulty("mmap"))
        return NULL;
    p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}
