/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/shell.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void shell_open(shell *s, const char *ingot)
{
    memset(s, 0, sizeof *s);
    s->ingot = ingot;
    (void)snprintf(s->folder, sizeof s->folder, "/tmp/ingot_cli_XXXXXX");
    assert_non_null(mkdtemp(s->folder));
}

void shell_close(shell *s)
{
    assert_int_equal(shell_run(s, "rm -rf %s", s->folder), 0);
}

/* fmt with "@" replaced by the command's path. */
__attribute__((format(printf, 4, 0))) static void
command_text(const shell *s, char *out, size_t size, const char *fmt, va_list ap)
{
    char text[4096];
    size_t n = 0;

    (void)vsnprintf(text, sizeof text, fmt, ap);
    for (const char *p = text; *p && n + 512 < size; p++)
        if (*p == '@')
            n += (size_t)snprintf(out + n, size - n, "%s", s->ingot);
        else
            out[n++] = *p;
    out[n] = '\0';
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_text(shell *s, const char *text)
{
    char line[16384];
    size_t n;
    FILE *f;

    (void)snprintf(line, sizeof line, "cd %s && { %s ; } 2>&1", s->folder, text);
    f = popen(line, "r");
    assert_non_null(f);
    n = fread(s->out, 1, sizeof s->out - 1, f);
    s->out[n] = '\0';
    return exit_status(pclose(f));
}

int shell_run(shell *s, const char *fmt, ...)
{
    char text[8192];
    va_list ap;

    va_start(ap, fmt);
    command_text(s, text, sizeof text, fmt, ap);
    va_end(ap);
    return run_text(s, text);
}

void shell_expect(shell *s, int status, const char *want, const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    int got;

    va_start(ap, fmt);
    command_text(s, text, sizeof text, fmt, ap);
    va_end(ap);
    got = run_text(s, text);
    if (got != status || (want && !strstr(s->out, want)))
        fail_msg("%s\nstatus %d, expected %d%s%s; it wrote:\n%s", text, got, status,
                 want ? " and the text: " : "", want ? want : "", s->out);
}

int shell_start(shell *s, const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    pid_t pid;

    va_start(ap, fmt);
    command_text(s, text, sizeof text, fmt, ap);
    va_end(ap);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char line[9000];

        /* exec: the process is the command's own, for signals to reach it */
        (void)snprintf(line, sizeof line, "cd %s && exec %s >/dev/null 2>&1", s->folder, text);
        (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    return (int)pid;
}

int shell_wait(int pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return exit_status(status);
}

static FILE *open_in(const shell *s, const char *name, const char *how)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", s->folder, name);
    return fopen(path, how);
}

unsigned char *shell_read(const shell *s, const char *name, size_t *n)
{
    FILE *f = open_in(s, name, "rb");
    unsigned char *p;
    long size;

    if (!f)
        fail_msg("%s: not there", name);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    rewind(f);
    p = malloc((size_t)size + 1);
    assert_non_null(p);
    *n = fread(p, 1, (size_t)size, f);
    (void)fclose(f);
    return p;
}

void shell_write(const shell *s, const char *name, const void *p, size_t n)
{
    FILE *f = open_in(s, name, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

bool shell_exists(const shell *s, const char *name)
{
    FILE *f = open_in(s, name, "rb");

    if (f)
        (void)fclose(f);
    return f != NULL;
}

void shell_same(const shell *s, const char *a, const char *b)
{
    size_t n, m;
    unsigned char *p = shell_read(s, a, &n), *q = shell_read(s, b, &m);

    if (n != m || memcmp(p, q, n) != 0)
        fail_msg("%s and %s differ", a, b);
    free(p);
    free(q);
}

static void big_endian(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (24 - 8 * i));
}

static void make_set(shell *s, const char *folder, const char *set, int side, int count, int seed)
{
    size_t pixels = (size_t)side * (size_t)side;
    unsigned char *x = malloc(16 + pixels * (size_t)count), *y = malloc(8 + (size_t)count);
    rng_key key = rng_seed((uint64_t)seed);
    char name[128];

    assert_true(x && y);
    big_endian(x, 0x803);
    big_endian(x + 4, (uint32_t)count);
    big_endian(x + 8, (uint32_t)side);
    big_endian(x + 12, (uint32_t)side);
    big_endian(y, 0x801);
    big_endian(y + 4, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        int label = i % 3, bar = label * side / 3;
        unsigned char *p = x + 16 + pixels * (size_t)i;

        y[8 + i] = (unsigned char)label;
        for (size_t k = 0; k < pixels; k++) {
            uint64_t noise = rng_below(key, (uint64_t)i * pixels + k, 140);
            int row = (int)(k / (size_t)side);

            p[k] = (unsigned char)(noise + (row >= bar && row < bar + 2 ? 100 : 0));
        }
    }
    (void)snprintf(name, sizeof name, "%s/%s-images-idx3-ubyte", folder, set);
    shell_write(s, name, x, 16 + pixels * (size_t)count);
    (void)snprintf(name, sizeof name, "%s/%s-labels-idx1-ubyte", folder, set);
    shell_write(s, name, y, 8 + (size_t)count);
    free(x);
    free(y);
}

void shell_make_data(shell *s, const char *folder, int side, int train, int test)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", s->folder, folder);
    assert_int_equal(mkdir(path, 0777), 0);
    make_set(s, folder, "train", side, train, 1);
    make_set(s, folder, "t10k", side, test, 2);
}
