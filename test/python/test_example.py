"""The example that the package was asked for, as it was written, and those of the documents."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import tenon

EXAMPLE = """\
import numpy as np, tenon
w = tenon.World(substeps=8, threads=2)
w.add_plane()
box = w.add_body(tenon.Box(.5, .2, .3), position=(0, 3, 0), name="box")
robot = w.load("quadruped.xml", position=(0, .5, 0)); print(robot.report)
for _ in range(600):
    robot.target[:] = robot.keyframes["home"].target
    w.step(1 / 60)
w.positions, w.rotations, w.velocities   # (bodies, 3), (bodies, 4), (bodies, 6): read-only views, refreshed by step
robot.q, robot.qd, robot.force           # views in file order
w.contacts, w.events.hits                # structured arrays
w.rays(origins, displacements)           # (n,) structured array, the GIL released
state = w.save(); w.restore(state); assert w.hash == state.hash
w2 = pickle.loads(pickle.dumps(w)); w3 = copy.deepcopy(w)
tenon.run("pyramid", base=20, seconds=10).metrics
w.show()                                 # the page in a notebook cell or a browser, live and replay
"""


def _run(text, monkeypatch, **names):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    space = {"__name__": "__main__", **names}
    exec(compile(text, "example", "exec"), space)
    return space, opened


def test_the_example_runs_as_written(tmp_path, monkeypatch, capsys):
    """With a copy of the model in the working folder; the documents' runs in an empty one."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(Path(tenon.__file__).parent / "robots/quadruped", tmp_path, dirs_exist_ok=True)
    assert (tmp_path / "quadruped.xml").is_file()
    import copy
    import pickle

    origins = np.tile((0.0, 9.0, 0.0), (5, 1))
    displacements = np.array([(x, -10.0, 0.0) for x in range(5)])
    space, opened = _run(
        EXAMPLE, monkeypatch, pickle=pickle, copy=copy, origins=origins, displacements=displacements
    )
    w, robot = space["w"], space["robot"]
    assert "honoured" in capsys.readouterr().out
    bodies = len(w.bodies)
    assert w.positions.shape == (bodies, 3) and w.rotations.shape == (bodies, 4) and w.velocities.shape == (bodies, 6)
    assert not w.positions.flags.writeable and robot.q.shape == (19,) and robot.qd.shape == robot.force.shape == (18,)
    assert w.rays(origins, displacements).shape == (5,) and w.rays(origins, displacements)["hit"].all()
    assert w.hash == space["state"].hash == space["w2"].hash == space["w3"].hash
    for each in (w, space["w2"], space["w3"]):
        each.step(1 / 60, repeat=10)
    assert w.hash == space["w2"].hash == space["w3"].hash
    assert len(opened) == 1 and opened[0].startswith("http://127.0.0.1:")
    assert w.positions[:, 1].min() > -0.05  # nothing has fallen through the ground


def _snippets():
    folder = Path(os.environ["TENON_DOCS"]) if "TENON_DOCS" in os.environ else Path(__file__).resolve().parents[2] / "docs"
    for path in (folder / "python.md", folder.parent / "README.md", folder.parent / "python/README.md"):
        text = path.read_text() if path.is_file() else ""
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
        if blocks:
            yield pytest.param(blocks, id=f"{path.parent.name}/{path.name}")


@pytest.mark.parametrize("blocks", _snippets())
def test_snippets_of_the_documents_run_one_after_the_other(blocks, tmp_path, monkeypatch):
    """In one name space, as a reader types them."""
    monkeypatch.chdir(tmp_path)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    space = {}
    for block in blocks:
        made, _ = _run(block, monkeypatch, **space)
        space.update({k: v for k, v in made.items() if not k.startswith("__")})
