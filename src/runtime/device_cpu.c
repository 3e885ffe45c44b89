/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/device.h"

#include <string.h>

static void cpu_copy(void *to, const void *from, size_t size)
{
    if (size)
        memcpy(to, from, size);
}

static const kernel_row *cpu_kernel(const machine *m, const char *op, const type *in, int n_in)
{
    return cpu_find(m->isa, op, in, n_in);
}

const device device_cpu = {
    .name = "cpu",
    .open = cpu_detect,
    .alloc = mem_new_pages,
    .free = mem_free_pages,
    .copy = cpu_copy,
    .kernel = cpu_kernel,
};
