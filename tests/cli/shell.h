/* SPDX-License-Identifier: Apache-2.0 */
/* Commands run in a folder of the test's own, and data made for them. */
#ifndef TESTS_CLI_SHELL_H
#define TESTS_CLI_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shell {
    const char *ingot; /* path of the command */
    char folder[64];
    char out[65536]; /* what the last command wrote to both streams */
} shell;

void shell_open(shell *s, const char *ingot);
void shell_close(shell *s);
/* Runs a shell command in the folder; "@" stands for the command under test. Returns its exit
   status, 128 + n when signal n ended it. */
int shell_run(shell *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Asserts status and, unless NULL, that the output contains text. */
void shell_expect(shell *s, int status, const char *text, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Starts it in the background: its process. */
int shell_start(shell *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Waits for that; exit status as above. */
int shell_wait(int pid);

/* A file's bytes (free them), asserted to exist. */
unsigned char *shell_read(const shell *s, const char *name, size_t *n);
void shell_write(const shell *s, const char *name, const void *p, size_t n);
bool shell_exists(const shell *s, const char *name);
void shell_same(const shell *s, const char *a, const char *b);

/* IDX files in `folder`: pictures of `side` x `side` with a bright bar whose place tells one of
   three classes, and noise; a training set of `train` and a test set of `test`. */
void shell_make_data(shell *s, const char *folder, int side, int train, int test);

#endif
