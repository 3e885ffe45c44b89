/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUNTIME_PARAMETER_H
#define RUNTIME_PARAMETER_H

#include "ingot/function.h"
#include "tensor/context.h"

struct ingot_parameter {
    ingot_context *ctx;
    char *name;
    ingot_tensor *tensor; /* owned, in no scope */
    bool trainable;
};

#endif
