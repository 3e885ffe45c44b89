/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a recipe as a table, and the reading of YAML against the schema made from it. */
#ifndef CLI_RECIPE_KEYS_H
#define CLI_RECIPE_KEYS_H

#include "recipe.h"

typedef enum recipe_kind {
    KEY_INT,
    KEY_REAL,
    KEY_FLAG,
    KEY_TEXT,
    KEY_CHOICE,
    KEY_LIST
} recipe_kind;

typedef struct recipe_key {
    const char *section; /* "" = top level */
    const char *key;
    recipe_kind kind;
    size_t offset; /* in recipe */
    double min, max;
    const char *choices; /* of KEY_CHOICE, separated by spaces */
    const char *value;   /* default, as it would be written */
    const char *doc;
} recipe_key;

#define RECIPE_KEYS_MAX 64
extern const recipe_key recipe_keys[]; /* keys of a section follow each other */
extern const size_t recipe_n_keys;

/* Values as written: the YAML has been checked for structure and known keys, not yet for types. */
typedef struct recipe_raw {
    struct {
        char *text;
        char **items;
        unsigned count;
    } v[RECIPE_KEYS_MAX];
} recipe_raw;

/* *out NULL with true: an empty document. err as in recipe_parse. */
bool recipe_raw_load(const char *name, const char *text, size_t size, recipe_raw **out, char *err);
void recipe_raw_free(recipe_raw *raw);

#endif
