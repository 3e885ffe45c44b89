/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_SIGNATURE_H
#define IR_SIGNATURE_H

#include "ir/op.h"

/* Reads row->sig into o; its strings are copied into mem. false = error set, naming the place. */
bool signature_read(const op_row *row, arena *mem, op *o, error *e);

#endif
