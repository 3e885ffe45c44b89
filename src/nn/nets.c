/* SPDX-License-Identifier: Apache-2.0 */
/* Whole nets. */
#include "ingot/ops.h"
#include "nn/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CNN_UNITS    128
#define DEPTH_MAX    64
#define FEATURES_MAX 4096
#define KAIMING      ((ingot_init){.kind = INGOT_INIT_KAIMING_NORMAL})

/* Adds child to cell under "prefix" and a number; 0 = no number. */
static bool add(ingot_cell *cell, const char *prefix, int64_t number, ingot_cell *child)
{
    char name[32];

    if (number)
        snprintf(name, sizeof name, "%s%" PRId64, prefix, number);
    else
        snprintf(name, sizeof name, "%s", prefix);
    return ingot_cell_add(cell, name, child) != NULL;
}

/* Options with the net's defaults in place; false = an error is set. */
static bool options(ingot_context *ctx, const char *net, const ingot_net_options *opt,
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
    if (o->features <= FEATURES_MAX && o->depth <= DEPTH_MAX)
        return true;
    ingot_set_error(ctx, INGOT_E_ARGUMENT,
                    "net %s: features %" PRId64 " is outside [1, %d], or depth %" PRId64
                    " outside [1, %d]",
                    net, o->features, FEATURES_MAX, o->depth, DEPTH_MAX);
    return false;
}

static ingot_cell *empty_sequential(ingot_context *ctx)
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

    if (!options(ctx, "cnn", opt, 32, 2, &o))
        return NULL;
    if (o.height >> (o.depth < 62 ? o.depth : 62) == 0 ||
        o.width >> (o.depth < 62 ? o.depth : 62) == 0) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT,
                        "net cnn: pictures of %" PRId64 " x %" PRId64
                        " are too small to be halved %" PRId64 " times",
                        o.height, o.width, o.depth);
        return NULL;
    }
    net = empty_sequential(ctx);
    in = o.channels;
    out = o.features;
    h = o.height;
    w = o.width;
    for (int64_t i = 1; ok && i <= o.depth; i++) {
        ok = add(net, "conv", i, ingot_nn_conv2d(ctx, in, out, 3, &same)) &&
             add(net, "relu", i, ingot_nn_relu(ctx)) &&
             add(net, "pool", i, ingot_nn_max_pool2d(ctx, 2, NULL));
        in = out;
        out *= 2;
        h /= 2;
        w /= 2;
    }
    ok = ok && add(net, "flatten", 0, ingot_nn_flatten(ctx)) &&
         add(net, "fc", 1, ingot_nn_linear(ctx, in * h * w, CNN_UNITS, NULL)) &&
         add(net, "relu", o.depth + 1, ingot_nn_relu(ctx)) &&
         add(net, "dropout", 0, ingot_nn_dropout(ctx, o.dropout)) &&
         add(net, "fc", 2, ingot_nn_linear(ctx, CNN_UNITS, o.classes, NULL));
    return ok ? net : cell_drop(net);
}

/* --- mlp -------------------------------------------------------------------------------------- */

ingot_cell *ingot_net_mlp(ingot_context *ctx, const ingot_net_options *opt)
{
    ingot_net_options o;
    ingot_cell *net;
    int64_t in;
    bool ok;

    if (!options(ctx, "mlp", opt, 128, 2, &o))
        return NULL;
    if (o.height > FEATURES_MAX || o.width > FEATURES_MAX || o.channels > FEATURES_MAX) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "net mlp: a picture's side is above %d",
                        FEATURES_MAX);
        return NULL;
    }
    net = empty_sequential(ctx);
    in = o.channels * o.height * o.width;
    ok = add(net, "flatten", 0, ingot_nn_flatten(ctx));
    for (int64_t i = 1; ok && i <= o.depth; i++) {
        ok = add(net, "fc", i, ingot_nn_linear(ctx, in, o.features, NULL)) &&
             add(net, "relu", i, ingot_nn_relu(ctx));
        in = o.features;
    }
    ok = ok && add(net, "dropout", 0, ingot_nn_dropout(ctx, o.dropout)) &&
         add(net, "fc", o.depth + 1, ingot_nn_linear(ctx, in, o.classes, NULL));
    return ok ? net : cell_drop(net);
}

/* --- resnet ----------------------------------------------------------------------------------- */

/* relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)) */
static ingot_tensor *basic_block(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in,
                                 int n_in, void *user)
{
    ingot_cell *const *c = cell->children; /* conv1, bn1, conv2, bn2, downsample */
    ingot_tensor *x, *side;

    (void)user;
    if (!cell_inputs(ctx, "basic block", 1, n_in))
        return NULL;
    x = ingot_relu(ctx, ingot_cell_call(c[1], ingot_cell_call(c[0], in[0])));
    x = ingot_cell_call(c[3], ingot_cell_call(c[2], x));
    side = cell->n_children > 4 ? ingot_cell_call(c[4], in[0]) : in[0];
    return x && side ? ingot_relu(ctx, ingot_add(ctx, x, side)) : NULL;
}

static ingot_cell *conv(ingot_context *ctx, int64_t in, int64_t out, int64_t kernel, int64_t stride)
{
    return ingot_nn_conv2d(
        ctx, in, out, kernel,
        &(ingot_nn_conv2d_options){
            .stride = stride, .padding = kernel / 2, .no_bias = true, .weight = KAIMING});
}

static ingot_cell *make_block(ingot_context *ctx, int64_t in, int64_t out, int64_t stride)
{
    ingot_cell *block = cell_make(ctx, basic_block, NULL, 0);
    bool ok = add(block, "conv", 1, conv(ctx, in, out, 3, stride)) &&
              add(block, "bn", 1, ingot_nn_batch_norm(ctx, out, NULL)) &&
              add(block, "conv", 2, conv(ctx, out, out, 3, 1)) &&
              add(block, "bn", 2, ingot_nn_batch_norm(ctx, out, NULL));

    if (ok && (in != out || stride != 1)) {
        ingot_cell *down = empty_sequential(ctx);

        ok = add(down, "0", 0, conv(ctx, in, out, 1, stride)) &&
             add(down, "1", 0, ingot_nn_batch_norm(ctx, out, NULL));
        ok = add(block, "downsample", 0, down) && ok;
    }
    return ok ? block : cell_drop(block);
}

static ingot_cell *make_stage(ingot_context *ctx, int64_t in, int64_t out, int64_t blocks,
                              int64_t stride)
{
    ingot_cell *stage = empty_sequential(ctx);
    char name[32];

    for (int64_t i = 0; i < blocks; i++) {
        snprintf(name, sizeof name, "%" PRId64, i);
        if (!ingot_cell_add(stage, name, make_block(ctx, i ? out : in, out, i ? 1 : stride)))
            return cell_drop(stage);
    }
    return stage;
}

ingot_cell *ingot_net_resnet(ingot_context *ctx, const ingot_net_options *opt)
{
    ingot_net_options o;
    ingot_cell *net;
    bool ok;

    if (!options(ctx, "resnet", opt, 16, 1, &o))
        return NULL;
    net = empty_sequential(ctx);
    ok = add(net, "conv", 1, conv(ctx, o.channels, o.features, 3, 1)) &&
         add(net, "bn", 1, ingot_nn_batch_norm(ctx, o.features, NULL)) &&
         add(net, "relu", 0, ingot_nn_relu(ctx)) &&
         add(net, "layer", 1, make_stage(ctx, o.features, o.features, o.depth, 1)) &&
         add(net, "layer", 2, make_stage(ctx, o.features, 2 * o.features, o.depth, 2)) &&
         add(net, "layer", 3, make_stage(ctx, 2 * o.features, 4 * o.features, o.depth, 2)) &&
         add(net, "avgpool", 0, ingot_nn_adaptive_avg_pool2d(ctx, 1, 1)) &&
         add(net, "flatten", 0, ingot_nn_flatten(ctx)) &&
         add(net, "dropout", 0, ingot_nn_dropout(ctx, o.dropout)) &&
         add(net, "fc", 0, ingot_nn_linear(ctx, 4 * o.features, o.classes, NULL));
    return ok ? net : cell_drop(net);
}

/* Blocks a stage of "resnet8", "resnet14", …; 0 = no such name. */
static int64_t resnet_depth(const char *name)
{
    char *end;
    long layers;

    if (strncmp(name, "resnet", 6) != 0 || name[6] < '1' || name[6] > '9')
        return 0;
    layers = strtol(name + 6, &end, 10);
    return *end == 0 && layers >= 8 && layers <= 6 * DEPTH_MAX + 2 && (layers - 2) % 6 == 0
               ? (layers - 2) / 6
               : 0;
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
    if (depth) {
        o = opt ? *opt : (ingot_net_options){0};
        o.depth = depth;
        return ingot_net_resnet(ctx, &o);
    }
    ingot_set_error(
        ctx, INGOT_E_NOT_FOUND,
        "net '%s' is not one of cnn, mlp, resnet, resnet8, resnet14, resnet20, … (6 n + "
        "2 layers)",
        name ? name : "");
    return NULL;
}
