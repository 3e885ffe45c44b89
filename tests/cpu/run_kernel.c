/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/run_kernel.h"

#include "base/pool.h"
#include "base/random.h"

#include <string.h>

void run_attr_int(run_case *r, const char *name, int64_t v)
{
    r->attr_names[r->n_attrs] = name;
    r->attrs[r->n_attrs++] = (attr){.kind = ATTR_INT, .i = v};
}

void run_attr_real(run_case *r, const char *name, double v)
{
    r->attr_names[r->n_attrs] = name;
    r->attrs[r->n_attrs++] = (attr){.kind = ATTR_REAL, .f = v};
}

void run_attr_ints(run_case *r, const char *name, ints v)
{
    r->attr_names[r->n_attrs] = name;
    r->attrs[r->n_attrs++] = (attr){.kind = ATTR_INTS, .a = v};
}

typedef struct job {
    const kernel_row *row;
    kcall call;
    void *const *buf;
    char *scratch;
    size_t scratch_each;
    void *work;
    int phase;
} job;

static void job_run(void *user, int64_t lo, int64_t hi, int worker)
{
    job *j = user;

    j->row->run(&j->call, j->buf, j->phase, lo, hi, j->scratch + (size_t)worker * j->scratch_each,
                j->work);
}

static void run_phases(job *j, pool *threads)
{
    for (j->phase = 0; j->phase < j->call.phases; j->phase++) {
        int64_t n = j->call.units[j->phase], grain = j->call.grain[j->phase];

        if (pool_threads(threads) > 1)
            pool_run(threads, job_run, j, n, grain);
        else
            for (int64_t hi = n; hi > 0; hi -= grain)
                job_run(j, hi > grain ? hi - grain : 0, hi, 0);
    }
}

bool run_kernel(const run_case *r, error *e)
{
    int threads = r->threads ? r->threads : 1;
    machine mach;
    job j = {.row = cpu_find(r->isa, r->op, r->in, r->n_in), .buf = r->buf};
    pool *p = NULL;
    bool ok = false;

    if (!cpu_detect(r->isa, &mach, e))
        return false;
    if (!j.row)
        return fail(e, INGOT_E_UNSUPPORTED, "no %s kernel for %s", r->isa, r->op);
    mach.no_winograd = r->no_winograd;
    j.call = (kcall){.mach = &mach,
                     .in = r->in,
                     .out = r->out,
                     .n_in = r->n_in,
                     .n_out = r->n_out,
                     .attrs = r->attrs,
                     .attr_names = r->attr_names,
                     .n_attrs = r->n_attrs,
                     .extra = r->extra,
                     .phases = 1,
                     .grain = {1, 1, 1, 1}};
    j.call.plan = mem_new(NULL, j.row->plan_size, "plan", e);
    if (!j.call.plan || !j.row->plan(&j.call, e))
        goto done;
    j.scratch_each = (j.call.scratch + 63) / 64 * 64;
    j.scratch = mem_new_pages(NULL, j.scratch_each * (size_t)threads + 64, "scratch", e);
    j.work = mem_new_pages(NULL, j.call.work + 64, "work", e);
    p = pool_new(NULL, threads, false, e);
    if (!j.scratch || !j.work || !p)
        goto done;
    memset(j.scratch, 0xff, j.scratch_each * (size_t)threads);
    memset(j.work, 0xff, j.call.work);
    run_phases(&j, p);
    ok = true;
done:
    pool_free(p);
    mem_free_pages(NULL, j.work, j.call.work + 64);
    mem_free_pages(NULL, j.scratch, j.scratch_each * (size_t)threads + 64);
    mem_free(NULL, j.call.plan, j.row->plan_size);
    return ok;
}

void fill_random(float *p, int64_t n, uint64_t seed)
{
    rng_key key = rng_seed(seed);

    for (int64_t i = 0; i < n; i++)
        p[i] = 2.0f * rng_uniform(key, (uint64_t)i) - 1.0f;
}
