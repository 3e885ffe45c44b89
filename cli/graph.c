/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <jansson.h>

typedef struct graph_options {
    bool json, dot, memory;
    const char *after, *off;
    int64_t batch;
} graph_options;

static void print_graph(const graph_options *o, const ingot_graph *g)
{
    const char *memory = ingot_graph_memory(g);

    if (o->json)
        print_json(json_pack("{s:s, s:I, s:I, s:s*}", "graph", ingot_graph_text(g), "ops",
                             (json_int_t)ingot_graph_op_count(g), "parameters",
                             (json_int_t)ingot_graph_parameter_count(g), "memory", memory));
    else
        (void)fputs(o->memory ? memory : o->dot ? ingot_graph_dot(g) : ingot_graph_text(g), stdout);
}

int command_graph(int argc, char **argv)
{
    graph_options o = {.batch = 1};
    const option_row rows[] = {
        {"after", "PASS",
         "compile, and print the graph as it is after a pass; trace: before them all", OPTION_TEXT,
         &o.after},
        {"memory", NULL, "compile, and print the plan: sizes, and what is in use at each step",
         OPTION_FLAG, &o.memory},
        {"batch", "N", "samples in a batch of what is compiled (1)", OPTION_INT, &o.batch},
        {"passes-off", "PASS,…", "passes to leave out", OPTION_TEXT, &o.off},
        {"dot", NULL, "in Graphviz' language: ingot graph --dot MODEL | dot -Tsvg", OPTION_FLAG,
         &o.dot},
        {"json", NULL, "one object with the text and what it counts", OPTION_FLAG, &o.json},
    };
    const usage u = {
        .command = "graph",
        .synopsis = "[OPTION…] FILE",
        .about =
            "Prints the graph of a model file, or of a file that holds a graph's text. The print\n"
            "is such a text: read again it gives the same bytes. The passes, in their order:\n"
            "expand, simplify, fold, cse, absorb, prune, fuse, hoist, tidy.",
        .rows = rows,
        .n_rows = 6,
        .examples =
            "  ingot graph run/model.ingot >net.txt\n  ingot graph net.txt | diff - net.txt\n"
            "  ingot graph --after fuse run/model.ingot\n"
            "  ingot graph --memory --batch 16 run/model.ingot\n",
    };
    arguments rest;
    int status = options_read(&u, argc, argv, &rest);

    if (status >= 0)
        return status;
    if (rest.n != 1)
        return usage_error(&u, "one FILE is needed, %d given", rest.n);
    if (o.batch < 1)
        return usage_error(&u, "--batch: %lld is below 1", (long long)o.batch);
    ingot_context *ctx =
        ingot_open(&(ingot_context_options){.threads = o.memory ? 0 : 1, .passes_off = o.off});
    ingot_graph *g = ingot_graph_load(ctx, rest.v[0]), *compiled = NULL;

    if (g && (o.after || o.memory))
        compiled = ingot_graph_compile(
            g, &(ingot_graph_compile_options){.batch = o.batch, .after = o.after});
    if (ingot_error(ctx) != INGOT_OK)
        status = report_context("graph", o.json, ctx);
    else
        print_graph(&o, compiled ? compiled : g);
    ingot_graph_free(compiled);
    ingot_graph_free(g);
    ingot_close(ctx);
    return status >= 0 ? status : EXIT_DONE;
}
