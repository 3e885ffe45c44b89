/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <jansson.h>

int command_graph(int argc, char **argv)
{
    bool json = false, dot = false;
    const option_row rows[] = {
        {"dot", NULL, "in Graphviz' language: ingot graph --dot MODEL | dot -Tsvg", OPTION_FLAG,
         &dot},
        {"json", NULL, "one object with the text and what it counts", OPTION_FLAG, &json},
    };
    const usage u = {
        .command = "graph",
        .synopsis = "[OPTION…] FILE",
        .about =
            "Prints the graph of a model file, or of a file that holds a graph's text. The print\n"
            "is such a text: read again it gives the same bytes.",
        .rows = rows,
        .n_rows = 2,
        .examples =
            "  ingot graph run/model.ingot >net.txt\n  ingot graph net.txt | diff - net.txt\n",
    };
    arguments rest;
    int status = options_read(&u, argc, argv, &rest);

    if (status >= 0)
        return status;
    if (rest.n != 1)
        return usage_error(&u, "one FILE is needed, %d given", rest.n);
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = 1});
    ingot_graph *g = ingot_graph_load(ctx, rest.v[0]);

    if (!g)
        status = report_context("graph", json, ctx);
    else if (json)
        print_json(json_pack("{s:s, s:I, s:I}", "graph", ingot_graph_text(g), "ops",
                             (json_int_t)ingot_graph_op_count(g), "parameters",
                             (json_int_t)ingot_graph_parameter_count(g)));
    else
        (void)fputs(dot ? ingot_graph_dot(g) : ingot_graph_text(g), stdout);
    ingot_graph_free(g);
    ingot_close(ctx);
    return status >= 0 ? status : EXIT_DONE;
}
