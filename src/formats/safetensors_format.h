/* SPDX-License-Identifier: Apache-2.0 */
/* What reader and writer of safetensors share. */
#ifndef FORMATS_SAFETENSORS_FORMAT_H
#define FORMATS_SAFETENSORS_FORMAT_H

#include "formats/safetensors.h"

/* The checksum is the first thing of the header, at a fixed offset: XXH3 of the whole file with
   its digits left out, so that nothing of the file escapes it. */
#define CHECKSUM_KEY    "ingot.xxh3"
#define CHECKSUM_PREFIX "{\"__metadata__\":{\"" CHECKSUM_KEY "\":\""
#define CHECKSUM_DIGITS 16
#define LENGTH_BYTES    8

typedef struct format_dtype {
    const char *name;
    size_t size;
    bool known;
    dtype dt;
} format_dtype;

const format_dtype *format_dtype_find(const char *name); /* NULL = not in the format */
const char *format_dtype_name(dtype dt);

/* 16 lower-case digits and a NUL. */
void format_digits(uint64_t hash, char out[CHECKSUM_DIGITS + 1]);

#endif
