/* SPDX-License-Identifier: Apache-2.0 */
/* Whole nets. */
#include "nn/nets.h"
#include "ingot/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CNN_UNITS    128
#define FEATURES_MAX 4096

bool net_add(ingot_cell *cell, const char *prefix, int64_t number, ingot_cell *child)
{
    char name[32];

    if (number)
        (void)snprintf(name, sizeof name, "%s%" PRId64, prefix, number);
    else
        (void)snprintf(name, sizeof name, "%s", prefix);
    return ingot_cell_add(cell, name, child) != NULL;
}

bool net_options(ingot_context *ctx, const char *net, const ingot_net_options *opt,
                 int64_t features, int64_t depth, ingot_net_options *o)
{
    if (ingot_error(ctx) != INGOT_OK)
        return false;
    if (!opt) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "net %s: its options are NULL", net);
        return false;
    }
    *o = *opt;
    o->features = o->features ? o->features : features;
    o->depth = o->depth ? o->depth : depth;
    if (!cell_at_least(ctx, net, "channels", o->channels, 1) ||
        !cell_at_least(ctx, net, "height", o->height, 1) ||
        !cell_at_least(ctx, net, "width", o->width, 1) ||
        !cell_at_least(ctx, net, "classes", o->classes, 1) ||
        !cell_at_least(ctx, net, "features", o->features, 1) ||
        !cell_at_least(ctx, net, "depth", o->depth, 1))
        return false;
    if (o->features <= FEATURES_MAX && o->depth <= NET_DEPTH_MAX)
        return true;
    ingot_set_error(ctx, INGOT_E_ARGUMENT,
                    "net %s: features %" PRId64 " is outside [1, %d], or depth %" PRId64
                    " outside [1, %d]",
                    net, o->features, FEATURES_MAX, o->depth, NET_DEPTH_MAX);
    return false;
}

ingot_cell *net_sequential(ingot_context *ctx)
{
    return ingot_nn_sequential(ctx, (ingot_cells){NULL, 0});
}

/* --- cnn -------------------------------------------------------------------------------------- */

ingot_cell *ingot_net_cnn(ingot_context *ctx, const ingot_net_options *opt)
{
    ingot_nn_conv2d_options same = {.padding = 1};
    ingot_net_options o;
    ingot_cell *net;
    int64_t in, out, h, w;
    bool ok = true;

    if (!net_options(ctx, "cnn", opt, 32, 2, &o))
        return NULL;
    if (o.height >> (o.depth < 62 ? o.depth : 62) == 0 ||
        o.width >> (o.depth < 62 ? o.depth : 62) == 0) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT,
                        "net cnn: pictures of %" PRId64 " x %" PRId64
                        " are too small to be halved %" PRId64 " times",
                        o.height, o.width, o.depth);
        return NULL;
    }
    net = net_sequential(ctx);
    in = o.channels;
    out = o.features;
    h = o.height;
    w = o.width;
    for (int64_t i = 1; ok && i <= o.depth; i++) {
        ok = net_add(net, "conv", i, ingot_nn_conv2d(ctx, in, out, 3, &same)) &&
             net_add(net, "relu", i, ingot_nn_relu(ctx)) &&
             net_add(net, "pool", i, ingot_nn_max_pool2d(ctx, 2, NULL));
        in = out;
        out *= 2;
        h /= 2;
        w /= 2;
    }
    ok = ok && net_add(net, "flatten", 0, ingot_nn_flatten(ctx)) &&
         net_add(net, "fc", 1, ingot_nn_linear(ctx, in * h * w, CNN_UNITS, NULL)) &&
         net_add(net, "relu", o.depth + 1, ingot_nn_relu(ctx)) &&
         net_add(net, "dropout", 0, ingot_nn_dropout(ctx, o.dropout)) &&
         net_add(net, "fc", 2, ingot_nn_linear(ctx, CNN_UNITS, o.classes, NULL));
    return ok ? net : cell_drop(net);
}

/* --- mlp -------------------------------------------------------------------------------------- */

ingot_cell *ingot_net_mlp(ingot_context *ctx, const ingot_net_options *opt)
{
    ingot_net_options o;
    ingot_cell *net;
    int64_t in;
    bool ok;

    if (!net_options(ctx, "mlp", opt, 128, 2, &o))
        return NULL;
    if (o.height > FEATURES_MAX || o.width > FEATURES_MAX || o.channels > FEATURES_MAX) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "net mlp: a picture's side is above %d",
                        FEATURES_MAX);
        return NULL;
    }
    net = net_sequential(ctx);
    in = o.channels * o.height * o.width;
    ok = net_add(net, "flatten", 0, ingot_nn_flatten(ctx));
    for (int64_t i = 1; ok && i <= o.depth; i++) {
        ok = net_add(net, "fc", i, ingot_nn_linear(ctx, in, o.features, NULL)) &&
             net_add(net, "relu", i, ingot_nn_relu(ctx));
        in = o.features;
    }
    ok = ok && net_add(net, "dropout", 0, ingot_nn_dropout(ctx, o.dropout)) &&
         net_add(net, "fc", o.depth + 1, ingot_nn_linear(ctx, in, o.classes, NULL));
    return ok ? net : cell_drop(net);
}

ingot_cell *ingot_net_by_name(ingot_context *ctx, const char *name, const ingot_net_options *opt)
{
    int64_t depth = name ? resnet_depth(name) : 0;
    ingot_net_options o;

    if (name && strcmp(name, "cnn") == 0)
        return ingot_net_cnn(ctx, opt);
    if (name && strcmp(name, "mlp") == 0)
        return ingot_net_mlp(ctx, opt);
    if (name && strcmp(name, "resnet") == 0)
        return ingot_net_resnet(ctx, opt);
    if (name && resnet_layers(name))
        return ingot_net_resnet_imagenet(ctx, resnet_layers(name), opt);
    if (depth) {
        o = opt ? *opt : (ingot_net_options){0};
        o.depth = depth;
        return ingot_net_resnet(ctx, &o);
    }
    ingot_set_error(ctx, INGOT_E_NOT_FOUND,
                    "net '%s' is not one of cnn, mlp, resnet18, resnet34, resnet50, resnet101, "
                    "resnet152, resnet, resnet8, resnet14, resnet20, … (6 n + 2 layers)",
                    name ? name : "");
    return NULL;
}
