#!/usr/bin/env bash
# tenon replay compares every step, names the first that differs, cuts out a part, and refuses
# files that are no recordings.
# usage: test_replay.sh TENON WRITE_RECORDING WORK_DIR
set -euo pipefail

tenon=$1
write=$2
rm -rf "$3"
mkdir -p "$3"
cd "$3"

# wants CODE PATTERN WORD...: exit code, and one line that has the pattern.
wants() {
  local code=0
  "$tenon" replay "${@:3}" >out 2>&1 || code=$?
  echo >>out # some commands print nothing
  if [ "$code" != "$1" ] || ! grep -qE -- "$2" out; then
    echo "FAILED: tenon replay ${*:3}: exit code $code instead of $1, or no '$2' in:" >&2
    cat out >&2
    exit 1
  fi
}

"$write" good
wants 0 '^40 steps, 14 calls, 0 steps not clean' good
for options in "" "--lanes 1 --threads 2" "--lanes 4" "--threads 4"; do
  # shellcheck disable=SC2086
  wants 0 '^every step has the recorded hash' good $options
done
wants 0 '"steps": 40, .*"differs": null' good --json

"$write" lie 17
wants 1 '^step 17 differs first: hash [0-9a-f]{16}, recorded [0-9a-f]{16}' lie
wants 1 '"differs": 17' lie --json

# The part begins with the state before its first step, so its steps are counted from 0.
wants 0 '' lie --from 10 --to 20 --cut part
wants 1 '^step 7 differs first' part
wants 0 '' lie --from 18 --to 40 --cut part
wants 0 '^22 steps, 0 calls' part
wants 1 'cannot be written' good --from 30 --to 41 --cut part
wants 1 'cannot be written' good --from 20 --to 20 --cut part
wants 1 'cannot be written' good --from 0 --to 2 --cut nowhere/part

"$write" short 99 7
wants 1 'short: byte [0-9]+: the recording is cut off' short
head -c 30 good >header
wants 1 'this is no recording' header
echo '{"name": "scene"}' >text
wants 1 'this is no recording' text
: >empty
wants 2 'empty cannot be read' empty
wants 2 'missing cannot be read' missing
wants 2 'needs a recording'
wants 2 '--lanes takes a whole number' good --lanes x
wants 2 "no option '--speed'" good --speed
