/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, mapping and atomic replacement, and what is left when each system call fails. */
#include "base/check.h"

#include "base/file.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 256

typedef struct fixture {
    char folder[PATH_SIZE];
    char file[PATH_SIZE];
} fixture;

static int make_folder(void **state)
{
    static fixture f;

    snprintf(f.folder, sizeof(f.folder), "test-base-file.%ld", (long)getpid());
    snprintf(f.file, sizeof(f.file), "%.200s/data.bin", f.folder);
    *state = &f;
    return folder_make(f.folder, NULL) ? 0 : -1;
}

static int remove_folder(void **state)
{
    const fixture *f = *state;

    unlink(f->file);
    return rmdir(f->folder);
}

static size_t names_in(const char *folder)
{
    folder_list l;
    size_t n;

    assert_true(folder_list_read(&l, NULL, folder, NULL));
    n = l.count;
    folder_list_free(&l);
    return n;
}

static bool write_file(const char *path, const allocator *a, const void *p, size_t n, size_t piece,
                       error *e)
{
    file_writer w;

    if (!file_writer_open(&w, a, path, e))
        return false;
    for (size_t at = 0; at < n; at += piece) {
        if (!file_writer_write(&w, (const char *)p + at, n - at < piece ? n - at : piece, e)) {
            file_writer_abort(&w);
            return false;
        }
    }
    return file_writer_commit(&w, e);
}

static void check_content(const char *path, const void *p, size_t n)
{
    buffer b;
    error e = {0};

    buffer_init(&b, NULL, 0);
    if (!file_read(path, &b, &e))
        fail_msg("%s", e.text);
    assert_int_equal(b.len, n);
    if (n)
        assert_memory_equal(b.data, p, n);
    buffer_free(&b);
}

static unsigned char *pattern(size_t n)
{
    unsigned char *p = malloc(n + 1);

    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 2654435761u >> 13);
    return p;
}

/* Sizes around the write buffer, in pieces around it too. */
static void files_come_back_whole(void **state)
{
    static const size_t sizes[] = {0, 1, 4096, 262143, 262144, 262145, 1000003};
    static const size_t pieces[] = {1000, 262143, 262144, 1000003};
    const fixture *f = *state;
    error e = {0};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *p = pattern(sizes[i]);

        for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
            uint64_t size = 1;
            file_map m;

            if (!write_file(f->file, NULL, p, sizes[i], pieces[j], &e))
                fail_msg("%s", e.text);
            check_content(f->file, p, sizes[i]);
            assert_true(file_size(f->file, &size, &e));
            assert_int_equal(size, sizes[i]);
            assert_true(file_map_open(&m, f->file, &e));
            assert_int_equal(m.size, sizes[i]);
            assert_memory_equal(m.data, sizes[i] ? p : (const unsigned char *)"",
                                sizes[i] + !sizes[i]);
            file_map_close(&m);
            file_map_close(&m);
        }
        free(p);
    }
    assert_int_equal(names_in(f->folder), 1);
}

static void aborting_keeps_the_old_file(void **state)
{
    const fixture *f = *state;
    file_writer w;
    error e = {0};

    assert_true(write_file(f->file, NULL, "old", 3, 3, &e));
    assert_true(file_writer_open(&w, NULL, f->file, &e));
    assert_true(file_writer_write(&w, "new content", 11, &e));
    check_content(f->file, "old", 3);
    file_writer_abort(&w);
    file_writer_abort(&w);
    check_content(f->file, "old", 3);
    assert_int_equal(names_in(f->folder), 1);
    assert_false(file_writer_write(&w, "x", 1, &e));
    assert_int_equal(e.code, INGOT_E_STATE);
    error_clear(&e);
    assert_false(file_writer_commit(&w, &e));
    assert_int_equal(e.code, INGOT_E_STATE);
}

static void two_writers_do_not_meet(void **state)
{
    const fixture *f = *state;
    file_writer a, b;

    assert_true(file_writer_open(&a, NULL, f->file, NULL));
    assert_true(file_writer_open(&b, NULL, f->file, NULL));
    assert_string_not_equal(a.tmp, b.tmp);
    assert_true(file_writer_write(&a, "first", 5, NULL));
    assert_true(file_writer_write(&b, "second", 6, NULL));
    assert_true(file_writer_commit(&a, NULL));
    check_content(f->file, "first", 5);
    assert_true(file_writer_commit(&b, NULL));
    check_content(f->file, "second", 6);
    assert_int_equal(names_in(f->folder), 1);
}

typedef struct nth_call {
    long calls, fail_at;
    char name[16];
} nth_call;

static bool fail_nth(void *user, const char *call)
{
    nth_call *n = user;

    if (++n->calls != n->fail_at)
        return false;
    snprintf(n->name, sizeof(n->name), "%s", call);
    return true;
}

/* The n-th system call of a replacement fails, for every n: the file holds the old bytes or the
   new ones, whole, and nothing else is left in the folder or on the heap. */
static void every_failing_call_leaves_a_whole_file(void **state)
{
    enum { SIZE = 600000 };
    const fixture *f = *state;
    unsigned char *old = pattern(5000), *fresh = pattern(SIZE);
    bool done = false, seen_rename = false, seen_write = false, seen_sync = false;

    fresh[0] ^= 1;
    for (long n = 1; !done; n++) {
        checked_heap heap = {0};
        allocator a = checked_allocator(&heap);
        nth_call hook = {.fail_at = n};
        error e = {0};
        uint64_t size;
        bool ok;

        assert_true(n < 100);
        assert_true(write_file(f->file, NULL, old, 5000, 5000, NULL));
        file_fault_set(fail_nth, &hook);
        ok = write_file(f->file, &a, fresh, SIZE, 70000, &e);
        file_fault_set(NULL, NULL);
        assert_int_equal(heap.live_objects, 0);
        assert_int_equal(names_in(f->folder), 1);
        assert_true(file_size(f->file, &size, NULL));
        if (size == 5000)
            check_content(f->file, old, 5000);
        else
            check_content(f->file, fresh, SIZE);
        done = ok && hook.calls < n;
        assert_int_equal(ok, done);
        if (!ok) {
            assert_int_equal(e.code, INGOT_E_IO);
            check_contains(e.text, f->file);
            seen_rename |= !strcmp(hook.name, "rename");
            seen_write |= !strcmp(hook.name, "write");
            seen_sync |= !strcmp(hook.name, "fsync");
        }
    }
    assert_true(seen_rename && seen_write && seen_sync);
    free(old);
    free(fresh);
}

static void every_failing_allocation_is_an_error(void **state)
{
    const fixture *f = *state;
    bool ok = false;

    for (long n = 1; !ok; n++) {
        checked_heap heap = {.fail_at = n};
        allocator a = checked_allocator(&heap);
        error e = {0};

        assert_true(n < 100);
        assert_true(write_file(f->file, NULL, "old", 3, 3, NULL));
        ok = write_file(f->file, &a, "fresh", 5, 5, &e);
        assert_int_equal(e.code, ok ? INGOT_OK : INGOT_E_MEMORY);
        assert_int_equal(heap.live_objects, 0);
        assert_false(heap.wrong_size);
        check_content(f->file, ok ? "fresh" : "old", ok ? 5 : 3);
        assert_int_equal(names_in(f->folder), 1);
    }
}

static void failing_reads_say_so(void **state)
{
    const fixture *f = *state;
    static const char *const calls[] = {"open", "read", "read"};
    nth_call hook = {.fail_at = 1};
    file_map m;
    buffer b;

    assert_true(write_file(f->file, NULL, "0123456789", 10, 10, NULL));
    buffer_init(&b, NULL, 0);
    assert_true(buffer_add(&b, "kept", 4, NULL));
    for (int n = 1; n <= 3; n++) {
        error e = {0};

        hook = (nth_call){.fail_at = n};
        file_fault_set(fail_nth, &hook);
        assert_false(file_read(f->file, &b, &e));
        file_fault_set(NULL, NULL);
        assert_string_equal(hook.name, calls[n - 1]);
        assert_int_equal(e.code, INGOT_E_IO);
        assert_int_equal(b.len, 4);
        assert_string_equal(b.data, "kept");
    }
    buffer_free(&b);
    for (int n = 1; n <= 2; n++) {
        error e = {0};

        hook = (nth_call){.fail_at = n};
        file_fault_set(fail_nth, &hook);
        assert_false(file_map_open(&m, f->file, &e));
        file_fault_set(NULL, NULL);
        assert_string_equal(hook.name, n == 1 ? "open" : "mmap");
        check_contains(e.text, f->file);
    }
}

static void reading_stops_at_the_maximum(void **state)
{
    const fixture *f = *state;
    unsigned char *p = pattern(100000);
    error e = {0};
    buffer b;

    assert_true(write_file(f->file, NULL, p, 100000, 100000, NULL));
    buffer_init(&b, NULL, 100000);
    assert_true(file_read(f->file, &b, &e));
    assert_int_equal(b.len, 100000);
    buffer_free(&b);
    buffer_init(&b, NULL, 99999);
    assert_false(file_read(f->file, &b, &e));
    assert_int_equal(e.code, INGOT_E_FORMAT);
    check_contains(e.text, "99999");
    buffer_free(&b);
    free(p);
}

static void what_is_no_file_is_refused(void **state)
{
    const fixture *f = *state;
    char fifo[PATH_SIZE + 16];
    error e = {0};
    uint64_t size;
    file_map m;
    buffer b;

    buffer_init(&b, NULL, 0);
    assert_false(file_map_open(&m, f->folder, &e));
    check_contains(e.text, "not a regular file");
    error_clear(&e);
    assert_false(file_size(f->folder, &size, &e));
    error_clear(&e);
    assert_false(file_read(f->folder, &b, &e));
    error_clear(&e);
    snprintf(fifo, sizeof(fifo), "%s/pipe", f->folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_false(file_map_open(&m, fifo, &e)); /* and does not wait for a writer */
    error_clear(&e);
    assert_true(file_remove(fifo, &e));
    assert_false(file_map_open(&m, fifo, &e));
    assert_int_equal(e.code, INGOT_E_NOT_FOUND);
    error_clear(&e);
    assert_false(file_remove(fifo, &e));
    assert_int_equal(e.code, INGOT_E_NOT_FOUND);
    assert_false(file_exists(fifo));
    assert_true(file_exists(f->folder));
    assert_true(file_is_folder(f->folder));
    buffer_free(&b);
}

static void folders_are_made_with_parents_and_listed_sorted(void **state)
{
    static const char *const names[] = {"b", "a", ".hidden", "B", "a.txt"};
    static const char *const sorted[] = {".hidden", "B", "a", "a.txt", "b"};
    const fixture *f = *state;
    char deep[PATH_SIZE + 32], path[PATH_SIZE + 64];
    error e = {0};
    folder_list l;

    snprintf(deep, sizeof(deep), "%s/x//y/z", f->folder);
    assert_true(folder_make(deep, &e));
    assert_true(folder_make(deep, &e));
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s", deep, names[i]);
        assert_true(write_file(path, NULL, "", 0, 1, &e));
    }
    assert_true(folder_list_read(&l, NULL, deep, &e));
    assert_int_equal(l.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(l.names[i], sorted[i]);
    folder_list_free(&l);
    snprintf(path, sizeof(path), "%s/a/under", deep);
    assert_false(folder_make(path, &e));
    check_contains(e.text, "z/a': making");
    error_clear(&e);
    assert_false(folder_make("", &e));
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s", deep, names[i]);
        assert_true(file_remove(path, NULL));
    }
    for (int cut = 0; cut < 3; cut++) {
        assert_int_equal(rmdir(deep), 0);
        *strrchr(deep, '/') = '\0';
        while (deep[strlen(deep) - 1] == '/')
            deep[strlen(deep) - 1] = '\0';
    }
    error_clear(&e);
    assert_false(folder_list_read(&l, NULL, path, &e));
    assert_int_equal(e.code, INGOT_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back_whole),
        cmocka_unit_test(aborting_keeps_the_old_file),
        cmocka_unit_test(two_writers_do_not_meet),
        cmocka_unit_test(every_failing_call_leaves_a_whole_file),
        cmocka_unit_test(every_failing_allocation_is_an_error),
        cmocka_unit_test(failing_reads_say_so),
        cmocka_unit_test(reading_stops_at_the_maximum),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(folders_are_made_with_parents_and_listed_sorted),
    };

    return cmocka_run_group_tests_name("base/file", tests, make_folder, remove_folder);
}
