/* SPDX-License-Identifier: Apache-2.0 */
/* Movement, making, indices, random numbers. */
#include "ops/reference.h"

#include "base/random.h"

#include <string.h>

void ref_same_elements(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = c->x[0][i];
}

/* Position in the input for a position in the output; false: the fill value is there. */
typedef bool (*source_fn)(const ref_call *c, const int64_t *at, int64_t *from);

static void move(const ref_call *c, source_fn source, double fill)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        int64_t at[MAX_RANK], from[MAX_RANK];

        ref_unflat(&c->out[0], i, at);
        c->y[0][i] = source(c, at, from) ? c->x[0][ref_flat(&c->in[0], from)] : fill;
    }
}

static bool transposed(const ref_call *c, const int64_t *at, int64_t *from)
{
    ints perm = ref_ints(c, "perm");
    int rank = c->in[0].rank;

    for (int d = 0; d < rank; d++)
        from[perm.n ? perm.v[d] : rank - 1 - d] = at[d];
    return true;
}

void ref_transpose(const ref_call *c)
{
    move(c, transposed, 0);
}

static bool sliced(const ref_call *c, const int64_t *at, int64_t *from)
{
    ints starts = ref_ints(c, "starts"), steps = ref_ints(c, "steps");

    for (int d = 0; d < c->in[0].rank; d++)
        from[d] = starts.v[d] + at[d] * (steps.n ? steps.v[d] : 1);
    return true;
}

void ref_slice(const ref_call *c)
{
    move(c, sliced, 0);
}

void ref_slice_backward(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = 0;
    for (int64_t i = 0; i < type_count(&c->in[0]); i++) {
        int64_t at[MAX_RANK], to[MAX_RANK];

        ref_unflat(&c->in[0], i, at);
        sliced(c, at, to);
        c->y[0][ref_flat(&c->out[0], to)] += c->x[0][i];
    }
}

static bool padded(const ref_call *c, const int64_t *at, int64_t *from)
{
    ints pads = ref_ints(c, "pads");

    for (int d = 0; d < c->in[0].rank; d++) {
        from[d] = at[d] - pads.v[d];
        if (from[d] < 0 || from[d] >= c->in[0].dim[d])
            return false;
    }
    return true;
}

void ref_pad(const ref_call *c)
{
    move(c, padded, ref_real(c, "value"));
}

static bool tiled(const ref_call *c, const int64_t *at, int64_t *from)
{
    for (int d = 0; d < c->in[0].rank; d++)
        from[d] = at[d] % c->in[0].dim[d];
    return true;
}

void ref_tile(const ref_call *c)
{
    move(c, tiled, 0);
}

static bool repeated(const ref_call *c, const int64_t *at, int64_t *from)
{
    const type *x = &c->in[0];

    for (int d = 0; d < x->rank; d++)
        from[d] = x->dim[d] == 1 ? 0 : at[c->out[0].rank - x->rank + d];
    return true;
}

void ref_broadcast_to(const ref_call *c)
{
    move(c, repeated, 0);
}

void ref_concat(const ref_call *c)
{
    int axis = ref_axis(c, "axis", c->in[0].rank);
    int64_t before = 0;

    for (int k = 0; k < c->n_in; before += c->in[k++].dim[axis])
        for (int64_t i = 0; i < type_count(&c->in[k]); i++) {
            int64_t at[MAX_RANK];

            ref_unflat(&c->in[k], i, at);
            at[axis] += before;
            c->y[0][ref_flat(&c->out[0], at)] = c->x[k][i];
        }
}

void ref_full(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = ref_real(c, "value");
}

void ref_iota(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        int64_t at[MAX_RANK];

        ref_unflat(&c->out[0], i, at);
        c->y[0][i] = (double)at[ref_axis(c, "axis", c->out[0].rank)];
    }
}

/* --- indices -----------------------------------------------------------------------------------
 */

/* The position in x of position at of gather's result (or index_add's updates); false: outside.
   axis < 0 = the op has none and means 0. */
static bool taken(const ref_call *c, int axis, const int64_t *at, int64_t *from)
{
    const type *x = &c->in[0], *ix = &c->in[1];
    double index = c->x[1][ref_flat(ix, at + axis)];

    for (int d = 0; d < axis; d++)
        from[d] = at[d];
    for (int d = axis + 1; d < x->rank; d++)
        from[d] = at[ix->rank - 1 + d];
    from[axis] = (int64_t)index;
    return index >= 0 && index < (double)x->dim[axis];
}

/* embedding too, which has no axis. */
void ref_gather(const ref_call *c)
{
    int axis = c->op->n_attrs ? ref_axis(c, "axis", c->in[0].rank) : 0;

    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        int64_t at[MAX_RANK], from[MAX_RANK];

        ref_unflat(&c->out[0], i, at);
        c->y[0][i] = taken(c, axis, at, from) ? c->x[0][ref_flat(&c->in[0], from)] : 0.0;
    }
}

void ref_index_add(const ref_call *c)
{
    ref_same_elements(c);
    for (int64_t i = 0; i < type_count(&c->in[2]); i++) {
        int64_t at[MAX_RANK], to[MAX_RANK];

        ref_unflat(&c->in[2], i, at);
        if (taken(c, ref_axis(c, "axis", c->in[0].rank), at, to))
            c->y[0][ref_flat(&c->out[0], to)] += c->x[2][i];
    }
}

static bool element(const ref_call *c, int64_t i, int64_t *from)
{
    int axis = ref_axis(c, "axis", c->in[0].rank);
    int64_t at[MAX_RANK];

    ref_unflat(&c->in[1], i, at);
    at[axis] = (int64_t)c->x[1][i];
    *from = ref_flat(&c->in[0], at);
    return at[axis] >= 0 && at[axis] < c->in[0].dim[axis];
}

void ref_gather_elements(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        int64_t from;

        c->y[0][i] = element(c, i, &from) ? c->x[0][from] : 0.0;
    }
}

void ref_scatter_add_elements(const ref_call *c)
{
    ref_same_elements(c);
    for (int64_t i = 0; i < type_count(&c->in[1]); i++) {
        int64_t to;

        if (element(c, i, &to))
            c->y[0][to] += c->x[2][i];
    }
}

void ref_one_hot(const ref_call *c)
{
    int64_t depth = ref_int(c, "depth");

    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = c->x[0][i / depth] == (double)(i % depth);
}

/* --- random numbers ----------------------------------------------------------------------------
 */

static rng_key key_of(const double *x)
{
    return (rng_key){(uint64_t)x[0], (uint64_t)x[1]};
}

void ref_random_split(const ref_call *c)
{
    rng_key k = rng_split(key_of(c->x[0]), (uint64_t)ref_int(c, "stream"));

    c->y[0][0] = (double)(int64_t)k.key;
    c->y[0][1] = (double)(int64_t)k.salt;
}

void ref_random_uniform(const ref_call *c)
{
    double low = ref_real(c, "low"), high = ref_real(c, "high");

    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = low + (high - low) * (double)rng_uniform(key_of(c->x[0]), (uint64_t)i);
}

void ref_random_normal(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] =
            ref_real(c, "mean") + ref_real(c, "std") * rng_normal(key_of(c->x[0]), (uint64_t)i);
}

void ref_random_bernoulli(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = (double)rng_uniform(key_of(c->x[0]), (uint64_t)i) < ref_real(c, "p");
}

void ref_dropout(const ref_call *c)
{
    double keep = 1.0 - ref_real(c, "p");

    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        bool kept = (double)rng_uniform(key_of(c->x[1]), (uint64_t)i) < keep;

        c->y[0][i] = kept ? c->x[0][i] / keep : 0.0;
    }
}
