/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct status_row {
    const char *name, *text, *advice;
} status_row;

static const status_row rows[] = {
#define X(code, what, advice) {#code, what, advice},
    INGOT_STATUS_MAP(X)
#undef X
};

static const status_row *row_of(ingot_status s)
{
    static const status_row none = {"?", "unknown status", ""};

    if ((unsigned)s >= sizeof(rows) / sizeof(rows[0]))
        return &none;
    return &rows[s];
}

const char *ingot_status_name(ingot_status s)
{
    return row_of(s)->name;
}

const char *ingot_status_text(ingot_status s)
{
    return row_of(s)->text;
}

const char *ingot_status_advice(ingot_status s)
{
    return row_of(s)->advice;
}

/* Paths and names from outside may hold newlines; the text is one line. */
static void one_line(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = ' ';
}

bool fail(error *e, ingot_status code, const char *fmt, ...)
{
    va_list args;

    if (!e || e->code != INGOT_OK)
        return false;
    e->code = code == INGOT_OK ? INGOT_E_INTERNAL : code;
    va_start(args, fmt);
    if (vsnprintf(e->text, sizeof(e->text), fmt, args) < 0)
        e->text[0] = '\0';
    va_end(args);
    one_line(e->text);
    return false;
}

bool fail_errno(error *e, const char *fmt, ...)
{
    int number = errno;
    va_list args;
    size_t len;

    if (!e || e->code != INGOT_OK)
        return false;
    e->code = number == ENOENT ? INGOT_E_NOT_FOUND : number == ENOMEM ? INGOT_E_MEMORY : INGOT_E_IO;
    va_start(args, fmt);
    if (vsnprintf(e->text, sizeof(e->text), fmt, args) < 0)
        e->text[0] = '\0';
    va_end(args);
    len = strlen(e->text);
    (void)snprintf(e->text + len, sizeof(e->text) - len, ": %s", strerror(number));
    one_line(e->text);
    return false;
}

bool fail_memory(error *e, size_t size, const char *what)
{
    return fail(e, INGOT_E_MEMORY, "out of memory: %zu bytes for %s", size, what);
}

void error_prefix(error *e, const char *fmt, ...)
{
    char prefix[ERROR_TEXT];
    size_t len, rest;
    va_list args;

    if (!e || e->code == INGOT_OK)
        return;
    va_start(args, fmt);
    if (vsnprintf(prefix, sizeof(prefix) - 2, fmt, args) < 0)
        prefix[0] = '\0';
    va_end(args);
    len = strlen(prefix);
    memcpy(prefix + len, ": ", 2);
    len += 2;
    rest = strlen(e->text);
    if (rest > sizeof(e->text) - 1 - len)
        rest = sizeof(e->text) - 1 - len;
    memmove(e->text + len, e->text, rest);
    memcpy(e->text, prefix, len);
    e->text[len + rest] = '\0';
    one_line(e->text);
}

void error_clear(error *e)
{
    if (!e)
        return;
    e->code = INGOT_OK;
    e->text[0] = '\0';
}
