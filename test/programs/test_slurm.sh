#!/usr/bin/env bash
# A sweep on a real Slurm: `test_slurm.sh TENON FOLDER`. Starts munge, a controller and two nodes on
# this machine, submits 200 runs, kills a node midway, and compares the table with that of a serial
# run. Exits with 77 (skipped) where Slurm is not installed or daemons cannot be started.
set -euo pipefail
tenon=$1
work=$2

skip() {
  echo "skipped: $1"
  exit 77
}
for program in munged slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin command -v "$program" >/dev/null ||
    skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip "daemons of Slurm need root here"
export PATH=$PATH:/usr/sbin

rm -rf "$work"
mkdir -p "$work"/{etc,spool,log,munge}
cd "$work"
processes=()
finish() {
  kill "${processes[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
}
trap finish EXIT

host=$(hostname -s)
port=$((20000 + RANDOM % 20000))
export SLURM_CONF=$work/etc/slurm.conf
head -c 128 /dev/urandom >munge/key
chmod 700 munge
chmod 600 munge/key
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
SlurmdTimeout=5
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
StateSaveLocation=$work/spool/controller
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/spool/controller.pid
SlurmdPidFile=$work/spool/%n.pid
SlurmctldLogFile=$work/log/controller.log
SlurmdLogFile=$work/log/%n.log
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 State=UNKNOWN
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 State=UNKNOWN
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
END
mkdir -p spool/controller spool/one spool/two

# start COMMAND...: in the foreground of a background process, so that it ends with the test.
start() {
  "$@" >>log/start.log 2>&1 &
  processes+=($!)
}
start munged --foreground --force --key-file "$work/munge/key" --socket "$work/munge/socket" \
  --pid-file "$work/munge/pid" --log-file "$work/log/munge.log" --seed-file "$work/munge/seed"
for _ in $(seq 50); do [ -S munge/socket ] && break || sleep 0.1; done
[ -S munge/socket ] || skip "munge did not start: $(tail -1 log/start.log)"
start slurmctld -D
start slurmd -D -N one
start slurmd -D -N two
node_two=${processes[-1]}
for _ in $(seq 100); do
  [ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" = 2 ] && break || sleep 0.2
done
[ "$(sinfo -h -N -t idle | wc -l)" = 2 ] || skip "the nodes did not start: $(tail -2 log/one.log)"

cat >runs.json <<'END'
{
  "scene": "stack",
  "seconds": 2,
  "parameters": {
    "count": [2, 3, 4, 6, 8],
    "friction": {"from": 0.1, "to": 1, "draw": true}
  },
  "samples": 20,
  "seed": 3,
  "substeps": [4, 8],
  "metrics": ["top_drift_m", "max_penetration_m"]
}
END
"$tenon" sweep runs.json --out serial >serial.txt
"$tenon" sweep runs.json --out cluster --slurm --nodes 2 --time 10 | tee submit.txt
grep -q "^submitted job array" submit.txt

# Both nodes are at work; then one of them is gone with its tasks.
for _ in $(seq 200); do
  [ -n "$(squeue -h -t running -w two)" ] &&
    [ "$(cat cluster/parts/*.csv 2>/dev/null | wc -l)" -ge 10 ] && break || sleep 0.05
done
[ -n "$(squeue -h -t running -w two)" ] || echo "the second node had no task when it was killed"
kill -9 "$node_two"
for process in /proc/[0-9]*; do
  if grep -qz "^SLURM_CONF=$SLURM_CONF" "$process/environ" 2>/dev/null &&
    grep -qz "^SLURMD_NODENAME=two" "$process/environ" 2>/dev/null; then
    kill -9 "${process#/proc/}" 2>/dev/null || true
  fi
done
"$tenon" sweep runs.json --out cluster --status

for _ in $(seq 600); do
  [ -e cluster/table.csv ] && [ -e cluster/report.html ] && break || sleep 0.2
done
[ -e cluster/table.csv ] || {
  echo "FAILED: no table" >&2
  squeue >&2 || true
  tail -n 20 cluster/slurm/*.log log/*.log >&2
  exit 1
}
cmp serial/table.csv cluster/table.csv
cmp serial/table.sqlite cluster/table.sqlite
echo "$(wc -l <cluster/hosts.csv) lines of hosts; the tables are the same"

# The study runs by the same means.
mkdir study
"$tenon" study --quick --out study --slurm --nodes 2 | tee submit.txt
grep -q "^submitted job array" submit.txt
grep -q -- "study --quick --out '$work/study' --threads 1 --shard" study/slurm/array.sh
for _ in $(seq 900); do
  grep -q "lines hold" study/slurm/last.log 2>/dev/null && break || sleep 0.2
done
[ -e study/report.html ]
echo "3 passed, 0 failed"
