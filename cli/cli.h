/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands share: exit statuses, options with a help that teaches, messages. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "ingot/ingot.h"
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_INT, OPTION_MANY } option_kind;

#define OPTION_MANY_MAX 128
typedef struct option_texts {
    const char *v[OPTION_MANY_MAX];
    int n;
} option_texts;

typedef struct option_row {
    const char *name; /* without "--" */
    const char *arg;  /* how --help calls its argument; NULL for a flag */
    const char *doc;
    option_kind kind;
    void *out; /* bool, const char *, int64_t or option_texts */
} option_row;

typedef struct usage {
    const char *command;  /* "train" */
    const char *synopsis; /* what follows the command */
    const char *about;    /* paragraphs */
    const option_row *rows;
    int n_rows;
    const char *examples;
    void (*more)(void); /* prints after the options; NULL = nothing */
} usage;

typedef struct arguments {
    const char **v;
    int n;
} arguments;

/* Reads options; what is left goes to rest. -1 = go on, else the exit status to return (help was
   printed, or the usage was wrong and has been explained). argv[0] is the subcommand's name. */
int options_read(const usage *u, int argc, char **argv, arguments *rest);
int usage_error(const usage *u, const char *fmt, ...) INGOT_PRINTF(2, 3);

/* "ingot train: text" on stderr; with json also {"error": text} on stdout. Returns EXIT_FAILED. */
int report_error(const char *command, bool json, const char *fmt, ...) INGOT_PRINTF(3, 4);
/* The error of a context, with its advice. */
int report_context(const char *command, bool json, const ingot_context *ctx);

/* Prints a jansson object on one line and frees it. */
struct json_t;
void print_json(struct json_t *object);

int command_train(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_graph(int argc, char **argv);
int command_data(int argc, char **argv);
int command_doctor(int argc, char **argv);

#endif
