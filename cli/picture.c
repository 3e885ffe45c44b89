/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct picture {
    const uint8_t *pixels;
    int height, width, channels;
    int rows, cols; /* as drawn */
} picture;

/* Mean of the pixels that cell (row, col) covers. */
static void cell_colour(const picture *p, int row, int col, int rgb[3])
{
    int y0 = row * p->height / p->rows, y1 = (row + 1) * p->height / p->rows;
    int x0 = col * p->width / p->cols, x1 = (col + 1) * p->width / p->cols;
    long sum[3] = {0, 0, 0}, n = 0;

    y1 += y1 == y0;
    x1 += x1 == x0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++, n++)
            for (int c = 0; c < 3; c++)
                sum[c] +=
                    p->pixels[((size_t)y * (size_t)p->width + (size_t)x) * (size_t)p->channels +
                              (size_t)(p->channels == 3 ? c : 0)];
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)(sum[c] / n);
}

static void draw_colour_row(FILE *out, const picture *p, int row)
{
    int top[3], low[3];

    for (int x = 0; x < p->cols; x++) {
        cell_colour(p, row, x, top);
        cell_colour(p, row + 1 < p->rows ? row + 1 : row, x, low);
        (void)fprintf(out, "\x1b[38;2;%d;%d;%dm\x1b[48;2;%d;%d;%dm\xe2\x96\x80", top[0], top[1],
                      top[2], low[0], low[1], low[2]);
    }
    (void)fputs("\x1b[0m\n", out);
}

static void draw_text_row(FILE *out, const picture *p, int row)
{
    static const char shades[] = " .:-=+*#%@";
    int top[3], low[3];

    for (int x = 0; x < p->cols; x++) {
        cell_colour(p, row, x, top);
        cell_colour(p, row + 1 < p->rows ? row + 1 : row, x, low);
        int grey = (top[0] + low[0]) * 299 + (top[1] + low[1]) * 587 + (top[2] + low[2]) * 114;
        (void)fputc(shades[grey * 9 / 510000], out);
    }
    (void)fputc('\n', out);
}

void picture_draw(FILE *out, const uint8_t *pixels, int height, int width, int channels,
                  int max_width, bool colour)
{
    picture p = {pixels, height, width, channels, height, width};

    if (height < 1 || width < 1)
        return;
    if (width > max_width) {
        p.cols = max_width;
        p.rows = height * max_width / width;
        p.rows += p.rows == 0;
    }
    for (int row = 0; row < p.rows; row += 2)
        if (colour)
            draw_colour_row(out, &p, row);
        else
            draw_text_row(out, &p, row);
}
