/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor/storage.h"

storage *storage_borrow(const allocator *a, void *data, size_t bytes, error *e)
{
    storage *s = mem_new(a, sizeof(*s), "a tensor's storage", e);

    if (s)
        *s = (storage){.alloc = a, .data = data, .bytes = bytes, .refs = 1, .borrowed = true};
    return s;
}

storage *storage_new(const allocator *a, size_t bytes, error *e)
{
    storage *s = storage_borrow(a, NULL, bytes, e);

    if (!s)
        return NULL;
    s->data = mem_new_pages(a, bytes, "a tensor", e);
    s->borrowed = false;
    if (s->data)
        return s;
    storage_unref(s);
    return NULL;
}

storage *storage_ref(storage *s)
{
    if (s)
        s->refs++;
    return s;
}

void storage_unref(storage *s)
{
    if (!s || --s->refs > 0)
        return;
    if (!s->borrowed)
        mem_free_pages(s->alloc, s->data, s->bytes);
    mem_free(s->alloc, s, sizeof(*s));
}
