/* SPDX-License-Identifier: Apache-2.0 */
/* Running an instance of a row in a context, with its gradients. */
#ifndef TESTS_OPS_RUN_H
#define TESTS_OPS_RUN_H

#include "ingot/function.h"
#include "ops/case.h"

/* What a run gives, in the caller's scope. */
typedef struct op_result {
    ingot_tensor *y[CASE_OUT];
    ingot_tensor *g[CASE_IN]; /* gradients of sum of <u, y>; NULL where none is asked for */
    ingot_tensor *h[CASE_IN]; /* gradients of sum of <v, g> */
} op_result;

typedef enum op_order { ORDER_FORWARD, ORDER_FIRST, ORDER_SECOND } op_order;

/* u weighs the results, v the gradients: values in [-1, 1) drawn from fixed streams, one array for
   each result and input, of its number of elements. */
double op_weight(int stream, int k, int64_t i);

/* false = the context's error. */
bool op_run(ingot_context *ctx, const op_instance *c, op_order order, op_result *r);
/* The op alone, without a function: for rows that must fail. NULL = the context's error. */
ingot_tensor *op_emit(ingot_context *ctx, const op_instance *c);

#endif
