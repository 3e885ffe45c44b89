/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of src/ir share among themselves. */
#ifndef IR_INTERNAL_H
#define IR_INTERNAL_H

#include "ir/ir.h"

/* Appends a finished node and enters it in the input or param list. */
bool graph_append(graph *g, node *n, error *e);
/* Exchanges the contents of two graphs. */
void graph_swap(graph *a, graph *b);
/* Copies n into b with its inputs taken from map[old id], and enters its results there. */
node *copy_mapped(builder *b, const node *n, value **map);
/* A node with room for inputs and results; types of the results are the caller's to set. */
node *node_alloc(builder *b, node_form form, int n_in, int n_out);

#endif
