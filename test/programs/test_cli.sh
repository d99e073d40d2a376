#!/usr/bin/env bash
# The tenon command: every mistake gives one line and its exit code, every option works as
# documented, and an interrupted run leaves complete files.
# usage: test_cli.sh TENON WORK_DIR
set -euo pipefail

tenon=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/folder"
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# refuses CODE PATTERN WORD...: nothing on stdout, one line on stderr that has the pattern.
refuses() {
  local code=0
  "$tenon" "${@:3}" >out 2>err || code=$?
  [ "$code" = "$1" ] || fail "tenon ${*:3}: exit code $code instead of $1"
  [ ! -s out ] || fail "tenon ${*:3}: wrote to stdout"
  [ "$(wc -l <err)" = 1 ] || fail "tenon ${*:3}: not one line: $(cat err)"
  grep -qF -- "$2" err || fail "tenon ${*:3}: '$2' is not in: $(cat err)"
}

# field NAME...: prints these fields of the JSON on stdin, one per line.
field() {
  node -e 'const o = JSON.parse(require("fs").readFileSync(0));
    for (const name of process.argv.slice(1))
      console.log(name.split(".").reduce((x, k) => x?.[k], o))' "$@"
}

echo "== robots"
cat >robot.xml <<'EOF'
<mujoco model="pole">
  <worldbody>
    <body><joint damping="1"/><geom size=".1" mass="2" rgba="1 0 0 1"/></body>
  </worldbody>
</mujoco>
EOF
"$tenon" check robot.xml >out
grep -q "^  robot.xml:3: <geom> rgba" out || fail "no report of a colour"
[ "$("$tenon" check robot.xml --json | field mass)" = 2 ] || fail "the mass is not in the report"
[ "$("$tenon" check robot.xml --json | field counts.joints)" = 1 ] || fail "no joint in the report"
[ "$("$tenon" run robot.xml --seconds 0.1 --json | field metrics.bodies)" = 1 ] || fail "no robot"
"$tenon" run robot.xml --seconds 0.5 | grep "^hash" >direct
"$tenon" export robot.xml --seconds 0.5 >robot.json
"$tenon" run robot.json --seconds 0.5 | grep "^hash" >exported
cmp direct exported || fail "an exported robot moves differently"
refuses 2 "pole has no keyframe 'home'" run robot.xml --keyframe home
refuses 2 "--keyframe is for models of robots" run stack --keyframe home
refuses 2 "--base takes fixed or free, not 'loose'" run robot.xml --base loose
refuses 2 "--path is for models of robots" run stack --path .
refuses 2 "check needs a file" check
refuses 2 "nowhere.xml: cannot be opened" check nowhere.xml
refuses 2 "check has no option '--fast'" check robot.xml --fast
refuses 2 "--path needs the name of a folder" check robot.xml --path
echo "<mujoco><worldbody>" >open.xml
refuses 2 "open.xml:2: not well-formed: no element found" check open.xml

echo "== mistakes"
refuses 2 "missing command"
refuses 2 "unknown command 'fly'" fly
refuses 2 "version takes no arguments; unexpected 'now'" version now
refuses 2 "unknown scene 'nowhere'" scenes nowhere
refuses 2 "scenes has no option '--all'" scenes --all
refuses 2 "scenes takes one name or option" scenes stack chain
refuses 2 "study has no option '--fast'" study --fast
refuses 2 "--out needs the name of a folder" study --out
touch file
refuses 1 "cannot create the folder 'file'" study --quick --out file
refuses 2 "run needs a scene" run
refuses 2 "unknown scene 'nowhere'" run nowhere
refuses 2 "run has no option '--fast'" run stack --fast
refuses 2 "run has no option '--methods'" run stack --methods tenon
refuses 2 "--seconds needs a value" run stack --seconds
for seconds in 0 -1 soon 1e9 nan inf ''; do
  refuses 2 "--seconds takes a number above 0 and up to 36000, not '$seconds'" \
    run stack --seconds "$seconds"
done
for number in 0 -3 2.5 many 1e9; do
  refuses 2 "--substeps takes a whole number from 1 to 10000" run stack --substeps $number
  refuses 2 "--iterations takes a whole number" run stack --iterations $number
  refuses 2 "--threads takes a whole number from 1 to 64" run stack --threads $number
  refuses 2 "--substeps takes a whole number" compare stack --substeps "4,$number"
done
refuses 2 "--lanes takes 1, 4, 8, 16, or 0" run stack --lanes 3
refuses 2 "--method takes tenon, xpbd or jacobi, not 'magic'" run stack --method magic
refuses 2 "--methods takes tenon, xpbd or jacobi, not ''" compare stack --methods tenon,
eight=tenon,tenon,tenon,tenon,tenon,tenon,tenon,tenon
refuses 2 "--methods takes at most 16" compare stack --methods $eight,$eight,xpbd
refuses 2 "--set takes name=value, not 'count'" run stack --set count
refuses 2 "--set takes name=value, not '=3'" run stack --set =3
refuses 2 "scene stack has no parameter 'colour'; it has count, size" run stack --set colour=3
refuses 2 "count takes a whole number from 1 to 1000, not '2.5'" run stack --set count=2.5
refuses 2 "count takes a whole number from 1 to 1000, not '0'" run stack --set count=0
refuses 2 "count takes a whole number from 1 to 1000, not 'ten'" run stack --set count=ten
refuses 2 "size takes a number from 0.001 to 1000, not 'nan'" run stack --set size=nan
refuses 2 "compare has no option '--glb'" compare stack --glb x.glb
refuses 2 "--csv needs the name of a file" run stack --csv ''

echo "== files that cannot be"
for option in csv poses glb snapshot; do
  refuses 1 "cannot write 'nowhere/x': No such file or directory" run stack --$option nowhere/x
  refuses 1 "cannot write 'folder': Is a directory" run stack --$option folder
done
refuses 1 "cannot read 'nothing': No such file or directory" run stack --from nothing
refuses 1 "cannot read 'folder': Is a directory" run stack --from folder
echo "no snapshot" >junk
refuses 1 "'junk' is not a snapshot of a scene" run stack --from junk
"$tenon" run stack --seconds 0.1 --snapshot stack.snap >out
refuses 1 "'stack.snap' is a snapshot of stack, not of chain" run chain --from stack.snap
refuses 2 "--set cannot be used with --from" run stack --from stack.snap --set count=3
head -c 5000 stack.snap >cut.snap
code=0
"$tenon" run stack --from cut.snap >out 2>err || code=$?
[ "$code" = 1 ] && grep -q "'cut.snap' cannot be restored" err || fail "cut snapshot: $(cat err)"
[ -z "$(find . -name '*.part')" ] || fail "left temporary files"

echo "== what is not text goes nowhere"
code=0
"$tenon" run stack --seconds 0.1 >/dev/full 2>err || code=$?
[ "$code" = 1 ] && grep -q "could not write the output" err || fail "full disk: $code $(cat err)"
code=0
"$tenon" run stack --seconds 0.1 --csv /dev/full 2>err >out || code=$?
[ "$code" = 1 ] || fail "full disk for a file: $code $(cat err)"

echo "== help, version, lists"
for words in help --help "run --help" "compare stack --help" "scenes --help"; do
  "$tenon" $words >out
  grep -q "tenon compare SCENE" out || fail "$words"
done
"$tenon" --version >out
grep -q "^tenon [0-9]" out || fail "version"
for scene in $("$tenon" scenes --names); do
  "$tenon" scenes "$scene" >out
  grep -q "^$scene: " out || fail "scenes $scene"
done
"$tenon" scenes --markdown | diff - "$here/../../docs/scenes.md" ||
  fail "docs/scenes.md is not what 'tenon scenes --markdown' prints"

echo "== JSON"
"$tenon" run stack --seconds 0.5 --set count=3 --set offset=0.01 --substeps 7 --method xpbd \
  --lanes 1 --json >run.json
pairs=(scene=stack parameters.count=3 parameters.offset=0.01 method=xpbd substeps=7 threads=1
  lanes=1 seconds=0.5 frames=30 metrics.bodies=4 metrics.joints=0)
field "${pairs[@]%=*}" <run.json | diff <(printf '%s\n' "${pairs[@]#*=}") - ||
  fail "other fields (>) in $(cat run.json)"
names=(ms_median ms_p99 hash metrics.energy_rel_final metrics.energy_rel_max metrics.momentum_rel
  metrics.max_joint_error_m metrics.mean_joint_error_m metrics.max_penetration_m
  metrics.mean_penetration_m metrics.top_drift_m metrics.top_drop_m metrics.max_speed_run
  metrics.max_speed_end metrics.rms_speed_end metrics.contacts)
field "${names[@]}" <run.json >values
[ "$(wc -l <values)" = ${#names[@]} ] && ! grep -q undefined values ||
  fail "$(cat values) for ${names[*]} in $(cat run.json)"
compare=(compare stack --seconds 0.1 --methods tenon,xpbd --substeps 2,4)
[ "$("$tenon" "${compare[@]}" --json | wc -l)" = 4 ] || fail "compare --json"
[ "$("$tenon" "${compare[@]}" | wc -l)" = 7 ] || fail "compare"

echo "== tables"
"$tenon" run mobile --set count=7 --seconds 0.5 --csv m.csv --poses p.csv >out
[ "$(wc -l <m.csv)" = 31 ] || fail "metrics: $(wc -l <m.csv) lines"
[ "$(wc -l <p.csv)" = $((1 + 31 * 7)) ] || fail "poses: $(wc -l <p.csv) lines"
awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' m.csv || fail "metrics: columns differ"
awk -F, 'NF != 10 { exit 1 }' p.csv || fail "poses: columns differ"

"$tenon" run rotor --seconds 0.5 --poses s.csv >out
[ "$(grep -c ',soft 0.[01],' s.csv)" = 62 ] || fail "poses: $(wc -l <s.csv) lines of particles"
awk -F, 'NF != 10 { exit 1 }' s.csv || fail "poses: columns of particles differ"

echo "== a run that is cut in two is the same run"
for scene in joint_zoo cradle "pile --set count=100" soft_cube_spin; do
  "$tenon" run $scene --seconds 1 --json >whole.json
  "$tenon" run $scene --seconds 0.5 --snapshot half.snap --json >/dev/null
  scene=${scene%% *}
  "$tenon" run $scene --seconds 0.5 --from half.snap --json >rest.json
  diff <(field hash metrics.max_speed_run <whole.json) \
    <(field hash metrics.max_speed_run <rest.json) || fail "$scene: other state or metrics"
done

echo "== scene files"
refuses 2 "unknown scene 'mine'" run mine
refuses 2 "./mine: No such file or directory" run ./mine
refuses 2 "mine.json: No such file or directory" run mine.json
refuses 2 "folder/: Is a directory" run folder/
refuses 2 "export has no option '--json'" export stack --json
refuses 2 "schema takes only --markdown; unexpected 'now'" schema now
for file in "$here"/scene_files/bad/*.json; do
  refuses 2 "$file:" run "$file"
  grep -qE "^[^:]+:[0-9]+: .+" err || fail "$file: $(cat err)"
  grep -qFx "$(sed "s,.*/bad/,," err)" "$here/scene_files/bad.txt" || fail "bad.txt has no $(cat err)"
done
"$tenon" export steering --set angle=20 --method xpbd --substeps 7 --seconds 0.5 >mine.json
"$tenon" run mine.json --json >file.json
"$tenon" run steering --set angle=20 --method xpbd --substeps 7 --seconds 0.5 --json >scene.json
names=(scene parameters.angle method substeps seconds hash metrics.energy_rel_final)
diff <(field "${names[@]}" <file.json) <(field "${names[@]}" <scene.json) || fail "mine.json"
"$tenon" export mine.json | diff - mine.json || fail "a file is not written as it was read"
refuses 2 "--set cannot be used with a scene file" run mine.json --set angle=3
[ "$("$tenon" compare mine.json --methods tenon,xpbd --substeps 2 --json | wc -l)" = 2 ] ||
  fail "compare a file"
"$tenon" run mine.json --seconds 0.25 --snapshot file.snap --json >out
"$tenon" run mine.json --seconds 0.25 --from file.snap --json >rest.json
[ "$(field hash <rest.json)" = "$(field hash <file.json)" ] || fail "snapshot of a file's run"
"$tenon" schema | diff - "$here/../../docs/scene.schema.json" ||
  fail "docs/scene.schema.json is not what 'tenon schema' prints"
"$tenon" schema --markdown | diff - "$here/../../docs/scene_keys.md" ||
  fail "docs/scene_keys.md is not what 'tenon schema --markdown' prints"

echo "== the seesaw of docs/scene_files.md"
awk '/^```json/ && !done { inside = 1; next } /^```/ { done = done || inside; inside = 0 } inside' \
  "$here/../../docs/scene_files.md" >seesaw.json
"$tenon" run seesaw.json --poses level.csv >out
sed 's/-0\.75, 1\.25/-0.65, 1.25/' seesaw.json >tipped.json
"$tenon" run tipped.json --poses tipped.csv >out
tilt() { awk -F, '$3 == 0 { z = $9 < 0 ? -$9 : $9 } END { printf "%.7f\n", 2 * z }' "$1"; }
awk "BEGIN { exit !($(tilt level.csv) < 1e-4 && $(tilt tipped.csv) > 0.1) }" ||
  fail "the seesaw: $(tilt level.csv), $(tilt tipped.csv) rad"

if python3 -c 'import jsonschema' 2>/dev/null; then
  echo "== every file is as the schema says"
  for scene in $("$tenon" scenes --names); do
    "$tenon" export "$scene" >"exported_$scene.json"
  done
  python3 - "$here/../../docs/scene.schema.json" exported_*.json seesaw.json \
    "$here/scene_files/all_kinds.json" <<'PYTHON'
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
for name in sys.argv[2:]:
    for error in validator(schema).iter_errors(json.load(open(name))):
        sys.exit(f"{name}: {error.json_path}: {error.message}")
PYTHON
else
  echo "== without python3-jsonschema nothing is held against the schema"
fi

echo "== Ctrl-C"
"$tenon" run pile --set count=300 --seconds 600 --csv i.csv --glb i.glb --snapshot i.snap \
  --json >i.json &
pid=$!
sleep 1
kill -INT $pid
code=0
wait $pid || code=$?
[ "$code" = 130 ] || fail "interrupted: exit code $code"
frames=$(field frames <i.json)
[ "$frames" -gt 0 ] && [ "$frames" -lt 36000 ] || fail "interrupted: $frames frames"
[ "$(wc -l <i.csv)" = $((frames + 1)) ] || fail "interrupted: metrics of $(wc -l <i.csv) frames"
"$tenon" run pile --from i.snap --seconds 0.1 >out || fail "interrupted: snapshot"
[ -z "$(find . -name '*.part')" ] || fail "left temporary files"

echo "== a bar on a terminal, and only there"
script -qec "'$tenon' run pile --set count=300 --seconds 3" /dev/null >bar
grep -q '\[#.*frame [0-9]* of 180' bar || fail "no bar: $(cat bar)"
"$tenon" run pile --set count=300 --seconds 3 >out 2>err
[ ! -s err ] || fail "a bar without a terminal: $(cat err)"

echo "== glTF"
[ -d "$here/gltf/node_modules" ] || fail "no glTF validator; scripts/setup brings it"
for scene in pendulum_triple stack pile sculpture coin; do
  "$tenon" run $scene --seconds 0.3 --glb $scene.glb >out
done
for scene in rotor four_cubes tori_on_cloth car; do
  "$tenon" run $scene --seconds 0.3 --glb $scene.glb --poses $scene.csv >out
  node "$here/gltf/forms.mjs" $scene.glb $scene.csv
done
# More frames than a mesh may have morph targets.
"$tenon" run bowling --seconds 4.5 --glb bowling.glb --poses bowling.csv >out
node "$here/gltf/forms.mjs" bowling.glb bowling.csv
# The shapes of the world itself, which most scene files have, and those of bodies.
for scene in stack pile dominoes ragdoll bowling; do
  "$tenon" export $scene >$scene.json
done
cp "$here/scene_files/all_kinds.json" .
for file in seesaw all_kinds stack pile dominoes ragdoll bowling; do
  "$tenon" run $file.json --seconds 0.1 --glb $file-file.glb >out
  node "$here/gltf/shapes.mjs" $file-file.glb $file.json
done
node "$here/gltf/validate.mjs" ./*.glb

echo "all well"
