/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <pthread.h>
#include <pthreadpool.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

/* ThreadSanitizer cannot see how the thread library hands a task over, and must be told. */
#if defined(__SANITIZE_THREAD__)
#define POOL_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define POOL_TSAN
#endif
#endif
#if defined(POOL_TSAN)
void __tsan_acquire(void *p);
void __tsan_release(void *p);
#define HAND_OVER(p) __tsan_release(p)
#define TAKE_OVER(p) __tsan_acquire(p)
#else
#define HAND_OVER(p) (void)(p)
#define TAKE_OVER(p) (void)(p)
#endif

struct pool {
    const allocator *alloc;
    pthreadpool_t threads; /* NULL = the caller alone */
    int count;
};

/* One pool_run. `next` and `done` order memory between caller and workers on their own, so that
   nothing here leans on how the thread library synchronises (tools that cannot see into it,
   such as ThreadSanitizer, agree). */
typedef struct job {
    pool_fn fn;
    void *user;
    int64_t n, grain, runs;
    _Alignas(64) atomic_int_fast64_t next;
    _Alignas(64) atomic_size_t done;
} job;

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

typedef struct pinning {
    cpu_set_t cores;
    pthread_t caller;
    int threads;
    atomic_int arrived, worker, left;
} pinning;

/* Every thread waits here until all have come, so each runs exactly one of these. */
static void pin_task(void *user, size_t index)
{
    pinning *p = user;

    TAKE_OVER(p);
    (void)index;
    atomic_fetch_add(&p->arrived, 1);
    while (atomic_load(&p->arrived) < p->threads)
        sched_yield();
    if (!pthread_equal(pthread_self(), p->caller)) {
        size_t core = nth_core(&p->cores, 1 + atomic_fetch_add(&p->worker, 1));
        cpu_set_t one;

        CPU_ZERO(&one);
        if (core < CPU_SETSIZE) {
            CPU_SET(core, &one);
            pthread_setaffinity_np(pthread_self(), sizeof(one), &one); /* speed alone */
        }
    }
    atomic_fetch_add(&p->left, 1);
}

/* Pins each worker to a core of its own, from the second of the process's set on. The first is
   left for the caller, whose thread belongs to the application and stays as it is. */
static void pin_workers(pool *p)
{
    pinning pin = {.caller = pthread_self(), .threads = p->count};

    if (sched_getaffinity(0, sizeof(pin.cores), &pin.cores) != 0 ||
        CPU_COUNT(&pin.cores) < p->count)
        return;
    HAND_OVER(&pin);
    pthreadpool_parallelize_1d(p->threads, pin_task, &pin, (size_t)p->count, 0);
    while (atomic_load(&pin.left) < p->count)
        sched_yield();
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
    if (p->count == 1)
        return p;
    p->threads = pthreadpool_create((size_t)p->count);
    if (!p->threads) {
        fail(e, INGOT_E_MEMORY, "out of memory: %d threads", p->count);
        mem_free(a, p, sizeof(*p));
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
    if (p->threads)
        pthreadpool_destroy(p->threads);
    mem_free(p->alloc, p, sizeof(*p));
}

int pool_threads(const pool *p)
{
    return p ? p->count : 1;
}

/* Task `index` is the worker: a thread may run two tasks one after the other, never one twice. */
static void run_task(void *user, size_t index)
{
    job *j = user;
    int64_t run;

    TAKE_OVER(j);
    run = atomic_fetch_add_explicit(&j->next, 1, memory_order_acq_rel);
    while (run < j->runs) {
        int64_t lo = run * j->grain;
        int64_t hi = j->n - lo < j->grain ? j->n : lo + j->grain;

        j->fn(j->user, lo, hi, (int)index);
        run = atomic_fetch_add_explicit(&j->next, 1, memory_order_acq_rel);
    }
    atomic_fetch_add_explicit(&j->done, 1, memory_order_release); /* the last touch of *j */
}

void pool_run(pool *p, pool_fn fn, void *user, int64_t n, int64_t grain)
{
    job j = {.fn = fn, .user = user, .n = n, .grain = grain < 1 ? 1 : grain};
    size_t range;

    if (n <= 0)
        return;
    if (!p || !p->threads || n <= j.grain) {
        fn(user, 0, n, 0);
        return;
    }
    j.runs = n / j.grain + (n % j.grain != 0);
    range = j.runs < p->count ? (size_t)j.runs : (size_t)p->count;
    atomic_store_explicit(&j.next, 0, memory_order_release);
    HAND_OVER(&j);
    /* No PTHREADPOOL_FLAG_DISABLE_DENORMALS: the caller's own runs would differ from a worker's. */
    pthreadpool_parallelize_1d(p->threads, run_task, &j, range, 0);
    while (atomic_load_explicit(&j.done, memory_order_acquire) < range)
        sched_yield();
}
