/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d and its two gradients against float64 sums, over shapes that reach each way of computing
   them: in place, packed, over several images, by phases, by Winograd's transforms. The error
   is held against the sum of the terms' sizes, and results must not depend on threads. */
#include "cpu/run_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Direct sums of up to some 2000 terms; Winograd's transforms, which lose about ten times as much.
 */
#define DIRECT_BOUND   4e-7
#define WINOGRAD_BOUND 4e-6

typedef struct shape {
    int64_t n, groups, c, o, h, w, k, stride, dilation, pad; /* c, o: of a group */
    bool winograd;
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, false},     {2, 1, 40, 30, 9, 11, 1, 1, 1, 0, false},
    {3, 1, 24, 64, 7, 7, 1, 1, 1, 0, false},   {2, 1, 20, 36, 13, 13, 1, 2, 1, 0, false},
    {2, 1, 3, 20, 33, 31, 7, 2, 1, 3, false},  {5, 1, 16, 12, 5, 3, 3, 1, 1, 1, false},
    {2, 1, 17, 33, 9, 40, 3, 2, 1, 1, false},  {1, 2, 9, 7, 12, 12, 3, 1, 2, 2, false},
    {3, 4, 1, 1, 10, 9, 3, 1, 1, 1, false},    {2, 1, 300, 6, 6, 6, 3, 1, 1, 1, false},
    {1, 1, 4, 500, 4, 4, 2, 1, 1, 0, false},   {2, 1, 8, 8, 6, 5, 3, 3, 2, 3, false},
    {2, 1, 64, 64, 28, 28, 3, 1, 1, 1, true},  {4, 1, 48, 40, 14, 14, 3, 1, 1, 1, true},
    {3, 1, 33, 65, 17, 23, 3, 1, 1, 0, true},  {2, 2, 40, 36, 21, 30, 3, 1, 1, 2, true},
    {1, 1, 64, 256, 20, 20, 3, 1, 1, 1, true}, {9, 1, 64, 80, 8, 8, 3, 1, 1, 1, true},
    {2, 1, 70, 50, 31, 4, 3, 1, 1, 1, true},
};
#define N_SHAPES (sizeof shapes / sizeof *shapes)

typedef struct sizes {
    int64_t oh, ow, x, w, y; /* elements */
} sizes;

static sizes sizes_of(const shape *s)
{
    sizes z = {.oh = (s->h + 2 * s->pad - (s->k - 1) * s->dilation - 1) / s->stride + 1,
               .ow = (s->w + 2 * s->pad - (s->k - 1) * s->dilation - 1) / s->stride + 1};

    z.x = s->n * s->groups * s->c * s->h * s->w;
    z.w = s->groups * s->o * s->c * s->k * s->k;
    z.y = s->n * s->groups * s->o * z.oh * z.ow;
    return z;
}

/* Calls add(user, index in x, in w, in y) for each product. */
typedef void (*term_fn)(void *user, int64_t x, int64_t w, int64_t y);

static void each_tap(const shape *s, int64_t n, int64_t o, int64_t c, int64_t y, term_fn add,
                     void *user)
{
    sizes z = sizes_of(s);
    int64_t g = o / s->o, channel = g * s->c + c, oy = y / z.ow, ox = y % z.ow;

    for (int64_t t = 0; t < s->k * s->k; t++) {
        int64_t iy = oy * s->stride - s->pad + t / s->k * s->dilation;
        int64_t ix = ox * s->stride - s->pad + t % s->k * s->dilation;

        if (iy >= 0 && iy < s->h && ix >= 0 && ix < s->w)
            add(user, ((n * s->groups * s->c + channel) * s->h + iy) * s->w + ix,
                (o * s->c + c) * s->k * s->k + t, (n * s->groups * s->o + o) * z.oh * z.ow + y);
    }
}

static void each_term(const shape *s, term_fn add, void *user)
{
    sizes z = sizes_of(s);

    for (int64_t n = 0; n < s->n; n++)
        for (int64_t o = 0; o < s->groups * s->o; o++)
            for (int64_t c = 0; c < s->c; c++)
                for (int64_t y = 0; y < z.oh * z.ow; y++)
                    each_tap(s, n, o, c, y, add, user);
}

typedef struct sums {
    const float *a, *b; /* the two inputs */
    double *sum, *size; /* of the output */
    int output;         /* 0 y, 1 x, 2 w */
} sums;

static void add_term(void *user, int64_t x, int64_t w, int64_t y)
{
    sums *s = user;
    double v = (double)s->a[s->output == 0 ? x : y] * (double)s->b[s->output == 2 ? x : w];
    int64_t at = s->output == 0 ? y : s->output == 1 ? x : w;

    s->sum[at] += v;
    s->size[at] += fabs(v);
}

static const char *const ops[] = {"conv2d", "conv2d_backward_data", "conv2d_backward_weight"};

static void set_case(run_case *r, const shape *s, int op)
{
    sizes z = sizes_of(s);
    type x = type_make(INGOT_F32, 4, (int64_t[]){s->n, s->groups * s->c, s->h, s->w});
    type w = type_make(INGOT_F32, 4, (int64_t[]){s->groups * s->o, s->c, s->k, s->k});
    type y = type_make(INGOT_F32, 4, (int64_t[]){s->n, s->groups * s->o, z.oh, z.ow});

    r->op = ops[op];
    r->in[0] = op == 0 ? x : y;
    r->in[1] = op == 2 ? x : w;
    r->n_in = op == 0 ? 3 : 2;
    r->in[2] = op == 0 ? type_make(INGOT_F32, 1, w.dim) : TYPE_ABSENT;
    r->out[0] = op == 0 ? y : op == 1 ? x : w;
    r->n_out = 1;
    run_attr_ints(r, "stride", (ints){&s->stride, 1});
    run_attr_ints(r, "padding", (ints){&s->pad, 1});
    run_attr_ints(r, "dilation", (ints){&s->dilation, 1});
    run_attr_int(r, "groups", s->groups);
}

static float *floats(int64_t n, uint64_t seed)
{
    float *p = malloc(((size_t)n + 1) * sizeof *p);

    assert_non_null(p);
    fill_random(p, n, seed);
    return p;
}

static void check(const run_case *r, const shape *s, const sums *want, const float *bias,
                  const float *got, int64_t n, double bound)
{
    sizes z = sizes_of(s);

    for (int64_t i = 0; i < n; i++) {
        double b = bias ? (double)bias[i / (z.oh * z.ow) % (s->groups * s->o)] : 0.0;
        double off = fabs((double)got[i] - want->sum[i] - b);

        if (!(off <= bound * (want->size[i] + fabs(b)) + 1e-30))
            fail_msg(
                "%s %s, shape %d: element %lld is %.9g, %.9g expected; %.2g of the terms' size",
                r->isa, r->op, (int)(s - shapes), (long long)i, (double)got[i], want->sum[i] + b,
                off / want->size[i]);
    }
}

static void run(const run_case *r)
{
    error e = {0};

    if (!run_kernel(r, &e))
        fail_msg("%s: %s", r->op, e.text);
}

/* One op and shape on every instruction set, with and without Winograd, one thread and three. */
static void check_case(const shape *s, int op)
{
    sizes z = sizes_of(s);
    int64_t counts[3] = {op == 0 ? z.x : z.y, op == 2 ? z.x : z.w,
                         op == 0   ? z.y
                         : op == 1 ? z.x
                                   : z.w};
    float *a = floats(counts[0], 1), *b = floats(counts[1], 2), *bias = floats(s->groups * s->o, 3);
    float *first = floats(counts[2], 4), *again = floats(counts[2], 5);
    double *sum = calloc((size_t)counts[2], sizeof *sum);
    double *size = calloc((size_t)counts[2], sizeof *size);
    sums want = {.a = a, .b = b, .sum = sum, .size = size, .output = op};

    assert_non_null(sum);
    assert_non_null(size);
    each_term(s, add_term, &want);
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        bool differ = false;

        for (int direct = 0; direct < 2; direct++) {
            run_case r = {.isa = *isa, .no_winograd = direct};
            float *out = direct ? again : first;

            set_case(&r, s, op);
            r.buf[0] = a;
            r.buf[1] = b;
            r.buf[2] = op == 0 ? bias : out;
            r.buf[3] = out;
            run(&r);
            check(&r, s, &want, op == 0 ? bias : NULL, out, counts[2],
                  s->winograd && !direct ? WINOGRAD_BOUND : DIRECT_BOUND);
        }
        differ = memcmp(first, again, (size_t)counts[2] * sizeof *first) != 0;
        assert_int_equal(differ, s->winograd && op != 2);
        run_case r = {.isa = *isa, .threads = 3};

        set_case(&r, s, op);
        r.buf[0] = a;
        r.buf[1] = b;
        r.buf[2] = op == 0 ? bias : again;
        r.buf[3] = again;
        run(&r);
        assert_memory_equal(first, again, (size_t)counts[2] * sizeof *first);
    }
    free(a);
    free(b);
    free(bias);
    free(first);
    free(again);
    free(sum);
    free(size);
}

static void forward(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SHAPES; i++)
        check_case(&shapes[i], 0);
}

static void backward_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SHAPES; i++)
        check_case(&shapes[i], 1);
}

static void backward_weight(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SHAPES; i++)
        check_case(&shapes[i], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward),
        cmocka_unit_test(backward_data),
        cmocka_unit_test(backward_weight),
    };

    return cmocka_run_group_tests_name("cpu/conv", tests, NULL, NULL);
}
