#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guide's program: what docs/data.md shows is the example, and it reads a folder as it says.
# example.sh SOURCE PROGRAM
set -eu
source=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

sed -n '/^```c$/,/^```$/p' "$source/docs/data.md" | sed '1d;$d' >"$folder/shown"
tail -n +3 "$source/examples/folder.c" | diff "$folder/shown" - || {
    echo "docs/data.md does not show examples/folder.c" >&2
    exit 1
}

# a white picture of 72 x 72
png=iVBORw0KGgoAAAANSUhEUgAAAEgAAABICAAAAABwhuybAAAALUlEQVR42u3MMQEAAAwCIPuX1gI7d0IA0icRiUQikU
png=${png}gkEolEIpFIJBKJRKLbAFY7LO3F0+kLAAAAAElFTkSuQmCC
mkdir -p "$folder/photos/cat" "$folder/photos/dog"
for name in cat/1 cat/2 cat/3 dog/1 dog/2; do
    echo "$png" | base64 -d >"$folder/photos/$name.png"
done
"$program" "$folder/photos" >"$folder/out"
test "$(cut -d, -f1 "$folder/out" | tr '\n' ';')" = "4 pictures;1 pictures;"

: >"$folder/photos/dog/2.png"
if "$program" "$folder/photos" >"$folder/out" 2>&1; then
    echo "an empty picture was taken" >&2
    exit 1
fi
grep -q "photos/dog/2.png: " "$folder/out"
