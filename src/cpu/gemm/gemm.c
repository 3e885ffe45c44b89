/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a product into blocks that fit the caches, and running one block. */
#include "cpu/gemm/gemm.h"

#include "cpu/config/gemm_config.h"

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* n cut into equal parts of at most `part`, each a multiple of `step`: the size of a part. */
static int64_t even_part(int64_t n, int64_t part, int64_t step)
{
    int64_t parts = div_up(n, part);

    return parts ? div_up(div_up(n, parts), step) * step : step;
}

/* Smaller blocks until there is work for many cores, down to blocks that are not worth sharing. */
static void split_units(gemm_plan *p, int64_t products)
{
    for (;;) {
        p->mb = div_up(p->m, p->mc);
        p->nb = div_up(p->n, p->nc);
        double work = (double)p->mc * (double)p->nc * (double)p->k;

        if (products * p->mb * p->nb >= GEMM_UNITS || work <= GEMM_UNIT_WORK)
            return;
        if (p->nc > 4 * GEMM_NR)
            p->nc = even_part(p->nc, div_up(p->nc, 2), GEMM_NR);
        else if (p->mc > 2 * p->tile)
            p->mc = even_part(p->mc, div_up(p->mc, 2), p->tile);
        else if (p->nc > GEMM_NR)
            p->nc = even_part(p->nc, div_up(p->nc, 2), GEMM_NR);
        else
            return;
    }
}

void gemm_plan_f32(gemm_plan *p, const machine *mach, int64_t products)
{
    /* A panel of B, kc deep, takes two thirds of the first cache; a block of A, mc by kc, and one
       of B, kc by nc, half of the second. */
    int64_t kc = (int64_t)(mach->l1d * 2 / 3 / (GEMM_NR * sizeof(float)));
    int64_t l2 = (int64_t)(mach->l2 / 2 / sizeof(float));

    kc = kc < GEMM_KC_MIN ? GEMM_KC_MIN : kc > GEMM_KC_MAX ? GEMM_KC_MAX : kc;
    p->kc = p->k ? even_part(p->k, kc, 1) : 1;
    p->tiles = p->m ? div_up(p->m, GEMM_MR) : 1;
    p->tile = p->m ? div_up(p->m, p->tiles) : 1; /* no tile is left with few rows */
    p->mc = even_part(p->m, div_up(GEMM_MC, p->tile) * p->tile, p->tile);
    int64_t nc = l2 / p->kc - p->mc;
    nc = nc < 4 * GEMM_NR ? 4 * GEMM_NR : nc > GEMM_NC ? GEMM_NC : nc / GEMM_NR * GEMM_NR;
    p->nc = even_part(p->n, nc, GEMM_NR);
    split_units(p, products);

    p->panels = div_up(p->n, GEMM_NR);
    p->pack_b = p->b_n != 1 || p->m > GEMM_PACK_B_TILES * GEMM_MR;
    p->packed = p->pack_b ? (size_t)(p->panels * GEMM_NR * p->k) : 0;
    p->pack_a = p->nc > GEMM_PACK_A_PANELS * GEMM_NR || (p->a_m != 1 && p->a_k != 1);
    p->share_a = p->pack_a && p->nb > 1;
    p->packed_a = p->share_a ? (size_t)(p->m * p->k) : 0;
    size_t floats = p->pack_a && !p->share_a ? (size_t)(p->mc * p->kc) : 0;
    if (!p->pack_b)
        floats += (size_t)(p->kc * GEMM_NR); /* the ragged last panel */
    p->scratch = floats * sizeof(float);
}

void gemm_pack(const gemm_plan *p, const float *b, float *packed, int64_t lo, int64_t hi)
{
    for (int64_t j = lo; j < hi; j++) {
        int n = (int)min_i64(GEMM_NR, p->n - j * GEMM_NR);

        gemm_pack_b(packed + j * GEMM_NR * p->k, b + j * GEMM_NR * p->b_n, p->b_k, p->b_n, n, p->k);
    }
}

/* A tile's rows lie behind each other, each as deep as the whole matrix. */
void gemm_pack_rows(const gemm_plan *p, const float *a, float *packed, int64_t lo, int64_t hi)
{
    for (int64_t i = lo; i < hi; i++) {
        int m = (int)min_i64(p->tile, p->m - i * p->tile);

        gemm_pack_a(packed + i * p->tile * p->k, a + i * p->tile * p->a_m, p->a_m, p->a_k, m, p->k);
    }
}

/* One block of C for one range of k. */
typedef struct block {
    const float *a, *b; /* at (row 0, k0) of the block (share_a: row 0 of the block, packed) and at
                           (k0, column 0) of the matrix */
    int64_t rows, j0, j1;
    int64_t k0, k;
    float *c; /* at (row 0, column 0 of the matrix) */
} block;

static void run_block(const gemm_plan *p, const block *b, float *pack, float *last)
{
    static const int64_t zero = 0;
    int64_t tile = p->tile;
    gemm_tile t = {.k = b->k, .batch = 1, .a_off = &zero, .b_off = &zero, .c_m = p->n};

    t.add = b->k0 > 0;
    if (p->pack_a && !p->share_a)
        for (int64_t i = 0; i < b->rows; i += tile)
            gemm_pack_a(pack + i * b->k, b->a + i * p->a_m, p->a_m, p->a_k,
                        (int)min_i64(tile, b->rows - i), b->k);
    for (int64_t j = b->j0; j < b->j1; j += GEMM_NR) {
        int n = (int)min_i64(GEMM_NR, p->n - j);

        t.b = p->pack_b ? b->b + j * p->k : b->b + j;
        t.b_k = p->pack_b ? GEMM_NR : p->b_k;
        if (!p->pack_b && n < GEMM_NR) {
            gemm_pack_b(last, t.b, p->b_k, 1, n, b->k);
            t.b = last;
            t.b_k = GEMM_NR;
        }
        for (int64_t i = 0; i < b->rows; i += tile) {
            int m = (int)min_i64(tile, b->rows - i);

            /* the next panel of B, a part for each tile */
            gemm_tile_ahead(&t, t.b,
                            (p->pack_b ? p->k * GEMM_NR : GEMM_NR) + t.b_k * b->k * i / b->rows,
                            t.b_k * tile / b->rows + 1);
            t.a = p->share_a  ? b->a + i * p->k + b->k0 * m
                  : p->pack_a ? pack + i * b->k
                              : b->a + i * p->a_m;
            t.a_m = p->pack_a ? 1 : p->a_m;
            t.a_k = p->pack_a ? m : p->a_k;
            t.c = b->c + i * p->n + j;
            gemm_tile_run(&t, m, n);
        }
    }
}

void gemm_unit(const gemm_plan *p, const float *a, const float *b, float *c, int64_t u,
               void *scratch)
{
    int64_t i0 = u % p->mb * p->mc;
    float *pack = scratch, *last = pack + (p->pack_a && !p->share_a ? p->mc * p->kc : 0);
    block blk = {.rows = min_i64(p->mc, p->m - i0), .j0 = u / p->mb * p->nc};

    blk.j1 = min_i64(p->n, blk.j0 + p->nc);
    blk.c = c + i0 * p->n;
    do {
        blk.k = min_i64(p->kc, p->k - blk.k0);
        blk.a = p->share_a ? a + i0 * p->k : a + i0 * p->a_m + blk.k0 * p->a_k;
        blk.b = p->pack_b ? b + blk.k0 * GEMM_NR : b + blk.k0 * p->b_k;
        run_block(p, &blk, pack, last);
        blk.k0 += blk.k;
    } while (blk.k0 < p->k);
}
