/* SPDX-License-Identifier: Apache-2.0 */
/* Products, convolution, pooling. */
#include "ops/reference.h"

#include <math.h>
#include <string.h>

/* --- matmul ------------------------------------------------------------------------------------
 */

static double entry(const ref_call *c, int k, const int64_t *at, int64_t row, int64_t col,
                    bool trans)
{
    const type *t = &c->in[k];
    int batch = t->rank - 2, out_batch = c->out[0].rank - 2;
    int64_t from[MAX_RANK];

    for (int d = 0; d < batch; d++)
        from[d] = t->dim[d] == 1 ? 0 : at[out_batch - batch + d];
    from[batch] = trans ? col : row;
    from[batch + 1] = trans ? row : col;
    return c->x[k][ref_flat(t, from)];
}

void ref_matmul(const ref_call *c)
{
    bool tx = ref_int(c, "trans_x") != 0, ty = ref_int(c, "trans_y") != 0;
    const type *x = &c->in[0], *z = &c->out[0];
    int64_t k = x->dim[x->rank - (tx ? 2 : 1)];

    for (int64_t i = 0; i < type_count(z); i++) {
        int64_t at[MAX_RANK];

        ref_unflat(z, i, at);
        c->y[0][i] = 0;
        for (int64_t p = 0; p < k; p++)
            c->y[0][i] +=
                entry(c, 0, at, at[z->rank - 2], p, tx) * entry(c, 1, at, p, at[z->rank - 1], ty);
    }
}

void ref_linear(const ref_call *c)
{
    int64_t n = c->in[1].dim[0], k = c->in[1].dim[1];

    for (int64_t i = 0; i < type_count(&c->out[0]); i++) {
        c->y[0][i] = c->x[2] ? c->x[2][i % n] : 0.0;
        for (int64_t p = 0; p < k; p++)
            c->y[0][i] += c->x[0][i / n * k + p] * c->x[1][i % n * k + p];
    }
}

/* --- windows -----------------------------------------------------------------------------------
 */

typedef struct window {
    int64_t kernel[2], stride[2], dilation[2], before[2];
} window;

static bool has_attr(const ref_call *c, const char *name)
{
    for (int i = 0; i < c->op->n_attrs; i++)
        if (strcmp(c->op->attr_names[i], name) == 0)
            return true;
    return false;
}

static int64_t pick(ints a, int i, int64_t otherwise)
{
    int64_t v = a.n == 0 ? 0 : a.v[a.n == 1 ? 0 : i];

    return v ? v : otherwise;
}

/* kernel is set already; pool: stride defaults to it. */
static void read_window(const ref_call *c, window *w, bool pool)
{
    for (int i = 0; i < 2; i++) {
        ints padding = ref_ints(c, "padding");

        w->stride[i] = pick(ref_ints(c, "stride"), i, pool ? w->kernel[i] : 1);
        w->dilation[i] = has_attr(c, "dilation") ? pick(ref_ints(c, "dilation"), i, 1) : 1;
        w->before[i] = pick(padding, i, 0);
    }
}

typedef struct term {
    int64_t y, x, w; /* flat positions */
} term;

/* Calls f for every product x * w that goes into an element of y. */
static void each_product(const ref_call *c, const type *x, const type *w, const type *y,
                         void (*f)(const ref_call *c, term t))
{
    window v = {.kernel = {w->dim[2], w->dim[3]}};
    int64_t groups = ref_int(c, "groups") ? ref_int(c, "groups") : 1;

    read_window(c, &v, false);
    for (int64_t i = 0; i < type_count(y); i++)
        for (int64_t k = 0; k < w->dim[1] * w->dim[2] * w->dim[3]; k++) {
            int64_t at[MAX_RANK], in[MAX_RANK], weight[MAX_RANK], kw = k % w->dim[3];
            int64_t kh = k / w->dim[3] % w->dim[2], ch = k / w->dim[3] / w->dim[2];

            ref_unflat(y, i, at);
            in[0] = at[0];
            in[1] = at[1] / (w->dim[0] / groups) * w->dim[1] + ch;
            in[2] = at[2] * v.stride[0] + kh * v.dilation[0] - v.before[0];
            in[3] = at[3] * v.stride[1] + kw * v.dilation[1] - v.before[1];
            weight[0] = at[1];
            weight[1] = ch;
            weight[2] = kh;
            weight[3] = kw;
            if (in[2] >= 0 && in[2] < x->dim[2] && in[3] >= 0 && in[3] < x->dim[3])
                f(c, (term){i, ref_flat(x, in), ref_flat(w, weight)});
        }
}

static void clear(const ref_call *c)
{
    for (int64_t i = 0; i < type_count(&c->out[0]); i++)
        c->y[0][i] = 0;
}

static void add_y(const ref_call *c, term t)
{
    c->y[0][t.y] += c->x[0][t.x] * c->x[1][t.w];
}

static void add_dx(const ref_call *c, term t)
{
    c->y[0][t.x] += c->x[0][t.y] * c->x[1][t.w];
}

static void add_dw(const ref_call *c, term t)
{
    c->y[0][t.w] += c->x[0][t.y] * c->x[1][t.x];
}

void ref_conv2d(const ref_call *c)
{
    const type *y = &c->out[0];

    clear(c);
    for (int64_t i = 0; c->x[2] && i < type_count(y); i++)
        c->y[0][i] = c->x[2][i / (y->dim[2] * y->dim[3]) % y->dim[1]];
    each_product(c, &c->in[0], &c->in[1], y, add_y);
}

void ref_conv2d_backward_data(const ref_call *c)
{
    clear(c);
    each_product(c, &c->out[0], &c->in[1], &c->in[0], add_dx);
}

void ref_conv2d_backward_weight(const ref_call *c)
{
    clear(c);
    each_product(c, &c->in[1], &c->out[0], &c->in[0], add_dw);
}

/* --- pooling -----------------------------------------------------------------------------------
 */

static void read_kernel(const ref_call *c, window *w)
{
    for (int i = 0; i < 2; i++)
        w->kernel[i] = pick(ref_ints(c, "kernel"), i, 0);
    read_window(c, w, true);
}

void ref_max_pool2d(const ref_call *c)
{
    const type *x = &c->in[0], *y = &c->out[0];
    int64_t h = x->dim[2], w = x->dim[3];
    window v;

    read_kernel(c, &v);
    for (int64_t i = 0; i < type_count(y); i++) {
        const double *plane = c->x[0] + i / (y->dim[2] * y->dim[3]) * h * w;
        double best = -HUGE_VAL;
        int64_t at[MAX_RANK], where = -1;

        ref_unflat(y, i, at);
        for (int64_t k = 0; k < v.kernel[0] * v.kernel[1]; k++) {
            int64_t r = at[2] * v.stride[0] + k / v.kernel[1] * v.dilation[0] - v.before[0];
            int64_t s = at[3] * v.stride[1] + k % v.kernel[1] * v.dilation[1] - v.before[1];

            if (r < 0 || r >= h || s < 0 || s >= w)
                continue;
            double p = plane[r * w + s];
            if (where < 0 || (best == best && (p > best || p != p))) {
                best = p;
                where = r * w + s;
            }
        }
        c->y[0][i] = best;
        c->y[1][i] = (double)where;
    }
}

/* How many elements the mean over window at (p, q) is of; padding counts only when asked to, and
   never what a last, partial window has beyond the padding. */
static double divisor(const ref_call *c, const window *v, const type *x, int64_t p, int64_t q)
{
    ints padding = ref_ints(c, "padding");
    bool pad = ref_int(c, "count_include_pad") != 0;
    int64_t at[2] = {p, q}, n = 1;

    for (int i = 0; i < 2; i++) {
        int64_t after = padding.n == 4 ? padding.v[i + 2] : v->before[i];
        int64_t lo = at[i] * v->stride[i] - v->before[i], hi = lo + v->kernel[i];
        int64_t first = pad ? -v->before[i] : 0, last = x->dim[2 + i] + (pad ? after : 0);

        n *= (hi < last ? hi : last) - (lo > first ? lo : first);
    }
    return (double)n;
}

static void each_mean(const ref_call *c, const type *x, const type *y, bool back)
{
    int64_t h = x->dim[2], w = x->dim[3];
    window v;

    read_kernel(c, &v);
    clear(c);
    for (int64_t i = 0; i < type_count(y); i++) {
        int64_t at[MAX_RANK], plane = i / (y->dim[2] * y->dim[3]) * h * w;

        ref_unflat(y, i, at);
        for (int64_t k = 0; k < v.kernel[0] * v.kernel[1]; k++) {
            int64_t r = at[2] * v.stride[0] + k / v.kernel[1] - v.before[0];
            int64_t s = at[3] * v.stride[1] + k % v.kernel[1] - v.before[1];
            double n = divisor(c, &v, x, at[2], at[3]);

            if (r < 0 || r >= h || s < 0 || s >= w)
                continue;
            if (back)
                c->y[0][plane + r * w + s] += c->x[0][i] / n;
            else
                c->y[0][i] += c->x[0][plane + r * w + s] / n;
        }
    }
}

void ref_avg_pool2d(const ref_call *c)
{
    each_mean(c, &c->in[0], &c->out[0], false);
}

void ref_avg_pool2d_backward(const ref_call *c)
{
    each_mean(c, &c->out[0], &c->in[0], true);
}

/* Window i of n over size: from floor(i size / n) to ceil((i + 1) size / n). */
static void adaptive(const ref_call *c, const type *x, const type *y, bool back)
{
    int64_t h = x->dim[2], w = x->dim[3], m = y->dim[2], n = y->dim[3];

    clear(c);
    for (int64_t i = 0; i < type_count(y); i++) {
        int64_t p = i / n % m, q = i % n, plane = i / (m * n) * h * w;
        int64_t r0 = p * h / m, r1 = ((p + 1) * h + m - 1) / m;
        int64_t s0 = q * w / n, s1 = ((q + 1) * w + n - 1) / n;

        for (int64_t r = r0; r < r1; r++)
            for (int64_t s = s0; s < s1; s++) {
                double area = (double)((r1 - r0) * (s1 - s0));

                if (back)
                    c->y[0][plane + r * w + s] += c->x[0][i] / area;
                else
                    c->y[0][i] += c->x[0][plane + r * w + s] / area;
            }
    }
}

void ref_adaptive_avg_pool2d(const ref_call *c)
{
    adaptive(c, &c->in[0], &c->out[0], false);
}

void ref_adaptive_avg_pool2d_backward(const ref_call *c)
{
    adaptive(c, &c->out[0], &c->in[0], true);
}
