/* SPDX-License-Identifier: Apache-2.0 */
/* argmax and argmin: the first place of the extremum along one axis; a NaN is one. */
#include "cpu/kernel.h"
#include "cpu/vec/vec.h"

/* x as [outer, n, inner]; a result for each of outer * inner. */
typedef struct arg_plan {
    int64_t n, inner;
} arg_plan;

static bool arg_plan_make(kcall *c, error *e)
{
    arg_plan *p = c->plan;
    const type *x = &c->in[0];
    int64_t axis = kcall_int(c, "axis"), outer = 1;

    (void)e;
    axis = axis < 0 ? axis + x->rank : axis;
    p->n = p->inner = 1;
    for (int i = 0; i < x->rank; i++)
        *(i < axis ? &outer : i == axis ? &p->n : &p->inner) *= x->dim[i];
    c->units[0] = outer * p->inner;
    c->grain[0] = 1 + 8192 / (p->n + 1);
    return true;
}

/* better: v beats the best so far. NaN is unequal to itself; the first one stays. */
#define ARG_RUN(name, type, better)                                                               \
    static void name(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,         \
                     void *scratch, void *work)                                                   \
    {                                                                                             \
        const arg_plan *p = c->plan;                                                              \
        int64_t *out = buf[1];                                                                    \
                                                                                                  \
        (void)phase;                                                                              \
        (void)scratch;                                                                            \
        (void)work;                                                                               \
        for (int64_t u = lo; u < hi; u++) {                                                       \
            const type *x = (const type *)buf[0] + u / p->inner * p->n * p->inner + u % p->inner; \
            type best = x[0];                                                                     \
                                                                                                  \
            out[u] = 0;                                                                           \
            for (int64_t i = 1; i < p->n && best == best; i++) {                                  \
                type v = x[i * p->inner];                                                         \
                                                                                                  \
                if (v != v || (better)) {                                                         \
                    best = v;                                                                     \
                    out[u] = i;                                                                   \
                }                                                                                 \
            }                                                                                     \
        }                                                                                         \
    }
ARG_RUN(argmax_f32, float, v > best)
ARG_RUN(argmax_f64, double, v > best)
ARG_RUN(argmax_i32, int32_t, v > best)
ARG_RUN(argmax_i64, int64_t, v > best)
ARG_RUN(argmin_f32, float, v < best)
ARG_RUN(argmin_f64, double, v < best)
ARG_RUN(argmin_i32, int32_t, v < best)
ARG_RUN(argmin_i64, int64_t, v < best)

extern const kernel_row ISA_FN(kernels_extremum)[];

const kernel_row ISA_FN(kernels_extremum)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/extremum.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
