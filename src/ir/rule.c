/* SPDX-License-Identifier: Apache-2.0 */
/* What gradient rules and expansions call. */
#include "ir/op_internal.h"

#include <assert.h>

builder *rule_builder(rule *r)
{
    return r->b;
}

value *rule_in(const rule *r, int i)
{
    return i < r->n->n_in ? r->in[i] : NULL;
}

int rule_count(const rule *r)
{
    return r->n->n_in;
}

value *rule_out(const rule *r, int i)
{
    assert(r->out && i >= 0 && i < r->n->n_out);
    return r->out[i];
}

int64_t rule_int(const rule *r, const char *name)
{
    return node_attr(r->n, name)->i;
}

double rule_real(const rule *r, const char *name)
{
    return node_attr(r->n, name)->f;
}

ints rule_ints(const rule *r, const char *name)
{
    return node_attr(r->n, name)->a;
}

const char *rule_str(const rule *r, const char *name)
{
    const char *s = node_attr(r->n, name)->s;

    return s ? s : "";
}

value *grad_of(const rule *r, int i)
{
    assert(r->dout && i >= 0 && i < r->n->n_out);
    return r->dout[i];
}

bool grad_needed(const rule *r, int i)
{
    return i < r->n->n_in && r->needed[i];
}

void grad_to(rule *r, int i, value *v)
{
    assert(i >= 0 && i < r->n->n_in);
    r->result[i] = v;
}

void expand_to(rule *r, int i, value *v)
{
    assert(i >= 0 && i < r->n->n_out);
    r->result[i] = v;
}
