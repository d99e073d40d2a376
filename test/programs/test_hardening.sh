#!/bin/sh
# The command of a release build is position independent, has read-only tables and no executable
# stack, and what reads files has stack protectors and checked string functions.
# usage: test_hardening.sh tenon
set -eu

missing=0
wants() { # what, where, pattern
  if ! printf '%s\n' "$2" | grep -qE "$3"; then
    echo "$1"
    missing=1
  fi
}
headers=$(readelf -W -h -l -d "$1")
symbols=$(readelf -W --dyn-syms "$1")
wants "not position independent" "$headers" 'Type: +DYN'
wants "no read-only relocations" "$headers" 'GNU_RELRO'
wants "tables are bound lazily" "$headers" 'BIND_NOW|Flags: NOW| NOW'
wants "the stack is executable" "$headers" 'GNU_STACK .* RW +0x'
wants "no stack protectors" "$symbols" '__stack_chk_fail'
wants "no checked string functions" "$symbols" '__(mem|str|sn?|vsn?|f)[a-z]*_chk'
exit $missing
