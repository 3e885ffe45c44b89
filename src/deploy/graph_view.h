/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to be said of a compiled graph. */
#ifndef DEPLOY_GRAPH_VIEW_H
#define DEPLOY_GRAPH_VIEW_H

#include "runtime/program.h"

/* Sizes of all memory that running p takes, and the arena's use over time as a bar for each step.
 */
bool memory_report(const program *p, buffer *out, error *e);

#endif
