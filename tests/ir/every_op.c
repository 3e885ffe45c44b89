/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of every row of tests/ops, with its gradient: its text round-trips as traced and after
   each pass, and a pass run again changes nothing. */
#include "base/check.h"

#include "ingot/ops.h"
#include "ops/case.h"
#include "runtime/function.h"

static int construct(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                     int max_out, void *user)
{
    const op_instance *c = user;
    ingot_tensor *x[CASE_IN], *wrt[CASE_IN], *y;
    int n = 0, n_wrt = 0;
    bool first_float = dtype_is_float(c->out[0].dt) && (c->op->row->grad || c->op->row->expand);

    (void)n_in, (void)max_out;
    for (int i = 0; i < c->n_in; i++) {
        x[i] = c->in[i].rank < 0 ? NULL : in[n++];
        if (c->diff[i])
            wrt[n_wrt++] = x[i];
    }
    y = engine_emit(ctx, c->op->row, x, c->n_in, c->attrs, c->op->n_attrs);
    for (n = 0; y && n < c->n_out; n++)
        out[n] = ingot_result(ctx, y, n);
    if (!y || !first_float || !n_wrt)
        return y ? n : -1;
    if (ingot_grad(ctx, ingot_sum(ctx, y, NULL), wrt, n_wrt, out + n) != INGOT_OK)
        return -1;
    return n + n_wrt;
}

static void print(const graph *g, buffer *b)
{
    error e = {0};

    b->len = 0;
    if (!graph_print(g, b, &e))
        fail_msg("%s", e.text);
}

static void round_trip(const graph *g, const op_registry *ops, buffer *text, buffer *again)
{
    error e = {0};
    graph *copy;

    print(g, text);
    copy = graph_parse(NULL, ops, text->data, text->len, &e);
    if (!copy || !graph_verify(copy, &e))
        fail_msg("%s in\n%s", e.text, text->data);
    print(copy, again);
    assert_string_equal(text->data, again->data);
    graph_free(copy);
}

static void check_passes(graph *g, const op_registry *ops)
{
    const pass_options o = {0};
    buffer text, again;
    error e = {0};

    buffer_init(&text, NULL, 0);
    buffer_init(&again, NULL, 0);
    round_trip(g, ops, &text, &again);
    for (const pass_row *p = passes; p->name; p++) {
        if (!p->run(g, &o, &e) || !graph_verify(g, &e))
            fail_msg("%s: %s in\n%s", p->name, e.text, text.data);
        round_trip(g, ops, &text, &again);
        if (!p->run(g, &o, &e))
            fail_msg("%s again: %s", p->name, e.text);
        print(g, &again);
        assert_string_equal(text.data, again.data);
    }
    buffer_free(&text);
    buffer_free(&again);
}

static void check_row(ingot_context *ctx, const op_case *row)
{
    const char *names = row->dtypes ? row->dtypes : "f32";
    type types[CASE_IN];
    op_instance c;
    error e = {0};
    dtype dt;
    trace *t;
    int n = 0;

    if (!row->ref || row->param || !case_next_dtype(&names, &dt))
        return;
    if (!case_build(&c, ctx->engine->ops, row, dt, 1, &e))
        fail_msg("row of %s: %s", row->op, e.text);
    for (int i = 0; i < c.n_in; i++)
        if (c.in[i].rank >= 0)
            types[n++] = c.in[i];
    t = function_trace(ctx, row->op, construct, &c, types, n, NULL, NULL);
    if (!t)
        fail_msg("%s: %s", row->op, ingot_error_text(ctx));
    check_passes(t->g, ctx->engine->ops);
    trace_free(t);
    case_free(&c);
}

static void every_row_prints_and_passes(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = 1});

    (void)state;
    for (const op_family *f = op_families; f->name; f++)
        for (size_t i = 0; i < f->n; i++)
            check_row(ctx, &f->rows[i]);
    ingot_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_prints_and_passes)};

    return cmocka_run_group_tests_name("ir/every_op", tests, NULL, NULL);
}
