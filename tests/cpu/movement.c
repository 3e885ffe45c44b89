/* SPDX-License-Identifier: Apache-2.0 */
/* Movement ops on every element size against copies made element by element. */
#include "cpu/run_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const dtype sizes[] = {INGOT_U8, INGOT_BF16, INGOT_F32, INGOT_I64};
#define N_SIZES 4

/* Where element `at` of out comes from in in: its index, or -1 for the fill value. */
typedef int64_t (*source_fn)(const run_case *r, const int64_t *at);

static int64_t flat(const type *t, const int64_t *at)
{
    int64_t i = 0;

    for (int d = 0; d < t->rank; d++)
        i = i * t->dim[d] + at[d];
    return i;
}

static void unflat(const type *t, int64_t i, int64_t *at)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = i % t->dim[d];
        i /= t->dim[d];
    }
}

static ints attr_ints(const run_case *r, int i)
{
    return r->attrs[i].a;
}

static unsigned char *noise(size_t bytes, uint64_t seed)
{
    unsigned char *p = malloc(bytes + 1);

    assert_non_null(p);
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)((i + seed) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
    return p;
}

/* Runs r on every instruction set, and with three threads on the best. */
static void check_moves(run_case *r, source_fn source, const void *fill)
{
    size_t size = dtype_size(r->in[0].dt), bytes = type_bytes(&r->out[0]);
    unsigned char *in = noise(type_bytes(&r->in[0]), 1), *want = noise(bytes, 2),
                  *out = noise(bytes, 3);
    char text[2][TYPE_TEXT];
    error e = {0};

    for (int64_t i = 0; i < type_count(&r->out[0]); i++) {
        int64_t at[MAX_RANK], from;

        unflat(&r->out[0], i, at);
        from = source(r, at);
        memcpy(want + (size_t)i * size, from < 0 ? fill : in + (size_t)from * size, size);
    }
    r->n_in = r->n_out = 1;
    r->buf[0] = in;
    r->buf[1] = out;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (r->threads = 1; r->threads <= (isa == cpu_isas() ? 3 : 1); r->threads += 2) {
            memset(out, 0xa5, bytes);
            r->isa = *isa;
            if (!run_kernel(r, &e))
                fail_msg("%s", e.text);
            if (bytes && memcmp(out, want, bytes))
                fail_msg("%s %s %s -> %s differs", *isa, r->op, type_text(&r->in[0], text[0]),
                         type_text(&r->out[0], text[1]));
        }
    free(in);
    free(want);
    free(out);
}

/* --- transpose ---------------------------------------------------------------------------------
 */

static int64_t transposed(const run_case *r, const int64_t *at)
{
    ints perm = attr_ints(r, 0);
    int rank = r->in[0].rank;
    int64_t from[MAX_RANK];

    for (int d = 0; d < rank; d++)
        from[perm.n ? perm.v[d] : rank - 1 - d] = at[d];
    return flat(&r->in[0], from);
}

static void transpose_moves_axes(void **state)
{
    static const struct {
        int rank;
        int64_t dim[5], perm[5];
        bool reverse;
    } rows[] = {
        {1, {7}, {0}, false},
        {0, {0}, {0}, true},
        {2, {1, 1}, {1, 0}, false},
        {2, {5, 3}, {1, 0}, true},
        {2, {64, 64}, {1, 0}, false},
        {2, {65, 63}, {1, 0}, false},
        {2, {131, 257}, {1, 0}, false},
        {2, {0, 4}, {1, 0}, false},
        {2, {1, 9000}, {1, 0}, false},
        {3, {3, 17, 21}, {0, 2, 1}, false},
        {3, {3, 17, 21}, {1, 0, 2}, false},
        {3, {3, 17, 21}, {2, 0, 1}, false},
        {3, {33, 4, 5}, {0, 0, 0}, true},
        {4, {2, 3, 8, 9}, {0, 2, 3, 1}, false},
        {4, {2, 3, 8, 9}, {0, 3, 1, 2}, false},
        {4, {2, 3, 8, 9}, {3, 1, 2, 0}, false},
        {4, {4, 1, 70, 66}, {0, 1, 3, 2}, false},
        {5, {2, 3, 4, 5, 6}, {4, 2, 0, 3, 1}, false},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        for (int s = 0; s < N_SIZES; s++) {
            run_case r = {.op = "transpose"};
            int rank = rows[k].rank;

            r.in[0] = r.out[0] = type_make(sizes[s], rank, rows[k].dim);
            for (int d = 0; d < rank; d++)
                r.out[0].dim[d] = rows[k].dim[rows[k].reverse ? rank - 1 - d : rows[k].perm[d]];
            run_attr_ints(&r, "perm", (ints){rows[k].perm, rows[k].reverse ? 0 : rank});
            check_moves(&r, transposed, NULL);
        }
}

/* --- slice and what puts back ------------------------------------------------------------------
 */

typedef struct slice_row {
    int rank;
    int64_t dim[4], start[4], size[4], step[4];
} slice_row;

static const slice_row slices[] = {
    {1, {10}, {2}, {5}, {1}},
    {1, {10}, {9}, {10}, {-1}},
    {1, {10}, {1}, {3}, {4}},
    {1, {10}, {0}, {0}, {1}},
    {1, {50000}, {17}, {49000}, {1}},
    {1, {50000}, {49999}, {16000}, {-3}},
    {2, {6, 7}, {0, 0}, {6, 7}, {1, 1}},
    {2, {6, 7}, {1, 0}, {4, 7}, {1, 1}},
    {2, {6, 7}, {0, 2}, {6, 3}, {1, 1}},
    {2, {6, 7}, {5, 6}, {3, 3}, {-2, -3}},
    {2, {300, 500}, {10, 0}, {200, 500}, {1, 1}},
    {3, {4, 5, 6}, {3, 0, 0}, {4, 5, 6}, {-1, 1, 1}},
    {3, {4, 5, 6}, {1, 1, 1}, {2, 2, 2}, {1, 2, 3}},
    {3, {4, 5, 6}, {0, 4, 0}, {4, 1, 6}, {1, 1, 1}},
    {3, {4, 5, 6}, {0, 0, 5}, {4, 5, 1}, {1, 1, 1}},
    {4, {2, 3, 9, 11}, {0, 0, 1, 2}, {2, 3, 4, 3}, {1, 1, 2, 3}},
};

static int64_t sliced(const run_case *r, const int64_t *at)
{
    ints starts = attr_ints(r, 0), steps = attr_ints(r, 1);
    int64_t from[MAX_RANK];

    for (int d = 0; d < r->in[0].rank; d++)
        from[d] = starts.v[d] + at[d] * (steps.n ? steps.v[d] : 1);
    return flat(&r->in[0], from);
}

/* The element that lands here, found by trying all of them along each axis. */
static int64_t landed(const run_case *r, const int64_t *at)
{
    ints starts = attr_ints(r, 0), steps = attr_ints(r, 1);
    int64_t from[MAX_RANK];

    for (int d = 0; d < r->in[0].rank; d++) {
        from[d] = -1;
        for (int64_t k = 0; k < r->in[0].dim[d]; k++)
            if (starts.v[d] + k * (steps.n ? steps.v[d] : 1) == at[d])
                from[d] = k;
        if (from[d] < 0)
            return -1;
    }
    return flat(&r->in[0], from);
}

static bool all_ones(const int64_t *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v[i] != 1)
            return false;
    return true;
}

static void check_slices(const char *op, bool back)
{
    static const unsigned char zero[8];

    for (size_t k = 0; k < sizeof(slices) / sizeof(slices[0]); k++)
        for (int s = 0; s < N_SIZES; s++) {
            const slice_row *row = &slices[k];
            bool plain = all_ones(row->step, row->rank);
            type whole = type_make(sizes[s], row->rank, row->dim);
            type part = type_make(sizes[s], row->rank, row->size);

            if (back && row->dim[0] > 1000) /* the reference is quadratic */
                continue;
            for (int with = plain ? 0 : 1; with < 2; with++) {
                run_case r = {.op = op};

                r.in[0] = back ? part : whole;
                r.out[0] = back ? whole : part;
                run_attr_ints(&r, "starts", (ints){row->start, row->rank});
                run_attr_ints(&r, "steps", (ints){row->step, with ? row->rank : 0});
                check_moves(&r, back ? landed : sliced, zero);
            }
        }
}

static void slice_takes_elements(void **state)
{
    (void)state;
    check_slices("slice", false);
}

static void slice_backward_puts_them_back(void **state)
{
    (void)state;
    check_slices("slice_backward", true);
}

static void pad_surrounds(void **state)
{
    static const struct {
        int rank;
        int64_t dim[4], pads[8];
    } rows[] = {
        {1, {5}, {2, 3}},
        {1, {0}, {2, 3}},
        {1, {5}, {0, 0}},
        {2, {4, 5}, {0, 1, 0, 2}},
        {2, {4, 5}, {1, 0, 2, 0}},
        {2, {40, 500}, {100, 0, 200, 0}},
        {2, {3, 9000}, {1, 7, 0, 9000}},
        {3, {2, 3, 4}, {1, 0, 0, 0, 2, 0}},
        {4, {2, 3, 7, 5}, {0, 0, 1, 1, 0, 0, 1, 1}},
        {4, {2, 3, 7, 5}, {0, 1, 0, 0, 0, 0, 0, 0}},
        {4, {2, 0, 7, 5}, {0, 1, 0, 0, 0, 0, 0, 0}},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        for (int s = 0; s < N_SIZES; s++) {
            run_case r = {.op = "pad"};
            int rank = rows[k].rank;
            unsigned char fill[8];

            r.in[0] = r.out[0] = type_make(sizes[s], rank, rows[k].dim);
            for (int d = 0; d < rank; d++)
                r.out[0].dim[d] += rows[k].pads[d] + rows[k].pads[rank + d];
            run_attr_ints(&r, "pads", (ints){rows[k].pads, 2 * rank});
            r.attr_names[r.n_attrs] = "steps"; /* for the reference alone */
            r.attrs[r.n_attrs++] = (attr){.kind = ATTR_INTS};
            r.attr_names[r.n_attrs] = "value";
            r.attrs[r.n_attrs++] = (attr){.kind = ATTR_REAL, .f = 7.5};
            dtype_set_f64(sizes[s], fill, 0, 7.5);
            check_moves(&r, landed, fill);
        }
}

/* --- broadcast_to, concat ------------------------------------------------------------------------
 */

static int64_t repeated(const run_case *r, const int64_t *at)
{
    const type *x = &r->in[0];
    int64_t from[MAX_RANK];

    for (int d = 0; d < x->rank; d++)
        from[d] = x->dim[d] == 1 ? 0 : at[r->out[0].rank - x->rank + d];
    return flat(x, from);
}

static void broadcast_to_repeats(void **state)
{
    static const struct {
        int in_rank, rank;
        int64_t in[4], dim[4];
    } rows[] = {
        {0, 0, {0}, {0}},
        {0, 2, {0}, {300, 400}},
        {1, 2, {5}, {3, 5}},
        {1, 2, {1}, {3, 5}},
        {2, 2, {3, 1}, {3, 5}},
        {2, 2, {1, 5}, {3, 5}},
        {2, 2, {1, 20000}, {3, 20000}},
        {2, 2, {3, 1}, {3, 33000}},
        {2, 2, {1, 1}, {0, 5}},
        {3, 4, {3, 1, 1}, {2, 3, 6, 7}},
        {4, 4, {1, 3, 1, 5}, {2, 3, 4, 5}},
        {4, 4, {2, 1, 4, 1}, {2, 3, 4, 5}},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        for (int s = 0; s < N_SIZES; s++) {
            run_case r = {.op = "broadcast_to"};

            r.in[0] = type_make(sizes[s], rows[k].in_rank, rows[k].in);
            r.out[0] = type_make(sizes[s], rows[k].rank, rows[k].dim);
            check_moves(&r, repeated, NULL);
        }
}

/* in of 4 inputs of the given extents along axis; the last is fed twice when there is room. */
static void check_concat(dtype dt, int rank, const int64_t *dim, int axis, const int64_t *extents)
{
    run_case r = {.op = "concat", .n_in = 4, .n_out = 1};
    size_t size = dtype_size(dt);
    unsigned char *out, *want;
    int64_t before = 0;

    r.out[0] = type_make(dt, rank, dim);
    r.out[0].dim[axis] = 0;
    for (int i = 0; i < 4; i++) {
        r.in[i] = type_make(dt, rank, dim);
        r.in[i].dim[axis] = extents[i];
        r.out[0].dim[axis] += extents[i];
        r.buf[i] = noise(type_bytes(&r.in[i]), (uint64_t)i);
    }
    want = noise(type_bytes(&r.out[0]), 8);
    out = noise(type_bytes(&r.out[0]), 9);
    for (int i = 0; i < 4; before += extents[i++])
        for (int64_t j = 0; j < type_count(&r.in[i]); j++) {
            int64_t at[MAX_RANK];

            unflat(&r.in[i], j, at);
            at[axis] += before;
            memcpy(want + (size_t)flat(&r.out[0], at) * size,
                   (unsigned char *)r.buf[i] + (size_t)j * size, size);
        }
    run_attr_int(&r, "axis", axis % 2 ? axis : axis - rank);
    r.buf[4] = out;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (r.threads = 1; r.threads <= (isa == cpu_isas() ? 3 : 1); r.threads += 2) {
            memset(out, 0xa5, type_bytes(&r.out[0]));
            r.isa = *isa;
            assert_true(run_kernel(&r, NULL));
            assert_memory_equal(out, want, type_bytes(&r.out[0]));
        }
    for (int i = 0; i < 4; i++)
        free(r.buf[i]);
    free(out);
    free(want);
}

static void concat_joins(void **state)
{
    static const int64_t a[] = {3, 0, 1, 5}, b[] = {9000, 1, 700, 33}, c[] = {2, 2, 2, 2};

    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        check_concat(sizes[s], 1, INTS(0).v, 0, a);
        check_concat(sizes[s], 1, INTS(0).v, 0, b);
        check_concat(sizes[s], 3, INTS(4, 5, 6).v, 0, a);
        check_concat(sizes[s], 3, INTS(4, 5, 6).v, 1, a);
        check_concat(sizes[s], 3, INTS(4, 5, 6).v, 2, a);
        check_concat(sizes[s], 2, INTS(7, 3).v, 1, b);
        check_concat(sizes[s], 4, INTS(2, 3, 50, 60).v, 1, c);
    }
}

/* --- full, iota --------------------------------------------------------------------------------
 */

static void check_made(run_case *r, double (*value)(const type *t, int64_t i, int axis), int axis)
{
    size_t bytes = type_bytes(&r->out[0]), size = dtype_size(r->out[0].dt);
    unsigned char *out = noise(bytes, 1);

    r->n_in = 0;
    r->n_out = 1;
    r->buf[0] = out;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (r->threads = 1; r->threads <= (isa == cpu_isas() ? 3 : 1); r->threads += 2) {
            memset(out, 0xa5, bytes);
            r->isa = *isa;
            assert_true(run_kernel(r, NULL));
            for (int64_t i = 0; i < type_count(&r->out[0]); i++) {
                unsigned char want[8];

                dtype_set_f64(r->out[0].dt, want, 0, value(&r->out[0], i, axis));
                assert_memory_equal(out + (size_t)i * size, want, size);
            }
        }
    free(out);
}

static double three(const type *t, int64_t i, int axis)
{
    (void)t, (void)i, (void)axis;
    return 3.25;
}

static double coordinate(const type *t, int64_t i, int axis)
{
    int64_t at[MAX_RANK];

    unflat(t, i, at);
    return (double)at[axis];
}

static void full_and_iota_fill(void **state)
{
    static const int64_t shapes[][3] = {{2, 3, 4}, {0, 3, 4}, {1, 1, 1}, {3, 120, 100}};

    (void)state;
    for (int d = 0; d <= INGOT_BOOL; d++)
        for (size_t k = 0; k < 4; k++) {
            run_case r = {.op = "full"};

            r.out[0] = type_make((dtype)d, 3, shapes[k]);
            r.attr_names[r.n_attrs] = "value";
            r.attrs[r.n_attrs++] = (attr){.kind = ATTR_REAL, .f = 3.25};
            check_made(&r, three, 0);
            for (int axis = 0; axis < 3 && d != INGOT_BOOL; axis++) {
                run_case q = {.op = "iota"};

                q.out[0] = type_make((dtype)d, 3, shapes[k]);
                if (d == INGOT_I8)
                    q.out[0].dim[1] = q.out[0].dim[1] > 100 ? 100 : q.out[0].dim[1];
                run_attr_int(&q, "axis", axis ? axis : -3);
                check_made(&q, coordinate, axis);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_moves_axes),
        cmocka_unit_test(slice_takes_elements),
        cmocka_unit_test(slice_backward_puts_them_back),
        cmocka_unit_test(pad_surrounds),
        cmocka_unit_test(broadcast_to_repeats),
        cmocka_unit_test(concat_joins),
        cmocka_unit_test(full_and_iota_fill),
    };

    return cmocka_run_group_tests_name("cpu/movement", tests, NULL, NULL);
}
