/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes: what is read, what is refused, and that the print reads back. */
#include "recipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void a_recipe_is_read(void **state)
{
    static const char text[] = "seed: 7\ntrain:\n  epochs: 3\n  lr: 1e-2\n  nesterov: true\n"
                               "data:\n  train: some folder\n  mean: [0.1, 0.2, 0.3]\n";
    char err[RECIPE_ERROR] = "";
    recipe r;

    (void)state;
    recipe_init(&r);
    if (!recipe_parse(&r, "text", text, sizeof text - 1, err))
        fail_msg("%s", err);
    assert_int_equal(r.seed, 7);
    assert_int_equal(r.train.epochs, 3);
    assert_true(r.train.lr == 0.01 && r.train.nesterov);
    assert_string_equal(r.data.train, "some folder");
    assert_int_equal(r.data.mean.n, 3);
    assert_true(r.data.mean.v[2] == 0.3);
    assert_int_equal(r.train.batch, 64); /* a default */
    assert_true(recipe_set(&r, "train.batch=32", err));
    assert_int_equal(r.train.batch, 32);
}

static void the_print_reads_back(void **state)
{
    char first[16384], second[16384], err[RECIPE_ERROR] = "";
    recipe a, b;

    (void)state;
    recipe_init(&a);
    recipe_init(&b);
    assert_true(recipe_set(&a, "data.classes=a: b,\"c\",'d'", err));
    assert_true(recipe_set(&a, "train.lr=0.1", err));
    assert_true(recipe_print(&a, first, sizeof first) < sizeof first);
    if (!recipe_parse(&b, "print", first, strlen(first), err))
        fail_msg("%s\n%s", err, first);
    assert_true(recipe_print(&b, second, sizeof second) < sizeof second);
    assert_string_equal(first, second);
    assert_string_equal(b.data.classes, "a: b,\"c\",'d'");
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *set, *text;
    } cases[] = {
        {"train.epochs=-1", "train.epochs"},
        {"train.epochs=1.5", "train.epochs"},
        {"train.epochs=", "train.epochs"},
        {"train.epoch=1", "train.epoch"},
        {"train=1", "train"},
        {"noequals", "noequals"},
        {"train.lr=nan", "train.lr"},
        {"train.lr=1e999", "train.lr"},
        {"model.name=x", "model.name"},
        {"train.nesterov=maybe", "train.nesterov"},
        {"data.mean=1,2,3,4,5", "data.mean"},
        {"seed=99999999999999999999", "seed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char err[RECIPE_ERROR] = "";
        recipe r;

        recipe_init(&r);
        assert_false(recipe_set(&r, cases[i].set, err));
        if (!strstr(err, cases[i].text))
            fail_msg("'%s' gives \"%s\", which lacks \"%s\"", cases[i].set, err, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipe_is_read),
        cmocka_unit_test(the_print_reads_back),
        cmocka_unit_test(what_is_wrong_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
