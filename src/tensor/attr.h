/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute values of an op, in the order of its signature. */
#ifndef TENSOR_ATTR_H
#define TENSOR_ATTR_H

#include "tensor/type.h"

typedef enum attr_kind { ATTR_INT, ATTR_REAL, ATTR_FLAG, ATTR_INTS, ATTR_STR, ATTR_DTYPE } attr_kind;

typedef struct ints {
    const int64_t *v;
    int n;
} ints;

/* Array literal: INTS(0, 1). Its storage lives in the enclosing block. */
#define INTS(...)                                                                                  \
    ((ints){(const int64_t[]){__VA_ARGS__},                                                        \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})
#define NO_INTS   ((ints){NULL, 0})

typedef struct attr {
    attr_kind kind;
    union {
        int64_t i; /* INT, FLAG, DTYPE */
        double f;  /* REAL */
        ints a;    /* INTS */
        const char *s;
    };
} attr;

bool attr_equal(const attr *a, const attr *b);

#endif
