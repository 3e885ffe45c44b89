/* SPDX-License-Identifier: Apache-2.0 */
/* Reverse-mode differentiation as a graph transform. */
#ifndef AUTODIFF_AUTODIFF_H
#define AUTODIFF_AUTODIFF_H

#include "ir/ir.h"

/* Appends to b->g the nodes that compute the gradients of out with respect to wrt[0..n).
   sens: what arrives at out, of its type; NULL = 1, for which out must have one element.
   grads[i] has the type of wrt[i]; zeros where out does not depend on it. The nodes can be
   differentiated again. Errors: out is no float, or a path leads through an op that has no
   gradient (named). */
bool autodiff(builder *b, value *out, value *sens, value *const *wrt, int n, value **grads);

#endif
