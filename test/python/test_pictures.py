"""Recordings, pages, plots, tables and notebooks."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
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


SCRIPT = """
import tenon, webbrowser
webbrowser.open = lambda address: print(address, flush=True) or True
w = tenon.World()
w.add_body(tenon.Box(0.2))
w.show()
"""


def test_a_program_ends_when_its_page_is_closed():
    program = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    address = program.stdout.readline().strip()
    assert b"Player" in urllib.request.urlopen(address).read()
    assert len(urllib.request.urlopen(address + "frames?from=0").read()) == 4 * 7
    assert urllib.request.urlopen(address + "frames?from=x").status == 200
    assert program.poll() is None  # it waits at its end
    urllib.request.urlopen(address + "closed", data=b"")
    assert program.wait(30) == 0


def test_depth_is_that_of_a_plane_and_a_ball():
    w = tenon.World()
    w.add_plane()
    w.add_body(tenon.Sphere(0.5), position=(0, 3, 0))
    rng = np.random.default_rng(2)
    for _ in range(5):
        eye = rng.uniform(-3, 3, 3) + (0, 8, 0)
        camera = tenon.Camera(position=eye, target=(0, 3, 0), width=41, height=31, angle=rng.uniform(20, 60))
        rays, seen = camera.directions(), w.depth(camera)
        assert seen.shape == (31, 41) and rays[15, 20] == pytest.approx((np.array((0, 3, 0)) - eye) / np.linalg.norm((0, 3, 0) - eye))
        assert np.degrees(np.arccos(rays[0, 20] @ rays[-1, 20])) == pytest.approx(camera.angle * 30 / 31, rel=0.02)
        to_center = np.array((0, 3, 0)) - eye
        along = rays @ to_center
        off = to_center @ to_center - along**2
        ball = along - np.sqrt(np.where(off < 0.25, 0.25 - off, np.nan))
        ground = np.where(rays[..., 1] < 0, -eye[1] / rays[..., 1], np.inf)
        exact = np.fmin(ball, np.where(ground < camera.far, ground, np.inf))
        clear = np.abs(off - 0.25) > 1e-3
        assert seen[clear] == pytest.approx(exact[clear], rel=1e-4)
    with pytest.raises(ValueError):
        w.depth(tenon.Camera(position=(0, 0, 0), target=(0, 1, 0)))
    with pytest.raises(ValueError):
        w.depth(tenon.Camera(angle=180))


def test_images_and_films(tmp_path):
    w = tenon.World()
    w.add_plane()
    box = w.add_body(tenon.Box(0.5), position=(0, 1, 0))
    box.color = "red"
    w.add_soft(tenon.cloth(4, 4, 1, 1), position=(2, 1, 0))
    film = tenon.Film(w, tenon.Camera(width=64, height=48))
    for _ in range(4):
        w.step(1 / 60, repeat=5)
        film.take()
    middle = film.frames[0][24, 32].astype(int)
    assert middle[0] > 2 * middle[1] and (film.frames[0] != film.frames[-1]).any() and len(film) == 4
    film.save(tmp_path / "film.png", rate=20)
    image = pytest.importorskip("PIL.Image")
    read = image.open(tmp_path / "film.png")
    assert read.size == (64, 48) and read.n_frames == 4 and read.info["duration"] == pytest.approx(50, abs=1)
    for i, frame in enumerate(film.frames):
        read.seek(i)
        assert np.array_equal(np.asarray(read.convert("RGB")), frame)
    film.save(tmp_path / "film.gif", rate=20)
    assert image.open(tmp_path / "film.gif").n_frames == 4 and film._repr_png_()[:4] == b"\x89PNG"
    with pytest.raises(ValueError):
        tenon.Film(w).save(tmp_path / "empty.png")
    with pytest.raises(ValueError):
        film.save(tmp_path / "film.png", rate=0)


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
    assert len(tables) > 5
    empty = [name for name, table in tables.items() if not len(table)]
    assert all(name.endswith("_notes") for name in empty)  # there may be nothing to note


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
        done = subprocess.run([sys.executable, str(path), *words], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout
