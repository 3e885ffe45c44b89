/* SPDX-License-Identifier: Apache-2.0 */
/* Passes, text in and text out; each leaves a graph that verifies, and run again changes nothing.
 */
#include "passes/passes.h"
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

typedef struct pass_case {
    const char *name;
    pass_fn pass;
    const char *before, *after; /* bodies: what stands between the braces */
} pass_case;

#define X     "  %0: f32[2,3] = input \"x\"\n"
#define XY    "  %0: f32[2,3] = input \"x\"\n  %1: f32[2,3] = input \"y\"\n"
#define SAME  NULL
#define IMAGE "  %0: f32[1,2,3,3] = input \"x\"\n  %1: f32[4,2,1,1] = param \"w\"\n"
#define CONV \
    "  %4: f32[1,4,3,3] = conv2d(%0, %1, _) {stride=[1], padding=[0], dilation=[1], groups=1}\n"

/* Parameters may change from run to run, as in training. */
static const pass_case cases[] = {
    {"linear is a product and a sum", pass_expand,
     X "  %1: f32[4,3] = param \"w\"\n  %2: f32[4] = param \"b\"\n"
       "  %3: f32[2,4] = linear(%0, %1, %2) \"fc\"\n  return %3\n",
     X "  %1: f32[4,3] = param \"w\"\n  %2: f32[4] = param \"b\"\n"
       "  %3: f32[2,4] = matmul(%0, %1) {trans_x=false, trans_y=true} \"fc\"\n"
       "  %4: f32[2,4] = add(%3, %2) \"fc\"\n  return %4\n"},
    {"what needs no expansion stays", pass_expand, X "  %1: f32[2,3] = exp(%0)\n  return %1\n",
     SAME},
    {"adding nothing", pass_simplify,
     X "  %1: f32[] = const 1\n  %2: f32[2,3] = mul(%0, %1)\n"
       "  %3: f32[2,3] = neg(%2)\n  return %3\n",
     X "  %1: f32[2,3] = neg(%0)\n  return %1\n"},
    {"reshapes of reshapes", pass_simplify,
     X "  %1: f32[6] = reshape(%0) {shape=[6], allow_zero=false}\n"
       "  %2: f32[3,2] = reshape(%1) {shape=[3,2], allow_zero=false}\n"
       "  %3: f32[2,3] = reshape(%2) {shape=[2,3], allow_zero=false}\n"
       "  %4: f32[2,3] = exp(%3)\n  return %4\n",
     X "  %1: f32[2,3] = exp(%0)\n  return %1\n"},
    {"transposes sink into a product", pass_simplify,
     X "  %1: f32[3,2] = transpose(%0) {perm=[]}\n"
       "  %2: f32[3,3] = matmul(%1, %0) {trans_x=false, trans_y=false}\n  return %2\n",
     X "  %1: f32[3,3] = matmul(%0, %0) {trans_x=true, trans_y=false}\n  return %1\n"},
    {"equal nodes become one", pass_cse,
     X "  %1: f32[2,3] = exp(%0)\n  %2: f32[2,3] = exp(%0)\n  %3: f32[2,3] = mul(%1, %2)\n"
       "  return %3\n",
     X "  %1: f32[2,3] = exp(%0)\n  %2: f32[2,3] = mul(%1, %1)\n  return %2\n"},
    {"attributes tell nodes apart", pass_cse,
     X "  %1: f32[2] = sum(%0) {axes=[1], keepdims=false}\n"
       "  %2: f32[3] = sum(%0) {axes=[0], keepdims=false}\n  return %1, %2\n",
     SAME},
    {"what nobody reads goes", pass_prune,
     XY "  %2: f32[2,3] = exp(%0)\n  %3: f32[2,3] = add(%0, %1)\n  return %3\n",
     XY "  %2: f32[2,3] = add(%0, %1)\n  return %2\n"},
    {"effects stay", pass_prune,
     X "  %1: f32[2,3] = param \"p\"\n  %2: f32[2,3] = assign(%1, %0)\n  return %0\n", SAME},
    {"a chain and its sum are one loop", pass_fuse,
     X "  %1: f32[2,3] = exp(%0)\n  %2: f32[2,3] = mul(%1, %0)\n"
       "  %3: f32[2] = sum(%2) {axes=[1], keepdims=false}\n  return %3\n",
     X "  %1: f32[2] = fused(%0) {\n    %0: f32[2,3] = input\n    %1: f32[2,3] = exp(%0)\n"
       "    %2: f32[2,3] = mul(%1, %0)\n    %3: f32[2] = sum(%2) {axes=[1], keepdims=false}\n"
       "    return %3\n  }\n  return %1\n"},
    {"a product is no part of a loop", pass_fuse,
     "  %0: f32[3,3] = input \"x\"\n  %1: f32[3,3] = matmul(%0, %0) {trans_x=false, trans_y=false}\n"
     "  return %1\n",
     SAME},
    {"a node of constants is computed", pass_fold,
     X "  %1: f32[] = const 4\n  %2: f32[] = sqrt(%1)\n  %3: f32[2,3] = mul(%0, %2)\n  return %3\n",
     X "  %1: f32[] = const 2\n  %2: f32[2,3] = mul(%0, %1)\n  return %2\n"},
    {"nothing moves where parameters learn", pass_absorb,
     IMAGE "  %2: f32[4] = param \"s\"\n  %3: f32[4,1,1] = reshape(%2) {shape=[4, 1, 1], "
           "allow_zero=false}\n" CONV "  %5: f32[1,4,3,3] = mul(%4, %3)\n  return %5\n",
     SAME},
    {"parameters that learn hoist nothing", pass_hoist,
     X "  %1: f32[3] = param \"p\"\n  %2: f32[2,3] = exp(%0)\n  %3: f32[3] = exp(%1)\n"
       "  %4: f32[2,3] = mul(%2, %3)\n  return %4\n",
     SAME},
};

/* Parameters never change, as in a session. */
static const pass_case fixed_cases[] = {
    {"a scale moves into a convolution", pass_absorb,
     IMAGE "  %2: f32[4] = param \"s\"\n  %3: f32[4,1,1] = reshape(%2) {shape=[4, 1, 1], "
           "allow_zero=false}\n" CONV "  %5: f32[1,4,3,3] = mul(%4, %3)\n  return %5\n",
     IMAGE "  %2: f32[4] = param \"s\"\n  %3: f32[4,1,1] = reshape(%2) {shape=[4, 1, 1], "
           "allow_zero=false}\n" CONV "  %5: f32[4] = reshape(%3) {shape=[4], allow_zero=true}\n"
           "  %6: f32[4,1,1,1] = reshape(%5) {shape=[4, 1, 1, 1], allow_zero=true}\n"
           "  %7: f32[4,2,1,1] = mul(%1, %6)\n"
           "  %8: f32[1,4,3,3] = conv2d(%0, %7, _) {stride=[1], padding=[0], dilation=[1], "
           "groups=1}\n  return %8\n"},
    {"a scale that differs by place stays", pass_absorb,
     IMAGE "  %2: f32[3,3] = param \"s\"\n  %3: f32[3,3] = exp(%2)\n" CONV
           "  %5: f32[1,4,3,3] = mul(%4, %3)\n  return %5\n",
     SAME},
    {"a convolution that others read stays", pass_absorb,
     IMAGE "  %2: f32[4,1,1] = param \"s\"\n  %3: f32[4,1,1] = exp(%2)\n" CONV
           "  %5: f32[1,4,3,3] = mul(%4, %3)\n  return %4, %5\n",
     SAME},
    {"what depends on parameters alone comes first", pass_hoist,
     X "  %1: f32[3] = param \"p\"\n  %2: f32[2,3] = exp(%0)\n  %3: f32[3] = exp(%1)\n"
       "  %4: f32[2,3] = mul(%2, %3)\n  return %4\n",
     X "  %1: f32[3] = param \"p\"\n  %2: f32[3] = exp(%1)\n  %3: f32[2,3] = exp(%0)\n"
       "  %4: f32[2,3] = mul(%3, %2)\n  return %4\n"},
};

static graph *parse(const char *body)
{
    char text[4096];
    error e = {0};
    graph *g;

    (void)snprintf(text, sizeof text, "graph \"g\" {\n%s}\n", body);
    g = graph_parse(NULL, ops, text, strlen(text), &e);
    if (!g || !graph_verify(g, &e))
        fail_msg("%s\n%s", e.text, text);
    return g;
}

static void print(const graph *g, buffer *b)
{
    error e = {0};

    buffer_init(b, NULL, 0);
    assert_true(graph_print(g, b, &e));
}

/* Stands for the device: whatever the node, 2. */
static bool two(void *user, const node *n, void *const *out)
{
    (void)user;
    (void)n;
    *(float *)out[0] = 2;
    return true;
}

static void run_case(const pass_case *c, bool fixed)
{
    graph *g = parse(c->before);
    const pass_options opt = {.fold = two, .fixed_params = fixed};
    char want[4096];
    error e = {0};
    buffer first, second;

    if (!c->pass(g, &opt, &e) || !graph_verify(g, &e))
        fail_msg("%s", e.text);
    print(g, &first);
    if (!c->pass(g, &opt, &e) || !graph_verify(g, &e))
        fail_msg("again: %s", e.text);
    print(g, &second);
    assert_string_equal(first.data, second.data);
    (void)snprintf(want, sizeof want, "graph \"g\" {\n%s}\n", c->after ? c->after : c->before);
    assert_string_equal(first.data, want);
    buffer_free(&first);
    buffer_free(&second);
    graph_free(g);
}

static void learning(void **state)
{
    run_case(*state, false);
}

static void fixed(void **state)
{
    run_case(*state, true);
}

#define COUNT(t) (sizeof(t) / sizeof *(t))

int main(void)
{
    static pass_case copies[COUNT(cases) + COUNT(fixed_cases)];
    struct CMUnitTest tests[COUNT(copies)];

    for (size_t i = 0; i < COUNT(copies); i++) {
        bool learns = i < COUNT(cases);

        copies[i] = learns ? cases[i] : fixed_cases[i - COUNT(cases)];
        tests[i] =
            (struct CMUnitTest){copies[i].name, learns ? learning : fixed, NULL, NULL, &copies[i]};
    }
    return cmocka_run_group_tests_name("passes", tests, setup, teardown);
}
