/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "dataset.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

int command_data(int argc, char **argv)
{
    bool json = false, test = false;
    int64_t limit = 0;
    const char *classes = NULL;
    const option_row rows[] = {
        {"test", NULL, "the test set of IDX files instead of the training set", OPTION_FLAG, &test},
        {"limit", "N", "the first N samples; 0 = all", OPTION_INT, &limit},
        {"classes", "NAMES", "names of the classes, separated by commas", OPTION_TEXT, &classes},
        {"json", NULL, "one object", OPTION_FLAG, &json},
    };
    const usage u = {
        .command = "data",
        .synopsis = "convert [OPTION…] FROM TO",
        .about =
            "Writes a folder of IDX files (MNIST and its likes) as a folder with one folder of PNG\n"
            "files for each class: TO/CLASS/NUMBER.png.",
        .rows = rows,
        .n_rows = 4,
        .examples =
            "  ingot data convert /usr/share/datasets/fashion-mnist clothes/train\n"
            "  ingot data convert --test --limit 10 /usr/share/datasets/fashion-mnist some\n",
    };
    arguments rest;
    int status = options_read(&u, argc, argv, &rest);

    if (status >= 0)
        return status;
    if (rest.n != 3 || strcmp(rest.v[0], "convert") != 0)
        return usage_error(&u, "'convert', FROM and TO are needed");
    ingot_context *ctx = ingot_open(&(ingot_context_options){.threads = 1});
    ingot_dataset *ds = ingot_mnist(ctx, rest.v[1], !test);

    if (ds && classes)
        (void)data_name_classes(ctx, ds, classes);
    int64_t n = ingot_dataset_size(ds);

    n = limit && limit < n ? limit : n;
    if (!ds || ingot_dataset_write_images(ds, rest.v[2], limit) != INGOT_OK)
        status = report_context("data", json, ctx);
    else if (json)
        print_json(json_pack("{s:I, s:s}", "pictures", (json_int_t)n, "folder", rest.v[2]));
    else
        (void)printf("%" PRId64 " pictures in %s\n", n, rest.v[2]);
    ingot_dataset_free(ds);
    ingot_close(ctx);
    return status >= 0 ? status : EXIT_DONE;
}
