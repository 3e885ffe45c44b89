/* SPDX-License-Identifier: Apache-2.0 */
/* What infer rules call, and the checks that hold for every op. */
#include "ir/op_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int infer_count(const infer *c)
{
    return c->n_in;
}

const type *infer_in(const infer *c, int i)
{
    return i < c->n_in && c->in[i].rank >= 0 ? &c->in[i] : NULL;
}

static const attr *find_attr(const infer *c, const char *name)
{
    static const attr none = {.kind = ATTR_INT};

    for (int i = 0; i < c->op->n_attrs; i++)
        if (strcmp(c->op->attrs[i].name, name) == 0)
            return &c->attrs[i];
    assert(0 && "infer: no such attribute");
    return &none;
}

int64_t infer_int(const infer *c, const char *name)
{
    return find_attr(c, name)->i;
}

double infer_real(const infer *c, const char *name)
{
    return find_attr(c, name)->f;
}

ints infer_ints(const infer *c, const char *name)
{
    return find_attr(c, name)->a;
}

const char *infer_str(const infer *c, const char *name)
{
    const char *s = find_attr(c, name)->s;

    return s ? s : "";
}

static void prefix(infer *c)
{
    if (c->name)
        error_prefix(c->err, "op '%s' (%s)", c->op->name, c->name);
    else
        error_prefix(c->err, "op '%s'", c->op->name);
}

bool infer_fail(infer *c, ingot_status code, const char *fmt, ...)
{
    char text[ERROR_TEXT];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (c->err->code == INGOT_OK) {
        fail(c->err, code, "%s", text);
        prefix(c);
    }
    return false;
}

bool infer_out(infer *c, int i, type t)
{
    assert(i >= 0 && i < c->op->n_out);
    if (!type_check(&t, c->err)) {
        prefix(c);
        return false;
    }
    c->out[i] = t;
    c->out_set |= 1u << i;
    return true;
}

static bool axis_check(infer *c, const char *name, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return infer_fail(c, INGOT_E_ARGUMENT, "%s %" PRId64 " is outside [-%d, %d) of %s", name,
                          axis, rank, rank,
                          infer_in(c, 0) ? infer_text(c, infer_in(c, 0)) : "the operand");
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool infer_axis(infer *c, const char *name, int rank, int *out)
{
    return axis_check(c, name, infer_int(c, name), rank, out);
}

bool infer_axes(infer *c, const char *name, int rank, unsigned *mask)
{
    ints axes = infer_ints(c, name);

    *mask = axes.n ? 0 : (1u << rank) - 1u;
    for (int i = 0; i < axes.n; i++) {
        int axis = 0;

        if (!axis_check(c, name, axes.v[i], rank, &axis))
            return false;
        if (*mask >> axis & 1)
            return infer_fail(c, INGOT_E_ARGUMENT, "%s names axis %d twice", name, axis);
        *mask |= 1u << axis;
    }
    return true;
}

const char *infer_text(infer *c, const type *t)
{
    return type_text(t, c->text[c->n_text++ % INFER_TEXTS]);
}

static bool class_holds(input_class cls, dtype dt)
{
    switch (cls) {
    case IN_ANY:
        return true;
    case IN_FLOAT:
        return dtype_is_float(dt);
    case IN_INTEGER:
        return dtype_is_int(dt);
    case IN_INDEX:
        return dt == INGOT_I32 || dt == INGOT_I64;
    case IN_BOOLEAN:
        return dt == INGOT_BOOL;
    case IN_NUMERIC:
        return dt != INGOT_BOOL;
    }
    return false;
}

static const char *const class_texts[] = {
    [IN_ANY] = "any type is taken",
    [IN_FLOAT] = "a floating type is needed (cast it first)",
    [IN_INTEGER] = "an integer type is needed (cast it first)",
    [IN_INDEX] = "i32 or i64 is needed (cast it first)",
    [IN_BOOLEAN] = "bool is needed (compare or cast it first)",
    [IN_NUMERIC] = "a number is needed, not bool (cast it first)",
};

static bool inputs_check(infer *c)
{
    const op *o = c->op;
    bool variadic = o->n_in > 0 && o->in[o->n_in - 1].variadic;

    if (c->n_in < o->n_in || (!variadic && c->n_in > o->n_in))
        return infer_fail(c, INGOT_E_ARGUMENT, "%d inputs given, %s%d needed", c->n_in,
                          variadic ? "at least " : "", o->n_in);
    for (int i = 0; i < c->n_in; i++) {
        const op_input *decl = &o->in[i < o->n_in ? i : o->n_in - 1];
        const type *t = infer_in(c, i);

        if (!t && !decl->optional)
            return infer_fail(c, INGOT_E_ARGUMENT, "input '%s' is missing", decl->name);
        if (t && !class_holds(decl->cls, t->dt))
            return infer_fail(c, INGOT_E_DTYPE, "%s is %s; %s", decl->name, infer_text(c, t),
                              class_texts[decl->cls]);
    }
    return true;
}

static bool attrs_check(infer *c, int n_attrs)
{
    const op *o = c->op;

    if (n_attrs != o->n_attrs)
        return infer_fail(c, INGOT_E_INTERNAL, "%d attributes given, %d declared", n_attrs,
                          o->n_attrs);
    for (int i = 0; i < n_attrs; i++) {
        if (c->attrs[i].kind != o->attrs[i].kind)
            return infer_fail(c, INGOT_E_ARGUMENT, "attribute '%s' is of another type",
                              o->attrs[i].name);
        if (o->attrs[i].kind == ATTR_DTYPE && !dtype_valid((dtype)c->attrs[i].i))
            return infer_fail(c, INGOT_E_DTYPE, "attribute '%s': %" PRId64 " is no dtype",
                              o->attrs[i].name, c->attrs[i].i);
        if (o->attrs[i].kind == ATTR_INTS && (c->attrs[i].a.n < 0 || c->attrs[i].a.n > 64))
            return infer_fail(c, INGOT_E_ARGUMENT, "attribute '%s' has %d entries; 64 at most",
                              o->attrs[i].name, c->attrs[i].a.n);
    }
    return true;
}

bool op_infer(const op *o, const char *name, const type *in, int n_in, const attr *attrs,
              int n_attrs, type *out, error *e)
{
    infer c = {.op = o, .name = name, .in = in, .n_in = n_in, .attrs = attrs, .err = e};

    if (!inputs_check(&c) || !attrs_check(&c, n_attrs))
        return false;
    if (!o->row->infer(&c))
        return e->code == INGOT_OK ? infer_fail(&c, INGOT_E_INTERNAL, "its infer failed silently")
                                   : false;
    if (c.out_set != (1u << o->n_out) - 1u)
        return infer_fail(&c, INGOT_E_INTERNAL, "its infer leaves a result without a type");
    memcpy(out, c.out, (size_t)o->n_out * sizeof *out);
    return true;
}
