/* SPDX-License-Identifier: Apache-2.0 */
/* A data pipeline and a training run from end to end: pictures that a function draws, shuffled,
   shifted at random by two worker threads, a small network, and what it makes of the test set. */
#include <ingot/ingot.h>
#include <stdio.h>

enum { SIDE = 12, CLASSES = 3 };

/* A bright bar in the upper, middle or lower third. Called from several threads. */
static bool draw(int64_t index, ingot_array *columns, int n, void *user)
{
    unsigned char *image = ingot_array_alloc(&columns[0], INGOT_U8, INGOT_INTS(SIDE, SIDE, 1));
    int64_t *label = ingot_array_alloc(&columns[1], INGOT_I64, (ingot_ints){NULL, 0});

    (void)n;
    (void)user;
    if (!image || !label)
        return false;
    *label = index % CLASSES;
    for (int i = 0; i < SIDE * SIDE; i++) {
        int bar = (int)(index % CLASSES) * SIDE / CLASSES + 1, row = i / SIDE;
        unsigned noise = ((unsigned)index * 2654435761u + (unsigned)i * 40503u) >> 24;

        image[i] = (unsigned char)(noise / 2 + (row == bar || row == bar + 1 ? 120 : 0));
    }
    return true;
}

static ingot_dataset *open_data(ingot_context *ctx, int64_t count, bool train)
{
    static const char *const names[] = {"image", "label"};
    const double mean = 0.3, std = 0.25;
    ingot_dataset *ds = ingot_generator_dataset(ctx, count, draw, NULL, names, 2);

    if (train) {
        ingot_dataset_map(ds, "image",
                          (ingot_transform *[]){ingot_random_crop(ctx, SIDE, SIDE, 1), NULL}, 2);
        ingot_dataset_shuffle(ds);
    }
    ingot_dataset_map(
        ds, "image",
        (ingot_transform *[]){ingot_normalize(ctx, &mean, &std, 1), ingot_hwc2chw(ctx), NULL}, 0);
    ingot_dataset_batch(ds, 16, train);
    return ds;
}

int main(void)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 1});
    ingot_dataset *train = open_data(ctx, 480, true), *test = open_data(ctx, 90, false);
    ingot_cell *net = ingot_net_cnn(
        ctx, &(ingot_net_options){
                 .channels = 1, .height = SIDE, .width = SIDE, .classes = CLASSES, .features = 4});
    ingot_model *model =
        ingot_model_new(ctx, net, ingot_nn_cross_entropy(ctx, NULL),
                        ingot_adamw(ctx, net, &(ingot_schedule){.lr = 0.01}, NULL), NULL);
    ingot_metrics result = {0};
    ingot_status s = ingot_model_train(model, 4, train, NULL);

    if (s == INGOT_OK)
        s = ingot_model_eval(model, test, NULL, &result);
    if (s != INGOT_OK)
        fprintf(stderr, "%s\n", ingot_error_text(ctx));
    else
        printf("accuracy %.3f, loss %.4f\n", result.accuracy, result.loss);
    ingot_model_free(model);
    ingot_cell_free(net);
    ingot_dataset_free(train);
    ingot_dataset_free(test);
    ingot_close(ctx);
    return s == INGOT_OK && result.accuracy > 0.95 ? 0 : 1;
}
