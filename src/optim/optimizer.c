/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers in general: targets, state, gradients, clipping. */
#include "optim/optimizer.h"

#include "ingot/ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_TEXT 576

/* --- making ----------------------------------------------------------------------------------- */

static bool check_schedule(ingot_context *ctx, const ingot_schedule *s)
{
    const char *wrong = NULL;

    if (!s)
        wrong = "it is NULL";
    else if (!(s->lr >= 0.0) || !isfinite(s->lr))
        wrong = "lr is to be finite and not negative";
    else if ((s->kind == INGOT_SCHEDULE_STEP || s->kind == INGOT_SCHEDULE_COSINE) && !s->period)
        wrong = "period is to be at least 1";
    else if (s->kind == INGOT_SCHEDULE_STEP && !(s->gamma >= 0.0 && s->gamma <= 1.0))
        wrong = "gamma is to be in [0, 1]";
    else if (s->kind == INGOT_SCHEDULE_COSINE && !(s->end >= 0.0 && s->end <= s->lr))
        wrong = "end is to be in [0, lr]";
    else if (s->kind == INGOT_SCHEDULE_CUSTOM && !s->fn)
        wrong = "fn is NULL";
    else if (s->kind > INGOT_SCHEDULE_CUSTOM)
        wrong = "its kind is unknown";
    if (wrong)
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "schedule: %s", wrong);
    return !wrong;
}

static bool add_target(ingot_optimizer *o, ingot_parameter *p, bool decay_matrices,
                       const char *const *state_names)
{
    ingot_tensor *t = ingot_parameter_tensor(p);
    optimizer_target *x = &o->targets[o->n_targets++];
    int64_t dims[INGOT_MAX_RANK];
    char name[NAME_TEXT];

    x->param = p;
    x->decay = !decay_matrices || ingot_tensor_rank(t) >= 2;
    for (int i = 0; i < ingot_tensor_rank(t); i++)
        dims[i] = ingot_tensor_dim(t, i);
    for (int i = 0; i < o->n_states; i++) {
        int n = snprintf(name, sizeof name, "optim.%s.%s", state_names[i], ingot_parameter_name(p));

        if (n < 0 || (size_t)n >= sizeof name) {
            ingot_set_error(o->ctx, INGOT_E_ARGUMENT,
                            "optimizer: the name of parameter '%s' is too long",
                            ingot_parameter_name(p));
            return false;
        }
        x->state[i] = ingot_parameter_new(o->ctx, name, ingot_tensor_dtype(t),
                                          (ingot_ints){dims, ingot_tensor_rank(t)}, NULL, false);
        if (!x->state[i])
            return false;
    }
    return true;
}

static bool add_targets(ingot_optimizer *o, ingot_cell *net, bool decay_matrices,
                        const char *const *state_names)
{
    int n = ingot_cell_parameter_count(net);

    o->targets = ingot_alloc(o->ctx, ((size_t)n + 1) * sizeof *o->targets);
    if (!o->targets)
        return false;
    for (int i = 0; i < n; i++) {
        ingot_parameter *p = ingot_cell_parameter(net, i);

        if (!p)
            return false;
        if (ingot_parameter_trainable(p) && !add_target(o, p, decay_matrices, state_names))
            return false;
    }
    if (!o->n_targets)
        ingot_set_error(o->ctx, INGOT_E_ARGUMENT, "optimizer: the net has no trainable parameter");
    return o->n_targets > 0;
}

static bool check_common(ingot_context *ctx, const ingot_optimizer *o)
{
    if (o->weight_decay >= 0.0 && isfinite(o->weight_decay) && o->clip_norm >= 0.0 &&
        isfinite(o->clip_norm))
        return true;
    ingot_set_error(ctx, INGOT_E_ARGUMENT,
                    "optimizer %s: weight_decay %g and clip_norm %g are to be finite and not "
                    "negative",
                    o->name, o->weight_decay, o->clip_norm);
    return false;
}

ingot_optimizer *optimizer_make(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                                const ingot_optimizer *settings, bool decay_matrices,
                                const char *const *state_names)
{
    ingot_optimizer *o;

    if (ingot_error(ctx) != INGOT_OK)
        return NULL;
    if (!net)
        ingot_set_error(ctx, INGOT_E_ARGUMENT, "optimizer %s: the net is NULL", settings->name);
    if (!net || !check_schedule(ctx, lr) || !check_common(ctx, settings))
        return NULL;
    o = ingot_alloc(ctx, sizeof *o);
    if (!o)
        return NULL;
    *o = *settings;
    o->ctx = ctx;
    o->lr = *lr;
    if (!add_targets(o, net, decay_matrices, state_names)) {
        ingot_optimizer_free(o);
        return NULL;
    }
    return o;
}

void ingot_optimizer_free(ingot_optimizer *o)
{
    if (!o)
        return;
    for (int i = 0; i < o->n_targets; i++)
        for (int j = 0; j < o->n_states; j++)
            ingot_parameter_free(o->targets[i].state[j]);
    ingot_free(o->ctx, o->targets);
    ingot_free(o->ctx, o);
}

/* --- what rules are written with -------------------------------------------------------------- */

bool optimizer_assign(ingot_optimizer *o, ingot_parameter *dst, ingot_tensor *src)
{
    return src && ingot_assign(o->ctx, ingot_parameter_tensor(dst), src) != NULL;
}

ingot_tensor *optimizer_scale(ingot_optimizer *o, ingot_tensor *x, double factor)
{
    return ingot_mul(o->ctx, x, ingot_scalar(o->ctx, ingot_tensor_dtype(x), factor));
}

ingot_tensor *optimizer_l2(ingot_optimizer *o, int i, ingot_tensor *g)
{
    const optimizer_target *t = &o->targets[i];

    if (o->weight_decay == 0.0 || !t->decay)
        return g;
    return ingot_add(o->ctx, g,
                     optimizer_scale(o, ingot_parameter_tensor(t->param), o->weight_decay));
}

static double lr_at(uint64_t step, void *user)
{
    const ingot_optimizer *o = user;

    return ingot_schedule_at(&o->lr, step);
}

ingot_tensor *optimizer_lr(ingot_optimizer *o)
{
    return ingot_host_scalar(o->ctx, "lr", lr_at, o);
}

/* --- the update ------------------------------------------------------------------------------- */

/* min(1, clip / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ has it. */
static ingot_tensor *clip_factor(ingot_optimizer *o, ingot_tensor *const *grads, int n)
{
    ingot_context *ctx = o->ctx;
    ingot_tensor *sum = NULL;

    for (int i = 0; i < n; i++) {
        ingot_tensor *s = ingot_sum(ctx, ingot_square(ctx, grads[i]), NULL);

        sum = sum ? ingot_add(ctx, sum, s) : s;
    }
    sum = ingot_add(ctx, ingot_sqrt(ctx, sum), ingot_scalar(ctx, INGOT_F32, 1e-6));
    return ingot_minimum(ctx, ingot_div(ctx, ingot_scalar(ctx, INGOT_F32, o->clip_norm), sum),
                         ingot_scalar(ctx, INGOT_F32, 1.0));
}

ingot_status ingot_optimizer_update(ingot_optimizer *o, ingot_tensor *const *grads, int n)
{
    ingot_tensor *factor = NULL;

    if (!o)
        return INGOT_E_ARGUMENT;
    if (ingot_error(o->ctx) != INGOT_OK)
        return ingot_error(o->ctx);
    if (n != o->n_targets)
        return ingot_set_error(o->ctx, INGOT_E_ARGUMENT,
                               "optimizer %s: %d gradients were given, %d are needed", o->name, n,
                               o->n_targets);
    if (o->clip_norm > 0.0)
        factor = clip_factor(o, grads, n);
    ingot_path_push(o->ctx, "optim");
    for (int i = 0; i < n && ingot_error(o->ctx) == INGOT_OK; i++)
        if (!o->rule(o, i, factor ? ingot_mul(o->ctx, grads[i], factor) : grads[i]))
            break;
    ingot_path_pop(o->ctx);
    return ingot_error(o->ctx);
}

ingot_status ingot_optimizer_minimize(ingot_optimizer *o, ingot_tensor *loss)
{
    ingot_tensor **wrt, **grads;
    size_t bytes;

    if (!o)
        return INGOT_E_ARGUMENT;
    if (ingot_error(o->ctx) != INGOT_OK)
        return ingot_error(o->ctx);
    if (ingot_tensor_count(loss) != 1)
        return ingot_set_error(o->ctx, INGOT_E_SHAPE,
                               "optimizer %s: the loss is not a scalar: reduce it to one element",
                               o->name);
    bytes = (size_t)o->n_targets * sizeof(ingot_tensor *);
    wrt = ingot_alloc(o->ctx, 2 * bytes);
    if (!wrt)
        return ingot_error(o->ctx);
    grads = wrt + o->n_targets;
    for (int i = 0; i < o->n_targets; i++)
        wrt[i] = ingot_parameter_tensor(o->targets[i].param);
    if (ingot_grad(o->ctx, loss, wrt, o->n_targets, grads) == INGOT_OK &&
        ingot_optimizer_update(o, grads, o->n_targets) != INGOT_OK)
        ingot_set_error(o->ctx, INGOT_E_INTERNAL, "optimizer %s: its update failed", o->name);
    ingot_free(o->ctx, wrt);
    return ingot_error(o->ctx);
}

/* --- looking ---------------------------------------------------------------------------------- */

int ingot_optimizer_parameter_count(const ingot_optimizer *o)
{
    return o ? o->n_targets : 0;
}

ingot_parameter *ingot_optimizer_parameter(const ingot_optimizer *o, int i)
{
    return o && i >= 0 && i < o->n_targets ? o->targets[i].param : NULL;
}

int ingot_optimizer_state_count(const ingot_optimizer *o)
{
    return o ? o->n_targets * o->n_states : 0;
}

ingot_parameter *ingot_optimizer_state(const ingot_optimizer *o, int i)
{
    if (!o || i < 0 || i >= ingot_optimizer_state_count(o))
        return NULL;
    return o->targets[i / o->n_states].state[i % o->n_states];
}

double ingot_optimizer_lr(const ingot_optimizer *o, uint64_t step)
{
    return o ? ingot_schedule_at(&o->lr, step) : 0.0;
}

const char *ingot_optimizer_name(const ingot_optimizer *o)
{
    return o ? o->name : "";
}
