# SPDX-License-Identifier: Apache-2.0
# Everything that derives from the op rows, read from the .sig and .doc lines of src/ops/*.c.
# mode=public    ingot/ops.h: the public builders
# mode=builders  ops/builders.inc: their bodies
# mode=emit      ops/emit.h: one typed builder of IR per op
# mode=table     ops/table.inc: OP_ROW(name) for each row
# mode=docs      ops.md: the reference page
# Plain POSIX awk, so that a build needs no program of its own for the host.

function die(text) { print "gen-ops: " name ": " text > "/dev/stderr"; failed = 1; exit 1 }

function is_attr(t) { return t ~ /^(int|real|flag|ints|str|dtype)$/ }

function public_type(t) {
    if (t == "int") return "int64_t "
    if (t == "real") return "double "
    if (t == "flag") return "bool "
    if (t == "ints") return "ingot_ints "
    if (t == "str") return "const char *"
    return "ingot_dtype "
}

function emit_type(t) {
    if (t == "ints") return "ints "
    if (t == "dtype") return "dtype "
    return public_type(t)
}

# A C expression of type attr; ref = the value.
function attr_value(t, ref, public) {
    if (t == "int") return "{.kind = ATTR_INT, {.i = " ref "}}"
    if (t == "real") return "{.kind = ATTR_REAL, {.f = " ref "}}"
    if (t == "flag") return "{.kind = ATTR_FLAG, {.i = " ref "}}"
    if (t == "str") return "{.kind = ATTR_STR, {.s = " ref "}}"
    if (t == "dtype") return "{.kind = ATTR_DTYPE, {.i = (int64_t)" ref "}}"
    return "{.kind = ATTR_INTS, {.a = " (public ? "{" ref ".v, " ref ".n}" : ref) "}}"
}

function literal(line) { # the text between the first and the last quote
    sub(/^[^"]*"/, "", line)
    sub(/",?[ \t]*$/, "", line)
    return line
}

function parse(   args, n, i, part, p) {
    p = index(sig, "(")
    name = substr(sig, 1, p - 1)
    args = substr(sig, p + 1)
    p = index(args, ")")
    results = substr(args, p + 1)
    sub(/^ *-> */, "", results)
    args = substr(args, 1, p - 1)
    n_in = n_attr = n_opt = 0
    variadic = ""
    n = args == "" ? 0 : split(args, part, / *, */)
    for (i = 1; i <= n; i++) {
        p = index(part[i], ":")
        if (!p) die("\"" part[i] "\" has no class")
        arg = substr(part[i], 1, p - 1)
        cls = substr(part[i], p + 1)
        gsub(/ /, "", arg)
        gsub(/^ +| +$/, "", cls)
        def = ""
        if (index(cls, "=")) {
            def = substr(cls, index(cls, "=") + 1)
            cls = substr(cls, 1, index(cls, "=") - 1)
            gsub(/ /, "", def)
            gsub(/ /, "", cls)
            if (def != "0") die("the default of " arg " must be 0")
        }
        if (is_attr(cls)) {
            n_attr++
            attr_name[n_attr] = arg
            attr_type[n_attr] = cls
            attr_opt[n_attr] = def != ""
            n_opt += def != ""
        } else {
            if (cls ~ /\.\.\.$/) variadic = arg
            else { n_in++; in_name[n_in] = arg; in_opt[n_in] = cls ~ /\?$/ }
        }
    }
}

# end: behind each name; the bodies take "_", so that none hides a type.
function public_head(end,   s, i) {
    s = "ingot_tensor *ingot_" name "(ingot_context *ctx"
    for (i = 1; i <= n_in; i++) s = s ", ingot_tensor *" in_name[i] end
    if (variadic != "") s = s ", ingot_tensor *const *" variadic end ", int n_" variadic end
    for (i = 1; i <= n_attr; i++)
        if (!attr_opt[i]) s = s ", " public_type(attr_type[i]) attr_name[i] end
    if (n_opt) s = s ", const ingot_" name "_options *opt"
    return s ")"
}

function print_public(   i) {
    if (n_opt) {
        printf "/** Options of ingot_%s; all zero = the defaults. */\n", name
        printf "typedef struct ingot_%s_options {\n", name
        for (i = 1; i <= n_attr; i++)
            if (attr_opt[i]) printf "    %s%s;\n", public_type(attr_type[i]), attr_name[i]
        printf "} ingot_%s_options;\n", name
    }
    printf "/** %s\n    %s */\nINGOT_API %s;\n\n", doc, sig, public_head()
}

function print_body(   i, ref) {
    printf "%s\n{\n", public_head("_")
    if (n_opt) printf "    static const ingot_%s_options none;\n", name
    if (variadic == "" && n_in) {
        printf "    ingot_tensor *const in[] = {"
        for (i = 1; i <= n_in; i++) printf "%s%s_", (i > 1 ? ", " : ""), in_name[i]
        print "};"
    } else if (n_in) die("inputs before a variadic one are not supported")
    if (n_opt) print "    const ingot_" name "_options *o = opt ? opt : &none;"
    if (n_attr) {
        print "    const attr attrs[] = {"
        for (i = 1; i <= n_attr; i++) {
            ref = attr_opt[i] ? "o->" attr_name[i] : attr_name[i] "_"
            printf "        %s,\n", attr_value(attr_type[i], ref, 1)
        }
        print "    };\n"
    }
    printf "    return engine_emit(ctx, &op_%s, %s, %s, %s, %d);\n}\n\n", name,
        (variadic != "" ? variadic "_" : n_in ? "in" : "NULL"),
        (variadic != "" ? "n_" variadic "_" : n_in), (n_attr ? "attrs" : "NULL"), n_attr
}

function print_emit(   i) {
    printf "extern const op_row op_%s;\n", name
    printf "static inline value *ir_%s(builder *b", name
    for (i = 1; i <= n_in; i++) printf ", value *%s_", in_name[i]
    if (variadic != "") printf ", value *const *%s_, int n_%s_", variadic, variadic
    for (i = 1; i <= n_attr; i++) printf ", %s%s_", emit_type(attr_type[i]), attr_name[i]
    print ")\n{"
    if (variadic == "" && n_in) {
        printf "    value *const in[] = {"
        for (i = 1; i <= n_in; i++) printf "%s%s_", (i > 1 ? ", " : ""), in_name[i]
        print "};"
    }
    if (n_attr) {
        print "    const attr attrs[] = {"
        for (i = 1; i <= n_attr; i++) printf "        %s,\n", attr_value(attr_type[i], attr_name[i] "_", 0)
        print "    };"
    }
    printf "    return ir_emit(b, \"%s\", %s, %s, %s, %d);\n}\n\n", name,
        (variadic != "" ? variadic "_" : n_in ? "in" : "NULL"),
        (variadic != "" ? "n_" variadic "_" : n_in), (n_attr ? "attrs" : "NULL"), n_attr
}

function print_docs() {
    printf "### %s\n\n`%s`\n\n%s\n\n", name, sig, doc
}

function family(   f) {
    f = FILENAME
    sub(/^.*\//, "", f)
    sub(/\.c$/, "", f)
    return f
}

BEGIN {
    if (mode == "public") {
        print "/* SPDX-License-Identifier: Apache-2.0 */"
        print "/* Made from the op rows by scripts/gen-ops.awk. Every function adds the op to the graph that is"
        print "   traced, or computes it at once in eager mode; the result belongs to the current scope. NULL"
        print "   with the context's error set when shapes, dtypes or attributes do not fit; NULL too when a"
        print "   required input is NULL, so that only the last result needs a check. */"
        print "#ifndef INGOT_OPS_H\n#define INGOT_OPS_H\n\n#include \"ingot/tensor.h\"\n\nINGOT_BEGIN_C\n"
        print "/** Result i of the op that made t (t is its result 0); borrowed, in t's scope. */"
        print "INGOT_API ingot_tensor *ingot_result(ingot_context *ctx, ingot_tensor *t, int i);"
        print "/** x cut along an axis into n pieces, whose sizes add up to the dimension; writes n tensors to"
        print "    out. Errors: sizes that do not add up, axis outside. */"
        print "INGOT_API ingot_status ingot_split(ingot_context *ctx, ingot_tensor *x, ingot_ints sizes, int64_t axis,"
        print "                                   ingot_tensor **out);\n"
    } else if (mode == "emit") {
        print "/* SPDX-License-Identifier: Apache-2.0 */"
        print "/* Made from the op rows by scripts/gen-ops.awk. */"
        print "#ifndef OPS_EMIT_H\n#define OPS_EMIT_H\n\n#include \"ir/ir.h\"\n"
    } else if (mode == "docs") {
        print "# Ops\n\nMade from the op rows by `scripts/gen-ops.awk`: the signatures and what they mean."
        print "`ingot_NAME(ctx, …)` is the C function; attributes with `= 0` are fields of its options struct.\n"
    }
}
# A field's text may go over several lines, as adjacent literals; it ends with the comma.
/^ *\.(sig|doc) =/ { field = $0 ~ /\.sig/ ? "sig" : "doc"; text = "" }
field != "" && /"/ { # a lone ".sig =" is followed by its text
    text = text literal($0)
    if ($0 !~ /,[ \t]*$/) next
    if (field == "sig") sig = text
    else doc = text
    done = field
    field = ""
    if (done == "sig") next
    parse()
    if (mode == "public") print_public()
    else if (mode == "builders") print_body()
    else if (mode == "emit") print_emit()
    else if (mode == "table") print "OP_ROW(" name ")"
    else if (mode == "docs") {
        if (family() != last) { last = family(); print "## " last "\n" }
        print_docs()
    }
}
END {
    if (failed) exit 1
    if (mode == "public") print "INGOT_END_C\n\n#endif"
    if (mode == "emit") print "#endif"
}
