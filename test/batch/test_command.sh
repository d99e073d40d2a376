#!/usr/bin/env bash
# tenon batch prints the same on a card as on the CPU, through a driver made for tests, and says what is
# wrong with a card.
# usage: test_command.sh TENON DRIVERS WORK_DIR    in DRIVERS: driver_whole, driver_old, driver_none
set -euo pipefail

tenon=$1
drivers=$2
rm -rf "$3"
mkdir -p "$3"
cd "$3"
export XDG_CACHE_HOME=$PWD

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# batch DRIVER HOW DEVICE WORD...: runs tenon batch; HOW: what goes wrong.
batch() {
  LD_LIBRARY_PATH=$drivers/driver_$1 FAKE_CUDA=$2 "$tenon" batch "${@:4}" --device "$3"
}

# The first line has the time.
for run in "dominoes --worlds 5 --vary friction=0.2..0.8 --vary height=0.04..0.06 --seconds 0.5" \
  "arch --worlds 3 --vary thickness=0.15..0.3 --seconds 0.2" \
  "chain --worlds 3 --vary stir=1..5 --seconds 0.2" \
  "soft_cube_spin --worlds 2 --set cells=2 --vary speed=1..3 --seconds 0.1"; do
  for device in cpu cuda; do
    # shellcheck disable=SC2086
    batch whole "" $device $run --substeps 4 --threads 2 | tail -n +2 >$device
  done
  grep -q '^hash of hashes' cpu || fail "$run: no hash"
  cmp cpu cuda || fail "$run: the card differs"
done

run="stack --worlds 2 --vary friction=0.4..0.8 --seconds 0.1"
# shellcheck disable=SC2086
batch whole "" cpu $run | tail -n +2 >cpu

# refuses DRIVER HOW MESSAGE: --device cuda fails and says why, --device cuda-or-cpu goes on.
refuses() {
  # shellcheck disable=SC2086
  ! batch "$1" "$2" cuda $run >out 2>&1 || fail "$1 driver, $2: no error"
  grep -q -- "$3" out || fail "$1 driver, $2: no '$3' in: $(cat out)"
  # shellcheck disable=SC2086
  batch "$1" "$2" cuda-or-cpu $run 2>out | tail -n +2 >taken || fail "$1 driver, $2: the CPU fails"
  grep -q 'the CPU takes over' out || fail "$1 driver, $2: nobody says that the CPU takes over"
  cmp cpu taken || fail "$1 driver, $2: the CPU differs"
}
refuses whole "no card" "no CUDA-capable device"
refuses whole "no memory" "not enough memory"
refuses whole "killed" "unspecified launch failure"
refuses old "" "too old"
refuses none "" "not installed"

! batch whole "" cuda robot_trot >out 2>&1 || fail "a driven scene runs on a card"
grep -q 'driven between its steps' out || fail "driven scene: $(cat out)"
! batch whole "" gpu $run >out 2>&1 || fail "--device gpu is taken"
