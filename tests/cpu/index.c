/* SPDX-License-Identifier: Apache-2.0 */
/* gather, scatter and index_add against loops over single elements in the order of the indices. */
#include "cpu/run_kernel.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static void *values(const type *t, uint64_t seed)
{
    void *p = malloc(type_bytes(t) + 8);

    assert_non_null(p);
    for (int64_t i = 0; i < type_count(t); i++)
        dtype_set_f64(t->dt, p, i, 100.0 * rng_normal(rng_seed(seed), (uint64_t)i));
    return p;
}

/* Mostly inside [0, n), a few outside; all the same one when `narrow`. */
static void *indices(const type *t, int64_t n, bool narrow, uint64_t seed)
{
    void *p = malloc(type_bytes(t) + 8);

    assert_non_null(p);
    for (int64_t i = 0; i < type_count(t); i++) {
        int64_t v = (int64_t)rng_below(rng_seed(seed), (uint64_t)i, (uint64_t)n + 2) - 1;

        dtype_set_i64(t->dt, p, i, narrow ? n / 2 : i % 37 == 5 ? -5 - v : v);
    }
    return p;
}

/* One addition in the arithmetic of the dtype. */
static void add_one(dtype dt, void *y, int64_t i, const void *x, int64_t j)
{
    switch (dt) {
    case INGOT_F32:
        ((float *)y)[i] += ((const float *)x)[j];
        break;
    case INGOT_F64:
        ((double *)y)[i] += ((const double *)x)[j];
        break;
    default:
        dtype_set_i64(dt, y, i, dtype_get_i64(dt, y, i) + dtype_get_i64(dt, x, j));
    }
}

/* Where in x the index at position k of the indices points, or -1. elements: same-rank ops; else
   outer and inner say which slice. */
static int64_t target(const run_case *r, int axis, int64_t k)
{
    int64_t at[MAX_RANK], i = dtype_get_i64(r->in[1].dt, r->buf[1], k);

    unflat(&r->in[1], k, at);
    if (i < 0 || i >= r->in[0].dim[axis])
        return -1;
    at[axis] = i;
    return flat(&r->in[0], at);
}

static void around(const type *x, int axis, int64_t *outer, int64_t *inner)
{
    *outer = *inner = 1;
    for (int d = 0; d < axis; d++)
        *outer *= x->dim[d];
    for (int d = axis + 1; d < x->rank; d++)
        *inner *= x->dim[d];
}

static void reference(const run_case *r, int axis, void *want)
{
    const type *x = &r->in[0], *ix = &r->in[1];
    size_t size = dtype_size(x->dt);
    int64_t outer, inner, n = x->dim[axis], count = type_count(ix);

    around(x, axis, &outer, &inner);
    if (r->n_in == 3)
        memcpy(want, r->buf[0], type_bytes(x));
    else
        memset(want, 0, type_bytes(&r->out[0]));
    if (strstr(r->op, "elements")) {
        for (int64_t k = 0; k < count; k++) {
            int64_t i = target(r, axis, k);

            if (i >= 0 && r->n_in == 3)
                add_one(x->dt, want, i, r->buf[2], k);
            else if (i >= 0)
                memcpy((char *)want + (size_t)k * size, (char *)r->buf[0] + (size_t)i * size, size);
        }
        return;
    }
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < count; k++)
            for (int64_t j = 0; j < inner; j++) {
                int64_t i = dtype_get_i64(ix->dt, r->buf[1], k), to = (o * count + k) * inner + j;

                if (i < 0 || i >= n)
                    continue;
                i = (o * n + i) * inner + j;
                if (r->n_in == 3)
                    add_one(x->dt, want, i, r->buf[2], to);
                else
                    memcpy((char *)want + (size_t)to * size, (char *)r->buf[0] + (size_t)i * size,
                           size);
            }
}

static void check(run_case *r, int axis, bool narrow)
{
    size_t bytes = type_bytes(&r->out[0]);
    unsigned char *want = malloc(bytes + 8), *out = malloc(bytes + 8);
    char text[2][TYPE_TEXT];
    error e = {0};

    assert_true(want && out);
    r->n_out = 1;
    run_attr_int(r, "axis", axis);
    r->buf[0] = values(&r->in[0], 1);
    r->buf[1] = indices(&r->in[1], r->in[0].dim[axis], narrow, 2);
    r->buf[2] = r->n_in == 3 ? values(&r->in[2], 3) : NULL;
    reference(r, axis, want);
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (r->threads = 1; r->threads <= (isa == cpu_isas() && !narrow ? 3 : 1);
             r->threads += 2) {
            bool shared = r->n_in == 3 && r->threads == 3; /* in place of x */

            memcpy(out, shared ? r->buf[0] : want, bytes);
            if (!shared)
                memset(out, 0xa5, bytes);
            void *x = r->buf[0];
            if (shared)
                r->buf[0] = out;
            r->buf[r->n_in] = out;
            r->isa = *isa;
            if (!run_kernel(r, &e))
                fail_msg("%s", e.text);
            r->buf[0] = x;
            if (memcmp(out, want, bytes))
                fail_msg("%s %s(%s, %s) axis %d differs", *isa, r->op,
                         type_text(&r->in[0], text[0]), type_text(&r->in[1], text[1]), axis);
        }
    free(r->buf[0]);
    free(r->buf[1]);
    if (r->n_in == 3)
        free(r->buf[2]);
    free(want);
    free(out);
}

typedef struct case_row {
    int x_rank, ix_rank, axis;
    int64_t x[4], ix[4];
} case_row;

static const case_row blocks[] = {
    {1, 1, 0, {10}, {7}},          {1, 0, 0, {10}, {0}},       {1, 1, 0, {1000}, {5000}},
    {2, 1, 0, {10, 5}, {40}},      {2, 1, 1, {10, 5}, {40}},   {2, 2, 0, {300, 70}, {6, 50}},
    {2, 2, 0, {300, 8}, {6, 500}}, {3, 1, 1, {4, 6, 3}, {9}},  {3, 2, 1, {70, 6, 20}, {3, 2}},
    {3, 1, 2, {4, 6, 3}, {9}},     {2, 1, 0, {0, 5}, {3}},     {2, 1, 0, {4, 0}, {3}},
    {2, 1, 0, {4, 5}, {0}},        {2, 1, 0, {2, 3000}, {40}},
};

static const case_row elements[] = {
    {1, 1, 0, {10}, {70}},
    {1, 1, 0, {10}, {0}},
    {2, 2, 0, {10, 5}, {7, 5}},
    {2, 2, 1, {10, 5}, {10, 9}},
    {2, 2, 0, {10, 5}, {7, 3}},
    {2, 2, 1, {10, 5}, {4, 9}},
    {3, 3, 2, {4, 6, 300}, {4, 6, 75}},
    {3, 3, 1, {4, 6, 300}, {4, 9, 300}},
    {3, 3, 0, {4, 6, 300}, {9, 5, 200}},
    {4, 4, 2, {2, 3, 4, 5}, {2, 3, 7, 5}},
    {2, 2, 0, {0, 5}, {7, 5}},
};

static const dtype add_types[] = {INGOT_F32, INGOT_F64, INGOT_I32, INGOT_I64};
static const dtype move_types[] = {INGOT_U8, INGOT_F16, INGOT_F32, INGOT_F64};

static void check_rows(const char *op, const case_row *rows, size_t n, bool adds)
{
    for (size_t k = 0; k < n; k++)
        for (int s = 0; s < 8; s++) {
            const case_row *row = &rows[k];
            dtype dt = adds ? add_types[s % 4] : move_types[s % 4];
            run_case r = {.op = op, .n_in = adds ? 3 : 2};
            type like = {.dt = dt}; /* gather's result, index_add's updates */

            r.in[0] = type_make(dt, row->x_rank, row->x);
            r.in[1] = type_make(s < 4 ? INGOT_I32 : INGOT_I64, row->ix_rank, row->ix);
            if (rows == elements) {
                like = r.in[1];
                like.dt = dt;
            } else {
                for (int d = 0; d < row->axis; d++)
                    like.dim[like.rank++] = row->x[d];
                for (int d = 0; d < row->ix_rank; d++)
                    like.dim[like.rank++] = row->ix[d];
                for (int d = row->axis + 1; d < row->x_rank; d++)
                    like.dim[like.rank++] = row->x[d];
            }
            r.in[2] = like;
            r.out[0] = adds ? r.in[0] : like;
            check(&r, row->axis, false);
            r.n_attrs = 0;
            check(&r, row->axis, true);
        }
}

static void gather_takes_slices(void **state)
{
    (void)state;
    check_rows("gather", blocks, sizeof(blocks) / sizeof(blocks[0]), false);
}

static void index_add_adds_in_order(void **state)
{
    (void)state;
    check_rows("index_add", blocks, sizeof(blocks) / sizeof(blocks[0]), true);
}

static void gather_elements_takes_elements(void **state)
{
    (void)state;
    check_rows("gather_elements", elements, sizeof(elements) / sizeof(elements[0]), false);
}

static void scatter_add_elements_adds_in_order(void **state)
{
    (void)state;
    check_rows("scatter_add_elements", elements, sizeof(elements) / sizeof(elements[0]), true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_takes_slices),
        cmocka_unit_test(index_add_adds_in_order),
        cmocka_unit_test(gather_elements_takes_elements),
        cmocka_unit_test(scatter_add_elements_adds_in_order),
    };

    return cmocka_run_group_tests_name("cpu/index", tests, NULL, NULL);
}
