/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and adding at positions that a tensor of indices names. An index outside its dimension
   reads zeros and adds nothing. What several indices add to one element is added in their order:
   the work is split so that no two units touch the same element. */
#include "cpu/kernel.h"
#include "cpu/vec/vec.h"

#include <string.h>

#define PIECE ((int64_t)32 << 10) /* bytes that a worker takes at a time */
#define CHUNK 64                  /* elements of a row that one unit adds to */

typedef struct index_plan {
    int axis;
    bool wide;             /* indices are i64 */
    int64_t outer, inner;  /* positions before and after the axis */
    int64_t n;             /* x's extent along the axis */
    int64_t count;         /* indices */
    int64_t ranges, range; /* index_add: the axis is cut in ranges */
    bool same;             /* indices and x agree in all but the axis */
    int64_t rows, pieces;  /* elements ops: rows of indices, and their cuts */
    int64_t x_stride[MAX_RANK];
    size_t size;
} index_plan;

static int64_t div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static VEC_FORCE_INLINE int64_t index_at(const void *p, bool wide, int64_t i)
{
    return wide ? ((const int64_t *)p)[i] : ((const int32_t *)p)[i];
}

static void index_shape(index_plan *p, const kcall *c)
{
    const type *x = &c->in[0], *ix = &c->in[1];
    int64_t axis = kcall_int(c, "axis");

    p->axis = (int)(axis < 0 ? axis + x->rank : axis);
    p->wide = ix->dt == INGOT_I64;
    p->n = x->dim[p->axis];
    p->count = type_count(ix);
    p->size = dtype_size(x->dt);
    p->outer = p->inner = 1;
    for (int d = 0; d < p->axis; d++)
        p->outer *= x->dim[d];
    for (int d = p->axis + 1; d < x->rank; d++)
        p->inner *= x->dim[d];
    type_strides(x, p->x_stride);
}

/* --- gather ------------------------------------------------------------------------------------
 */

static bool gather_plan(kcall *c, error *e)
{
    index_plan *p = c->plan;

    (void)e;
    index_shape(p, c);
    c->units[0] = p->inner ? p->outer * p->count : 0;
    c->grain[0] = 1 + PIECE / (p->inner * (int64_t)p->size + 1);
    return true;
}

static VEC_FORCE_INLINE void gather_blocks(const index_plan *p, const char *x, const void *ix,
                                           char *out, int64_t lo, int64_t hi, size_t block)
{
    int64_t o = lo / p->count, k = lo % p->count;

    for (int64_t u = lo; u < hi; u++, out += block) {
        int64_t i = index_at(ix, p->wide, k);
        if (i >= 0 && i < p->n)
            memcpy(out, x + (size_t)(o * p->n + i) * block, block);
        else
            memset(out, 0, block);
        if (++k == p->count) {
            k = 0;
            o++;
        }
    }
}

static void gather_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                       void *scratch, void *work)
{
    const index_plan *p = c->plan;
    size_t block = (size_t)p->inner * p->size;
    char *out = (char *)buf[2] + (size_t)lo * block;

    (void)phase, (void)scratch, (void)work;
    if (block == 4)
        gather_blocks(p, buf[0], buf[1], out, lo, hi, 4);
    else if (block == 8)
        gather_blocks(p, buf[0], buf[1], out, lo, hi, 8);
    else
        gather_blocks(p, buf[0], buf[1], out, lo, hi, block);
}

/* --- gather_elements, scatter_add_elements: indices of x's rank ----------------------------------
 */

/* A row is the last dimension of indices. Where in x its elements lie, but for the axis. */
static int64_t row_offset(const index_plan *p, const type *ix, int64_t row)
{
    int64_t at = 0;

    for (int d = ix->rank - 2; d >= 0; d--) {
        if (d != p->axis)
            at += row % ix->dim[d] * p->x_stride[d];
        row /= ix->dim[d];
    }
    return at;
}

static bool gather_elements_plan(kcall *c, error *e)
{
    index_plan *p = c->plan;
    const type *ix = &c->in[1];
    int64_t row = ix->dim[ix->rank - 1];

    (void)e;
    index_shape(p, c);
    c->units[0] = row ? p->count / row : 0;
    c->grain[0] = 1 + PIECE / (row * (int64_t)p->size + 1);
    return true;
}

static VEC_FORCE_INLINE void gather_row(const index_plan *p, const char *x, const void *ix,
                                        int64_t first, char *out, int64_t n, bool along,
                                        size_t size)
{
    int64_t step = p->x_stride[p->axis];

    for (int64_t j = 0; j < n; j++, out += size) {
        int64_t i = index_at(ix, p->wide, first + j);
        if (i >= 0 && i < p->n)
            memcpy(out, x + (size_t)(along ? i : i * step + j) * size, size);
        else
            memset(out, 0, size);
    }
}

static void gather_elements_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                                void *scratch, void *work)
{
    const index_plan *p = c->plan;
    const type *ix = &c->in[1];
    int64_t n = ix->dim[ix->rank - 1];
    bool along = p->axis == ix->rank - 1;

    (void)phase, (void)scratch, (void)work;
    for (int64_t u = lo; u < hi; u++) {
        const char *x = (const char *)buf[0] + (size_t)row_offset(p, ix, u) * p->size;
        char *out = (char *)buf[2] + (size_t)(u * n) * p->size;
        switch (p->size) {
        case 1:
            gather_row(p, x, buf[1], u * n, out, n, along, 1);
            break;
        case 2:
            gather_row(p, x, buf[1], u * n, out, n, along, 2);
            break;
        case 4:
            gather_row(p, x, buf[1], u * n, out, n, along, 4);
            break;
        default:
            gather_row(p, x, buf[1], u * n, out, n, along, 8);
        }
    }
}

/* Indices of x's shape but for the axis, which is the last: a unit copies a row of x and adds to
   it while it is in the cache. Else x is copied first, and a unit adds what belongs to CHUNK
   neighbours in the last dimension, all along the axis. */
static bool scatter_plan(kcall *c, error *e)
{
    index_plan *p = c->plan;
    const type *x = &c->in[0], *ix = &c->in[1];
    int last = ix->rank - 1;
    int64_t row = ix->dim[last], size;

    (void)e;
    index_shape(p, c);
    size = (int64_t)p->size;
    p->same = p->axis == last;
    p->rows = 1;
    for (int d = 0; d < last; d++) {
        p->same = p->same && x->dim[d] == ix->dim[d];
        p->rows *= d == p->axis ? 1 : ix->dim[d];
    }
    if (p->same) {
        c->units[0] = p->rows;
        c->grain[0] = 1 + PIECE / ((p->n + row) * size + 1);
        return true;
    }
    p->pieces = p->axis == last ? row > 0 : div_up(row, CHUNK);
    c->phases = 2;
    c->units[0] = div_up((int64_t)type_bytes(x), PIECE);
    c->units[1] = p->rows * p->pieces;
    c->grain[1] = 1 + 4096 / (ix->dim[p->axis] * (p->axis == last ? 1 : min64(row, CHUNK)) + 1);
    return true;
}

static void copy_pieces(const kcall *c, void *const *buf, int64_t lo, int64_t hi)
{
    int64_t begin = lo * PIECE, end = min64(hi * PIECE, (int64_t)type_bytes(&c->in[0]));

    if (buf[0] != buf[3])
        memcpy((char *)buf[3] + begin, (const char *)buf[0] + begin, (size_t)(end - begin));
}

/* Positions of unit u: where in x, the first index, and how many along the axis and beside. */
typedef struct strip {
    int64_t x, first, along, beside, ix_step;
} strip;

static strip strip_of(const index_plan *p, const type *ix, int64_t u)
{
    int last = ix->rank - 1;
    int64_t stride[MAX_RANK], row = u / p->pieces, begin = u % p->pieces * CHUNK;
    strip s = {.along = ix->dim[p->axis], .beside = 1, .x = begin, .first = begin};

    type_strides(ix, stride);
    for (int d = last - 1; d >= 0; d--) {
        if (d == p->axis)
            continue;
        s.x += row % ix->dim[d] * p->x_stride[d];
        s.first += row % ix->dim[d] * stride[d];
        row /= ix->dim[d];
    }
    s.ix_step = stride[p->axis];
    if (p->axis != last)
        s.beside = min64(ix->dim[last] - begin, CHUNK);
    return s;
}

/* Integers wrap, so they add as unsigned. */
#define SCATTER(name, ctype)                                                                    \
    static void scatter_rows_##name(const kcall *c, void *const *buf, int64_t lo, int64_t hi)   \
    {                                                                                           \
        const index_plan *p = c->plan;                                                          \
        int64_t m = c->in[1].dim[p->axis];                                                      \
        for (int64_t u = lo; u < hi; u++) {                                                     \
            const ctype *dy = (const ctype *)buf[2] + u * m;                                    \
            ctype *y = (ctype *)buf[3] + u * p->n;                                              \
            if (buf[0] != buf[3])                                                               \
                memcpy(y, (const ctype *)buf[0] + u * p->n, (size_t)p->n * sizeof(ctype));      \
            for (int64_t j = 0; j < m; j++) {                                                   \
                int64_t i = index_at(buf[1], p->wide, u * m + j);                               \
                if (i >= 0 && i < p->n)                                                         \
                    y[i] += dy[j];                                                              \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    static void scatter_strips_##name(const kcall *c, void *const *buf, int64_t lo, int64_t hi) \
    {                                                                                           \
        const index_plan *p = c->plan;                                                          \
        for (int64_t u = lo; u < hi; u++) {                                                     \
            strip s = strip_of(p, &c->in[1], u);                                                \
            ctype *y = (ctype *)buf[3] + s.x;                                                   \
            for (int64_t a = 0; a < s.along; a++)                                               \
                for (int64_t j = 0; j < s.beside; j++) {                                        \
                    int64_t at = s.first + a * s.ix_step + j;                                   \
                    int64_t i = index_at(buf[1], p->wide, at);                                  \
                    if (i >= 0 && i < p->n)                                                     \
                        y[i * p->x_stride[p->axis] + j] += ((const ctype *)buf[2])[at];         \
                }                                                                               \
        }                                                                                       \
    }                                                                                           \
    static void scatter_##name(const kcall *c, void *const *buf, int phase, int64_t lo,         \
                               int64_t hi, void *scratch, void *work)                           \
    {                                                                                           \
        const index_plan *p = c->plan;                                                          \
        (void)scratch, (void)work;                                                              \
        if (p->same)                                                                            \
            scatter_rows_##name(c, buf, lo, hi);                                                \
        else if (phase == 0)                                                                    \
            copy_pieces(c, buf, lo, hi);                                                        \
        else                                                                                    \
            scatter_strips_##name(c, buf, lo, hi);                                              \
    }

SCATTER(f32, float)
SCATTER(f64, double)
SCATTER(i32, uint32_t)
SCATTER(i64, uint64_t)

/* --- index_add ---------------------------------------------------------------------------------
 */

/* A unit owns a range of the axis: it copies x's rows there and adds the updates whose indices fall
   into it. Each reads all indices, which wide rows hide; narrow ones get fewer ranges. */
static bool index_add_plan(kcall *c, error *e)
{
    index_plan *p = c->plan;
    int64_t ranges;

    (void)e;
    index_shape(p, c);
    ranges = p->inner >= 64 ? 64 : p->inner >= 8 ? 16 : 4;
    ranges = min64(ranges, 1 + (p->n + p->count) * p->inner / 4096);
    if (p->outer >= 64)
        ranges = 1;
    p->ranges = p->n ? min64(ranges, p->n) : 0;
    p->range = p->ranges ? div_up(p->n, p->ranges) : 0;
    c->units[0] = p->inner ? p->outer * p->ranges : 0;
    c->grain[0] = 1 + 4096 / ((p->range + p->count) * p->inner + 1);
    return true;
}

#define INDEX_ADD(name, ctype)                                                            \
    static void index_add_##name(const kcall *c, void *const *buf, int phase, int64_t lo, \
                                 int64_t hi, void *scratch, void *work)                   \
    {                                                                                     \
        const index_plan *p = c->plan;                                                    \
        (void)phase, (void)scratch, (void)work;                                           \
        for (int64_t u = lo; u < hi; u++) {                                               \
            int64_t o = u / p->ranges, first = u % p->ranges * p->range;                  \
            int64_t after = min64(first + p->range, p->n);                                \
            int64_t at = (o * p->n + first) * p->inner;                                   \
            if (after > first && buf[0] != buf[3])                                        \
                memcpy((ctype *)buf[3] + at, (const ctype *)buf[0] + at,                  \
                       (size_t)((after - first) * p->inner) * sizeof(ctype));             \
            for (int64_t k = 0; k < p->count; k++) {                                      \
                int64_t i = index_at(buf[1], p->wide, k);                                 \
                if (i < first || i >= after)                                              \
                    continue;                                                             \
                const ctype *dy = (const ctype *)buf[2] + (o * p->count + k) * p->inner;  \
                ctype *y = (ctype *)buf[3] + (o * p->n + i) * p->inner;                   \
                for (int64_t j = 0; j < p->inner; j++)                                    \
                    y[j] += dy[j];                                                        \
            }                                                                             \
        }                                                                                 \
    }

INDEX_ADD(f32, float)
INDEX_ADD(f64, double)
INDEX_ADD(i32, uint32_t)
INDEX_ADD(i64, uint64_t)

extern const kernel_row ISA_FN(kernels_index)[];

const kernel_row ISA_FN(kernels_index)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/index.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
