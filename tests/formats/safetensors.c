/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors against the published cases (see EXPECTED.tsv beside them), and against every
   truncation and every flipped bit of a file of our own. */
#include "formats/safetensors.h" /* before cmocka.h, which has a macro called fail */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void data_folder(char *out, size_t size)
{
    const char *dir = getenv("INGOT_DATA"), *src = getenv("INGOT_SOURCE_DIR");

    if (dir)
        (void)snprintf(out, size, "%s/safetensors", dir);
    else
        (void)snprintf(out, size, "%s/../shared/data/safetensors", src ? src : ".");
}

static void temp_path(char *out, size_t size, const char *name)
{
    const char *dir = getenv("INGOT_BINARY_DIR");

    (void)snprintf(out, size, "%s/test-%ld-%s", dir ? dir : ".", (long)getpid(), name);
}

static void check_case(const char *dir, char *line)
{
    char *tab = strchr(line, '\t'), path[8192];
    safetensors s;
    error e = {0};

    assert_non_null(tab);
    *tab = '\0';
    bool want = strncmp(tab + 1, "valid", 5) == 0;
    (void)snprintf(path, sizeof path, "%s/cases/%s", dir, line);
    bool got = safetensors_open(&s, NULL, path, &e);
    if (got != want)
        fail_msg("%s: %s; expected %s", line, got ? "accepted" : e.text, tab + 1);
    if (!got)
        assert_int_equal(e.code, INGOT_E_FORMAT);
    safetensors_close(&s);
}

static void test_published_cases(void **state)
{
    char dir[4000], path[8192], line[1024];
    int n = 0;

    (void)state;
    data_folder(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/cases/EXPECTED.tsv", dir);
    FILE *f = fopen(path, "r");
    if (!f) {
        print_message("safetensors cases are not at %s (set INGOT_DATA): skipped\n", dir);
        skip();
    }
    assert_non_null(fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        check_case(dir, line);
        n++;
    }
    (void)fclose(f);
    assert_true(n >= 16);
}

static void test_sums(void **state)
{
    char dir[4000], path[8192], line[1024], name[64], dt[16], shape[64];
    double want;
    int n = 0;
    safetensors s;
    error e = {0};

    (void)state;
    data_folder(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/all_dtypes.tsv", dir);
    FILE *f = fopen(path, "r");
    if (!f) {
        print_message("safetensors data are not at %s (set INGOT_DATA): skipped\n", dir);
        skip();
    }
    (void)snprintf(path, sizeof path, "%s/all_dtypes.safetensors", dir);
    assert_true(safetensors_open(&s, NULL, path, &e));
    assert_non_null(fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%63[^\t]\t%15[^\t]\t%63[^\t]\t%lf", name, dt, shape, &want) != 4)
            fail_msg("all_dtypes.tsv: %s", line);
        const safetensors_entry *t = safetensors_find(&s, name);
        assert_non_null(t);
        assert_string_equal(t->dtype, dt);
        if (!t->known)
            continue;
        double sum = 0, *aligned = malloc(t->bytes + 1);
        assert_non_null(aligned);
        memcpy(aligned, t->data, t->bytes);
        for (int64_t i = 0; i < type_count(&t->type); i++)
            sum += dtype_get_f64(t->type.dt, aligned, i);
        free(aligned);
        if (!(sum - want <= 1e-9 * (1 + (want < 0 ? -want : want)) &&
              want - sum <= 1e-9 * (1 + (want < 0 ? -want : want))))
            fail_msg("%s: sum %.17g, want %.17g", name, sum, want);
        n++;
    }
    (void)fclose(f);
    safetensors_close(&s);
    assert_true(n >= 8);
}

static const float weight[6] = {1.5F, -2, 3, 0, 1e-20F, 7};
static const int64_t label[3] = {-1, 1LL << 60, 5};
static const unsigned char flags[5] = {1, 0, 1, 1, 0};

static void write_sample(const char *path)
{
    safetensors_item items[] = {
        {"a.flags", {INGOT_BOOL, 1, {5}}, flags},
        {"layer\"2\"\n.weight", {INGOT_F32, 2, {2, 3}}, weight},
        {"label", {INGOT_I64, 1, {3}}, label},
        {"none", {INGOT_F16, 2, {0, 4}}, NULL},
        {"\xc3\xa9t\xc3\xa9", {INGOT_F64, 0, {0}}, (const double[]){2.25}},
    };
    safetensors_meta meta[] = {{"graph", "graph \"x\" {\n}\n"}, {"b", ""}};
    error e = {0};

    safetensors_sort(items, 5);
    if (!safetensors_write(path, NULL, items, 5, meta, 2, &e))
        fail_msg("%s", e.text);
}

static void test_round_trip(void **state)
{
    char path[8192];
    safetensors s;
    error e = {0};

    (void)state;
    temp_path(path, sizeof path, "round.safetensors");
    write_sample(path);
    if (!safetensors_open(&s, NULL, path, &e) || !safetensors_verify(&s, &e))
        fail_msg("%s", e.text);
    assert_int_equal(s.count, 5);
    assert_string_equal(safetensors_meta_find(&s, "graph"), "graph \"x\" {\n}\n");
    assert_string_equal(safetensors_meta_find(&s, "b"), "");
    assert_null(safetensors_meta_find(&s, "c"));
    const safetensors_entry *w = safetensors_find(&s, "layer\"2\"\n.weight");
    assert_non_null(w);
    assert_int_equal((uintptr_t)w->data % 4, 0);
    assert_memory_equal(w->data, weight, sizeof weight);
    assert_int_equal(w->type.rank, 2);
    assert_int_equal(w->type.dim[1], 3);
    const safetensors_entry *l = safetensors_find(&s, "label");
    assert_non_null(l);
    assert_int_equal((uintptr_t)l->data % 8, 0);
    assert_memory_equal(l->data, label, sizeof label);
    assert_int_equal(safetensors_find(&s, "none")->bytes, 0);
    assert_non_null(safetensors_find(&s, "\xc3\xa9t\xc3\xa9"));
    assert_null(safetensors_find(&s, "labe"));
    safetensors_close(&s);
    assert_int_equal(unlink(path), 0);
}

static void test_same_bytes(void **state)
{
    char a[4096], b[4096];
    buffer x, y;
    error e = {0};

    (void)state;
    temp_path(a, sizeof a, "a.safetensors");
    temp_path(b, sizeof b, "b.safetensors");
    write_sample(a);
    write_sample(b);
    buffer_init(&x, NULL, 0);
    buffer_init(&y, NULL, 0);
    assert_true(file_read(a, &x, &e) && file_read(b, &y, &e));
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.data, y.data, x.len);
    buffer_free(&x);
    buffer_free(&y);
    assert_int_equal(unlink(a), 0);
    assert_int_equal(unlink(b), 0);
}

/* Exact-size heap copies, so that a sanitizer sees a read past the end. */
static bool accepts(const char *data, size_t n)
{
    char *copy = malloc(n ? n : 1);
    safetensors s;
    error e = {0};

    assert_non_null(copy);
    memcpy(copy, data, n);
    bool ok = safetensors_parse(&s, NULL, copy, n, &e) && safetensors_verify(&s, &e);
    assert_true(ok || (e.code != INGOT_OK && e.text[0]));
    safetensors_close(&s);
    free(copy);
    return ok;
}

static void test_damage(void **state)
{
    char path[8192];
    buffer b;
    error e = {0};

    (void)state;
    temp_path(path, sizeof path, "damage.safetensors");
    write_sample(path);
    buffer_init(&b, NULL, 0);
    assert_true(file_read(path, &b, &e));
    assert_true(accepts(b.data, b.len));
    for (size_t n = 0; n < b.len; n++)
        if (accepts(b.data, n))
            fail_msg("cut to %zu of %zu bytes: accepted", n, b.len);
    for (size_t i = 0; i < b.len * 8; i++) {
        b.data[i / 8] = (char)(b.data[i / 8] ^ 1 << (i % 8));
        if (accepts(b.data, b.len))
            fail_msg("bit %zu of byte %zu flipped: accepted", i % 8, i / 8);
        b.data[i / 8] = (char)(b.data[i / 8] ^ 1 << (i % 8));
    }
    buffer_free(&b);
    assert_int_equal(unlink(path), 0);
}

static void refuse(const char *header, size_t data, const char *text)
{
    char file[4096] = {0};
    size_t n = strlen(header);
    safetensors s;
    error e = {0};

    file[0] = (char)(n & 255);
    file[1] = (char)(n >> 8);
    memcpy(file + 8, header, n);
    bool ok = safetensors_parse(&s, NULL, file, 8 + n + data, &e);
    safetensors_close(&s);
    if (ok)
        fail_msg("accepted: %s", header);
    if (!strstr(e.text, text))
        fail_msg("%s\n  for: %s\n  without: %s", e.text, header, text);
}

static void test_refused(void **state)
{
    (void)state;
#define T(dtype, shape, at) \
    "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" at "}}"
    refuse("", 0, "does not begin");
    refuse("[]", 0, "does not begin");
    refuse(" {}", 0, "does not begin");
    refuse("{}", 1, "1 bytes after the last");
    refuse("{}x", 0, "header byte");
    refuse("{\"a\":3}", 0, "not an object of");
    refuse("{\"\xff\":3}", 0, "unable to decode byte");
    refuse("{\"__metadata__\":[]}", 0, "not an object");
    refuse(T("3", "[1]", "[0,4]"), 4, "unknown dtype");
    refuse(T("\"F33\"", "[1]", "[0,4]"), 4, "unknown dtype 'F33'");
    refuse(T("\"F32\"", "1", "[0,4]"), 4, "not a list");
    refuse(T("\"F32\"", "[1.0]", "[0,4]"), 4, "whole number");
    refuse(T("\"F32\"", "[-1]", "[0,4]"), 4, "whole number");
    refuse(T("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "rank 9");
    refuse(T("\"F32\"", "[1]", "[0,8]"), 4, "outside");
    refuse(T("\"F32\"", "[1]", "[4,0]"), 4, "outside");
    refuse(T("\"F32\"", "[1]", "[0,3]"), 4, "make 4");
    refuse(T("\"F32\"", "[1]", "[1,5]"), 5, "hole");
    refuse(T("\"F32\"", "[1]", "[0]"), 4, "pair");
    refuse(T("\"F32\"", "[9223372036854775807,9223372036854775807,0]", "[0,0]"), 0, "overflows");
    refuse(T("\"F32\"", "[99999999999999999999]", "[0,0]"), 0, "header byte");
    refuse("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
           "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
           3, "overlaps");
#undef T
}

static void test_writer_refuses(void **state)
{
    char path[8192];
    safetensors_item twice[] = {{"a", {INGOT_U8, 1, {1}}, "x"}, {"a", {INGOT_U8, 1, {1}}, "x"}};
    safetensors_item latin1[] = {{"\xe9", {INGOT_U8, 1, {1}}, "x"}};
    safetensors_item open_batch[] = {{"a", {INGOT_U8, 1, {DIM_SYM}}, "x"}};
    error e = {0};

    (void)state;
    temp_path(path, sizeof path, "refused.safetensors");
    assert_false(safetensors_write(path, NULL, twice, 2, NULL, 0, &e));
    assert_non_null(strstr(e.text, "'a' is taken"));
    error_clear(&e);
    assert_false(safetensors_write(path, NULL, latin1, 1, NULL, 0, &e));
    assert_non_null(strstr(e.text, "UTF-8"));
    error_clear(&e);
    assert_false(safetensors_write(path, NULL, open_batch, 1, NULL, 0, &e));
    error_clear(&e);
    assert_false(safetensors_write("/nonexistent-folder/x", NULL, NULL, 0, NULL, 0, &e));
    assert_int_equal(e.code, INGOT_E_NOT_FOUND);
    assert_false(file_exists(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_cases), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_damage),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_writer_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
