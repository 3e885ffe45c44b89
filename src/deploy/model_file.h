/* SPDX-License-Identifier: Apache-2.0 */
/* What a model file holds beside its weights: metadata entries of the safetensors header. */
#ifndef DEPLOY_MODEL_FILE_H
#define DEPLOY_MODEL_FILE_H

#include "formats/safetensors.h"
#include "ingot/deploy.h"
#include "ir/ir.h"

#define META_VERSION "ingot.version"
#define META_GRAPH   "ingot.graph"
#define META_CLASSES "ingot.classes" /* JSON: ["ankle boot", ...] */
#define META_IMAGE   "ingot.image"   /* JSON: {"channels", "height", "width", "mean", "std"} */

#define CLASSES_MAX 65536

typedef struct model_facts {
    const char **classes;
    int n_classes;
    ingot_image_facts image; /* channels 0 = none */
} model_facts;

/* The JSON of both entries, in mem; NULL = error set. */
const char *facts_classes_text(arena *mem, const char *const *names, int n, error *e);
const char *facts_image_text(arena *mem, const ingot_image_facts *f, error *e);
/* Reads the entries of an untrusted file; an entry that is not there is no fact. */
bool facts_read(model_facts *f, arena *mem, const safetensors *file, error *e);

/* The graph of a file, parsed and verified. */
graph *model_graph(const safetensors *file, const allocator *a, const op_registry *ops, error *e);

#endif
