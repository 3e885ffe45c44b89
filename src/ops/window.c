/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/window.h"

#include <inttypes.h>

/* Keeps every sum and product below far from overflow. */
#define WINDOW_MAX ((int64_t)1 << 31)

bool window_pair(infer *c, const char *name, const int64_t otherwise[2], int64_t out[2])
{
    ints a = infer_ints(c, name);

    if (a.n > 2)
        return infer_fail(c, INGOT_E_ARGUMENT, "%s has %d entries; 0, 1 or 2 are possible", name,
                          a.n);
    for (int i = 0; i < 2; i++) {
        int64_t v = a.n == 0 ? 0 : a.v[a.n == 1 ? 0 : i];

        if (v < 0 || v > WINDOW_MAX)
            return infer_fail(c, INGOT_E_ARGUMENT, "%s %" PRId64 " is outside [0, 2^31]", name, v);
        out[i] = v ? v : otherwise[i];
    }
    return true;
}

static bool read_padding(infer *c, window *w)
{
    ints p = infer_ints(c, "padding");

    if (p.n > 4 || p.n == 3)
        return infer_fail(c, INGOT_E_ARGUMENT, "padding has %d entries; 0, 1, 2 or 4 are possible",
                          p.n);
    for (int i = 0; i < 2; i++) {
        w->before[i] = p.n == 0 ? 0 : p.v[p.n == 1 ? 0 : i];
        w->after[i] = p.n == 4 ? p.v[i + 2] : w->before[i];
        if (w->before[i] < 0 || w->after[i] < 0 || w->before[i] > WINDOW_MAX ||
            w->after[i] > WINDOW_MAX)
            return infer_fail(c, INGOT_E_ARGUMENT,
                              "padding %" PRId64 ", %" PRId64 " is outside [0, 2^31]", w->before[i],
                              w->after[i]);
    }
    return true;
}

bool window_read(infer *c, window *w, const int64_t stride[2], bool dilated)
{
    static const int64_t one[2] = {1, 1};

    w->dilation[0] = w->dilation[1] = 1;
    return window_pair(c, "stride", stride, w->stride) &&
           (!dilated || window_pair(c, "dilation", one, w->dilation)) && read_padding(c, w);
}

bool window_out(infer *c, const window *w, const int64_t in[2], int64_t out[2])
{
    for (int i = 0; i < 2; i++) {
        int64_t span, room;

        if (in[i] == DIM_SYM)
            return infer_fail(c, INGOT_E_SHAPE, "x is %s: height and width must be known",
                              infer_text(c, infer_in(c, 0)));
        if (!i64_mul(w->dilation[i], w->kernel[i] - 1, &span) || span > WINDOW_MAX ||
            in[i] > INT64_MAX / 4)
            return infer_fail(c, INGOT_E_SHAPE, "dilation %" PRId64 " is too large",
                              w->dilation[i]);
        room = in[i] + w->before[i] + w->after[i] - span - 1;
        if (room < 0)
            return infer_fail(c, INGOT_E_SHAPE,
                              "a window of %" PRId64 " does not fit %" PRId64 " padded by %" PRId64
                              " and %" PRId64,
                              span + 1, in[i], w->before[i], w->after[i]);
        out[i] = room / w->stride[i] + 1;
        /* a last, partial window counts when it begins within the input or the front padding */
        if (w->ceil_mode && room % w->stride[i] != 0 &&
            out[i] * w->stride[i] < in[i] + w->before[i])
            out[i]++;
    }
    return true;
}
