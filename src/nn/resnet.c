/* SPDX-License-Identifier: Apache-2.0 */
/* Residual networks: He et al. 2015, "Deep Residual Learning for Image Recognition". Those for
   ImageNet are torchvision's, which puts a bottleneck's stride on its 3x3 convolution ("v1.5"). */
#include "ingot/ops.h"
#include "nn/nets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPANSION 4 /* of a bottleneck */

/* The kind of net that is being made. */
typedef struct kind {
    ingot_context *ctx;
    bool bottleneck;
    bool fan_out; /* Kaiming normal over the outputs, as torchvision starts its nets; else inputs */
} kind;

static ingot_cell *conv(const kind *k, int64_t in, int64_t out, int64_t kernel, int64_t stride)
{
    double area = (double)kernel * (double)kernel;
    ingot_init weight = {.kind = INGOT_INIT_KAIMING_NORMAL};

    if (k->fan_out)
        weight = (ingot_init){.kind = INGOT_INIT_NORMAL, .b = sqrt(2.0 / (area * (double)out))};
    return ingot_nn_conv2d(
        k->ctx, in, out, kernel,
        &(ingot_nn_conv2d_options){
            .stride = stride, .padding = kernel / 2, .no_bias = true, .weight = weight});
}

/* --- blocks ----------------------------------------------------------------------------------- */

typedef struct block_config {
    int convs;
} block_config;

/* Children: conv1, bn1, conv2, bn2, (conv3, bn3,) and the shortcut, if it is not x itself. */
static ingot_tensor *block(ingot_context *ctx, ingot_cell *cell, ingot_tensor *const *in, int n_in,
                           void *user)
{
    const block_config *c = user;
    ingot_tensor *x, *side;

    if (!cell_inputs(ctx, "residual block", 1, n_in))
        return NULL;
    x = in[0];
    for (int i = 0; i < c->convs; i++) {
        x = ingot_cell_call(cell->children[2 * i + 1], ingot_cell_call(cell->children[2 * i], x));
        if (i + 1 < c->convs)
            x = ingot_relu(ctx, x);
    }
    side = cell->n_children > 2 * c->convs ? ingot_cell_call(cell->children[2 * c->convs], in[0])
                                           : in[0];
    return x && side ? ingot_relu(ctx, ingot_add(ctx, x, side)) : NULL;
}

static bool add_conv(const kind *k, ingot_cell *cell, int number, int64_t in, int64_t out,
                     int64_t kernel, int64_t stride)
{
    return net_add(cell, "conv", number, conv(k, in, out, kernel, stride)) &&
           net_add(cell, "bn", number, ingot_nn_batch_norm(k->ctx, out, NULL));
}

/* A basic block, or a bottleneck of `width` channels, whose output has EXPANSION times as many. */
static ingot_cell *make_block(const kind *k, int64_t in, int64_t width, int64_t stride)
{
    block_config c = {.convs = k->bottleneck ? 3 : 2};
    int64_t out = k->bottleneck ? EXPANSION * width : width;
    ingot_cell *cell = cell_make(k->ctx, block, &c, sizeof c);
    bool ok = k->bottleneck ? add_conv(k, cell, 1, in, width, 1, 1) &&
                                  add_conv(k, cell, 2, width, width, 3, stride) &&
                                  add_conv(k, cell, 3, width, out, 1, 1)
                            : add_conv(k, cell, 1, in, width, 3, stride) &&
                                  add_conv(k, cell, 2, width, width, 3, 1);

    if (ok && (in != out || stride != 1)) {
        ingot_cell *down = net_sequential(k->ctx);

        ok = net_add(down, "0", 0, conv(k, in, out, 1, stride)) &&
             net_add(down, "1", 0, ingot_nn_batch_norm(k->ctx, out, NULL));
        ok = net_add(cell, "downsample", 0, down) && ok;
    }
    return ok ? cell : cell_drop(cell);
}

static ingot_cell *make_stage(const kind *k, int64_t in, int64_t width, int64_t blocks,
                              int64_t stride)
{
    ingot_cell *stage = net_sequential(k->ctx);
    int64_t out = k->bottleneck ? EXPANSION * width : width;
    char name[32];

    for (int64_t i = 0; i < blocks; i++) {
        (void)snprintf(name, sizeof name, "%" PRId64, i);
        if (!ingot_cell_add(stage, name, make_block(k, i ? out : in, width, i ? 1 : stride)))
            return cell_drop(stage);
    }
    return stage;
}

/* --- for CIFAR -------------------------------------------------------------------------------- */

ingot_cell *ingot_net_resnet(ingot_context *ctx, const ingot_net_options *opt)
{
    const kind k = {.ctx = ctx};
    ingot_net_options o;
    ingot_cell *net;
    bool ok;

    if (!net_options(ctx, "resnet", opt, 16, 1, &o))
        return NULL;
    net = net_sequential(ctx);
    ok = add_conv(&k, net, 1, o.channels, o.features, 3, 1) &&
         net_add(net, "relu", 0, ingot_nn_relu(ctx));
    for (int64_t i = 0; ok && i < 3; i++)
        ok = net_add(
            net, "layer", i + 1,
            make_stage(&k, o.features << (i ? i - 1 : 0), o.features << i, o.depth, i ? 2 : 1));
    ok = ok && net_add(net, "avgpool", 0, ingot_nn_adaptive_avg_pool2d(ctx, 1, 1)) &&
         net_add(net, "flatten", 0, ingot_nn_flatten(ctx)) &&
         net_add(net, "dropout", 0, ingot_nn_dropout(ctx, o.dropout)) &&
         net_add(net, "fc", 0, ingot_nn_linear(ctx, 4 * o.features, o.classes, NULL));
    return ok ? net : cell_drop(net);
}

int64_t resnet_depth(const char *name)
{
    char *end;
    long layers;

    if (strncmp(name, "resnet", 6) != 0 || name[6] < '1' || name[6] > '9')
        return 0;
    layers = strtol(name + 6, &end, 10);
    return *end == 0 && layers >= 8 && layers <= 6 * NET_DEPTH_MAX + 2 && (layers - 2) % 6 == 0
               ? (layers - 2) / 6
               : 0;
}

/* --- for ImageNet ----------------------------------------------------------------------------- */

typedef struct resnet_row {
    int layers;
    bool bottleneck;
    int blocks[4];
} resnet_row;

static const resnet_row resnet_rows[] = {
    {18, false, {2, 2, 2, 2}},  {34, false, {3, 4, 6, 3}},  {50, true, {3, 4, 6, 3}},
    {101, true, {3, 4, 23, 3}}, {152, true, {3, 8, 36, 3}},
};

static const resnet_row *find_row(int layers)
{
    for (size_t i = 0; i < sizeof resnet_rows / sizeof *resnet_rows; i++)
        if (resnet_rows[i].layers == layers)
            return &resnet_rows[i];
    return NULL;
}

int resnet_layers(const char *name)
{
    char text[16];

    for (size_t i = 0; i < sizeof resnet_rows / sizeof *resnet_rows; i++) {
        (void)snprintf(text, sizeof text, "resnet%d", resnet_rows[i].layers);
        if (strcmp(name, text) == 0)
            return resnet_rows[i].layers;
    }
    return 0;
}

ingot_cell *ingot_net_resnet_imagenet(ingot_context *ctx, int layers, const ingot_net_options *opt)
{
    const resnet_row *row = find_row(layers);
    const kind k = {.ctx = ctx, .bottleneck = row && row->bottleneck, .fan_out = true};
    ingot_net_options o;
    ingot_cell *net;
    int64_t in;
    bool ok;

    if (ingot_error(ctx) == INGOT_OK && !row) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT,
                        "net resnet: %d layers are not one of 18, 34, 50, 101, 152", layers);
        return NULL;
    }
    if (!net_options(ctx, "resnet", opt, 64, 1, &o))
        return NULL;
    net = net_sequential(ctx);
    ok = add_conv(&k, net, 1, o.channels, o.features, 7, 2) &&
         net_add(net, "relu", 0, ingot_nn_relu(ctx)) &&
         net_add(net, "maxpool", 0,
                 ingot_nn_max_pool2d(ctx, 3, &(ingot_nn_pool_options){.stride = 2, .padding = 1}));
    in = o.features;
    for (int i = 0; ok && i < 4; i++) {
        int64_t width = o.features << i;

        ok = net_add(net, "layer", i + 1, make_stage(&k, in, width, row->blocks[i], i ? 2 : 1));
        in = row->bottleneck ? EXPANSION * width : width;
    }
    ok = ok && net_add(net, "avgpool", 0, ingot_nn_adaptive_avg_pool2d(ctx, 1, 1)) &&
         net_add(net, "flatten", 0, ingot_nn_flatten(ctx)) &&
         net_add(net, "dropout", 0, ingot_nn_dropout(ctx, o.dropout)) &&
         net_add(net, "fc", 0, ingot_nn_linear(ctx, in, o.classes, NULL));
    return ok ? net : cell_drop(net);
}
