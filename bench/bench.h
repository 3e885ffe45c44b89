/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Median and spread of n samples; sorts them. */
typedef struct summary {
    double median, low, high; /* low, high: quartiles */
} summary;
summary summarise(double *samples, int n);

int bench_kernels(int threads, const char *isa);
int bench_resnet50(int threads, const char *isa, int batch, bool fixed);
/* weights: file that the first weights are written to; NULL = none. */
int bench_step(const char *name, int threads, int steps, const char *weights);
/* file: where the exported model is put. */
int bench_infer(const char *name, int threads, int batch, int runs, const char *file);

#endif
