/* SPDX-License-Identifier: Apache-2.0 */
/* How reductions add up. The order depends on positions in the space alone. */
#include "cpu/loop/tile.h"

#include <math.h>

static double min_f64(double a, double b)
{
    return a != a || a < b ? a : b;
}

static double max_f64(double a, double b)
{
    return a != a || a > b ? a : b;
}

loop_acc loop_neutral(loop_class cls, loop_reduce kind, dtype dt)
{
    loop_acc a = {.i = 0};
    bool truth = dt == INGOT_BOOL;

    if (cls == LOOP_I64) {
        a.i = kind == REDUCE_PROD  ? 1
              : kind == REDUCE_MAX ? INT64_MIN
              : kind == REDUCE_MIN ? INT64_MAX
                                   : 0;
        return a;
    }
    a.f = kind == REDUCE_PROD  ? 1.0
          : kind == REDUCE_MAX ? (truth ? 0.0 : -HUGE_VAL)
          : kind == REDUCE_MIN ? (truth ? 1.0 : HUGE_VAL)
                               : 0.0;
    return a;
}

loop_acc loop_combine(loop_class cls, loop_reduce kind, loop_acc a, loop_acc b)
{
    if (cls == LOOP_I64) {
        if (kind == REDUCE_SUM || kind == REDUCE_PROD) {
            uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i, r = kind == REDUCE_SUM ? x + y : x * y;

            a.i = r <= INT64_MAX ? (int64_t)r : -1 - (int64_t)(UINT64_MAX - r);
        } else if (kind == REDUCE_MAX ? b.i > a.i : b.i < a.i) {
            a.i = b.i;
        }
        return a;
    }
    a.f = kind == REDUCE_SUM    ? a.f + b.f
          : kind == REDUCE_PROD ? a.f * b.f
          : kind == REDUCE_MAX  ? max_f64(a.f, b.f)
                                : min_f64(a.f, b.f);
    return a;
}

/* Four chains of vectors, then the lanes, then double: at most LOOP_TILE values in f32. */
static double sum_f32(const float *x, int n)
{
    vf32 s[4] = {vf32_zero(), vf32_zero(), vf32_zero(), vf32_zero()};
    int i = 0, k = 0;

    for (; i + 4 * VF32_LANES <= n; i += 4 * VF32_LANES)
        for (k = 0; k < 4; k++)
            s[k] = vf32_add(s[k], vf32_load(x + i + k * VF32_LANES));
    for (k = 0; i + VF32_LANES <= n; i += VF32_LANES, k++)
        s[k] = vf32_add(s[k], vf32_load(x + i));
    if (i < n)
        s[k] = vf32_add(s[k], vf32_load_n(x + i, n - i));
    return (double)vf32_hsum(vf32_add(vf32_add(s[0], s[1]), vf32_add(s[2], s[3])));
}

static double prod_f32(const float *x, int n)
{
    double r[4] = {1.0, 1.0, 1.0, 1.0};
    int i = 0;

    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            r[k] *= (double)x[i + k];
    for (; i < n; i++)
        r[0] *= (double)x[i];
    return (r[0] * r[1]) * (r[2] * r[3]);
}

static double max_f32(const float *x, int n)
{
    double m = -HUGE_VAL;
    int i = 0;

    if (n >= VF32_LANES) {
        vf32 v = vf32_load(x);

        for (i = VF32_LANES; i + VF32_LANES <= n; i += VF32_LANES)
            v = vf32_max(v, vf32_load(x + i));
        m = (double)vf32_hmax(v);
    }
    for (; i < n; i++)
        m = max_f64(m, (double)x[i]);
    return m;
}

static double min_f32(const float *x, int n)
{
    double m = HUGE_VAL;
    int i = 0;

    if (n >= VF32_LANES) {
        vf32 v = vf32_load(x);

        for (i = VF32_LANES; i + VF32_LANES <= n; i += VF32_LANES)
            v = vf32_min(v, vf32_load(x + i));
        m = (double)vf32_hmin(v);
    }
    for (; i < n; i++)
        m = min_f64(m, (double)x[i]);
    return m;
}

loop_acc loop_reduce_run(loop_class cls, loop_reduce kind, const void *reg, int n)
{
    loop_acc a = loop_neutral(cls, kind, INGOT_F32);

    if (cls == LOOP_F32) {
        const float *x = reg;

        a.f = kind == REDUCE_SUM    ? sum_f32(x, n)
              : kind == REDUCE_PROD ? prod_f32(x, n)
              : kind == REDUCE_MAX  ? max_f32(x, n)
                                    : min_f32(x, n);
        return a;
    }
    for (int i = 0; i < n; i++) {
        loop_acc b = {.i = 0};

        if (cls == LOOP_F64)
            b.f = ((const double *)reg)[i];
        else
            b.i = ((const int64_t *)reg)[i];
        a = loop_combine(cls, kind, a, b);
    }
    return a;
}

void loop_add_row(loop_class cls, loop_reduce kind, loop_acc *acc, const void *reg, int n)
{
    const float *x = reg;

    if (cls == LOOP_F32 && kind == REDUCE_SUM) {
        for (int i = 0; i < n; i++)
            acc[i].f += (double)x[i];
        return;
    }
    for (int i = 0; i < n; i++) {
        loop_acc b = {.i = 0};

        if (cls == LOOP_F32)
            b.f = (double)x[i];
        else if (cls == LOOP_F64)
            b.f = ((const double *)reg)[i];
        else
            b.i = ((const int64_t *)reg)[i];
        acc[i] = loop_combine(cls, kind, acc[i], b);
    }
}

void loop_store_acc(loop_class cls, dtype dt, void *out, int64_t at, loop_acc a)
{
    if (cls == LOOP_I64)
        dtype_set_i64(dt, out, at, a.i);
    else if (dt == INGOT_F32)
        ((float *)out)[at] = (float)a.f;
    else
        dtype_set_f64(dt, out, at, a.f);
}
