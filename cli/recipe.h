/* SPDX-License-Identifier: Apache-2.0 */
/* A training run as data: what a recipe file and --set may say. One list of keys makes the schema,
   the checks, the written recipe and the help. */
#ifndef CLI_RECIPE_H
#define CLI_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECIPE_TEXT  1024
#define RECIPE_LIST  4
#define RECIPE_ERROR 2048

typedef struct recipe_list {
    double v[RECIPE_LIST];
    int n;
} recipe_list;

typedef struct recipe {
    int64_t seed, threads;
    struct {
        char dir[RECIPE_TEXT];
    } run;
    struct {
        char name[RECIPE_TEXT];
        int64_t width, depth;
        double dropout;
    } model;
    struct {
        int64_t epochs, steps, batch;
        char optimizer[RECIPE_TEXT], schedule[RECIPE_TEXT];
        double lr, momentum, weight_decay, label_smoothing;
        bool nesterov;
        int64_t warmup, checkpoint, keep, log;
    } train;
    struct {
        char train[RECIPE_TEXT], test[RECIPE_TEXT], classes[RECIPE_TEXT];
        int64_t workers, size, channels, crop_padding;
        recipe_list mean, std;
        bool flip;
        double validation;
    } data;
} recipe;

/* All defaults. */
void recipe_init(recipe *r);
/* Keys of a YAML text over what r has. On failure `err` (RECIPE_ERROR bytes) names file, line and
   key. */
bool recipe_parse(recipe *r, const char *name, const char *text, size_t size, char *err);
bool recipe_load(recipe *r, const char *path, char *err);
/* One "section.key=value". */
bool recipe_set(recipe *r, const char *assignment, char *err);
/* As YAML, every key; parses back to the same recipe. Returns the length, as snprintf does. */
size_t recipe_print(const recipe *r, char *out, size_t size);
/* Writes the file through a temporary one. */
bool recipe_save(const recipe *r, const char *path, char *err);
/* The list of keys with defaults, for --help. */
void recipe_help(void);

#endif
