/* SPDX-License-Identifier: Apache-2.0 */
/* Loading, computing and storing one tile. */
#include "cpu/loop/tile.h"

#include <string.h>

static const char *in_memory(const loop_in *in, const void *base, int64_t at)
{
    return (const char *)base + (size_t)(in->offset + at) * dtype_size(in->dt);
}

static dtype class_dtype(loop_class cls)
{
    return cls == LOOP_F32 ? INGOT_F32 : cls == LOOP_F64 ? INGOT_F64 : INGOT_I64;
}

#define FOR_VECTORS(n, whole, rest)                    \
    do {                                               \
        int i = 0;                                     \
                                                       \
        for (; i + VF32_LANES <= (n); i += VF32_LANES) \
            whole;                                     \
        if (i < (n))                                   \
            rest;                                      \
    } while (0)

static vf32 to_bool(vf32 a)
{
    return vf32_select(vf32_ne(a, vf32_zero()), vf32_set1(1.0f), vf32_zero());
}

/* n contiguous elements into a register. */
static void load_run(loop_class cls, dtype dt, const void *from, char *to, int n)
{
    float *f = (float *)(void *)to;

    if (cls != LOOP_F32) {
        dtype_convert(dt, from, class_dtype(cls), to, n);
        return;
    }
    switch (dt) {
    case INGOT_F32:
        memcpy(to, from, (size_t)n * sizeof(float));
        break;
    case INGOT_BF16: {
        const uint16_t *p = from;
        FOR_VECTORS(n, vf32_store(f + i, vf32_load_bf16(p + i)),
                    vf32_store_n(f + i, vf32_load_bf16_n(p + i, n - i), n - i));
        break;
    }
    case INGOT_F16: {
        const uint16_t *p = from;
        FOR_VECTORS(n, vf32_store(f + i, vf32_load_f16(p + i)),
                    vf32_store_n(f + i, vf32_load_f16_n(p + i, n - i), n - i));
        break;
    }
    case INGOT_BOOL: {
        const uint8_t *p = from;
        FOR_VECTORS(n, vf32_store(f + i, to_bool(vf32_load_u8(p + i))),
                    vf32_store_n(f + i, to_bool(vf32_load_u8_n(p + i, n - i)), n - i));
        break;
    }
    default:
        dtype_convert(dt, from, INGOT_F32, to, n);
    }
}

/* n contiguous elements out of a register. */
static void store_run(loop_class cls, dtype dt, const char *from, void *to, int n)
{
    const float *f = (const float *)(const void *)from;

    if (cls != LOOP_F32) {
        dtype_convert(class_dtype(cls), from, dt, to, n);
        return;
    }
    switch (dt) {
    case INGOT_F32:
        memcpy(to, from, (size_t)n * sizeof(float));
        break;
    case INGOT_BF16: {
        uint16_t *p = to;
        FOR_VECTORS(n, vf32_store_bf16(p + i, vf32_load(f + i)),
                    vf32_store_bf16_n(p + i, vf32_load_n(f + i, n - i), n - i));
        break;
    }
    case INGOT_F16: {
        uint16_t *p = to;
        FOR_VECTORS(n, vf32_store_f16(p + i, vf32_load(f + i)),
                    vf32_store_f16_n(p + i, vf32_load_n(f + i, n - i), n - i));
        break;
    }
    case INGOT_BOOL: {
        uint8_t *p = to;
        FOR_VECTORS(n, vm32_store_u8_n(p + i, vf32_ne(vf32_load(f + i), vf32_zero()), VF32_LANES),
                    vm32_store_u8_n(p + i, vf32_ne(vf32_load_n(f + i, n - i), vf32_zero()), n - i));
        break;
    }
    default:
        dtype_convert(INGOT_F32, from, dt, to, n);
    }
}

/* n copies of the element at `from`. */
static void load_same(loop_class cls, dtype dt, const void *from, char *to, int n)
{
    load_run(cls, dt, from, to, 1);
    if (cls == LOOP_F32) {
        float *f = (float *)(void *)to;

        for (int i = 1; i < n; i++)
            f[i] = f[0];
    } else {
        uint64_t *u = (uint64_t *)(void *)to;

        for (int i = 1; i < n; i++)
            u[i] = u[0];
    }
}

/* Runs along the innermost dimension, with the outer index carried on between them. */
static void load_strided(const loop_plan *p, const loop_in *in, const void *base, char *to,
                         int64_t at, int n)
{
    const loop_desc *d = &p->d;
    int last = d->rank - 1;
    int64_t index[MAX_RANK], offset = 0;

    for (int i = last; i >= 0; i--) {
        index[i] = at % d->dim[i];
        at /= d->dim[i];
        offset += index[i] * in->stride[i];
    }
    while (n > 0) {
        int64_t room = d->dim[last] - index[last], step = in->stride[last];
        int run = room < n ? (int)room : n;

        if (step == 0) {
            load_same(d->cls, in->dt, in_memory(in, base, offset), to, run);
        } else if (step == 1) {
            load_run(d->cls, in->dt, in_memory(in, base, offset), to, run);
        } else {
            for (int i = 0; i < run; i++)
                load_run(d->cls, in->dt, in_memory(in, base, offset + i * step),
                         to + (size_t)i * p->elem, 1);
        }
        to += (size_t)run * p->elem;
        n -= run;
        offset -= index[last] * step;
        index[last] = 0;
        for (int i = last - 1; i >= 0; i--) {
            offset += in->stride[i];
            if (++index[i] < d->dim[i])
                break;
            offset -= index[i] * in->stride[i];
            index[i] = 0;
        }
    }
}

static char *slot(const loop_plan *p, char *scratch, int i)
{
    return scratch + (size_t)i * LOOP_TILE * p->elem;
}

void tile_constants(const loop_plan *p, void *const *buf, char *scratch)
{
    for (int i = 0; i < p->d.n_in; i++)
        if (p->load[i] == LOAD_CONST)
            load_same(p->d.cls, p->d.in[i].dt, in_memory(&p->d.in[i], buf[i], 0),
                      slot(p, scratch, p->in_slot[i]), LOOP_TILE);
}

void tile_eval(const loop_plan *p, void *const *buf, char *scratch, int64_t at, int n,
               const void **reduced)
{
    const loop_desc *d = &p->d;
    const loop_fn *exec = d->cls == LOOP_F32   ? loop_exec_f32
                          : d->cls == LOOP_F64 ? loop_exec_f64
                                               : loop_exec_i64;
    const void *reg[LOOP_REGS];

    for (int i = 0; i < d->n_in; i++) {
        const loop_in *in = &d->in[i];

        if (p->load[i] == LOAD_DIRECT) {
            reg[i] = in_memory(in, buf[i], at);
            continue;
        }
        char *to = slot(p, scratch, p->in_slot[i]);

        reg[i] = to;
        if (p->load[i] == LOAD_LINEAR)
            load_run(d->cls, in->dt, in_memory(in, buf[i], at), to, n);
        else if (p->load[i] == LOAD_STRIDED)
            load_strided(p, in, buf[i], to, at, n);
    }
    for (int k = 0; k < d->n_inst; k++) {
        const loop_inst *inst = &d->inst[k];
        void *to = p->inst_out[k] >= 0
                       ? (void *)((char *)buf[d->n_in + p->inst_out[k]] + (size_t)at * p->elem)
                       : (void *)slot(p, scratch, p->inst_slot[k]);

        exec[inst->op](to, reg[inst->a], reg[inst->b], reg[inst->c], inst->imm, n);
        reg[d->n_in + k] = to;
    }
    for (int o = 0; o < d->n_out; o++) {
        const loop_out *out = &d->out[o];

        if (out->reduce != REDUCE_NONE)
            reduced[o] = reg[out->reg];
        else if (!p->out_done[o])
            store_run(d->cls, out->dt, reg[out->reg],
                      (char *)buf[d->n_in + o] + (size_t)at * dtype_size(out->dt), n);
    }
}
