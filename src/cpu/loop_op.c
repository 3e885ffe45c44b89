/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the loop engine's opcodes. */
#include "cpu/loop/loop.h"

#include <string.h>

static const struct {
    const char *name;
    int arity;
} opcodes[] = {
#define OPCODE(name, arity, ...) {#name, arity},
#include "cpu/loop/opcodes.inc"
#undef OPCODE
};

int loop_op_find(const char *name, size_t n)
{
    for (int i = 0; i < LOOP_OP_COUNT; i++)
        if (strlen(opcodes[i].name) == n && memcmp(opcodes[i].name, name, n) == 0)
            return i;
    return -1;
}

int loop_op_arity(loop_op op)
{
    return op < LOOP_OP_COUNT ? opcodes[op].arity : 0;
}
