/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as text: "f32[2,3] [[1, 2, 3], [4, 5, 6]]". */
#include "tensor/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 6 /* a longer dimension shows this many, half of them from its end */

typedef struct printer {
    const type *type;
    const void *data;
    int64_t stride[MAX_RANK];
    char *buf;
    size_t size, len; /* len < size: text is cut, and printing stops, when it is full */
} printer;

static bool put(printer *p, const char *s)
{
    size_t n = strlen(s), room = p->size - 1 - p->len;
    bool fits = n <= room;

    if (!fits)
        n = room;
    memcpy(p->buf + p->len, s, n);
    p->len += n;
    p->buf[p->len] = '\0';
    return fits;
}

static bool put_element(printer *p, int64_t i)
{
    dtype d = p->type->dt;
    char text[40];

    if (d == INGOT_BOOL)
        return put(p, dtype_get_i64(d, p->data, i) ? "true" : "false");
    if (dtype_is_float(d))
        (void)snprintf(text, sizeof(text), d == INGOT_F64 ? "%.10g" : "%.6g",
                       dtype_get_f64(d, p->data, i));
    else
        (void)snprintf(text, sizeof(text), "%" PRId64, dtype_get_i64(d, p->data, i));
    for (char *s = text; *s; s++) /* whatever the program's locale writes as decimal point */
        if (*s == ',')
            *s = '.';
    return put(p, text);
}

/* Recursion is as deep as the rank, at most MAX_RANK. */
static bool put_axis(printer *p, int axis, int64_t at)
{
    int64_t n;

    if (axis == p->type->rank)
        return put_element(p, at);
    n = p->type->dim[axis];
    if (!put(p, "["))
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (i && !put(p, ", "))
            return false;
        if (n > SHOWN && i == SHOWN / 2) {
            if (!put(p, "..., "))
                return false;
            i = n - SHOWN / 2;
        }
        if (!put_axis(p, axis + 1, at + i * p->stride[axis]))
            return false;
    }
    return put(p, "]");
}

const char *ingot_tensor_text(ingot_tensor *t, char *buf, size_t size)
{
    printer p = {.buf = buf, .size = size};
    char text[TYPE_TEXT];

    if (!buf || size == 0)
        return "";
    buf[0] = '\0';
    if (!t) {
        put(&p, "(no tensor)");
        return buf;
    }
    p.type = &t->type;
    type_strides(&t->type, p.stride);
    if (!put(&p, type_text(&t->type, text)) || !put(&p, " "))
        return buf;
    if (!t->mem) {
        put(&p, "(symbolic)");
        return buf;
    }
    p.data = t->mem->data;
    put_axis(&p, 0, 0);
    return buf;
}
