#!/usr/bin/env python3
"""Arithmetic of a profile: floating-point operations and bytes that instructions load and store.

  valgrind --tool=callgrind --dump-instr=yes --toggle-collect=substep_tenon \\
    --callgrind-out-file=build/profile.out build/release/tenon run pyramid --substeps 4 --seconds 0.1
  scripts/flops.py build/profile.out build/release/tenon

Idle lanes count. Valgrind has no AVX-512: it shows eight lanes.
"""
import collections
import re
import subprocess
import sys


def costs(path):
    """Instructions executed at each address."""
    cost, address, after_call = collections.Counter(), 0, False
    for line in open(path):
        if line.startswith("calls="):
            after_call = True  # the next line has the cost of the callee
        elif re.match(r"0x|[+\-*]", line):
            at, *_, count = line.split()
            if at[0] in "+-":
                address += int(at[0] + at[1:].removeprefix("0x"), 16 if "0x" in at else 10)
            elif at != "*":
                address = int(at, 16)
            cost[address] += 0 if after_call else int(count)
            after_call = False
    return cost


def instructions(binary):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\s+([0-9a-f]+):\s+(\S+)(.*)", text, re.M)
    return {int(address, 16): (name, arguments) for address, name, arguments in found}


def width(arguments):
    return 64 if "zmm" in arguments else 32 if "ymm" in arguments else 16


def flops(name, arguments):
    match = re.match(r"v?(add|sub|mul|div|sqrt|max|min)([ps])([sd])$", name)
    if not match:
        return 0
    return 1 if match[2] == "s" else width(arguments) // (4 if match[3] == "s" else 8)


def moved(name, arguments):
    if "(" not in arguments or name.startswith(("lea", "nop", "call", "jmp")):
        return 0
    scalar = re.search(r"s[sd]$", name)
    return 4 if scalar else width(arguments) if "mm" in arguments else 8


cost = costs(sys.argv[1])
code = instructions(sys.argv[2])
base = 0 if any(address in code for address in cost) else 0x400000
known = {address: n for address, n in cost.items() if address - base in code}
total = sum(known.values())
print(f"instructions {total}")
print(f"flops {sum(n * flops(*code[a - base]) for a, n in known.items())}")
print(f"bytes loaded and stored {sum(n * moved(*code[a - base]) for a, n in known.items())}")
print(f"in other objects {sum(cost.values()) - total}")
