/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without libFuzzer: fuzz_NAME SECONDS FILE-OR-FOLDER… replays each file, then
   mutates them until the time is up. The mutations are the same in every run. */
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "fuzz.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEDS_MAX 4096
#define INPUT_MAX 65536

typedef struct seeds {
    buffer v[SEEDS_MAX];
    int n;
} seeds;

static bool add_file(seeds *s, const char *path)
{
    error e = {0};

    if (s->n == SEEDS_MAX)
        return true;
    buffer_init(&s->v[s->n], NULL, INPUT_MAX);
    if (!file_read(path, &s->v[s->n], &e)) {
        (void)fprintf(stderr, "%s\n", e.text);
        return false;
    }
    s->n++;
    return true;
}

static bool add_path(seeds *s, const char *path)
{
    folder_list l = {0};
    char file[4096];
    error e = {0};
    bool ok = true;

    if (!file_is_folder(path))
        return add_file(s, path);
    if (!folder_list_read(&l, NULL, path, &e)) {
        (void)fprintf(stderr, "%s\n", e.text);
        return false;
    }
    for (size_t i = 0; ok && i < l.count; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", path, l.names[i]);
        ok = add_file(s, file);
    }
    folder_list_free(&l);
    return ok;
}

/* What runs now, for the handler below. */
static const uint8_t *running;
static size_t running_size;

/* The input that brings a target down is left as ./fuzz-crash: it becomes a seed. */
static void on_crash(int number)
{
    int fd = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd >= 0 && write(fd, running, running_size) == (ssize_t)running_size)
        (void)close(fd);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* A heap copy of the exact size, so that a sanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);

    if (!copy)
        return;
    memcpy(copy, data, n);
    running = copy;
    running_size = n;
    (void)LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static size_t mutate(rng_key k, const seeds *s, uint8_t *out)
{
    const buffer *a = &s->v[rng_below(k, 0, (uint64_t)s->n)];
    const buffer *b = &s->v[rng_below(k, 1, (uint64_t)s->n)];
    size_t n = a->len;
    uint64_t edits = 1 + rng_below(k, 2, 8);

    memcpy(out, a->data, n);
    for (uint64_t i = 0; i < edits; i++) {
        uint64_t at = n ? rng_below(k, 8 * i + 4, n) : 0, pick = rng_u64(k, 8 * i + 5);
        switch (rng_below(k, 8 * i + 6, 5)) {
        case 0: /* flip a bit */
            if (n)
                out[at] = (uint8_t)(out[at] ^ 1U << pick % 8);
            break;
        case 1: /* set a byte */
            if (n)
                out[at] = (uint8_t)pick;
            break;
        case 2: /* cut */
            n = at;
            break;
        case 3: /* drop some bytes */
            if (n) {
                size_t drop = pick % 16 < n - at ? pick % 16 : n - at;
                memmove(out + at, out + at + drop, n - at - drop);
                n -= drop;
            }
            break;
        default: /* the tail of another seed */
            if (b->len > 0) {
                size_t from = pick % b->len, m = b->len - from;
                m = m < INPUT_MAX - at ? m : INPUT_MAX - at;
                memcpy(out + at, b->data + from, m);
                n = at + m;
            }
            break;
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    static seeds s;
    static uint8_t input[INPUT_MAX];
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    uint64_t n = 0, end = clock_ns() + (uint64_t)(seconds * 1e9);

    (void)signal(SIGABRT, on_crash);
    (void)signal(SIGSEGV, on_crash);
    for (int i = 2; i < argc; i++)
        if (!add_path(&s, argv[i]))
            return 1;
    if (s.n == 0) {
        (void)fprintf(stderr, "usage: %s SECONDS SEED…\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < s.n; i++)
        run((const uint8_t *)s.v[i].data, s.v[i].len);
    for (; clock_ns() < end; n++)
        run(input, mutate(rng_split(rng_seed(1), n), &s, input));
    (void)printf("%d seeds and %llu mutations\n", s.n, (unsigned long long)n);
    for (int i = 0; i < s.n; i++)
        buffer_free(&s.v[i]);
    return 0;
}
