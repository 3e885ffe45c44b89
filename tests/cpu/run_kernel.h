/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one kernel as the runtime would: find the row, plan, allocate, run the phases. */
#ifndef TESTS_CPU_RUN_KERNEL_H
#define TESTS_CPU_RUN_KERNEL_H

#include "cpu/kernel.h"

#define RUN_INPUTS  8
#define RUN_OUTPUTS 4
#define RUN_ATTRS   8

typedef struct run_case {
    const char *isa, *op;
    int n_in, n_out, n_attrs;
    type in[RUN_INPUTS], out[RUN_OUTPUTS]; /* an absent input is TYPE_ABSENT */
    const char *attr_names[RUN_ATTRS];
    attr attrs[RUN_ATTRS];
    const void *extra;
    void *buf[RUN_INPUTS + RUN_OUTPUTS]; /* inputs, then outputs; the caller's */
    int threads;                         /* 0 = 1 */
    bool no_winograd;
} run_case;

void run_attr_int(run_case *r, const char *name, int64_t v);
void run_attr_real(run_case *r, const char *name, double v);
void run_attr_ints(run_case *r, const char *name, ints v);

/* Scratch and work are filled with NaN first. Every unit is run exactly once: with one thread in
   descending order, so that a kernel that leans on the order fails. */
bool run_kernel(const run_case *r, error *e);

/* n floats in [-1, 1), the same for the same seed. */
void fill_random(float *p, int64_t n, uint64_t seed);

#endif
