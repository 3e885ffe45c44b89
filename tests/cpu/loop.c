/* SPDX-License-Identifier: Apache-2.0 */
/* The loop engine against a plain walk over the points of the space. The data are small integers,
   so that every result is exact in every dtype and order, and equality is asked for. */
#include "cpu/loop/loop.h"
#include "base/random.h"
#include "cpu/run_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GUARD 64 /* bytes behind an output that must survive */

static loop_op opcode(const char *name)
{
    int op = loop_op_find(name, strlen(name));

    if (op < 0)
        fail_msg("no opcode %s", name);
    return (loop_op)op;
}

static int64_t space_count(const loop_desc *d, bool reduced)
{
    int64_t n = 1;

    for (int i = 0; i < d->rank; i++)
        n *= reduced && (d->reduce_axes >> i & 1) ? 1 : d->dim[i];
    return n;
}

static int64_t out_count(const loop_desc *d, int o)
{
    return space_count(d, d->out[o].reduce != REDUCE_NONE);
}

/* The engine's result in bufs (inputs, then outputs). */
static void run_region(const char *isa, const loop_desc *d, void *const *bufs, int threads)
{
    run_case r = {.isa = isa, .op = "fused", .n_in = 1, .extra = d, .threads = threads};
    error e = {0};

    assert_true(d->n_in + d->n_out <= RUN_INPUTS + RUN_OUTPUTS);
    r.in[0] = type_make(INGOT_F32, 0, NULL); /* the engine reads its description alone */
    memcpy(r.buf, bufs, (size_t)(d->n_in + d->n_out) * sizeof *bufs);
    if (!run_kernel(&r, &e))
        fail_msg("%s", e.text);
}

static double apply(loop_op op, double a, double b, double c)
{
    switch (op) {
    case LOOP_add:
        return a + b;
    case LOOP_sub:
        return a - b;
    case LOOP_mul:
        return a * b;
    case LOOP_neg:
        return 0 - a;
    case LOOP_abs:
        return a < 0 ? 0 - a : a;
    case LOOP_maximum:
        return a > b ? a : b;
    case LOOP_minimum:
        return a > b ? b : a;
    case LOOP_lt:
        return a < b;
    case LOOP_where:
        return a != 0 ? b : c;
    case LOOP_copy:
        return a;
    default:
        fail_msg("no reference");
        return 0;
    }
}

static double join(loop_reduce kind, double a, double b)
{
    return kind == REDUCE_SUM    ? a + b
           : kind == REDUCE_PROD ? a * b
           : kind == REDUCE_MAX  ? fmax(a, b)
                                 : fmin(a, b);
}

static double neutral(loop_reduce kind)
{
    return kind == REDUCE_SUM    ? 0.0
           : kind == REDUCE_PROD ? 1.0
           : kind == REDUCE_MAX  ? -HUGE_VAL
                                 : HUGE_VAL;
}

/* What the region means, point by point. */
static void reference(const loop_desc *d, void *const *bufs, double *const *out)
{
    int64_t index[MAX_RANK] = {0}, total = space_count(d, false);
    double reg[LOOP_REGS];

    for (int o = 0; o < d->n_out; o++)
        for (int64_t i = 0; i < out_count(d, o); i++)
            out[o][i] = neutral(d->out[o].reduce);
    for (int64_t at = 0; at < total; at++) {
        int64_t kept = 0;

        for (int i = 0; i < d->rank; i++)
            if (!(d->reduce_axes >> i & 1))
                kept = kept * d->dim[i] + index[i];
        for (int k = 0; k < d->n_in; k++) {
            int64_t p = d->in[k].offset;
            for (int i = 0; i < d->rank; i++)
                p += index[i] * d->in[k].stride[i];
            reg[k] = dtype_is_float(d->in[k].dt) ? dtype_get_f64(d->in[k].dt, bufs[k], p)
                                                 : (double)dtype_get_i64(d->in[k].dt, bufs[k], p);
        }
        for (int k = 0; k < d->n_inst; k++)
            reg[d->n_in + k] =
                apply(d->inst[k].op, reg[d->inst[k].a], reg[d->inst[k].b], reg[d->inst[k].c]);
        for (int o = 0; o < d->n_out; o++) {
            loop_reduce kind = d->out[o].reduce;
            double *to = &out[o][kind == REDUCE_NONE ? at : kept];
            *to = kind == REDUCE_NONE ? reg[d->out[o].reg] : join(kind, *to, reg[d->out[o].reg]);
        }
        for (int i = d->rank - 1; i >= 0 && ++index[i] == d->dim[i]; i--)
            index[i] = 0;
    }
}

static const char *region_text(const loop_desc *d, char *buf, size_t size)
{
    size_t n =
        (size_t)snprintf(buf, size, "class %d, axes %x, space [", (int)d->cls, d->reduce_axes);

    for (int i = 0; i < d->rank && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%lld", i ? "," : "", (long long)d->dim[i]);
    if (n < size)
        snprintf(buf + n, size - n, "]");
    return buf;
}

static void check_outputs(const char *isa, const loop_desc *d, void *const *bufs,
                          double *const *want)
{
    char text[200];

    for (int o = 0; o < d->n_out; o++) {
        const unsigned char *p = bufs[d->n_in + o];
        int64_t n = out_count(d, o);
        dtype dt = d->out[o].dt;

        for (int64_t i = 0; i < n; i++) {
            double got =
                dtype_is_float(dt) ? dtype_get_f64(dt, p, i) : (double)dtype_get_i64(dt, p, i);
            double w = dt == INGOT_F32 ? (double)(float)want[o][i] : want[o][i];
            if (got != (dt == INGOT_BOOL ? (double)(w != 0) : w))
                fail_msg("%s: %s: output %d, %s, reduction %d, element %lld: %g, not %g", isa,
                         region_text(d, text, sizeof text), o, dtype_name(dt),
                         (int)d->out[o].reduce, (long long)i, got, w);
        }
        for (size_t i = 0; i < GUARD; i++)
            if (p[(size_t)n * dtype_size(dt) + i] != 0xa5)
                fail_msg("%s: %s: written behind output %d", isa, region_text(d, text, sizeof text),
                         o);
    }
}

/* Runs d on bufs[0 .. n_in) for every instruction set and for 1, 2 and 3 threads. */
static void check_region(const loop_desc *d, void *const *inputs, bool threaded)
{
    void *bufs[RUN_INPUTS + RUN_OUTPUTS], *other[RUN_INPUTS + RUN_OUTPUTS];
    double *want[LOOP_OUT_MAX];

    for (int k = 0; k < d->n_in; k++)
        bufs[k] = other[k] = inputs[k];
    for (int o = 0; o < d->n_out; o++) {
        size_t n = (size_t)out_count(d, o), size = n * dtype_size(d->out[o].dt) + GUARD;
        want[o] = test_malloc((n + 1) * sizeof(double));
        bufs[d->n_in + o] = test_malloc(size);
        other[d->n_in + o] = test_malloc(size);
    }
    reference(d, inputs, want);
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        for (int o = 0; o < d->n_out; o++) {
            size_t size = (size_t)out_count(d, o) * dtype_size(d->out[o].dt) + GUARD;
            memset(bufs[d->n_in + o], 0xa5, size);
        }
        run_region(*isa, d, bufs, 1);
        check_outputs(*isa, d, bufs, want);
        for (int threads = 2; threaded && threads <= 3; threads++) {
            run_region(*isa, d, other, threads);
            for (int o = 0; o < d->n_out; o++)
                assert_memory_equal(bufs[d->n_in + o], other[d->n_in + o],
                                    (size_t)out_count(d, o) * dtype_size(d->out[o].dt));
        }
    }
    for (int o = 0; o < d->n_out; o++) {
        test_free(want[o]);
        test_free(bufs[d->n_in + o]);
        test_free(other[d->n_in + o]);
    }
}

/* --- random regions ------------------------------------------------------------------------- */

typedef struct dice {
    rng_key key;
    uint64_t at;
} dice;

static int roll(dice *d, int n)
{
    return (int)rng_below(d->key, d->at++, (uint64_t)n);
}

/* A dtype that values of the class are converted from and to. */
static dtype class_dtype(dice *r, loop_class cls)
{
    static const dtype floats[] = {INGOT_F32, INGOT_F32, INGOT_F32, INGOT_BF16,
                                   INGOT_F16, INGOT_I32, INGOT_I8};
    static const dtype wide[] = {INGOT_F64, INGOT_F64, INGOT_F32, INGOT_I64, INGOT_BF16};
    static const dtype integers[] = {INGOT_I64, INGOT_I64, INGOT_I32, INGOT_I16, INGOT_I8};

    return cls == LOOP_F32   ? floats[roll(r, 7)]
           : cls == LOOP_F64 ? wide[roll(r, 5)]
                             : integers[roll(r, 5)];
}

/* An input that is whole, transposed or broadcast along some dimensions; returns its elements. */
static int64_t random_input(dice *r, const loop_desc *d, loop_in *in)
{
    bool broadcast = roll(r, 2), transposed = roll(r, 3) == 0;
    int64_t step = 1;

    in->dt = class_dtype(r, d->cls);
    in->offset = roll(r, 3) == 0 ? roll(r, 5) : 0;
    for (int i = 0; i < d->rank; i++) {
        int at = transposed ? i : d->rank - 1 - i;
        bool stays = broadcast && roll(r, 2);

        in->stride[at] = stays || d->dim[at] == 1 ? 0 : step;
        step *= stays ? 1 : d->dim[at];
    }
    return in->offset + step;
}

/* Values -2 .. 2; for products 1, -1 and rarely `most`. */
static void *random_values(dice *r, dtype dt, int64_t n, bool product, int most)
{
    void *p = test_malloc((size_t)(n + 1) * dtype_size(dt));

    for (int64_t i = 0; i < n; i++) {
        int v = product ? (roll(r, 64) == 0 ? most : 1 - 2 * roll(r, 2)) : roll(r, 5) - 2;
        dtype_set_f64(dt, p, i, (double)v);
    }
    return p;
}

static void random_insts(dice *r, loop_desc *d, bool product)
{
    static const char *const any[] = {"add", "sub",     "mul",     "neg",  "abs",
                                      "lt",  "maximum", "minimum", "where"};

    d->n_inst = 1 + roll(r, 3);
    for (int k = 0; k < d->n_inst; k++) {
        int n = d->n_in + k;
        const char *name = product ? (roll(r, 2) ? "neg" : "copy") : any[roll(r, 9)];
        d->inst[k] =
            (loop_inst){.op = opcode(name), .a = roll(r, n), .b = roll(r, n), .c = roll(r, n)};
    }
}

static void random_outputs(dice *r, loop_desc *d, bool product)
{
    int regs = d->n_in + d->n_inst;

    d->n_out = 1 + roll(r, 3);
    for (int o = 0; o < d->n_out; o++) {
        loop_out *out = &d->out[o];

        out->reg = roll(r, 4) ? regs - 1 : roll(r, regs);
        out->reduce =
            d->reduce_axes && (o == 0 || roll(r, 2))
                ? (product ? REDUCE_PROD
                           : (loop_reduce[]){REDUCE_SUM, REDUCE_MAX, REDUCE_MIN}[roll(r, 3)])
                : REDUCE_NONE;
        /* what is reduced or more than a few may leave the narrow dtypes */
        out->dt = d->cls == LOOP_F32 ? INGOT_F32 : d->cls == LOOP_F64 ? INGOT_F64 : INGOT_I64;
        if (out->reduce == REDUCE_NONE && roll(r, 2))
            out->dt = roll(r, 4) ? class_dtype(r, d->cls) : INGOT_BOOL;
    }
}

static void check_random(dice *r, const int64_t *dims, int rank, unsigned axes, bool threaded)
{
    bool product = axes && roll(r, 5) == 0;
    loop_desc d = {.cls = (loop_class)roll(r, 3), .rank = rank, .reduce_axes = axes};
    void *inputs[RUN_INPUTS];

    for (int i = 0; i < rank; i++)
        d.dim[i] = dims[i];
    d.n_in = 1 + roll(r, 3);
    for (int k = 0; k < d.n_in; k++) {
        int64_t n = random_input(r, &d, &d.in[k]);
        inputs[k] = random_values(r, d.in[k].dt, n, product, d.cls == LOOP_I64 ? 1 : 2);
    }
    random_insts(r, &d, product);
    random_outputs(r, &d, product);
    check_region(&d, inputs, threaded);
    for (int k = 0; k < d.n_in; k++)
        test_free(inputs[k]);
}

static void test_random_regions(void **state)
{
    static const int sizes[] = {1, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 100};
    dice r = {.key = rng_seed(11)};

    (void)state;
    for (int i = 0; i < 600; i++) {
        int rank = roll(&r, 6);
        int64_t dims[MAX_RANK], total = 1;

        for (int k = 0; k < rank; k++) {
            dims[k] = total > 2000 ? 1 : sizes[roll(&r, 13)];
            total *= dims[k];
        }
        check_random(&r, dims, rank, (unsigned)roll(&r, 1 << rank), i % 20 == 0);
    }
}

/* Around the sizes of tiles, units and parts. */
static void test_large_regions(void **state)
{
    static const int64_t spaces[][3] = {
        {1, 1, 511},   {1, 1, 512},   {1, 1, 513},  {1, 1, 70001}, {1, 3, 33000}, {2, 1, 32768},
        {1, 700, 130}, {5, 90, 512},  {3, 4, 1025}, {1, 2000, 33}, {1, 40000, 3}, {60000, 1, 1},
        {40, 40, 40},  {300, 2, 100}, {2, 9000, 2}, {1, 130, 513}, {3, 257, 65},  {9000, 3, 2},
    };
    dice r = {.key = rng_seed(12)};

    (void)state;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        for (unsigned axes = 0; axes < 8; axes++)
            check_random(&r, spaces[i], 3, axes, (i + axes) % 5 == 0);
}

static void test_empty(void **state)
{
    dice r = {.key = rng_seed(13)};

    (void)state;
    for (unsigned axes = 0; axes < 8; axes++)
        for (int zero = 0; zero < 3; zero++) {
            int64_t dims[] = {2, 3, 4};
            dims[zero] = 0;
            /* max and min of no integers have no infinity to give: floats alone */
            for (int kind = REDUCE_SUM; kind <= REDUCE_MIN; kind++) {
                loop_desc d = {.cls = roll(&r, 2) ? LOOP_F32 : LOOP_F64, .rank = 3, .n_in = 1};
                float x[24] = {0};

                memcpy(d.dim, dims, sizeof dims);
                d.reduce_axes = axes;
                d.in[0].dt = INGOT_F32;
                d.n_inst = 1;
                d.inst[0].op = LOOP_copy;
                d.n_out = 2;
                d.out[0] = (loop_out){.dt = INGOT_F32, .reg = 1, .reduce = (loop_reduce)kind};
                d.out[1] = (loop_out){.dt = INGOT_F32, .reg = 1};
                check_region(&d, (void *[]){x}, false);
            }
        }
}

/* --- rounding, NaN, memory ------------------------------------------------------------------ */

/* A region of n_in whole f32 inputs over d's space, with nothing else set. */
static loop_desc f32_region(int rank, const int64_t *dims, int n_in)
{
    loop_desc d = {.cls = LOOP_F32, .rank = rank, .n_in = n_in};

    for (int k = 0; k < n_in; k++) {
        int64_t step = 1;
        d.in[k].dt = INGOT_F32;
        for (int i = rank - 1; i >= 0; step *= dims[i], i--)
            d.in[k].stride[i] = step;
    }
    memcpy(d.dim, dims, (size_t)rank * sizeof *dims);
    return d;
}

static int add_inst(loop_desc *d, loop_op op, int a, int b)
{
    d->inst[d->n_inst] = (loop_inst){.op = op, .a = a, .b = b};
    return d->n_in + d->n_inst++;
}

static void add_out(loop_desc *d, int reg, loop_reduce reduce)
{
    d->out[d->n_out++] = (loop_out){.dt = INGOT_F32, .reg = reg, .reduce = reduce};
}

/* 20 million ones: a single f32 chain stops at 2^24. */
static void test_sum_of_many(void **state)
{
    static const int64_t spaces[][2] = {{1, 20000000}, {20000000, 1}, {2000000, 10}, {20000, 1000}};
    float one = 1.0f, out[1000];

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t i = 0; i < 4; i++)
            for (unsigned axes = 1; axes <= 3; axes += 2) {
                loop_desc d = f32_region(2, spaces[i], 1);
                if (axes == 1 && d.dim[1] > 1000)
                    continue;
                memset(d.in[0].stride, 0, sizeof d.in[0].stride);
                d.reduce_axes = axes;
                add_out(&d, 0, REDUCE_SUM);
                run_region(*isa, &d, (void *[]){&one, out}, 2);
                for (int64_t k = 0; k < (axes == 1 ? d.dim[1] : 1); k++)
                    assert_true(out[k] == (axes == 1 ? (float)d.dim[0] : 2e7f));
            }
}

/* 2^24 and many ones: an f32 chain that begins with it loses the ones it meets, 4096 at most. */
static void test_chains_are_short(void **state)
{
    enum { N = 90000 };
    static const int64_t spaces[][2] = {{1, N}, {N, 1}, {N / 3, 3}, {N / 45, 45}, {9, N / 9}};
    float *x = test_malloc(N * sizeof *x), out[N / 9];

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = 1.0f;
    x[0] = 0x1p24f;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t i = 0; i < 5; i++)
            for (unsigned axes = 1; axes <= 3; axes++) {
                loop_desc d = f32_region(2, spaces[i], 1);

                d.reduce_axes = axes;
                if (space_count(&d, true) > N / 9)
                    continue;
                add_out(&d, 0, REDUCE_SUM);
                run_region(*isa, &d, (void *[]){x, out}, 1);
                double want = 0x1p24 + (double)(N / space_count(&d, true) - 1);
                assert_true(fabs((double)out[0] - want) <= 4096.0);
            }
    test_free(x);
}

/* 1 + noise: the error stays within what chains of 4096 allow, far below that of one chain. */
static void test_sum_is_accurate(void **state)
{
    enum { N = 300000 };
    float *x = test_malloc(N * sizeof *x), out[300];
    static const int64_t spaces[][2] = {{1, N}, {N, 1}, {1000, 300}, {300, 1000}, {10, 30000}};

    (void)state;
    fill_random(x, N, 21);
    for (int i = 0; i < N; i++)
        x[i] += 1.0f;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t s = 0; s < 5; s++)
            for (unsigned axes = 1; axes <= 3; axes++) {
                loop_desc d = f32_region(2, spaces[s], 1);
                int64_t rows = d.dim[0], cols = d.dim[1];
                int64_t n = axes == 1 ? cols : axes == 2 ? rows : 1;

                if (n > 300)
                    continue;
                d.reduce_axes = axes;
                add_out(&d, 0, REDUCE_SUM);
                run_region(*isa, &d, (void *[]){x, out}, 1);
                for (int64_t k = 0; k < n; k++) {
                    double sum = 0;
                    for (int64_t i = 0; i < rows * cols; i++)
                        if (axes == 3 || (axes == 1 ? i % cols : i / cols) == k)
                            sum += (double)x[i];
                    assert_true(fabs((double)out[k] - sum) <= 6e-7 * sum);
                }
            }
    test_free(x);
}

static void test_nan_wins(void **state)
{
    float x[600], out[600];

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (int n = 1; n < 600; n = n < 70 ? n + 1 : n + 97)
            for (int kind = REDUCE_MAX; kind <= REDUCE_MIN; kind++)
                for (int where = 0; where < n; where += n < 70 ? 1 : 31)
                    for (int column = 0; column < 2; column++) {
                        loop_desc d =
                            f32_region(2, column ? (int64_t[]){n, 1} : (int64_t[]){1, n}, 1);

                        for (int i = 0; i < n; i++)
                            x[i] = i % 3 == 0 ? INFINITY : i % 3 == 1 ? -INFINITY : 1.0f;
                        x[where] = NAN;
                        d.reduce_axes = 3;
                        add_out(&d, 0, (loop_reduce)kind);
                        run_region(*isa, &d, (void *[]){x, out}, 1);
                        assert_true(isnan(out[0]));
                        x[where] = kind == REDUCE_MAX ? INFINITY : -INFINITY;
                        run_region(*isa, &d, (void *[]){x, out}, 1);
                        assert_true(out[0] == x[where]);
                    }
}

/* exp(x) * y + z and the sum of it: in one region, and one instruction at a time. */
static void test_fused_is_separate(void **state)
{
    enum { N = 9 * 1100 };
    static const int64_t spaces[][2] = {{1, 7}, {1, 521}, {9, 1100}, {1100, 9}, {30, 33}};
    float *x = test_malloc(4 * N * sizeof *x), *y = x + N, *z = y + N, *out = z + N;
    float *step = test_malloc(4 * N * sizeof *step), sums[2][1100];

    (void)state;
    fill_random(x, 3 * N, 31);
    x[3] = NAN;
    x[5] = 1e30f;
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (size_t s = 0; s < 5; s++)
            for (unsigned axes = 1; axes <= 3; axes++) {
                loop_desc d = f32_region(2, spaces[s], 3);
                size_t n = (size_t)space_count(&d, false);
                static const char *const ops[] = {"sin", "mul", "add"};

                d.in[1].stride[0] = 0; /* y is a row */
                d.reduce_axes = axes;
                add_inst(&d, opcode("sin"), 0, 0);
                add_inst(&d, LOOP_mul, 3, 1);
                add_inst(&d, LOOP_add, 4, 2);
                add_out(&d, 5, REDUCE_NONE);
                add_out(&d, 5, REDUCE_SUM);
                run_region(*isa, &d, (void *[]){x, y, z, out, sums[0]}, 1);
                for (int k = 0; k < 3; k++) {
                    loop_desc one = f32_region(2, spaces[s], 2);
                    void *a = k ? step + (size_t)(k - 1) * N : x;

                    one.in[1].stride[0] = k == 1 ? 0 : one.in[1].stride[0];
                    add_inst(&one, opcode(ops[k]), 0, 1);
                    add_out(&one, 2, REDUCE_NONE);
                    run_region(*isa, &one, (void *[]){a, k == 1 ? y : z, step + (size_t)k * N}, 1);
                }
                assert_memory_equal(out, step + 2 * N, n * sizeof(float));
                loop_desc sum = f32_region(2, spaces[s], 1);
                sum.reduce_axes = axes;
                add_out(&sum, 0, REDUCE_SUM);
                run_region(*isa, &sum, (void *[]){out, sums[1]}, 1);
                assert_memory_equal(sums[0], sums[1],
                                    (size_t)space_count(&sum, true) * sizeof(float));
            }
    test_free(x);
    test_free(step);
}

/* The first output takes the first input's memory, which later instructions still read. */
static void test_in_place(void **state)
{
    enum { N = 1337 };
    float x[N], y[N], second[N];

    (void)state;
    for (const char *const *isa = cpu_isas(); *isa; isa++) {
        loop_desc d = f32_region(1, (int64_t[]){N}, 2);

        fill_random(y, N, 41);
        for (int i = 0; i < N; i++)
            x[i] = (float)i;
        int t = add_inst(&d, LOOP_add, 0, 1);
        int u = add_inst(&d, LOOP_sub, 0, 1);
        add_out(&d, t, REDUCE_NONE);
        add_out(&d, add_inst(&d, LOOP_mul, 0, u), REDUCE_NONE);
        run_region(*isa, &d, (void *[]){x, y, x, second}, 1);
        for (int i = 0; i < N; i++) {
            float less = (float)i - y[i];
            assert_true(x[i] == (float)i + y[i]);
            assert_true(second[i] == (float)i * less);
        }
    }
}

/* Copies between all dtypes are what dtype_convert makes of them through the class's dtype. */
static void test_conversions(void **state)
{
    static const dtype all[] = {INGOT_F32, INGOT_F16, INGOT_BF16, INGOT_F64, INGOT_I8,
                                INGOT_U8,  INGOT_I16, INGOT_I32,  INGOT_I64, INGOT_BOOL};
    enum { N = 61 };
    float x[N];
    double from[N], own[N], want[N], got[N];

    (void)state;
    fill_random(x, N, 51);
    for (int i = 0; i < N; i++)
        x[i] = ldexpf(x[i], i % 40 - 20);
    memcpy(x, (float[]){NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-7f, 65519.0f, 65520.0f}, 32);
    for (const char *const *isa = cpu_isas(); *isa; isa++)
        for (int i = 0; i < 10; i++)
            for (int o = 0; o < 10; o++) {
                bool wide = all[i] == INGOT_F64 || all[o] == INGOT_F64;
                bool floats = dtype_is_float(all[i]) || dtype_is_float(all[o]) ||
                              (all[i] == INGOT_BOOL && all[o] == INGOT_BOOL);
                loop_desc d = f32_region(1, (int64_t[]){N}, 1);

                if (all[o] == INGOT_BOOL && dtype_is_float(all[i]))
                    continue; /* a cast to bool is two logical_not */
                d.cls = wide ? LOOP_F64 : floats ? LOOP_F32 : LOOP_I64;
                d.in[0].dt = all[i];
                add_inst(&d, LOOP_copy, 0, 0);
                d.n_out = 1;
                d.out[0] = (loop_out){.dt = all[o], .reg = 1};
                dtype_convert(INGOT_F32, x, all[i], from, N);
                dtype mid = wide ? INGOT_F64 : floats ? INGOT_F32 : INGOT_I64;
                dtype_convert(all[i], from, mid, own, N);
                dtype_convert(mid, own, all[o], want, N);
                run_region(*isa, &d, (void *[]){from, got}, 1);
                if (memcmp(got, want, N * dtype_size(all[o])) != 0)
                    fail_msg("%s: %s to %s differs", *isa, dtype_name(all[i]), dtype_name(all[o]));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_regions),
        cmocka_unit_test(test_large_regions),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_sum_of_many),
        cmocka_unit_test(test_chains_are_short),
        cmocka_unit_test(test_sum_is_accurate),
        cmocka_unit_test(test_nan_wins),
        cmocka_unit_test(test_fused_is_separate),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_conversions),
    };
    return cmocka_run_group_tests_name("cpu/loop", tests, NULL, NULL);
}
