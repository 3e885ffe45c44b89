/* SPDX-License-Identifier: Apache-2.0 */
/* Checks inside workers go to counters: cmocka's asserts may jump out of the main thread alone. */
#include "base/check.h"

#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define UNITS_MAX 5000

typedef struct probe {
    atomic_int seen[UNITS_MAX];
    atomic_int busy[16];
    atomic_int wrong; /* worker outside, worker shared, run too long */
    int threads;
    int64_t n, grain;
    double result[UNITS_MAX];
} probe;

static void visit(void *user, int64_t lo, int64_t hi, int worker)
{
    probe *p = user;

    if (worker < 0 || worker >= p->threads || lo < 0 || hi > p->n || lo >= hi ||
        hi - lo > p->grain) {
        atomic_fetch_add(&p->wrong, 1);
        return;
    }
    if (atomic_exchange(&p->busy[worker], 1))
        atomic_fetch_add(&p->wrong, 1);
    for (int64_t i = lo; i < hi; i++) {
        atomic_fetch_add(&p->seen[i], 1);
        p->result[i] = 1.0 / (double)(i + 1); /* plain memory: TSan watches it */
    }
    if (lo % 5 == 0)
        sched_yield();
    atomic_store(&p->busy[worker], 0);
}

static void check_run(pool *workers, probe *p, int64_t n, int64_t grain)
{
    memset(p, 0, sizeof(*p));
    p->threads = pool_threads(workers);
    p->n = n;
    p->grain = p->threads == 1 ? n : grain < 1 ? 1 : grain;
    pool_run(workers, visit, p, n, grain);
    assert_int_equal(atomic_load(&p->wrong), 0);
    for (int64_t i = 0; i < UNITS_MAX; i++) {
        assert_int_equal(atomic_load(&p->seen[i]), i < n);
        assert_true(p->result[i] == (i < n ? 1.0 / (double)(i + 1) : 0.0));
    }
}

static void every_unit_runs_once(void **state)
{
    static const int threads[] = {1, 2, 3, 7};
    static const int64_t ns[] = {0, 1, 2, 3, 7, 8, 100, 4999}, grains[] = {0, 1, 2, 7, 64, 6000};
    static probe p;

    (void)state;
    for (size_t t = 0; t < 4; t++) {
        for (int pin = 0; pin < 2; pin++) {
            error e = {0};
            pool *workers = pool_new(NULL, threads[t], pin, &e);

            assert_non_null(workers);
            assert_int_equal(pool_threads(workers), threads[t]);
            for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
                for (size_t g = 0; g < sizeof(grains) / sizeof(grains[0]); g++)
                    check_run(workers, &p, ns[i], grains[g]);
            for (int again = 0; again < 100; again++)
                check_run(workers, &p, 50, 1);
            pool_free(workers);
        }
    }
    check_run(NULL, &p, 100, 1);
}

typedef struct caller_probe {
    pthread_t caller;
    int calls, elsewhere;
    int64_t lo, hi;
    int worker;
} caller_probe;

static void note_caller(void *user, int64_t lo, int64_t hi, int worker)
{
    caller_probe *p = user;

    p->calls++;
    p->elsewhere += !pthread_equal(p->caller, pthread_self());
    p->lo = lo;
    p->hi = hi;
    p->worker = worker;
}

static void small_work_stays_with_the_caller(void **state)
{
    pool *workers = pool_new(NULL, 3, false, NULL);

    (void)state;
    assert_non_null(workers);
    for (int64_t n = 1; n <= 8; n++) {
        caller_probe p = {.caller = pthread_self()};

        pool_run(workers, note_caller, &p, n, 8);
        assert_int_equal(p.calls, 1);
        assert_int_equal(p.elsewhere, 0);
        assert_int_equal(p.lo, 0);
        assert_int_equal(p.hi, n);
        assert_int_equal(p.worker, 0);
    }
    pool_free(workers);
}

typedef struct pin_probe {
    pthread_t caller;
    int threads;
    atomic_int arrived, workers, loose, shared;
    atomic_int core_used[CPU_SETSIZE];
} pin_probe;

/* Each thread comes once: all wait for the last. */
static void note_cores(void *user, int64_t lo, int64_t hi, int worker)
{
    pin_probe *p = user;
    cpu_set_t set;

    (void)lo;
    (void)hi;
    (void)worker;
    atomic_fetch_add(&p->arrived, 1);
    while (atomic_load(&p->arrived) < p->threads)
        sched_yield();
    if (pthread_equal(pthread_self(), p->caller))
        return;
    atomic_fetch_add(&p->workers, 1);
    if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) != 1) {
        atomic_fetch_add(&p->loose, 1);
        return;
    }
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &set) && atomic_fetch_add(&p->core_used[core], 1))
            atomic_fetch_add(&p->shared, 1);
}

static void workers_are_pinned_apart(void **state)
{
    static pin_probe p;
    int cores = pool_cores(), threads = cores < 8 ? cores : 8;
    cpu_set_t before, after;

    (void)state;
    assert_true(cores >= 1);
    if (threads < 2)
        skip();
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    for (int pin = 0; pin < 2; pin++) {
        pool *workers = pool_new(NULL, threads, pin, NULL);

        assert_non_null(workers);
        memset(&p, 0, sizeof(p));
        p.caller = pthread_self();
        p.threads = threads;
        pool_run(workers, note_cores, &p, threads, 1);
        assert_int_equal(atomic_load(&p.workers), threads - 1);
        assert_int_equal(atomic_load(&p.loose), pin ? 0 : threads - 1);
        assert_int_equal(atomic_load(&p.shared), 0);
        pool_free(workers);
    }
    assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

static void bad_counts_are_refused(void **state)
{
    error e = {0};
    pool *p;

    (void)state;
    assert_null(pool_new(NULL, -1, true, &e));
    check_contains(e.text, "-1 is outside [0, 1024]");
    error_clear(&e);
    assert_null(pool_new(NULL, 1025, true, &e));
    assert_int_equal(e.code, INGOT_E_ARGUMENT);
    error_clear(&e);
    p = pool_new(NULL, 0, false, &e);
    assert_int_equal(pool_threads(p), pool_cores());
    pool_free(p);
    pool_free(NULL);
    assert_int_equal(pool_threads(NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_runs_once),
        cmocka_unit_test(small_work_stays_with_the_caller),
        cmocka_unit_test(workers_are_pinned_apart),
        cmocka_unit_test(bad_counts_are_refused),
    };

    return cmocka_run_group_tests_name("base/pool", tests, NULL, NULL);
}
