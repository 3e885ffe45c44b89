/* SPDX-License-Identifier: Apache-2.0 */
/* The device seam. A device is a table of functions; nothing above runtime/ names one. The CPU is
   built in; another device fills the same table. */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include "cpu/kernel.h"

typedef struct device {
    const char *name;
    /* Instruction set and cache sizes; want NULL = the best there is. */
    bool (*open)(const char *want, machine *m, error *e);
    void *(*alloc)(const allocator *a, size_t size, const char *what, error *e);
    void (*free)(const allocator *a, void *p, size_t size);
    void (*copy)(void *to, const void *from, size_t size);
    /* The kernel for an op on these types, or NULL: the compiler then names the op. */
    const kernel_row *(*kernel)(const machine *m, const char *op, const type *in, int n_in);
} device;

extern const device device_cpu;

#endif
