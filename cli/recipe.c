/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recipe_keys.h"

#define AT(r, k)       ((void *)((char *)(r) + (k)->offset))
#define CONST_AT(r, k) ((const void *)((const char *)(r) + (k)->offset))

/* name is "train.epochs"; with what was wrong and what is right. */
static bool wrong(const recipe_key *k, const char *text, char *err)
{
    const char *dot = k->section[0] ? "." : "";
    int n = snprintf(err, RECIPE_ERROR, "%s%s%s: ", k->section, dot, k->key);
    char *p = err + n;
    size_t room = RECIPE_ERROR - (size_t)n;

    switch (k->kind) {
    case KEY_INT:
        (void)snprintf(p, room, "'%.80s' is not a whole number in [%.0f, %.0f]", text, k->min,
                       k->max);
        break;
    case KEY_REAL:
        (void)snprintf(p, room, "'%.80s' is not a number in [%g, %g]", text, k->min, k->max);
        break;
    case KEY_FLAG:
        (void)snprintf(p, room, "'%.80s' is neither true nor false", text);
        break;
    case KEY_TEXT:
        (void)snprintf(p, room, "longer than %d bytes", RECIPE_TEXT - 1);
        break;
    case KEY_CHOICE:
        (void)snprintf(p, room, "'%.80s' is none of %s", text, k->choices);
        break;
    case KEY_LIST:
        (void)snprintf(p, room, "'%.80s' is not a list of 1 to %d numbers in [%g, %g]", text,
                       RECIPE_LIST, k->min, k->max);
        break;
    }
    return false;
}

static bool read_real(const char *text, double min, double max, double *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && !strchr("+-.", text[0]))
        return false;
    double v = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(v) || v < min || v > max)
        return false;
    for (const char *p = text; *p; p++)
        if (!strchr("+-.0123456789eE", *p))
            return false;
    *out = v;
    return true;
}

static bool read_int(const char *text, double min, double max, int64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && !(text[0] == '-' && isdigit((unsigned char)text[1])))
        return false;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || *end != '\0' || (double)v < min || (double)v > max)
        return false;
    *out = v;
    return true;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);

    for (const char *p = choices; p; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, text, n) == 0 && (p[n] == ' ' || p[n] == '\0') && n > 0)
            return true;
    }
    return false;
}

/* "[0.1, 0.2]" or "0.1,0.2" */
static bool read_list(const char *text, const recipe_key *k, recipe_list *out)
{
    char copy[256], *save = NULL;
    recipe_list l = {{0}, 0};
    size_t n = strlen(text);

    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n + 1);
    for (char *item = strtok_r(copy, "[], ", &save); item; item = strtok_r(NULL, "[], ", &save)) {
        if (l.n == RECIPE_LIST || !read_real(item, k->min, k->max, &l.v[l.n]))
            return false;
        l.n++;
    }
    if (l.n == 0)
        return false;
    *out = l;
    return true;
}

/* The code point at *text, moving past it; 0 at the end, -1 when the bytes are no UTF-8. */
static long next_code(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    static const long least[] = {0, 0x80, 0x800, 0x10000};
    int more = p[0] < 0x80       ? 0
               : p[0] >> 5 == 6  ? 1
               : p[0] >> 4 == 14 ? 2
               : p[0] >> 3 == 30 ? 3
                                 : -1;
    long code = more <= 0 ? p[0] : p[0] & (0x3f >> more);

    if (more < 0)
        return -1;
    for (int i = 1; i <= more; i++) {
        if (p[i] >> 6 != 2)
            return -1;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return -1;
    *text += code ? 1 + more : 0;
    return code;
}

static bool is_utf8(const char *text)
{
    long c;

    while ((c = next_code(&text)) > 0) {
    }
    return c == 0;
}

static bool set_key(recipe *r, const recipe_key *k, const char *text, char *err)
{
    bool ok = false;

    switch (k->kind) {
    case KEY_INT:
        ok = read_int(text, k->min, k->max, AT(r, k));
        break;
    case KEY_REAL:
        ok = read_real(text, k->min, k->max, AT(r, k));
        break;
    case KEY_FLAG:
        ok = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
        if (ok)
            *(bool *)AT(r, k) = text[0] == 't';
        break;
    case KEY_CHOICE:
    case KEY_TEXT:
        ok = strlen(text) < RECIPE_TEXT && is_utf8(text) &&
             (k->kind == KEY_TEXT || is_choice(k->choices, text));
        if (ok)
            memcpy(AT(r, k), text, strlen(text) + 1);
        break;
    case KEY_LIST:
        ok = read_list(text, k, AT(r, k));
        break;
    }
    return ok ? true : wrong(k, text, err);
}

void recipe_init(recipe *r)
{
    char ignored[RECIPE_ERROR];

    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < recipe_n_keys; i++)
        (void)set_key(r, &recipe_keys[i], recipe_keys[i].value, ignored);
}

static const recipe_key *find_key(const char *section, size_t n_section, const char *key,
                                  size_t n_key)
{
    for (size_t i = 0; i < recipe_n_keys; i++) {
        const recipe_key *k = &recipe_keys[i];
        if (strlen(k->section) == n_section && memcmp(k->section, section, n_section) == 0 &&
            strlen(k->key) == n_key && memcmp(k->key, key, n_key) == 0)
            return k;
    }
    return NULL;
}

bool recipe_set(recipe *r, const char *assignment, char *err)
{
    const char *eq = strchr(assignment, '=');
    const char *dot = eq ? memchr(assignment, '.', (size_t)(eq - assignment)) : NULL;
    const char *key = dot ? dot + 1 : assignment;

    if (!eq) {
        (void)snprintf(err, RECIPE_ERROR, "--set %.200s: not of the form key=value", assignment);
        return false;
    }
    const recipe_key *k =
        find_key(assignment, dot ? (size_t)(dot - assignment) : 0, key, (size_t)(eq - key));
    char why[RECIPE_ERROR - 32];
    if (!k)
        (void)snprintf(why, sizeof why, "unknown key '%.*s'", (int)(eq - assignment) % 200,
                       assignment);
    char text[RECIPE_ERROR];
    if (k && set_key(r, k, eq + 1, text))
        return true;
    (void)snprintf(err, RECIPE_ERROR, "--set: %.*s", RECIPE_ERROR - 16, k ? text : why);
    return false;
}

/* --- reading YAML -------------------------------------------------------------------------------
 */

/* Line of a key for messages about its value: the first line at or after its section's that has
   the key. */
static int line_of(const char *text, size_t size, const recipe_key *k)
{
    int line = 1;
    bool in_section = k->section[0] == '\0';
    size_t n_section = strlen(k->section), n_key = strlen(k->key);

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            line++;
        bool starts = i == 0 || !(isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_');
        if (!starts)
            continue;
        if (!in_section)
            in_section = size - i > n_section && memcmp(text + i, k->section, n_section) == 0 &&
                         text[i + n_section] == ':';
        else if (size - i > n_key && memcmp(text + i, k->key, n_key) == 0 && text[i + n_key] == ':')
            return line;
    }
    return 1;
}

static bool join_items(char *const *items, unsigned n, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < n; i++) {
        int w = snprintf(out + used, size - used, "%s%s", i ? "," : "", items[i] ? items[i] : "");
        if (w < 0 || (size_t)w >= size - used)
            return false;
        used += (size_t)w;
    }
    return true;
}

static bool apply(recipe *r, const recipe_raw *raw, const char *name, const char *text, size_t size,
                  char *err)
{
    char why[RECIPE_ERROR], list[RECIPE_TEXT];

    for (size_t i = 0; i < recipe_n_keys; i++) {
        const recipe_key *k = &recipe_keys[i];
        const char *value = raw->v[i].text;
        if (raw->v[i].items)
            value = join_items(raw->v[i].items, raw->v[i].count, list, sizeof list) ? list : "?";
        if (value && !set_key(r, k, value, why)) {
            (void)snprintf(err, RECIPE_ERROR, "%.300s:%d: %.1500s", name, line_of(text, size, k),
                           why);
            return false;
        }
    }
    return true;
}

bool recipe_parse(recipe *r, const char *name, const char *text, size_t size, char *err)
{
    recipe_raw *raw = NULL;
    recipe copy = *r;

    if (!recipe_raw_load(name, text, size, &raw, err))
        return false;
    bool ok = !raw || apply(&copy, raw, name, text, size, err);
    recipe_raw_free(raw);
    if (ok)
        *r = copy;
    return ok;
}

bool recipe_load(recipe *r, const char *path, char *err)
{
    enum { MAX = 1 << 20 };
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(MAX) : NULL;
    bool ok = false;

    if (!f || !text) {
        (void)snprintf(err, RECIPE_ERROR, "recipe '%.900s': %s", path, strerror(errno));
        goto done;
    }
    size_t n = fread(text, 1, MAX, f);
    if (ferror(f))
        (void)snprintf(err, RECIPE_ERROR, "recipe '%.900s': %s", path, strerror(errno));
    else if (n == MAX)
        (void)snprintf(err, RECIPE_ERROR, "recipe '%.900s': longer than 1 MiB", path);
    else
        ok = recipe_parse(r, path, text, n, err);
done:
    free(text);
    if (f)
        (void)fclose(f);
    return ok;
}

/* --- writing ------------------------------------------------------------------------------------
 */

/* The shortest text that reads back as v. */
static int print_real(char *out, size_t size, double v)
{
    int n = 0;

    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(out, size, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            break;
    }
    return n;
}

/* In double quotes, with everything escaped that YAML might take for structure. The text is valid:
   set_key saw to it. */
static void print_text(const char *text, char *out, size_t size)
{
    size_t n = 0;
    long c;

    out[n++] = '"';
    while (n + 16 < size && (c = next_code(&text)) > 0) {
        if (c < 0x7f && c >= ' ')
            n += (size_t)snprintf(out + n, size - n, c == '"' || c == '\\' ? "\\%c" : "%c", (int)c);
        else
            n += (size_t)snprintf(out + n, size - n, c < 0x10000 ? "\\u%04lx" : "\\U%08lx",
                                  (unsigned long)c);
    }
    (void)snprintf(out + n, size - n, "\"");
}

static void print_value(const recipe *r, const recipe_key *k, char *out, size_t size)
{
    const char *text = CONST_AT(r, k);
    const recipe_list *l = CONST_AT(r, k);
    size_t n = 0;

    switch (k->kind) {
    case KEY_INT:
        (void)snprintf(out, size, "%" PRId64, *(const int64_t *)CONST_AT(r, k));
        break;
    case KEY_REAL:
        (void)print_real(out, size, *(const double *)CONST_AT(r, k));
        break;
    case KEY_FLAG:
        (void)snprintf(out, size, "%s", *(const bool *)CONST_AT(r, k) ? "true" : "false");
        break;
    case KEY_CHOICE:
        (void)snprintf(out, size, "%s", text);
        break;
    case KEY_TEXT:
        print_text(text, out, size);
        break;
    case KEY_LIST:
        for (int i = 0; i < l->n; i++) {
            n += (size_t)snprintf(out + n, size - n, "%s", i ? ", " : "[");
            n += (size_t)print_real(out + n, size - n, l->v[i]);
        }
        (void)snprintf(out + n, size - n, "]");
        break;
    }
}

size_t recipe_print(const recipe *r, char *out, size_t size)
{
    char value[6 * RECIPE_TEXT + 32]; /* every byte escaped */
    const char *section = "";
    size_t n = 0;

    for (size_t i = 0; i < recipe_n_keys; i++) {
        const recipe_key *k = &recipe_keys[i];
        size_t room = n < size ? size - n : 0;
        print_value(r, k, value, sizeof value);
        bool opens = strcmp(section, k->section) != 0;
        section = k->section;
        n += (size_t)snprintf(room ? out + n : NULL, room, "%s%s%s%s: %s\n", opens ? section : "",
                              opens ? ":\n" : "", section[0] ? "  " : "", k->key, value);
    }
    return n;
}

bool recipe_save(const recipe *r, const char *path, char *err)
{
    static const size_t room = 64 * 1024;
    char tmp[RECIPE_TEXT + 64], *text = malloc(room);
    bool ok = false;

    (void)snprintf(tmp, sizeof tmp, "%s.tmp", path);
    FILE *f = text ? fopen(tmp, "wb") : NULL;
    if (f) {
        size_t n = recipe_print(r, text, room);
        ok = fwrite(text, 1, n, f) == n && fflush(f) == 0 && fsync(fileno(f)) == 0;
        ok = fclose(f) == 0 && ok && rename(tmp, path) == 0;
    }
    if (!ok)
        (void)snprintf(err, RECIPE_ERROR, "recipe '%.900s': %s", path, strerror(errno));
    free(text);
    return ok;
}

void recipe_help(void)
{
    for (size_t i = 0; i < recipe_n_keys; i++) {
        const recipe_key *k = &recipe_keys[i];
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s%s", k->section, k->section[0] ? "." : "", k->key);
        (void)printf("  %-22s %s", name, k->doc);
        if (k->kind == KEY_CHOICE)
            (void)printf(": %s", k->choices);
        (void)printf(" [%s]\n", k->value);
    }
}
