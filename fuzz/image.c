/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/image.h"

#include "fuzz.h"
#include <stdlib.h>

#define ROOM_MAX ((size_t)1 << 22) /* larger pictures are out of memory here */

static unsigned char room[ROOM_MAX];

static unsigned char *give_room(void *user, const image_info *info, size_t n)
{
    (void)user;
    if ((size_t)info->height * (size_t)info->width * (size_t)info->channels != n)
        abort();
    return n <= ROOM_MAX ? room : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int channels = 1; channels <= 3; channels += 2) {
        error e = {0};

        if (!image_decode(data, size, channels, give_room, NULL, &e) && e.code == INGOT_OK)
            abort();
    }
    return 0;
}
