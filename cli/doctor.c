/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

int command_doctor(int argc, char **argv)
{
    bool json = false;
    const option_row rows[] = {{"json", NULL, "one object", OPTION_FLAG, &json}};
    const usage u = {
        .command = "doctor",
        .synopsis = "[--json]",
        .about =
            "Tells what this machine and this build can do: version, processor, the instruction\n"
            "sets that kernels were built for and the one in use ($INGOT_ISA forces a lesser\n"
            "one), threads, formats.",
        .rows = rows,
        .n_rows = 1,
        .examples = "  ingot doctor\n  INGOT_ISA=generic ingot doctor\n",
    };
    arguments rest;
    int status = options_read(&u, argc, argv, &rest);

    if (status >= 0)
        return status;
    if (rest.n != 0)
        return usage_error(&u, "no argument is taken, '%s' given", rest.v[0]);
    ingot_context *ctx = ingot_open(NULL);

    if (!ctx || ingot_error(ctx)) {
        status = report_context("doctor", json, ctx);
        ingot_close(ctx);
        return status;
    }
    json_t *isas = json_array();

    for (int i = 0; ingot_isa_available(ctx, i); i++)
        (void)json_array_append_new(isas, json_string(ingot_isa_available(ctx, i)));
    if (json) {
        print_json(json_pack("{s:s, s:s, s:o, s:s, s:i, s:i, s:i, s:[s,s,s,s]}", "version",
                             INGOT_VERSION, "cpu", ingot_cpu(ctx), "isas", isas, "isa",
                             ingot_isa(ctx), "threads", ingot_threads(ctx), "ops",
                             ingot_op_count(ctx), "kernels", ingot_kernel_count(ctx), "formats",
                             "jpeg", "png", "idx", "safetensors"));
    } else {
        (void)printf("Ingot      %s\nCPU        %s\nISAs      ", INGOT_VERSION, ingot_cpu(ctx));
        for (int i = 0; ingot_isa_available(ctx, i); i++)
            (void)printf(" %s", ingot_isa_available(ctx, i));
        (void)printf(
            "\nin use     %s%s\nthreads    %d of %ld\nops        %d, of which %d kernels bind\n"
            "formats    JPEG, PNG, IDX, safetensors\nparts      MPI no, ONNX no, CUDA no\n",
            ingot_isa(ctx), getenv("INGOT_ISA") ? " ($INGOT_ISA)" : "", ingot_threads(ctx),
            sysconf(_SC_NPROCESSORS_ONLN), ingot_op_count(ctx), ingot_kernel_count(ctx));
        json_decref(isas);
    }
    ingot_close(ctx);
    return EXIT_DONE;
}
