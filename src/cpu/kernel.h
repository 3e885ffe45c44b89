/* SPDX-License-Identifier: Apache-2.0 */
/* The seam between the runtime and the CPU kernels. A kernel knows nothing of graphs: it sees
   types, attribute values and pointers.

   A kernel's life: when a program is compiled (or an eager op runs) the runtime picks the first
   row whose op and dtypes match, fills a kcall, and calls plan, which reads the attributes,
   chooses tiles, and says how much work there is. Each step then calls run for every phase, over
   the phase's units, from several threads; a barrier lies between phases. Nothing is allocated
   or looked up in a step. */
#ifndef CPU_KERNEL_H
#define CPU_KERNEL_H

#include "tensor/attr.h"

/* What kernels may know of the machine; filled once when a context opens. */
typedef struct machine {
    const char *isa;    /* "generic" "avx2" "avx512" "neon" */
    const char *cpu;    /* brand text */
    size_t l1d, l2, l3; /* bytes; l2 per core */
    int threads;        /* for reports only: no plan may depend on it */
    bool no_winograd;   /* 3x3 convolutions are summed directly */
} machine;

#define KCALL_PHASES 4
#define TYPE_ABSENT  ((type){.rank = -1}) /* an optional input that was not given */

typedef struct kcall {
    /* set by the runtime */
    const machine *mach;
    const type *in, *out; /* concrete (no DIM_SYM) */
    int n_in, n_out;
    const attr *attrs; /* in signature order */
    const char *const *attr_names;
    int n_attrs;
    const void *extra; /* fused regions: the loop_desc */
    unsigned fixed;    /* bit i: input i is the same in every run */
    void *plan;        /* plan_size zeroed bytes, the kernel's own */
    /* set by plan (phases = 1 and grain = 1 beforehand) */
    int phases;
    int64_t units[KCALL_PHASES]; /* the split: depends on types and attributes alone */
    int64_t grain[KCALL_PHASES]; /* units that a worker takes at a time, at least 1 */
    size_t scratch;              /* bytes per worker, 64-aligned, contents undefined */
    size_t work;                 /* bytes shared by all workers and phases of this call */
    /* The first `once` phases read only the fixed inputs in `packed`, which later phases do not,
       and run a single time: work then belongs to this call and keeps what they wrote. */
    int once;
    unsigned packed;
} kcall;

/* buf: the inputs in order (NULL = absent), then the outputs. No two workers are given the same
   unit; scratch belongs to the calling worker. */
typedef void (*kernel_run)(const kcall *c, void *const *buf, int phase, int64_t lo, int64_t hi,
                           void *scratch, void *work);

typedef struct kernel_row {
    const char *op;
    const char *dtypes; /* one pattern per input, space-separated: "f32", "i32|i64", "*"; the
                           last one repeats. An absent input matches anything. */
    size_t plan_size;
    bool (*plan)(kcall *c, error *e); /* false = error set (memory, or "not supported") */
    kernel_run run;
    unsigned inplace; /* bit i: output 0 may share the buffer of input i (same type) */
} kernel_row;

/* Rows of one instruction set, all families; NULL for an unknown or unbuilt name. The array ends
   with a row whose op is NULL. */
const kernel_row *const *cpu_kernels(const char *isa); /* array of family arrays, NULL-ended */
/* Best instruction set of this CPU, or the one that `want` names (NULL = $INGOT_ISA, then best).
   Errors: unknown name, not built, or not supported by this CPU. */
bool cpu_detect(const char *want, machine *m, error *e);
/* The built and supported instruction sets, best first, NULL-ended. */
const char *const *cpu_isas(void);
/* First row for op whose dtypes match, or NULL. */
const kernel_row *cpu_find(const char *isa, const char *op, const type *in, int n_in);

/* Attribute access for plan functions; the name must be one of the op's (asserted). */
int64_t kcall_int(const kcall *c, const char *name);
double kcall_real(const kcall *c, const char *name);
ints kcall_ints(const kcall *c, const char *name);

#endif
