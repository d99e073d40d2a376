#!/usr/bin/env bash
# Sweeps: `test_sweep.sh TENON FOLDER`. The table is the same for any number of shards and threads,
# after interruptions at any moment, and from a scene file; invalid specs are refused with one line.
set -euo pipefail
tenon=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
passed=0 failed=0

check() { # check WORDS COMMAND...
  local words=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $words" >&2
  fi
}

# refused WORDS PATTERN ARGUMENTS...: status 2 and one line that matches.
refused() {
  local words=$1 pattern=$2 status=0 lines
  shift 2
  "$tenon" sweep "$@" >out.txt 2>err.txt || status=$?
  lines=$(wc -l <err.txt)
  check "$words" test "$status" -eq 2 -a "$lines" -eq 1
  check "$words: message ($(cat err.txt))" grep -qE "$pattern" err.txt
}

same_tables() {
  cmp -s "$1/table.csv" "$2/table.csv" && cmp -s "$1/table.sqlite" "$2/table.sqlite"
}

cat >stack.json <<'END'
{
  "scene": "stack",
  "seconds": 0.2,
  "parameters": {
    "count": [2, 3, 5],
    "friction": {"from": 0.1, "to": 1, "steps": 3, "log": true},
    "offset": {"from": 0, "to": 0.2, "draw": true}
  },
  "samples": 4,
  "sampling": "latin_hypercube",
  "seed": 7,
  "substeps": [4, 8],
  "metrics": ["top_drift_m", "max_penetration_m"]
}
END

# The reference: one thread, one process.
"$tenon" sweep stack.json --out serial --threads 1 >out.txt
check "72 runs" grep -q "^72 runs, 0 of them failed" out.txt
check "a header and 72 lines" test "$(wc -l <serial/table.csv)" -eq 73
check "each run has a host" test "$(wc -l <serial/hosts.csv)" -eq 73
check "the report has the data" grep -q '"metrics":\["top_drift_m","max_penetration_m"\]' serial/report.html

# A run of the table is that of `tenon run`.
row=$(sed -n 2p serial/table.csv)
settings=()
IFS=, read -r -a names < <(head -1 serial/table.csv)
IFS=, read -r -a values <<<"$row"
for i in 1 2 3; do settings+=(--set "${names[$i]}=${values[$i]}"); done
hash=$("$tenon" run stack "${settings[@]}" --seconds 0.2 --substeps 4 --json | sed -nE 's/.*"hash": "([0-9a-f]+)".*/\1/p')
check "the hash of tenon run" grep -q ",$hash," <<<"$row"

"$tenon" sweep stack.json --out threads --threads 3 >out.txt
check "threads" same_tables serial threads

for i in 3 1 2; do
  "$tenon" sweep stack.json --out shards --shard $i/3 >>shards.txt
done
check "the last shard merges" same_tables serial shards
rm shards/table.csv
"$tenon" sweep stack.json --out shards --merge >out.txt
check "merge" same_tables serial shards

"$tenon" sweep stack.json --out partly --shard 1/2 >out.txt
check "a shard alone has no table" test ! -e partly/table.csv
"$tenon" sweep stack.json --out partly --status >out.txt
check "status" grep -q "^36 of 72 runs are done, 0 of them failed" out.txt
status=0
"$tenon" sweep stack.json --out partly --merge 2>err.txt || status=$?
check "a merge needs all runs" test "$status" -eq 1
check "how many are missing" grep -q "36 of 72 runs are missing" err.txt
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "$tenon" sweep stack.json --out partly >out.txt
check "the rank of mpirun" same_tables serial partly

# Killed at random moments.
RANDOM=5
for _ in $(seq 20); do
  "$tenon" sweep stack.json --out killed --threads 2 >/dev/null 2>&1 &
  process=$!
  sleep "0.0$((RANDOM % 10))"
  kill -9 $process 2>/dev/null || true
  wait $process 2>/dev/null || true
done
printf '5,0,0123456789abcdef,1,2,0000000000000000\n7,0' >>killed/parts/1-of-1.csv # a wrong and a torn line
"$tenon" sweep stack.json --out killed >out.txt
check "killed and continued" same_tables serial killed

# Trajectories.
sed 's/"substeps": \[4, 8\]/"substeps": [4], "trajectories": {"metrics": ["rms_speed_end"], "every": 3}/' stack.json >curves.json
"$tenon" sweep curves.json >out.txt
check "a file for each run" test "$(ls curves_sweep/trajectories | wc -l)" -eq 36
check "a line for each third frame" test "$(wc -l <curves_sweep/trajectories/0.csv)" -eq 6

# A scene file, by the places of its numbers.
"$tenon" export stack >file.json
cat >pointer.json <<'END'
{"scene": "file.json", "seconds": 0.1, "parameters": {"/bodies/1/position/1": [1.5, 2.5]}, "substeps": [4]}
END
"$tenon" sweep pointer.json >out.txt
check "a scene file" grep -q "^2 runs, 0 of them failed" out.txt
check "its runs differ" test "$(cut -d, -f2 pointer_sweep/table.csv | sort -u | wc -l)" -eq 3

# Plan.
"$tenon" sweep stack.json --out planned --plan --nodes 2 --time 01:00:00 --partition short --array-limit 3 >out.txt
check "plan" grep -q "^72 runs, 72 of them missing; about" out.txt
check "the array" grep -q '^#SBATCH --array=1-8%3$' out.txt
check "its partition" grep -q '^#SBATCH --partition=short$' out.txt

# Invalid specs.
spec() { printf '%s' "$1" >bad.json; }
spec '{"scene": "stack", "parameters": {"colour": [1]}}'
refused "unknown parameter" '^bad.json:1: parameters.colour: scene stack has no such parameter; it has ' bad.json
spec '{"scene": "stack", "parameters": {"friction": {"from": 2, "to": 1, "steps": 3}}}'
refused "empty range" 'the range from 2 to 1 is empty' bad.json
spec '{"scene": "stack", "parameters": {"friction": []}}'
refused "empty list" 'friction: the list is empty' bad.json
spec '{"scene": "stack", "parameters": {"friction": {"from": 0, "to": 1, "steps": 1000000}}, "substeps": [1,2,3,4,5,6,7,8,9,10,11,12]}'
refused "too many runs" 'has 1.2e\+07 runs; at most 10000000' bad.json
spec '{"scene": "stack", "parameters": {"friction": [0.5, -1]}}'
refused "value out of range" 'takes numbers from .* not -1' bad.json
spec '{"scene": "stack", "parameters": {"friction": {"from": 0, "to": 1, "steps": 3, "log": true}}}'
refused "log of zero" 'a log range takes numbers above 0' bad.json
spec '{"scene": "stack", "parameters": {"friction": {"from": 0, "to": 1, "draw": true}}}'
refused "draws without samples" 'need "samples"' bad.json
spec '{"scene": "stack", "samples": 5}'
refused "samples without draws" 'no parameter is drawn' bad.json
spec '{"scene": "nowhere"}'
refused "unknown scene" 'unknown scene' bad.json
spec '{"scene": "none.json"}'
printf '' >err.txt
status=0
"$tenon" sweep bad.json 2>err.txt || status=$?
check "missing scene file" test "$status" -eq 2
spec '{"scene": "stack", "metrics": ["beauty"]}'
refused "unknown metric" "has no metric 'beauty'" bad.json
spec '{"scene": "stack", "colour": 3}'
refused "unknown key" 'colour' bad.json
spec '{"scene": "stack", '
refused "not JSON" 'invalid JSON' bad.json
spec '{"scene": "stack", "methods": ["magic"]}'
refused "unknown method" 'must be tenon, xpbd or jacobi' bad.json
refused "bad shard" 'takes I/N' stack.json --shard 4/3
refused "unknown option" "no option '--fast'" stack.json --fast 3
refused "a job script takes plain words" 'cannot be' stack.json --plan --partition 'a;b'

# A folder of another sweep, a folder that cannot be made, two sweeps in one folder, a full disk.
status=0
sed 's/"seed": 7/"seed": 8/' stack.json >other.json
"$tenon" sweep other.json --out serial 2>err.txt || status=$?
check "folder of another sweep" test "$status" -eq 1
check "its message" grep -q "holds the results of another spec or version" err.txt
check "nothing lost" same_tables serial threads
status=0
"$tenon" sweep stack.json --out stack.json/folder 2>err.txt || status=$?
check "folder that cannot be made" test "$status" -eq 1
mkdir -p locked/parts
flock locked/parts/1-of-1.csv sleep 5 &
for _ in $(seq 50); do [ -e locked/parts/1-of-1.csv ] && break || sleep 0.02; done
sleep 0.1
status=0
"$tenon" sweep stack.json --out locked 2>err.txt || status=$?
check "two sweeps in one folder" test "$status" -eq 1
check "its message" grep -q "another sweep is writing" err.txt
kill %% 2>/dev/null || true
mkdir -p full
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=20k tmpfs full 2>/dev/null; then
  status=0
  "$tenon" sweep stack.json --out full/sweep --threads 2 2>err.txt >out.txt || status=$?
  check "full disk" test "$status" -eq 1
  check "its message" grep -qE "cannot (write|create)" err.txt
  mount -o remount,size=10m full
  "$tenon" sweep stack.json --out full/sweep >out.txt
  check "continued with room" same_tables serial full/sweep
  umount full
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
