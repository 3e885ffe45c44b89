/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/idx.h"

#include "fuzz.h"
#include <stdlib.h>

/* What is accepted holds what its header says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    idx_file f;
    error e = {0};

    if (!idx_parse(&f, &allocator_libc, data, size, "fuzz", &e)) {
        if (e.code == INGOT_OK)
            abort();
        return 0;
    }
    if (f.bytes != type_bytes(&f.type) || f.bytes > size)
        abort();
    idx_free(&f);
    return 0;
}
