#!/usr/bin/env bash
# Installs a build, moves it, and uses it as other projects would, from C and from C++: by CMake's
# find_package, by add_subdirectory, and by pkg-config. Also checks what the library exports.
# usage: run.sh BUILD_DIR WORK_DIR
set -euo pipefail

build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
export CC=gcc CXX=g++

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/staged" >"$work/install.log"
mv "$work/staged" "$work/prefix"
prefix=$work/prefix

# cmake_consumer NAME OPTION...
cmake_consumer() {
  echo "== $*"
  cmake -G Ninja -S "$here" -B "$work/$1" -DCMAKE_BUILD_TYPE=Debug "${@:2}" >"$work/$1.log"
  cmake --build "$work/$1" >>"$work/$1.log" || fail "$(cat "$work/$1.log")"
  ctest --test-dir "$work/$1" --output-on-failure --no-tests=error
}
cmake_consumer find_package -DCMAKE_PREFIX_PATH="$prefix"
cmake_consumer subdirectory -DTENON_SOURCE="$source"
cmake_consumer subdirectory -DTENON_SOURCE="$source" -DBUILD_SHARED_LIBS=ON

echo "== pkg-config"
pc=$(find "$prefix" -name tenon.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$pc")
cp "$here/consumer.c" "$work/consumer.cpp"
declare -a shared static
eval "shared=($(pkg-config --cflags --libs tenon))"
eval "static=($(pkg-config --static --cflags --libs tenon))"
gcc -std=c17 -o "$work/shared_c" "$here/consumer.c" "${shared[@]}" -Wl,-rpath,"$libdir"
g++ -std=c++17 -o "$work/shared_cpp" "$work/consumer.cpp" "${shared[@]}" -Wl,-rpath,"$libdir"
gcc -std=c17 -static -o "$work/static_c" "$here/consumer.c" "${static[@]}"
g++ -std=c++17 -static -o "$work/static_cpp" "$work/consumer.cpp" "${static[@]}"
for program in shared_c shared_cpp static_c static_cpp; do
  "$work/$program" || fail "$program"
done

echo "== exported symbols"
library=$libdir/libtenon.so
nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >"$work/exported"
sed -nE 's/^TN_API [^(]*\b(tn_[a-z0-9_]+)\(.*/\1/p' "$source"/include/tenon/*.h |
  LC_ALL=C sort >"$work/declared"
diff "$work/declared" "$work/exported" || fail "the library exports (>) other than the headers declare (<)"
readelf -sW "$libdir/libtenon.a" |
  awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }' >"$work/visible"
[ ! -s "$work/visible" ] || fail "a program exports of the static library: $(cat "$work/visible")"

echo "== soname and dependencies"
version=$(pkg-config --modversion tenon)
readelf -d "$library" >"$work/dynamic"
grep -qF "soname: [libtenon.so.${version%.*}]" "$work/dynamic" || fail "$(grep SONAME "$work/dynamic")"
if grep NEEDED "$work/dynamic" | grep -vE '\[(libm|libc|libpthread|ld-linux.*)\.so'; then
  fail "the library needs more than the C library"
fi

echo "== command"
"$prefix/bin/tenon" run pendulum_triple >/dev/null
for file in man/man1/tenon.1 bash-completion/completions/tenon zsh/site-functions/_tenon \
  tenon/scene.schema.json; do
  [ -s "$prefix/share/$file" ] || fail "share/$file is not installed"
done
bash -c '. "$1"; COMP_WORDS=(tenon run pendulum_t); COMP_CWORD=2; PATH=$2:$PATH; _tenon
  [ "${COMPREPLY[*]}" = pendulum_triple ]' - "$prefix/share/bash-completion/completions/tenon" \
  "$prefix/bin" || fail "completion"
