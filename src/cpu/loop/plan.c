/* SPDX-License-Identifier: Apache-2.0 */
/* Planning a region: fewer dimensions, registers, and how the space is cut. Everything depends on
   the region alone. */
#include "cpu/loop/tile.h"

#include <string.h>

#define UNIT_WORK   131072 /* element-instructions of a unit */
#define UNIT_MIN    4096   /* elements */
#define UNIT_MAX    65536
#define ROW_PIECE   (64 * LOOP_TILE) /* a longer row is cut at multiples of it */
#define COLUMN_WORK 65536            /* elements of a part of a column reduction */
#define COLUMN_FEW  32               /* units of which no further cutting is needed */

/* The space as inputs are loaded from it, and as the walk reduces it, are simplified apart: the
   first by the inputs' strides, the second by the shape and the reduced axes alone, so that a
   reduction gives the same bits in every region that it may be part of. */

/* Whether dimension i can be one with the next one for every input. */
static bool mergeable(const loop_desc *d, int i)
{
    for (int k = 0; k < d->n_in; k++)
        if (d->in[k].stride[i] != d->in[k].stride[i + 1] * d->dim[i + 1])
            return false;
    return true;
}

/* Takes dimension i out. */
static void remove_dim(loop_desc *d, int i)
{
    for (int j = i; j + 1 < d->rank; j++) {
        d->dim[j] = d->dim[j + 1];
        for (int k = 0; k < d->n_in; k++)
            d->in[k].stride[j] = d->in[k].stride[j + 1];
    }
    d->rank--;
}

static void collapse(loop_desc *d)
{
    for (int i = d->rank - 1; i >= 0; i--)
        if (d->dim[i] == 1)
            remove_dim(d, i);
    for (int i = d->rank - 2; i >= 0; i--)
        if (mergeable(d, i)) {
            d->dim[i + 1] *= d->dim[i];
            remove_dim(d, i);
        }
    if (d->rank == 0) {
        d->dim[0] = 1;
        for (int k = 0; k < d->n_in; k++)
            d->in[k].stride[0] = 0;
        d->rank = 1;
    }
}

/* Alternating runs of kept and reduced dimensions, outermost first; at least one is reduced. */
typedef struct space {
    int rank;
    int64_t dim[MAX_RANK + 1];
    bool reduced[MAX_RANK + 1];
} space;

static space space_of(const loop_desc *d)
{
    space s = {0};
    bool any = false;

    for (int i = 0; i < d->rank; i++) {
        bool reduced = d->reduce_axes >> i & 1;

        if (d->dim[i] == 1)
            continue;
        any = any || reduced;
        if (s.rank && s.reduced[s.rank - 1] == reduced) {
            s.dim[s.rank - 1] *= d->dim[i];
            continue;
        }
        s.reduced[s.rank] = reduced;
        s.dim[s.rank++] = d->dim[i];
    }
    if (!any) { /* what is reduced has one element each */
        s.reduced[s.rank] = true;
        s.dim[s.rank++] = 1;
    }
    return s;
}

static bool is_output(const loop_desc *d, int reg)
{
    for (int o = 0; o < d->n_out; o++)
        if (d->out[o].reg == reg)
            return true;
    return false;
}

static void plan_loads(loop_plan *p)
{
    const loop_desc *d = &p->d;

    for (int k = 0; k < d->n_in; k++) {
        bool linear = true, same = true;
        int64_t want = 1;

        for (int i = d->rank - 1; i >= 0; i--) {
            linear = linear && d->in[k].stride[i] == want;
            same = same && d->in[k].stride[i] == 0;
            want *= d->dim[i];
        }
        /* a space of one element is both */
        linear = linear || p->total == 1;
        bool own = d->in[k].dt == (d->cls == LOOP_F32   ? INGOT_F32
                                   : d->cls == LOOP_F64 ? INGOT_F64
                                                        : INGOT_I64);
        /* an output may take the input's memory: what another one still reads is copied */
        own = own && !(d->n_out > 1 && is_output(d, k));
        p->load[k] = linear && own ? LOAD_DIRECT
                     : linear      ? LOAD_LINEAR
                     : same        ? LOAD_CONST
                                   : LOAD_STRIDED;
        p->in_slot[k] = p->load[k] == LOAD_DIRECT ? -1 : p->n_slots++;
    }
}

/* The last instruction that reads a register; n_inst when an output does. */
static int last_use(const loop_desc *d, int reg)
{
    int last = -1;

    if (is_output(d, reg))
        return d->n_inst;
    for (int k = 0; k < d->n_inst; k++) {
        int arity = loop_op_arity(d->inst[k].op);

        if (d->inst[k].a == reg || (arity > 1 && d->inst[k].b == reg) ||
            (arity > 2 && d->inst[k].c == reg))
            last = k;
    }
    return last;
}

/* An instruction may write its output at once when no later one reads an input in place: the
   output may have taken that input's memory. */
static void plan_outputs(loop_plan *p, dtype own)
{
    const loop_desc *d = &p->d;
    int last_direct = -1;

    for (int k = 0; k < d->n_in; k++)
        if (p->load[k] == LOAD_DIRECT) {
            int last = last_use(d, k);

            last_direct = last > last_direct ? last : last_direct;
        }
    for (int k = 0; k < d->n_inst; k++) {
        p->inst_out[k] = -1;
        for (int o = 0; o < d->n_out && k >= last_direct && p->inst_out[k] < 0; o++)
            if (d->out[o].reg == d->n_in + k && d->out[o].reduce == REDUCE_NONE &&
                d->out[o].dt == own) {
                p->inst_out[k] = o;
                p->out_done[o] = true;
            }
    }
}

/* Each result takes a slot that nobody needs any more, if there is one. */
static void plan_slots(loop_plan *p)
{
    const loop_desc *d = &p->d;
    int free_at[LOOP_REGS]; /* by slot of results: the last instruction that reads it */
    int first = p->n_slots, n = 0;

    for (int k = 0; k < d->n_inst; k++) {
        int s = 0;

        p->inst_slot[k] = -1;
        if (p->inst_out[k] >= 0)
            continue;
        while (s < n && free_at[s] > k)
            s++;
        n = s == n ? n + 1 : n;
        free_at[s] = last_use(d, d->n_in + k);
        p->inst_slot[k] = first + s;
    }
    p->n_slots = first + n;
}

static void plan_dims(loop_plan *p, const space *s)
{
    int64_t step = 1;
    walk_dims *w;

    p->kept = (walk_dims){.count = 1};
    p->outer = (walk_dims){.count = 1};
    for (int i = s->rank - 2; i >= 0; i--) {
        w = s->reduced[i] ? &p->outer : &p->kept;
        memmove(w->dim + 1, w->dim, (size_t)w->n * sizeof *w->dim);
        memmove(w->step + 1, w->step, (size_t)w->n * sizeof *w->step);
        w->dim[0] = s->dim[i];
        w->step[0] = step;
        w->n++;
        w->count *= s->dim[i];
        step *= s->dim[i];
    }
    p->inner = s->dim[s->rank - 1];
}

static int64_t cut(int64_t n, int64_t by)
{
    return n / by + (n % by != 0);
}

static void plan_rows(kcall *c, loop_plan *p, int64_t want)
{
    int64_t rows = p->kept.count * p->outer.count;
    int64_t length = p->inner < ROW_PIECE ? p->inner : ROW_PIECE;

    p->walk = WALK_ROWS;
    p->piece = ROW_PIECE;
    p->parts = cut(p->inner, ROW_PIECE);
    p->unit = want / length > 1 ? want / length : 1;
    p->n_results = p->kept.count;
    p->partial = p->parts > 1 || p->outer.count > 1;
    c->units[0] = cut(rows * p->parts, p->unit);
    if (p->partial)
        c->work = (size_t)(rows * p->parts) * (size_t)p->n_reduce * sizeof(loop_acc);
}

static void plan_columns(kcall *c, loop_plan *p)
{
    int64_t cells;

    p->walk = WALK_COLUMNS;
    p->block = p->inner < LOOP_TILE ? p->inner : LOOP_TILE;
    p->n_block = cut(p->inner, p->block);
    cells = p->kept.count * p->n_block;
    p->unit = p->outer.count;
    if (cells < COLUMN_FEW && p->unit * p->block > COLUMN_WORK)
        p->unit = COLUMN_WORK / p->block;
    p->parts = cut(p->outer.count, p->unit);
    p->n_results = p->kept.count * p->inner;
    p->partial = p->parts > 1;
    c->units[0] = cells * p->parts;
    c->grain[0] = 1 + UNIT_MIN / (p->unit * p->block);
    if (p->partial)
        c->work = (size_t)(p->parts * p->n_results) * (size_t)p->n_reduce * sizeof(loop_acc);
}

bool loop_plan_make(kcall *c, error *e)
{
    loop_plan *p = c->plan;
    int64_t want;
    dtype own;

    (void)e;
    p->d = *(const loop_desc *)c->extra;
    for (int o = 0; o < p->d.n_out; o++)
        p->n_reduce += p->d.out[o].reduce != REDUCE_NONE;
    p->total = 1;
    for (int i = 0; i < p->d.rank; i++)
        p->total *= p->d.dim[i];
    const space s = space_of(&p->d);
    p->elem = p->d.cls == LOOP_F32 ? 4 : 8;
    own = p->d.cls == LOOP_F32 ? INGOT_F32 : p->d.cls == LOOP_F64 ? INGOT_F64 : INGOT_I64;
    if (p->total == 0) {
        p->walk = WALK_EMPTY;
        p->n_results = 1;
        for (int i = 0; i < p->d.rank; i++)
            p->n_results *= p->d.reduce_axes >> i & 1 ? 1 : p->d.dim[i];
        c->units[0] = p->n_reduce && p->n_results ? 1 : 0;
        return true;
    }
    collapse(&p->d);
    plan_loads(p);
    plan_outputs(p, own);
    plan_slots(p);
    c->scratch = (size_t)p->n_slots * LOOP_TILE * p->elem;
    want = UNIT_WORK / (2 + p->d.n_inst);
    want = want < UNIT_MIN ? UNIT_MIN : want > UNIT_MAX ? UNIT_MAX : want;
    want -= want % LOOP_TILE;
    if (p->n_reduce == 0) {
        p->walk = WALK_LINEAR;
        p->unit = want;
        c->units[0] = cut(p->total, want);
    } else if (s.reduced[s.rank - 1]) {
        plan_dims(p, &s);
        plan_rows(c, p, want);
    } else {
        plan_dims(p, &s);
        plan_columns(c, p);
        c->scratch += (size_t)p->n_reduce * LOOP_TILE * sizeof(loop_acc);
    }
    if (p->partial) {
        c->phases = 2;
        c->units[1] = p->n_results;
        c->grain[1] = 1 + UNIT_MIN / (p->outer.count * p->parts);
    }
    return true;
}
