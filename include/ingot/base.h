/* SPDX-License-Identifier: Apache-2.0 */
/* What every public header shares: export macro, status codes. */
#ifndef INGOT_BASE_H
#define INGOT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(INGOT_STATIC)
#define INGOT_API
#elif defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

#if defined(__GNUC__)
#define INGOT_MUST_USE      __attribute__((warn_unused_result))
#define INGOT_PRINTF(f, a)  __attribute__((format(printf, f, a)))
#else
#define INGOT_MUST_USE
#define INGOT_PRINTF(f, a)
#endif

#ifdef __cplusplus
#define INGOT_BEGIN_C extern "C" {
#define INGOT_END_C   }
#else
#define INGOT_BEGIN_C
#define INGOT_END_C
#endif

/** Every status: code, what it means, what to do. One list makes the enum and the texts. */
#define INGOT_STATUS_MAP(X)                                                                        \
    X(OK, "success", "")                                                                           \
    X(E_ARGUMENT, "invalid argument", "correct the value named in the message")                    \
    X(E_SHAPE, "shapes do not fit", "check the shapes named in the message")                       \
    X(E_DTYPE, "dtype not accepted", "cast to a dtype that the operation takes")                   \
    X(E_MEMORY, "out of memory", "use a smaller batch or model, or free memory")                   \
    X(E_IO, "input or output failed", "check the path, the permissions and the free space")        \
    X(E_NOT_FOUND, "not found", "check the name or path")                                          \
    X(E_FORMAT, "malformed data", "the file is damaged or of another format")                      \
    X(E_CONFIG, "wrong configuration", "correct the key named in the message")                     \
    X(E_UNSUPPORTED, "not supported", "see the documentation for what is supported")               \
    X(E_NUMERIC, "not a finite number", "lower the learning rate or check the data")               \
    X(E_STATE, "called in the wrong state", "see the order of calls in the documentation")         \
    X(E_CANCELLED, "cancelled", "")                                                                \
    X(E_INTERNAL, "internal error", "this is a bug in Ingot: please report it")

typedef enum ingot_status {
#define X(code, what, advice) INGOT_##code,
    INGOT_STATUS_MAP(X)
#undef X
} ingot_status;

INGOT_BEGIN_C
/** The name of a status, e.g. "E_SHAPE"; "?" for a number that is none. Static storage. */
INGOT_API const char *ingot_status_name(ingot_status s);
/** One sentence on what a status means. Static storage. */
INGOT_API const char *ingot_status_text(ingot_status s);
/** One sentence on what to do about it; may be empty. Static storage. */
INGOT_API const char *ingot_status_advice(ingot_status s);
INGOT_END_C

#endif
