/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <string.h>

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *doc;
} command;

static const command commands[] = {
    {"train", command_train, "train a network by a recipe, or on any folder of pictures"},
    {"eval", command_eval, "measure a model's accuracy and loss on a data set"},
    {"predict", command_predict, "say what pictures show"},
    {"graph", command_graph, "print the graph of a model"},
    {"data", command_data, "convert data sets"},
    {"doctor", command_doctor, "tell what this machine and this build can do"},
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static void help(FILE *out)
{
    (void)fputs("Ingot: deep learning in C.\n\nUsage: ingot COMMAND [OPTION…] [ARGUMENT…]\n\n",
                out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        (void)fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].doc);
    (void)fputs(
        "\nTry first, with a folder that has one folder of JPEG or PNG files for each class:\n"
        "  ingot train --set data.train=FOLDER --set run.dir=run\n"
        "  ingot predict run/model.ingot --show PICTURE…\n"
        "\n'ingot COMMAND --help' explains each, with examples.\n"
        "Exit status: 0 done, 1 failed, 2 wrong usage.\n",
        out);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        (void)puts("ingot " INGOT_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (name[0])
        (void)fprintf(stderr, "ingot: no command '%s'\n\n", name);
    help(stderr);
    return EXIT_USAGE;
}
