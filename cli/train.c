/* SPDX-License-Identifier: Apache-2.0 */
#include "train.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* What a signal stops; a handler can reach nothing else. */
static ingot_model *volatile running;

static void on_signal(int number)
{
    (void)number;
    if (running)
        ingot_model_stop(running);
}

static void catch_signals(void)
{
    struct sigaction a;

    memset(&a, 0, sizeof a);
    a.sa_handler = on_signal;
    a.sa_flags = (int)SA_RESETHAND; /* a second one ends the program */
    (void)sigaction(SIGINT, &a, NULL);
    (void)sigaction(SIGTERM, &a, NULL);
}

/* --- data
 * ------------------------------------------------------------------------------------------- */

static bool spec_list(ingot_context *ctx, const char *key, const recipe_list *l, double *out)
{
    if (l->n < 1) {
        (void)ingot_set_error(ctx, INGOT_E_CONFIG, "%s: a number is needed", key);
        return false;
    }
    for (int i = 0; i < INGOT_IMAGE_CHANNELS; i++)
        out[i] = l->v[i < l->n ? i : l->n - 1];
    return true;
}

static ingot_dataset *open_part(run *r, bool train)
{
    const recipe *c = &r->r;
    bool held_back = c->data.test[0] == '\0';
    const char *path = train || held_back ? c->data.train : c->data.test;
    ingot_dataset *ds = data_open(r->ctx, path, train || held_back ? PART_TRAIN : PART_TEST);

    if (ds && held_back)
        (void)ingot_dataset_split(ds, c->data.validation, (uint64_t)c->seed, !train);
    if (ds && c->data.classes[0])
        (void)data_name_classes(r->ctx, ds, c->data.classes);
    if (ds)
        (void)data_prepare(r->ctx, ds, path, &r->spec, train, (int)c->data.workers);
    if (ds && train)
        (void)ingot_dataset_shuffle(ds);
    if (ds)
        (void)ingot_dataset_batch(ds, c->train.batch, false);
    return ds;
}

/* A last batch of one sample would make batch norm divide by nothing; whole batches are what the
   compiled step is made for, too. */
static bool open_data(run *r)
{
    const recipe *c = &r->r;

    r->spec = (picture_spec){.channels = (int)c->data.channels,
                             .height = (int)c->data.size,
                             .width = (int)c->data.size,
                             .crop_padding = (int)c->data.crop_padding,
                             .flip = c->data.flip};
    if (!c->data.train[0])
        (void)ingot_set_error(r->ctx, INGOT_E_CONFIG,
                              "data.train: say where the pictures are (--set data.train=FOLDER)");
    if (!spec_list(r->ctx, "data.mean", &c->data.mean, r->spec.mean) ||
        !spec_list(r->ctx, "data.std", &c->data.std, r->spec.std) || ingot_error(r->ctx))
        return false;
    if (data_is_idx(c->data.train) && c->data.crop_padding && !r->spec.height) {
        ingot_dataset *ds = open_part(r, true); /* the crop needs to know the size */

        if (!ds || data_measure(r->ctx, ds, &r->spec) != INGOT_OK) {
            ingot_dataset_free(ds);
            return false;
        }
        ingot_dataset_free(ds);
    }
    r->train = open_part(r, true);
    r->test = r->train ? open_part(r, false) : NULL;
    if (!r->test || ingot_error(r->ctx))
        return false;
    if (ingot_dataset_size(r->train) >= c->train.batch)
        (void)ingot_dataset_batch(r->train, c->train.batch, true);
    return data_measure(r->ctx, r->train, &r->spec) == INGOT_OK;
}

/* Classes of the data: their names, or what the labels of an IDX file reach. */
static int64_t count_classes(run *r)
{
    int64_t n = ingot_dataset_class_count(r->train);

    if (n)
        return n;
    while (ingot_error(r->ctx) == INGOT_OK) {
        ingot_tensor *column[2];
        bool more;

        ingot_scope_begin(r->ctx);
        if (ingot_dataset_next(r->train, column, 2, &more) == INGOT_OK && more)
            for (int64_t i = 0; i < ingot_tensor_count(column[1]); i++) {
                int64_t label = ((const int64_t *)ingot_tensor_data(column[1]))[i];

                n = label >= n ? label + 1 : n;
            }
        ingot_scope_end(r->ctx);
        if (!more)
            break;
    }
    if (ingot_error(r->ctx) || ingot_dataset_seek(r->train, 0, 0) != INGOT_OK)
        return 0;
    return n;
}

/* --- net and optimiser
 * ------------------------------------------------------------------------------ */

static ingot_schedule schedule_of(const run *r)
{
    const recipe *c = &r->r;
    uint64_t total = (uint64_t)ingot_dataset_batches(r->train) * (uint64_t)c->train.epochs;
    ingot_schedule s = {.lr = c->train.lr, .warmup = (uint64_t)c->train.warmup};
    uint64_t left;

    if (c->train.steps && (uint64_t)c->train.steps < total)
        total = (uint64_t)c->train.steps;
    left = total > s.warmup ? total - s.warmup : 1;
    if (strcmp(c->train.schedule, "cosine") == 0) {
        s.kind = INGOT_SCHEDULE_COSINE;
        s.period = left;
    } else if (strcmp(c->train.schedule, "step") == 0) {
        s.kind = INGOT_SCHEDULE_STEP;
        s.period = left / 3 + 1;
    }
    return s;
}

static ingot_optimizer *make_optimizer(run *r)
{
    const recipe *c = &r->r;
    const ingot_schedule s = schedule_of(r);
    ingot_adam_options adam = {.weight_decay = c->train.weight_decay, .decay_matrices = true};
    ingot_sgd_options sgd = {.weight_decay = c->train.weight_decay, .decay_matrices = true};

    if (strcmp(c->train.optimizer, "adam") == 0)
        return ingot_adam(r->ctx, r->net, &s, &adam);
    if (strcmp(c->train.optimizer, "adamw") == 0)
        return ingot_adamw(r->ctx, r->net, &s, &adam);
    if (strcmp(c->train.optimizer, "momentum") == 0) {
        sgd.momentum = c->train.momentum;
        sgd.nesterov = c->train.nesterov;
    }
    return ingot_sgd(r->ctx, r->net, &s, &sgd);
}

static bool make_model(run *r)
{
    const recipe *c = &r->r;
    const ingot_net_options opt = {.channels = r->spec.channels,
                                   .height = r->spec.height,
                                   .width = r->spec.width,
                                   .classes = count_classes(r),
                                   .features = c->model.width,
                                   .depth = c->model.depth,
                                   .dropout = c->model.dropout};
    ingot_cell *loss;
    ingot_optimizer *optimizer;

    r->net = ingot_error(r->ctx) ? NULL : ingot_net_by_name(r->ctx, c->model.name, &opt);
    if (!r->net)
        return false;
    loss = ingot_nn_cross_entropy(
        r->ctx, &(ingot_nn_loss_options){.label_smoothing = c->train.label_smoothing});
    optimizer = make_optimizer(r);
    r->model = ingot_model_new(r->ctx, r->net, loss, optimizer, NULL);
    return r->model != NULL;
}

/* --- the run's folder
 * ------------------------------------------------------------------------------- */

static bool make_folder(run *r)
{
    char path[PATH_BYTES];
    size_t n = strlen(r->r.run.dir);

    if (n == 0 || n >= sizeof path) {
        (void)ingot_set_error(r->ctx, INGOT_E_CONFIG, "run.dir: %zu bytes long", n);
        return false;
    }
    memcpy(path, r->r.run.dir, n + 1);
    for (size_t i = 1; i <= n; i++)
        if (path[i] == '/' || path[i] == '\0') {
            char c = path[i];

            path[i] = '\0';
            struct stat there;

            if (mkdir(path, 0777) != 0 &&
                (errno != EEXIST || stat(path, &there) != 0 || !S_ISDIR(there.st_mode))) {
                (void)ingot_set_error(r->ctx, INGOT_E_IO, "run.dir %s: %s", path, strerror(errno));
                return false;
            }
            path[i] = c;
        }
    return true;
}

/* Goes on from the newest checkpoint, or makes sure that none would be overwritten. */
static bool take_up(run *r)
{
    const char *latest = ingot_checkpoint_latest(r->ctx, r->r.run.dir);

    if (ingot_error(r->ctx))
        return false;
    if (!r->resume && latest) {
        (void)ingot_set_error(
            r->ctx, INGOT_E_STATE,
            "run.dir %s holds a run already (%s): go on with --resume, or take another "
            "folder",
            r->r.run.dir, latest);
        return false;
    }
    if (!r->resume || !latest)
        return true;
    return ingot_model_load(r->model, latest) == INGOT_OK;
}

static bool prepare(run *r)
{
    char path[PATH_BYTES], err[RECIPE_ERROR] = "";

    if (!open_data(r) || !make_model(r) || !make_folder(r) || !take_up(r))
        return false;
    if (!run_path(r, "recipe.yaml", path, sizeof path) || !recipe_save(&r->r, path, err) ||
        !run_files_open(r, ingot_model_epoch(r->model), err, sizeof err)) {
        (void)ingot_set_error(r->ctx, INGOT_E_IO, "%s", err[0] ? err : "run.dir is too long");
        return false;
    }
    (void)ingot_model_add_callback(r->model, progress_callback(r));
    return ingot_model_add_callback(
               r->model, ingot_checkpoint(r->ctx, r->r.run.dir,
                                          &(ingot_checkpoint_options){
                                              .every = (uint64_t)r->r.train.checkpoint,
                                              .keep = (int)r->r.train.keep})) == INGOT_OK;
}

static ingot_status export_model(run *r, const char *path)
{
    const char *names[1024];
    int n = ingot_dataset_class_count(r->train);
    ingot_image_facts image = {
        .channels = r->spec.channels, .height = r->spec.height, .width = r->spec.width};

    n = n > 1024 ? 0 : n;
    for (int i = 0; i < n; i++)
        names[i] = ingot_dataset_class(r->train, i);
    memcpy(image.mean, r->spec.mean, sizeof image.mean);
    memcpy(image.std, r->spec.std, sizeof image.std);
    return ingot_export(r->ctx, r->net, INGOT_F32,
                        INGOT_INTS(r->spec.channels, r->spec.height, r->spec.width), path,
                        &(ingot_export_options){.name = r->r.model.name,
                                                .input_name = "image",
                                                .output_name = "logits",
                                                .class_names = names,
                                                .n_classes = n,
                                                .image = &image});
}

static int train(run *r)
{
    const recipe *c = &r->r;
    ingot_metrics m = {.loss = (double)NAN, .accuracy = (double)NAN};
    char path[PATH_BYTES];
    ingot_status s;

    if (!prepare(r))
        return report_context("train", r->json, r->ctx);
    if (!r->json)
        (void)printf("%s: %" PRId64 " parameters; %" PRId64
                     " pictures of %d x %d x %d to learn from, %" PRId64 " to test\n",
                     c->model.name, ingot_cell_element_count(r->net), ingot_dataset_size(r->train),
                     r->spec.height, r->spec.width, r->spec.channels, ingot_dataset_size(r->test));
    (void)fflush(stdout);
    running = r->model;
    catch_signals();
    s = ingot_model_train(
        r->model, c->train.epochs, r->train,
        &(ingot_train_options){.eval = r->test, .max_steps = (uint64_t)c->train.steps});
    running = NULL;
    if (s == INGOT_E_CANCELLED) {
        (void)report_error("train", r->json, "%s; go on with --resume", ingot_error_text(r->ctx));
        return EXIT_FAILED;
    }
    if (s == INGOT_OK && run_path(r, "model.ingot", path, sizeof path))
        s = export_model(r, path);
    if (s == INGOT_OK)
        s = ingot_model_eval(r->model, r->test, NULL, &m);
    if (s != INGOT_OK)
        return report_context("train", r->json, r->ctx);
    if (r->json)
        print_json(json_pack("{s:f, s:f, s:I, s:I, s:s}", "accuracy", m.accuracy, "loss", m.loss,
                             "step", (json_int_t)ingot_model_step(r->model), "epoch",
                             (json_int_t)ingot_model_epoch(r->model), "model", path));
    else
        (void)printf("test accuracy %.4f loss %.4f\nmodel: %s\n", m.accuracy, m.loss, path);
    return EXIT_DONE;
}

static bool read_recipe(recipe *r, const char *file, const option_texts *sets, char *err)
{
    recipe_init(r);
    if (file && !recipe_load(r, file, err))
        return false;
    for (int i = 0; i < sets->n; i++)
        if (!recipe_set(r, sets->v[i], err))
            return false;
    return true;
}

int command_train(int argc, char **argv)
{
    static run r; /* a recipe is too large for some stacks */
    option_texts sets = {.n = 0};
    char err[RECIPE_ERROR];
    const option_row rows[] = {
        {"set", "KEY=VALUE", "overrides a key of the recipe; may be given again", OPTION_MANY,
         &sets},
        {"resume", NULL, "go on from the newest checkpoint in run.dir, to the same bytes",
         OPTION_FLAG, &r.resume},
        {"json", NULL, "no progress; one object at the end", OPTION_FLAG, &r.json},
    };
    const usage u = {
        .command = "train",
        .synopsis = "[OPTION…] [RECIPE]",
        .about =
            "Trains a network to name pictures, by a recipe or with defaults on any folder that\n"
            "has one folder of JPEG or PNG files for each class. The run's folder gets the recipe\n"
            "as used, a log, metrics.csv, checkpoints, and model.ingot for eval and predict.\n"
            "Ctrl-C writes a checkpoint and ends.",
        .rows = rows,
        .n_rows = 3,
        .examples = "  ingot train --set data.train=photos --set run.dir=run\n"
                    "  ingot train recipes/fashion.yaml --set train.epochs=3\n"
                    "  ingot train --resume run/recipe.yaml\n",
        .more = recipe_help,
    };
    arguments rest;
    int status = options_read(&u, argc, argv, &rest);

    if (status >= 0)
        return status;
    if (rest.n > 1)
        return usage_error(&u, "one RECIPE at most, %d given", rest.n);
    if (!read_recipe(&r.r, rest.n ? rest.v[0] : NULL, &sets, err))
        return report_error("train", r.json, "%s", err);
    r.ctx = ingot_open(
        &(ingot_context_options){.seed = (uint64_t)r.r.seed, .threads = (int)r.r.threads});
    status = ingot_error(r.ctx) ? report_context("train", r.json, r.ctx) : train(&r);
    run_files_close(&r);
    ingot_model_free(r.model);
    ingot_cell_free(r.net);
    ingot_dataset_free(r.train);
    ingot_dataset_free(r.test);
    ingot_close(r.ctx);
    return status;
}
