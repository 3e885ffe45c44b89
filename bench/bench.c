/* SPDX-License-Identifier: Apache-2.0 */
/* ingot_bench kernels [THREADS [ISA]]
       kernels as per cent of the peak measured beside them
   ingot_bench resnet50 [THREADS [ISA [BATCH [fixed]]]]
       the same for each of the net's convolutions; fixed: forward, weights packed beforehand
   ingot_bench step NAME [THREADS [N [WEIGHTS]]]
       milliseconds of a training step, one JSON line; writes the first weights
   ingot_bench infer NAME THREADS BATCH N FILE
       the same of inference; writes the model */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

summary summarise(double *samples, int n)
{
    qsort(samples, (size_t)n, sizeof *samples, compare_doubles);
    return (summary){samples[n / 2], samples[n / 4], samples[n - 1 - n / 4]};
}

static int argument(int argc, char **argv, int i, int otherwise)
{
    return argc > i ? (int)strtol(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "kernels") == 0)
        return bench_kernels(argument(argc, argv, 2, 1), argc > 3 ? argv[3] : NULL);
    if (argc >= 2 && strcmp(argv[1], "resnet50") == 0)
        return bench_resnet50(argument(argc, argv, 2, 1), argc > 3 ? argv[3] : NULL,
                              argument(argc, argv, 4, 8), argc > 5);
    if (argc >= 3 && strcmp(argv[1], "step") == 0)
        return bench_step(argv[2], argument(argc, argv, 3, 0), argument(argc, argv, 4, 50),
                          argc > 5 ? argv[5] : NULL);
    if (argc == 7 && strcmp(argv[1], "infer") == 0)
        return bench_infer(argv[2], argument(argc, argv, 3, 0), argument(argc, argv, 4, 1),
                           argument(argc, argv, 5, 10), argv[6]);
    (void)fprintf(stderr, "usage: ingot_bench kernels [THREADS [ISA]]\n"
                          "       ingot_bench resnet50 [THREADS [ISA [BATCH [fixed]]]]\n"
                          "       ingot_bench step NET [THREADS [STEPS [WEIGHTS]]]\n"
                          "       ingot_bench infer NET THREADS BATCH RUNS FILE\n");
    return 2;
}
