/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: what good files give, and what each kind of bad one is told. */
#include "data/data.h"

#include <sys/stat.h>
#include <unistd.h>

static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                                       0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 9};

static void idx_files_are_read(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    test_folder f;
    char line[256];

    (void)state;
    folder_open(&f);
    write_file(path_in(&f, "train-images-idx3-ubyte"), images, sizeof images);
    write_file(path_in(&f, "train-labels-idx1-ubyte"), labels, sizeof labels);
    for (int gz = 0; gz < 2; gz++) {
        ingot_dataset *ds = ingot_mnist(ctx, f.path, true);
        ingot_tensor *out[2];

        check_ok(ctx);
        assert_int_equal(ingot_dataset_size(ds), 2);
        assert_string_equal(ingot_dataset_column(ds, 0), "image");
        (void)ingot_dataset_batch(ds, 2, false);
        assert_true(next(ctx, ds, out, 2));
        assert_int_equal(ingot_tensor_rank(out[0]), 4);
        assert_int_equal(ingot_tensor_dim(out[0], 3), 1);
        assert_memory_equal(ingot_tensor_data(out[0]), images + 16, 12);
        assert_true(ingot_tensor_item(out[1], 0) == 7 && ingot_tensor_item(out[1], 1) == 9);
        assert_false(next(ctx, ds, out, 2));
        ingot_dataset_free(ds);
        (void)snprintf(line, sizeof line, "gzip -f %s/train-*", f.path); /* and again */
        if (gz == 0)
            assert_int_equal(system(line), 0);
    }
    assert_null(ingot_mnist(ctx, f.path, false));
    check_error(ctx, INGOT_E_NOT_FOUND, "t10k-images-idx3-ubyte");
    folder_close(&f);
    ingot_close(ctx);
}

/* Every cut and every wrong header is refused, and the file named. */
static void bad_idx_files_are_refused(void **state)
{
    static const struct {
        size_t at;
        unsigned char byte;
        const char *want;
    } wrong[] = {
        {0, 1, "no IDX file"},   {2, 7, "no IDX file"},        {3, 0, "0 dimensions"},
        {3, 9, "9 dimensions"},  {7, 3, "bytes are missing"},  {7, 1, "bytes follow"},
        {4, 255, "claims more"}, {2, 13, "bytes are missing"},
    };
    ingot_context *ctx = ingot_open(NULL);
    unsigned char bad[sizeof images];
    const char *x, *y;
    test_folder f;

    (void)state;
    folder_open(&f);
    x = path_in(&f, "x");
    y = path_in(&f, "y");
    write_file(y, labels, sizeof labels);
    for (size_t n = 0; n < sizeof images; n++) {
        write_file(x, images, n);
        assert_null(ingot_idx_dataset(ctx, x, y));
        check_error(ctx, INGOT_E_FORMAT, x);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(bad, images, sizeof bad);
        bad[wrong[i].at] = wrong[i].byte;
        write_file(x, bad, sizeof bad);
        assert_null(ingot_idx_dataset(ctx, x, y));
        assert_non_null(strstr(ingot_error_text(ctx), x));
        check_error(ctx, INGOT_E_FORMAT, wrong[i].want);
    }
    write_file(x, images, sizeof images);
    assert_null(ingot_idx_dataset(ctx, x, x));
    check_error(ctx, INGOT_E_FORMAT, "u8 [N] is needed");
    memcpy(bad, labels, sizeof labels);
    bad[7] = 1;
    write_file(y, bad, sizeof labels - 1);
    assert_null(ingot_idx_dataset(ctx, x, y));
    check_error(ctx, INGOT_E_FORMAT, "1 labels for the 2 images");
    folder_close(&f);
    ingot_close(ctx);
}

static void write_picture(ingot_context *ctx, const char *path, int value)
{
    unsigned char pixel[3] = {(unsigned char)value, 2, 3};

    assert_int_equal(
        ingot_png_write(ctx, path, ingot_tensor_new(ctx, INGOT_U8, INGOT_INTS(1, 1, 3), pixel)),
        INGOT_OK);
}

static void folders_are_classes_in_order(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    ingot_dataset *ds;
    ingot_tensor *out[2];
    test_folder f;

    (void)state;
    folder_open(&f);
    assert_null(ingot_image_folder(ctx, f.path, NULL));
    check_error(ctx, INGOT_E_NOT_FOUND, "no class folders");
    assert_int_equal(mkdir(path_in(&f, "dog"), 0777) + mkdir(path_in(&f, "Cat"), 0777), 0);
    write_picture(ctx, path_in(&f, "dog/2.png"), 30);
    write_picture(ctx, path_in(&f, "dog/10.PNG"), 20);
    write_picture(ctx, path_in(&f, "Cat/a.png"), 10);
    write_file(path_in(&f, "dog/notes.txt"), "x", 1);
    write_file(path_in(&f, "dog/.hidden.png"), "x", 1);
    ds = ingot_image_folder(ctx, f.path, NULL);
    check_ok(ctx);
    assert_int_equal(ingot_dataset_size(ds), 3);
    assert_int_equal(ingot_dataset_class_count(ds), 2);
    assert_string_equal(ingot_dataset_class(ds, 0), "Cat");
    (void)ingot_dataset_map(ds, "image", (ingot_transform *[]){ingot_decode(ctx, 3), NULL}, 0);
    for (int i = 0; i < 3; i++) {
        assert_true(next(ctx, ds, out, 2));
        assert_true(ingot_tensor_item(out[0], 0) == 10 * (i + 1)); /* "10" before "2": bytes */
        assert_true(ingot_tensor_item(out[1], 0) == (i > 0));
    }
    ingot_dataset_free(ds);
    write_file(path_in(&f, "classes"), "dog\n", 4);
    ds = ingot_image_folder(ctx, f.path,
                            &(ingot_image_folder_options){.class_file = path_in(&f, "classes")});
    assert_int_equal(ingot_dataset_size(ds), 2);
    ingot_dataset_free(ds);
    assert_int_equal(mkdir(path_in(&f, "empty"), 0777), 0);
    assert_null(ingot_image_folder(ctx, f.path, NULL));
    check_error(ctx, INGOT_E_NOT_FOUND, "empty: a class without pictures");
    folder_close(&f);
    ingot_close(ctx);
}

static bool generate(int64_t index, ingot_array *columns, int n, void *user)
{
    double *x = ingot_array_alloc(&columns[0], INGOT_F64, INGOT_INTS(2));

    (void)n;
    if (index == *(int64_t *)user || !x)
        return false;
    x[0] = (double)index;
    x[1] = -x[0];
    return true;
}

static void arrays_and_generators_give_rows(void **state)
{
    static const char *const names[] = {"a", "b"};
    const int32_t v[] = {1, 2, 3, 4, 5, 6};
    ingot_context *ctx = ingot_open(NULL);
    ingot_tensor *columns[2], *out[2];
    ingot_dataset *ds;
    int64_t bad = -1;
    bool more;

    (void)state;
    columns[0] = ingot_tensor_new(ctx, INGOT_I32, INGOT_INTS(3, 2), v);
    columns[1] = ingot_tensor_new(ctx, INGOT_I32, INGOT_INTS(3), v);
    ds = ingot_array_dataset(ctx, columns, names, 2);
    (void)ingot_dataset_batch(ds, 2, false);
    assert_true(next(ctx, ds, out, 2) && next(ctx, ds, out, 2));
    assert_int_equal(ingot_tensor_count(out[0]), 2); /* the rest */
    assert_true(ingot_tensor_item(out[0], 1) == 6 && ingot_tensor_item(out[1], 0) == 3);
    ingot_dataset_free(ds);
    columns[1] = ingot_tensor_new(ctx, INGOT_I32, INGOT_INTS(2), v);
    assert_null(ingot_array_dataset(ctx, columns, names, 2));
    check_error(ctx, INGOT_E_SHAPE, "column 1 has 2 rows");

    ds = ingot_generator_dataset(ctx, 4, generate, &bad, names, 1);
    (void)ingot_dataset_batch(ds, 4, true);
    assert_true(next(ctx, ds, out, 1));
    assert_true(ingot_tensor_item(out[0], 7) == -3);
    ingot_dataset_free(ds);
    bad = 2;
    ds = ingot_generator_dataset(ctx, 4, generate, &bad, names, 1);
    (void)ingot_dataset_batch(ds, 4, true);
    assert_int_equal(ingot_dataset_next(ds, out, 1, &more), INGOT_E_ARGUMENT);
    check_error(ctx, INGOT_E_ARGUMENT, "sample 2: the generator failed");
    ingot_dataset_free(ds);
    ingot_close(ctx);
}

/* Out as PNG files and in again: the same pixels and classes. */
static void datasets_become_folders(void **state)
{
    static const char *const names[] = {"none", ".."};
    ingot_context *ctx = ingot_open(NULL);
    ingot_dataset *ds;
    ingot_tensor *out[2];
    unsigned char two[sizeof labels];
    test_folder f;

    (void)state;
    folder_open(&f);
    memcpy(two, labels, sizeof two);
    two[8] = 1;
    two[9] = 0;
    write_file(path_in(&f, "x"), images, sizeof images);
    write_file(path_in(&f, "y"), two, sizeof two);
    ds = ingot_idx_dataset(ctx, path_in(&f, "x"), path_in(&f, "y"));
    (void)ingot_dataset_set_classes(ds, names, 2);
    assert_int_equal(ingot_dataset_write_images(ds, path_in(&f, "out"), 0), INGOT_OK);
    ingot_dataset_free(ds);
    ds = ingot_image_folder(ctx, path_in(&f, "out"), NULL);
    (void)ingot_dataset_map(ds, "image", (ingot_transform *[]){ingot_decode(ctx, 1), NULL}, 0);
    assert_true(next(ctx, ds, out, 2));
    assert_string_equal(ingot_dataset_class(ds, 0), "01"); /* ".." is no folder's name */
    assert_memory_equal(ingot_tensor_data(out[0]), images + 16, 6);
    assert_true(next(ctx, ds, out, 2));
    assert_string_equal(ingot_dataset_class(ds, 1), "none");
    assert_memory_equal(ingot_tensor_data(out[0]), images + 22, 6); /* sample 1 is of class 0 */
    assert_false(next(ctx, ds, out, 2));
    ingot_dataset_free(ds);
    folder_close(&f);
    ingot_close(ctx);
}

static void pictures_go_there_and_back(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    unsigned char pixels[5 * 4 * 3];
    ingot_tensor *t, *grey;
    test_folder f;

    (void)state;
    folder_open(&f);
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * 37);
    t = ingot_tensor_new(ctx, INGOT_U8, INGOT_INTS(5, 4, 3), pixels);
    assert_int_equal(ingot_png_write(ctx, path_in(&f, "p.png"), t), INGOT_OK);
    t = ingot_image_read(ctx, path_in(&f, "p.png"), 3);
    assert_memory_equal(ingot_tensor_data(t), pixels, sizeof pixels);
    grey = ingot_image_read(ctx, path_in(&f, "p.png"), 1);
    for (int i = 0; i < 20; i++) { /* ITU-R 601, to the nearest */
        double want = 0.299 * pixels[3 * i] + 0.587 * pixels[3 * i + 1] + 0.114 * pixels[3 * i + 2];

        assert_true(ingot_tensor_item(grey, i) >= want - 0.51 &&
                    ingot_tensor_item(grey, i) <= want + 0.51);
    }
    assert_null(ingot_image_read(ctx, path_in(&f, "no.png"), 3));
    check_error(ctx, INGOT_E_NOT_FOUND, "no.png");
    write_file(path_in(&f, "junk.png"), "\x89PNG\r\n\x1a\n....", 12);
    assert_null(ingot_image_read(ctx, path_in(&f, "junk.png"), 3));
    check_error(ctx, INGOT_E_FORMAT, "junk.png: PNG:");
    assert_int_equal(ingot_png_write(ctx, path_in(&f, "no/where.png"), t), INGOT_E_NOT_FOUND);
    ingot_clear_error(ctx);
    folder_close(&f);
    ingot_close(ctx);
}

/* One line of the collection's list: path, status and size as another decoder saw them. Pictures of
   the kinds read here that are whole must have that size, whatever is refused must say why. */
static void check_awkward(ingot_context *ctx, const test_folder *f, char *line, int count[2])
{
    char *field[7], path[512], *at = line;
    ingot_tensor *t;
    int w, h;

    for (int i = 0; i < 7; i++) {
        field[i] = at;
        at += strcspn(at, "\t");
        assert_true(*at == '\t');
        *at++ = '\0';
    }
    (void)snprintf(path, sizeof path, "%s/awkward/%s", f->path, field[0]);
    ingot_scope_begin(ctx);
    t = ingot_image_read(ctx, path, 3);
    if (!t && !strstr(ingot_error_text(ctx), path))
        fail_msg("%s: \"%s\"", field[0], ingot_error_text(ctx));
    if (t && strcmp(field[1], "ok") == 0) {
        assert_int_equal(sscanf(field[3], "%dx%d", &w, &h), 2);
        if (ingot_tensor_dim(t, 0) != h || ingot_tensor_dim(t, 1) != w)
            fail_msg("%s: %lld x %lld, expected %d x %d", field[0],
                     (long long)ingot_tensor_dim(t, 0), (long long)ingot_tensor_dim(t, 1), h, w);
    }
    ingot_clear_error(ctx);
    ingot_scope_end(ctx);
    count[t != NULL]++;
}

static void awkward_pictures_do_no_harm(void **state)
{
    const char *source = getenv("INGOT_SOURCE_DIR");
    char line[1024], archive[512];
    int count[2] = {0, 0};
    ingot_context *ctx;
    test_folder f;
    FILE *list;

    (void)state;
    (void)snprintf(archive, sizeof archive, "%s/../shared/data/awkward.tar.gz",
                   source ? source : ".");
    if (access(archive, R_OK) != 0) {
        print_message("skipped: no %s\n", archive);
        skip();
    }
    folder_open(&f);
    (void)snprintf(line, sizeof line, "tar xzf '%s' -C %s", archive, f.path);
    assert_int_equal(system(line), 0);
    ctx = ingot_open(NULL);
    list = fopen(path_in(&f, "awkward/EXPECTED.tsv"), "r");
    assert_non_null(list);
    assert_non_null(fgets(line, sizeof line, list)); /* the columns' names */
    while (fgets(line, sizeof line, list))
        check_awkward(ctx, &f, line, count);
    (void)fclose(list);
    print_message("%d decoded, %d refused\n", count[1], count[0]);
    assert_in_range(count[1], 200, 300); /* of 215 whole PNG and JPEG files */
    folder_close(&f);
    ingot_close(ctx);
}

/* Every cut and every byte changed of a packed file is refused: gzip has a checksum. */
static void damaged_archives_are_refused(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    unsigned char gz[256];
    const char *x, *y;
    char line[256];
    test_folder f;
    size_t n;
    FILE *file;

    (void)state;
    folder_open(&f);
    x = path_in(&f, "x.gz");
    y = path_in(&f, "y");
    write_file(y, labels, sizeof labels);
    write_file(path_in(&f, "x"), images, sizeof images);
    (void)snprintf(line, sizeof line, "gzip -n %s/x", f.path);
    assert_int_equal(system(line), 0);
    file = fopen(x, "rb");
    assert_non_null(file);
    n = fread(gz, 1, sizeof gz - 1, file);
    assert_in_range(n, 20, sizeof gz - 2);
    (void)fclose(file);
    for (size_t k = 0; k < n; k++) {
        write_file(x, gz, k);
        assert_null(ingot_idx_dataset(ctx, x, y));
        check_error(ctx, INGOT_E_FORMAT, x);
    }
    for (size_t i = 10; i < n; i++) { /* the header of 10 holds flags that change nothing */
        gz[i] ^= 16;
        write_file(x, gz, n);
        if (ingot_idx_dataset(ctx, x, y))
            fail_msg("byte %zu of %zu", i, n);
        check_error(ctx, INGOT_E_FORMAT, x);
        gz[i] ^= 16;
    }
    gz[n] = 0;
    write_file(x, gz, n + 1);
    assert_null(ingot_idx_dataset(ctx, x, y));
    check_error(ctx, INGOT_E_FORMAT, "bytes follow its end");
    write_file(x, gz, n);
    ingot_dataset_free(ingot_idx_dataset(ctx, x, y));
    check_ok(ctx);
    folder_close(&f);
    ingot_close(ctx);
}

/* A picture that cannot be decoded is told by its path; what comes after it can still be read. */
static void corrupt_files_are_named(void **state)
{
    (void)state;
    for (int workers = 0; workers <= 2; workers += 2) {
        ingot_context *ctx = ingot_open(NULL);
        ingot_tensor *out[2];
        ingot_dataset *ds;
        test_folder f;
        bool more;

        folder_open(&f);
        assert_int_equal(mkdir(path_in(&f, "a"), 0777), 0);
        write_picture(ctx, path_in(&f, "a/1.png"), 10);
        write_file(path_in(&f, "a/2.jpg"), "\xff\xd8\xff\xe0 no picture", 15);
        write_file(path_in(&f, "a/3.png"), "", 0);
        write_picture(ctx, path_in(&f, "a/4.png"), 40);
        ds = ingot_image_folder(ctx, f.path, NULL);
        (void)ingot_dataset_map(ds, "image", (ingot_transform *[]){ingot_decode(ctx, 3), NULL},
                                workers);
        assert_true(next(ctx, ds, out, 2));
        for (int i = 1; i < 3; i++) {
            assert_int_equal(ingot_dataset_next(ds, out, 2, &more), INGOT_E_FORMAT);
            check_error(ctx, INGOT_E_FORMAT, path_in(&f, i == 1 ? "a/2.jpg: JPEG" : "a/3.png: "));
            assert_int_equal(ingot_dataset_seek(ds, 0, i + 1), INGOT_OK);
        }
        assert_true(next(ctx, ds, out, 2));
        assert_true(ingot_tensor_item(out[0], 0) == 40);
        assert_false(next(ctx, ds, out, 2));
        ingot_dataset_free(ds);
        folder_close(&f);
        ingot_close(ctx);
    }
}

static void class_files_are_checked(void **state)
{
    static const struct {
        const char *text, *want;
    } bad[] = {
        {"a\n../a\n", "class \"../a\" is no folder's name"},
        {"..\n", "class \"..\" is no folder's name"},
        {"a\r\na\n", "class \"a\" is listed twice"},
        {"a\nmissing\n", "missing"},
        {"\n\n", "no class folders"},
    };
    ingot_context *ctx = ingot_open(NULL);
    const char *list;
    test_folder f;

    (void)state;
    folder_open(&f);
    assert_int_equal(mkdir(path_in(&f, "a"), 0777), 0);
    write_picture(ctx, path_in(&f, "a/1.png"), 10);
    list = path_in(&f, "list");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(list, bad[i].text, strlen(bad[i].text));
        assert_null(ingot_image_folder(ctx, f.path, &(ingot_image_folder_options){list}));
        check_error(ctx, ingot_error(ctx), bad[i].want);
    }
    folder_close(&f);
    ingot_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_files_are_read),
        cmocka_unit_test(bad_idx_files_are_refused),
        cmocka_unit_test(folders_are_classes_in_order),
        cmocka_unit_test(arrays_and_generators_give_rows),
        cmocka_unit_test(datasets_become_folders),
        cmocka_unit_test(pictures_go_there_and_back),
        cmocka_unit_test(damaged_archives_are_refused),
        cmocka_unit_test(corrupt_files_are_named),
        cmocka_unit_test(class_files_are_checked),
        cmocka_unit_test(awkward_pictures_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
