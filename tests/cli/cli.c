/* SPDX-License-Identifier: Apache-2.0 */
/* The command from the outside: what it does with good input, with bad input, and when it is
   killed. */
#include "cli/shell.h"

#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

static const char *ingot;

/* A small net on small pictures: a run takes less than a second. */
#define SMALL                                                                                 \
    "--set data.train=data --set data.test=data --set model.width=4 --set model.dropout=0.2 " \
    "--set train.batch=16 --set train.epochs=4 --set train.lr=0.01 --set threads=1 "

static int setup(void **state)
{
    static shell s;

    shell_open(&s, ingot);
    shell_make_data(&s, "data", 12, 240, 60);
    *state = &s;
    return 0;
}

static int teardown(void **state)
{
    shell_close(*state);
    return 0;
}

static void help_teaches(void **state)
{
    static const char *const commands[] = {"train", "eval", "predict", "graph", "data", "doctor"};

    shell_expect(*state, 0, "Usage: ingot COMMAND", "@ --help");
    shell_expect(*state, 0, "0.1.0", "@ --version");
    for (int i = 0; i < 6; i++)
        shell_expect(*state, 0, commands[i], "@ %s --help", commands[i]);
    shell_expect(*state, 0, "data.train", "@ train --help");
    shell_expect(*state, 0, "\"isa\"", "@ doctor --json");
}

static void wrong_usage_exits_with_2(void **state)
{
    shell_expect(*state, 2, "no command 'fly'", "@ fly");
    shell_expect(*state, 2, "Usage", "@");
    shell_expect(*state, 2, "no option '--fast'", "@ train --fast");
    shell_expect(*state, 2, "--top", "@ predict --top x m.ingot p.png");
    shell_expect(*state, 2, "MODEL and DATA", "@ eval m.ingot");
    shell_expect(*state, 2, "FILE", "@ graph");
    shell_expect(*state, 2, "--set needs", "@ train --set");
}

static void a_wrong_recipe_names_line_and_key(void **state)
{
    static const char unknown[] = "seed: 1\ntrain:\n  epochs: 3\n  speed: 9\n";
    static const char kind[] = "train:\n  epochs: many\n";

    shell_write(*state, "unknown.yaml", unknown, sizeof unknown - 1);
    shell_write(*state, "kind.yaml", kind, sizeof kind - 1);
    shell_expect(*state, 1, "unknown.yaml:4: unknown key 'train.speed'", "@ train unknown.yaml");
    shell_expect(*state, 1, "kind.yaml:2", "@ train kind.yaml");
    shell_expect(*state, 1, "train.epochs", "@ train kind.yaml");
    shell_expect(*state, 1, "train.lr", "@ train --set train.lr=fast");
    shell_expect(*state, 1, "model.name", "@ train --set model.name=unet");
    shell_expect(*state, 1, "nowhere.yaml", "@ train nowhere.yaml");
    shell_expect(*state, 1, "data.train", "@ train");
    shell_expect(*state, 1, "nowhere", "@ train --set data.train=nowhere");
}

/* From data to predictions, and the graph's text there and back. */
static void the_chain_holds(void **state)
{
    shell *s = *state;

    shell_expect(s, 0, "model: run/model.ingot",
                 "@ train " SMALL "--set run.dir=run --set data.classes=top,middle,bottom");
    shell_expect(s, 0, "\"accuracy\": 1", "@ eval --json run/model.ingot data");
    shell_expect(s, 0, "step,epoch,lr,loss", "cat run/metrics.csv");
    shell_expect(s, 0, NULL, "@ graph run/model.ingot >g1.txt && @ graph g1.txt >g2.txt");
    shell_same(s, "g1.txt", "g2.txt");
    shell_expect(s, 0, "digraph", "@ graph --dot run/model.ingot");
    shell_expect(s, 0, "\"parameters\"", "@ graph --json run/model.ingot");
    shell_expect(s, 0, "arena", "@ graph --memory --batch 16 run/model.ingot");
    shell_expect(s, 0, "fused(", "@ graph --after fuse run/model.ingot");
    shell_expect(s, 1, "'melt' is no pass", "@ graph --after melt run/model.ingot");
    shell_expect(s, 2, "--batch", "@ graph --memory --batch 0 run/model.ingot");
    shell_expect(s, 0, "6 pictures",
                 "@ data convert --test --limit 6 --classes top,middle,bottom data pictures");
    shell_expect(s, 0, "pictures/middle/000001.png: middle",
                 "@ predict --show run/model.ingot pictures/*/*.png");
    shell_expect(s, 0, "\"class\": \"bottom\"",
                 "@ predict --json --top 2 run/model.ingot pictures/bottom/000002.png");
    shell_expect(s, 0, "\"accuracy\": 1", "@ eval --json run/model.ingot pictures");
    /* the same pictures as class folders */
    shell_expect(s, 0, "240 pictures", "@ data convert data folders");
    shell_expect(s, 0, "test accuracy",
                 "@ train --set data.train=folders --set data.size=12 --set data.channels=1 "
                 "--set model.width=4 --set train.epochs=3 --set train.lr=0.01 --set run.dir=run2");
    /* a run is not written over */
    shell_expect(s, 1, "holds a run already", "@ train " SMALL "--set run.dir=run");
}

#define LAST "checkpoint-000000000060.safetensors" /* 240 / 16 batches, four epochs */

static void threads_and_workers_change_no_bit(void **state)
{
    static const int threads[] = {1, 2, 4}, workers[] = {0, 1, 3, 8};
    shell *s = *state;

    for (int t = 0; t < 3; t++)
        for (int w = 0; w < 4; w++) {
            char name[64];

            shell_expect(s, 0, NULL,
                         "@ train " SMALL
                         "--set threads=%d --set data.workers=%d --set run.dir=d%d%d "
                         "--set data.flip=true --set data.crop_padding=1",
                         threads[t], workers[w], t, w);
            (void)snprintf(name, sizeof name, "d%d%d/" LAST, t, w);
            shell_same(s, "d00/" LAST, name);
            (void)snprintf(name, sizeof name, "d%d%d/model.ingot", t, w);
            shell_same(s, "d00/model.ingot", name);
        }
}

static void sleep_us(int64_t us)
{
    const struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    (void)nanosleep(&t, NULL);
}

#define PIECES "--set train.checkpoint=3 --set run.dir=pieces"

/* The newest checkpoint's name in `pieces`, "" before the first. */
static void newest_checkpoint(const shell *s, char name[64])
{
    char pattern[128];
    glob_t found;

    name[0] = '\0';
    (void)snprintf(pattern, sizeof pattern, "%s/pieces/checkpoint-*.safetensors", s->folder);
    if (glob(pattern, 0, NULL, &found) == 0)
        (void)snprintf(name, 64, "%s", strrchr(found.gl_pathv[found.gl_pathc - 1], '/') + 1);
    globfree(&found);
}

/* Waits until the run has saved one more checkpoint, or has ended: whether it is still on its way.
 */
static bool saved_one_more(const shell *s, int pid, const char *before)
{
    char name[64];
    siginfo_t info = {0};

    for (;;) {
        newest_checkpoint(s, name);
        if (strcmp(name, before) > 0)
            return strcmp(name, LAST) < 0;
        assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
        if (info.si_pid)
            return false;
        sleep_us(100);
    }
}

/* Killed again and again on its way, once at its very start and then soon after it saved, in the
   next save or between two; each time it goes on. Progress says when, for machines differ in speed.
 */
static void a_killed_run_goes_on_to_the_same_bytes(void **state)
{
    static const int64_t later_us[] = {0, 1500, 300, 4000, 700, 2500};
    shell *s = *state;
    char name[64];
    int killed = 0, pid;

    shell_expect(s, 0, NULL, "@ train " SMALL "--set train.checkpoint=3 --set run.dir=whole");
    pid = shell_start(s, "@ train --resume " SMALL PIECES);
    (void)kill(pid, SIGKILL);
    assert_int_equal(shell_wait(pid), 128 + SIGKILL);
    for (int i = 0; i < 6; i++) {
        bool on_its_way;

        newest_checkpoint(s, name);
        pid = shell_start(s, "@ train --resume " SMALL PIECES);
        on_its_way = saved_one_more(s, pid, name);
        sleep_us(later_us[i]);
        (void)kill(pid, SIGKILL);
        killed += shell_wait(pid) == 128 + SIGKILL && on_its_way;
    }
    assert_true(killed > 0);
    shell_expect(s, 0, NULL, "@ train --resume " SMALL PIECES);
    shell_same(s, "whole/" LAST, "pieces/" LAST);
    shell_same(s, "whole/model.ingot", "pieces/model.ingot");
    shell_same(s, "whole/metrics.csv", "pieces/metrics.csv");
}

static void an_interrupted_run_saves_and_goes_on(void **state)
{
    shell *s = *state;
    int pid = shell_start(s, "@ train " SMALL "--set train.epochs=4000 --set run.dir=long");

    sleep_us(700000);
    (void)kill(pid, SIGINT);
    assert_int_equal(shell_wait(pid), 1);
    shell_expect(s, 0, "checkpoint-", "ls long");
    pid = shell_start(s, "@ train --resume " SMALL "--set train.epochs=4000 --set run.dir=long");
    sleep_us(500000);
    (void)kill(pid, SIGTERM);
    assert_int_equal(shell_wait(pid), 1);
}

/* One bit at a time all through the file, and every kind of short file. */
static void a_damaged_model_is_refused(void **state)
{
    shell *s = *state;
    unsigned char *p;
    size_t n;

    shell_expect(s, 0, NULL, "@ train " SMALL "--set train.steps=2 --set run.dir=m");
    p = shell_read(s, "m/model.ingot", &n);
    for (size_t i = 0; i < 40; i++) {
        size_t at = i < 20 ? i : (n - 1) * (i - 20) / 19;

        p[at] ^= (unsigned char)(1u << i % 8);
        shell_write(s, "bad.ingot", p, n);
        p[at] ^= (unsigned char)(1u << i % 8);
        shell_expect(s, 1, "bad.ingot", "@ eval bad.ingot data");
    }
    for (size_t i = 0; i < 12; i++) {
        shell_write(s, "short.ingot", p, n * i / 12);
        shell_expect(s, 1, "short.ingot", "@ predict short.ingot x.png");
    }
    free(p);
    shell_expect(s, 1, "nothing.ingot", "@ eval nothing.ingot data");
}

static void bad_data_is_named(void **state)
{
    static const unsigned char junk[] = "\xff\xd8 no picture";
    shell *s = *state;

    shell_expect(s, 0, NULL, "@ data convert --limit 60 data f && mkdir f/empty");
    shell_expect(s, 1, "f/empty: a class without pictures",
                 "@ train --set data.train=f --set run.dir=e1");
    shell_expect(s, 0, NULL, "rmdir f/empty && : >f/00/zero.png");
    shell_expect(s, 1, "zero.png: the file is empty",
                 "@ train --set data.train=f --set data.validation=0 --set run.dir=e2 "
                 "--set train.epochs=1");
    shell_expect(s, 0, NULL, "rm f/00/zero.png");
    shell_write(s, "f/01/junk.jpg", junk, sizeof junk);
    shell_expect(s, 1, "junk.jpg: JPEG:",
                 "@ train --set data.train=f --set data.validation=0 --set run.dir=e3 "
                 "--set train.epochs=1");
    shell_expect(s, 0, NULL,
                 "mkdir cut && head -c 3000 data/train-images-idx3-ubyte "
                 ">cut/train-images-idx3-ubyte && cp data/train-labels* cut");
    shell_expect(s, 1, "bytes are missing", "@ train --set data.train=cut --set run.dir=e4");
    shell_expect(s, 1, "run.dir", "@ train " SMALL "--set run.dir=data/t10k-labels-idx1-ubyte");
    shell_expect(s, 1, "the loss is",
                 "@ train " SMALL "--set train.lr=100 --set train.optimizer=momentum "
                 "--set train.schedule=constant --set run.dir=nan");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_teaches),
        cmocka_unit_test(wrong_usage_exits_with_2),
        cmocka_unit_test(a_wrong_recipe_names_line_and_key),
        cmocka_unit_test(the_chain_holds),
        cmocka_unit_test(threads_and_workers_change_no_bit),
        cmocka_unit_test(a_killed_run_goes_on_to_the_same_bytes),
        cmocka_unit_test(an_interrupted_run_saves_and_goes_on),
        cmocka_unit_test(a_damaged_model_is_refused),
        cmocka_unit_test(bad_data_is_named),
    };

    if (argc != 2) {
        (void)fprintf(stderr, "usage: test_cli PATH_OF_INGOT\n");
        return 2;
    }
    ingot = argv[1];
    return cmocka_run_group_tests(tests, setup, teardown);
}
