/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all rows; the list is made from the rows themselves. */
#include "ops/op.h"

const op_row *const op_rows[] = {
#define OP_ROW(name) &op_##name,
#include "ops/table.inc"
#undef OP_ROW
    NULL,
};
