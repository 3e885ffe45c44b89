/* SPDX-License-Identifier: Apache-2.0 */
/* Tracing user code to a graph: what ingot_function does, and what deploy exports with. */
#ifndef RUNTIME_FUNCTION_H
#define RUNTIME_FUNCTION_H

#include "runtime/program.h"
#include "runtime/trace.h"

/* Traces fn on inputs of the given types (DIM_SYM allowed) into a graph of its own; the trace holds
   graph, parameters by slot and implicit inputs. names may be NULL, or have NULL entries. The
   context must not be tracing already. NULL = error set. Free with trace_free. */
trace *function_trace(ingot_context *ctx, const char *name, ingot_construct_fn fn, void *user,
                      const type *types, int n_in, const char *const *input_names,
                      const char *const *output_names);

#endif
