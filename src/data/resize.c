/* SPDX-License-Identifier: Apache-2.0 */
/* Separable resampling with the triangle filter: first along the width, then along the height, with
   a picture of floats between, so that rounding happens once. */
#include "data/resize.h"

#include <math.h>
#include <string.h>

/* Which source pixels make an output pixel, and how much each counts. */
typedef struct filter {
    int64_t *first, *count;
    float *weight; /* `most` of them for each output pixel */
    int64_t n, most;
} filter;

static void filter_free(filter *f, const allocator *a)
{
    mem_free(a, f->first, (size_t)f->n * sizeof *f->first);
    mem_free(a, f->count, (size_t)f->n * sizeof *f->count);
    mem_free(a, f->weight, (size_t)(f->n * f->most) * sizeof *f->weight);
}

static bool filter_make(filter *f, const allocator *a, int64_t from, int64_t to, error *e)
{
    double scale = (double)from / (double)to, wide = scale > 1.0 ? scale : 1.0;

    *f = (filter){.n = to, .most = 2 * (int64_t)ceil(wide) + 1};
    f->first = mem_new_array(a, (size_t)to, sizeof *f->first, "resize", e);
    f->count = mem_new_array(a, (size_t)to, sizeof *f->count, "resize", e);
    f->weight = mem_new_array(a, (size_t)(to * f->most), sizeof *f->weight, "resize", e);
    if (!f->first || !f->count || !f->weight) {
        filter_free(f, a);
        return false;
    }
    for (int64_t i = 0; i < to; i++) {
        double middle = ((double)i + 0.5) * scale, sum = 0.0;
        int64_t lo = (int64_t)(middle - wide + 0.5), hi = (int64_t)(middle + wide + 0.5);
        float *weight = f->weight + i * f->most;

        lo = lo < 0 ? 0 : lo;
        hi = hi > from ? from : hi;
        hi = hi - lo > f->most ? lo + f->most : hi;
        for (int64_t k = lo; k < hi; k++) {
            double off = fabs(((double)k - middle + 0.5) / wide), v = off < 1.0 ? 1.0 - off : 0.0;

            weight[k - lo] = (float)v;
            sum += v;
        }
        for (int64_t k = 0; k < hi - lo; k++)
            weight[k] = (float)((double)weight[k] / sum);
        f->first[i] = lo;
        f->count[i] = hi - lo;
    }
    return true;
}

static void along_width(const filter *f, const unsigned char *row, int64_t c, float *to)
{
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t ch = 0; ch < c; ch++) {
            const float *weight = f->weight + i * f->most;
            float sum = 0.0f;

            for (int64_t k = 0; k < f->count[i]; k++)
                sum += weight[k] * (float)row[(f->first[i] + k) * c + ch];
            to[i * c + ch] = sum;
        }
}

static unsigned char to_u8(float v)
{
    /* NOLINTNEXTLINE(bugprone-incorrect-roundings): v is positive here */
    return v <= 0.0f ? 0 : v >= 255.0f ? 255 : (unsigned char)(v + 0.5f);
}

bool resize_u8(const allocator *a, const unsigned char *from, int64_t h, int64_t w, int64_t c,
               unsigned char *to, int64_t to_h, int64_t to_w, error *e)
{
    size_t line = (size_t)(to_w * c), strip_size = line * (size_t)h * sizeof(float);
    filter fw, fh;
    float *strip;

    if (h == to_h && w == to_w) {
        memcpy(to, from, (size_t)(h * w * c));
        return true;
    }
    if (!filter_make(&fw, a, w, to_w, e))
        return false;
    if (!filter_make(&fh, a, h, to_h, e)) {
        filter_free(&fw, a);
        return false;
    }
    strip = mem_new(a, strip_size, "resize", e);
    for (int64_t y = 0; strip && y < h; y++)
        along_width(&fw, from + y * w * c, c, strip + (size_t)y * line);
    for (int64_t y = 0; strip && y < to_h; y++)
        for (size_t i = 0; i < line; i++) {
            const float *weight = fh.weight + y * fh.most;
            float sum = 0.0f;

            for (int64_t k = 0; k < fh.count[y]; k++)
                sum += weight[k] * strip[(size_t)(fh.first[y] + k) * line + i];
            to[(size_t)y * line + i] = to_u8(sum);
        }
    filter_free(&fw, a);
    filter_free(&fh, a);
    if (!strip)
        return false;
    mem_free(a, strip, strip_size);
    return true;
}
