/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints and weights as safetensors files. */
#include "formats/safetensors_format.h"
#include "runtime/parameter.h"
#include "train/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KIND_KEY     "ingot.kind"
#define CHECKPOINT   "checkpoint"
#define NUMBER_PLACE "number." /* in front of the keys of a model's numbers */

static bool path_ok(ingot_context *ctx, const char *path)
{
    if (!context_ok(ctx))
        return false;
    return path || fail(&ctx->err, INGOT_E_ARGUMENT, "checkpoint: the path is NULL");
}

/* --- parameters and entries ------------------------------------------------------------------- */

safetensors_item parameter_item(ingot_parameter *p)
{
    return (safetensors_item){
        .name = p->name, .type = p->tensor->type, .data = p->tensor->mem->data};
}

const safetensors_entry *entry_find(const safetensors *s, ingot_parameter *p, error *e)
{
    const safetensors_entry *found = safetensors_find(s, p->name);
    char want[TYPE_TEXT], have[TYPE_TEXT];

    if (!found)
        fail(e, INGOT_E_NOT_FOUND, "there is no tensor '%s'", p->name);
    else if (!found->known)
        fail(e, INGOT_E_DTYPE, "tensor '%s' is of type %s, which is not supported", p->name,
             found->dtype);
    else if (!type_equal(&found->type, &p->tensor->type))
        fail(e, INGOT_E_SHAPE, "tensor '%s' is %s, the net has %s", p->name,
             type_text(&found->type, have), type_text(&p->tensor->type, want));
    else
        return found;
    return NULL;
}

void entry_copy(const safetensors_entry *from, ingot_parameter *p)
{
    if (from->bytes)
        memcpy(p->tensor->mem->data, from->data, from->bytes);
}

/* All that a checkpoint of m holds: parameters of the net, then the optimiser's state. */
static ingot_parameter *held(ingot_model *m, int i)
{
    int n = ingot_cell_parameter_count(m->net);

    return i < n ? ingot_cell_parameter(m->net, i) : ingot_optimizer_state(m->optimizer, i - n);
}

static int held_count(const ingot_model *m)
{
    return ingot_cell_parameter_count(m->net) + ingot_optimizer_state_count(m->optimizer);
}

/* --- metadata --------------------------------------------------------------------------------- */

typedef struct meta_list {
    arena *mem;
    error *e;
    safetensors_meta *v;
    size_t n, cap;
    bool ok;
} meta_list;

static void meta_text(meta_list *l, const char *key, const char *value)
{
    l->ok = l->ok && key && value && l->n < l->cap;
    if (l->ok)
        l->v[l->n++] = (safetensors_meta){key, value};
}

static void meta_u64(meta_list *l, const char *key, uint64_t value)
{
    meta_text(l, key, arena_printf(l->mem, l->e, "%" PRIu64, value));
}

/* The bits of a double, so that reading gives back exactly this number in any locale. */
static void meta_double(meta_list *l, const char *key, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    meta_text(l, key, arena_printf(l->mem, l->e, "%016" PRIx64, bits));
}

static bool meta_make(const ingot_model *m, meta_list *l)
{
    l->cap = 16 + m->n_numbers;
    l->v = arena_array(l->mem, l->cap, sizeof *l->v, l->e);
    l->ok = l->v != NULL;
    meta_text(l, KIND_KEY, CHECKPOINT);
    meta_text(l, "ingot.version", INGOT_VERSION);
    meta_text(l, "optimizer", ingot_optimizer_name(m->optimizer));
    meta_u64(l, "step", m->step);
    meta_u64(l, "epoch", (uint64_t)m->epoch);
    meta_u64(l, "batch", (uint64_t)m->batch);
    meta_u64(l, "seed", m->ctx->opt.seed);
    meta_double(l, "epoch.loss", m->sums.loss);
    meta_u64(l, "epoch.samples", (uint64_t)m->sums.samples);
    meta_u64(l, "epoch.labelled", (uint64_t)m->sums.labelled);
    meta_u64(l, "epoch.right", (uint64_t)m->sums.right);
    meta_u64(l, "epoch.top", (uint64_t)m->sums.top);
    for (size_t i = 0; i < m->n_numbers; i++)
        meta_double(l, arena_printf(l->mem, l->e, NUMBER_PLACE "%s", m->numbers[i].key),
                    m->numbers[i].value);
    return l->ok;
}

/* Digits alone, all of them, in range. */
static bool parse_u64(const char *text, unsigned base, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;

    if (!text || !*text)
        return false;
    for (; *text; text++) {
        unsigned digit = *text >= '0' && *text <= '9'                 ? (unsigned)(*text - '0')
                         : *text >= 'a' && *text <= 'f' && base == 16 ? (unsigned)(*text - 'a') + 10
                                                                      : 99;

        if (digit >= base || v > (max - digit) / base)
            return false;
        v = v * base + digit;
    }
    *out = v;
    return true;
}

static bool read_u64(const safetensors *s, const char *key, uint64_t max, uint64_t *out, error *e)
{
    const char *text = safetensors_meta_find(s, key);

    return parse_u64(text, 10, max, out) ||
           fail(e, INGOT_E_FORMAT, "metadata '%s' is '%s', no number in [0, %" PRIu64 "]", key,
                text ? text : "", max);
}

static bool read_i64(const safetensors *s, const char *key, int64_t *out, error *e)
{
    uint64_t v = 0;
    bool ok = read_u64(s, key, INT64_MAX, &v, e);

    *out = (int64_t)v;
    return ok;
}

static bool read_double(const char *key, const char *text, double *out, error *e)
{
    uint64_t bits;

    if (!text || strlen(text) != 16 || !parse_u64(text, 16, UINT64_MAX, &bits))
        return fail(e, INGOT_E_FORMAT, "metadata '%s' is '%s', not the 16 digits of a number", key,
                    text ? text : "");
    memcpy(out, &bits, sizeof bits);
    return true;
}

/* --- saving ----------------------------------------------------------------------------------- */

ingot_status ingot_model_save(ingot_model *m, const char *path)
{
    int n = m ? held_count(m) : 0;
    safetensors_item *items;
    meta_list meta;
    arena mem;
    bool ok;

    if (!m)
        return INGOT_E_ARGUMENT;
    if (!path_ok(m->ctx, path))
        return ingot_error(m->ctx);
    arena_init(&mem, &m->ctx->alloc);
    meta = (meta_list){.mem = &mem, .e = &m->ctx->err};
    items = arena_array(&mem, (size_t)n + 1, sizeof *items, &m->ctx->err);
    ok = items && meta_make(m, &meta);
    for (int i = 0; ok && i < n; i++) {
        ingot_parameter *p = held(m, i);

        ok = p != NULL;
        if (ok)
            items[i] = parameter_item(p);
    }
    if (ok) {
        safetensors_sort(items, (size_t)n);
        ok =
            safetensors_write(path, &m->ctx->alloc, items, (size_t)n, meta.v, meta.n, &m->ctx->err);
    }
    if (!ok)
        error_prefix(&m->ctx->err, "checkpoint '%s'", path);
    arena_free(&mem);
    return ingot_error(m->ctx);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* What loading sets besides tensors; filled whole before the model is touched. */
typedef struct position {
    uint64_t step, seed;
    int64_t epoch, batch;
    sums sums;
} position;

static bool read_position(const safetensors *s, position *p, error *e)
{
    return read_u64(s, "step", UINT64_MAX, &p->step, e) &&
           read_u64(s, "seed", UINT64_MAX, &p->seed, e) && read_i64(s, "epoch", &p->epoch, e) &&
           read_i64(s, "batch", &p->batch, e) &&
           read_double("epoch.loss", safetensors_meta_find(s, "epoch.loss"), &p->sums.loss, e) &&
           read_i64(s, "epoch.samples", &p->sums.samples, e) &&
           read_i64(s, "epoch.labelled", &p->sums.labelled, e) &&
           read_i64(s, "epoch.right", &p->sums.right, e) &&
           read_i64(s, "epoch.top", &p->sums.top, e);
}

static bool check_fit(ingot_model *m, const safetensors *s, const position *p, error *e)
{
    const char *kind = safetensors_meta_find(s, KIND_KEY);
    const char *optimizer = safetensors_meta_find(s, "optimizer");
    int n = held_count(m);

    if (!kind || strcmp(kind, CHECKPOINT) != 0)
        return fail(e, INGOT_E_FORMAT, "it is no checkpoint");
    if (p->seed != m->ctx->opt.seed)
        return fail(e, INGOT_E_STATE,
                    "it was written with seed %" PRIu64 ", the context has %" PRIu64, p->seed,
                    m->ctx->opt.seed);
    if (m->optimizer && (!optimizer || strcmp(optimizer, ingot_optimizer_name(m->optimizer)) != 0))
        return fail(e, INGOT_E_STATE, "it was written with optimizer '%s', the model has '%s'",
                    optimizer ? optimizer : "", ingot_optimizer_name(m->optimizer));
    for (int i = 0; i < n; i++)
        if (!held(m, i) || !entry_find(s, held(m, i), e))
            return false;
    if (m->optimizer && s->count != (size_t)n)
        return fail(e, INGOT_E_FORMAT, "it has %zu tensors, net and optimizer have %d", s->count,
                    n);
    return true;
}

/* The numbers of the file, checked; they replace those of the model. */
static bool read_numbers(const safetensors *s, arena *mem, number **out, size_t *n, error *e)
{
    size_t place = strlen(NUMBER_PLACE);

    *n = 0;
    *out = arena_array(mem, s->n_meta + 1, sizeof **out, e);
    for (size_t i = 0; *out && i < s->n_meta; i++) {
        number *x = &(*out)[*n];

        if (strncmp(s->meta[i].key, NUMBER_PLACE, place) != 0)
            continue;
        if (strlen(s->meta[i].key) - place > NUMBER_KEY_MAX)
            return fail(e, INGOT_E_FORMAT, "metadata '%.100s' is too long", s->meta[i].key);
        (void)snprintf(x->key, sizeof x->key, "%s", s->meta[i].key + place);
        if (!read_double(s->meta[i].key, s->meta[i].value, &x->value, e))
            return false;
        (*n)++;
    }
    return *out != NULL;
}

static bool load(ingot_model *m, const safetensors *s, arena *mem, error *e)
{
    position p = {0};
    number *numbers;
    size_t n_numbers;
    int n = held_count(m);

    if (!safetensors_verify(s, e) || !read_position(s, &p, e) || !check_fit(m, s, &p, e) ||
        !read_numbers(s, mem, &numbers, &n_numbers, e))
        return false;
    m->n_numbers = 0;
    for (size_t i = 0; i < n_numbers; i++)
        if (ingot_model_set_number(m, numbers[i].key, numbers[i].value) != INGOT_OK)
            return false;
    for (int i = 0; i < n; i++)
        entry_copy(safetensors_find(s, held(m, i)->name), held(m, i));
    m->step = p.step;
    m->epoch = p.epoch;
    m->batch = p.batch;
    m->sums = p.sums;
    return true;
}

ingot_status ingot_model_load(ingot_model *m, const char *path)
{
    safetensors s = {0};
    arena mem;

    if (!m)
        return INGOT_E_ARGUMENT;
    if (!path_ok(m->ctx, path))
        return ingot_error(m->ctx);
    arena_init(&mem, &m->ctx->alloc);
    if (m->running)
        fail(&m->ctx->err, INGOT_E_STATE, "checkpoint '%s': loaded while the model is trained",
             path);
    else if (!safetensors_open(&s, &m->ctx->alloc, path, &m->ctx->err) ||
             !load(m, &s, &mem, &m->ctx->err))
        error_prefix(&m->ctx->err, "checkpoint '%s'", path);
    safetensors_close(&s);
    arena_free(&mem);
    return ingot_error(m->ctx);
}

/* --- weights alone ---------------------------------------------------------------------------- */

ingot_status ingot_weights_save(ingot_context *ctx, ingot_cell *net, const char *path)
{
    safetensors_meta meta[] = {{KIND_KEY, "weights"}, {"ingot.version", INGOT_VERSION}};
    int n = ingot_cell_parameter_count(net);
    safetensors_item *items;
    bool ok = true;

    if (!path_ok(ctx, path))
        return ingot_error(ctx);
    items = mem_new_array(&ctx->alloc, (size_t)n + 1, sizeof *items, "weights", &ctx->err);
    if (!items)
        return ingot_error(ctx);
    for (int i = 0; ok && i < n; i++) {
        ingot_parameter *p = ingot_cell_parameter(net, i);

        ok = p != NULL;
        if (ok)
            items[i] = parameter_item(p);
    }
    if (ok) {
        safetensors_sort(items, (size_t)n);
        ok = safetensors_write(path, &ctx->alloc, items, (size_t)n, meta, 2, &ctx->err);
    }
    if (!ok)
        error_prefix(&ctx->err, "weights '%s'", path);
    mem_free(&ctx->alloc, items, ((size_t)n + 1) * sizeof *items);
    return ingot_error(ctx);
}

static bool load_weights(ingot_cell *net, const safetensors *s, bool partial, error *e)
{
    int n = ingot_cell_parameter_count(net), found = 0;

    if (safetensors_meta_find(s, CHECKSUM_KEY) && !safetensors_verify(s, e))
        return false;
    for (int i = 0; i < n; i++) {
        ingot_parameter *p = ingot_cell_parameter(net, i);

        if (!p)
            return false;
        if (partial && !safetensors_find(s, p->name))
            continue;
        if (!entry_find(s, p, e))
            return false;
        found++;
    }
    if (!found)
        return fail(e, INGOT_E_NOT_FOUND, "none of its tensors has the name of a parameter");
    for (int i = 0; i < n; i++) {
        ingot_parameter *p = ingot_cell_parameter(net, i);
        const safetensors_entry *from = safetensors_find(s, p->name);

        if (from)
            entry_copy(from, p);
    }
    return true;
}

ingot_status ingot_weights_load(ingot_context *ctx, ingot_cell *net, const char *path, bool partial)
{
    safetensors s = {0};

    if (!path_ok(ctx, path))
        return ingot_error(ctx);
    if (!safetensors_open(&s, &ctx->alloc, path, &ctx->err) ||
        !load_weights(net, &s, partial, &ctx->err))
        error_prefix(&ctx->err, "weights '%s'", path);
    safetensors_close(&s);
    return ingot_error(ctx);
}
