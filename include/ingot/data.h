/* SPDX-License-Identifier: Apache-2.0 */
/* Data pipelines: samples of named columns from a source, transformed by several threads, shuffled and
   batched. What comes out depends on the context's seed, the epoch and the sample's index alone: not on
   the number of threads, nor on where a run was taken up again.

       ingot_dataset *ds = ingot_image_folder(ctx, "photos", NULL);
       ingot_dataset_map(ds, "image", (ingot_transform *[]){ingot_decode(ctx, 3),
           ingot_resize(ctx, 256, 0), ingot_center_crop(ctx, 224, 224),
           ingot_normalize(ctx, mean, std, 3), ingot_hwc2chw(ctx), NULL}, 4);
       ingot_dataset_shuffle(ds);
       ingot_dataset_batch(ds, 32, true); */
#ifndef INGOT_DATA_H
#define INGOT_DATA_H

#include "ingot/tensor.h"

INGOT_BEGIN_C

typedef struct ingot_dataset ingot_dataset;
/** One step of a map. Owned by the dataset that it is given to. */
typedef struct ingot_transform ingot_transform;

/* --- sources: each returns NULL with the context's error set ------------------------------------ */

/** All zero = the defaults. */
typedef struct ingot_image_folder_options {
    const char *class_file; /**< text, one class (folder) per line: which, and their numbers;
                                 NULL = every folder, by name */
} ingot_image_folder_options;
/** A folder with one folder of JPEG and PNG files (.jpg .jpeg .png in any case) per class. Columns:
    "image", the file's bytes (decode them with ingot_decode), and "label", i64. Errors: no
    class, a class without pictures. */
INGOT_API ingot_dataset *ingot_image_folder(ingot_context *ctx, const char *path,
                                            const ingot_image_folder_options *opt);
/** IDX files, plain or compressed with gzip: images [N, H, W] or [N, H, W, C] of u8, labels [N] of u8.
    Columns: "image", u8 [H, W, C], and "label", i64. Everything the headers claim is checked. */
INGOT_API ingot_dataset *ingot_idx_dataset(ingot_context *ctx, const char *images,
                                           const char *labels);
/** The four files of MNIST and its likes in a folder: (train|t10k)-(images-idx3|labels-idx1)-ubyte,
    with or without .gz. train: the training set, else the test set. */
INGOT_API ingot_dataset *ingot_mnist(ingot_context *ctx, const char *folder, bool train);
/** Rows of tensors [N, ...], copied: column i is names[i]. */
INGOT_API ingot_dataset *ingot_array_dataset(ingot_context *ctx, ingot_tensor *const *columns,
                                             const char *const *names, int n);

/** One value of a sample. */
typedef struct ingot_array {
    ingot_dtype dtype;
    int rank;
    int64_t dim[INGOT_MAX_RANK];
    void *data; /**< row-major; in callbacks: from ingot_array_alloc, owned by the pipeline */
    void *owner; /**< private */
} ingot_array;
/** Gives a an uninitialised value of this type; its data, or NULL when memory is out. */
INGOT_API void *ingot_array_alloc(ingot_array *a, ingot_dtype dt, ingot_ints shape);

/** Makes sample `index`: allocates and fills columns[0..n). false = failed. Called from several
    threads at once. */
typedef bool (*ingot_generator_fn)(int64_t index, ingot_array *columns, int n, void *user);
/** count samples made by fn. */
INGOT_API ingot_dataset *ingot_generator_dataset(ingot_context *ctx, int64_t count,
                                                 ingot_generator_fn fn, void *user,
                                                 const char *const *names, int n);

/** NULL is allowed. Ends its threads. */
INGOT_API void ingot_dataset_free(ingot_dataset *ds);

/* --- transforms: for pictures as u8 [H, W, C] unless said ---------------------------------------- */

/** JPEG or PNG bytes to a picture; channels 1 (grey) or 3 (RGB). Transparency is dropped. */
INGOT_API ingot_transform *ingot_decode(ingot_context *ctx, int channels);
/** Bilinear, with the triangle filter widened when shrinking, as Pillow and torchvision (antialias)
    do. width 0: the shorter side becomes height, the other one in proportion. */
INGOT_API ingot_transform *ingot_resize(ingot_context *ctx, int64_t height, int64_t width);
/** The middle; an error when the picture is smaller. */
INGOT_API ingot_transform *ingot_center_crop(ingot_context *ctx, int64_t height, int64_t width);
/** A piece from anywhere, after `padding` rows and columns of zeros were put around. */
INGOT_API ingot_transform *ingot_random_crop(ingot_context *ctx, int64_t height, int64_t width,
                                             int64_t padding);
/** Left and right exchanged with probability p. */
INGOT_API ingot_transform *ingot_random_horizontal_flip(ingot_context *ctx, double p);
/** f32: (x / 255 - mean) / std for u8, (x - mean) / std for f32, for each of the channels. */
INGOT_API ingot_transform *ingot_normalize(ingot_context *ctx, const double *mean,
                                           const double *std, int channels);
/** [H, W, C] to [C, H, W], of any dtype. */
INGOT_API ingot_transform *ingot_hwc2chw(ingot_context *ctx);
/** Converts any value to another dtype. */
INGOT_API ingot_transform *ingot_type_cast(ingot_context *ctx, ingot_dtype to);
/** What a user's transform may know of its sample: fresh random words for it. */
typedef struct ingot_map_info {
    uint64_t epoch;
    int64_t index; /**< in the source */
    uint64_t random[2];
} ingot_map_info;
/** Makes out (ingot_array_alloc) of in. false = failed. Called from several threads at once. */
typedef bool (*ingot_map_fn)(const ingot_array *in, ingot_array *out, const ingot_map_info *info,
                             void *user);
INGOT_API ingot_transform *ingot_transform_new(ingot_context *ctx, ingot_map_fn fn, void *user);
/** Only for one that was given to no dataset. NULL is allowed. */
INGOT_API void ingot_transform_free(ingot_transform *t);

/* --- what happens to samples. Before the first ingot_dataset_next ------------------------------- */

/** Appends transforms (NULL-ended; taken over, also on failure) to a column. workers: threads that
    make batches, the greatest number of all calls counts; 0 = the thread that asks for
    them. An entry of NULL ends the list, so that a failed transform shows as the context's error. */
INGOT_API ingot_status ingot_dataset_map(ingot_dataset *ds, const char *column,
                                         ingot_transform *const *transforms, int workers);
/** Another order in each epoch: a permutation drawn from seed and epoch. */
INGOT_API ingot_status ingot_dataset_shuffle(ingot_dataset *ds);
/** An epoch is `count` passes. */
INGOT_API ingot_status ingot_dataset_repeat(ingot_dataset *ds, int64_t count);
/** `size` samples are one batch, stacked along a new first axis; drop_remainder: a last, smaller one
    is left out. Without this call batches have one sample. */
INGOT_API ingot_status ingot_dataset_batch(ingot_dataset *ds, int64_t size, bool drop_remainder);
/** Batches made ahead, beyond one for each worker; the default is 2. */
INGOT_API ingot_status ingot_dataset_prefetch(ingot_dataset *ds, int batches);
/** Only samples from .. from + count - 1 of the source: a part set aside for testing. */
INGOT_API ingot_status ingot_dataset_take(ingot_dataset *ds, int64_t from, int64_t count);
/** Of a fixed permutation of the source drawn from `seed`, keeps the first (1 - fraction) or, with
    `second`, the rest: two datasets of one source that share no sample. */
INGOT_API ingot_status ingot_dataset_split(ingot_dataset *ds, double fraction, uint64_t seed,
                                           bool second);

/* --- reading -------------------------------------------------------------------------------------- */

/** Samples and batches of an epoch. */
INGOT_API int64_t ingot_dataset_size(const ingot_dataset *ds);
INGOT_API int64_t ingot_dataset_batches(const ingot_dataset *ds);
INGOT_API int ingot_dataset_column_count(const ingot_dataset *ds);
/** NULL when i is outside. Lives as long as ds. */
INGOT_API const char *ingot_dataset_column(const ingot_dataset *ds, int i);
/** Classes of a source that knows them; 0 and NULL otherwise. Live as long as ds. */
INGOT_API int ingot_dataset_class_count(const ingot_dataset *ds);
INGOT_API const char *ingot_dataset_class(const ingot_dataset *ds, int i);
/** Names for the classes of a source that knows none; copied. */
INGOT_API ingot_status ingot_dataset_set_classes(ingot_dataset *ds, const char *const *names, int n);

/** The next batch will be number `batch` (from 0) of epoch `epoch`. Where ds stands already, nothing
    is lost; elsewhere what was made ahead is thrown away. */
INGOT_API INGOT_MUST_USE ingot_status ingot_dataset_seek(ingot_dataset *ds, uint64_t epoch,
                                                         int64_t batch);
/** The next batch: out[0..n) get tensors in the current scope, in the order of the columns. At the
    end of the epoch *more is false and out is untouched; the call after that begins the next epoch.
    Errors name file or sample, and cause; ds stays at the batch. */
INGOT_API INGOT_MUST_USE ingot_status ingot_dataset_next(ingot_dataset *ds, ingot_tensor **out,
                                                         int n, bool *more);

/* --- pictures ---------------------------------------------------------------------------------------- */

/** A JPEG or PNG file as u8 [H, W, channels]; channels 1 or 3. NULL with the error set. */
INGOT_API ingot_tensor *ingot_image_read(ingot_context *ctx, const char *path, int channels);
/** A picture u8 [H, W, 1 or 3] brought to height x width as ingot_resize does. */
INGOT_API ingot_tensor *ingot_image_resize(ingot_context *ctx, ingot_tensor *picture,
                                           int64_t height, int64_t width);
/** Writes a picture u8 [H, W, 1 or 3] as PNG; atomic. */
INGOT_API INGOT_MUST_USE ingot_status ingot_png_write(ingot_context *ctx, const char *path,
                                                      ingot_tensor *picture);
/** Writes the pictures and labels of a source (columns "image" u8 [H, W, C] and "label") as
    folder/CLASS/NNNNNN.png, NNNNNN the sample's number; at most `limit` of them (0 = all). A class
    without a name, or with one that no folder can have ("top/shirt", ".."), goes by its number. */
INGOT_API INGOT_MUST_USE ingot_status ingot_dataset_write_images(ingot_dataset *ds,
                                                                 const char *folder,
                                                                 int64_t limit);

INGOT_END_C

#endif
