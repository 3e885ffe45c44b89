/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/safetensors.h"
#include "fuzz.h"

/* Reads every byte that an accepted file points to. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    safetensors s;
    error e = {0};
    volatile unsigned sum = 0;

    if (safetensors_parse(&s, NULL, data, size, &e))
        for (size_t i = 0; i < s.count; i++)
            for (size_t j = 0; j < s.entries[i].bytes; j++)
                sum += ((const unsigned char *)s.entries[i].data)[j];
    (void)sum;
    (void)safetensors_verify(&s, &e);
    safetensors_close(&s);
    return 0;
}
