/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"

#include "tensor/attr.h"

static type parsed(const char *text)
{
    const char *s = text;
    error e = {0};
    type t = {0};

    if (!type_parse(&s, &t, &e))
        fail_msg("%s: %s", text, e.text);
    assert_int_equal(*s, '\0');
    return t;
}

static void texts_round_trip(void **state)
{
    static const char *const texts[] = {"f32[]",
                                        "f32[2,3]",
                                        "bool[0]",
                                        "i64[B,3,224,224]",
                                        "bf16[1,2,3,4,5,6,7,8]",
                                        "u8[9223372036854775807]"};
    char buf[TYPE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        type t = parsed(texts[i]);

        assert_string_equal(type_text(&t, buf), texts[i]);
        assert_string_equal(shape_text(&t, buf), strchr(texts[i], '['));
    }
    type t = type_make(INGOT_F64, 8, (int64_t[]){1, 1, 1, 1, 1, 1, 1, INT64_MAX / 8});
    assert_string_equal(type_text(&t, buf), "f64[1,1,1,1,1,1,1,1152921504606846975]");
}

static void bad_texts_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"f33[1]", "'f33' is no dtype"},
        {"f32", "'[' is needed after 'f32'"},
        {"f32[1", "',' or ']' is needed"},
        {"f32[-1]", "a dimension is needed at '-1]'"},
        {"f32[1,]", "a dimension is needed at ']'"},
        {"f32[1 2]", "',' or ']' is needed at ' 2]'"},
        {"f32[1,1,1,1,1,1,1,1,1]", "more than 8 dimensions"},
        {"f32[9223372036854775808]", "overflows 64 bits"},
        {"f32[9223372036854775807]", "its size overflows 64 bits"},
        {"i64[0,4294967296,4294967296]", "its size overflows 64 bits"},
        {"", "'' is no dtype"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *s = rows[i].text;
        type t = {.rank = 42};
        error e = {0};

        assert_false(type_parse(&s, &t, &e));
        check_contains(e.text, rows[i].message);
        assert_ptr_equal(s, rows[i].text);
        assert_int_equal(t.rank, 42);
    }
}

static void checks_name_the_dimension(void **state)
{
    type t = type_make(INGOT_F32, 2, (int64_t[]){3, -2});
    error e = {0};

    (void)state;
    assert_false(type_check(&t, &e));
    check_contains(e.text, "dimension 1: -2");
    assert_int_equal(e.code, INGOT_E_SHAPE);
    error_clear(&e);
    t = (type){.dt = (dtype)77};
    assert_false(type_check(&t, &e));
    assert_int_equal(e.code, INGOT_E_DTYPE);
    error_clear(&e);
    t = (type){.rank = 9};
    assert_false(type_check(&t, &e));
    check_contains(e.text, "9 is outside [0, 8]");
    t = type_make(INGOT_F32, 2, (int64_t[]){DIM_SYM, 0});
    assert_true(type_check(&t, NULL));
}

static void counts_bytes_and_strides(void **state)
{
    type t = parsed("f64[2,3,4]"), b = parsed("i16[B,5]"), none = parsed("f32[3,0,7]");
    int64_t stride[MAX_RANK];

    (void)state;
    assert_int_equal(type_count(&t), 24);
    assert_int_equal(type_bytes(&t), 192);
    type_strides(&t, stride);
    assert_int_equal(stride[0], 12);
    assert_int_equal(stride[1], 4);
    assert_int_equal(stride[2], 1);
    assert_int_equal(type_count(&b), 5);
    assert_true(type_symbolic(&b));
    assert_false(type_symbolic(&t));
    assert_int_equal(type_bytes(&none), 0);
    t = parsed("f32[]");
    assert_int_equal(type_count(&t), 1);
}

static void shapes_broadcast_as_in_numpy(void **state)
{
    static const struct {
        const char *a, *b, *out; /* out NULL: they don't fit */
    } rows[] = {
        {"f32[2,3]", "f32[2,3]", "[2,3]"},   {"f32[2,3]", "f32[]", "[2,3]"},
        {"f32[3]", "f32[2,1]", "[2,3]"},     {"f32[2,1,4]", "f32[5,1]", "[2,5,4]"},
        {"f32[0]", "f32[1]", "[0]"},         {"f32[0]", "f32[2]", NULL},
        {"f32[2,3]", "f32[2]", NULL},        {"f32[B,3]", "f32[3]", "[B,3]"},
        {"f32[B,3]", "f32[B,1]", "[B,3]"},   {"f32[B]", "f32[2]", NULL},
        {"f32[1,1,1]", "f32[7]", "[1,1,7]"},
    };
    char buf[TYPE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        type a = parsed(rows[i].a), b = parsed(rows[i].b), out;

        for (int swap = 0; swap < 2; swap++) {
            bool ok = swap ? shape_broadcast(&b, &a, &out) : shape_broadcast(&a, &b, &out);

            assert_int_equal(ok, rows[i].out != NULL);
            if (ok)
                assert_string_equal(shape_text(&out, buf), rows[i].out);
        }
    }
}

static void equality_looks_at_all_of_it(void **state)
{
    type a = parsed("f32[2,3]"), b = parsed("f64[2,3]"), c = parsed("f32[2,4]"),
         d = parsed("f32[2]");

    (void)state;
    assert_true(type_equal(&a, &a) && shape_equal(&a, &b));
    assert_false(type_equal(&a, &b) || type_equal(&a, &c) || shape_equal(&a, &d));
}

static void attributes_compare_by_value(void **state)
{
    attr a = {.kind = ATTR_INTS, .a = INTS(1, 2)}, b = {.kind = ATTR_INTS, .a = INTS(1, 2)};
    attr c = {.kind = ATTR_INTS, .a = INTS(1, 3)}, d = {.kind = ATTR_INTS, .a = INTS(1)};
    attr i = {.kind = ATTR_INT, .i = 1}, f = {.kind = ATTR_FLAG, .i = 1};
    attr s = {.kind = ATTR_STR, .s = "x"}, t = {.kind = ATTR_STR, .s = "y"};
    attr zero = {.kind = ATTR_REAL, .f = 0.0}, minus = {.kind = ATTR_REAL, .f = -0.0};
    char copy[] = "x";
    attr u = {.kind = ATTR_STR, .s = copy};

    (void)state;
    assert_true(attr_equal(&a, &b) && attr_equal(&i, &i) && attr_equal(&s, &u));
    assert_false(attr_equal(&a, &c) || attr_equal(&a, &d) || attr_equal(&i, &f));
    assert_false(attr_equal(&s, &t));
    assert_false(attr_equal(&zero, &minus)); /* merging them would change bits */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_round_trip),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(checks_name_the_dimension),
        cmocka_unit_test(counts_bytes_and_strides),
        cmocka_unit_test(shapes_broadcast_as_in_numpy),
        cmocka_unit_test(equality_looks_at_all_of_it),
        cmocka_unit_test(attributes_compare_by_value),
    };

    return cmocka_run_group_tests_name("tensor/type", tests, NULL, NULL);
}
