/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, allocation, overflow, arenas, buffers, hashing, the clock. */
#include "base/check.h"

#include "base/clock.h"
#include "base/hash.h"

#include <errno.h>

static void first_error_sticks(void **state)
{
    error e = {0};

    (void)state;
    assert_false(fail(&e, INGOT_E_SHAPE, "axis %d", 7));
    assert_false(fail(&e, INGOT_E_IO, "later"));
    assert_int_equal(e.code, INGOT_E_SHAPE);
    assert_string_equal(e.text, "axis 7");
    error_prefix(&e, "op '%s'", "softmax");
    assert_string_equal(e.text, "op 'softmax': axis 7");
    error_clear(&e);
    assert_int_equal(e.code, INGOT_OK);
    assert_string_equal(e.text, "");
    error_prefix(&e, "nothing");
    assert_string_equal(e.text, "");
    assert_false(fail(NULL, INGOT_E_IO, "unwanted"));
    assert_false(fail(&e, INGOT_OK, "an error without a code"));
    assert_int_equal(e.code, INGOT_E_INTERNAL);
}

static void errno_chooses_the_code(void **state)
{
    static const struct {
        int number;
        ingot_status code;
    } rows[] = {{ENOENT, INGOT_E_NOT_FOUND}, {ENOMEM, INGOT_E_MEMORY}, {ENOSPC, INGOT_E_IO}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        error e = {0};

        errno = rows[i].number;
        assert_false(fail_errno(&e, "file '%s'", "x"));
        assert_int_equal(e.code, rows[i].code);
        check_contains(e.text, "file 'x': ");
        check_contains(e.text, strerror(rows[i].number));
    }
}

static void long_texts_are_cut(void **state)
{
    char big[4 * ERROR_TEXT];
    error e = {0};

    (void)state;
    memset(big, 'a', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    fail(&e, INGOT_E_IO, "%s", big);
    assert_int_equal(strlen(e.text), ERROR_TEXT - 1);
    error_prefix(&e, "front");
    assert_int_equal(strlen(e.text), ERROR_TEXT - 1);
    assert_memory_equal(e.text, "front: aaa", 10);
    error_prefix(&e, "%s", big);
    assert_int_equal(strlen(e.text), ERROR_TEXT - 1);
    error_clear(&e);
    fail(&e, INGOT_E_IO, "two\nlines\x7f");
    assert_string_equal(e.text, "two lines ");
}

static void every_status_has_texts(void **state)
{
    (void)state;
    for (int s = INGOT_OK; s <= INGOT_E_INTERNAL; s++) {
        assert_true(strlen(ingot_status_name((ingot_status)s)) > 1);
        assert_true(strlen(ingot_status_text((ingot_status)s)) > 1);
        assert_non_null(ingot_status_advice((ingot_status)s));
    }
    assert_string_equal(ingot_status_name(INGOT_E_SHAPE), "E_SHAPE");
    assert_string_equal(ingot_status_name((ingot_status)(INGOT_E_INTERNAL + 1)), "?");
    assert_string_equal(ingot_status_name((ingot_status)-1), "?");
}

static void sizes_overflow(void **state)
{
    size_t s = 5;

    (void)state;
    assert_true(size_add(SIZE_MAX - 1, 1, &s));
    assert_int_equal(s, SIZE_MAX);
    s = 5;
    assert_false(size_add(SIZE_MAX, 1, &s));
    assert_false(size_mul(SIZE_MAX / 2 + 1, 2, &s));
    assert_int_equal(s, 5);
    assert_true(size_mul(SIZE_MAX, 1, &s));
    assert_int_equal(s, SIZE_MAX);
    assert_true(size_mul(0, SIZE_MAX, &s));
    assert_int_equal(s, 0);
}

/* Compared with the compiler's own 128-bit arithmetic. */
static void integers_overflow(void **state)
{
    static const int64_t v[] = {0,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                -3,
                                INT32_MAX,
                                INT32_MIN,
                                INT64_MAX,
                                INT64_MIN,
                                INT64_MAX - 1,
                                INT64_MIN + 1,
                                INT64_MAX / 2,
                                INT64_MIN / 2,
                                INT64_MAX / 3,
                                3037000499,
                                3037000500,
                                -3037000500};
    const size_t n = sizeof(v) / sizeof(v[0]);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            __extension__ typedef __int128 wide;
            wide sum = (wide)v[i] + v[j], product = (wide)v[i] * v[j];
            int64_t out = 42;
            bool fits = sum >= INT64_MIN && sum <= INT64_MAX;

            assert_int_equal(i64_add(v[i], v[j], &out), fits);
            assert_int_equal(out, fits ? (int64_t)sum : 42);
            out = 42;
            fits = product >= INT64_MIN && product <= INT64_MAX;
            assert_int_equal(i64_mul(v[i], v[j], &out), fits);
            assert_int_equal(out, fits ? (int64_t)product : 42);
        }
    }
}

static bool all_zero(const void *p, size_t n)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        if (b[i])
            return false;
    return true;
}

static void objects_are_zeroed_and_sized(void **state)
{
    checked_heap heap = {0};
    allocator a = checked_allocator(&heap);
    error e = {0};
    unsigned char *p = mem_new(&a, 1000, "test", &e), *empty = mem_new(&a, 0, "test", &e);
    char *s = mem_strdup(&a, "text", &e);

    (void)state;
    assert_non_null(p);
    assert_non_null(empty);
    assert_true(all_zero(p, 1000));
    p[999] = 7;
    p = mem_resize(&a, p, 1000, 5000, "test", &e);
    assert_int_equal(p[999], 7);
    mem_free(&a, p, 5000);
    mem_free(&a, empty, 0);
    mem_free(&a, NULL, 10);
    mem_strfree(&a, s);
    mem_strfree(&a, NULL);
    assert_int_equal(heap.live_objects, 0);
    assert_false(heap.wrong_size);
    assert_null(mem_new_array(&a, SIZE_MAX / 2, 4, "rows", &e));
    assert_int_equal(e.code, INGOT_E_MEMORY);
    check_contains(e.text, "rows");
}

static void out_of_memory_names_size_and_purpose(void **state)
{
    checked_heap heap = {.fail_at = 1};
    allocator a = checked_allocator(&heap);
    error e = {0};

    (void)state;
    assert_null(mem_new(&a, 12345, "a picture", &e));
    assert_int_equal(e.code, INGOT_E_MEMORY);
    check_contains(e.text, "12345");
    check_contains(e.text, "a picture");
}

static void pages_are_aligned(void **state)
{
    static const size_t sizes[] = {
        0, 1, 63, 64, 4096, 1 << 20, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 9 << 20};
    checked_heap heap = {0};
    allocator a = checked_allocator(&heap);

    (void)state;
    for (int user = 0; user < 2; user++) {
        const allocator *use = user ? &a : NULL;

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            size_t align = sizes[i] >= (2 << 20) ? 2 << 20 : 64;
            unsigned char *p = mem_new_pages(use, sizes[i], "test", NULL);

            assert_non_null(p);
            assert_int_equal((uintptr_t)p % align, 0);
            assert_true(all_zero(p, sizes[i]));
            memset(p, 0xff, sizes[i]);
            mem_free_pages(use, p, sizes[i]);
        }
    }
    assert_int_equal(heap.live_objects, 0);
    assert_false(heap.wrong_size);
    assert_null(mem_new_pages(NULL, SIZE_MAX - 10, "test", NULL));
    assert_null(mem_new_pages(&a, SIZE_MAX - 10, "test", NULL));
    mem_free_pages(NULL, NULL, 10);
}

static void arenas_hold_objects_apart(void **state)
{
    enum { N = 3000 };
    checked_heap heap = {0};
    allocator al = checked_allocator(&heap);
    unsigned char **p = malloc(N * sizeof(*p));
    error e = {0};
    arena a;

    (void)state;
    assert_non_null(p);
    arena_init(&a, &al);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < N; i++) {
            size_t size = i % 500 == 7 ? 300000 : i % 97;

            p[i] = arena_alloc(&a, size, &e);
            assert_non_null(p[i]);
            assert_int_equal((uintptr_t)p[i] % 16, 0);
            assert_true(all_zero(p[i], size));
            memset(p[i], (int)(i & 0xff), size);
        }
        for (size_t i = 0; i < N; i++) {
            size_t size = i % 500 == 7 ? 300000 : i % 97;

            for (size_t j = 0; j < size; j++)
                assert_int_equal(p[i][j], i & 0xff);
        }
        arena_free(&a);
        assert_int_equal(heap.live_objects, 0);
    }
    assert_false(heap.wrong_size);
    free(p);
}

static void arenas_copy_and_format(void **state)
{
    arena a = {0};
    error e = {0};
    int v[3] = {1, 2, 3}, *w = arena_copy(&a, v, sizeof(v), &e);

    (void)state;
    assert_memory_equal(v, w, sizeof(v));
    assert_string_equal(arena_strdup(&a, "name", &e), "name");
    assert_string_equal(arena_printf(&a, &e, "%s.%d", "layer", 3), "layer.3");
    assert_non_null(arena_copy(&a, NULL, 0, &e));
    assert_int_equal(e.code, INGOT_OK);
    assert_null(arena_array(&a, SIZE_MAX / 4, 8, &e));
    assert_int_equal(e.code, INGOT_E_MEMORY);
    assert_null(arena_alloc(&a, SIZE_MAX, NULL));
    assert_null(arena_alloc(&a, SIZE_MAX - 8, NULL));
    arena_free(&a);
}

static void buffers_stop_at_their_maximum(void **state)
{
    checked_heap heap = {0};
    allocator a = checked_allocator(&heap);
    error e = {0};
    buffer b;

    (void)state;
    buffer_init(&b, &a, 100);
    for (int i = 0; i < 10; i++)
        assert_true(buffer_add(&b, "0123456789", 10, &e));
    assert_int_equal(b.len, 100);
    assert_true(buffer_add(&b, NULL, 0, &e));
    assert_false(buffer_add(&b, "x", 1, &e));
    assert_int_equal(b.len, 100);
    assert_int_equal(b.data[100], 0);
    check_contains(e.text, "100");
    buffer_free(&b);
    error_clear(&e);
    assert_true(buffer_printf(&b, &e, "%d-%s", 42, "x"));
    assert_string_equal(b.data, "42-x");
    assert_true(buffer_printf(&b, &e, "%*s", 96, "y"));
    assert_false(buffer_printf(&b, &e, "%s", "z"));
    assert_int_equal(b.len, 100);
    buffer_free(&b);
    buffer_init(&b, &a, 0);
    assert_false(buffer_reserve(&b, SIZE_MAX, NULL));
    assert_false(buffer_reserve(&b, BUFFER_MAX + 1, NULL));
    assert_int_equal(heap.live_objects, 0);
    assert_false(heap.wrong_size);
}

static void vectors_grow(void **state)
{
    checked_heap heap = {0};
    allocator a = checked_allocator(&heap);
    error e = {0};
    void *v = NULL;
    size_t cap = 0;

    (void)state;
    for (size_t n = 0; n < 1000; n++) {
        assert_true(vec_reserve(&a, &v, sizeof(size_t), n + 1, &cap, "numbers", &e));
        ((size_t *)v)[n] = n;
    }
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(((size_t *)v)[n], n);
    assert_true(heap.calls < 12); /* doubling, not one by one */
    assert_false(vec_reserve(&a, &v, sizeof(size_t), SIZE_MAX / 4, &cap, "numbers", &e));
    check_contains(e.text, "numbers");
    mem_free(&a, v, cap * sizeof(size_t));
    assert_int_equal(heap.live_objects, 0);
    assert_false(heap.wrong_size);
}

/* Vectors of xxHash's own reference: XXH3 of nothing, with seed 0 and with a seed. */
static void hashes_match_xxhash(void **state)
{
    unsigned char data[3000];
    hash_stream h;

    (void)state;
    assert_true(hash_bytes("", 0, 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(hash_bytes("", 0, UINT64_C(0x9e3779b185ebca8d)) == UINT64_C(0xa8a6b918b2f0364a));
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)(i * 131 >> 3);
    for (size_t n = 0; n <= sizeof(data); n += 61) {
        hash_begin(&h);
        for (size_t at = 0, step = 1; at < n; at += step, step = step * 2 + 1) {
            if (step > n - at)
                step = n - at;
            hash_update(&h, data + at, step);
        }
        hash_update(&h, NULL, 0);
        assert_true(hash_end(&h) == hash_bytes(data, n, 0));
    }
    data[5] ^= 1;
    assert_true(hash_end(&h) != hash_bytes(data, 3000, 0));
}

static void clock_runs_forward(void **state)
{
    uint64_t last = clock_ns(), first = last;

    (void)state;
    assert_true(first > 0);
    while (last == first)
        last = clock_ns();
    assert_true(last > first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_sticks),
        cmocka_unit_test(errno_chooses_the_code),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(every_status_has_texts),
        cmocka_unit_test(sizes_overflow),
        cmocka_unit_test(integers_overflow),
        cmocka_unit_test(objects_are_zeroed_and_sized),
        cmocka_unit_test(out_of_memory_names_size_and_purpose),
        cmocka_unit_test(pages_are_aligned),
        cmocka_unit_test(arenas_hold_objects_apart),
        cmocka_unit_test(arenas_copy_and_format),
        cmocka_unit_test(buffers_stop_at_their_maximum),
        cmocka_unit_test(vectors_grow),
        cmocka_unit_test(hashes_match_xxhash),
        cmocka_unit_test(clock_runs_forward),
    };

    return cmocka_run_group_tests_name("base/memory", tests, NULL, NULL);
}
