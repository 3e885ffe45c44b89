/* SPDX-License-Identifier: Apache-2.0 */
/* Ingot: a deep-learning framework in C. This header includes all others. */
#ifndef INGOT_H
#define INGOT_H

#include "ingot/base.h"
#include "ingot/context.h"
#include "ingot/data.h"
#include "ingot/deploy.h"
#include "ingot/function.h"
#include "ingot/nn.h"
#include "ingot/ops.h"
#include "ingot/optim.h"
#include "ingot/tensor.h"
#include "ingot/train.h"

#endif
