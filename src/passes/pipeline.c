/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the passes. */
#include "passes/passes.h"

bool pass_prune(graph *g, const pass_options *o, error *e)
{
    (void)o;
    return graph_prune(g, e);
}

const pass_row passes[] = {
    {"expand", pass_expand}, {"simplify", pass_simplify}, {"fold", pass_fold},  {"cse", pass_cse},
    {"prune", pass_prune},   {"fuse", pass_fuse},         {"tidy", pass_prune}, {NULL, NULL},
};

bool passes_run(graph *g, const pass_options *o, error *e)
{
    if (!graph_verify(g, e) || (o->after && !o->after(o->after_user, "trace", g, e)))
        return false;
    for (const pass_row *p = passes; p->name; p++) {
        if (!p->run(g, o, e) || !graph_verify(g, e)) {
            error_prefix(e, "pass '%s'", p->name);
            return false;
        }
        if (o->after && !o->after(o->after_user, p->name, g, e))
            return false;
    }
    return true;
}
