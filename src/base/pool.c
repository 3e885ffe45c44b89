/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#define SPIN_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define SPIN_PAUSE() __asm__ volatile("yield")
#else
#define SPIN_PAUSE() ((void)0)
#endif

#define SPINS 4000 /* some 100 us: longer than what lies between two runs of a program's step */
#define LINE  64   /* what threads write lies on cache lines of its own */

struct pool {
    const allocator *alloc;
    int count;               /* threads, the caller among them */
    int started;             /* workers */
    pthread_t *workers;      /* count - 1 */
    pthread_mutex_t one_run; /* callers take turns */
    pthread_mutex_t bed;     /* guards falling asleep */
    pthread_cond_t wake;
    atomic_bool stop;

    /* The present job. Written while nothing is unclaimed, read after a claim that succeeded. */
    pool_fn fn;
    void *user;
    int64_t n, grain, runs;

    char apart0[LINE];
    atomic_int_fast64_t unclaimed; /* runs that no thread has taken: taken from, never added to,
                                      while a job lasts */
    char apart1[LINE];
    atomic_int_fast64_t unfinished;
    char apart2[LINE];
    atomic_int asleep;
};

typedef struct worker {
    pool *p;
    int index; /* from 1 */
} worker;

int pool_cores(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online <= 1024 ? (int)online : 1;
}

/* The n-th core of a set, or CPU_SETSIZE. */
static size_t nth_core(const cpu_set_t *set, int n)
{
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, set) && n-- == 0)
            return core;
    return CPU_SETSIZE;
}

/* Takes runs until none is left. A thread that comes late finds none, so nobody waits for it. */
static void take_runs(pool *p, int index)
{
    int_fast64_t rest = atomic_load(&p->unclaimed);

    while (rest > 0) {
        int64_t lo, hi;

        if (!atomic_compare_exchange_weak(&p->unclaimed, &rest, rest - 1))
            continue;
        lo = (p->runs - rest) * p->grain;
        hi = p->n - lo < p->grain ? p->n : lo + p->grain;
        p->fn(p->user, lo, hi, index);
        atomic_fetch_sub(&p->unfinished, 1); /* the job's last touch by this run */
        rest = atomic_load(&p->unclaimed);
    }
}

static bool idle(pool *p)
{
    return atomic_load(&p->unclaimed) == 0 && !atomic_load(&p->stop);
}

static void *work(void *user)
{
    worker me = *(worker *)user;
    pool *p = me.p;

    mem_free(p->alloc, user, sizeof me);
    while (!atomic_load(&p->stop)) {
        take_runs(p, me.index);
        for (int i = 0; i < SPINS && idle(p); i++)
            SPIN_PAUSE();
        if (!idle(p))
            continue;
        pthread_mutex_lock(&p->bed);
        atomic_fetch_add(&p->asleep, 1); /* before the last look: the caller looks the other way */
        while (idle(p))
            pthread_cond_wait(&p->wake, &p->bed);
        atomic_fetch_sub(&p->asleep, 1);
        pthread_mutex_unlock(&p->bed);
    }
    return NULL;
}

/* Pins each worker to a core of its own, from the second of the process's set on. The first is
   left for the caller, whose thread belongs to the application and stays as it is. */
static void pin_workers(pool *p)
{
    cpu_set_t cores;

    if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) < p->count)
        return;
    for (int i = 0; i < p->started; i++) {
        size_t core = nth_core(&cores, 1 + i);
        cpu_set_t one;

        CPU_ZERO(&one);
        if (core < CPU_SETSIZE) {
            CPU_SET(core, &one);
            (void)pthread_setaffinity_np(p->workers[i], sizeof(one), &one); /* speed alone */
        }
    }
}

static bool start_workers(pool *p, error *e)
{
    for (; p->started < p->count - 1; p->started++) {
        worker *w = mem_new(p->alloc, sizeof *w, "a worker thread", e);

        if (!w)
            return false;
        *w = (worker){.p = p, .index = p->started + 1};
        if (pthread_create(&p->workers[p->started], NULL, work, w) != 0) {
            mem_free(p->alloc, w, sizeof *w);
            return fail(e, INGOT_E_MEMORY, "thread %d of %d could not be started", p->started + 2,
                        p->count);
        }
    }
    return true;
}

pool *pool_new(const allocator *a, int threads, bool pin, error *e)
{
    pool *p;

    if (threads < 0 || threads > POOL_THREADS_MAX) {
        fail(e, INGOT_E_ARGUMENT, "threads: %d is outside [0, %d]", threads, POOL_THREADS_MAX);
        return NULL;
    }
    p = mem_new(a, sizeof(*p), "a thread pool", e);
    if (!p)
        return NULL;
    p->alloc = a;
    p->count = threads ? threads : pool_cores();
    (void)pthread_mutex_init(&p->one_run, NULL); /* cannot fail with default attributes on Linux */
    (void)pthread_mutex_init(&p->bed, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    if (p->count == 1)
        return p;
    p->workers = mem_new_array(a, (size_t)p->count - 1, sizeof *p->workers, "a thread pool", e);
    if (!p->workers || !start_workers(p, e)) {
        pool_free(p);
        return NULL;
    }
    if (pin)
        pin_workers(p);
    return p;
}

void pool_free(pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->bed);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->bed);
    for (int i = 0; i < p->started; i++)
        (void)pthread_join(p->workers[i], NULL);
    (void)pthread_cond_destroy(&p->wake);
    (void)pthread_mutex_destroy(&p->bed);
    (void)pthread_mutex_destroy(&p->one_run);
    mem_free(p->alloc, p->workers, ((size_t)p->count - 1) * sizeof *p->workers);
    mem_free(p->alloc, p, sizeof(*p));
}

int pool_threads(const pool *p)
{
    return p ? p->count : 1;
}

static void wake_sleepers(pool *p)
{
    int64_t wanted = p->runs - 1; /* the caller takes one */

    if (atomic_load(&p->asleep) == 0)
        return;
    pthread_mutex_lock(&p->bed);
    if (wanted >= p->started)
        pthread_cond_broadcast(&p->wake);
    else
        for (int64_t i = 0; i < wanted; i++)
            pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->bed);
}

void pool_run(pool *p, pool_fn fn, void *user, int64_t n, int64_t grain)
{
    if (grain < 1)
        grain = 1;
    if (n <= 0)
        return;
    if (!p || p->started == 0 || n <= grain) {
        fn(user, 0, n, 0);
        return;
    }
    pthread_mutex_lock(&p->one_run);
    p->fn = fn;
    p->user = user;
    p->n = n;
    p->grain = grain;
    p->runs = n / grain + (n % grain != 0);
    atomic_store(&p->unfinished, p->runs);
    atomic_store(&p->unclaimed, p->runs);
    wake_sleepers(p);
    take_runs(p, 0);
    for (int i = 0; atomic_load(&p->unfinished) > 0; i++) {
        if (i < SPINS)
            SPIN_PAUSE();
        else /* a worker lost its core to somebody else */
            (void)sched_yield();
    }
    pthread_mutex_unlock(&p->one_run);
}
