/* SPDX-License-Identifier: Apache-2.0 */
/* Batches from a folder of pictures with one folder per class: example_folder FOLDER. */
#include <ingot/ingot.h>
#include <stdio.h>

static ingot_dataset *open_folder(ingot_context *ctx, const char *path)
{
    const double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
    ingot_dataset *ds = ingot_image_folder(ctx, path, NULL);

    ingot_dataset_map(ds, "image",
                      (ingot_transform *[]){
                          ingot_decode(ctx, 3), ingot_resize(ctx, 72, 0),
                          ingot_random_crop(ctx, 64, 64, 0), ingot_random_horizontal_flip(ctx, 0.5),
                          ingot_normalize(ctx, mean, std, 3), ingot_hwc2chw(ctx), NULL},
                      4);
    ingot_dataset_shuffle(ds);
    ingot_dataset_batch(ds, 4, false);
    return ds;
}

int main(int argc, char **argv)
{
    ingot_context *ctx = ingot_open(&(ingot_context_options){.seed = 1});
    ingot_dataset *ds = open_folder(ctx, argc > 1 ? argv[1] : "photos");
    ingot_tensor *out[2]; /* the columns: "image" and "label" */
    ingot_status s;
    bool more = true;

    while (more && !ingot_error(ctx)) {
        ingot_scope_begin(ctx); /* a batch's tensors go with the scope */
        if (ingot_dataset_next(ds, out, 2, &more) == INGOT_OK && more)
            printf("%lld pictures, the first of class %s\n", (long long)ingot_tensor_dim(out[0], 0),
                   ingot_dataset_class(ds, (int)ingot_tensor_item(out[1], 0)));
        ingot_scope_end(ctx);
    }
    s = ingot_error(ctx); /* whatever went wrong first, from the opening on */
    if (s != INGOT_OK)
        fprintf(stderr, "%s\n", ingot_error_text(ctx));
    ingot_dataset_free(ds);
    ingot_close(ctx);
    return s == INGOT_OK ? 0 : 1;
}
