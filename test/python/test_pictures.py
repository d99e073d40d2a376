"""Recordings, pages, plots, tables and notebooks."""

import base64
import json
import os
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import tenon

EXAMPLES = Path(os.environ.get("TENON_EXAMPLES", Path(__file__).resolve().parents[2] / "python/examples"))


def _recorded(steps=30):
    w = tenon.World()
    w.add_plane()
    w.add_body(tenon.Box(0.2), tenon.Sphere(0.1, position=(0, 0.3, 0)), position=(0, 2, 0))
    w.add_soft(tenon.cloth(4, 4, 1, 1), position=(2, 1, 0))
    recording = w.record()
    for _ in range(steps):
        w.step()
    return w, recording


def test_recording():
    w, recording = _recorded()
    assert len(recording) == 31 and recording.time[-1] == pytest.approx(0.5)
    assert recording.poses.shape == (31, 1, 7)
    assert recording.poses[-1, 0] == pytest.approx(w.poses[0], abs=1e-6)
    assert recording.energy["total"][-1] == pytest.approx(w.energy.total)
    w.add_body(tenon.Sphere(0.1))
    w.step()
    assert len(recording) == 31  # it ends when bodies come


def test_page_has_everything():
    w, recording = _recorded()
    page = w.show(opens=False).html()
    assert "http" not in page.replace("http-equiv", "")  # nothing from elsewhere
    data = json.loads(re.search(r"new Player\(document\.body, (\{.*\})\);", page).group(1))
    frames = np.frombuffer(base64.b64decode(data["frames"]), np.float32).reshape(31, data["width"])
    assert data["width"] == 7 + 3 * 16 and len(data["bodies"][0]) == 2 and len(data["still"]) == 1
    assert np.array_equal(frames[:, :7], recording.poses[:, 0])
    assert frames[-1, 7:].reshape(16, 3) == pytest.approx(w.softs[0].positions, abs=1e-6)
    assert "<iframe" in w.show(opens=False)._repr_html_()


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_script_of_the_page_is_valid(tmp_path):
    path = tmp_path / "viewer.js"
    path.write_text((Path(tenon.__file__).parent / "viewer/viewer.js").read_text())
    assert subprocess.run(["node", "--check", str(path)]).returncode == 0


def test_live_page():
    w, recording = _recorded(3)
    viewer = w.show(opens=False)
    address = viewer.serve(opens=False)
    assert b"Player" in urllib.request.urlopen(address).read()
    w.step()
    data = urllib.request.urlopen(address + "frames?from=2").read()
    rows = np.frombuffer(data, np.float32).reshape(-1, 7 + 3 * 16)
    assert len(rows) == 3 and np.array_equal(rows[-1, :7], recording.poses[-1, 0])
    viewer.close()


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    w, _ = _recorded()
    axes = w.plot()
    assert [line.get_label() for line in axes.lines][:2] == ["kinetic", "potential"]
    with pytest.raises(tenon.Error, match="record"):
        tenon.World().plot()


def test_compare():
    table = tenon.compare("pyramid", seconds=0.1, base=3, vary={"substeps": [2, 4]})
    rows = table if isinstance(table, list) else table.to_dict("records")
    assert [row["substeps"] for row in rows] == [2, 4] and all(row["bodies"] in (6, 7) for row in rows)
    assert int(rows[1]["hash"]) == tenon.run("pyramid", seconds=0.1, base=3, substeps=4).hash


@pytest.mark.long
def test_study(tmp_path):
    tables = tenon.study(str(tmp_path / "study"), quick=True)
    assert len(tables) > 5 and all(len(table) for table in tables.values())


@pytest.mark.parametrize("name", ["first_steps", "robot", "study"])
def test_notebook(name, tmp_path, monkeypatch):
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        pass
    monkeypatch.chdir(tmp_path)
    book = json.loads((EXAMPLES / f"{name}.ipynb").read_text())
    space = {"__name__": "__main__"}
    monkeypatch.setattr(tenon.Viewer, "serve", lambda self, **_: "")  # as in a notebook
    for cell in book["cells"]:
        assert not cell.get("outputs")
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), name, "exec"), space)


def test_examples(tmp_path):
    for path in EXAMPLES.glob("*.py"):
        words = ["pole", "2"] if path.stem == "learn" else []
        import sys

        done = subprocess.run([sys.executable, str(path), *words], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout
