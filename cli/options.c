/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void help(const usage *u)
{
    char left[64];

    (void)printf("Usage: ingot %s %s\n\n%s\n\nOptions:\n", u->command, u->synopsis, u->about);
    for (int i = 0; i < u->n_rows; i++) {
        const option_row *o = &u->rows[i];
        (void)snprintf(left, sizeof left, "--%s%s%s", o->name, o->arg ? " " : "",
                       o->arg ? o->arg : "");
        (void)printf("  %-20s %s\n", left, o->doc);
    }
    (void)printf("  %-20s %s\n", "--help", "this text");
    if (u->more)
        u->more();
    (void)printf("\nExamples:\n%s", u->examples);
}

int usage_error(const usage *u, const char *fmt, ...)
{
    va_list args;

    (void)fprintf(stderr, "ingot %s: ", u->command);
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "\nUsage: ingot %s %s\n'ingot %s --help' explains it.\n", u->command,
                  u->synopsis, u->command);
    return EXIT_USAGE;
}

static const option_row *find(const usage *u, const char *name, size_t n)
{
    for (int i = 0; i < u->n_rows; i++)
        if (strlen(u->rows[i].name) == n && memcmp(u->rows[i].name, name, n) == 0)
            return &u->rows[i];
    return NULL;
}

static int take(const usage *u, const option_row *o, const char *value)
{
    option_texts *many = o->out;
    char *end;

    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)o->out = true;
        break;
    case OPTION_TEXT:
        *(const char **)o->out = value;
        break;
    case OPTION_INT:
        errno = 0;
        *(int64_t *)o->out = strtoll(value, &end, 10);
        if (errno || end == value || *end || *(int64_t *)o->out < 0)
            return usage_error(u, "--%s: '%s' is not a whole number from 0 on", o->name, value);
        break;
    case OPTION_MANY:
        if (many->n == OPTION_MANY_MAX)
            return usage_error(u, "--%s: given more than %d times", o->name, OPTION_MANY_MAX);
        many->v[many->n++] = value;
        break;
    }
    return -1;
}

int options_read(const usage *u, int argc, char **argv, arguments *rest)
{
    bool only_arguments = false;

    /* The arguments that are left are moved to the front of argv. */
    rest->v = (const char **)argv;
    rest->n = 0;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (only_arguments || a[0] != '-' || a[1] == '\0') {
            rest->v[rest->n++] = a;
            continue;
        }
        if (strcmp(a, "--") == 0) {
            only_arguments = true;
            continue;
        }
        if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
            help(u);
            return EXIT_DONE;
        }
        const char *eq = strchr(a, '=');
        size_t n = eq ? (size_t)(eq - a) : strlen(a);
        const option_row *o = n > 2 && a[1] == '-' ? find(u, a + 2, n - 2) : NULL;
        if (!o)
            return usage_error(u, "no option '%.*s'", (int)n, a);
        if (o->kind == OPTION_FLAG && eq)
            return usage_error(u, "--%s takes no argument", o->name);
        const char *value = eq ? eq + 1 : NULL;
        if (o->kind != OPTION_FLAG && !value && i + 1 < argc)
            value = argv[++i];
        if (o->kind != OPTION_FLAG && !value)
            return usage_error(u, "--%s needs %s", o->name, o->arg);
        int status = take(u, o, value);
        if (status >= 0)
            return status;
    }
    return -1;
}

void print_json(struct json_t *object)
{
    (void)json_dumpf(object, stdout, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    (void)putchar('\n');
    (void)fflush(stdout);
    json_decref(object);
}

int report_error(const char *command, bool json, const char *fmt, ...)
{
    char text[4096];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "ingot %s: %s\n", command, text);
    if (json)
        print_json(json_pack("{s:s}", "error", text));
    return EXIT_FAILED;
}

int report_context(const char *command, bool json, const ingot_context *ctx)
{
    ingot_status s = ingot_error(ctx);
    const char *advice = ingot_status_advice(s), *text = ingot_error_text(ctx);

    (void)fprintf(stderr, "ingot %s: %s\n", command, text[0] ? text : ingot_status_text(s));
    if (advice[0])
        (void)fprintf(stderr, "  (%s)\n", advice);
    if (json)
        print_json(json_pack("{s:s, s:s}", "error", text, "code", ingot_status_name(s)));
    return EXIT_FAILED;
}
