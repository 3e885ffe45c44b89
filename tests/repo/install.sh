#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into a folder of its own, and uses what is there as an outside program would: by pkg-config
# with the shared and the static library, by find_package, each header alone in C and in C++; and no
# symbol but ingot_ ones is visible. Usage: install.sh SOURCE BUILD CC
set -eu
source=$1 build=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/tree" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$work/tree" -name ingot.pc)")
lib=$(dirname "$(find "$work/tree" -name 'libingot.so')")

cat >"$work/program.c" <<'C'
#include <ingot/ingot.h>
#include <stdio.h>

int main(void)
{
    ingot_context *ctx = ingot_open(NULL);
    float v[] = {1, 2, 3, 4};
    ingot_tensor *x = ingot_tensor_new(ctx, INGOT_F32, INGOT_INTS(2, 2), v);
    ingot_tensor *y = ingot_matmul(ctx, x, x, NULL);

    if (!y || ingot_tensor_item(y, 3) != 22.0) {
        fprintf(stderr, "%s\n", ingot_error_text(ctx));
        return 1;
    }
    ingot_close(ctx);
    return 0;
}
C
echo "shared, by pkg-config"
"$cc" -std=c11 "$work/program.c" -o "$work/shared" $(pkg-config --cflags --libs ingot)
LD_LIBRARY_PATH=$lib "$work/shared"

echo "static, by pkg-config"
"$cc" -std=c11 "$work/program.c" -o "$work/static" $(pkg-config --cflags ingot) "$lib/libingot.a" \
    $(pkg-config --static --libs-only-l ingot | sed 's/-lingot//')
"$work/static"

echo "by find_package"
mkdir "$work/outside"
cp "$work/program.c" "$work/outside"
cat >"$work/outside/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.25)
project(outside C)
find_package(ingot REQUIRED)
add_executable(outside program.c)
target_link_libraries(outside PRIVATE ingot::ingot)
C
cmake -S "$work/outside" -B "$work/outside/build" -DCMAKE_PREFIX_PATH="$work/tree" >"$work/log" 2>&1 &&
    cmake --build "$work/outside/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/outside/build/outside"

echo "each header alone"
for header in "$work"/tree/include/ingot/*.h; do
    name=ingot/$(basename "$header")
    echo "#include <$name>" >"$work/alone.c"
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$work/tree/include" "$work/alone.c"
    if command -v g++ >/dev/null; then
        g++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I"$work/tree/include" -x c++ "$work/alone.c"
    fi
done

echo "symbols"
for file in "$lib/libingot.so" "$lib/libingot.a"; do
    option=-g
    [ "${file%.so}" = "$file" ] || option=-D
    stray=$(nm "$option" --defined-only "$file" | awk 'NF == 3 && $3 !~ /^(ingot_|_init$|_fini$)/ {print $3}')
    [ -z "$stray" ] || { echo "$file shows: $stray"; exit 1; }
done

echo "the command"
"$work/tree/bin/ingot" --version
"$work/tree/bin/ingot" doctor >/dev/null
[ -f "$work/tree/share/man/man1/ingot.1" ]
echo "installed tree works"
