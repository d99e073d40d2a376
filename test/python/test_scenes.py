"""Scenes, and the command: the same bits."""

import json
import subprocess
import sys

import pytest

import tenon
from tenon.__main__ import COMMAND

RUNS = [
    ("pyramid", {"base": 6}, 1.0),
    ("stack", {}, 0.5),
    ("cradle", {}, 1.0),
    ("pendulum_triple", {}, 1.0),
    ("chain", {"count": 20}, 0.5),
    ("arch", {}, 0.5),
    ("ragdoll", {}, 0.5),
    ("car", {}, 0.2),
    ("soft_cube_spin", {}, 0.5),
    ("steering", {}, 0.5),
]


def command(*words):
    done = subprocess.run([str(COMMAND), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name, parameters, seconds", RUNS, ids=[r[0] for r in RUNS])
def test_hashes_are_those_of_the_command(name, parameters, seconds):
    words = [w for k, v in parameters.items() for w in ("--set", f"{k}={v}")]
    out = json.loads(command("run", name, *words, "--seconds", str(seconds), "--json"))
    run = tenon.run(name, seconds=seconds, **parameters)
    assert int(str(out["hash"]), 16) == run.hash
    assert out["metrics"]["bodies"] == run.metrics["bodies"]
    stepped = tenon.scene(name, **parameters)
    for _ in range(int(seconds * 60 + 0.5)):
        stepped.step(1 / 60)
    assert stepped.hash == run.hash


def test_list_of_scenes():
    found = tenon.scenes()
    assert len(found) > 30 and found["pyramid"].parameters["base"].whole
    assert set(command("scenes", "--names").split()) == set(found)


def test_scene_files(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(command("export", "stack"))
    out = json.loads(command("run", str(path), "--seconds", "0.5", "--json"))
    assert int(str(out["hash"]), 16) == tenon.run(str(path), seconds=0.5).hash


def test_scenes_are_worlds():
    w = tenon.scene("pyramid", base=4, threads=2, substeps=5)
    assert w.substeps == 5 and len(w.bodies) == 11 and w.positions.shape == (11, 3)
    w.step()
    with pytest.raises(tenon.Error, match="copied"):
        w.copy()


def test_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "tenon", "version"], capture_output=True, text=True)
    assert done.returncode == 0 and tenon.__version__ in done.stdout
    done = subprocess.run([sys.executable, "-m", "tenon", "sing"], capture_output=True, text=True)
    assert done.returncode == 2 and "unknown command" in done.stderr
