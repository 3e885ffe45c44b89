/* SPDX-License-Identifier: Apache-2.0 */
/* What this CPU can do, and the kernels built for it. */
#include "cpu/kernel.h"

#include <assert.h>
#include <cpuinfo.h>
#include <stdlib.h>
#include <string.h>

#define ISA(name) extern const kernel_row *const kernel_families_##name[];
#include "cpu/isas.inc"
#undef ISA

/* Every file of an instruction set is compiled with all the flags of cmake/Cpu.cmake, so each of
   those features must be there. */
static bool has_avx512(void)
{
    return cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() && cpuinfo_has_x86_avx512vl() &&
           cpuinfo_has_x86_avx512dq() && cpuinfo_has_x86_fma3() && cpuinfo_has_x86_f16c();
}

static bool has_avx2(void)
{
    return cpuinfo_has_x86_avx2() && cpuinfo_has_x86_fma3() && cpuinfo_has_x86_f16c();
}

static bool has_neon(void)
{
    return cpuinfo_has_arm_neon_fma();
}

static bool isa_supported(const char *isa)
{
    if (!strcmp(isa, "generic"))
        return true;
    if (!cpuinfo_initialize())
        return false;
    if (!strcmp(isa, "avx512"))
        return has_avx512();
    if (!strcmp(isa, "avx2"))
        return has_avx2();
    return !strcmp(isa, "neon") && has_neon();
}

const kernel_row *const *cpu_kernels(const char *isa)
{
#define ISA(name)            \
    if (!strcmp(isa, #name)) \
        return kernel_families_##name;
#include "cpu/isas.inc"
#undef ISA
    return NULL;
}

/* The list is best first, and a CPU with one of its instruction sets has all that follow. */
const char *const *cpu_isas(void)
{
    static const char *const built[] = {
#define ISA(name) #name,
#include "cpu/isas.inc"
#undef ISA
        NULL,
    };
    const char *const *isa = built;

    while (*isa && !isa_supported(*isa))
        isa++;
    return isa;
}

static bool isa_known(const char *isa)
{
    static const char *const known[] = {"generic", "avx2", "avx512", "neon"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(isa, known[i]))
            return true;
    return false;
}

static const char *isa_choose(const char *want, error *e)
{
    const char *const *have = cpu_isas();

    if (!want || !*want) {
        if (!*have)
            fail(e, INGOT_E_UNSUPPORTED, "no kernels are built for this CPU");
        return *have;
    }
    for (; *have; have++)
        if (!strcmp(*have, want))
            return *have;
    if (!isa_known(want))
        fail(e, INGOT_E_ARGUMENT,
             "instruction set '%s' is unknown; expected generic, avx2, avx512 or neon", want);
    else if (!cpu_kernels(want))
        fail(e, INGOT_E_UNSUPPORTED, "instruction set '%s' is not part of this build", want);
    else
        fail(e, INGOT_E_UNSUPPORTED, "instruction set '%s' is not supported by this CPU", want);
    return NULL;
}

static size_t cache_size(const struct cpuinfo_cache *c, size_t otherwise)
{
    return c && c->size ? c->size : otherwise;
}

bool cpu_detect(const char *want, machine *m, error *e)
{
    const char *isa = isa_choose(want ? want : getenv("INGOT_ISA"), e);
    const struct cpuinfo_processor *p = NULL;

    if (!isa)
        return false;
    *m = (machine){.isa = isa, .cpu = "unknown CPU", .threads = 1};
    if (cpuinfo_initialize()) {
        p = cpuinfo_get_processors_count() ? cpuinfo_get_processor(0) : NULL;
        m->threads = (int)cpuinfo_get_processors_count();
        if (cpuinfo_get_packages_count() && cpuinfo_get_package(0)->name[0])
            m->cpu = cpuinfo_get_package(0)->name;
    }
    m->l1d = cache_size(p ? p->cache.l1d : NULL, (size_t)32 << 10);
    m->l2 = cache_size(p ? p->cache.l2 : NULL, (size_t)512 << 10);
    m->l3 = cache_size(p ? p->cache.l3 : NULL, 0);
    return true;
}

/* Does the dtype d match a pattern like "f32|f64" or "*" (of n characters)? */
static bool pattern_matches(const char *pat, size_t n, dtype d)
{
    const char *name = dtype_name(d);
    size_t len = strlen(name);

    if (n == 1 && *pat == '*')
        return true;
    for (size_t i = 0; i < n;) {
        size_t j = i;
        while (j < n && pat[j] != '|')
            j++;
        if (j - i == len && !memcmp(pat + i, name, len))
            return true;
        i = j + 1;
    }
    return false;
}

static bool row_matches(const kernel_row *row, const type *in, int n_in)
{
    const char *pat = row->dtypes;

    for (int i = 0; i < n_in; i++) {
        size_t n = strcspn(pat, " ");
        if (in[i].rank >= 0 && !pattern_matches(pat, n, in[i].dt))
            return false;
        if (pat[n])
            pat += n + 1;
    }
    return true;
}

const kernel_row *cpu_find(const char *isa, const char *op, const type *in, int n_in)
{
    const kernel_row *const *family = cpu_kernels(isa);

    for (; family && *family; family++)
        for (const kernel_row *row = *family; row->op; row++)
            if (!strcmp(row->op, op) && row_matches(row, in, n_in))
                return row;
    return NULL;
}

static const attr *kcall_attr(const kcall *c, const char *name, attr_kind kind)
{
    static const attr none[] = {
        [ATTR_INT] = {.kind = ATTR_INT},   [ATTR_REAL] = {.kind = ATTR_REAL},
        [ATTR_FLAG] = {.kind = ATTR_FLAG}, [ATTR_INTS] = {.kind = ATTR_INTS},
        [ATTR_STR] = {.kind = ATTR_STR},   [ATTR_DTYPE] = {.kind = ATTR_DTYPE},
    };

    for (int i = 0; i < c->n_attrs; i++)
        if (!strcmp(c->attr_names[i], name))
            return &c->attrs[i];
    assert(0 && "the kernel asks for an attribute that its op lacks");
    return &none[kind];
}

int64_t kcall_int(const kcall *c, const char *name)
{
    return kcall_attr(c, name, ATTR_INT)->i;
}

double kcall_real(const kcall *c, const char *name)
{
    return kcall_attr(c, name, ATTR_REAL)->f;
}

ints kcall_ints(const kcall *c, const char *name)
{
    return kcall_attr(c, name, ATTR_INTS)->a;
}
