/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from a key (base/random.h): element i is number i of the key's stream, whatever
   the split and the instruction set. */
#include "base/random.h"
#include "cpu/kernel.h"
#include "cpu/vec/vec.h"

#include <string.h>

#define RANDOM_UNIT 2048 /* elements */

static rng_key key_of(const void *p)
{
    rng_key k;

    memcpy(&k.key, p, 8);
    memcpy(&k.salt, (const char *)p + 8, 8);
    return k;
}

typedef struct split_plan {
    int64_t stream;
} split_plan;

static bool split_plan_make(kcall *c, error *e)
{
    split_plan *p = c->plan;

    (void)e;
    p->stream = kcall_int(c, "stream");
    c->units[0] = 1;
    return true;
}

static void split_run(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                      void *scratch, void *work)
{
    const split_plan *p = c->plan;
    rng_key child = rng_split(key_of(buf[0]), (uint64_t)p->stream);

    (void)phase;
    (void)lo;
    (void)hi;
    (void)scratch;
    (void)work;
    memcpy(buf[1], &child.key, 8);
    memcpy((char *)buf[1] + 8, &child.salt, 8);
}

typedef struct draw_plan {
    int64_t count;
    double a, b; /* low and high, mean and std, p */
} draw_plan;

static bool plan_draw(kcall *c, double a, double b)
{
    draw_plan *p = c->plan;

    p->count = type_count(&c->out[0]);
    p->a = a;
    p->b = b;
    c->units[0] = p->count / RANDOM_UNIT + (p->count % RANDOM_UNIT != 0);
    return true;
}

static bool uniform_plan(kcall *c, error *e)
{
    (void)e;
    return plan_draw(c, kcall_real(c, "low"), kcall_real(c, "high"));
}

static bool normal_plan(kcall *c, error *e)
{
    (void)e;
    return plan_draw(c, kcall_real(c, "mean"), kcall_real(c, "std"));
}

static bool bernoulli_plan(kcall *c, error *e)
{
    (void)e;
    return plan_draw(c, kcall_real(c, "p"), 0.0);
}

/* The arithmetic is in double and rounded once, the same on every machine. */
#define DRAW_RUN(name, type, expression)                                                  \
    static void name(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi, \
                     void *scratch, void *work)                                           \
    {                                                                                     \
        const draw_plan *p = c->plan;                                                     \
        const rng_key key = key_of(buf[0]);                                               \
        int64_t end = hi * RANDOM_UNIT < p->count ? hi * RANDOM_UNIT : p->count;          \
        type *out = buf[1];                                                               \
                                                                                          \
        (void)phase;                                                                      \
        (void)scratch;                                                                    \
        (void)work;                                                                       \
        for (int64_t i = lo * RANDOM_UNIT; i < end; i++)                                  \
            out[i] = expression;                                                          \
    }
DRAW_RUN(uniform_f32, float, (float)(p->a + (p->b - p->a) * (double)rng_uniform(key, (uint64_t)i)))
DRAW_RUN(normal_f32, float, (float)(p->a + p->b * rng_normal(key, (uint64_t)i)))
DRAW_RUN(bernoulli_bool, uint8_t, (double)rng_uniform(key, (uint64_t)i) < p->a)

extern const kernel_row ISA_FN(kernels_random)[];

const kernel_row ISA_FN(kernels_random)[] = {
#define KERNEL(op, dtypes, state, plan, run, inplace) \
    {#op, dtypes, sizeof(state), plan, run, inplace},
#include "cpu/kernels/random.inc"
#undef KERNEL
    {NULL, NULL, 0, NULL, NULL, 0},
};
