/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures drawn in a terminal. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* pixels: height x width x channels (1 grey, 3 RGB) bytes. Two rows of pixels to a line of text, by
   half blocks in colour where `colour`, else by characters from dark to light. Wider than max_width
   is shrunk. */
void picture_draw(FILE *out, const uint8_t *pixels, int height, int width, int channels,
                  int max_width, bool colour);

#endif
