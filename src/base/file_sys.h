/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls of file.c: interrupted ones are repeated, and fault tests can make each fail.
   Private to base. */
#ifndef BASE_FILE_SYS_H
#define BASE_FILE_SYS_H

#include <stddef.h>
#include <sys/types.h>

typedef enum sys_how { SYS_READ, SYS_CREATE, SYS_FOLDER } sys_how;

/* As the calls they are named for: -1 and errno on failure. */
int sys_open(const char *path, sys_how how, mode_t mode);
ssize_t sys_read(int fd, void *p, size_t n);
ssize_t sys_write(int fd, const void *p, size_t n);
int sys_fsync(int fd);
int sys_rename(const char *from, const char *to);
void *sys_map(int fd, size_t n); /* read-only, shared; NULL on failure */

#endif
