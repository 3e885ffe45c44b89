/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that move elements of any dtype, and those that make them: three loops do all the work.
   copy_run walks its input with strides (transpose, slice, broadcast_to), place_run sets its
   input into a filled output (pad, slice_backward), concat_run strings inputs together. */
#include "cpu/kernel.h"
#include "cpu/vec/vec.h"

#include <string.h>

#define PIECE ((int64_t)32 << 10) /* bytes that a worker takes at a time */
#define TILE  64                  /* elements along each side of a transposed tile */

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* --- elements by size ------------------------------------------------------------------------ */

static VEC_FORCE_INLINE void copy_each(char *out, const char *in, int64_t n, int64_t step,
                                       size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i * (int64_t)size, in + i * step, size);
}

/* n elements, each step bytes from the last, to contiguous memory; step 0 repeats one. */
static void copy_elements(char *out, const char *in, int64_t n, int64_t step, size_t size)
{
    switch (size) {
    case 1:
        copy_each(out, in, n, step, 1);
        break;
    case 2:
        copy_each(out, in, n, step, 2);
        break;
    case 4:
        copy_each(out, in, n, step, 4);
        break;
    default:
        copy_each(out, in, n, step, 8);
    }
}

/* out[i][j] = in[j][i]: rows of out are out_step bytes apart, rows of in in_step bytes. */
static VEC_FORCE_INLINE void tile_each(char *out, int64_t out_step, const char *in, int64_t in_step,
                                       int64_t ni, int64_t nj, size_t size)
{
    for (int64_t i = 0; i < ni; i++)
        for (int64_t j = 0; j < nj; j++)
            memcpy(out + i * out_step + j * (int64_t)size, in + j * in_step + i * (int64_t)size,
                   size);
}

/* The same for 4-byte elements: whole squares in registers, then the two edges. */
static void tile_words(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t ni,
                       int64_t nj)
{
    int64_t mi = ni - ni % VF32_LANES, mj = nj - nj % VF32_LANES;

    for (int64_t i = 0; i < mi; i += VF32_LANES)
        for (int64_t j = 0; j < mj; j += VF32_LANES) {
            vf32 r[VF32_LANES];
            for (int l = 0; l < VF32_LANES; l++)
                r[l] = vf32_load((const float *)(const void *)(in + (j + l) * in_step + i * 4));
            vf32_transpose(r);
            for (int l = 0; l < VF32_LANES; l++)
                vf32_store((float *)(void *)(out + (i + l) * out_step + j * 4), r[l]);
        }
    tile_each(out + mj * 4, out_step, in + mj * in_step, in_step, mi, nj - mj, 4);
    tile_each(out + mi * out_step, out_step, in + mi * 4, in_step, ni - mi, nj, 4);
}

static void tile_elements(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t ni,
                          int64_t nj, size_t size)
{
    switch (size) {
    case 1:
        tile_each(out, out_step, in, in_step, ni, nj, 1);
        break;
    case 2:
        tile_each(out, out_step, in, in_step, ni, nj, 2);
        break;
    case 4:
        tile_words(out, out_step, in, in_step, ni, nj);
        break;
    default:
        tile_each(out, out_step, in, in_step, ni, nj, 8);
    }
}

/* --- strided copies: transpose, slice, broadcast_to --------------------------------------------
 */

typedef enum copy_kind { COPY_RUNS, COPY_STRIDED, COPY_TILES } copy_kind;

/* out is row-major over dim; in is walked with stride (bytes). Dimensions that in walks as one are
   merged, so that the last one, the row, is as long as can be. */
typedef struct copy_plan {
    copy_kind kind;
    int rank;
    int across; /* TILES: the dimension along which in is contiguous */
    int64_t dim[MAX_RANK], stride[MAX_RANK];
    int64_t out_step; /* TILES: bytes of out per step along `across` */
    int64_t offset;   /* bytes, of the first element */
    int64_t piece;    /* elements of a row that one unit copies */
    int64_t pieces;   /* of a row */
    size_t size;
} copy_plan;

static void copy_merge(copy_plan *p)
{
    int n = 0;

    for (int d = 0; d < p->rank; d++) {
        if (p->dim[d] == 1)
            continue;
        if (n && p->stride[n - 1] == p->stride[d] * p->dim[d]) {
            p->dim[n - 1] *= p->dim[d];
            p->stride[n - 1] = p->stride[d];
        } else {
            p->dim[n] = p->dim[d];
            p->stride[n++] = p->stride[d];
        }
    }
    if (n == 0) {
        p->dim[0] = 1;
        p->stride[0] = (int64_t)p->size;
        n = 1;
    }
    p->rank = n;
}

/* Rows and pieces, or squares, of out: p->dim and p->stride are set. */
static bool copy_finish(copy_plan *p, kcall *c)
{
    int64_t rows = 1, size = (int64_t)p->size;
    int last;

    copy_merge(p);
    last = p->rank - 1;
    p->kind = p->stride[last] == size ? COPY_RUNS : COPY_STRIDED;
    if (p->kind == COPY_STRIDED && p->stride[last] != 0) {
        p->out_step = size;
        for (int d = last - 1, step = 0; d >= 0 && !step; d--) {
            p->out_step *= p->dim[d + 1];
            step = p->stride[d] == size;
            if (step) {
                p->kind = COPY_TILES;
                p->across = d;
            }
        }
    }
    for (int d = 0; d < last; d++)
        rows *= p->kind == COPY_TILES && d == p->across ? div_up(p->dim[d], TILE) : p->dim[d];
    p->piece = p->kind == COPY_TILES ? TILE : PIECE / size;
    p->pieces = div_up(p->dim[last], p->piece);
    c->units[0] = rows * p->pieces;
    if (p->kind != COPY_TILES)
        c->grain[0] = 1 + PIECE / (min64(p->dim[last], p->piece) * size + 1);
    return true;
}

static void copy_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                     void *scratch, void *work)
{
    const copy_plan *p = c->plan;
    int last = p->rank - 1;
    int64_t size = (int64_t)p->size;

    (void)phase, (void)scratch, (void)work;
    for (int64_t u = lo; u < hi; u++) {
        int64_t begin = u % p->pieces * p->piece, n = min64(p->dim[last] - begin, p->piece);
        int64_t rest = u / p->pieces, out_step = size * p->dim[last], at = 0, wide = 0;
        const char *in = (const char *)buf[0] + p->offset + begin * p->stride[last];
        char *out;

        for (int d = last - 1; d >= 0; d--) {
            bool tiled = p->kind == COPY_TILES && d == p->across;
            int64_t count = tiled ? div_up(p->dim[d], TILE) : p->dim[d];
            int64_t i = rest % count * (tiled ? TILE : 1);
            rest /= count;
            in += i * p->stride[d];
            at += i * out_step;
            out_step *= p->dim[d];
            if (tiled)
                wide = min64(p->dim[d] - i, TILE);
        }
        out = (char *)buf[1] + at + begin * size;
        if (p->kind == COPY_RUNS)
            memcpy(out, in, (size_t)(n * size));
        else if (p->kind == COPY_STRIDED)
            copy_elements(out, in, n, p->stride[last], p->size);
        else
            tile_elements(out, p->out_step, in, p->stride[last], wide, n, p->size);
    }
}

static bool transpose_plan(kcall *c, error *e)
{
    copy_plan *p = c->plan;
    const type *x = &c->in[0];
    ints perm = kcall_ints(c, "perm");
    int64_t stride[MAX_RANK];

    (void)e;
    p->size = dtype_size(x->dt);
    p->rank = x->rank;
    type_strides(x, stride);
    for (int d = 0; d < x->rank; d++) {
        int64_t from = perm.n ? perm.v[d] : x->rank - 1 - d;
        if (from < 0)
            from += x->rank;
        p->dim[d] = x->dim[from];
        p->stride[d] = stride[from] * (int64_t)p->size;
    }
    return copy_finish(p, c);
}

static bool slice_plan(kcall *c, error *e)
{
    copy_plan *p = c->plan;
    const type *x = &c->in[0], *y = &c->out[0];
    ints starts = kcall_ints(c, "starts"), steps = kcall_ints(c, "steps");
    int64_t stride[MAX_RANK];

    (void)e;
    p->size = dtype_size(x->dt);
    p->rank = x->rank;
    type_strides(x, stride);
    for (int d = 0; d < x->rank; d++) {
        int64_t bytes = stride[d] * (int64_t)p->size;
        p->dim[d] = y->dim[d];
        p->stride[d] = bytes * (steps.n ? steps.v[d] : 1);
        p->offset += bytes * starts.v[d];
    }
    return copy_finish(p, c);
}

static bool broadcast_to_plan(kcall *c, error *e)
{
    copy_plan *p = c->plan;
    const type *x = &c->in[0], *y = &c->out[0];
    int64_t stride[MAX_RANK];

    (void)e;
    p->size = dtype_size(x->dt);
    p->rank = y->rank;
    type_strides(x, stride);
    for (int d = y->rank - 1, i = x->rank - 1; d >= 0; d--, i--) {
        p->dim[d] = y->dim[d];
        p->stride[d] = i < 0 || x->dim[i] == 1 ? 0 : stride[i] * (int64_t)p->size;
    }
    return copy_finish(p, c);
}

/* --- setting into a filled output: pad, slice_backward ------------------------------------------
 */

/* in[i] goes to out[start + i * step]. Trailing dimensions that are the same in both make up one
   block; the last dimension left is the row, whose elements are blocks. */
typedef struct place_plan {
    int rank;
    int64_t dim[MAX_RANK], in_dim[MAX_RANK], start[MAX_RANK], step[MAX_RANK];
    int64_t block; /* bytes */
    int64_t piece, pieces;
    size_t size;
    char fill[8]; /* one element */
} place_plan;

static bool place_finish(place_plan *p, kcall *c)
{
    const type *x = &c->in[0], *y = &c->out[0];
    int64_t rows = 1;
    int last;

    p->size = dtype_size(x->dt);
    p->block = (int64_t)p->size;
    p->rank = x->rank;
    for (int d = 0; d < x->rank; d++) {
        p->dim[d] = y->dim[d];
        p->in_dim[d] = x->dim[d];
    }
    while (p->rank && p->dim[p->rank - 1] == p->in_dim[p->rank - 1] && p->step[p->rank - 1] == 1)
        p->block *= p->dim[--p->rank];
    if (p->rank == 0) {
        p->rank = 1;
        p->dim[0] = p->in_dim[0] = p->step[0] = 1;
        p->start[0] = 0;
    }
    last = p->rank - 1;
    for (int d = 0; d < last; d++)
        rows *= p->dim[d];
    p->piece = 1 + PIECE / (p->block + 1);
    p->pieces = div_up(p->dim[last], p->piece);
    c->units[0] = p->block ? rows * p->pieces : 0;
    c->grain[0] = 1 + PIECE / (min64(p->dim[last], p->piece) * p->block + 1);
    return true;
}

static void place_fill(const place_plan *p, char *out, int64_t blocks)
{
    copy_elements(out, p->fill, blocks * (p->block / (int64_t)p->size), 0, p->size);
}

/* Which of the dimension's elements comes to position i of out, or -1. */
static int64_t place_source(const place_plan *p, int d, int64_t i)
{
    int64_t from = i - p->start[d], k = from / p->step[d];

    return k >= 0 && k < p->in_dim[d] && k * p->step[d] == from ? k : -1;
}

/* Blocks [lo, hi) of a row of out; in is the row's first block, or NULL when none comes here. */
static void place_row(const place_plan *p, char *out, const char *in, int64_t lo, int64_t hi)
{
    int d = p->rank - 1;
    int64_t b = p->block;

    if (!in) {
        place_fill(p, out, hi - lo);
    } else if (p->step[d] == 1) {
        int64_t first = p->start[d], after = first + p->in_dim[d];
        int64_t from = first < lo ? lo : min64(first, hi),
                to = after < from ? from : min64(after, hi);
        place_fill(p, out, from - lo);
        if (to > from)
            memcpy(out + (from - lo) * b, in + (from - first) * b, (size_t)((to - from) * b));
        place_fill(p, out + (to - lo) * b, hi - to);
    } else {
        for (int64_t i = lo; i < hi; i++) {
            int64_t k = place_source(p, d, i);
            if (k < 0)
                place_fill(p, out + (i - lo) * b, 1);
            else
                memcpy(out + (i - lo) * b, in + k * b, (size_t)b);
        }
    }
}

static void place_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                      void *scratch, void *work)
{
    const place_plan *p = c->plan;
    int last = p->rank - 1;

    (void)phase, (void)scratch, (void)work;
    for (int64_t u = lo; u < hi; u++) {
        int64_t row = u / p->pieces, begin = u % p->pieces * p->piece, rest = row;
        int64_t end = min64(begin + p->piece, p->dim[last]), from = 0, in_step = p->in_dim[last];

        for (int d = last - 1; d >= 0 && from >= 0; d--) {
            int64_t k = place_source(p, d, rest % p->dim[d]);
            rest /= p->dim[d];
            from = k < 0 ? -1 : from + k * in_step;
            in_step *= p->in_dim[d];
        }
        place_row(p, (char *)buf[1] + (row * p->dim[last] + begin) * p->block,
                  from < 0 ? NULL : (const char *)buf[0] + from * p->block, begin, end);
    }
}

static bool pad_plan(kcall *c, error *e)
{
    place_plan *p = c->plan;
    ints pads = kcall_ints(c, "pads");

    (void)e;
    dtype_set_f64(c->in[0].dt, p->fill, 0, kcall_real(c, "value"));
    for (int d = 0; d < c->in[0].rank; d++) {
        p->start[d] = pads.v[d];
        p->step[d] = 1;
    }
    return place_finish(p, c);
}

static bool slice_backward_plan(kcall *c, error *e)
{
    place_plan *p = c->plan;
    ints starts = kcall_ints(c, "starts"), steps = kcall_ints(c, "steps");

    (void)e;
    for (int d = 0; d < c->in[0].rank; d++) {
        p->start[d] = starts.v[d];
        p->step[d] = steps.n ? steps.v[d] : 1;
    }
    return place_finish(p, c);
}

/* --- concat ------------------------------------------------------------------------------------
 */

/* Per position of the dimensions before the axis, out has one row: a run of each input. */
typedef struct concat_state {
    int axis;
    int64_t inner; /* bytes per step along the axis */
    int64_t row;   /* bytes of out */
    int64_t total;
} concat_state;

static bool concat_plan(kcall *c, error *e)
{
    concat_state *p = c->plan;
    const type *y = &c->out[0];
    int64_t axis = kcall_int(c, "axis");

    (void)e;
    p->axis = (int)(axis < 0 ? axis + y->rank : axis);
    p->inner = (int64_t)dtype_size(y->dt);
    for (int d = p->axis + 1; d < y->rank; d++)
        p->inner *= y->dim[d];
    p->row = p->inner * y->dim[p->axis];
    p->total = (int64_t)type_bytes(y);
    c->units[0] = div_up(p->total, PIECE);
    return true;
}

/* Bytes [lo, hi) of one row of out. */
static void concat_row(const kcall *c, void *const *buf, int64_t row, int64_t lo, int64_t hi,
                       char *out)
{
    const concat_state *p = c->plan;
    int64_t at = 0;

    for (int i = 0; i < c->n_in && at < hi; i++) {
        int64_t run = p->inner * c->in[i].dim[p->axis];
        int64_t from = at < lo ? lo - at : 0, to = min64(run, hi - at);
        if (to > from)
            memcpy(out + at + from - lo, (const char *)buf[i] + row * run + from,
                   (size_t)(to - from));
        at += run;
    }
}

static void concat_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                       void *scratch, void *work)
{
    const concat_state *p = c->plan;
    int64_t end = min64(hi * PIECE, p->total);
    char *out = buf[c->n_in];

    (void)phase, (void)scratch, (void)work;
    for (int64_t at = lo * PIECE; at < end;) {
        int64_t row = at / p->row, begin = at % p->row, n = min64(p->row - begin, end - at);
        concat_row(c, buf, row, begin, begin + n, out + at);
        at += n;
    }
}

/* --- full, iota --------------------------------------------------------------------------------
 */

#define IOTA_CHUNK 256

typedef struct make_plan {
    int64_t count, inner, n; /* iota: element i is i / inner % n */
    char fill[8];
} make_plan;

static bool make_finish(make_plan *p, kcall *c)
{
    p->count = type_count(&c->out[0]);
    c->units[0] = div_up(p->count, PIECE);
    return true;
}

static bool full_plan(kcall *c, error *e)
{
    make_plan *p = c->plan;

    (void)e;
    dtype_set_f64(c->out[0].dt, p->fill, 0, kcall_real(c, "value"));
    return make_finish(p, c);
}

static void full_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                     void *scratch, void *work)
{
    const make_plan *p = c->plan;
    int64_t begin = lo * PIECE, size = (int64_t)dtype_size(c->out[0].dt);

    (void)phase, (void)scratch, (void)work;
    copy_elements((char *)buf[0] + begin * size, p->fill, min64(hi * PIECE, p->count) - begin, 0,
                  (size_t)size);
}

static bool iota_plan(kcall *c, error *e)
{
    make_plan *p = c->plan;
    const type *y = &c->out[0];
    int64_t axis = kcall_int(c, "axis");

    (void)e;
    if (axis < 0)
        axis += y->rank;
    p->inner = 1;
    for (int d = (int)axis + 1; d < y->rank; d++)
        p->inner *= y->dim[d];
    p->n = y->dim[axis];
    return make_finish(p, c);
}

static void iota_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                     void *scratch, void *work)
{
    const make_plan *p = c->plan;
    int64_t end = min64(hi * PIECE, p->count), v[IOTA_CHUNK];
    dtype dt = c->out[0].dt;

    (void)phase, (void)scratch, (void)work;
    for (int64_t at = lo * PIECE; at < end; at += IOTA_CHUNK) {
        int64_t n = min64(IOTA_CHUNK, end - at), outer = at / p->inner, rest = at % p->inner;
        for (int64_t i = 0; i < n; i++) {
            v[i] = outer % p->n;
            if (++rest == p->inner) {
                rest = 0;
                outer++;
            }
        }
        dtype_convert(INGOT_I64, v, dt, (char *)buf[0] + at * (int64_t)dtype_size(dt), n);
    }
}

extern const kernel_row ISA_FN(kernels_movement)[];

const kernel_row ISA_FN(kernels_movement)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/movement.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
