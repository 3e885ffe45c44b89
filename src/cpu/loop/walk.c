/* SPDX-License-Identifier: Apache-2.0 */
/* The walks over the iteration space. */
#include "cpu/loop/tile.h"

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The row that is number i among those of w's dimensions. */
static int64_t row_of(const walk_dims *w, int64_t i)
{
    int64_t row = 0;

    for (int k = w->n - 1; k >= 0; k--) {
        row += i % w->dim[k] * w->step[k];
        i /= w->dim[k];
    }
    return row;
}

typedef struct walk {
    const loop_plan *p;
    void *const *buf;
    char *scratch;
    loop_acc *work;
    const void *reg[LOOP_OUT_MAX]; /* of the tile, by output */
} walk;

static void walk_linear(walk *w, int64_t lo, int64_t hi)
{
    int64_t end = min_i64(hi * w->p->unit, w->p->total);

    for (int64_t at = lo * w->p->unit; at < end; at += LOOP_TILE)
        tile_eval(w->p, w->buf, w->scratch, at, (int)min_i64(LOOP_TILE, end - at), w->reg);
}

/* Where output o's accumulators or results go: n-th of the reducing ones. */
#define FOR_REDUCING(w, o, n)                        \
    for (int o = 0, n = 0; o < (w)->p->d.n_out; o++) \
        if ((w)->p->d.out[o].reduce == REDUCE_NONE)  \
            continue;                                \
        else

static void *out_of(const walk *w, int o)
{
    return w->buf[w->p->d.n_in + o];
}

/* An item of a row walk: what a row, or a part of one, reduces to. */
static void row_result(walk *w, int64_t item, int64_t items, int o, int n, loop_acc a)
{
    const loop_plan *p = w->p;

    if (p->partial)
        w->work[n * items + item] = a;
    else
        loop_store_acc(p->d.cls, p->d.out[o].dt, out_of(w, o), item, a);
}

/* Short rows: whole ones, as many as fit a tile. */
static void walk_short_rows(walk *w, int64_t lo, int64_t hi, int64_t items)
{
    const loop_plan *p = w->p;
    int64_t fit = LOOP_TILE / p->inner;
    int len = (int)p->inner;

    for (int64_t row = lo; row < hi; row += fit) {
        int64_t rows = min_i64(fit, hi - row);

        tile_eval(p, w->buf, w->scratch, row * len, (int)rows * len, w->reg);
        FOR_REDUCING(w, o, n)
        {
            const char *reg = w->reg[o];

            for (int64_t r = 0; r < rows; r++)
                row_result(w, row + r, items, o, n,
                           loop_reduce_run(p->d.cls, p->d.out[o].reduce,
                                           reg + (size_t)(r * len) * p->elem, len));
            n++;
        }
    }
}

static void walk_rows(walk *w, int64_t lo, int64_t hi)
{
    const loop_plan *p = w->p;
    int64_t items = p->kept.count * p->outer.count * p->parts;
    loop_acc acc[LOOP_OUT_MAX];

    lo *= p->unit;
    hi = min_i64(hi * p->unit, items);
    if (p->inner <= LOOP_TILE) {
        walk_short_rows(w, lo, hi, items);
        return;
    }
    for (int64_t item = lo; item < hi; item++) {
        int64_t row = item / p->parts, from = item % p->parts * p->piece;
        int64_t to = min_i64(from + p->piece, p->inner);

        for (int o = 0; o < p->d.n_out; o++)
            acc[o] = loop_neutral(p->d.cls, p->d.out[o].reduce, p->d.out[o].dt);
        for (int64_t at = from; at < to; at += LOOP_TILE) {
            int n_at = (int)min_i64(LOOP_TILE, to - at);

            tile_eval(p, w->buf, w->scratch, row * p->inner + at, n_at, w->reg);
            FOR_REDUCING(w, o, n)
            {
                loop_reduce kind = p->d.out[o].reduce;

                acc[o] = loop_combine(p->d.cls, kind, acc[o],
                                      loop_reduce_run(p->d.cls, kind, w->reg[o], n_at));
                n++;
            }
        }
        FOR_REDUCING(w, o, n)
        {
            row_result(w, item, items, o, n, acc[o]);
            n++;
        }
    }
}

/* Rows from .. to - 1 of the reduced ones over `cols` columns, into acc. Rows that lie behind each
   other in memory and are short share a tile. */
static void add_rows(walk *w, int64_t base, int64_t col, int cols, int64_t from, int64_t to,
                     loop_acc *acc)
{
    const loop_plan *p = w->p;
    bool adjacent = p->outer.n > 0 && p->outer.step[p->outer.n - 1] == 1;
    int64_t run = adjacent && p->n_block == 1 ? LOOP_TILE / cols : 1;

    for (int64_t r = from; r < to;) {
        int64_t rows = 1;

        if (run > 1) {
            int64_t dim = p->outer.dim[p->outer.n - 1];

            rows = min_i64(min_i64(run, to - r), dim - r % dim);
        }
        tile_eval(p, w->buf, w->scratch, (base + row_of(&p->outer, r)) * p->inner + col,
                  (int)rows * cols, w->reg);
        FOR_REDUCING(w, o, n)
        {
            const char *reg = w->reg[o];

            for (int64_t i = 0; i < rows; i++)
                loop_add_row(p->d.cls, p->d.out[o].reduce, acc + (size_t)n * LOOP_TILE,
                             reg + (size_t)(i * cols) * p->elem, cols);
            n++;
        }
        r += rows;
    }
}

static void walk_columns(walk *w, int64_t lo, int64_t hi)
{
    const loop_plan *p = w->p;
    size_t slots = (size_t)p->n_slots * LOOP_TILE * p->elem;
    loop_acc *acc = (loop_acc *)(void *)(w->scratch + slots);

    for (int64_t u = lo; u < hi; u++) {
        int64_t part = u % p->parts, cell = u / p->parts;
        int64_t a = cell / p->n_block, col = cell % p->n_block * p->block;
        int cols = (int)min_i64(p->block, p->inner - col);
        int64_t from = part * p->unit, to = min_i64(from + p->unit, p->outer.count);

        FOR_REDUCING(w, o, n)
        {
            loop_acc zero = loop_neutral(p->d.cls, p->d.out[o].reduce, p->d.out[o].dt);

            for (int i = 0; i < cols; i++)
                acc[(size_t)n * LOOP_TILE + (size_t)i] = zero;
            n++;
        }
        add_rows(w, row_of(&p->kept, a), col, cols, from, to, acc);
        FOR_REDUCING(w, o, n)
        {
            int64_t at = a * p->inner + col;

            for (int i = 0; i < cols; i++) {
                loop_acc v = acc[(size_t)n * LOOP_TILE + (size_t)i];

                if (p->partial)
                    w->work[(n * p->parts + part) * p->n_results + at + i] = v;
                else
                    loop_store_acc(p->d.cls, p->d.out[o].dt, out_of(w, o), at + i, v);
            }
            n++;
        }
    }
}

/* The partial results of each output element, in the order of the space. */
static void combine(walk *w, int64_t lo, int64_t hi)
{
    const loop_plan *p = w->p;
    int64_t items = p->kept.count * p->outer.count * p->parts;

    FOR_REDUCING(w, o, n)
    {
        loop_reduce kind = p->d.out[o].reduce;

        for (int64_t k = lo; k < hi; k++) {
            loop_acc a = loop_neutral(p->d.cls, kind, p->d.out[o].dt);

            if (p->walk == WALK_COLUMNS) {
                for (int64_t i = 0; i < p->parts; i++)
                    a = loop_combine(p->d.cls, kind, a,
                                     w->work[(n * p->parts + i) * p->n_results + k]);
            } else {
                int64_t base = row_of(&p->kept, k);

                for (int64_t r = 0; r < p->outer.count; r++) {
                    int64_t row = base + row_of(&p->outer, r);

                    for (int64_t i = 0; i < p->parts; i++)
                        a = loop_combine(p->d.cls, kind, a,
                                         w->work[n * items + row * p->parts + i]);
                }
            }
            loop_store_acc(p->d.cls, p->d.out[o].dt, out_of(w, o), k, a);
        }
        n++;
    }
}

static void walk_empty(walk *w)
{
    const loop_plan *p = w->p;

    FOR_REDUCING(w, o, n)
    {
        loop_acc a = loop_neutral(p->d.cls, p->d.out[o].reduce, p->d.out[o].dt);

        for (int64_t k = 0; k < p->n_results; k++)
            loop_store_acc(p->d.cls, p->d.out[o].dt, out_of(w, o), k, a);
        n++;
    }
}

void loop_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi, void *scratch,
              void *work)
{
    walk w = {.p = c->plan, .buf = buf, .scratch = scratch, .work = work};

    if (phase == 1) {
        combine(&w, lo, hi);
        return;
    }
    if (w.p->walk == WALK_EMPTY) {
        walk_empty(&w);
        return;
    }
    tile_constants(w.p, buf, scratch);
    if (w.p->walk == WALK_LINEAR)
        walk_linear(&w, lo, hi);
    else if (w.p->walk == WALK_ROWS)
        walk_rows(&w, lo, hi);
    else
        walk_columns(&w, lo, hi);
}
