/* SPDX-License-Identifier: Apache-2.0 */
/* Element types and their conversions. */
#ifndef TENSOR_DTYPE_H
#define TENSOR_DTYPE_H

#include "ingot/tensor.h"

typedef ingot_dtype dtype;

/* Class bits, so that "is it a float" is a mask. */
bool dtype_valid(dtype d);
bool dtype_is_float(dtype d); /* f16 bf16 f32 f64 */
bool dtype_is_int(dtype d);   /* i8 u8 i16 i32 i64 (not bool) */
size_t dtype_size(dtype d);
const char *dtype_name(dtype d);                  /* "f32"; "?" when invalid */
bool dtype_parse(const char *name, size_t n, dtype *out);

/* Correctly rounded (ties to even); NaN stays NaN (quiet, sign and top payload bits kept),
   infinities kept, overflow to infinity, f16/bf16 denormals exact. */
float f16_to_f32(uint16_t h);
uint16_t f32_to_f16(float f);
float bf16_to_f32(uint16_t h);
uint16_t f32_to_bf16(float f);
uint16_t f64_to_f16(double d);  /* one rounding, not two */
uint16_t f64_to_bf16(double d);

/* Converts n contiguous elements. Float to integer truncates toward zero and saturates (NaN gives
   0); integer narrowing wraps as in NumPy; to bool: non-zero is true (NaN is true). from and
   to may not overlap unless equal in address and dtype size. */
void dtype_convert(dtype from, const void *src, dtype to, void *dst, int64_t n);
/* One element as double / int64, for printing, constants and tests. */
double dtype_get_f64(dtype d, const void *p, int64_t i);
int64_t dtype_get_i64(dtype d, const void *p, int64_t i);
void dtype_set_f64(dtype d, void *p, int64_t i, double v);
void dtype_set_i64(dtype d, void *p, int64_t i, int64_t v);

#endif
