"""Recordings of a world: energies over time, and pictures in a browser or a notebook."""

from __future__ import annotations

import atexit
import base64
import html
import http.server
import json
import threading
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional
from urllib.parse import parse_qs, urlparse

import numpy as np

from ._colors import GROUND, PALETTE
from ._convert import Array, to_c
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._world import World

FOLDER = Path(__file__).resolve().parent / "viewer"


def _text(array: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


class Recording:
    """What a world does from now on: a row for each step.

    It ends when the number of bodies or soft bodies changes, or with stop().
    """

    def __init__(self, world: "World", *, poses: bool = True, limit: int = 100000) -> None:
        self._world = world
        self._limit = to_c(ffi.typeof("uint32_t"), limit, "limit")
        self._poses = to_c(ffi.typeof("bool"), poses, "poses")
        self._time: List[float] = []
        self._energy: List[Any] = []
        self._frames: List[Array] = []
        self._shape = self._layout()
        self._lock = threading.Lock()
        world._recorder = self._note
        self._note()

    def _layout(self) -> Any:
        c = self._world.counters
        return c.bodies, c.softs, c.particles

    def _note(self) -> None:
        world = self._world
        if self._layout() != self._shape or len(self._time) >= self._limit:
            self.stop()
            return
        e = world._invoke(lib.tn_world_energy)
        rows = [world.poses.astype(np.float32).ravel()] if self._poses else []
        if self._poses:
            rows += [soft.positions.astype(np.float32).ravel() for soft in world.softs]
        with self._lock:
            self._time.append(world.time)
            self._energy.append((e.kinetic, e.potential, e.elastic, e.total))
            if rows:
                self._frames.append(np.concatenate(rows))

    def stop(self) -> None:
        """Ends the recording; what there is stays."""
        if self._world._recorder == self._note:
            self._world._recorder = None

    def __len__(self) -> int:
        return len(self._time)

    @property
    def time(self) -> Array:
        """Times of the rows, s."""
        return np.array(self._time)

    @property
    def energy(self) -> Array:
        """Energies, J, as a structured array: kinetic, potential, elastic, total."""
        kind = [(n, "f8") for n in ("kinetic", "potential", "elastic", "total")]
        return np.array(self._energy, kind)

    @property
    def poses(self) -> Array:
        """Poses of all bodies: (rows, bodies, 7)."""
        bodies = self._shape[0]
        rows = [frame[: 7 * bodies].reshape(bodies, 7) for frame in self._frames]
        return np.array(rows) if rows else np.zeros((0, bodies, 7), np.float32)

    def plot(self, axes: Any = None) -> Any:
        """Draws the energies over time with matplotlib; returns the axes."""
        if axes is None:
            from matplotlib import pyplot

            _, axes = pyplot.subplots()
        energy = self.energy
        for name in ("kinetic", "potential", "elastic", "total"):
            if energy[name].any():
                axes.plot(self.time, energy[name], label=name)
        axes.set_xlabel("time, s")
        axes.set_ylabel("energy, J")
        if axes.lines:
            axes.legend()
        return axes


# ---- The page ------------------------------------------------------------------------------------


def _meshes(world: "World", body: Any, color: Any) -> List[Dict[str, Any]]:
    shapes = body.shapes if body is not None else [s for s in world.shapes if s.body is None]
    made = []
    for shape in shapes:
        points, triangles = shape.mesh()
        if not len(triangles):
            continue
        place, turn = shape.position, shape.rotation
        vector = np.cross(turn[:3], points)
        points = points + 2 * (turn[3] * vector + np.cross(turn[:3], vector)) + place
        made.append({"points": _text(points.astype(np.float32)), "triangles": _text(triangles.astype(np.uint32)), "color": color})
    return made


def _scene(recording: Recording, live: bool) -> Dict[str, Any]:
    world = recording._world
    bodies = world.bodies
    softs: List[Dict[str, Any]] = [
        {"count": len(s.masses), "triangles": _text(s.triangles.astype(np.uint32)), "color": PALETTE[i % len(PALETTE)]}
        for i, s in enumerate(world.softs)
    ]
    moving = [i for i, body in enumerate(bodies) if body.type.name != "STATIC"]
    places = recording.poses[:, moving, :3].reshape(-1, 3) if moving else np.zeros((1, 3))
    center = 0.5 * (places.min(0) + places.max(0))
    spread = float(np.linalg.norm(places.max(0) - places.min(0)))
    times = recording.time
    frames = np.array(recording._frames, np.float32)
    return {
        "bodies": [
            _meshes(world, body, body.color)
            for body in bodies
        ],
        "still": _meshes(world, None, GROUND),
        "softs": softs,
        "center": center.tolist(),
        "distance": 1.5 * spread + 4.0,
        "dt": float(np.diff(times).mean()) if len(times) > 1 else 1 / 60,
        "width": 7 * len(bodies) + 3 * sum(s["count"] for s in softs),
        "frames": "" if live else _text(frames),
        "live": live,
    }


class _Server(http.server.ThreadingHTTPServer):
    """Serves a page and the frames of a recording, on this machine only."""

    FIRST, SILENT = 20.0, 90.0  # s, for the page to come, and between its questions; browsers slow hidden pages

    def __init__(self, recording: Recording, page: bytes, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.recording, self.page = recording, page
        self.until = time.monotonic() + self.FIRST

    def linger(self) -> None:
        """Waits until the page is closed."""
        print("tenon: the page is open; close it, or press Ctrl-C, to end", flush=True)
        try:
            while time.monotonic() < self.until:
                time.sleep(0.1)
        except KeyboardInterrupt:
            pass


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        url = urlparse(self.path)
        self.server.until = time.monotonic() + self.server.SILENT
        if url.path == "/frames":
            first = parse_qs(url.query).get("from", ["0"])[0]
            recording = self.server.recording
            with recording._lock:
                frames = recording._frames[int(first) if first.isdecimal() else 0 :]
            self.answer(b"".join(frame.tobytes() for frame in frames), "application/octet-stream")
        else:
            self.answer(self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """The page is being closed, or loaded again."""
        self.server.until = time.monotonic() + 1.0
        self.answer(b"", "text/plain")

    def answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""


class Viewer:
    """A page that shows a recording: in a notebook's cell, as a file, or live in a browser."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._server: Optional[_Server] = None

    def html(self, *, live: bool = False) -> str:
        """The page with everything that it needs; without `live` with all frames so far."""
        data = json.dumps(_scene(self.recording, live))
        page = (FOLDER / "viewer.html").read_text()
        return page.replace("/*VIEWER*/", (FOLDER / "viewer.js").read_text()).replace("/*DATA*/", data)

    def save(self, path: str) -> None:
        """Writes the page as one file that needs no network."""
        Path(path).write_text(self.html())

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html(), quote=True)}" '
            'style="width: 100%; height: 420px; border: 0"></iframe>'
        )

    def serve(self, port: int = 0, *, opens: bool = True) -> str:
        """Serves the page on this machine only, with new frames as the world is stepped; its address.

        A program that has opened the page ends when the page is closed, or with Ctrl-C.
        """
        if self._server is None:
            self._server = _Server(self.recording, self.html(live=True).encode(), port)
            threading.Thread(target=self._server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{self._server.server_address[1]}/"
        if opens and webbrowser.open(address):
            atexit.register(self._server.linger)
        return address

    def close(self) -> None:
        """Ends the server."""
        if self._server is not None:
            atexit.unregister(self._server.linger)
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __repr__(self) -> str:
        return f"<Viewer of {len(self.recording)} frames>"


def in_notebook() -> bool:
    """Whether a cell would show what is returned."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


__all__ = ["Recording", "Viewer"]
