#!/bin/sh
# Every setter of the public headers has a getter: tn_<thing>_set_<what> has tn_<thing>_<what>,
# tn_<thing>_is_<what>, or tn_<thing>_get_<what> where the plain name is that of a type.
# usage: test_names.sh include/tenon
set -eu

functions=$(cat "$1"/*.h | grep -oE '\btn_[a-z0-9_]+\(' | tr -d '(' | sort -u)
has() { printf '%s\n' "$functions" | grep -qx "$1"; }

missing=0
for setter in $(printf '%s\n' "$functions" | grep '_set_'); do
  thing=${setter%%_set_*}
  what=${setter#*_set_}
  if ! has "${thing}_$what" && ! has "${thing}_is_$what" && ! has "${thing}_get_$what"; then
    echo "$setter has no getter"
    missing=1
  fi
done
exit $missing
