/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "ops/op.h"
#include <stdlib.h>
#include <string.h>

/* An accepted graph must verify, and its print must parse back to the same print. */
static void check(const op_registry *ops, graph *g)
{
    buffer first, second;
    error e = {0};

    buffer_init(&first, NULL, 0);
    buffer_init(&second, NULL, 0);
    if (!graph_verify(g, &e) || !graph_print(g, &first, &e))
        abort();
    graph *again = graph_parse(NULL, ops, first.data, first.len, &e);
    if (!again || !graph_print(again, &second, &e) || strcmp(first.data, second.data) != 0)
        abort();
    graph_free(again);
    buffer_free(&first);
    buffer_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    error e = {0};
    op_registry *ops = op_registry_new(NULL, op_rows, &e);
    graph *g = ops ? graph_parse(NULL, ops, (const char *)data, size, &e) : NULL;

    if (g)
        check(ops, g);
    graph_free(g);
    op_registry_free(ops);
    return 0;
}
