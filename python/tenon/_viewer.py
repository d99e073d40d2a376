"""The page that shows a recording: in a notebook's cell, as a file, or live in a browser."""

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
from ._convert import Array, Error
from ._record import Recording

if TYPE_CHECKING:
    from ._world import World

FOLDER = Path(__file__).resolve().parent / "viewer"


def _text(array: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


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

    def __reduce__(self) -> Any:
        raise Error("a page cannot be copied or pickled: save() writes it")

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


__all__ = ["Viewer"]
