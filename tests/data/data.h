/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the data layer share. */
#ifndef TESTS_DATA_DATA_H
#define TESTS_DATA_DATA_H

#include "ingot/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The error is set, contains text, and is gone afterwards. */
static inline void check_error(ingot_context *ctx, ingot_status code, const char *text)
{
    if (ingot_error(ctx) != code || !strstr(ingot_error_text(ctx), text))
        fail_msg("%s \"%s\", expected %s with \"%s\"", ingot_status_name(ingot_error(ctx)),
                 ingot_error_text(ctx), ingot_status_name(code), text);
    ingot_clear_error(ctx);
}

static inline void check_ok(ingot_context *ctx)
{
    if (ingot_error(ctx))
        fail_msg("%s", ingot_error_text(ctx));
}

/* A folder of its own, removed with all in it. */
typedef struct test_folder {
    char path[64];
} test_folder;

static inline void folder_open(test_folder *f)
{
    (void)snprintf(f->path, sizeof f->path, "/tmp/ingot_data_XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static inline void folder_close(const test_folder *f)
{
    char line[128];

    (void)snprintf(line, sizeof line, "rm -rf %s", f->path);
    assert_int_equal(system(line), 0);
}

static inline const char *path_in(const test_folder *f, const char *name)
{
    static char path[8][256];
    static int next;
    char *p = path[next++ % 8];

    (void)snprintf(p, sizeof path[0], "%s/%s", f->path, name);
    return p;
}

static inline void write_file(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* The next batch's columns, in the current scope. */
static inline bool next(ingot_context *ctx, ingot_dataset *ds, ingot_tensor **out, int n)
{
    bool more = false;

    if (ingot_dataset_next(ds, out, n, &more) != INGOT_OK)
        fail_msg("%s", ingot_error_text(ctx));
    return more;
}

#endif
