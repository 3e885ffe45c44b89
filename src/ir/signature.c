/* SPDX-License-Identifier: Apache-2.0 */
/* Reads signatures: "softmax(x: float, axis: int) -> y". Rows of users come through here as well,
   so everything is checked. */
#include "ir/signature.h"

#include <ctype.h>
#include <string.h>

typedef struct reader {
    const char *sig;
    const char *at;
    arena *mem;
    error *e;
} reader;

static bool wrong(reader *r, const char *what)
{
    return fail(r->e, INGOT_E_ARGUMENT, "op signature \"%s\", column %d: %s", r->sig,
                (int)(r->at - r->sig) + 1, what);
}

static void skip_space(reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool take(reader *r, const char *token)
{
    size_t n = strlen(token);

    skip_space(r);
    if (strncmp(r->at, token, n) != 0)
        return false;
    r->at += n;
    return true;
}

static const char *take_word(reader *r)
{
    const char *from;
    char *word;
    size_t n = 0;

    skip_space(r);
    from = r->at;
    while (isalnum((unsigned char)from[n]) || from[n] == '_')
        n++;
    if (n == 0 || isdigit((unsigned char)from[0])) {
        wrong(r, "a name is needed here");
        return NULL;
    }
    word = arena_alloc(r->mem, n + 1, r->e);
    if (!word)
        return NULL;
    memcpy(word, from, n);
    r->at += n;
    return word;
}

static const struct {
    const char *name;
    input_class cls;
} input_classes[] = {
    {"any", IN_ANY},     {"float", IN_FLOAT},     {"integer", IN_INTEGER},
    {"index", IN_INDEX}, {"boolean", IN_BOOLEAN}, {"numeric", IN_NUMERIC},
};

static const struct {
    const char *name;
    attr_kind kind;
} attr_kinds[] = {
    {"int", ATTR_INT},   {"real", ATTR_REAL}, {"flag", ATTR_FLAG},
    {"ints", ATTR_INTS}, {"str", ATTR_STR},   {"dtype", ATTR_DTYPE},
};

static bool add_input(reader *r, op *o, const char *name, input_class cls)
{
    op_input *in = &o->in[o->n_in];

    if (o->n_in == OP_MAX_IN)
        return wrong(r, "too many inputs");
    if (o->n_attrs)
        return wrong(r, "inputs come before attributes");
    if (o->n_in && o->in[o->n_in - 1].variadic)
        return wrong(r, "only the last input may repeat");
    *in = (op_input){.name = name, .cls = cls, .optional = take(r, "?")};
    in->variadic = take(r, "...");
    o->n_in++;
    return true;
}

static bool add_attr(reader *r, op *o, const char *name, attr_kind kind)
{
    if (o->n_attrs == OP_MAX_ATTRS)
        return wrong(r, "too many attributes");
    o->attrs[o->n_attrs] = (op_attr){.name = name, .kind = kind};
    o->attr_names[o->n_attrs] = name;
    if (take(r, "=")) {
        if (!take(r, "0"))
            return wrong(r, "the only default there is is 0");
        o->attrs[o->n_attrs].optional = true;
    }
    o->n_attrs++;
    return true;
}

static bool read_parameter(reader *r, op *o)
{
    const char *name = take_word(r), *word;

    if (!name)
        return false;
    if (!take(r, ":"))
        return wrong(r, "\":\" and a class or type are needed here");
    word = take_word(r);
    if (!word)
        return false;
    for (size_t i = 0; i < sizeof input_classes / sizeof *input_classes; i++)
        if (strcmp(word, input_classes[i].name) == 0)
            return add_input(r, o, name, input_classes[i].cls);
    for (size_t i = 0; i < sizeof attr_kinds / sizeof *attr_kinds; i++)
        if (strcmp(word, attr_kinds[i].name) == 0)
            return add_attr(r, o, name, attr_kinds[i].kind);
    return wrong(r, "neither a class of inputs nor a type of attributes");
}

static bool read_results(reader *r, op *o)
{
    do {
        if (o->n_out == OP_MAX_OUT)
            return wrong(r, "too many results");
        o->out[o->n_out] = take_word(r);
        if (!o->out[o->n_out])
            return false;
        o->n_out++;
    } while (take(r, ","));
    skip_space(r);
    return *r->at ? wrong(r, "nothing may follow the results") : true;
}

bool signature_read(const op_row *row, arena *mem, op *o, error *e)
{
    reader r = {.sig = row->sig, .at = row->sig, .mem = mem, .e = e};

    if (!row->sig)
        return fail(e, INGOT_E_ARGUMENT, "op row: sig is NULL");
    *o = (op){.row = row};
    o->name = take_word(&r);
    if (!o->name)
        return false;
    if (!take(&r, "("))
        return wrong(&r, "\"(\" is needed here");
    if (!take(&r, ")")) {
        do {
            if (!read_parameter(&r, o))
                return false;
        } while (take(&r, ","));
        if (!take(&r, ")"))
            return wrong(&r, "\")\" is needed here");
    }
    if (!take(&r, "->"))
        return wrong(&r, "\"->\" and the results' names are needed here");
    return read_results(&r, o);
}
