/* SPDX-License-Identifier: Apache-2.0 */
/* Learning rates over time. */
#include "ingot/optim.h"

#include <math.h>

#define PI 3.14159265358979323846

double ingot_schedule_at(const ingot_schedule *s, uint64_t step)
{
    uint64_t k;

    if (!s)
        return 0.0;
    if (step < s->warmup)
        return s->lr * (double)(step + 1) / (double)s->warmup;
    k = step - s->warmup;
    switch (s->kind) {
    case INGOT_SCHEDULE_CONSTANT:
        break;
    case INGOT_SCHEDULE_STEP:
        return s->lr *
               pow(s->gamma == 0.0 ? 0.1 : s->gamma, (double)(s->period ? k / s->period : 0));
    case INGOT_SCHEDULE_COSINE:
        if (k >= s->period)
            return s->end;
        return s->end + (s->lr - s->end) * 0.5 * (1.0 + cos(PI * (double)k / (double)s->period));
    case INGOT_SCHEDULE_CUSTOM:
        return s->fn ? s->lr * s->fn(k, s->user) : s->lr;
    }
    return s->lr;
}
