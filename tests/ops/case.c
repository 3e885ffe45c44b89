/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/case.h"

#include "base/random.h"
#include "ir/op_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- attributes --------------------------------------------------------------------------------
 */

static void skip(const char **s)
{
    while (**s == ' ' || **s == ',')
        (*s)++;
}

static bool read_ints(op_instance *c, const char **s, attr *a, error *e)
{
    int64_t v[32];
    int n = 0;
    char *end;

    if (*(*s)++ != '[')
        return fail(e, INGOT_E_FORMAT, "a list is needed");
    for (skip(s); **s != ']' && n < 32; skip(s)) {
        v[n++] = strtoll(*s, &end, 10);
        if (end == *s)
            return fail(e, INGOT_E_FORMAT, "an integer is needed at '%s'", *s);
        *s = end;
    }
    (*s)++;
    a->a = (ints){arena_copy(&c->mem, v, (size_t)n * sizeof *v, e), n};
    return a->a.v != NULL;
}

static bool read_value(op_instance *c, const char **s, dtype dt, attr *a, error *e)
{
    const char *end = *s;
    char *after;

    if (a->kind == ATTR_INTS)
        return read_ints(c, s, a, e);
    if (a->kind == ATTR_STR) {
        end = strchr(*s + 1, '"');
        a->s = end ? arena_printf(&c->mem, e, "%.*s", (int)(end - *s - 1), *s + 1) : NULL;
        *s = end ? end + 1 : *s;
        return a->s != NULL;
    }
    while (*end && *end != ',' && *end != ' ')
        end++;
    if (a->kind == ATTR_DTYPE && **s == 'T') {
        a->i = (int64_t)dt;
    } else if (a->kind == ATTR_DTYPE) {
        dtype named;

        if (!dtype_parse(*s, (size_t)(end - *s), &named))
            named = (dtype)77; /* a BAD row's */
        a->i = (int64_t)named;
    } else if (a->kind == ATTR_FLAG) {
        a->i = **s == 't';
    } else if (a->kind == ATTR_REAL) {
        a->f = strtod(*s, &after);
    } else {
        a->i = strtoll(*s, &after, 10);
    }
    *s = end;
    return true;
}

static bool read_attrs(op_instance *c, dtype dt, error *e)
{
    const char *s = c->row->attrs;
    const op *o = c->op;

    for (int i = 0; i < o->n_attrs; i++) {
        c->attrs[i] = (attr){.kind = o->attrs[i].kind};
        if (c->attrs[i].kind == ATTR_STR)
            c->attrs[i].s = "";
    }
    for (skip(&s); *s; skip(&s)) {
        size_t n = strcspn(s, "=");
        int i = 0;

        while (i < o->n_attrs && (strlen(o->attrs[i].name) != n || memcmp(o->attrs[i].name, s, n)))
            i++;
        if (i == o->n_attrs)
            return fail(e, INGOT_E_FORMAT, "'%s' is no attribute of %s", s, o->name);
        s += n + 1;
        if (!read_value(c, &s, dt, &c->attrs[i], e))
            return false;
    }
    return true;
}

/* --- types and values ----------------------------------------------------------------------------
 */

static bool read_type(const char **s, dtype dt, type *t, error *e)
{
    char text[TYPE_TEXT];
    const char *p = text;

    if (**s == '_') {
        (*s)++;
        *t = (type){.rank = -1};
        return true;
    }
    if (**s != 'T')
        return type_parse(s, t, e);
    snprintf(text, sizeof text, "%s%.*s", dtype_name(dt), (int)strcspn(*s, "]"), *s + 1);
    if (!type_parse(&p, t, e))
        return false;
    *s += strcspn(*s, "]") + 1;
    return true;
}

static double largest(dtype dt)
{
    switch (dt) {
    case INGOT_F16:
        return 65504.0;
    case INGOT_BF16:
        return ldexp(255.0, 120);
    case INGOT_F32:
        return (double)FLT_MAX;
    default:
        return DBL_MAX;
    }
}

/* The values that a kernel is most likely to have forgotten, in every pair of two inputs. */
static double special_value(dtype dt, int input, int64_t i)
{
    double v[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 0.0,  -0.0, largest(dt), -largest(dt),
                  1.0,         -1.0,     0.5,       -0.5, 2.5,  -3.0};
    int64_t n = (int64_t)(sizeof v / sizeof *v);

    return v[(input == 0 ? i : i / n) % n];
}

static void draw(const op_instance *c, int k, double lo, double hi, uint64_t seed)
{
    rng_key key = rng_split(rng_seed(seed), (uint64_t)k);
    dtype dt = c->in[k].dt;

    for (int64_t i = 0; i < type_count(&c->in[k]); i++) {
        double u = (double)rng_uniform(key, (uint64_t)i), v = lo + (hi - lo) * u;

        if (dt == INGOT_BOOL)
            v = u < 0.5;
        else if (dtype_is_int(dt))
            v = floor(lo + (hi - lo + 1.0) * u);
        else if (c->row->special && i < 13 * 13)
            v = special_value(dt, k, i);
        dtype_set_f64(dt, c->data[k], i, v);
        c->x[k][i] = dtype_get_f64(dt, c->data[k], i);
    }
}

static bool read_input(op_instance *c, const char **s, dtype dt, uint64_t seed, error *e)
{
    int k = c->n_in;
    type *t = &c->in[k];
    double lo = -2, hi = 2;
    char *end;

    if (k == CASE_IN || !read_type(s, dt, t, e))
        return fail(e, INGOT_E_FORMAT, "too many inputs");
    c->n_in++;
    if (t->rank < 0)
        return true;
    if (dtype_is_int(t->dt)) {
        lo = t->dt == INGOT_U8 ? 0 : -5;
        hi = 5;
    }
    if (**s == '{') {
        lo = strtod(*s + 1, &end);
        hi = strtod(end + 1, &end);
        *s = end + 1;
    }
    c->data[k] = arena_alloc(&c->mem, type_bytes(t) + 1, e);
    c->x[k] = arena_array(&c->mem, (size_t)type_count(t) + 1, sizeof(double), e);
    if (!c->data[k] || !c->x[k])
        return false;
    draw(c, k, lo, hi, seed);
    c->diff[k] = dtype_is_float(t->dt) && !((c->row->constant | c->row->param) >> k & 1u);
    return true;
}

void case_reference(const op_instance *c, double *const *x, double *const *y)
{
    ref_call r = {.op = c->op,
                  .attrs = c->attrs,
                  .n_in = c->n_in,
                  .in = c->in,
                  .out = c->out,
                  .x = x,
                  .y = y};

    c->row->ref(&r);
}

bool case_build(op_instance *c, const op_registry *ops, const op_case *row, dtype dt, uint64_t seed,
                error *e)
{
    const char *s = row->in;

    *c = (op_instance){.row = row, .op = op_find(ops, row->op, strlen(row->op))};
    if (!c->op)
        return fail(e, INGOT_E_NOT_FOUND, "op '%s' does not exist", row->op);
    if (!read_attrs(c, dt, e))
        return false;
    for (skip(&s); *s; skip(&s))
        if (!read_input(c, &s, dt, seed, e))
            return false;
    s = row->out ? row->out : "";
    for (skip(&s); *s; skip(&s)) {
        type *t = &c->out[c->n_out];

        if (c->n_out == CASE_OUT || !read_type(&s, dt, t, e))
            return fail(e, INGOT_E_FORMAT, "too many results");
        c->y[c->n_out++] = arena_array(&c->mem, (size_t)type_count(t) + 1, sizeof(double), e);
    }
    if (row->ref)
        case_reference(c, c->x, c->y);
    return true;
}

void case_free(op_instance *c)
{
    arena_free(&c->mem);
}

bool case_next_dtype(const char **s, dtype *dt)
{
    size_t n;

    skip(s);
    n = strcspn(*s, " ");
    if (n == 0)
        return false;
    if (!dtype_parse(*s, n, dt))
        abort(); /* a typing error in a row */
    *s += n;
    return true;
}
