/* SPDX-License-Identifier: Apache-2.0 */
/* Text form, printing. Values are renumbered in order, so equal graphs print equal text. */
#include "ir/ir.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct printer {
    buffer *out;
    error *e;
    const allocator *alloc;
    int indent;
} printer;

static bool print_string(printer *p, const char *s)
{
    bool ok = buffer_add(p->out, "\"", 1, p->e);

    for (; ok && *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\')
            ok = buffer_printf(p->out, p->e, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            ok = buffer_printf(p->out, p->e, "\\x%02x", c);
        else
            ok = buffer_add(p->out, s, 1, p->e);
    }
    return ok && buffer_add(p->out, "\"", 1, p->e);
}

/* The shortest decimal that reads back as the same number of that type. */
static bool print_real(printer *p, double v, bool narrow)
{
    char text[40];

    if (isnan(v))
        return buffer_printf(p->out, p->e, "nan");
    if (isinf(v))
        return buffer_printf(p->out, p->e, v < 0 ? "-inf" : "inf");
    for (int digits = narrow ? 6 : 15; digits <= 17; digits++) {
        double back;

        (void)snprintf(text, sizeof text, "%.*g", digits, v);
        back = strtod(text, NULL);
        if (narrow ? (float)back == (float)v : back == v)
            break;
    }
    return buffer_printf(p->out, p->e, "%s", text);
}

static bool print_attr(printer *p, const op_attr *decl, const attr *a)
{
    bool ok = buffer_printf(p->out, p->e, "%s=", decl->name);

    switch (ok ? a->kind : ATTR_INT) {
    case ATTR_INT:
        return ok && buffer_printf(p->out, p->e, "%" PRId64, a->i);
    case ATTR_REAL:
        return print_real(p, a->f, false);
    case ATTR_FLAG:
        return buffer_printf(p->out, p->e, a->i ? "true" : "false");
    case ATTR_INTS:
        ok = buffer_add(p->out, "[", 1, p->e);
        for (int i = 0; ok && i < a->a.n; i++)
            ok = buffer_printf(p->out, p->e, "%s%" PRId64, i ? ", " : "", a->a.v[i]);
        return ok && buffer_add(p->out, "]", 1, p->e);
    case ATTR_STR:
        return print_string(p, a->s);
    case ATTR_DTYPE:
        return buffer_printf(p->out, p->e, "%s", dtype_name((dtype)a->i));
    }
    return false;
}

static bool print_element(printer *p, const type *t, const void *data, int64_t i)
{
    if (t->dt == INGOT_BOOL)
        return buffer_printf(p->out, p->e, dtype_get_i64(t->dt, data, i) ? "true" : "false");
    if (dtype_is_float(t->dt))
        return print_real(p, dtype_get_f64(t->dt, data, i), t->dt != INGOT_F64);
    return buffer_printf(p->out, p->e, "%" PRId64, dtype_get_i64(t->dt, data, i));
}

static bool print_const(printer *p, const node *n)
{
    const type *t = &n->out[0].type;
    int64_t count = type_count(t);
    bool ok = buffer_printf(p->out, p->e, "const ");

    if (t->rank == 0)
        return ok && print_element(p, t, n->data, 0);
    ok = ok && buffer_add(p->out, "[", 1, p->e);
    for (int64_t i = 0; ok && i < count; i++)
        ok = buffer_printf(p->out, p->e, i ? ", " : "") && print_element(p, t, n->data, i);
    return ok && buffer_add(p->out, "]", 1, p->e);
}

static bool print_body(printer *p, const graph *g);

static bool print_call(printer *p, const node *n, const int *number)
{
    bool ok = buffer_printf(p->out, p->e, "%s(", n->form == NODE_FUSED ? "fused" : n->op->name);

    for (int i = 0; ok && i < n->n_in; i++) {
        ok = i == 0 || buffer_add(p->out, ", ", 2, p->e);
        if (ok && n->in[i])
            ok = buffer_printf(p->out, p->e, "%%%d", number[n->in[i]->id]);
        else if (ok)
            ok = buffer_add(p->out, "_", 1, p->e);
    }
    ok = ok && buffer_add(p->out, ")", 1, p->e);
    if (ok && n->form == NODE_OP && n->op->n_attrs > 0) {
        ok = buffer_add(p->out, " {", 2, p->e);
        for (int i = 0; ok && i < n->op->n_attrs; i++)
            ok = (i == 0 || buffer_add(p->out, ", ", 2, p->e)) &&
                 print_attr(p, &n->op->attrs[i], &n->attrs[i]);
        ok = ok && buffer_add(p->out, "}", 1, p->e);
    }
    if (ok && n->form == NODE_FUSED) {
        ok = buffer_add(p->out, " ", 1, p->e) && print_body(p, n->region);
    }
    return ok;
}

static bool print_node(printer *p, const node *n, int *number, int *next)
{
    char text[TYPE_TEXT];
    bool ok = buffer_printf(p->out, p->e, "%*s", p->indent, "");

    for (int i = 0; ok && i < n->n_out; i++) {
        number[n->out[i].id] = (*next)++;
        ok = buffer_printf(p->out, p->e, "%s%%%d: %s", i ? ", " : "", number[n->out[i].id],
                           type_text(&n->out[i].type, text));
    }
    ok = ok && buffer_add(p->out, " = ", 3, p->e);
    if (!ok)
        return false;
    if (n->form == NODE_INPUT || n->form == NODE_PARAM)
        ok = buffer_printf(p->out, p->e, n->form == NODE_INPUT ? "input" : "param");
    else if (n->form == NODE_CONST)
        ok = print_const(p, n);
    else
        ok = print_call(p, n, number);
    if (ok && n->name)
        ok = buffer_add(p->out, " ", 1, p->e) && print_string(p, n->name);
    return ok && buffer_add(p->out, "\n", 1, p->e);
}

static bool print_body(printer *p, const graph *g)
{
    size_t bytes = ((size_t)g->n_values + 1) * sizeof(int);
    int *number = mem_new(p->alloc, bytes, "value numbers", p->e), next = 0;
    bool ok = number && buffer_add(p->out, "{\n", 2, p->e);

    p->indent += 2;
    for (size_t i = 0; ok && i < g->n_nodes; i++)
        ok = print_node(p, g->nodes[i], number, &next);
    ok = ok && buffer_printf(p->out, p->e, "%*sreturn", p->indent, "");
    for (size_t i = 0; ok && i < g->n_outputs; i++) {
        ok = buffer_printf(p->out, p->e, "%s%%%d", i ? ", " : " ", number[g->outputs[i]->id]);
        if (ok && g->output_names[i])
            ok = buffer_add(p->out, " ", 1, p->e) && print_string(p, g->output_names[i]);
    }
    p->indent -= 2;
    ok = ok && buffer_printf(p->out, p->e, "\n%*s}", p->indent, "");
    mem_free(p->alloc, number, bytes);
    return ok;
}

bool graph_print(const graph *g, buffer *out, error *e)
{
    printer p = {.out = out, .e = e, .alloc = g->alloc};
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old;
    bool ok;

    if (!c)
        return fail_memory(e, 0, "the C locale");
    old = uselocale(c); /* this thread alone: numbers keep their point wherever we run */
    ok = buffer_printf(out, e, "graph ") && print_string(&p, g->name) &&
         buffer_add(out, " ", 1, e) && print_body(&p, g) && buffer_add(out, "\n", 1, e);
    uselocale(old);
    freelocale(c);
    return ok;
}
