/* SPDX-License-Identifier: Apache-2.0 */
/* What the built-in nets share. */
#ifndef NN_NETS_H
#define NN_NETS_H

#include "nn/cell.h"

#define NET_DEPTH_MAX 64

/* Adds child to cell under "prefix" and a number; 0 = no number. */
bool net_add(ingot_cell *cell, const char *prefix, int64_t number, ingot_cell *child);
/* Options with the net's defaults in place; false = an error is set. */
bool net_options(ingot_context *ctx, const char *net, const ingot_net_options *opt,
                 int64_t features, int64_t depth, ingot_net_options *o);
ingot_cell *net_sequential(ingot_context *ctx);

/* Blocks a stage of "resnet8", "resnet14", …; 0 = no such name. */
int64_t resnet_depth(const char *name);
/* Layers of "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"; 0 = no such name. */
int resnet_layers(const char *name);

#endif
