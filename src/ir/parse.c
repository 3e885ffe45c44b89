/* SPDX-License-Identifier: Apache-2.0 */
/* Text form, parsing. The text may come from anybody: every number is checked, nothing recurses
   deeper than one region, and no allocation is larger than the text that asks for it. */
#include "ir/internal.h"
#include "ir/ir.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES_OUT OP_MAX_OUT
#define MAX_CALL_IN    4096
#define MAX_TOKEN      64

typedef struct parser {
    const allocator *alloc;
    const op_registry *ops;
    const char *text, *s; /* NUL-terminated copy, current place */
    size_t len;
    error *e;
    int depth;
} parser;

/* The values of one body by their printed number. */
typedef struct names {
    value **v;
    size_t cap;
} names;

static bool parse_fail(parser *p, const char *what)
{
    int line = 1, column = 1;

    for (const char *s = p->text; s < p->s; s++) {
        column = *s == '\n' ? 1 : column + 1;
        line += *s == '\n';
    }
    return fail(p->e, INGOT_E_FORMAT, "graph text %d:%d: %s, found '%.12s'", line, column, what,
                *p->s ? p->s : "end of text");
}

static void skip_space(parser *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->s))
            p->s++;
        if (*p->s != '#')
            return;
        while (*p->s && *p->s != '\n')
            p->s++;
    }
}

static bool accept(parser *p, const char *token)
{
    size_t n = strlen(token);

    skip_space(p);
    if (strncmp(p->s, token, n) != 0)
        return false;
    /* a word must end where the token ends */
    if (isalpha((unsigned char)token[0]) && (isalnum((unsigned char)p->s[n]) || p->s[n] == '_'))
        return false;
    p->s += n;
    return true;
}

static bool expect(parser *p, const char *token)
{
    char what[MAX_TOKEN];

    if (accept(p, token))
        return true;
    (void)snprintf(what, sizeof what, "expected '%s'", token);
    return parse_fail(p, what);
}

static bool parse_word(parser *p, const char **word, size_t *n)
{
    skip_space(p);
    *word = p->s;
    while (isalnum((unsigned char)*p->s) || *p->s == '_')
        p->s++;
    *n = (size_t)(p->s - *word);
    return *n > 0 || parse_fail(p, "expected a name");
}

static bool parse_int(parser *p, int64_t *out)
{
    char *end;

    skip_space(p);
    errno = 0;
    *out = strtoll(p->s, &end, 10);
    if (end == p->s || errno == ERANGE)
        return parse_fail(p, "expected an integer of 64 bits");
    p->s = end;
    return true;
}

static bool parse_real(parser *p, double *out)
{
    char *end;

    skip_space(p);
    *out = strtod(p->s, &end);
    if (end == p->s)
        return parse_fail(p, "expected a number");
    p->s = end;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* One escape after the backslash; moves past it. */
static int parse_escape(parser *p)
{
    int hi, lo;

    if (*p->s == '"' || *p->s == '\\')
        return (unsigned char)*p->s++;
    if (*p->s != 'x' || (hi = hex_digit(p->s[1])) < 0 || (lo = hex_digit(p->s[2])) < 0)
        return -1;
    p->s += 3;
    return hi * 16 + lo;
}

/* The string's bytes, appended to b. */
static bool parse_string(parser *p, buffer *b)
{
    if (!expect(p, "\""))
        return false;
    while (*p->s != '"') {
        int c = (unsigned char)*p->s;

        if (c == 0 || c == '\n')
            return parse_fail(p, "string without its end");
        p->s++;
        if (c == '\\' && (c = parse_escape(p)) <= 0)
            return parse_fail(p, "unknown escape in a string");
        char byte = (char)c;
        if (!buffer_add(b, &byte, 1, p->e))
            return false;
    }
    p->s++;
    return true;
}

/* An optional string; *out is NULL or b's text. */
static bool parse_name(parser *p, buffer *b, const char **out)
{
    *out = NULL;
    skip_space(p);
    if (*p->s != '"')
        return true;
    if (!parse_string(p, b))
        return false;
    *out = b->data ? b->data : "";
    return true;
}

static bool parse_type(parser *p, type *t)
{
    skip_space(p);
    error inner = {0};
    if (type_parse(&p->s, t, &inner))
        return true;
    return parse_fail(p, inner.text);
}

static bool names_set(parser *p, names *n, int64_t number, value *v)
{
    /* numbers are dense when printed; the text's length bounds what it can ask for */
    if (number < 0 || (size_t)number > p->len)
        return parse_fail(p, "value number out of range");
    size_t before = n->cap;

    if (!vec_reserve(p->alloc, (void **)&n->v, sizeof *n->v, (size_t)number + 1, &n->cap,
                     "value names", p->e))
        return false;
    if (n->cap > before)
        memset(n->v + before, 0, (n->cap - before) * sizeof *n->v);
    if (n->v[number])
        return parse_fail(p, "value defined twice");
    n->v[number] = v;
    return true;
}

static bool parse_use(parser *p, const names *n, value **out)
{
    int64_t number;

    if (!expect(p, "%") || !parse_int(p, &number))
        return false;
    if (number < 0 || (size_t)number >= n->cap || !n->v[number])
        return parse_fail(p, "value used before it is defined");
    *out = n->v[number];
    return true;
}

static bool parse_ints(parser *p, arena *mem, ints *out)
{
    size_t n = 0;
    int64_t *v = NULL;
    const char *start;

    *out = NO_INTS;
    if (!expect(p, "["))
        return false;
    start = p->s;
    for (size_t i = 0; start[i] && start[i] != ']'; i++)
        n += start[i] == ',';
    if (accept(p, "]"))
        return true;
    if (n >= 1u << 20)
        return parse_fail(p, "list of integers too long");
    v = arena_array(mem, n + 1, sizeof *v, p->e);
    if (!v)
        return false;
    for (size_t i = 0; i <= n; i++)
        if ((i > 0 && !expect(p, ",")) || !parse_int(p, &v[i]))
            return false;
    *out = (ints){v, (int)n + 1};
    return expect(p, "]");
}

static bool parse_flag(parser *p, int64_t *out)
{
    if (accept(p, "true"))
        *out = 1;
    else if (accept(p, "false"))
        *out = 0;
    else
        return parse_fail(p, "expected true or false");
    return true;
}

static bool parse_attr_value(parser *p, arena *mem, attr *a)
{
    const char *word;
    size_t n;
    dtype dt;

    switch (a->kind) {
    case ATTR_INT:
        return parse_int(p, &a->i);
    case ATTR_REAL:
        return parse_real(p, &a->f);
    case ATTR_FLAG:
        return parse_flag(p, &a->i);
    case ATTR_INTS:
        return parse_ints(p, mem, &a->a);
    case ATTR_STR: {
        buffer b;
        bool ok;

        buffer_init(&b, p->alloc, 0);
        ok = parse_string(p, &b);
        a->s = ok ? arena_strdup(mem, b.data ? b.data : "", p->e) : NULL;
        buffer_free(&b);
        return a->s != NULL;
    }
    case ATTR_DTYPE:
        if (!parse_word(p, &word, &n))
            return false;
        if (!dtype_parse(word, n, &dt))
            return parse_fail(p, "unknown dtype");
        a->i = (int64_t)dt;
        return true;
    }
    return false;
}

/* "{name=value, ...}": each attribute of the signature at most once; those left out need a
   default. */
static bool parse_attrs(parser *p, const op *o, arena *mem, attr *attrs)
{
    unsigned seen = 0;

    for (int i = 0; i < o->n_attrs; i++) {
        attrs[i] = (attr){.kind = o->attrs[i].kind};
        if (attrs[i].kind == ATTR_STR)
            attrs[i].s = "";
    }
    if (accept(p, "{") && !accept(p, "}")) {
        do {
            const char *word;
            size_t n;
            int k = 0;

            if (!parse_word(p, &word, &n))
                return false;
            while (k < o->n_attrs &&
                   (strncmp(o->attrs[k].name, word, n) != 0 || o->attrs[k].name[n]))
                k++;
            if (k == o->n_attrs || (seen >> k & 1u))
                return parse_fail(p, "attribute unknown to the op, or given twice");
            seen |= 1u << k;
            if (!expect(p, "=") || !parse_attr_value(p, mem, &attrs[k]))
                return false;
        } while (accept(p, ","));
        if (!expect(p, "}"))
            return false;
    }
    for (int k = 0; k < o->n_attrs; k++)
        if (!o->attrs[k].optional && !(seen >> k & 1u))
            return parse_fail(p, "a required attribute is missing");
    return true;
}

static bool parse_element(parser *p, dtype dt, void *data, int64_t i)
{
    int64_t v = 0;
    double f = 0.0;

    if (dt == INGOT_BOOL) {
        if (!parse_flag(p, &v))
            return false;
        dtype_set_i64(dt, data, i, v);
    } else if (dtype_is_float(dt)) {
        if (!parse_real(p, &f))
            return false;
        dtype_set_f64(dt, data, i, f);
    } else {
        if (!parse_int(p, &v))
            return false;
        dtype_set_i64(dt, data, i, v);
        if (dtype_get_i64(dt, data, i) != v)
            return parse_fail(p, "constant does not fit its dtype");
    }
    return true;
}

static value *parse_const(parser *p, builder *b, const type *t)
{
    int64_t count = type_count(t);
    value *v = NULL;
    void *data;
    bool ok = true;

    if (type_symbolic(t) || count < 0 || (uint64_t)count > p->len) {
        parse_fail(p, "constant with more elements than the text holds");
        return NULL;
    }
    data = mem_new(p->alloc, type_bytes(t) + 8, "constant", p->e);
    if (!data)
        return NULL;
    if (t->rank == 0) {
        ok = parse_element(p, t->dt, data, 0);
    } else {
        ok = expect(p, "[");
        for (int64_t i = 0; ok && i < count; i++)
            ok = (i == 0 || expect(p, ",")) && parse_element(p, t->dt, data, i);
        ok = ok && expect(p, "]");
    }
    if (ok)
        v = ir_const(b, t, data);
    mem_free(p->alloc, data, type_bytes(t) + 8);
    return v;
}

static bool parse_body(parser *p, graph *g);

static value *parse_fused(parser *p, builder *b, value **in, int n_in)
{
    graph *region;
    value *v = NULL;

    if (p->depth > 0) {
        parse_fail(p, "a fused region inside a fused region");
        return NULL;
    }
    region = graph_new(p->alloc, p->ops, "fused", p->e);
    if (!region)
        return NULL;
    p->depth++;
    if (parse_body(p, region)) {
        if ((size_t)n_in != region->n_inputs || region->n_outputs == 0 ||
            region->n_outputs > MAX_VALUES_OUT * 4)
            parse_fail(p, "fused region whose inputs or results do not fit its call");
        else
            v = ir_fused(b, region, in, n_in, NULL);
    }
    p->depth--;
    if (!v)
        graph_free(region);
    return v;
}

static value *parse_call(parser *p, builder *b, const char *word, size_t n, const names *names_)
{
    bool fused = n == 5 && strncmp(word, "fused", n) == 0;
    const op *o = fused ? NULL : op_find(p->ops, word, n);
    size_t n_in = 0, cap = 0;
    value **in = NULL, *v = NULL;
    attr attrs[OP_MAX_ATTRS];
    bool ok = true;

    if (!fused && !o) {
        const char *near = op_nearest(p->ops, word, n);
        char what[160];

        (void)snprintf(what, sizeof what, "unknown op '%.*s'%s%s%s", (int)(n < 60 ? n : 60), word,
                       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        parse_fail(p, what);
        return NULL;
    }
    ok = expect(p, "(");
    if (ok && !accept(p, ")")) {
        do {
            if (n_in >= MAX_CALL_IN)
                ok = parse_fail(p, "too many inputs");
            ok = ok &&
                 vec_reserve(p->alloc, (void **)&in, sizeof *in, n_in + 1, &cap, "inputs", p->e);
            if (ok && accept(p, "_"))
                in[n_in++] = NULL;
            else if (ok)
                ok = parse_use(p, names_, &in[n_in++]);
        } while (ok && accept(p, ","));
        ok = ok && expect(p, ")");
    }
    if (ok && fused)
        v = parse_fused(p, b, in, (int)n_in);
    else if (ok && parse_attrs(p, o, &b->g->mem, attrs))
        v = ir_emit_op(b, o, in, (int)n_in, attrs, o->n_attrs, NULL);
    mem_free(p->alloc, in, cap * sizeof *in);
    return v;
}

/* The right side of a definition; t is the type that the text states for its first result. */
static value *parse_right(parser *p, builder *b, const type *t, const names *names_, buffer *name)
{
    const char *word, *label = NULL;
    size_t n;
    value *v;
    node_form form = NODE_OP;

    if (!parse_word(p, &word, &n))
        return NULL;
    if (n == 5 && strncmp(word, "input", n) == 0)
        form = NODE_INPUT;
    else if (n == 5 && strncmp(word, "param", n) == 0)
        form = NODE_PARAM;
    else if (n == 5 && strncmp(word, "const", n) == 0)
        form = NODE_CONST;
    if (form == NODE_INPUT || form == NODE_PARAM) {
        if (!parse_name(p, name, &label))
            return NULL;
        return form == NODE_INPUT ? ir_input(b, label, t) : ir_param(b, label, t);
    }
    v = form == NODE_CONST ? parse_const(p, b, t) : parse_call(p, b, word, n, names_);
    if (!v || !parse_name(p, name, &label))
        return NULL;
    if (label) {
        v->def->name = arena_strdup(&b->g->mem, label, p->e);
        if (!v->def->name)
            return NULL;
    }
    return v;
}

static bool parse_definition(parser *p, builder *b, names *names_)
{
    int64_t number[MAX_VALUES_OUT * 4];
    type types[MAX_VALUES_OUT * 4];
    int n = 0;
    value *v;
    buffer name;

    do {
        if (n == MAX_VALUES_OUT * 4)
            return parse_fail(p, "too many results");
        if (!expect(p, "%") || !parse_int(p, &number[n]) || !expect(p, ":") ||
            !parse_type(p, &types[n]))
            return false;
        n++;
    } while (accept(p, ","));
    if (!expect(p, "="))
        return false;
    buffer_init(&name, p->alloc, 0);
    v = parse_right(p, b, &types[0], names_, &name);
    buffer_free(&name);
    if (!v)
        return p->e->code != INGOT_OK ? false : parse_fail(p, "malformed definition");
    if (v->def->n_out != n)
        return parse_fail(p, "number of results differs from the op's");
    for (int i = 0; i < n; i++) {
        if (!type_equal(&v->def->out[i].type, &types[i]))
            return parse_fail(p, "stated type differs from the inferred one");
        if (!names_set(p, names_, number[i], &v->def->out[i]))
            return false;
    }
    return true;
}

static bool parse_return(parser *p, graph *g, const names *names_)
{
    skip_space(p);
    if (*p->s == '}')
        return true;
    do {
        value *v;
        const char *label;
        buffer name;
        bool ok;

        buffer_init(&name, p->alloc, 0);
        ok = parse_use(p, names_, &v) && parse_name(p, &name, &label) &&
             graph_output(g, v, label, p->e);
        buffer_free(&name);
        if (!ok)
            return false;
    } while (accept(p, ","));
    return true;
}

static bool parse_body(parser *p, graph *g)
{
    names names_ = {0};
    builder b = {.g = g, .err = p->e};
    bool ok = expect(p, "{");

    while (ok && !accept(p, "return"))
        ok = parse_definition(p, &b, &names_);
    ok = ok && parse_return(p, g, &names_) && expect(p, "}");
    mem_free(p->alloc, names_.v, names_.cap * sizeof *names_.v);
    return ok;
}

static graph *parse_graph(parser *p)
{
    graph *g = NULL;
    buffer name;
    bool ok;

    buffer_init(&name, p->alloc, 0);
    ok = expect(p, "graph") && parse_string(p, &name);
    if (ok)
        g = graph_new(p->alloc, p->ops, name.data ? name.data : "", p->e);
    buffer_free(&name);
    ok = g && parse_body(p, g);
    skip_space(p);
    if (ok && *p->s)
        ok = parse_fail(p, "text after the graph's end");
    if (!ok) {
        graph_free(g);
        return NULL;
    }
    return g;
}

graph *graph_parse(const allocator *a, const op_registry *ops, const char *text, size_t n, error *e)
{
    error none = {0};
    parser p = {.alloc = a, .ops = ops, .len = n, .e = e ? e : &none};
    locale_t c, old;
    graph *g = NULL;
    char *copy;

    if (memchr(text, 0, n)) {
        fail(e, INGOT_E_FORMAT, "graph text: contains a NUL byte");
        return NULL;
    }
    copy = mem_new(a, n + 1, "graph text", e);
    if (!copy)
        return NULL;
    memcpy(copy, text, n);
    p.text = p.s = copy;
    c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c) {
        old = uselocale(c); /* this thread alone: "0.5" reads the same everywhere */
        g = parse_graph(&p);
        uselocale(old);
        freelocale(c);
    } else {
        fail_memory(e, 0, "the C locale");
    }
    mem_free(a, copy, n + 1);
    return g;
}
