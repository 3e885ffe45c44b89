/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "dataset.h"
#include "picture.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define TOP_MAX 100

typedef struct options {
    bool json, show;
    int64_t top;
} options;

/* Places and probabilities of the `top` greatest logits, best first; returns how many. */
static int best_of(ingot_tensor *logits, int64_t n, int top, int64_t *place, double *p)
{
    double max = -HUGE_VAL, sum = 0.0;
    int found = 0;

    for (int64_t k = 0; k < n; k++)
        max = fmax(max, ingot_tensor_item(logits, k));
    for (int64_t k = 0; k < n; k++)
        sum += exp(ingot_tensor_item(logits, k) - max);
    for (int64_t k = 0; k < n; k++) {
        double v = exp(ingot_tensor_item(logits, k) - max) / sum;
        int at = found;

        while (at > 0 && p[at - 1] < v)
            at--;
        if (at >= top)
            continue;
        found += found < top;
        for (int i = found - 1; i > at; i--) {
            p[i] = p[i - 1];
            place[i] = place[i - 1];
        }
        p[at] = v;
        place[at] = k;
    }
    return found;
}

static const char *class_name(const ingot_session *s, int64_t k, char *buf, size_t size)
{
    const char *name = ingot_session_class_name(s, (int)k);

    (void)snprintf(buf, size, "%lld", (long long)k);
    return name ? name : buf;
}

static void draw(ingot_tensor *pixels)
{
    bool colour = isatty(STDOUT_FILENO) != 0;

    picture_draw(stdout, ingot_tensor_data(pixels), (int)ingot_tensor_dim(pixels, 0),
                 (int)ingot_tensor_dim(pixels, 1), (int)ingot_tensor_dim(pixels, 2), 64, colour);
}

static ingot_status predict(ingot_context *ctx, ingot_session *s, const char *path,
                            const options *opt, json_t *list)
{
    int64_t place[TOP_MAX], n;
    ingot_tensor *x, *raw, *logits;
    double p[TOP_MAX];
    json_t *classes;
    char buf[32];
    int found;

    x = picture_load(ctx, path, ingot_session_image(s), &raw);
    if (!x || ingot_session_run(s, &x, 1, &logits, 1) != INGOT_OK)
        return ingot_error(ctx);
    n = ingot_tensor_count(logits);
    found = best_of(logits, n, (int)(opt->top < n ? opt->top : n), place, p);
    if (!opt->json) {
        if (opt->show)
            draw(raw);
        (void)printf("%s:", path);
        for (int i = 0; i < found; i++)
            (void)printf("%s %s %.1f %%", i ? "," : "", class_name(s, place[i], buf, sizeof buf),
                         100.0 * p[i]);
        (void)printf("\n");
        return INGOT_OK;
    }
    classes = json_array();
    for (int i = 0; i < found; i++)
        (void)json_array_append_new(
            classes, json_pack("{s:s, s:I, s:f}", "class", class_name(s, place[i], buf, sizeof buf),
                               "index", (json_int_t)place[i], "probability", p[i]));
    (void)json_array_append_new(list, json_pack("{s:s, s:o}", "file", path, "classes", classes));
    return INGOT_OK;
}

int command_predict(int argc, char **argv)
{
    options opt = {.top = 1};
    const option_row rows[] = {
        {"top", "N", "name the N likeliest classes (1)", OPTION_INT, &opt.top},
        {"show", NULL, "draw each picture as the network sees it", OPTION_FLAG, &opt.show},
        {"json", NULL, "one object with all predictions", OPTION_FLAG, &opt.json},
    };
    const usage u = {
        .command = "predict",
        .synopsis = "[OPTION…] MODEL FILE…",
        .about =
            "Says what pictures (JPEG, PNG) show. Each is brought to the network's size; what is\n"
            "beyond the middle square of a longer one is not seen. A file that cannot be read is\n"
            "named, the others are still told, and the exit status is 1.",
        .rows = rows,
        .n_rows = 3,
        .examples = "  ingot predict --show run/model.ingot photo.jpg\n"
                    "  ingot predict --top 3 --json run/model.ingot *.png\n",
    };
    arguments rest;
    int status = options_read(&u, argc, argv, &rest);
    bool failed = false;

    if (status >= 0)
        return status;
    if (rest.n < 2)
        return usage_error(&u, "MODEL and at least one FILE are needed");
    if (opt.top < 1 || opt.top > TOP_MAX)
        return usage_error(&u, "--top goes from 1 to %d", TOP_MAX);
    ingot_context *ctx = ingot_open(NULL);
    ingot_session *s = ingot_session_load(ctx, rest.v[0]);

    if (s && !ingot_session_image(s)->channels)
        (void)ingot_set_error(ctx, INGOT_E_UNSUPPORTED, "%s: the model takes no pictures",
                              rest.v[0]);
    if (ingot_error(ctx)) {
        status = report_context("predict", opt.json, ctx);
        ingot_session_free(s);
        ingot_close(ctx);
        return status;
    }
    json_t *list = json_array();

    for (int i = 1; i < rest.n; i++) {
        ingot_scope_begin(ctx);
        if (predict(ctx, s, rest.v[i], &opt, list) != INGOT_OK) {
            (void)report_context("predict", false, ctx);
            ingot_clear_error(ctx);
            failed = true;
        }
        ingot_scope_end(ctx);
    }
    if (opt.json)
        print_json(json_pack("{s:O}", "predictions", list));
    json_decref(list);
    ingot_session_free(s);
    ingot_close(ctx);
    return failed ? EXIT_FAILED : EXIT_DONE;
}
