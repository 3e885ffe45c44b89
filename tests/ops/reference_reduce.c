/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, normalisations, losses. */
#include "ops/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reductions --------------------------------------------------------------------------------
 */

static unsigned axes_mask(const ref_call *c)
{
    ints axes = ref_ints(c, "axes");
    unsigned mask = axes.n ? 0 : ~0u;

    for (int i = 0; i < axes.n; i++)
        mask |= 1u << (axes.v[i] < 0 ? axes.v[i] + c->in[0].rank : axes.v[i]);
    return mask;
}

/* Where element i of the input goes when the axes in mask are left out. */
static int64_t reduced(const type *x, int64_t i, unsigned mask)
{
    int64_t at[MAX_RANK], to = 0;

    ref_unflat(x, i, at);
    for (int d = 0; d < x->rank; d++)
        if (!(mask >> d & 1))
            to = to * x->dim[d] + at[d];
    return to;
}

static void reduce(const ref_call *c, double start, double (*f)(double acc, double x))
{
    unsigned mask = axes_mask(c);

    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = start;
    for (int64_t i = 0; i < type_count(&c->in[0]); i++) {
        double *y = &c->y[0][reduced(&c->in[0], i, mask)];

        *y = f(*y, c->x[0][i]);
    }
    if (dtype_is_int(c->out[0].dt))
        for (int64_t i = 0; i < type_count(&c->out[0]); i++)
            c->y[0][i] = ref_wrap(c->out[0].dt, (int64_t)c->y[0][i]);
}

#define REDUCE(name, start, expr)                \
    static double f_##name(double acc, double x) \
    {                                            \
        return expr;                             \
    }                                            \
    void ref_##name(const ref_call *c)           \
    {                                            \
        reduce(c, start, f_##name);              \
    }

REDUCE(sum, 0.0, acc + x)
REDUCE(prod, 1.0, acc *x)
REDUCE(max, -HUGE_VAL, acc != acc || acc > x ? acc : x)
REDUCE(min, HUGE_VAL, acc != acc || acc < x ? acc : x)
REDUCE(any, 0.0, acc != 0 || x != 0)
REDUCE(all, 1.0, acc != 0 && x != 0)

void ref_mean(const ref_call *c)
{
    int64_t n = type_count(&c->out[0]);

    ref_sum(c);
    for (int64_t i = 0; i < n; i++)
        c->y[0][i] /= (double)type_count(&c->in[0]) / (double)n;
}

/* Calls f for each line along axis: first element's index, distance, length, number of the line. */
static void each_line(const type *x, int axis,
                      void (*f)(const ref_call *, int64_t, int64_t, int64_t, int64_t),
                      const ref_call *c)
{
    int64_t inner = 1, n = x->dim[axis], outer = 1;

    for (int d = 0; d < x->rank; d++) {
        outer *= d < axis ? x->dim[d] : 1;
        inner *= d > axis ? x->dim[d] : 1;
    }
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++)
            f(c, o * n * inner + i, inner, n, o * inner + i);
}

static void arg_line(const ref_call *c, int64_t at, int64_t step, int64_t n, int64_t line, double s)
{
    const double *x = c->x[0];
    int64_t best = 0;

    for (int64_t i = 1; i < n; i++) {
        double v = x[at + i * step], b = x[at + best * step];

        if ((v != v && b == b) || s * v > s * b)
            best = i;
    }
    c->y[0][line] = (double)best;
}

static void argmax_line(const ref_call *c, int64_t at, int64_t step, int64_t n, int64_t line)
{
    arg_line(c, at, step, n, line, 1.0);
}

static void argmin_line(const ref_call *c, int64_t at, int64_t step, int64_t n, int64_t line)
{
    arg_line(c, at, step, n, line, -1.0);
}

void ref_argmax(const ref_call *c)
{
    each_line(&c->in[0], ref_axis(c, "axis", c->in[0].rank), argmax_line, c);
}

void ref_argmin(const ref_call *c)
{
    each_line(&c->in[0], ref_axis(c, "axis", c->in[0].rank), argmin_line, c);
}

/* --- normalisations ----------------------------------------------------------------------------
 */

static double log_sum(const double *x, int64_t step, int64_t n)
{
    double top = -HUGE_VAL, sum = 0;

    for (int64_t i = 0; i < n; i++)
        top = x[i * step] > top ? x[i * step] : top;
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i * step] - top);
    return top + log(sum);
}

static void log_softmax_line(const ref_call *c, int64_t at, int64_t step, int64_t n, int64_t line)
{
    double lse = log_sum(c->x[0] + at, step, n);

    (void)line;
    for (int64_t i = 0; i < n; i++)
        c->y[0][at + i * step] = c->x[0][at + i * step] - lse;
}

void ref_log_softmax(const ref_call *c)
{
    each_line(&c->in[0], ref_axis(c, "axis", c->in[0].rank), log_softmax_line, c);
}

void ref_softmax(const ref_call *c)
{
    ref_log_softmax(c);
    for (int64_t i = 0; i < type_count(&c->in[0]); i++)
        c->y[0][i] = exp(c->y[0][i]);
}

static void moments(const double *x, int64_t n, int64_t step, double *mean, double *var)
{
    *mean = *var = 0;
    for (int64_t i = 0; i < n; i++)
        *mean += x[i * step] / (double)n;
    for (int64_t i = 0; i < n; i++)
        *var += (x[i * step] - *mean) * (x[i * step] - *mean) / (double)n;
}

void ref_layer_norm(const ref_call *c)
{
    const type *x = &c->in[0];
    int axis = ref_axis(c, "axis", x->rank);
    int64_t n = 1, outer = type_count(&c->out[1]);

    for (int d = axis; d < x->rank; d++)
        n *= x->dim[d];
    for (int64_t o = 0; o < outer; o++) {
        double mean, var;

        moments(c->x[0] + o * n, n, 1, &mean, &var);
        c->y[1][o] = mean;
        c->y[2][o] = 1.0 / sqrt(var + ref_real(c, "eps"));
        for (int64_t i = 0; i < n; i++)
            c->y[0][o * n + i] =
                (c->x[0][o * n + i] - mean) * c->y[2][o] * (c->x[1] ? c->x[1][i] : 1.0) +
                (c->x[2] ? c->x[2][i] : 0.0);
    }
}

static int64_t channel_of(const type *x, int64_t i)
{
    int64_t at[MAX_RANK];

    ref_unflat(x, i, at);
    return at[1];
}

static void channel_moments(const ref_call *c, double *mean, double *var)
{
    const type *x = &c->in[0];
    double n = (double)type_count(x) / (double)x->dim[1];

    for (int64_t k = 0; k < x->dim[1]; k++)
        mean[k] = var[k] = n > 0 ? 0.0 : (double)NAN;
    for (int64_t i = 0; i < type_count(x); i++)
        mean[channel_of(x, i)] += c->x[0][i] / n;
    for (int64_t i = 0; i < type_count(x); i++) {
        double off = c->x[0][i] - mean[channel_of(x, i)];

        var[channel_of(x, i)] += off * off / n;
    }
}

void ref_batch_norm_stats(const ref_call *c)
{
    channel_moments(c, c->y[0], c->y[1]);
}

static void normalise(const ref_call *c, const double *mean, const double *var)
{
    for (int64_t i = 0; i < type_count(&c->in[0]); i++) {
        int64_t k = channel_of(&c->in[0], i);

        c->y[0][i] =
            (c->x[0][i] - mean[k]) / sqrt(var[k] + ref_real(c, "eps")) * c->x[1][k] + c->x[2][k];
    }
}

void ref_batch_norm(const ref_call *c)
{
    channel_moments(c, c->y[1], c->y[2]);
    normalise(c, c->y[1], c->y[2]);
}

void ref_batch_norm_inference(const ref_call *c)
{
    normalise(c, c->x[3], c->x[4]);
}

/* --- losses ------------------------------------------------------------------------------------
 */

/* Hands in the loss of sample i. */
static void loss_add(const ref_call *c, int64_t i, int64_t n, double loss)
{
    const char *reduction = ref_str(c, "reduction");

    if (i == 0)
        c->y[0][0] = 0;
    if (strcmp(reduction, "none") == 0)
        c->y[0][i] = loss;
    else
        c->y[0][0] += strcmp(reduction, "sum") == 0 ? loss : loss / (double)n;
}

/* Loss of each position of [N, C, ..] but for C. */
static void classes(const ref_call *c, bool dense)
{
    const type *x = &c->in[0];
    int64_t inner = 1, m = x->dim[1], n;

    for (int d = 2; d < x->rank; d++)
        inner *= x->dim[d];
    n = x->dim[0] * inner;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i / inner * m * inner + i % inner;
        double lse = log_sum(c->x[0] + at, inner, m), loss = 0;

        for (int64_t k = 0; k < m; k++) {
            double weight = dense ? c->x[1][at + k * inner] : c->x[1][i] == (double)k;

            loss -= weight * (c->x[0][at + k * inner] - lse);
        }
        loss_add(c, i, n, loss);
    }
}

void ref_cross_entropy(const ref_call *c)
{
    classes(c, false);
}

void ref_cross_entropy_dense(const ref_call *c)
{
    classes(c, true);
}

static void pairs(const ref_call *c, double (*f)(double x, double y))
{
    int64_t n = type_count(&c->in[0]);

    for (int64_t i = 0; i < n; i++)
        loss_add(c, i, n, f(c->x[0][i], c->x[1][i]));
}

#define LOSS(name, expr)                       \
    static double f_##name(double x, double y) \
    {                                          \
        return expr;                           \
    }                                          \
    void ref_##name(const ref_call *c)         \
    {                                          \
        pairs(c, f_##name);                    \
    }

LOSS(mse_loss, (x - y) * (x - y))
LOSS(l1_loss, fabs(x - y))
LOSS(bce_with_logits, -y *log(1 / (1 + exp(-x))) - (1 - y) * log(1 - 1 / (1 + exp(-x))))
