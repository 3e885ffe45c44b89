/* SPDX-License-Identifier: Apache-2.0 */
/* Model files: the file gives the net's own bits for any batch, and no damage goes unseen. */
#include "formats/safetensors.h"
#include "ingot/ingot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], model[128];

static void check_error(ingot_context *ctx, ingot_status code, const char *text)
{
    if (ingot_error(ctx) != code || !strstr(ingot_error_text(ctx), text))
        fail_msg("%s \"%s\", expected %s with \"%s\"", ingot_status_name(ingot_error(ctx)),
                 ingot_error_text(ctx), ingot_status_name(code), text);
    ingot_clear_error(ctx);
}

static ingot_cell *make_net(ingot_context *ctx)
{
    return ingot_net_cnn(
        ctx,
        &(ingot_net_options){
            .channels = 1, .height = 8, .width = 8, .classes = 3, .features = 2, .dropout = 0.5});
}

static const char *const names[] = {"a", "b \"quoted\"", "c"};

static int setup(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 5});
    const ingot_image_facts image = {1, 8, 8, {0.25}, {0.5}};
    ingot_cell *net = make_net(ctx);
    ingot_status s;

    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/ingot_deploy_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(model, sizeof model, "%s/model.ingot", folder);
    s = ingot_export(ctx, net, INGOT_F32, INGOT_INTS(1, 8, 8), model,
                     &(ingot_export_options){
                         .name = "net", .class_names = names, .n_classes = 3, .image = &image});
    ingot_cell_free(net);
    ingot_close(ctx);
    return s == INGOT_OK ? 0 : -1;
}

static int teardown(void **state)
{
    char line[128];

    (void)state;
    (void)snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

static int call_net(ingot_context *ctx, ingot_tensor *const *in, int n_in, ingot_tensor **out,
                    int max_out, void *net)
{
    (void)ctx;
    (void)n_in;
    (void)max_out;
    out[0] = ingot_cell_call(net, in[0]);
    return 1;
}

static void a_model_gives_the_bits_of_its_net(void **state)
{
    static const int batches[] = {1, 3, 64, 3, 0};
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 5, .threads = 2});
    ingot_cell *net = make_net(ctx); /* the same seed: the same weights */
    ingot_function *f = ingot_function_new(ctx, call_net, net, NULL);
    ingot_session *s = ingot_session_load(ctx, model);

    (void)state;
    if (!s)
        fail_msg("%s", ingot_error_text(ctx));
    for (int k = 0; k < 5; k++) {
        ingot_tensor *x = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(batches[k], 1, 8, 8), NULL);
        ingot_tensor *want, *got;

        for (int i = 0; i < batches[k] * 64; i++)
            ((float *)ingot_tensor_data(x))[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
        assert_int_equal(ingot_function_call(f, &x, 1, &want, 1), INGOT_OK);
        if (ingot_session_run(s, &x, 1, &got, 1) != INGOT_OK)
            fail_msg("%s", ingot_error_text(ctx));
        assert_int_equal(ingot_tensor_dim(got, 0), batches[k]);
        assert_memory_equal(ingot_tensor_data(want), ingot_tensor_data(got),
                            (size_t)ingot_tensor_count(want) * sizeof(float));
    }
    ingot_session_free(s);
    ingot_function_free(f);
    ingot_cell_free(net);
    ingot_close(ctx);
}

static void facts_come_back(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    ingot_session *s = ingot_session_load(ctx, model);

    (void)state;
    assert_int_equal(ingot_session_class_count(s), 3);
    assert_string_equal(ingot_session_class_name(s, 1), names[1]);
    assert_null(ingot_session_class_name(s, 3));
    assert_int_equal(ingot_session_image(s)->height, 8);
    assert_true(ingot_session_image(s)->mean[0] == 0.25 && ingot_session_image(s)->std[0] == 0.5);
    assert_string_equal(ingot_session_input_name(s, 0), "input");
    assert_int_equal(ingot_session_input_dim(s, 0, 0), -1);
    assert_int_equal(ingot_session_input_dim(s, 0, -1), 8);
    assert_string_equal(ingot_session_output_name(s, 0), "output");
    assert_int_equal(ingot_session_output_dim(s, 0, 1), 3);
    assert_string_equal(ingot_session_meta(s, "ingot.version"), INGOT_VERSION);
    ingot_session_free(s);
    ingot_close(ctx);
}

static void wrong_inputs_are_told(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    ingot_session *s = ingot_session_load(ctx, model);
    ingot_tensor *x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(2, 1, 8, 9), 0), *out[2];
    ingot_tensor *y = ingot_tensor_full(ctx, INGOT_F64, INGOT_INTS(2, 1, 8, 8), 0);

    (void)state;
    assert_int_equal(ingot_session_run(s, &x, 1, out, 1), INGOT_E_SHAPE);
    check_error(ctx, INGOT_E_SHAPE, "is f32[2,1,8,9]; the model takes f32[B,1,8,8]");
    assert_int_equal(ingot_session_run(s, &y, 1, out, 1), INGOT_E_SHAPE);
    check_error(ctx, INGOT_E_SHAPE, "f64[2,1,8,8]");
    assert_int_equal(ingot_session_run(s, &x, 0, out, 1), INGOT_E_ARGUMENT);
    check_error(ctx, INGOT_E_ARGUMENT, "0 inputs given");
    x = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(2, 1, 8, 8), 0);
    assert_int_equal(ingot_session_run(s, &x, 1, out, 2), INGOT_E_ARGUMENT);
    check_error(ctx, INGOT_E_ARGUMENT, "room for 2 outputs");
    assert_int_equal(ingot_session_run(s, &x, 1, out, 1), INGOT_OK);
    ingot_session_free(s);
    ingot_close(ctx);
}

static unsigned char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    unsigned char *p = malloc(1 << 20);

    assert_true(f && p);
    *n = fread(p, 1, 1 << 20, f);
    (void)fclose(f);
    return p;
}

static void write_all(const char *path, const unsigned char *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Every bit of a small model turned, and every length that is too short. */
static void no_damage_goes_unseen(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = 1});
    ingot_cell *net = ingot_nn_linear(ctx, 3, 2, NULL);
    char bad[128];
    unsigned char *p;
    size_t n;

    (void)state;
    (void)snprintf(bad, sizeof bad, "%s/bad.ingot", folder);
    assert_int_equal(ingot_export(ctx, net, INGOT_F32, INGOT_INTS(3), bad, NULL), INGOT_OK);
    p = read_all(bad, &n);
    assert_in_range(n, 100, 2000);
    for (size_t i = 0; i < 8 * n; i++) {
        p[i / 8] ^= (unsigned char)(1u << i % 8);
        write_all(bad, p, n);
        if (ingot_session_load(ctx, bad))
            fail_msg("bit %zu of byte %zu of %zu", i % 8, i / 8, n);
        assert_non_null(strstr(ingot_error_text(ctx), bad));
        ingot_clear_error(ctx);
        p[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    for (size_t k = 0; k < n; k++) {
        write_all(bad, p, k);
        assert_null(ingot_session_load(ctx, bad));
        assert_non_null(strstr(ingot_error_text(ctx), bad));
        ingot_clear_error(ctx);
    }
    write_all(bad, p, n); /* and it was no other thing that was wrong */
    ingot_session_free(ingot_session_load(ctx, bad));
    if (ingot_error(ctx))
        fail_msg("%s", ingot_error_text(ctx));
    free(p);
    ingot_cell_free(net);
    ingot_close(ctx);
}

/* A model file of a graph without parameters; its checksum is right whatever the text. */
static void write_graph(const char *path, const char *text)
{
    safetensors_meta meta = {"ingot.graph", text};
    error e = {0};

    if (!safetensors_write(path, NULL, NULL, 0, &meta, 1, &e))
        fail_msg("%s", e.text);
}

static const char two_inputs[] = "graph \"two\" {\n"
                                 "  %0: f32[B,2] = input \"left\"\n"
                                 "  %1: f32[B,2] = input \"right\"\n"
                                 "  %2: f32[B,2] = add(%0, %1)\n"
                                 "  return %2 \"sum\"\n"
                                 "}\n";

static void inputs_share_one_batch(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    ingot_tensor *in[2], *out;
    ingot_session *s;
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof path, "%s/two.ingot", folder);
    write_graph(path, two_inputs);
    s = ingot_session_load(ctx, path);
    if (!s)
        fail_msg("%s", ingot_error_text(ctx));
    assert_int_equal(ingot_session_input_count(s), 2);
    in[0] = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(3, 2), 1.5);
    in[1] = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(4, 2), 2);
    assert_int_equal(ingot_session_run(s, in, 2, &out, 1), INGOT_E_SHAPE);
    assert_non_null(strstr(ingot_error_text(ctx), "one of 3"));
    check_error(ctx, INGOT_E_SHAPE, "input \"right\" has a batch of 4");
    assert_int_equal(ingot_session_run(s, in, 1, &out, 1), INGOT_E_ARGUMENT);
    check_error(ctx, INGOT_E_ARGUMENT, "1 inputs given, the model has 2");
    in[1] = ingot_tensor_full(ctx, INGOT_F32, INGOT_INTS(3, 2), 2);
    assert_int_equal(ingot_session_run(s, in, 2, &out, 1), INGOT_OK);
    assert_int_equal(ingot_tensor_count(out), 6);
    for (int i = 0; i < 6; i++)
        assert_true(ingot_tensor_item(out, i) == 3.5);
    ingot_session_free(s);
    ingot_close(ctx);
}

/* Text that the checksum vouches for is not trusted either: what is cut is refused, what has one
   bit changed is refused or a graph. */
static void graphs_are_not_trusted(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    char path[128], text[sizeof two_inputs];
    size_t n = strlen(two_inputs), refused = 0;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/odd.ingot", folder);
    for (size_t k = 0; k + 1 < n; k++) { /* without the last line's end it is whole */
        memcpy(text, two_inputs, sizeof text);
        text[k] = '\0';
        write_graph(path, text);
        if (ingot_session_load(ctx, path))
            fail_msg("%zu of %zu bytes", k, n);
        ingot_clear_error(ctx);
    }
    for (size_t i = 0; i < 7 * n; i++) {
        ingot_session *s;

        memcpy(text, two_inputs, sizeof text);
        text[i / 7] = (char)(text[i / 7] ^ (1 << i % 7));
        write_graph(path, text);
        s = ingot_session_load(ctx, path);
        refused += !s;
        assert_true(s || strstr(ingot_error_text(ctx), path));
        ingot_session_free(s);
        ingot_clear_error(ctx);
    }
    assert_in_range(refused, 3 * n, 7 * n - 1); /* names may change */
    ingot_close(ctx);
}

/* Nothing is written that a load would refuse. */
static void what_no_file_can_hold_is_refused(void **state)
{
    static const struct {
        ingot_image_facts image;
        const char *want;
    } bad[] = {
        {{1, 8, 8, {0.25}, {0}}, "std 0 of channel 0"},
        {{3, 8, 8, {0}, {1, 1, -1}}, "std -1 of channel 2"},
        {{1, 8, 8, {HUGE_VAL}, {1}}, "mean inf"},
        {{1, 70000, 8, {0}, {1}}, "70000 x 8"},
        {{5, 8, 8, {0}, {1}}, "5 channels"},
    };
    static const char *const broken[] = {"a", "\xff", "c"}, *const less[] = {"a", "b", NULL};
    ingot_context *ctx = ingot_open(NULL);
    ingot_cell *net = ingot_nn_relu(ctx);
    ingot_export_options opt = {.n_classes = 3};
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof path, "%s/none.ingot", folder);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ingot_export(ctx, net, INGOT_F32, INGOT_INTS(8), path,
                                      &(ingot_export_options){.image = &bad[i].image}),
                         INGOT_E_ARGUMENT);
        check_error(ctx, INGOT_E_ARGUMENT, bad[i].want);
    }
    (void)!ingot_export(ctx, net, INGOT_F32, INGOT_INTS(8), path, &opt);
    check_error(ctx, INGOT_E_ARGUMENT, "3 classes without names");
    opt.class_names = broken;
    (void)!ingot_export(ctx, net, INGOT_F32, INGOT_INTS(8), path, &opt);
    check_error(ctx, INGOT_E_ARGUMENT, "class 1 of 3");
    opt.class_names = less;
    (void)!ingot_export(ctx, net, INGOT_F32, INGOT_INTS(8), path, &opt);
    check_error(ctx, INGOT_E_ARGUMENT, "class 2 of 3");
    (void)!ingot_export(ctx, net, INGOT_F32, INGOT_INTS(4, -1), path, NULL);
    check_error(ctx, INGOT_E_ARGUMENT, "dimension 1 of the shape is -1");
    assert_int_not_equal(access(path, F_OK), 0);
    ingot_cell_free(net);
    ingot_close(ctx);
}

/* Any safetensors tool can read the weights; a file whose graph asks for more is refused. */
static void weights_are_plain_safetensors(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    safetensors_item items[16];
    safetensors_meta meta[16];
    char bad[128];
    safetensors s;
    error e = {0};
    size_t n = 0, m = 0;

    (void)state;
    assert_true(safetensors_open(&s, NULL, model, &e));
    assert_non_null(safetensors_find(&s, "conv1.weight"));
    assert_int_equal(safetensors_find(&s, "fc2.bias")->type.dim[0], 3);
    for (size_t i = 0; i < s.count; i++)
        if (strcmp(s.entries[i].name, "fc2.bias") != 0)
            items[n++] =
                (safetensors_item){s.entries[i].name, s.entries[i].type, s.entries[i].data};
    for (size_t i = 0; i < s.n_meta; i++)
        if (strncmp(s.meta[i].key, "ingot.", 6) == 0)
            meta[m++] = s.meta[i];
    (void)snprintf(bad, sizeof bad, "%s/less.ingot", folder);
    /* the checksum is the writer's own business */
    assert_false(safetensors_write(bad, NULL, items, n, meta, m, &e));
    assert_non_null(strstr(e.text, "ingot.xxh3"));
    error_clear(&e);
    for (size_t i = 0; i < m; i++)
        if (strcmp(meta[i].key, "ingot.xxh3") == 0)
            meta[i--] = meta[--m];
    if (!safetensors_write(bad, NULL, items, n, meta, m, &e))
        fail_msg("%s", e.text);
    safetensors_close(&s);
    assert_null(ingot_session_load(ctx, bad));
    check_error(ctx, INGOT_E_FORMAT, "\"fc2.bias\" is not in the file");
    ingot_close(ctx);
}

static void a_graph_can_be_looked_at(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    ingot_graph *g = ingot_graph_load(ctx, model), *again;
    char path[128];

    (void)state;
    assert_non_null(g);
    assert_int_equal(ingot_graph_op_count(g), 10);
    (void)snprintf(path, sizeof path, "%s/net.txt", folder);
    write_all(path, (const unsigned char *)ingot_graph_text(g), strlen(ingot_graph_text(g)));
    again = ingot_graph_load(ctx, path);
    assert_non_null(again);
    assert_string_equal(ingot_graph_text(g), ingot_graph_text(again));
    assert_non_null(strstr(ingot_graph_dot(g), "digraph"));
    ingot_graph_free(g);
    ingot_graph_free(again);
    assert_null(ingot_graph_load(ctx, folder));
    ingot_clear_error(ctx);
    ingot_close(ctx);
}

/* Compiled to be looked at: batch norm is there after no pass and gone after the last; the plan is
   spelled out; what can't be compiled is an error. */
static void a_graph_can_be_compiled_to_look_at(void **state)
{
    ingot_context *ctx = ingot_open(NULL),
                  *unfused = ingot_open(&(ingot_context_options){.passes_off = "fuse"});
    ingot_graph *g = ingot_graph_load(ctx, model), *traced, *last;
    const char *memory;

    (void)state;
    assert_null(ingot_graph_memory(g));
    traced = ingot_graph_compile(g, &(ingot_graph_compile_options){.batch = 3, .after = "trace"});
    last = ingot_graph_compile(g, NULL);
    assert_non_null(traced);
    assert_non_null(last);
    assert_non_null(strstr(ingot_graph_text(traced), "f32[3,1,8,8] = input"));
    assert_non_null(strstr(ingot_graph_text(last), "f32[1,1,8,8] = input"));
    assert_non_null(strstr(ingot_graph_text(traced), "= linear("));
    assert_null(strstr(ingot_graph_text(last), "= linear("));
    memory = ingot_graph_memory(last);
    assert_non_null(strstr(memory, "  arena: "));
    assert_non_null(strstr(memory, "  parameters\n"));
    assert_non_null(strstr(memory, "########################################")); /* the peak */
    ingot_graph_free(traced);
    ingot_graph_free(last);
    assert_null(ingot_graph_compile(g, &(ingot_graph_compile_options){.after = "fusion"}));
    check_error(ctx, INGOT_E_ARGUMENT, "'fusion' is no pass");
    assert_null(ingot_graph_compile(g, &(ingot_graph_compile_options){.batch = -1}));
    check_error(ctx, INGOT_E_ARGUMENT, "batch: -1");
    assert_null(ingot_graph_compile(g, &(ingot_graph_compile_options){.batch = INT64_MAX / 2}));
    check_error(ctx, INGOT_E_SHAPE, "overflows");
    assert_null(ingot_graph_compile(NULL, NULL));
    ingot_graph_free(g);
    g = ingot_graph_load(unfused, model);
    assert_null(ingot_graph_compile(g, &(ingot_graph_compile_options){.after = "fuse"}));
    check_error(unfused, INGOT_E_ARGUMENT, "passes_off");
    ingot_graph_free(g);
    ingot_close(unfused);
    ingot_close(ctx);
}

static void equal_nets_give_equal_files(void **state)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 5, .threads = 3});
    const ingot_image_facts image = {1, 8, 8, {0.25}, {0.5}};
    ingot_cell *net = make_net(ctx);
    char path[128], line[300];

    (void)state;
    (void)snprintf(path, sizeof path, "%s/again.ingot", folder);
    assert_int_equal(
        ingot_export(ctx, net, INGOT_F32, INGOT_INTS(1, 8, 8), path,
                     &(ingot_export_options){
                         .name = "net", .class_names = names, .n_classes = 3, .image = &image}),
        INGOT_OK);
    (void)snprintf(line, sizeof line, "cmp %s %s", path, model);
    assert_int_equal(system(line), 0);
    assert_int_equal(
        ingot_export(ctx, net, INGOT_F32, INGOT_INTS(1, 8, 8), "/nowhere/x.ingot", NULL),
        INGOT_E_NOT_FOUND);
    ingot_clear_error(ctx);
    assert_int_equal(ingot_export(ctx, net, INGOT_F32, INGOT_INTS(3, 8, 8), path, NULL),
                     INGOT_E_SHAPE);
    ingot_clear_error(ctx);
    assert_int_equal(system(line), 0); /* what was there is untouched */
    ingot_cell_free(net);
    ingot_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_gives_the_bits_of_its_net),
        cmocka_unit_test(facts_come_back),
        cmocka_unit_test(wrong_inputs_are_told),
        cmocka_unit_test(no_damage_goes_unseen),
        cmocka_unit_test(inputs_share_one_batch),
        cmocka_unit_test(graphs_are_not_trusted),
        cmocka_unit_test(what_no_file_can_hold_is_refused),
        cmocka_unit_test(weights_are_plain_safetensors),
        cmocka_unit_test(a_graph_can_be_looked_at),
        cmocka_unit_test(a_graph_can_be_compiled_to_look_at),
        cmocka_unit_test(equal_nets_give_equal_files),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
