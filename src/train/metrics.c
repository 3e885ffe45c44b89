/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and metrics, on the host: integers are counted, losses added in the order of the data. */
#include "train/model.h"

#include <inttypes.h>
#include <math.h>

/* Whether targets are one integer for each sample. */
static bool are_labels(const ingot_tensor *target)
{
    return target && target->type.rank == 1 &&
           (target->type.dt == INGOT_I32 || target->type.dt == INGOT_I64);
}

bool labels_check(ingot_model *m)
{
    const ingot_tensor *t = m->fed;
    int64_t n;

    if (!t || !m->classes || m->opt.no_label_check || !are_labels(t))
        return true;
    n = type_count(&t->type);
    for (int64_t i = 0; i < n; i++) {
        int64_t label = dtype_get_i64(t->type.dt, t->mem->data, i);

        if (label < 0 || label >= m->classes)
            return fail(&m->ctx->err, INGOT_E_ARGUMENT,
                        "label %" PRId64 " of sample %" PRId64
                        " (in the order of the epoch, from 0) is outside [0, %" PRId64 ")",
                        label, m->fed_at + i, m->classes);
    }
    m->fed = NULL;
    return true;
}

/* How many classes stand before the label: larger ones, and equal ones with a lower number. NaN
   stands before everything, so that it never counts as right. */
static int64_t rank_of(dtype dt, const void *row, int64_t classes, int64_t label)
{
    double mine = dtype_get_f64(dt, row, label);
    int64_t before = 0;

    if (isnan(mine))
        return classes;
    for (int64_t c = 0; c < classes; c++) {
        double other = dtype_get_f64(dt, row, c);

        before += c != label && (isnan(other) || other > mine || (other == mine && c < label));
    }
    return before;
}

void sums_add(sums *s, const ingot_model *m, double loss, ingot_tensor *predictions,
              ingot_tensor *target, int64_t samples)
{
    const type *p = &predictions->type;
    size_t row_bytes;

    s->loss += loss * (double)samples;
    s->samples += samples;
    if (!are_labels(target) || p->rank != 2 || p->dim[0] != target->type.dim[0] ||
        m->opt.no_label_check)
        return;
    row_bytes = (size_t)p->dim[1] * dtype_size(p->dt);
    for (int64_t i = 0; i < p->dim[0]; i++) {
        const char *row = (const char *)predictions->mem->data + (size_t)i * row_bytes;
        int64_t rank =
            rank_of(p->dt, row, p->dim[1], dtype_get_i64(target->type.dt, target->mem->data, i));

        s->labelled++;
        s->right += rank == 0;
        s->top += rank < m->opt.top_k;
    }
}

static double share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

ingot_metrics sums_metrics(const sums *s, const ingot_model *m)
{
    return (ingot_metrics){
        .loss = s->samples && m->loss ? s->loss / (double)s->samples : (double)NAN,
        .accuracy = share(s->right, s->labelled),
        .top_k = m->opt.top_k ? share(s->top, s->labelled) : (double)NAN,
        .samples = s->samples,
    };
}
