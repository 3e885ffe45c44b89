/* SPDX-License-Identifier: Apache-2.0 */
/* The callback that writes checkpoints into a folder and keeps the newest. */
#include "train/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "checkpoint-"
#define SUFFIX ".safetensors"
#define DIGITS 12 /* so that names in order are steps in order */

typedef struct keeper {
    ingot_context *ctx;
    char *folder;
    uint64_t every;
    int keep;
    bool saved; /* the position below is in a file */
    uint64_t step;
    int64_t epoch;
} keeper;

static bool is_checkpoint(const char *name)
{
    size_t n = strlen(name), prefix = strlen(PREFIX);

    if (n != prefix + DIGITS + strlen(SUFFIX) || strncmp(name, PREFIX, prefix) != 0 ||
        strcmp(name + prefix + DIGITS, SUFFIX) != 0)
        return false;
    for (size_t i = prefix; i < prefix + DIGITS; i++)
        if (name[i] < '0' || name[i] > '9')
            return false;
    return true;
}

static char *path_of(const keeper *k, arena *mem, const char *name)
{
    return arena_printf(mem, &k->ctx->err, "%s/%s", k->folder, name);
}

/* Removes all but `keep`: the one just written, whole by now, and the newest of the others. */
static bool remove_old(const keeper *k, const char *written, arena *mem)
{
    folder_list list = {0};
    bool ok = folder_list_read(&list, &k->ctx->alloc, k->folder, &k->ctx->err);
    int kept = 1;

    for (size_t i = ok ? list.count : 0; ok && i-- > 0;) {
        char *path;

        if (!is_checkpoint(list.names[i]) || strcmp(list.names[i], written) == 0 ||
            kept++ < k->keep)
            continue;
        path = path_of(k, mem, list.names[i]);
        ok = path && file_remove(path, &k->ctx->err);
    }
    folder_list_free(&list);
    return ok;
}

static bool save(keeper *k, const ingot_progress *p)
{
    char name[64];
    arena mem;
    char *path;
    bool ok;

    arena_init(&mem, &k->ctx->alloc);
    (void)snprintf(name, sizeof name, PREFIX "%0*" PRIu64 SUFFIX, DIGITS, p->step);
    path = path_of(k, &mem, name);
    ok = path && folder_make(k->folder, &k->ctx->err) &&
         ingot_model_save(p->model, path) == INGOT_OK && (k->keep < 0 || remove_old(k, name, &mem));
    arena_free(&mem);
    k->saved = ok;
    k->step = p->step;
    k->epoch = p->epoch;
    return ok;
}

static int keep_checkpoints(ingot_event event, const ingot_progress *p, void *user)
{
    keeper *k = user;
    bool due;

    switch (event) {
    case INGOT_TRAIN_BEGIN:
        k->saved = false;
        return 0;
    case INGOT_STEP_END:
        due = k->every && p->step % k->every == 0;
        break;
    case INGOT_EPOCH_END:
        due = k->every == 0;
        break;
    case INGOT_TRAIN_END: /* what has been done since must not be lost */
        due = p->step > 0 && (!k->saved || k->step != p->step || k->epoch != p->epoch);
        break;
    default:
        return 0;
    }
    return due && !save(k, p);
}

static void release_keeper(void *user)
{
    keeper *k = user;

    mem_strfree(&k->ctx->alloc, k->folder);
    mem_free(&k->ctx->alloc, k, sizeof *k);
}

ingot_callback *ingot_checkpoint(ingot_context *ctx, const char *folder,
                                 const ingot_checkpoint_options *opt)
{
    ingot_callback *cb;
    keeper *k = NULL;

    if (context_ok(ctx) && (!folder || !*folder))
        fail(&ctx->err, INGOT_E_ARGUMENT, "checkpoint: the folder has no name");
    if (context_ok(ctx))
        k = mem_new(&ctx->alloc, sizeof *k, "checkpoints", &ctx->err);
    if (!k)
        return NULL;
    *k = (keeper){.ctx = ctx, .keep = 2};
    if (opt) {
        k->every = opt->every;
        k->keep = opt->keep ? opt->keep : 2;
    }
    k->folder = mem_strdup(&ctx->alloc, folder, &ctx->err);
    cb = ingot_callback_new(ctx, keep_checkpoints, k, release_keeper);
    if (cb)
        cb->last = true;
    return cb;
}

const char *ingot_checkpoint_latest(ingot_context *ctx, const char *folder)
{
    folder_list list = {0};
    const char *newest = NULL;

    if (!context_ok(ctx) || !folder || !file_is_folder(folder))
        return NULL;
    if (folder_list_read(&list, &ctx->alloc, folder, &ctx->err))
        for (size_t i = 0; i < list.count; i++)
            if (is_checkpoint(list.names[i]))
                newest = list.names[i];
    if (newest)
        newest = arena_printf(&ctx->mem, &ctx->err, "%s/%s", folder, newest);
    folder_list_free(&list);
    return newest;
}
