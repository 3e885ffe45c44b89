/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors (github.com/huggingface/safetensors): 8 bytes of header length, a JSON header, then
   the tensors' bytes without holes. Files that we write carry a checksum in their metadata. */
#ifndef FORMATS_SAFETENSORS_H
#define FORMATS_SAFETENSORS_H

#include "base/file.h"
#include "tensor/type.h"

#define SAFETENSORS_HEADER_MAX ((size_t)100 * 1000 * 1000)

typedef struct safetensors_entry {
    const char *name;
    const char *dtype; /* the format's name, "F32" */
    bool known;        /* type.dt is set: one of our dtypes (U16, U32, U64, F8 are not) */
    type type;
    const void *data; /* in the mapping; may be misaligned for its dtype: copy with memcpy */
    size_t bytes;
} safetensors_entry;

typedef struct safetensors_meta {
    const char *key, *value;
} safetensors_meta;

typedef struct safetensors {
    arena mem;
    file_map map; /* zero when parsed from memory */
    const unsigned char *file;
    size_t size;                /* of the file */
    safetensors_entry *entries; /* in order of their data */
    size_t count;
    const safetensors_entry **by_name;
    safetensors_meta *meta; /* in order of keys */
    size_t n_meta;
} safetensors;

/* Maps and checks a file: every rule of the format, so that entries can be trusted. The mapping
   lives until close. A zeroed or failed s may be closed. */
bool safetensors_open(safetensors *s, const allocator *a, const char *path, error *e);
/* As open over bytes that outlive s. */
bool safetensors_parse(safetensors *s, const allocator *a, const void *data, size_t size, error *e);
void safetensors_close(safetensors *s);
const safetensors_entry *safetensors_find(const safetensors *s, const char *name); /* or NULL */
const char *safetensors_meta_find(const safetensors *s, const char *key);          /* or NULL */
/* Compares the file with the checksum that safetensors_write put into it: any bit that differs,
   header included, is an error; so is a file without one. */
bool safetensors_verify(const safetensors *s, error *e);

typedef struct safetensors_item {
    const char *name;
    type type;
    const void *data; /* row-major; NULL only for zero elements */
} safetensors_item;

/* Writes path atomically (base/file.h): items and metadata in the order given, so equal input
   gives equal bytes. Duplicate names and invalid UTF-8 are errors. */
bool safetensors_write(const char *path, const allocator *a, const safetensors_item *items,
                       size_t n, const safetensors_meta *meta, size_t n_meta, error *e);
/* The order of the reference implementation: wide dtypes first (which keeps every tensor
   aligned), then by name. */
void safetensors_sort(safetensors_item *items, size_t n);

#endif
