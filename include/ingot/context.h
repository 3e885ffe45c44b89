/* SPDX-License-Identifier: Apache-2.0 */
/* The context: everything hangs off one. No globals: two contexts in two threads don't meet. */
#ifndef INGOT_CONTEXT_H
#define INGOT_CONTEXT_H

#include "ingot/base.h"

INGOT_BEGIN_C

#define INGOT_VERSION "0.1.0"

/** One context per thread at a time; it owns threads, seed, error and scopes. */
typedef struct ingot_context ingot_context;

/** Graph: models are traced once, compiled and run many times. Eager: every op computes at once. */
typedef enum ingot_mode { INGOT_GRAPH = 0, INGOT_EAGER = 1 } ingot_mode;

/** ptr NULL = allocate, new_size 0 = free, else resize; 16-byte aligned; NULL = failure.
    Called from several threads. */
typedef void *(*ingot_alloc_fn)(void *ptr, size_t old_size, size_t new_size, void *user);
/** One line of log text, without a newline. Called from the thread that uses the context. */
typedef void (*ingot_log_fn)(const char *line, void *user);

/** All zero = the defaults. */
typedef struct ingot_context_options {
    ingot_mode mode;
    int threads;     /**< 0 = one for each core this process may use */
    bool no_pin;     /**< do not pin worker threads to cores */
    uint64_t seed;   /**< of every random number; two contexts with one seed agree */
    const char *isa; /**< "generic", "avx2", "avx512" or "neon"; NULL = $INGOT_ISA, else the best */
    const char *save_graphs; /**< folder that gets a numbered file after each pass; NULL = none */
    const char *passes_off;  /**< compiler passes to leave out, separated by commas ("fuse,absorb";
                                docs/compiler.md lists them); NULL = none; copied */
    bool no_winograd; /**< sum 3x3 convolutions directly: half as fast, but within 4e-7 of the
                         sum of the terms' sizes in place of 4e-6 */
    ingot_log_fn log; /**< NULL = stderr, only when $INGOT_LOG is set */
    void *log_user;
    ingot_alloc_fn alloc; /**< NULL = malloc */
    void *alloc_user;
} ingot_context_options;

/** Opens a context. opt may be NULL. Never returns NULL unless memory is out for the context
    itself: check ingot_error() for everything else (an isa that the CPU lacks, …). */
INGOT_API ingot_context *ingot_open(const ingot_context_options *opt);
/** Frees a context with all scopes and tensors. Cells, datasets, models and sessions made with it
    must be freed before. NULL is allowed. */
INGOT_API void ingot_close(ingot_context *ctx);

/** The first error since the last ingot_clear_error; INGOT_OK when there was none.
    NULL ctx: INGOT_E_MEMORY. */
INGOT_API ingot_status ingot_error(const ingot_context *ctx);
/** Its text: one line naming thing, place, value and allowed range. "" when there is none. */
INGOT_API const char *ingot_error_text(const ingot_context *ctx);
/** Forgets the error, so that the context is usable again. */
INGOT_API void ingot_clear_error(ingot_context *ctx);
/** Records an error from user code (a custom layer, a callback); the first one sticks. Returns s.
 */
INGOT_API ingot_status ingot_set_error(ingot_context *ctx, ingot_status s, const char *fmt, ...)
    INGOT_PRINTF(3, 4);

/** Tensors made from here on die at the matching ingot_scope_end. Scopes nest. */
INGOT_API void ingot_scope_begin(ingot_context *ctx);
INGOT_API void ingot_scope_end(ingot_context *ctx);

/** Facts for reports. The strings live as long as the context. */
INGOT_API int ingot_threads(const ingot_context *ctx);
INGOT_API const char *ingot_isa(const ingot_context *ctx);
/** The processor's name, and the instruction sets that this build has kernels for and the processor
    can run: the best first, NULL for i beyond the last. */
INGOT_API const char *ingot_cpu(const ingot_context *ctx);
INGOT_API const char *ingot_isa_available(const ingot_context *ctx, int i);
/** Number of ops, and of rows that bind a kernel of the instruction set in use to an op. */
INGOT_API int ingot_op_count(const ingot_context *ctx);
INGOT_API int ingot_kernel_count(const ingot_context *ctx);
INGOT_API ingot_mode ingot_context_mode(const ingot_context *ctx);
INGOT_API uint64_t ingot_seed(const ingot_context *ctx);

INGOT_END_C

#endif
