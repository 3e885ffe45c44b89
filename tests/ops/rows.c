/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of rows. docs/adding-an-op.md says what a row is. */
#include "ops/case.h"

#include <math.h>

#define FLOATS  "f32 f16 bf16 f64"
#define INTS_   "i8 u8 i16 i32 i64"
#define NUMBERS FLOATS " " INTS_

/* A row FORMULA(op, "{range}", formula in x, fields...) brings its reference along. The first
   reading of the rows makes the functions. */
#define TEST(...)
#define BAD(...)
#define UNARY(...)
#define UNARY_ANY(...)
#define BINARY(...)
#define COMPARE(...)
#define FORMULA(op_, range, formula, ...)                     \
    static void formula_##op_(const ref_call *c)              \
    {                                                         \
        for (int64_t i = 0; i < type_count(&c->in[0]); i++) { \
            const double x = c->x[0][i];                      \
                                                              \
            c->y[0][i] = formula;                             \
        }                                                     \
    }
#include "ops/pointwise.inc"
#undef TEST
#undef BAD
#undef UNARY
#undef UNARY_ANY
#undef BINARY
#undef COMPARE
#undef FORMULA

/* The second reading makes the table. The fifth argument is the reference; more are fields of
   op_case. */
#define TEST(op_, attrs_, in_, out_, ...) \
    {.op = #op_, .attrs = attrs_, .in = in_, .out = out_, .ref = __VA_ARGS__},
#define BAD(op_, attrs_, in_, text) {.op = #op_, .attrs = attrs_, .in = in_, .bad = text},
/* A pointwise function of one float: dtypes, lengths around the tiles, none, one, and values that
   are no numbers. range: where it is defined and smooth. */
#define UNARY_AS(op_, ref_, attrs_, range, ...)                                        \
    TEST(op_, attrs_, "T[3,5]" range, "T[3,5]", ref_, .dtypes = FLOATS, __VA_ARGS__)   \
    TEST(op_, attrs_, "f32[7,1031]" range, "f32[7,1031]", ref_, __VA_ARGS__)           \
    TEST(op_, attrs_, "f32[]" range, "f32[]", ref_, __VA_ARGS__)                       \
    TEST(op_, attrs_, "f32[2,0,4]" range, "f32[2,0,4]", ref_, __VA_ARGS__)             \
    TEST(op_, attrs_, "T[40]" range, "T[40]", ref_, .dtypes = FLOATS, .special = true, \
         __VA_ARGS__)                                                                  \
    BAD(op_, attrs_, "f32[3], f32[3]", "2 inputs given, 1 needed")
#define UNARY_ANY(op_, attrs_, ...) UNARY_AS(op_, ref_##op_, attrs_, __VA_ARGS__)
#define UNARY(op_, attrs_, ...)         \
    UNARY_ANY(op_, attrs_, __VA_ARGS__) \
    BAD(op_, attrs_, "bool[3]", "x is bool[3]")
#define FORMULA(op_, range, formula, ...)                \
    UNARY_AS(op_, formula_##op_, "", range, __VA_ARGS__) \
    BAD(op_, "", "bool[3]", "x is bool[3]")
/* A pointwise function of two numbers. */
#define BINARY(op_, range, ...)                                                                   \
    TEST(op_, "", "T[3,5]" range ", T[3,5]" range, "T[3,5]", ref_##op_, .dtypes = FLOATS,         \
         __VA_ARGS__)                                                                             \
    TEST(op_, "", "f32[5,1031]" range ", f32[1031]" range, "f32[5,1031]", ref_##op_, __VA_ARGS__) \
    TEST(op_, "", "f32[4,1,3]" range ", f32[5,1]" range, "f32[4,5,3]", ref_##op_, __VA_ARGS__)    \
    TEST(op_, "", "f32[]" range ", f32[7]" range, "f32[7]", ref_##op_, __VA_ARGS__)               \
    TEST(op_, "", "f32[2,0]" range ", f32[1,1]" range, "f32[2,0]", ref_##op_, __VA_ARGS__)        \
    TEST(op_, "", "T[180]" range ", T[180]" range, "T[180]", ref_##op_, .dtypes = FLOATS,         \
         .special = true, __VA_ARGS__)                                                            \
    BAD(op_, "", "f32[2,3], f32[2]", "f32[2,3] and f32[2] do not broadcast")                      \
    BAD(op_, "", "f32[2], f64[2]", "f32[2] and f64[2] differ in dtype")
#define COMPARE(op_)                                                                           \
    TEST(op_, "", "T[60]{0,3}, T[60]{0,3}", "bool[60]", ref_##op_, .dtypes = NUMBERS)          \
    TEST(op_, "", "f32[5,1031], f32[5,1]", "bool[5,1031]", ref_##op_)                          \
    TEST(op_, "", "T[180], T[180]", "bool[180]", ref_##op_, .dtypes = FLOATS, .special = true) \
    BAD(op_, "", "f32[2,3], f32[2]", "f32[2,3] and f32[2] do not broadcast")

static const op_case pointwise[] = {
#include "ops/pointwise.inc"
};
static const op_case reduce[] = {
#include "ops/reduce.inc"
};
static const op_case norm[] = {
#include "ops/norm.inc"
};
static const op_case loss[] = {
#include "ops/loss.inc"
};
static const op_case shape[] = {
#include "ops/shape.inc"
};
static const op_case index_[] = {
#include "ops/index.inc"
};
static const op_case matmul[] = {
#include "ops/matmul.inc"
};
static const op_case conv[] = {
#include "ops/conv.inc"
};
static const op_case pool[] = {
#include "ops/pool.inc"
};
static const op_case random_[] = {
#include "ops/random.inc"
};
static const op_case effect[] = {
#include "ops/effect.inc"
};

#define ROWS(name, rows)                       \
    {                                          \
        name, rows, sizeof rows / sizeof *rows \
    }

const op_family op_families[] = {
    ROWS("pointwise", pointwise), ROWS("reduce", reduce), ROWS("norm", norm),
    ROWS("loss", loss),           ROWS("shape", shape),   ROWS("index", index_),
    ROWS("matmul", matmul),       ROWS("conv", conv),     ROWS("pool", pool),
    ROWS("random", random_),      ROWS("effect", effect), {NULL, NULL, 0},
};
