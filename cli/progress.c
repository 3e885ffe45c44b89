/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says while it goes on. */
#include "train.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH  24
#define PATH_BYTES 4096

typedef struct meter {
    run *r;
    bool terminal;
    double rate;        /* samples a second, smoothed */
    double step_time;   /* seconds a step, smoothed */
    uint64_t last_draw; /* nanoseconds of steps since the bar was drawn */
} meter;

bool run_path(const run *r, const char *name, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s/%s", r->r.run.dir, name);

    return n > 0 && (size_t)n < size;
}

/* "1:02:03", "4:05" */
static void time_text(double seconds, char *buf, size_t size)
{
    int64_t s = seconds > 0 && seconds < 1e9 ? (int64_t)(seconds + 0.5) : 0;

    if (s >= 3600)
        (void)snprintf(buf, size, "%" PRId64 ":%02" PRId64 ":%02" PRId64, s / 3600, s / 60 % 60,
                       s % 60);
    else
        (void)snprintf(buf, size, "%" PRId64 ":%02" PRId64, s / 60, s % 60);
}

static double time_left(const meter *m, const ingot_progress *p)
{
    double steps = (double)(p->epochs - p->epoch) * (double)p->batches - (double)p->batch;

    if (m->r->r.train.steps && (double)m->r->r.train.steps - (double)p->step < steps)
        steps = (double)m->r->r.train.steps - (double)p->step;
    return steps * m->step_time;
}

static void draw_bar(meter *m, const ingot_progress *p)
{
    int full = p->batches ? (int)(p->batch * BAR_WIDTH / p->batches) : 0;
    char bar[BAR_WIDTH + 1], left[32];

    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    time_text(time_left(m, p), left, sizeof left);
    (void)fprintf(stderr,
                  "\repoch %" PRId64 "/%" PRId64 " [%s] %.0f samples/s loss %.4f left %s \033[K",
                  p->epoch + 1, p->epochs, bar, m->rate, p->train.loss, left);
    (void)fflush(stderr);
}

static void write_metrics(const run *r, const ingot_progress *p)
{
    if (!r->metrics)
        return;
    (void)fprintf(r->metrics, "%" PRIu64 ",%" PRId64 ",%.9g,%.9g,%.9g", p->step, p->epoch, p->lr,
                  p->train.loss, p->train.accuracy);
    if (p->eval)
        (void)fprintf(r->metrics, ",%.9g,%.9g\n", p->eval->loss, p->eval->accuracy);
    else
        (void)fputs(",,\n", r->metrics);
    (void)fflush(r->metrics);
}

static void say(const run *r, const char *line)
{
    if (r->log) {
        (void)fprintf(r->log, "%s\n", line);
        (void)fflush(r->log);
    }
    if (!r->json)
        (void)printf("%s\n", line);
    (void)fflush(stdout);
}

static void step_end(meter *m, const ingot_progress *p)
{
    double seconds = 1e-9 * (double)p->step_ns, now = (double)p->samples / (seconds + 1e-12);
    double keep = m->rate > 0.0 ? 0.95 : 0.0;
    char line[256];

    m->rate = keep * m->rate + (1.0 - keep) * now;
    m->step_time = keep * m->step_time + (1.0 - keep) * seconds;
    m->last_draw += p->step_ns;
    if (m->terminal && (m->last_draw > 100000000 || p->batch == p->batches)) {
        m->last_draw = 0;
        draw_bar(m, p);
    }
    if (p->step % (uint64_t)m->r->r.train.log != 0)
        return;
    (void)snprintf(line, sizeof line,
                   "epoch %" PRId64 "/%" PRId64 " batch %" PRId64 "/%" PRId64 " step %" PRIu64
                   " loss %.4f lr %.3g %.0f samples/s",
                   p->epoch + 1, p->epochs, p->batch, p->batches, p->step, p->loss, p->lr, m->rate);
    if (m->terminal && m->r->log)
        (void)fprintf(m->r->log, "%s\n", line);
    else if (!m->terminal)
        say(m->r, line);
}

static void epoch_end(meter *m, const ingot_progress *p)
{
    char line[256], test[96] = "";

    if (m->terminal)
        (void)fputs("\r\033[K", stderr);
    if (p->eval)
        (void)snprintf(test, sizeof test, ", test loss %.4f accuracy %.4f", p->eval->loss,
                       p->eval->accuracy);
    (void)snprintf(line, sizeof line, "epoch %" PRId64 "/%" PRId64 ": loss %.4f accuracy %.4f%s",
                   p->epoch, p->epochs, p->train.loss, p->train.accuracy, test);
    say(m->r, line);
    write_metrics(m->r, p);
}

static int on_event(ingot_event event, const ingot_progress *p, void *user)
{
    meter *m = user;

    if (event == INGOT_STEP_END)
        step_end(m, p);
    else if (event == INGOT_EPOCH_END)
        epoch_end(m, p);
    else if (event == INGOT_TRAIN_END && m->terminal)
        (void)fputs("\r\033[K", stderr);
    return 0;
}

ingot_callback *progress_callback(run *r)
{
    meter *m = calloc(1, sizeof *m);

    if (!m) {
        (void)ingot_set_error(r->ctx, INGOT_E_MEMORY, "no memory for the progress bar");
        return NULL;
    }
    m->r = r;
    m->terminal = isatty(STDERR_FILENO) && !r->json;
    return ingot_callback_new(r->ctx, on_event, m, free);
}

/* Keeps the header and the lines of epochs up to `epoch`, through a temporary file. An epoch's line
   may be there though the newest checkpoint was written before its end. */
static bool cut_metrics(const char *path, int64_t epoch)
{
    char line[512], tmp[PATH_BYTES + 8];
    FILE *in = fopen(path, "r"), *out;
    bool ok = true, first = true;

    if (!in)
        return errno == ENOENT;
    (void)snprintf(tmp, sizeof tmp, "%s.tmp", path);
    out = fopen(tmp, "w");
    while (out && fgets(line, sizeof line, in)) {
        const char *comma = strchr(line, ',');

        if (first || (comma && strtoll(comma + 1, NULL, 10) <= epoch))
            ok = fputs(line, out) >= 0 && ok;
        first = false;
    }
    (void)fclose(in);
    ok = out && fclose(out) == 0 && ok;
    return ok && rename(tmp, path) == 0;
}

bool run_files_open(run *r, int64_t epoch, char *err, size_t size)
{
    char log[PATH_BYTES], metrics[PATH_BYTES];

    if (!run_path(r, "log.txt", log, sizeof log) ||
        !run_path(r, "metrics.csv", metrics, sizeof metrics)) {
        (void)snprintf(err, size, "run.dir: the path is too long");
        return false;
    }
    if (!r->resume)
        (void)remove(metrics);
    else if (!cut_metrics(metrics, epoch)) {
        (void)snprintf(err, size, "%s: %s", metrics, strerror(errno));
        return false;
    }
    r->log = fopen(log, r->resume ? "a" : "w");
    r->metrics = fopen(metrics, "a");
    if (!r->log || !r->metrics) {
        (void)snprintf(err, size, "%s: %s", r->log ? metrics : log, strerror(errno));
        run_files_close(r);
        return false;
    }
    if (fseek(r->metrics, 0, SEEK_END) == 0 && ftell(r->metrics) == 0) {
        (void)fputs("step,epoch,lr,loss,accuracy,test_loss,test_accuracy\n", r->metrics);
        (void)fflush(r->metrics);
    }
    return true;
}

void run_files_close(run *r)
{
    if (r->log)
        (void)fclose(r->log);
    if (r->metrics)
        (void)fclose(r->metrics);
    r->log = r->metrics = NULL;
}
