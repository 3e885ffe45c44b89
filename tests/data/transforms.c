/* SPDX-License-Identifier: Apache-2.0 */
/* Each transform against values worked out here. */
#include "data/data.h"

#include <math.h>

#define H 7
#define W 9
#define C 3

static unsigned char picture[H][W][C];

/* One sample through `list`: the column's only batch. */
static ingot_tensor *apply(ingot_context *ctx, ingot_transform *const *list)
{
    static const char *const names[] = {"image"};
    ingot_tensor *x = ingot_tensor_new(ctx, INGOT_U8, INGOT_INTS(1, H, W, C), picture), *out = NULL;
    ingot_dataset *ds = ingot_array_dataset(ctx, &x, names, 1);
    bool more;

    (void)ingot_dataset_map(ds, "image", list, 0);
    if (ds)
        (void)!ingot_dataset_next(ds, &out, 1, &more);
    ingot_dataset_free(ds);
    return out;
}

static int setup(void **state)
{
    (void)state;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < C; c++)
                picture[y][x][c] = (unsigned char)((y * 61 + x * 23 + c * 97) % 256);
    return 0;
}

/* The triangle filter's weight of source pixel k for output pixel i, not normalised. */
static double weight(int i, int k, int from, int to)
{
    double scale = (double)from / to, wide = scale > 1 ? scale : 1;
    double off = fabs((k + 0.5 - (i + 0.5) * scale) / wide);

    return off < 1 ? 1 - off : 0;
}

static double resized(int i, int j, int c, int h, int w)
{
    double sum = 0, all = 0;

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double v = weight(i, y, H, h) * weight(j, x, W, w);

            sum += v * picture[y][x][c];
            all += v;
        }
    return sum / all;
}

static void resize_filters_by_triangles(void **state)
{
    static const int sizes[][2] = {{3, 4}, {14, 18}, {7, 2}, {1, 1}, {5, 20}, {7, 9}};
    ingot_context *ctx = ingot_open(NULL);

    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int h = sizes[k][0], w = sizes[k][1];
        ingot_tensor *t = apply(ctx, (ingot_transform *[]){ingot_resize(ctx, h, w), NULL});

        check_ok(ctx);
        assert_int_equal(ingot_tensor_dim(t, 1), h);
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++)
                for (int c = 0; c < C; c++) {
                    double got = ingot_tensor_item(t, (i * w + j) * C + c);
                    double want = resized(i, j, c, h, w);

                    if (fabs(got - want) > 0.51)
                        fail_msg("%d x %d at (%d, %d, %d): %g, expected %g", h, w, i, j, c, got,
                                 want);
                }
    }
    ingot_tensor *t = apply(ctx, (ingot_transform *[]){ingot_resize(ctx, 14, 0), NULL});

    assert_int_equal(ingot_tensor_dim(t, 1), 14); /* the shorter side; the other 18 */
    assert_int_equal(ingot_tensor_dim(t, 2), 18);
    ingot_close(ctx);
}

static void crops_and_flips_move_pixels(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    ingot_tensor *t = apply(ctx, (ingot_transform *[]){ingot_center_crop(ctx, 3, 5), NULL});

    (void)state;
    for (int i = 0; i < 3 * 5 * C; i++)
        assert_true(ingot_tensor_item(t, i) == picture[2 + i / 15][2 + i / C % 5][i % C]);
    t = apply(ctx, (ingot_transform *[]){ingot_random_horizontal_flip(ctx, 1), NULL});
    for (int i = 0; i < H * W * C; i++)
        assert_true(ingot_tensor_item(t, i) == picture[i / (W * C)][W - 1 - i / C % W][i % C]);
    t = apply(ctx, (ingot_transform *[]){ingot_random_horizontal_flip(ctx, 0), NULL});
    assert_memory_equal(ingot_tensor_data(t), picture, sizeof picture);
    /* a crop of the padded picture's whole size shows the border */
    t = apply(ctx, (ingot_transform *[]){ingot_random_crop(ctx, H + 4, W + 4, 2), NULL});
    for (int y = 0; y < H + 4; y++)
        for (int x = 0; x < W + 4; x++) {
            bool inside = y >= 2 && y < H + 2 && x >= 2 && x < W + 2;
            double got = ingot_tensor_item(t, (y * (W + 4) + x) * C + 1);

            assert_true(got == (inside ? picture[y - 2][x - 2][1] : 0));
        }
    ingot_close(ctx);
}

/* All places, about equally often, and always a piece of the picture. */
static void random_crops_come_from_everywhere(void **state)
{
    static const char *const names[] = {"image"};
    enum { N = 3000 };
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 4});
    unsigned char *copies = malloc(N * sizeof picture);
    ingot_tensor *x, *out;
    ingot_dataset *ds;
    int seen[3][3] = {{0}};

    (void)state;
    assert_non_null(copies);
    for (int i = 0; i < N; i++)
        memcpy(copies + (size_t)i * sizeof picture, picture, sizeof picture);
    x = ingot_tensor_new(ctx, INGOT_U8, INGOT_INTS(N, H, W, C), copies);
    ds = ingot_array_dataset(ctx, &x, names, 1);
    (void)ingot_dataset_map(
        ds, "image", (ingot_transform *[]){ingot_random_crop(ctx, H - 2, W - 2, 0), NULL}, 0);
    for (int i = 0; i < N; i++) {
        const unsigned char *p;
        int at = -1;

        ingot_scope_begin(ctx);
        assert_true(next(ctx, ds, &out, 1));
        p = ingot_tensor_data(out);
        for (int k = 0; k < 9; k++)
            if (memcmp(p, picture[k / 3][k % 3], (W - 2) * C) == 0)
                at = k;
        assert_true(at >= 0);
        seen[at / 3][at % 3]++;
        ingot_scope_end(ctx);
    }
    for (int k = 0; k < 9; k++) /* 333 expected; six standard deviations */
        assert_in_range(seen[k / 3][k % 3], 333 - 104, 333 + 104);
    free(copies);
    ingot_dataset_free(ds);
    ingot_close(ctx);
}

/* A padded crop is the picture seen through a window whose corner lies anywhere from -2 to H + 2.
 */
static void padded_crops_are_windows(void **state)
{
    enum { PAD = 2, TALL = 5, WIDE = 6 };
    int border = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = seed});
        ingot_tensor *t =
            apply(ctx, (ingot_transform *[]){ingot_random_crop(ctx, TALL, WIDE, PAD), NULL});
        int found = 0;

        check_ok(ctx);
        for (int y = -PAD; y <= H + PAD - TALL; y++)
            for (int x = -PAD; x <= W + PAD - WIDE; x++) {
                bool same = true;

                for (int i = 0; i < TALL * WIDE * C && same; i++) {
                    int py = y + i / (WIDE * C), px = x + i / C % WIDE;
                    bool inside = py >= 0 && py < H && px >= 0 && px < W;

                    same = ingot_tensor_item(t, i) == (inside ? picture[py][px][i % C] : 0);
                }
                found += same;
                border += same && (y < 0 || x < 0 || y > H - TALL || x > W - WIDE);
            }
        assert_int_equal(found, 1);
        ingot_close(ctx);
    }
    assert_in_range(border, 15, 39); /* 44 of 56 places show the border */
}

static void numbers_are_scaled_and_moved(void **state)
{
    const double mean[] = {0.1, 0.2, 0.3}, std[] = {0.5, 0.25, 2};
    ingot_context *ctx = ingot_open(NULL);
    ingot_tensor *t = apply(
        ctx, (ingot_transform *[]){ingot_normalize(ctx, mean, std, 3), ingot_hwc2chw(ctx), NULL});

    (void)state;
    check_ok(ctx);
    assert_int_equal(ingot_tensor_dim(t, 1), C);
    for (int c = 0; c < C; c++)
        for (int i = 0; i < H * W; i++) {
            double want = (picture[i / W][i % W][c] / 255.0 - mean[c]) / std[c];

            assert_true(fabs(ingot_tensor_item(t, c * H * W + i) - want) < 1e-6);
        }
    t = apply(ctx, (ingot_transform *[]){ingot_type_cast(ctx, INGOT_F32),
                                         ingot_normalize(ctx, mean, std, 3), NULL});
    for (int i = 0; i < H * W * C; i++) { /* f32 is taken as it is, not divided by 255 */
        double want = (picture[i / (W * C)][i / C % W][i % C] - mean[i % C]) / std[i % C];

        assert_true(fabs(ingot_tensor_item(t, i) - want) < 1e-6 * (1 + fabs(want)));
    }
    t = apply(ctx, (ingot_transform *[]){ingot_type_cast(ctx, INGOT_I16), NULL});
    assert_int_equal(ingot_tensor_dtype(t), INGOT_I16);
    assert_true(ingot_tensor_item(t, 5) == picture[0][1][2]);
    ingot_close(ctx);
}

static bool twice(const ingot_array *in, ingot_array *out, const ingot_map_info *info, void *user)
{
    const unsigned char *from = in->data;
    float *to = ingot_array_alloc(out, INGOT_F32, INGOT_INTS(2));

    (void)info;
    if (!to || *(bool *)user)
        return false;
    to[0] = 2.0f * (float)from[0];
    to[1] = (float)in->dim[0];
    return true;
}

static void users_add_their_own(void **state)
{
    ingot_context *ctx = ingot_open(NULL);
    bool fails = false;
    ingot_tensor *t =
        apply(ctx, (ingot_transform *[]){ingot_transform_new(ctx, twice, &fails), NULL});

    (void)state;
    assert_true(ingot_tensor_item(t, 0) == 2.0 * picture[0][0][0] && ingot_tensor_item(t, 1) == H);
    fails = true;
    assert_null(apply(ctx, (ingot_transform *[]){ingot_transform_new(ctx, twice, &fails), NULL}));
    check_error(ctx, INGOT_E_ARGUMENT, "transform 0 of column \"image\" failed");
    ingot_close(ctx);
}

static void what_does_not_fit_is_told(void **state)
{
    const double zero[] = {0, 0, 0};
    ingot_context *ctx = ingot_open(NULL);

    (void)state;
    assert_null(apply(ctx, (ingot_transform *[]){ingot_center_crop(ctx, 8, 3), NULL}));
    check_error(ctx, INGOT_E_SHAPE, "center_crop: 8 x 3 of a picture of 7 x 9");
    assert_null(apply(ctx, (ingot_transform *[]){ingot_decode(ctx, 3), NULL}));
    check_error(ctx, INGOT_E_SHAPE, "decode: not a file's bytes");
    assert_null(ingot_normalize(ctx, zero, zero, 3));
    check_error(ctx, INGOT_E_ARGUMENT, "std 0 of channel 0");
    assert_null(ingot_resize(ctx, 0, 5));
    check_error(ctx, INGOT_E_ARGUMENT, "resize: size 0 x 5");
    assert_null(ingot_decode(ctx, 2));
    check_error(ctx, INGOT_E_ARGUMENT, "channels 2");
    assert_null(ingot_random_horizontal_flip(ctx, 1.5));
    check_error(ctx, INGOT_E_ARGUMENT, "p 1.5");
    ingot_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resize_filters_by_triangles),
        cmocka_unit_test(crops_and_flips_move_pixels),
        cmocka_unit_test(random_crops_come_from_everywhere),
        cmocka_unit_test(padded_crops_are_windows),
        cmocka_unit_test(numbers_are_scaled_and_moved),
        cmocka_unit_test(users_add_their_own),
        cmocka_unit_test(what_does_not_fit_is_told),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
