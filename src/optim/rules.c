/* SPDX-License-Identifier: Apache-2.0 */
/* Update rules: torch.optim's, operation by operation. Numbers that change with the step are
   computed by the host in double and enter the graph as scalars, as PyTorch does it. */
#include "ingot/ops.h"
#include "optim/optimizer.h"

#include <math.h>

/* --- SGD -------------------------------------------------------------------------------------- */

/* The first update takes the gradient whole: there is no momentum yet to dampen it against. */
static double take_at(uint64_t step, void *user)
{
    const ingot_optimizer *o = user;

    return step == 0 ? 1.0 : 1.0 - o->dampening;
}

static bool sgd(ingot_optimizer *o, int i, ingot_tensor *grad)
{
    ingot_context *ctx = o->ctx;
    const optimizer_target *t = &o->targets[i];
    ingot_tensor *p = ingot_parameter_tensor(t->param), *g = optimizer_l2(o, i, grad);

    if (o->n_states) {
        ingot_tensor *take =
            o->dampening == 0.0 ? g : ingot_mul(ctx, g, ingot_host_scalar(ctx, "take", take_at, o));
        ingot_tensor *buf = ingot_add(
            ctx, optimizer_scale(o, ingot_parameter_tensor(t->state[0]), o->momentum), take);

        if (!optimizer_assign(o, t->state[0], buf))
            return false;
        g = o->nesterov ? ingot_add(ctx, g, optimizer_scale(o, buf, o->momentum)) : buf;
    }
    return optimizer_assign(o, t->param, ingot_sub(ctx, p, ingot_mul(ctx, g, optimizer_lr(o))));
}

ingot_optimizer *ingot_sgd(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                           const ingot_sgd_options *opt)
{
    ingot_sgd_options s = {0};
    ingot_optimizer o = {.name = "sgd", .rule = sgd};

    if (opt)
        s = *opt;
    if (!(s.momentum >= 0.0 && s.momentum < 1.0) || !(s.dampening >= 0.0 && s.dampening <= 1.0)) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT,
                        "optimizer sgd: momentum %g is outside [0, 1), or dampening %g outside "
                        "[0, 1]",
                        s.momentum, s.dampening);
        return NULL;
    }
    if (s.nesterov && (s.momentum == 0.0 || s.dampening != 0.0)) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT,
                        "optimizer sgd: nesterov needs momentum and no dampening");
        return NULL;
    }
    o.momentum = s.momentum;
    o.dampening = s.dampening;
    o.nesterov = s.nesterov;
    o.weight_decay = s.weight_decay;
    o.clip_norm = s.clip_norm;
    o.n_states = s.momentum != 0.0;
    return optimizer_make(ctx, net, lr, &o, s.decay_matrices,
                          (const char *const[]){"momentum_buffer"});
}

/* --- Adam, AdamW ------------------------------------------------------------------------------ */

static double step_size_at(uint64_t step, void *user)
{
    const ingot_optimizer *o = user;

    return ingot_schedule_at(&o->lr, step) / (1.0 - pow(o->beta1, (double)step + 1.0));
}

static double correction_at(uint64_t step, void *user)
{
    const ingot_optimizer *o = user;

    return sqrt(1.0 - pow(o->beta2, (double)step + 1.0));
}

static double shrink_at(uint64_t step, void *user)
{
    const ingot_optimizer *o = user;

    return 1.0 - ingot_schedule_at(&o->lr, step) * o->weight_decay;
}

/* m += (1 - b1) (g - m), v = b2 v + (1 - b2) g^2, p -= step_size m / (sqrt(v) / correction + eps)
 */
static bool adam_step(ingot_optimizer *o, int i, ingot_tensor *p, ingot_tensor *g)
{
    ingot_context *ctx = o->ctx;
    const optimizer_target *t = &o->targets[i];
    ingot_tensor *m = ingot_parameter_tensor(t->state[0]), *v = ingot_parameter_tensor(t->state[1]);
    ingot_tensor *root, *denom;

    m = ingot_add(ctx, m, optimizer_scale(o, ingot_sub(ctx, g, m), 1.0 - o->beta1));
    v = ingot_add(ctx, optimizer_scale(o, v, o->beta2),
                  optimizer_scale(o, ingot_square(ctx, g), 1.0 - o->beta2));
    root =
        ingot_div(ctx, ingot_sqrt(ctx, v), ingot_host_scalar(ctx, "correction", correction_at, o));
    denom = ingot_add(ctx, root, ingot_scalar(ctx, ingot_tensor_dtype(root), o->eps));
    p = ingot_sub(ctx, p,
                  ingot_mul(ctx, ingot_host_scalar(ctx, "step_size", step_size_at, o),
                            ingot_div(ctx, m, denom)));
    return optimizer_assign(o, t->state[0], m) && optimizer_assign(o, t->state[1], v) &&
           optimizer_assign(o, t->param, p);
}

static bool adam(ingot_optimizer *o, int i, ingot_tensor *grad)
{
    return adam_step(o, i, ingot_parameter_tensor(o->targets[i].param), optimizer_l2(o, i, grad));
}

static bool adamw(ingot_optimizer *o, int i, ingot_tensor *grad)
{
    ingot_tensor *p = ingot_parameter_tensor(o->targets[i].param);

    if (o->weight_decay != 0.0 && o->targets[i].decay)
        p = ingot_mul(o->ctx, p, ingot_host_scalar(o->ctx, "shrink", shrink_at, o));
    return adam_step(o, i, p, grad);
}

static ingot_optimizer *make_adam(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                                  const ingot_adam_options *opt, const char *name,
                                  optimizer_rule rule)
{
    ingot_adam_options s = {0};
    ingot_optimizer o = {.name = name, .rule = rule, .n_states = 2};

    if (opt)
        s = *opt;
    o.beta1 = s.beta1 == 0.0 ? 0.9 : s.beta1;
    o.beta2 = s.beta2 == 0.0 ? 0.999 : s.beta2;
    o.eps = s.eps == 0.0 ? 1e-8 : s.eps;
    o.weight_decay = s.weight_decay;
    o.clip_norm = s.clip_norm;
    if (!(o.beta1 > 0.0 && o.beta1 < 1.0 && o.beta2 > 0.0 && o.beta2 < 1.0 && o.eps > 0.0)) {
        ingot_set_error(ctx, INGOT_E_ARGUMENT,
                        "optimizer %s: beta1 %g and beta2 %g are to be in [0, 1), eps %g positive",
                        name, o.beta1, o.beta2, o.eps);
        return NULL;
    }
    return optimizer_make(ctx, net, lr, &o, s.decay_matrices,
                          (const char *const[]){"exp_avg", "exp_avg_sq"});
}

ingot_optimizer *ingot_adam(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                            const ingot_adam_options *opt)
{
    return make_adam(ctx, net, lr, opt, "adam", adam);
}

ingot_optimizer *ingot_adamw(ingot_context *ctx, ingot_cell *net, const ingot_schedule *lr,
                             const ingot_adam_options *opt)
{
    return make_adam(ctx, net, lr, opt, "adamw", adamw);
}
