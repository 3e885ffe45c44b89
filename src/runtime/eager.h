/* SPDX-License-Identifier: Apache-2.0 */
/* Eager mode: a node is run as soon as it is made, with the kernels that a program would use. */
#ifndef RUNTIME_EAGER_H
#define RUNTIME_EAGER_H

#include "runtime/trace.h"

/* Gives v its memory (the reference is taken over, also on failure). */
bool eager_set(trace *t, const value *v, storage *s);
/* builder.on_emit of an eager trace: runs n on the memory of its inputs. */
bool eager_on_emit(void *user, node *n);

#endif
