/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: what good files give, and what each kind of bad one is told. */
#include "data/data.h"

#include <sys/stat.h>

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
    static const char *const names[] = {"none", "some"};
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
    assert_string_equal(ingot_dataset_class(ds, 0), "none");
    assert_memory_equal(ingot_tensor_data(out[0]), images + 22, 6); /* sample 1 is of class 0 */
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

/* Every picture of the collection is decoded or refused; none does harm. */
static void awkward_pictures_do_no_harm(void **state)
{
    const char *source = getenv("INGOT_SOURCE_DIR");
    ingot_context *ctx = ingot_open(NULL);
    char line[1024], path[512];
    int decoded = 0, refused = 0;
    test_folder f;
    FILE *list;

    (void)state;
    folder_open(&f);
    (void)snprintf(line, sizeof line, "tar xzf %s/../shared/data/awkward.tar.gz -C %s 2>/dev/null",
                   source ? source : ".", f.path);
    if (system(line) != 0) {
        folder_close(&f);
        ingot_close(ctx);
        print_message("skipped: no ../shared/data/awkward.tar.gz\n");
        skip();
    }
    (void)snprintf(line, sizeof line, "find %s -type f", f.path);
    list = popen(line, "r");
    assert_non_null(list);
    while (fgets(path, sizeof path, list)) {
        path[strcspn(path, "\n")] = '\0';
        ingot_scope_begin(ctx);
        if (ingot_image_read(ctx, path, 3))
            decoded++;
        else
            refused++;
        ingot_clear_error(ctx);
        ingot_scope_end(ctx);
    }
    (void)pclose(list);
    print_message("%d decoded, %d refused\n", decoded, refused);
    assert_true(decoded > 100);
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
        cmocka_unit_test(awkward_pictures_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
