/* SPDX-License-Identifier: Apache-2.0 */
/* Every op of the table against its rows: forward against plain double loops, on every instruction
   set; the gradient in one direction, and its gradient, against finite differences of the same
   loops; compiled against eager, bit for bit, fused and not, on 1, 2, 3 and 7 threads; what must
   fail. An op without a row fails. */
#include "ops/op.h"
#include "ops/run.h"
#include "runtime/engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ISAS_MAX 8
#define MODES    6

/* Contexts are opened once: all tests share them, and must leave them without an error. */
typedef struct bench {
    ingot_context *mode[MODES];   /* the first is what the others are compared with */
    ingot_context *isa[ISAS_MAX]; /* the instruction sets but the first one's */
    int n_isas;
} bench;

static bench all;

static const struct {
    const char *name;
    ingot_context_options opt;
} modes[MODES] = {
    {"eager", {.mode = INGOT_EAGER, .threads = 2}},
    {"graph", {.threads = 2}},
    {"unfused", {.threads = 2, .passes_off = "fuse"}},
    {"one thread", {.threads = 1}},
    {"three threads", {.threads = 3}},
    {"seven threads", {.threads = 7}},
};

static void open_all(void)
{
    for (int i = 0; i < MODES; i++)
        all.mode[i] = ingot_open(&modes[i].opt);
    for (int i = 0; ingot_isa_available(all.mode[0], i) && all.n_isas < ISAS_MAX; i++) {
        const char *isa = ingot_isa_available(all.mode[0], i);

        if (strcmp(isa, ingot_isa(all.mode[0])) != 0)
            all.isa[all.n_isas++] = ingot_open(&(ingot_context_options){.threads = 2, .isa = isa});
    }
}

static void close_all(void)
{
    for (int i = 0; i < MODES; i++)
        ingot_close(all.mode[i]);
    for (int i = 0; i < all.n_isas; i++)
        ingot_close(all.isa[i]);
}

typedef struct check {
    const op_case *row;
    dtype dt;
} check;

static void build(op_instance *c, const check *k)
{
    error e = {0};

    if (!case_build(c, all.mode[0]->engine->ops, k->row, k->dt, 1, &e))
        fail_msg("row of %s: %s", k->row->op, e.text);
}

static void end_scope(ingot_context *ctx, op_instance *c)
{
    ingot_scope_end(ctx);
    case_free(c);
}

/* --- forward
 * ---------------------------------------------------------------------------------------- */

static void tolerance(const op_case *row, dtype dt, double *rtol, double *atol)
{
    *atol = 0.0;
    switch (dt) {
    case INGOT_F32:
        *rtol = row->rtol > 0.0 ? row->rtol : 1e-6;
        *atol = row->atol > 0.0 ? row->atol : 1e-37;
        break;
    case INGOT_F16:
        *rtol = fmax(1.2e-3, row->rtol);
        *atol = fmax(1.2e-7, row->atol);
        break;
    case INGOT_BF16:
        *rtol = fmax(8e-3, row->rtol);
        *atol = fmax(1e-37, row->atol);
        break;
    case INGOT_F64:
        *rtol = 1e-11;
        *atol = row->atol > 0.0 ? 1e-12 : 1e-300;
        break;
    default:
        *rtol = 0.0;
    }
}

static void compare(const op_instance *c, ingot_tensor *got, int k, const char *where)
{
    double rtol, atol;
    type t = got->type;
    char a[TYPE_TEXT], b[TYPE_TEXT];

    if (!type_equal(&t, &c->out[k]))
        fail_msg("result %d is %s, %s was expected", k, type_text(&t, a), type_text(&c->out[k], b));
    tolerance(c->row, t.dt, &rtol, &atol);
    for (int64_t i = 0; i < type_count(&t); i++) {
        double g = dtype_get_f64(t.dt, ingot_tensor_data(got), i), w = c->y[k][i];
        unsigned char rounded[8];

        dtype_set_f64(t.dt, rounded, 0, w);
        w = dtype_get_f64(t.dt, rounded, 0);
        if (g == w || (g != g && w != w) || fabs(g - w) <= atol + rtol * fabs(w))
            continue;
        fail_msg("%s: result %d, element %lld: %.9g, expected %.9g (%.3g off, %.3g allowed)", where,
                 k, (long long)i, g, w, fabs(g - w), atol + rtol * fabs(w));
    }
}

static void forward_in(ingot_context *ctx, const op_instance *c, const char *where)
{
    op_result r;

    if (!op_run(ctx, c, ORDER_FORWARD, &r)) {
        print_error("%s: %s\n", where, ingot_error_text(ctx));
        ingot_clear_error(ctx);
        fail();
    }
    for (int k = 0; k < c->n_out; k++)
        compare(c, r.y[k], k, where);
}

static void test_forward(void **state)
{
    const check *k = *state;
    op_instance c;

    build(&c, k);
    ingot_scope_begin(all.mode[0]);
    forward_in(all.mode[0], &c, ingot_isa(all.mode[0]));
    ingot_scope_end(all.mode[0]);
    for (int i = 0; i < all.n_isas; i++) {
        ingot_scope_begin(all.isa[i]);
        forward_in(all.isa[i], &c, ingot_isa(all.isa[i]));
        ingot_scope_end(all.isa[i]);
    }
    case_free(&c);
}

/* --- modes
 * ------------------------------------------------------------------------------------------ */

static op_order order_of(const op_instance *c, dtype dt)
{
    bool any = false, some = false;

    for (int i = 0; i < c->n_in; i++)
        any = any || c->diff[i];
    for (int o = 0; o < c->n_out; o++)
        some = some || dtype_is_float(c->out[o].dt);
    if (!any || !some || c->row->special || (dt != INGOT_F32 && dt != INGOT_F64) ||
        (!c->op->row->grad && !c->op->row->expand))
        return ORDER_FORWARD;
    return c->row->kinked ? ORDER_FIRST : ORDER_SECOND;
}

static void same_bits(ingot_tensor *a, ingot_tensor *b, const char *mode, const char *what, int k)
{
    size_t n = type_bytes(&a->type);

    if (n && memcmp(ingot_tensor_data(a), ingot_tensor_data(b), n) != 0) {
        int64_t i = 0;

        while (memcmp((char *)ingot_tensor_data(a) + (size_t)i * dtype_size(a->type.dt),
                      (char *)ingot_tensor_data(b) + (size_t)i * dtype_size(a->type.dt),
                      dtype_size(a->type.dt)) == 0)
            i++;
        fail_msg("%s differs from eager: %s %d, element %lld: %.9g and %.9g", mode, what, k,
                 (long long)i, ingot_tensor_item(b, i), ingot_tensor_item(a, i));
    }
}

static void test_modes(void **state)
{
    const check *k = *state;
    op_instance c;
    op_result first, other;

    build(&c, k);
    ingot_scope_begin(all.mode[0]);
    if (!op_run(all.mode[0], &c, order_of(&c, k->dt), &first)) {
        print_error("eager: %s\n", ingot_error_text(all.mode[0]));
        ingot_clear_error(all.mode[0]);
        fail();
    }
    for (int m = 1; m < MODES; m++) {
        ingot_context *ctx = all.mode[m];

        ingot_scope_begin(ctx);
        if (!op_run(ctx, &c, order_of(&c, k->dt), &other)) {
            print_error("%s: %s\n", modes[m].name, ingot_error_text(ctx));
            ingot_clear_error(ctx);
            fail();
        }
        for (int i = 0; i < c.n_out; i++)
            same_bits(first.y[i], other.y[i], modes[m].name, "result", i);
        for (int i = 0; i < c.n_in; i++) {
            if (first.g[i])
                same_bits(first.g[i], other.g[i], modes[m].name, "gradient", i);
            if (first.h[i])
                same_bits(first.h[i], other.h[i], modes[m].name, "second gradient", i);
        }
        ingot_scope_end(ctx);
    }
    end_scope(all.mode[0], &c);
}

/* --- gradients
 * -------------------------------------------------------------------------------------- */

/* sum of <u, y> of the reference at x + a v + b w. */
static double loss_at(const op_instance *c, double *const *x, double *const *y, double a, double b)
{
    double *moved[CASE_IN], sum = 0.0;
    int k = 0;

    for (int i = 0; i < c->n_in; i++) {
        int64_t n = c->in[i].rank < 0 ? 0 : type_count(&c->in[i]);

        moved[i] = x[i];
        if (!c->diff[i])
            continue;
        moved[i] = malloc((size_t)(n + 1) * sizeof(double));
        assert_non_null(moved[i]);
        for (int64_t j = 0; j < n; j++)
            moved[i][j] = x[i][j] + a * op_weight(2, k, j) + b * op_weight(3, k, j);
        k++;
    }
    case_reference(c, moved, y);
    for (int o = 0; o < c->n_out; o++)
        for (int64_t j = 0; dtype_is_float(c->out[o].dt) && j < type_count(&c->out[o]); j++)
            sum += y[o][j] * op_weight(1, o, j);
    for (int i = 0; i < c->n_in; i++)
        if (c->diff[i])
            free(moved[i]);
    return sum;
}

/* <direction, gradients>, and the sum of the terms' sizes. */
static double along(const op_instance *c, ingot_tensor *const *g, int stream, double *size)
{
    double sum = 0.0;
    int k = 0;

    *size = 0.0;
    for (int i = 0; i < c->n_in; i++) {
        if (!c->diff[i])
            continue;
        for (int64_t j = 0; j < ingot_tensor_count(g[i]); j++) {
            double term = ingot_tensor_item(g[i], j) * op_weight(stream, k, j);

            sum += term;
            *size += fabs(term);
        }
        k++;
    }
    return sum;
}

static void test_gradient(void **state)
{
    const check *k = *state;
    ingot_context *ctx = all.mode[1];
    const double h = 1e-6, h2 = 3e-4;
    double size, got, want, rtol;
    op_order order;
    op_instance c;
    op_result r;

    build(&c, k);
    order = order_of(&c, k->dt);
    ingot_scope_begin(ctx);
    if (!op_run(ctx, &c, order, &r)) {
        print_error("%s\n", ingot_error_text(ctx));
        ingot_clear_error(ctx);
        fail();
    }
    rtol = k->row->grad_rtol > 0.0 ? k->row->grad_rtol : 2e-5;
    rtol = k->dt == INGOT_F64 ? 1e-6 : rtol;
    got = along(&c, r.g, 2, &size);
    want = k->row->stops ? 0.0
                         : (loss_at(&c, c.x, c.y, h, 0) - loss_at(&c, c.x, c.y, -h, 0)) / (2.0 * h);
    if (!(fabs(got - want) <= rtol * (size + fabs(want)) + 1e-7))
        fail_msg("gradient: %.9g, finite difference %.9g, terms of size %.3g", got, want, size);
    if (order == ORDER_SECOND) {
        got = along(&c, r.h, 3, &size);
        want = k->row->stops ? 0.0
                             : (loss_at(&c, c.x, c.y, h2, h2) - loss_at(&c, c.x, c.y, h2, -h2) -
                                loss_at(&c, c.x, c.y, -h2, h2) + loss_at(&c, c.x, c.y, -h2, -h2)) /
                                   (4.0 * h2 * h2);
        if (!(fabs(got - want) <= 20.0 * rtol * (size + fabs(want)) + 2e-5 * (1.0 + fabs(want))))
            fail_msg("second order: %.9g, finite difference %.9g, terms of size %.3g", got, want,
                     size);
    }
    end_scope(ctx, &c);
}

/* --- what must fail
 * --------------------------------------------------------------------------------- */

static void test_bad(void **state)
{
    const check *k = *state;
    op_instance c;
    char name[80];

    build(&c, k);
    (void)snprintf(name, sizeof name, "op '%s'", k->row->op);
    for (int m = 0; m < 1; m++) {
        ingot_context *ctx = all.mode[m];

        ingot_scope_begin(ctx);
        assert_null(op_emit(ctx, &c));
        if (!strstr(ingot_error_text(ctx), k->row->bad) || !strstr(ingot_error_text(ctx), name)) {
            print_error("\"%s\" lacks \"%s\" or \"%s\"\n", ingot_error_text(ctx), k->row->bad,
                        name);
            ingot_clear_error(ctx);
            fail();
        }
        ingot_clear_error(ctx);
        assert_non_null(ingot_scalar(ctx, INGOT_F32, 1.0)); /* usable again */
        ingot_scope_end(ctx);
    }
    case_free(&c);
}

static void test_covered(void **state)
{
    const op_registry *ops = all.mode[0]->engine->ops;
    int missing = 0;

    (void)state;
    for (int i = 0; i < op_count(ops); i++) {
        bool good = false, bad = false;

        for (const op_family *f = op_families; f->name; f++)
            for (size_t r = 0; r < f->n; r++)
                if (strcmp(f->rows[r].op, op_at(ops, i)->name) == 0) {
                    good = good || f->rows[r].ref;
                    bad = bad || !f->rows[r].ref;
                }
        if (!good || !bad)
            print_error("op '%s' has no %s row in tests/ops\n", op_at(ops, i)->name,
                        good ? "BAD" : "TEST");
        missing += !good || !bad;
    }
    assert_int_equal(missing, 0);
}

/* --- the list
 * --------------------------------------------------------------------------------------- */

typedef struct list {
    struct CMUnitTest *tests;
    check *checks;
    size_t n, cap;
} list;

static void add(list *l, const char *family, size_t row, const op_case *k, dtype dt,
                const char *what, CMUnitTestFunction fn)
{
    char name[160];

    if (l->n == l->cap)
        abort(); /* the count in main is wrong */
    (void)snprintf(name, sizeof name, "ops/%s/%zu/%s/%s/%s", family, row, k->op, dtype_name(dt),
                   what);
    l->checks[l->n] = (check){k, dt};
    l->tests[l->n] = (struct CMUnitTest){strdup(name), fn, NULL, NULL, &l->checks[l->n]};
    l->n++;
}

static void add_row(list *l, const char *family, size_t i, const op_case *row)
{
    const char *names = row->dtypes ? row->dtypes : "f32";
    dtype dt;

    while (case_next_dtype(&names, &dt)) {
        op_instance c;
        error e = {0};
        bool grad;

        if (!row->ref) {
            add(l, family, i, row, dt, "bad", test_bad);
            continue;
        }
        add(l, family, i, row, dt, "forward", test_forward);
        add(l, family, i, row, dt, "modes", test_modes);
        grad = case_build(&c, all.mode[0]->engine->ops, row, dt, 1, &e) &&
               order_of(&c, dt) != ORDER_FORWARD;
        case_free(&c);
        if (grad)
            add(l, family, i, row, dt, "gradient", test_gradient);
    }
}

int main(void)
{
    list l = {.cap = 1};
    int failed;

    cmocka_set_message_output(CM_OUTPUT_STDOUT);
    open_all();
    for (const op_family *f = op_families; f->name; f++)
        l.cap += 3 * 16 * f->n;
    l.tests = calloc(l.cap, sizeof *l.tests);
    l.checks = calloc(l.cap, sizeof *l.checks);
    if (!l.tests || !l.checks)
        return 1;
    l.tests[l.n++] =
        (struct CMUnitTest){strdup("ops/every op has rows"), test_covered, NULL, NULL, NULL};
    for (const op_family *f = op_families; f->name; f++)
        for (size_t i = 0; i < f->n; i++)
            add_row(&l, f->name, i, &f->rows[i]);
    failed = _cmocka_run_group_tests("ops", l.tests, l.n, NULL, NULL);
    for (size_t i = 0; i < l.n; i++)
        free((char *)(uintptr_t)l.tests[i].name);
    free(l.tests);
    free(l.checks);
    close_all();
    return failed;
}
