#!/usr/bin/env bash
# Builds hash_main.c and the library with other compilers and optimisation levels and for
# WebAssembly, and checks that all of them print the same hashes as the build at hand. Its lines
# read: scene lanes threads hash. With TENON_LONG set there are more levels, and AArch64 with NEON
# where its compiler and emulator are installed.
# usage: matrix.sh WORK_DIR HASH_PROGRAM LANES_8_OPTIONS LANES_16_OPTIONS LANE_SOURCES
#   LANE_16_SOURCES SOURCE...   (LANE_*: relative to the root, between spaces)
set -euo pipefail

work=$1
own=$2
lanes_8_options=$3
lanes_16_options=$4
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
lane_sources=$5
lane_16_sources=$6
sources=("${@:7}" "$here/hash_main.c")
flags="-std=c17 -ffp-contract=off -fno-math-errno -DTENON_STATIC"
flags+=" -I'$root/include' -I'$root/src' -I'$root/test/support'"
config="-DTN_CONFIG_COMPILER='\"matrix\"' -DTN_CONFIG_BUILD_TYPE='\"matrix\"'"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# plan NAME "LANES..." COMPILER...: prints the commands that compile everything into WORK_DIR/NAME.
plan() {
  local name=$1 lanes=$2 options file width source
  local compile="${*:3} $flags"
  mkdir -p "$work/$name"
  for width in $lanes; do
    options=-DTN_LANES=$width
    [ "$width" = 8 ] && options+=" $lanes_8_options"
    for source in $lane_sources; do
      echo "$compile $options -c '$root/$source' -o '$work/$name/$(basename "$source" .c)_$width.o'"
    done
  done
  if [[ $lanes = *8* && -n $lanes_16_options ]]; then
    for source in $lane_16_sources; do
      echo "$compile -DTN_LANES=16 $lanes_16_options -c '$root/$source'" \
        "-o '$work/$name/$(basename "$source" .c)_16.o'"
    done
  fi
  for file in "${sources[@]}"; do
    echo "$compile $config -c '$file' -o '$work/$name/$(basename "${file//\//_}" .c).o'"
  done
}

# Unoptimised code is slow, and its threads run no other code.
most_threads() {
  [[ $1 = *-O0 ]] && echo 1 || echo 2
}

# Unrolling the direct solver and forced inlining take most of clang's time. The long form has the
# compiler do both, as in a release build.
natives=(clang-O2)
quick=" -DTN_FREE_INLINING -Wno-pass-failed -mllvm -pragma-unroll-threshold=1"
quick+=" -mllvm -unroll-threshold=1"
if [ -n "${TENON_LONG:-}" ]; then
  natives=(gcc-O0 clang-O0 clang-O2)
  quick=
fi
arm=
if [ -n "${TENON_LONG:-}" ] && command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null; then
  arm="aarch64-linux-gnu-gcc -O2"
fi
wasm="clang --target=wasm32-wasi -O2 -msimd128 -DTN_NO_THREADS"

rm -rf "$work"
mkdir -p "$work"
{
  for native in "${natives[@]}"; do
    plan "$native" "1 4 8" "${native/-/ -}$quick"
  done
  plan wasm "1 4" "$wasm$quick"
  [ -z "$arm" ] || plan arm "1 4" "$arm"
} >"$work/commands"
xargs -d '\n' -P "$(nproc)" -n 1 sh -c <"$work/commands" || fail "compilation"

for native in "${natives[@]}"; do
  ${native%-*} -o "$work/$native/hash" "$work/$native"/*.o -lm -pthread
done
$wasm -Wl,-z,stack-size=1048576 -o "$work/wasm/hash.wasm" "$work"/wasm/*.o -lm

if [ -n "$arm" ]; then
  $arm -static -o "$work/arm/hash" "$work"/arm/*.o -lm -pthread
  aarch64-linux-gnu-objdump -d "$work/arm/hash" >"$work/arm/code"
  grep -q 'fmul.*\.4s' "$work/arm/code" || fail "no NEON instructions"
  qemu-aarch64 "$work/arm/hash" 1 >"$work/arm.txt" &
fi
"$own" >"$work/own.txt" &
for native in "${natives[@]}"; do
  "$work/$native/hash" "$(most_threads "$native")" >"$work/$native.txt" &
done
node --no-warnings --experimental-wasi-unstable-preview1 "$here/wasi.mjs" "$work/wasm/hash.wasm" \
  >"$work/wasm.txt" || fail "wasm"
for job in $(jobs -p); do
  wait "$job" || fail "hash_main"
done

reference=$work/own.txt
[ -s "$reference" ] || fail "no hashes were printed"
for native in "${natives[@]}"; do
  diff <(awk -v most="$(most_threads "$native")" '$3 <= most' "$reference") "$work/$native.txt" ||
    fail "the build at hand (<) and $native (>) differ"
done
diff <(awk '$2 <= 4 && $3 == 1' "$reference") "$work/wasm.txt" ||
  fail "the build at hand (<) and wasm (>) differ"
if [ -n "$arm" ]; then
  diff <(awk '$2 <= 4 && $3 == 1' "$reference") "$work/arm.txt" ||
    fail "the build at hand (<) and AArch64 (>) differ"
fi
awk '$1 in hash && hash[$1] != $4 { print; bad = 1 } { hash[$1] = $4 } END { exit bad }' \
  "$reference" || fail "hashes depend on the number of lanes or threads"

echo "same hashes from the build at hand, ${natives[*]}${arm:+, AArch64} and wasm; scenes: $(awk '{ print $1 }' "$reference" | sort -u | wc -l)"
