/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target defines, for libFuzzer and for main.c. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
