/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe_keys.h"

#include "ingot/base.h"
#include <cyaml/cyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off: one key, one line */
#define TOP(f)        .section = "", .key = #f, .offset = offsetof(recipe, f)
#define IN(s, f)      .section = #s, .key = #f, .offset = offsetof(recipe, s.f)
#define INT(lo, hi)   .kind = KEY_INT, .min = (lo), .max = (hi)
#define REAL(lo, hi)  .kind = KEY_REAL, .min = (lo), .max = (hi)
#define LIST(lo, hi)  .kind = KEY_LIST, .min = (lo), .max = (hi)
#define CHOICE(names) .kind = KEY_CHOICE, .choices = (names)
#define FLAG          .kind = KEY_FLAG
#define TEXT          .kind = KEY_TEXT

const recipe_key recipe_keys[] = {
    {TOP(seed), INT(0, 9e15), .value = "1", .doc = "of every random number"},
    {TOP(threads), INT(0, 1024), .value = "0", .doc = "threads that compute; 0 = all cores"},
    {IN(run, dir), TEXT, .value = "run", .doc = "folder that the run writes"},
    {IN(model, name),
     CHOICE("cnn mlp resnet resnet8 resnet14 resnet20 resnet18 resnet34 resnet50 resnet101"),
     .value = "cnn", .doc = "network"},
    {IN(model, width), INT(1, 4096), .value = "32",
     .doc = "channels of the first stage; units of an mlp layer"},
    {IN(model, depth), INT(1, 64), .value = "2",
     .doc = "stages of a cnn, blocks per stage of a resnet, layers of an mlp"},
    {IN(model, dropout), REAL(0, 0.95), .value = "0",
     .doc = "share of features dropped before the classifier"},
    {IN(train, epochs), INT(0, 1e9), .value = "10", .doc = "passes over the training data"},
    {IN(train, steps), INT(0, 1e12), .value = "0",
     .doc = "stop after so many steps; 0 = the epochs decide"},
    {IN(train, batch), INT(1, 65536), .value = "64", .doc = "pictures in one step"},
    {IN(train, optimizer), CHOICE("sgd momentum adam adamw"), .value = "adamw",
     .doc = "update rule"},
    {IN(train, lr), REAL(0, 100), .value = "0.001", .doc = "learning rate at its peak"},
    {IN(train, momentum), REAL(0, 0.9999), .value = "0.9", .doc = "of the momentum optimizer"},
    {IN(train, nesterov), FLAG, .value = "false", .doc = "Nesterov's form of momentum"},
    {IN(train, weight_decay), REAL(0, 10), .value = "0.01",
     .doc = "pull of the weights towards zero"},
    {IN(train, label_smoothing), REAL(0, 0.9), .value = "0",
     .doc = "share of the target spread over all classes"},
    {IN(train, schedule), CHOICE("constant cosine step"), .value = "cosine",
     .doc = "learning rate over time"},
    {IN(train, warmup), INT(0, 1e9), .value = "0",
     .doc = "steps over which the learning rate rises first"},
    {IN(train, checkpoint), INT(0, 1e9), .value = "0",
     .doc = "steps between checkpoints; 0 = one for each epoch"},
    {IN(train, keep), INT(1, 1e6), .value = "2", .doc = "newest checkpoints that stay"},
    {IN(train, log), INT(1, 1e9), .value = "50", .doc = "steps between lines of the log"},
    {IN(data, train), TEXT, .value = "",
     .doc = "folder of class folders, or folder with IDX files"},
    {IN(data, test), TEXT, .value = "",
     .doc = "the same for the test; empty = see data.validation"},
    {IN(data, workers), INT(0, 256), .value = "1",
     .doc = "threads that prepare pictures; 0 = the one that trains"},
    {IN(data, classes), TEXT, .value = "",
     .doc = "their names, separated by commas; empty = the folders'"},
    {IN(data, size), INT(0, 4096), .value = "0",
     .doc = "side to which pictures are brought; 0 = 64, IDX: as they are"},
    {IN(data, channels), INT(0, 3), .value = "0", .doc = "1 = grey, 3 = colour; 0 = 3, IDX: 1"},
    {IN(data, crop_padding), INT(0, 1024), .value = "0",
     .doc = "random crops after padding by so many pixels"},
    {IN(data, mean), LIST(-1e6, 1e6), .value = "0.5",
     .doc = "subtracted from pixels scaled to [0, 1]; one or per channel"},
    {IN(data, std), LIST(1e-6, 1e6), .value = "0.5", .doc = "divided by after that"},
    {IN(data, flip), FLAG, .value = "false", .doc = "mirror half of the pictures"},
    {IN(data, validation), REAL(0, 0.9), .value = "0.1",
     .doc = "share of data.train held back when there is no data.test"},
};
/* clang-format on */
const size_t recipe_n_keys = sizeof recipe_keys / sizeof recipe_keys[0];
_Static_assert(sizeof recipe_keys / sizeof recipe_keys[0] <= RECIPE_KEYS_MAX, "raise the maximum");

/* --- the schema for libcyaml: text and lists of text, in the structure of the table -------------
 */

#define SECTIONS_MAX 8
typedef struct schema {
    cyaml_schema_value_t item, top;
    cyaml_schema_field_t fields[RECIPE_KEYS_MAX + SECTIONS_MAX]; /* each section's, ended by zero */
    cyaml_schema_field_t outer[RECIPE_KEYS_MAX];
} schema;

static cyaml_schema_field_t key_field(const schema *s, size_t i)
{
    const recipe_key *k = &recipe_keys[i];
    uint32_t base = (uint32_t)(offsetof(recipe_raw, v) + i * sizeof((recipe_raw *)0)->v[0]);
    cyaml_schema_field_t f = {.key = k->key};

    f.value.flags = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL;
    if (k->kind == KEY_LIST) {
        f.value.type = CYAML_SEQUENCE;
        f.value.data_size = sizeof(char *);
        f.value.sequence.entry = &s->item;
        f.value.sequence.max = RECIPE_LIST;
        f.data_offset = base + (uint32_t)offsetof(recipe_raw, v[0].items);
        f.count_offset = base + (uint32_t)offsetof(recipe_raw, v[0].count);
        f.count_size = sizeof(unsigned);
    } else {
        f.value.type = CYAML_STRING;
        f.value.data_size = sizeof(char);
        f.value.string.max = 64 * 1024;
        f.data_offset = base + (uint32_t)offsetof(recipe_raw, v[0].text);
    }
    return f;
}

static void schema_make(schema *s)
{
    size_t n_fields = 0, n_outer = 0;

    memset(s, 0, sizeof *s);
    s->item.type = CYAML_STRING;
    s->item.flags = CYAML_FLAG_POINTER;
    s->item.data_size = sizeof(char);
    s->item.string.max = 4096;
    s->top.type = CYAML_MAPPING;
    s->top.flags = CYAML_FLAG_POINTER;
    s->top.data_size = sizeof(recipe_raw);
    s->top.mapping.fields = s->outer;
    for (size_t i = 0; i < recipe_n_keys; i++) {
        const char *section = recipe_keys[i].section;
        if (section[0] == '\0') {
            s->outer[n_outer++] = key_field(s, i);
            continue;
        }
        if (i == 0 || strcmp(section, recipe_keys[i - 1].section) != 0) {
            n_fields += n_fields > 0;
            cyaml_schema_field_t *f = &s->outer[n_outer++];
            f->key = section;
            f->value.type = CYAML_MAPPING;
            f->value.flags = CYAML_FLAG_OPTIONAL;
            f->value.data_size = sizeof(recipe_raw);
            f->value.mapping.fields = &s->fields[n_fields];
        }
        s->fields[n_fields++] = key_field(s, i);
    }
}

/* --- libcyaml's messages, made one
 * ---------------------------------------------------------------- */

typedef struct report {
    char what[512];
    char path[256];
    int line;
} report;

static void INGOT_PRINTF(3, 0)
    report_line(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
    report *r = ctx;
    char text[600], field[100], outer[256];

    (void)level;
    (void)vsnprintf(text, sizeof text, fmt, args);
    text[strcspn(text, "\n")] = '\0';
    const char *t = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
    const char *at = strstr(t, "(line: ");
    if (t[0] != ' ' && strncmp(t, "Backtrace", 9) != 0 && !r->what[0])
        (void)snprintf(r->what, sizeof r->what, "%.500s", t);
    if (at && r->line == 0)
        r->line = (int)strtol(at + strlen("(line: "), NULL, 10);
    if (sscanf(t, "  in mapping field '%99[^']", field) == 1) {
        memcpy(outer, r->path, sizeof outer);
        (void)snprintf(r->path, sizeof r->path, "%s%s%.120s", field, outer[0] ? "." : "", outer);
    }
}

/* The line, from `from` on, that begins with a key; `from` when there is none. libcyaml tells where
   the mapping stands, not the key. */
static int line_of_key(const char *text, size_t size, int from, const char *key)
{
    size_t n = strlen(key);
    int line = 1;

    for (size_t i = 0; i < size; line++) {
        size_t end = i;

        while (end < size && text[end] != '\n')
            end++;
        while (i < end && (text[i] == ' ' || text[i] == '"' || text[i] == '\''))
            i++;
        if (line >= from && end - i > n && memcmp(text + i, key, n) == 0 &&
            strchr(" :\"'", text[i + n]))
            return line;
        i = end + 1;
    }
    return from;
}

static void explain(const report *r, const char *name, const char *text, size_t size,
                    const char *code, char *err)
{
    int line = r->line > 0 ? r->line : 1;
    static const char unexpected[] = "Unexpected key: ";
    bool unknown = strncmp(r->what, unexpected, sizeof unexpected - 1) == 0;

    if (unknown) {
        const char *key = r->what + sizeof unexpected - 1;

        (void)snprintf(err, RECIPE_ERROR, "%.900s:%d: unknown key '%s%s%s'", name,
                       line_of_key(text, size, line, key), r->path, r->path[0] ? "." : "", key);
    } else
        (void)snprintf(err, RECIPE_ERROR, "%.900s:%d: %s%s%s", name, line, r->path,
                       r->path[0] ? ": " : "", r->what[0] ? r->what : code);
}

static const cyaml_config_t quiet = {.mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};

bool recipe_raw_load(const char *name, const char *text, size_t size, recipe_raw **out, char *err)
{
    report r = {.line = 0};
    cyaml_config_t config = quiet;
    schema *s = malloc(sizeof *s);
    cyaml_data_t *data = NULL;

    if (!s) {
        (void)snprintf(err, RECIPE_ERROR, "%.900s: out of memory", name);
        return false;
    }
    schema_make(s);
    config.log_fn = report_line;
    config.log_ctx = &r;
    cyaml_err_t code = cyaml_load_data((const uint8_t *)text, size, &config, &s->top, &data, NULL);
    free(s);
    if (code != CYAML_OK) {
        explain(&r, name, text, size, cyaml_strerror(code), err);
        return false;
    }
    *out = data;
    return true;
}

void recipe_raw_free(recipe_raw *raw)
{
    if (!raw)
        return;
    for (size_t i = 0; i < recipe_n_keys; i++) {
        for (unsigned j = 0; j < raw->v[i].count; j++)
            cyaml_mem(NULL, raw->v[i].items[j], 0);
        cyaml_mem(NULL, raw->v[i].items, 0);
        cyaml_mem(NULL, raw->v[i].text, 0);
    }
    cyaml_mem(NULL, raw, 0);
}
