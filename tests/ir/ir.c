/* SPDX-License-Identifier: Apache-2.0 */
/* The IR's text: what is printed reads back to the same bytes, and what is wrong is told with line
   and column. Signatures of op rows, the registry, binding the batch. */
#include "base/memory.h"
#include "ops/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static op_registry *ops;

static int setup(void **state)
{
    error e = {0};

    (void)state;
    ops = op_registry_new(NULL, op_rows, &e);
    return ops ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    op_registry_free(ops);
    return 0;
}

static graph *parse(const char *text)
{
    error e = {0};
    graph *g = graph_parse(NULL, ops, text, strlen(text), &e);

    if (!g)
        fail_msg("%s", e.text);
    if (!graph_verify(g, &e))
        fail_msg("%s", e.text);
    return g;
}

static const char small[] = "graph \"small\" {\n"
                            "  %0: f32[B,4] = input \"x\"\n"
                            "  %1: f32[3,4] = param \"w\"\n"
                            "  %2: f32[3] = const [0.5, -1, 0.002]\n"
                            "  %3: f32[B,3] = linear(%0, %1, _) \"fc\"\n"
                            "  %4: f32[B,3] = add(%3, %2)\n"
                            "  %5: f32[B,2], %6: i64[B,2] = made_up(%4)\n"
                            "}\n";

static void printing_and_parsing_round_trip(void **state)
{
    static const char *const texts[] = {
        "graph \"a\" {\n  %0: f32[B,4] = input \"x\"\n  %1: f32[3,4] = param \"w\"\n"
        "  %2: f32[3] = const [0.5, -1, 0.002]\n  %3: f32[B,3] = linear(%0, %1, _) \"fc\"\n"
        "  %4: f32[B,3] = add(%3, %2)\n  return %4 \"y\"\n}\n",
        "graph \"odd \\\"name\\\" \\x0a\" {\n  %0: bool[2] = const [true, false]\n"
        "  %1: i64[] = const -9223372036854775808\n  %2: f64[2] = const [1e-300, 3]\n"
        "  return %0, %1 \"b\", %2\n}\n",
        "graph \"pool\" {\n  %0: f32[1,2,4,4] = input \"x\"\n"
        "  %1: f32[1,2,2,2], %2: i64[1,2,2,2] = max_pool2d(%0) {kernel=[2], stride=[], padding=[], "
        "dilation=[], ceil_mode=false}\n  return %1, %2\n}\n",
        "graph \"f\" {\n  %0: f32[2,3] = input \"x\"\n  %1: f32[2,3], %2: f32[2] = fused(%0) {\n"
        "    %0: f32[2,3] = input \"a\"\n    %1: f32[2,3] = exp(%0)\n"
        "    %2: f32[2] = sum(%1) {axes=[1], keepdims=false}\n    return %1, %2\n  }\n"
        "  return %1, %2\n}\n",
        "graph \"empty\" {\n  return\n}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        error e = {0};
        graph *g = parse(texts[i]);
        buffer out;

        buffer_init(&out, NULL, 0);
        assert_true(graph_print(g, &out, &e));
        assert_string_equal(out.data, texts[i]);
        buffer_free(&out);
        graph_free(g);
    }
}

static void wrong_texts_name_line_and_column(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "1:1"},
        {"graph small {\n}", "1:7"},
        {small, "7:"},
        {small, "made_up"},
        {"graph \"g\" {\n  %0: f32[2] = reluu(%0)\n return %0\n}", "relu"},
        {"graph \"g\" {\n  %0: f32[2] = input \"x\"\n  %1: f32[3] = relu(%0)\n return %1\n}",
         "stated type differs"},
        {"graph \"g\" {\n  %0: f32[2] = input \"x\"\n  %0: f32[2] = relu(%0)\n return %0\n}",
         "defined twice"},
        {"graph \"g\" {\n  %0: f32[2] = relu(%7)\n return %0\n}", "2:"},
        {"graph \"g\" {\n  %0: f32[2] = const [1, 2, 3]\n return %0\n}", "2:"},
        {"graph \"g\" {\n  %0: f32[99999999999999999999] = input \"x\"\n return %0\n}", "2:"},
        {"graph \"g\" {\n  %0: f32[4000000000,4000000000,4000000000] = input \"x\"\n return %0\n}",
         "2:"},
        {"graph \"g\" {\n  %0: f32[2] = input \"x\"\n  %1: f32[2] = add(%0)\n return %1\n}", "add"},
        {"graph \"g\" {\n  %0: f32[2] = input \"x\"\n  %1: f32[2] = softmax(%0) {axis=1.5}\n"
         " return %1\n}",
         "3:"},
        {"graph \"g\" {\n  %0: f32[2] = input \"x\"\n return %0\n", "4:1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error e = {0};
        graph *g = graph_parse(NULL, ops, cases[i].text, strlen(cases[i].text), &e);

        if (g)
            fail_msg("accepted:\n%s", cases[i].text);
        if (!strstr(e.text, cases[i].want))
            fail_msg("\"%s\" lacks \"%s\" for:\n%s", e.text, cases[i].want, cases[i].text);
    }
}

/* Every cut of a good text is refused or reads as something that verifies. */
static void cut_texts_do_no_harm(void **state)
{
    graph *whole =
        parse("graph \"a\" {\n  %0: f32[2,3] = input \"x\"\n  %1: f32[2,3] = exp(%0) \"e\"\n"
              "  %2: f32[2] = sum(%1) {axes=[1], keepdims=false}\n  return %2\n}\n");
    error e = {0};
    buffer text;

    (void)state;
    buffer_init(&text, NULL, 0);
    assert_true(graph_print(whole, &text, &e));
    for (size_t n = 0; n < text.len; n++) {
        error why = {0};
        graph *g = graph_parse(NULL, ops, text.data, n, &why);

        assert_true(g ? graph_verify(g, &why) : why.code != INGOT_OK);
        graph_free(g);
    }
    buffer_free(&text);
    graph_free(whole);
}

static void the_batch_is_bound(void **state)
{
    graph *g = parse("graph \"a\" {\n  %0: f32[B,2,2] = input \"x\"\n"
                     "  %1: f32[B,4] = flatten(%0) {start=1, end=0}\n  return %1\n}\n");
    error e = {0};
    graph *bound = graph_bind(g, 5, &e);

    (void)state;
    assert_non_null(bound);
    assert_int_equal(bound->outputs[0]->type.dim[0], 5);
    assert_int_equal(bound->outputs[0]->type.dim[1], 4);
    assert_false(type_symbolic(&bound->inputs[0]->out[0].type));
    graph_free(bound);
    graph_free(g);
}

static bool same_infer(infer *c)
{
    return infer_out(c, 0, *infer_in(c, 0));
}

static void signatures_are_read_or_refused(void **state)
{
    static const struct {
        const char *sig, *want;
    } bad[] = {
        {"", "name"},
        {"f", "\"(\""},
        {"f(x)", "\":\""},
        {"f(x: floot) -> y", "neither"},
        {"f(x: float", "\")\""},
        {"f(x: float)", "\"->\""},
        {"f(x: float) -> ", "name"},
        {"f(x: float) -> y z", "nothing may follow"},
        {"f(a: int, x: float) -> y", "inputs come before"},
        {"f(x: float..., y: float) -> z", "only the last"},
        {"f(x: float, a: int = 1) -> y", "only default"},
        {"relu(x: float) -> y", "of that name already"},
    };
    op_row row = {.infer = same_infer};
    error e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        row.sig = bad[i].sig;
        error_clear(&e);
        assert_false(op_registry_add(ops, &row, &e));
        if (!strstr(e.text, bad[i].want))
            fail_msg("\"%s\" lacks \"%s\"", e.text, bad[i].want);
    }
    error_clear(&e);
    row.sig = "user_op(x: float, ys: any?, a: ints = 0, b: real) -> y, z";
    assert_true(op_registry_add(ops, &row, &e));
    const op *o = op_find(ops, "user_op", 7);

    assert_non_null(o);
    assert_int_equal(o->n_in, 2);
    assert_true(o->in[1].optional && !o->in[0].optional);
    assert_int_equal(o->n_attrs, 2);
    assert_true(o->attrs[0].optional && o->attrs[1].kind == ATTR_REAL);
    assert_int_equal(o->n_out, 2);
    assert_string_equal(op_nearest(ops, "sofmax", 6), "softmax");
    assert_null(op_nearest(ops, "zzzzzzzz", 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printing_and_parsing_round_trip),
        cmocka_unit_test(wrong_texts_name_line_and_column),
        cmocka_unit_test(cut_texts_do_no_harm),
        cmocka_unit_test(the_batch_is_bound),
        cmocka_unit_test(signatures_are_read_or_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
