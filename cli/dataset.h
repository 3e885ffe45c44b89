/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to a pipeline of pictures. */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "ingot/ingot.h"

/* What pictures shall become. height, width, channels 0 = as they are (IDX), or 64, 64, 3. */
typedef struct picture_spec {
    int channels, height, width;
    double mean[INGOT_IMAGE_CHANNELS], std[INGOT_IMAGE_CHANNELS]; /* one for each channel */
    int crop_padding;                                             /* training alone */
    bool flip;                                                    /* training alone */
} picture_spec;

typedef enum data_part { PART_TRAIN, PART_TEST } data_part;

/* Whether a folder holds IDX files rather than class folders. */
bool data_is_idx(const char *path);
/* The source at path: of an IDX folder that part's files, of class folders all. NULL = the
   context's error. */
ingot_dataset *data_open(ingot_context *ctx, const char *path, data_part part);
/* Appends what makes spec's pictures of the source's. augment: random crops and flips. */
ingot_status data_prepare(ingot_context *ctx, ingot_dataset *ds, const char *path,
                          const picture_spec *spec, bool augment, int workers);
/* "a,b,c" as the names of ds's classes. */
ingot_status data_name_classes(ingot_context *ctx, ingot_dataset *ds, const char *names);
/* Height, width and channels of ds's batches, from its first one; ds stands at its begin again. */
ingot_status data_measure(ingot_context *ctx, ingot_dataset *ds, picture_spec *spec);

/* A single file as a net takes it: [1, C, H, W] f32; raw, when not NULL, gets the pixels. */
ingot_tensor *picture_load(ingot_context *ctx, const char *path, const ingot_image_facts *facts,
                           ingot_tensor **raw);

#endif
