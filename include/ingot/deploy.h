/* SPDX-License-Identifier: Apache-2.0 */
/* Trained nets as files, and running them. A model file (.ingot) is a safetensors file whose
   metadata carries the graph's text, so that any safetensors tool can read the weights; a checksum
   covers every bit of it. */
#ifndef INGOT_DEPLOY_H
#define INGOT_DEPLOY_H

#include "ingot/nn.h"

INGOT_BEGIN_C

#define INGOT_IMAGE_CHANNELS 4

/** How pictures are made into a net's input [N, channels, height, width] f32: brought to the
    size, scaled to [0, 1], then (pixel - mean) / std for each channel. */
typedef struct ingot_image_facts {
    int channels; /**< 1 grey, 3 RGB; 0 = the net takes no pictures */
    int height, width;
    double mean[INGOT_IMAGE_CHANNELS], std[INGOT_IMAGE_CHANNELS];
} ingot_image_facts;

/** All zero = the defaults. */
typedef struct ingot_export_options {
    const char *name;        /**< of the graph; NULL = "main" */
    const char *input_name;  /**< NULL = "input" */
    const char *output_name; /**< NULL = "output" */
    const char *const *class_names;
    int n_classes;                  /**< 0 = the net has no classes */
    const ingot_image_facts *image; /**< NULL = the net takes no pictures */
} ingot_export_options;

/** Traces net as it behaves outside training, for a batch of any size whose samples are `shape`
    of dtype dt, and writes graph, weights and facts to path. Atomic: path is either the old file
    or the whole new one. Equal nets give equal bytes. */
INGOT_API INGOT_MUST_USE ingot_status ingot_export(ingot_context *ctx, ingot_cell *net,
                                                   ingot_dtype dt, ingot_ints shape,
                                                   const char *path,
                                                   const ingot_export_options *opt);

/** A model file that is ready to run. Used by one thread at a time. */
typedef struct ingot_session ingot_session;

/** Loads and checks a model file: NULL with an error when it is cut short, a bit of it differs, or
    its graph and weights don't fit. The weights stay mapped. */
INGOT_API ingot_session *ingot_session_load(ingot_context *ctx, const char *path);
/** NULL is allowed. */
INGOT_API void ingot_session_free(ingot_session *s);

/** Inputs and outputs, in order. Names live as long as s; -1 as a dimension is the batch. An index
    outside gives NULL, INGOT_F32 and 0. */
INGOT_API int ingot_session_input_count(const ingot_session *s);
INGOT_API const char *ingot_session_input_name(const ingot_session *s, int i);
INGOT_API ingot_dtype ingot_session_input_dtype(const ingot_session *s, int i);
INGOT_API int ingot_session_input_rank(const ingot_session *s, int i);
INGOT_API int64_t ingot_session_input_dim(const ingot_session *s, int i, int axis);
INGOT_API int ingot_session_output_count(const ingot_session *s);
INGOT_API const char *ingot_session_output_name(const ingot_session *s, int i);
INGOT_API ingot_dtype ingot_session_output_dtype(const ingot_session *s, int i);
INGOT_API int ingot_session_output_rank(const ingot_session *s, int i);
INGOT_API int64_t ingot_session_output_dim(const ingot_session *s, int i, int axis);

/** What the file says of classes and pictures; 0 classes and channels 0 when it says nothing. */
INGOT_API int ingot_session_class_count(const ingot_session *s);
INGOT_API const char *ingot_session_class_name(const ingot_session *s, int i);
INGOT_API const ingot_image_facts *ingot_session_image(const ingot_session *s);
/** A metadata entry of the file, e.g. "ingot.version"; NULL when there is none. */
INGOT_API const char *ingot_session_meta(const ingot_session *s, const char *key);

/** Runs the net: in[] as the inputs say with one batch size for all, out[] gets tensors in the
    current scope. A program is compiled for each batch size once and kept. */
INGOT_API INGOT_MUST_USE ingot_status ingot_session_run(ingot_session *s, ingot_tensor *const *in,
                                                        int n_in, ingot_tensor **out, int n_out);

/** A graph to look at. */
typedef struct ingot_graph ingot_graph;

/** Reads the graph of a model file, or of a file that holds a graph's text, and verifies it. */
INGOT_API ingot_graph *ingot_graph_load(ingot_context *ctx, const char *path);

/** How a graph is compiled to be looked at; all zero = the defaults. */
typedef struct ingot_graph_compile_options {
    int64_t batch;     /**< in place of the unknown dimension B; 0 = 1 */
    const char *after; /**< the pass whose result is kept, "trace" for the graph before them all;
                          NULL = the last; docs/compiler.md lists them */
} ingot_graph_compile_options;

/** Compiles a graph as its user would: one that changes its parameters as a training step, any
   other as a session does. The new graph is the one after a pass. opt may be NULL. Errors: an
   unknown pass, a batch below 1, an op without a kernel for its types, sizes that overflow. */
INGOT_API ingot_graph *ingot_graph_compile(const ingot_graph *g,
                                           const ingot_graph_compile_options *opt);
/** The memory plan of a compiled graph as text: sizes, then a line for each step. NULL for a graph
    that ingot_graph_compile did not make. Lives as long as g. */
INGOT_API const char *ingot_graph_memory(const ingot_graph *g);
/** NULL is allowed. */
INGOT_API void ingot_graph_free(ingot_graph *g);
/** The text form: parsing it and printing again gives the same bytes. Lives as long as g. */
INGOT_API const char *ingot_graph_text(const ingot_graph *g);
/** The graph in Graphviz' language. Lives as long as g. */
INGOT_API const char *ingot_graph_dot(const ingot_graph *g);
/** Nodes that compute, and elements of all parameters. */
INGOT_API int64_t ingot_graph_op_count(const ingot_graph *g);
INGOT_API int64_t ingot_graph_parameter_count(const ingot_graph *g);

INGOT_END_C

#endif
