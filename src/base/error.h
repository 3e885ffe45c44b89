/* SPDX-License-Identifier: Apache-2.0 */
/* The one error object. Code and text are set in one call; the first error sticks. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "ingot/base.h"

#define ERROR_TEXT 768

typedef struct error {
    ingot_status code;
    char text[ERROR_TEXT]; /* one line, no trailing stop; may be cut, never overrun */
} error;

/* Records the first error (later ones are ignored) and returns false, so that a failing
   function can end with "return fail(e, INGOT_E_SHAPE, ...)". Allocates nothing.
   NULL e is allowed (the caller does not want the text). */
bool fail(error *e, ingot_status code, const char *fmt, ...) INGOT_PRINTF(3, 4);
/* As fail, with ": strerror(errno)" appended; code E_IO (E_NOT_FOUND for ENOENT, E_MEMORY for
   ENOMEM). errno is read first thing. */
bool fail_errno(error *e, const char *fmt, ...) INGOT_PRINTF(2, 3);
/* Out of memory: names the size and what it was for. */
bool fail_memory(error *e, size_t size, const char *what);
/* Puts "prefix: " before the text of an error that is set; nothing when none is. */
void error_prefix(error *e, const char *fmt, ...) INGOT_PRINTF(2, 3);
void error_clear(error *e);

#endif
