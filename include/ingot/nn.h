/* SPDX-License-Identifier: Apache-2.0 */
/* Cells: layers and whole nets, what they are initialised with, losses, and a few nets by name.
   The built-in cells are called ingot_nn_NAME; the op of the same name, without "nn_", is what they
   compute with. Names of parameters are PyTorch's: "layer1.0.conv1.weight". */
#ifndef INGOT_NN_H
#define INGOT_NN_H

#include "ingot/function.h"

INGOT_BEGIN_C

/** A layer or a net: parameters, children, and a function that computes with them. A tree: each
    cell is owned by its parent, the root by whoever made it. */
typedef struct ingot_cell ingot_cell;

/** Computes the cell's output from n_in inputs with ingot_ ops: called once when a graph is traced,
    each time in eager mode. NULL = failed, with the error set in ctx. */
typedef ingot_tensor *(*ingot_cell_construct_fn)(ingot_context *ctx, ingot_cell *cell,
                                                 ingot_tensor *const *in, int n_in, void *user);

/** All zero but construct = a cell without state of its own. */
typedef struct ingot_cell_options {
    ingot_cell_construct_fn construct;
    void *user;               /**< given to construct and free */
    void (*free)(void *user); /**< called when the cell is freed, also when ingot_cell_new fails */
} ingot_cell_options;

/* --- initialisers ------------------------------------------------------------------------------
 */

/** What a parameter starts as. Values are a function of the context's seed and the parameter's full
    name alone: they do not depend on the order in which cells are made. */
typedef enum ingot_init_kind {
    INGOT_INIT_DEFAULT = 0,      /**< the layer's own, PyTorch's; zeros for a user's parameter */
    INGOT_INIT_CONSTANT,         /**< a */
    INGOT_INIT_UNIFORM,          /**< [a, b) */
    INGOT_INIT_NORMAL,           /**< mean a, standard deviation b */
    INGOT_INIT_TRUNCATED_NORMAL, /**< mean a, standard deviation b, cut at 2 b from the mean */
    INGOT_INIT_KAIMING_UNIFORM,  /**< He et al. 2015, fan in; a = negative slope (0 = ReLU) */
    INGOT_INIT_KAIMING_NORMAL,   /**< the same, normal */
    INGOT_INIT_XAVIER_UNIFORM,   /**< Glorot and Bengio 2010; gain a (0 = 1) */
    INGOT_INIT_XAVIER_NORMAL     /**< the same, normal */
} ingot_init_kind;

/** An initialiser. Fans are those of a weight [out, in, ...]. */
typedef struct ingot_init {
    ingot_init_kind kind;
    double a, b;
} ingot_init;

/** Fills a tensor of f32 or f64 that has memory, drawing from a stream (ingot_stream). The Kaiming
    and Xavier kinds need rank 2 or more. */
INGOT_API INGOT_MUST_USE ingot_status ingot_init_apply(ingot_context *ctx, ingot_tensor *t,
                                                       const ingot_init *init, uint64_t stream);

/* --- cells in general --------------------------------------------------------------------------
 */

/** A cell of the user's. NULL with an error when there is no construct, or no memory. */
INGOT_API ingot_cell *ingot_cell_new(ingot_context *ctx, const ingot_cell_options *opt);
/** Frees a root with all below it. NULL is allowed. A cell that has a parent is not freed: that is
    an error. */
INGOT_API void ingot_cell_free(ingot_cell *cell);

/** Makes child a child of cell, taking it over (when it fails, child is freed); its parameters'
    names get "name." in front. name: not empty, without '.', not used in cell yet. Returns child,
   or NULL with an error (also when either is NULL). */
INGOT_API ingot_cell *ingot_cell_add(ingot_cell *cell, const char *name, ingot_cell *child);

/** A parameter owned by cell; name as for a child. init NULL = zeros, trainable. It gets its first
    values when the tree it is in is first called or asked for parameters: by then its full name is
    known. */
INGOT_API ingot_parameter *ingot_cell_add_parameter(ingot_cell *cell, const char *name,
                                                    ingot_dtype dt, ingot_ints shape,
                                                    const ingot_init *init);
/** As above for memory that no optimiser updates and freezing does not touch, such as running
    statistics: filled with value. */
INGOT_API ingot_parameter *ingot_cell_add_buffer(ingot_cell *cell, const char *name, ingot_dtype dt,
                                                 ingot_ints shape, double value);

/** The output of a cell for one input; NULL in, NULL out. Names the ops it makes by its path. Cells
    behave as ingot_training(ctx) says. */
INGOT_API ingot_tensor *ingot_cell_call(ingot_cell *cell, ingot_tensor *x);
/** As above for several inputs. */
INGOT_API ingot_tensor *ingot_cell_call_n(ingot_cell *cell, ingot_tensor *const *in, int n_in);

/** Parameters and buffers of the whole tree: a cell's own, then those of its children in the order
    they were added. Both are O(parameters). An index outside gives NULL. */
INGOT_API int ingot_cell_parameter_count(const ingot_cell *cell);
INGOT_API ingot_parameter *ingot_cell_parameter(ingot_cell *cell, int i);
/** By its path below cell, e.g. "layer1.0.conv1.weight"; NULL when there is none (no error). */
INGOT_API ingot_parameter *ingot_cell_find(ingot_cell *cell, const char *path);
/** Direct children, in order; an index or name that is none gives NULL. */
INGOT_API int ingot_cell_child_count(const ingot_cell *cell);
INGOT_API ingot_cell *ingot_cell_child(const ingot_cell *cell, int i);
INGOT_API ingot_cell *ingot_cell_child_by_name(const ingot_cell *cell, const char *name);
/** Freezes (true) or thaws all parameters of the tree, buffers excepted: a frozen one is not
   updated by optimisers made from then on. Batch norms still update their running statistics in
   training. */
INGOT_API void ingot_cell_freeze(ingot_cell *cell, bool frozen);
/** Elements of all parameters; buffers are left out. */
INGOT_API int64_t ingot_cell_element_count(ingot_cell *cell);
/** What ingot_cell_options held; NULL for built-in cells. */
INGOT_API void *ingot_cell_user(const ingot_cell *cell);
INGOT_API ingot_context *ingot_cell_context(const ingot_cell *cell);

/** A list of cells, borrowed for the call. */
typedef struct ingot_cells {
    ingot_cell *const *v;
    int n;
} ingot_cells;
#define INGOT_CELLS(...)                               \
    ((ingot_cells){(ingot_cell *const[]){__VA_ARGS__}, \
                   (int)(sizeof((ingot_cell *const[]){__VA_ARGS__}) / sizeof(ingot_cell *))})

/* --- layers ------------------------------------------------------------------------------------
 */

/** Calls its children one after the other. Takes over the cells, which are named "0", "1", …; more,
    with names of one's own, by ingot_cell_add. When it fails all of them are freed. */
INGOT_API ingot_cell *ingot_nn_sequential(ingot_context *ctx, ingot_cells cells);
/** body(x) + shortcut(x). shortcut NULL = x itself. Children "body" and "shortcut", taken over. */
INGOT_API ingot_cell *ingot_nn_residual(ingot_context *ctx, ingot_cell *body, ingot_cell *shortcut);

/** All zero = the defaults. */
typedef struct ingot_nn_linear_options {
    bool no_bias;
    ingot_init weight, bias; /**< default: uniform within 1/sqrt(in), both */
} ingot_nn_linear_options;
/** y = x weight^T + bias. x: [..., in], weight: [out, in], bias: [out]. */
INGOT_API ingot_cell *ingot_nn_linear(ingot_context *ctx, int64_t in, int64_t out,
                                      const ingot_nn_linear_options *opt);

/** All zero = the defaults. */
typedef struct ingot_nn_conv2d_options {
    int64_t kernel_width; /**< 0 = kernel, which is the height then too */
    int64_t stride;       /**< 0 = 1 */
    int64_t padding;      /**< zeros on each side */
    int64_t dilation;     /**< 0 = 1 */
    int64_t groups;       /**< 0 = 1 */
    bool no_bias;
    ingot_init weight, bias; /**< default: uniform within 1/sqrt(in / groups * kernel area) */
} ingot_nn_conv2d_options;
/** 2-d convolution (cross-correlation). x: [N, in, H, W], weight: [out, in / groups, kernel,
    kernel], bias: [out]. */
INGOT_API ingot_cell *ingot_nn_conv2d(ingot_context *ctx, int64_t in, int64_t out, int64_t kernel,
                                      const ingot_nn_conv2d_options *opt);

/** All zero = the defaults. */
typedef struct ingot_nn_norm_options {
    double eps; /**< 0 = 1e-5 */
    double
        momentum;   /**< batch norm: weight of the new statistics; 0 = 0.1 (PyTorch's convention) */
    bool no_affine; /**< no weight and bias */
} ingot_nn_norm_options;
/** Batch normalisation (Ioffe and Szegedy 2015) of x: [N, features] or [N, features, ...] over all
    dimensions but features. In training: by the batch's statistics, which also move running_mean
   and running_var (unbiased); else by those. */
INGOT_API ingot_cell *ingot_nn_batch_norm(ingot_context *ctx, int64_t features,
                                          const ingot_nn_norm_options *opt);
/** Layer normalisation (Ba et al. 2016) over the last dimensions, which are `shape`. */
INGOT_API ingot_cell *ingot_nn_layer_norm(ingot_context *ctx, ingot_ints shape,
                                          const ingot_nn_norm_options *opt);

/** Rows of weight: [count, size] (normal, 0 and 1) by index: [...] i32 or i64 -> [..., size]. An
    index outside gives zeros. init may be NULL. */
INGOT_API ingot_cell *ingot_nn_embedding(ingot_context *ctx, int64_t count, int64_t size,
                                         const ingot_init *init);
/** In training: zeroes elements with probability p in [0, 1) and scales the others by 1 / (1 - p).
 */
INGOT_API ingot_cell *ingot_nn_dropout(ingot_context *ctx, double p);

/** All zero = the defaults. */
typedef struct ingot_nn_pool_options {
    int64_t stride;  /**< 0 = kernel */
    int64_t padding; /**< on each side */
    bool ceil_mode;  /**< a window may hang over the end */
} ingot_nn_pool_options;
/** Largest element of windows. x: [N, C, H, W]. */
INGOT_API ingot_cell *ingot_nn_max_pool2d(ingot_context *ctx, int64_t kernel,
                                          const ingot_nn_pool_options *opt);
/** Mean of windows; padding counts as zeros, as in PyTorch. */
INGOT_API ingot_cell *ingot_nn_avg_pool2d(ingot_context *ctx, int64_t kernel,
                                          const ingot_nn_pool_options *opt);
/** Mean of as many windows as make height x width; 1, 1 = global average. */
INGOT_API ingot_cell *ingot_nn_adaptive_avg_pool2d(ingot_context *ctx, int64_t height,
                                                   int64_t width);

INGOT_API ingot_cell *ingot_nn_relu(ingot_context *ctx);
/** x Phi(x), exact (by erf). */
INGOT_API ingot_cell *ingot_nn_gelu(ingot_context *ctx);
INGOT_API ingot_cell *ingot_nn_silu(ingot_context *ctx);
INGOT_API ingot_cell *ingot_nn_sigmoid(ingot_context *ctx);
INGOT_API ingot_cell *ingot_nn_tanh(ingot_context *ctx);
/** Along one axis; negative counts from the end. */
INGOT_API ingot_cell *ingot_nn_softmax(ingot_context *ctx, int64_t axis);
/** [N, ...] -> [N, product]. */
INGOT_API ingot_cell *ingot_nn_flatten(ingot_context *ctx);

/* --- losses: cells of two inputs, prediction and target ----------------------------------------
 */

/** All zero = the defaults. */
typedef struct ingot_nn_loss_options {
    const char *reduction;  /**< "mean" (NULL), "sum" or "none" */
    double label_smoothing; /**< cross-entropy: share of the target spread over all classes */
} ingot_nn_loss_options;
/** Softmax and cross-entropy. logits: [N, C]; target: [N] i32 or i64 in [0, C), or [N, C] floating
    probabilities. */
INGOT_API ingot_cell *ingot_nn_cross_entropy(ingot_context *ctx, const ingot_nn_loss_options *opt);
/** (x - y)^2 */
INGOT_API ingot_cell *ingot_nn_mse_loss(ingot_context *ctx, const ingot_nn_loss_options *opt);
/** |x - y| */
INGOT_API ingot_cell *ingot_nn_l1_loss(ingot_context *ctx, const ingot_nn_loss_options *opt);
/** Binary cross-entropy of sigmoid(x) with y in [0, 1]. */
INGOT_API ingot_cell *ingot_nn_bce_with_logits(ingot_context *ctx,
                                               const ingot_nn_loss_options *opt);

/* --- nets --------------------------------------------------------------------------------------
 */

/** What a net takes and gives; 0 in the last three = the net's own default. */
typedef struct ingot_net_options {
    int64_t channels, height, width; /**< of the input [N, channels, height, width] */
    int64_t classes;                 /**< outputs: logits [N, classes] */
    int64_t features; /**< cnn and resnet: channels of the first stage (32, 16); mlp: units (128) */
    int64_t depth;    /**< cnn: stages (2); resnet: blocks a stage (1); mlp: hidden layers (2) */
    double dropout;   /**< before the classifier; 0 = none */
} ingot_net_options;
/** `depth` times conv 3x3, ReLU, max pool 2, channels doubling; then 128 units with ReLU, dropout,
    classifier. */
INGOT_API ingot_cell *ingot_net_cnn(ingot_context *ctx, const ingot_net_options *opt);
/** He et al. 2015 as for CIFAR: 6 depth + 2 layers in three stages. */
INGOT_API ingot_cell *ingot_net_resnet(ingot_context *ctx, const ingot_net_options *opt);
/** The same paper's nets for ImageNet, as torchvision has them (parameters' names too): layers is
    18, 34 (basic blocks), 50, 101 or 152 (bottlenecks). features: channels after the stem (64);
    depth, height and width are not used. */
INGOT_API ingot_cell *ingot_net_resnet_imagenet(ingot_context *ctx, int layers,
                                                const ingot_net_options *opt);
/** Hidden layers with ReLU, dropout, classifier; the input is flattened. */
INGOT_API ingot_cell *ingot_net_mlp(ingot_context *ctx, const ingot_net_options *opt);
/** "cnn", "mlp", "resnet", or resnets by their layers: "resnet8", "resnet14", "resnet20" for CIFAR,
    "resnet18", "resnet34", "resnet50", "resnet101", "resnet152" for ImageNet. An unknown name is an
    error that lists them. */
INGOT_API ingot_cell *ingot_net_by_name(ingot_context *ctx, const char *name,
                                        const ingot_net_options *opt);

INGOT_END_C

#endif
