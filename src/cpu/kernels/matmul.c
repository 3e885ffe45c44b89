/* SPDX-License-Identifier: Apache-2.0 */
/* matmul: x [.., M, K] times y [.., K, N], batch dimensions broadcast, either operand stored
   transposed. Phase 0 packs y, and x, where that pays; the last phase computes blocks of the
   output. */
#include "cpu/gemm/gemm.h"
#include "cpu/kernel.h"

typedef struct matmul_plan {
    gemm_plan gemm;
    int64_t batch;            /* products */
    int rank;                 /* batch dimensions */
    int64_t dim[MAX_RANK];    /* of the output's batch */
    int64_t x_step[MAX_RANK]; /* matrices per step of each batch dimension, 0 = broadcast */
    int64_t y_step[MAX_RANK];
    int64_t x_matrices, y_matrices;
    int64_t x_units, y_units; /* of phase 0: row tiles of x behind the panels of y */
} matmul_plan;

/* Matrices per step of each of the output's batch dimensions; returns how many matrices t has. */
static int64_t batch_steps(const type *t, int rank, int64_t step[MAX_RANK])
{
    int64_t count = 1;

    for (int d = rank - 1, i = t->rank - 3; d >= 0; d--, i--) {
        int64_t n = i >= 0 ? t->dim[i] : 1;
        step[d] = n == 1 ? 0 : count;
        count *= n;
    }
    return count;
}

static bool matmul_f32_plan(kcall *c, error *e)
{
    matmul_plan *p = c->plan;
    const type *x = &c->in[0], *y = &c->in[1], *out = &c->out[0];
    bool tx = kcall_int(c, "trans_x") != 0, ty = kcall_int(c, "trans_y") != 0;
    gemm_plan *g = &p->gemm;

    (void)e;
    g->m = out->dim[out->rank - 2];
    g->n = out->dim[out->rank - 1];
    g->k = x->dim[x->rank - (tx ? 2 : 1)];
    g->a_m = tx ? 1 : g->k;
    g->a_k = tx ? g->m : 1;
    g->b_k = ty ? 1 : g->n;
    g->b_n = ty ? g->k : 1;
    p->rank = out->rank - 2;
    p->batch = 1;
    for (int d = 0; d < p->rank; d++)
        p->batch *= p->dim[d] = out->dim[d];
    p->x_matrices = batch_steps(x, p->rank, p->x_step);
    p->y_matrices = batch_steps(y, p->rank, p->y_step);
    if (p->y_matrices == 1 && !tx && p->x_matrices == p->batch) { /* one product with more rows */
        g->m *= p->batch;
        p->batch = p->x_matrices = 1;
        p->rank = 0;
    }
    gemm_plan_f32(g, c->mach, p->batch);
    c->scratch = g->scratch;
    p->y_units = g->pack_b && p->batch && g->m ? p->y_matrices * g->panels : 0;
    p->x_units = g->share_a && p->batch ? p->x_matrices * g->tiles : 0;
    if (g->pack_b || g->share_a) {
        bool apart = p->y_units > 0 && (c->fixed >> 1 & 1u); /* y is packed once, x each time */

        c->work = ((size_t)p->y_matrices * g->packed + (size_t)p->x_matrices * g->packed_a) *
                  sizeof(float);
        c->units[0] = p->y_units + (apart ? 0 : p->x_units);
        c->units[1] = p->x_units;
        c->grain[0] = c->grain[1] = 1 + (16 << 10) / (GEMM_NR * (g->k + 1));
        c->phases = apart ? 3 : 2;
        c->once = apart;
        c->packed = 1u << 1;
    }
    c->units[c->phases - 1] = p->batch * g->mb * g->nb;
    double work = (double)g->mc * (double)g->nc * (double)(g->k + 1);
    c->grain[c->phases - 1] = 1 + (int64_t)(2e5 / work);
    return true;
}

static void matmul_f32_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                           void *scratch, void *work)
{
    const matmul_plan *p = c->plan;
    const gemm_plan *g = &p->gemm;
    const float *x = buf[0], *y = buf[1];
    float *out = buf[2];
    int64_t per = g->mb * g->nb;
    size_t y_size = g->pack_b ? g->packed : (size_t)(g->k * g->n);
    float *packed_y = work; /* NULL when nothing is packed beforehand */
    float *packed_x = work ? packed_y + (size_t)p->y_matrices * g->packed : NULL;

    if (phase < c->phases - 1) {
        int64_t skip = phase == 1 ? p->y_units : 0; /* a phase of x's own */

        for (int64_t u = lo + skip; u < hi + skip; u++) {
            if (u < p->y_units) {
                int64_t i = u / g->panels, j = u % g->panels;
                gemm_pack(g, y + i * g->k * g->n, packed_y + (size_t)i * g->packed, j, j + 1);
            } else {
                int64_t i = (u - p->y_units) / g->tiles, j = (u - p->y_units) % g->tiles;
                gemm_pack_rows(g, x + i * g->m * g->k, packed_x + (size_t)i * g->packed_a, j,
                               j + 1);
            }
        }
        return;
    }
    if (g->pack_b)
        y = packed_y;
    if (g->share_a) /* as large as x itself */
        x = packed_x;
    for (int64_t u = lo; u < hi; u++) {
        int64_t b = u / per, xi = 0, yi = 0;

        for (int64_t d = p->rank - 1, rest = b; d >= 0; rest /= p->dim[d], d--) {
            xi += rest % p->dim[d] * p->x_step[d];
            yi += rest % p->dim[d] * p->y_step[d];
        }
        gemm_unit(g, x + xi * g->m * g->k, y + (size_t)yi * y_size, out + b * g->m * g->n, u % per,
                  scratch);
    }
}

extern const kernel_row ISA_FN(kernels_matmul)[];

const kernel_row ISA_FN(kernels_matmul)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/matmul.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
