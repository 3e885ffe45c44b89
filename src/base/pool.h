/* SPDX-License-Identifier: Apache-2.0 */
/* Thread pool. Units of work are claimed in order; which worker takes which is unspecified, so a
   unit's result may depend only on its index. The caller waits for units that others have begun,
   never for a worker to come: on a machine that is busy otherwise it does the work alone. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/memory.h"

typedef struct pool pool;

#define POOL_THREADS_MAX 1024

/* threads 0 = one for each core this process may use. Workers are pinned to distinct cores
   unless pin is false or there are more threads than cores; the caller, who works too, is never
   pinned, and the first core is left to it. 1 thread = no worker thread at all. */
pool *pool_new(const allocator *a, int threads, bool pin, error *e);
void pool_free(pool *p);
int pool_threads(const pool *p); /* NULL p = 1 */
int pool_cores(void);            /* cores this process may run on */

/* Calls fn(user, lo, hi, worker) for [0, n) cut into runs of `grain` units (the last may be
   shorter); worker is in [0, threads) and no two concurrent calls share it. Returns when all are
   done. NULL p or n <= grain runs in the caller as worker 0. Not re-entrant from fn. */
typedef void (*pool_fn)(void *user, int64_t lo, int64_t hi, int worker);
void pool_run(pool *p, pool_fn fn, void *user, int64_t n, int64_t grain);

#endif
