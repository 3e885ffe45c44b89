/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe.h"

#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

/* An accepted recipe must print to a text that reads back as the same recipe. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char first[1 << 16], second[1 << 16];
    char err[RECIPE_ERROR];
    recipe a, b;

    recipe_init(&a);
    recipe_init(&b);
    if (!recipe_parse(&a, "fuzz", (const char *)data, size, err))
        return 0;
    size_t n = recipe_print(&a, first, sizeof first);
    if (!recipe_parse(&b, "again", first, n, err))
        abort();
    (void)recipe_print(&b, second, sizeof second);
    if (strcmp(first, second) != 0)
        abort();
    return 0;
}
