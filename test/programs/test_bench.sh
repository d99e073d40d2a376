#!/usr/bin/env bash
# The benchmarks: selected ones run, results come as text and JSON, mistakes are refused.
# usage: test_bench.sh TENON_BENCH WORK_DIR
set -euo pipefail

bench=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# refuses PATTERN WORD...: exit code 2 and a line on stderr that has the pattern.
refuses() {
  local code=0
  "$bench" "${@:2}" >out 2>err || code=$?
  [ "$code" = 2 ] || fail "${*:2}: exit code $code instead of 2"
  grep -qF -- "$1" err || fail "${*:2}: '$1' is not in: $(cat err)"
}

refuses "unknown benchmark 'pyramids'" pyramids
refuses "unknown benchmark 'pyramid:37'" pyramid:36 pyramid:37
refuses "fast, default or accurate" pyramid --setting slow
BENCH_JSON=$work/none/file refuses "cannot write" springs3

BENCH="springs3 springs7:7" BENCH_JSON=rows.json "$bench" >text
[ "$(wc -l <rows.json)" = 2 ] || fail "not two rows: $(cat rows.json)"
for key in engine scene size setting substeps threads lanes ms_median ms_p99 metrics hash; do
  [ "$(grep -c "\"$key\": " rows.json)" = 2 ] || fail "not every row has $key: $(cat rows.json)"
done
grep -q "^springs7:7 *tenon" text || fail "springs7 is not in the text"

# Rows for threads, lanes and, where they are installed, other engines.
BENCH_JSON=rows.json "$bench" chain:100 --setting default >text
[ "$(grep -c '"engine": "tenon"' rows.json)" -ge 2 ] || fail "only one row of Tenon: $(cat text)"
[ "$(grep '"engine": "tenon"' rows.json | sed 's/.*"hash"//' | sort -u | wc -l)" = 1 ] ||
  fail "the hash depends on threads or lanes: $(cat text)"
! grep '"engine": "tenon"' rows.json | grep -qv '"setting": "default"' ||
  fail "not only the setting asked for: $(cat text)"
