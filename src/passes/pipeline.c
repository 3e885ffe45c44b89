/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the passes. */
#include "passes/passes.h"

#include <string.h>

bool pass_prune(graph *g, const pass_options *o, error *e)
{
    (void)o;
    return graph_prune(g, e);
}

const pass_row passes[] = {
    {"expand", pass_expand, true}, {"simplify", pass_simplify, false}, {"fold", pass_fold, false},
    {"cse", pass_cse, false},      {"absorb", pass_absorb, false},     {"prune", pass_prune, true},
    {"fuse", pass_fuse, false},    {"hoist", pass_hoist, true},        {"tidy", pass_prune, true},
    {NULL, NULL, false},
};

/* The next name of a list separated by commas; false at its end. */
static bool next_name(const char **list, const char **name, size_t *len)
{
    const char *s = *list;

    while (s && *s == ',')
        s++;
    if (!s || !*s)
        return false;
    *name = s;
    *len = strcspn(s, ",");
    *list = s + *len;
    return true;
}

static bool is_off(const char *list, const char *pass)
{
    const char *name;
    size_t len;

    while (next_name(&list, &name, &len))
        if (len == strlen(pass) && memcmp(name, pass, len) == 0)
            return true;
    return false;
}

bool passes_off_check(const char *off, error *e)
{
    const char *name;
    size_t len;

    while (next_name(&off, &name, &len)) {
        bool known = false;

        for (const pass_row *p = passes; p->name; p++)
            known = known || (!p->needed && len == strlen(p->name) && !memcmp(name, p->name, len));
        if (!known)
            return fail(e, INGOT_E_ARGUMENT,
                        "passes_off: '%.*s' is no pass that may be left out; those are simplify, "
                        "fold, cse, absorb, fuse",
                        (int)(len < 64 ? len : 64), name);
    }
    return true;
}

bool passes_name_check(const char *name, error *e)
{
    if (strcmp(name, "trace") == 0)
        return true;
    for (const pass_row *p = passes; p->name; p++)
        if (strcmp(name, p->name) == 0)
            return true;
    return fail(e, INGOT_E_ARGUMENT,
                "'%.64s' is no pass; in their order they are trace (before them all), expand, "
                "simplify, fold, cse, absorb, prune, fuse, hoist, tidy",
                name);
}

bool passes_run(graph *g, const pass_options *o, error *e)
{
    if (!graph_verify(g, e) || (o->after && !o->after(o->after_user, "trace", g, e)))
        return false;
    for (const pass_row *p = passes; p->name; p++) {
        if (!p->needed && is_off(o->off, p->name))
            continue;
        if (!p->run(g, o, e) || !graph_verify(g, e)) {
            error_prefix(e, "pass '%s'", p->name);
            return false;
        }
        if (o->after && !o->after(o->after_user, p->name, g, e))
            return false;
    }
    return true;
}
