/* SPDX-License-Identifier: Apache-2.0 */
/* IDX, the format of MNIST (Y. LeCun): a big-endian header, then the elements. Plain or gzip. */
#ifndef FORMATS_IDX_H
#define FORMATS_IDX_H

#include "tensor/type.h"

#define IDX_BYTES_MAX ((size_t)1 << 33) /* of the elements */

typedef struct idx_file {
    type type;
    unsigned char *data;
    size_t bytes;
    const allocator *alloc;
} idx_file;

/* Elements u8 i8 i16 i32 f32 f64, in the machine's byte order. Errors name the path: no IDX, a
   header that claims more or less than the file holds, a damaged archive. */
bool idx_read(idx_file *f, const allocator *a, const char *path, error *e);
/* The same of bytes in memory (plain IDX); path is for messages. */
bool idx_parse(idx_file *f, const allocator *a, const unsigned char *bytes, size_t size,
               const char *path, error *e);
void idx_free(idx_file *f); /* zeroed allowed */

#endif
