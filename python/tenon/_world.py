"""Worlds: their life, their bodies, and time."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

import numpy as np

from . import _generated as generated
from ._articulation import Articulation
from ._arrays import Arrays
from ._colors import GROUND, PALETTE, Color
from ._convert import ENUMS, VALUES, Array, Error, Vector, fill, given, numbers
from ._events import Events
from ._generated import StepStatus
from ._handles import HANDLES, Body
from ._making import Making
from ._native import ffi, lib
from ._pictures import Camera, depth, see, shade
from ._queries import Queries
from ._record import Recording
from ._robot import Robot
from ._rows import Rows
from ._states import States
from ._viewer import Viewer, in_notebook

ENUMS.update(generated.ENUMS)
VALUES.update(generated.VALUES)

_NULL = ffi.NULL
_tnp_step = lib.tnp_step
_OK = StepStatus.OK
_REJECTED = int(StepStatus.REJECTED)
_NO_MEMORY = int(StepStatus.OUT_OF_MEMORY)


def _destroy(native: Any, pid: int, keep: List[Any]) -> None:
    # `keep` is what the memory of the world points to.
    # In a forked child the threads of a world are gone: its memory is left alone.
    if os.getpid() == pid:
        lib.tnp_close(native)


def _nothing() -> None:
    pass


_worlds: "weakref.WeakSet[World]" = weakref.WeakSet()


def _after_fork() -> None:
    for world in list(_worlds):
        world._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class World(Making, Arrays, Queries, States):
    """A world: owns bodies, joints, shapes and soft bodies.

    Arrays such as `positions` are read-only views of memory that steps refresh. They stay readable
    as long as Python holds them; when bodies come or go, the world makes new ones.
    """

    __slots__ = (
        "_native", "_ptr", "_acquire", "_release", "_threads", "_geometries", "_robots", "_keep", "_bodies", "_poses",
        "_pose_views", "_unwatched", "_rates", "_views", "_time", "_settings", "_colors", "_recorder", "_recording",
        "_owner", "_finalizer", "__weakref__",
    )

    def _prepare(self, threads: int) -> None:
        self._native = ffi.new("tnp_world *")
        self._ptr = _NULL
        lock = threading.Lock()
        self._acquire, self._release = lock.acquire, lock.release
        self._threads = threads
        self._geometries: Dict[int, Any] = {}
        self._robots: List[Articulation] = []
        self._keep: List[Any] = []
        self._bodies: Optional[List[Body]] = None
        self._poses = np.zeros((0, generated.POSE_NUMBERS))
        self._unwatched = True
        self._rates: Optional[Rows] = None
        self._views: List[Rows] = []  # velocities, and arrays of robots
        self._time = 0.0
        self._colors: Dict[Any, Color] = {}
        self._recorder: Optional[Callable[[], None]] = None
        self._recording: Optional[Recording] = None
        self._owner: Any = None

    def _opened(self) -> None:
        self._ptr = self._native.world
        self._finalizer: Callable[[], Any] = weakref.finalize(self, _destroy, self._native, os.getpid(), self._keep)
        _worlds.add(self)

    def _definition(self, values: Mapping[str, Any]) -> Any:
        definition = ffi.new("tn_world_def *", lib.tn_default_world_def())
        fill(definition, "tn_world_def", given(values), [])
        self._settings = given(values)
        return definition

    def _create(self, values: Mapping[str, Any]) -> None:
        threads = values.get("threads")
        self._prepare(threads if isinstance(threads, int) else 1)
        if not lib.tnp_create(self._native, self._definition(values)):
            self._raise("there is no memory for a world")
        self._opened()

    @classmethod
    def _of_batch(cls, owner: Any, native: Any, settings: Dict[str, Any], time: float) -> "World":
        """A world that belongs to a batch, which lives as long as it."""
        world = cls.__new__(cls)
        world._prepare(1)
        world._owner = owner
        world._native, world._ptr = native, native.world
        world._settings, world._time = settings, time
        world._finalizer = _nothing
        return world

    # -- Life

    def close(self) -> None:
        """Gives the memory of the world back. Arrays stay readable."""
        if not self._ptr:
            return
        if not self._acquire(False):
            raise self._unusable()
        self._ptr = _NULL
        self._finalizer()
        self._release()
        self._restructured()

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _after_fork(self) -> None:
        if self._threads > 1:
            self._acquire = _refuse_after_fork

    def __repr__(self) -> str:
        if not self._ptr:
            return "<World, closed>"
        c = self.counters
        parts = [f"{c.bodies} bodies"]
        for name in ("joints", "softs", "contacts"):
            if getattr(c, name):
                parts.append(f"{getattr(c, name)} {name}")
        return f"<World, {', '.join(parts)}, {self.substeps} substeps, t = {self._time:.3f} s>"

    # -- Memory of arrays

    def _watch(self) -> None:
        """Makes steps refresh the poses of the bodies that there are now; the caller holds the world."""
        poses = np.zeros((lib.tn_world_bodies(self._ptr, ffi.NULL, 0), generated.POSE_NUMBERS))
        if not lib.tnp_watch(self._native, ffi.cast("double *", poses.ctypes.data)):
            raise MemoryError("there is no memory for the poses")
        self._poses, self._unwatched = poses, False
        self._pose_views = poses[:], poses[:, :3], poses[:, 3:]
        for view in self._pose_views:
            view.flags.writeable = False

    def _rate_rows(self) -> Rows:
        if self._rates is None:
            self._rates = Rows((self._body_count(), generated.VELOCITY_NUMBERS), self._fill_rates)
            self._views.append(self._rates)
        return self._rates

    # -- Handles

    def _handle(self, cname: str, value: Any) -> Any:
        return HANDLES[cname](self, ffi.new(f"{cname} *", value)[0]) if value.index else None

    def _number(self) -> int:
        """The number of this world in ids."""
        for kind in ("body", "shape", "joint", "soft"):
            ids = ffi.new(f"tn_{kind}_id[1]")
            if getattr(lib, f"tn_world_{'bodies' if kind == 'body' else kind + 's'}")(self._ptr, ids, 1):
                return int(ids[0].world)
        state = self.save()  # making something changes the state
        made = self._invoke(lib.tn_body_create, ffi.new("tn_body_def *", lib.tn_default_body_def()))
        self._invoke(lib.tn_world_restore, bytes(state), len(state))
        return int(made.world)

    def _restructured(self) -> None:
        """Bodies came or went."""
        self._views = [rows for rows in self._views if rows is not self._rates]
        self._bodies = self._rates = None
        self._unwatched = True
        self._touch()

    def _touch(self) -> None:
        """A call may have changed what arrays show."""
        self._native.stale = True
        self._stepped()

    def _stepped(self) -> None:
        """Steps were made elsewhere, which refreshed the poses alone."""
        for rows in self._views:
            rows.fresh = False

    @property
    def bodies(self) -> List[Body]:
        """All bodies, in the order of the rows of positions, rotations and velocities."""
        if self._bodies is None:
            self._bodies = self._list(lib.tn_world_bodies, "tn_body_id")
        assert self._bodies is not None
        return list(self._bodies)

    def _row(self, body: Body) -> int:
        self.bodies
        assert self._bodies is not None
        try:
            return self._bodies.index(body)
        except ValueError:
            raise Error("the body is gone, or of another world") from None

    def body(self, key: Any) -> Body:
        """A body by its name, by its row, or by an id of a contact or an event."""
        if isinstance(key, str):
            for body in self.bodies:
                if body.name == key:
                    return body
            raise KeyError(f"there is no body '{key}'")
        if isinstance(key, (int, np.integer)):
            return self.bodies[int(key)]
        try:
            wanted = int(key["index"]), int(key["generation"])
        except (TypeError, ValueError, IndexError, KeyError):
            raise TypeError(f"key must be a name, a row, or an id of a contact or an event, not {key!r}") from None
        for body in self.bodies:
            if body._key() == wanted:
                return body
        raise KeyError("there is no body of that id")

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies)

    # -- Robots

    def load(
        self,
        source: str,
        *,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Vector = (0.0, 0.0, 0.0, 1.0),
        keyframe: Optional[str] = None,
        prefix: str = "",
        y_up: bool = True,
        base: Any = "auto",
        meshes: bool = True,
        max_hulls: int = 1,
        search_paths: Sequence[str] = (),
    ) -> Robot:
        """Builds the robot of an MJCF or URDF file, or of its text, in the world.

        The package has models of its own: "arm", "humanoid" and "quadruped" are found by these names, and
        "quadruped.xml" or "quadruped.urdf" as well, unless there is such a file.

        position, rotation: of the model's frame
        keyframe: name of the position it starts in; None: the reference position
        prefix: of the names of its bodies, for several copies
        y_up: turns the model's up axis to y
        base: of a URDF file, how its root link stands: "auto", "fixed" or "free"
        meshes: read mesh files; False leaves their geoms out
        max_hulls: convex parts of a mesh on a body that moves, 1 to 64
        search_paths: folders for packages and missing files
        """
        options = {
            "position": tuple(numbers(position, 3, "position")),
            "rotation": tuple(numbers(rotation, 4, "rotation")),
            "keyframe": keyframe,
            "prefix": prefix,
            "y_up": y_up,
            "base": base,
            "meshes": meshes,
            "max_hulls": max_hulls,
            "search_paths": tuple(os.fspath(p) for p in search_paths),
        }
        return Robot(self, os.fspath(source), options)

    @property
    def robots(self) -> List[Robot]:
        """Robots in the order in which they were loaded."""
        return [robot for robot in self._robots if isinstance(robot, Robot)]

    def articulation(self, *roots: Body) -> Articulation:
        """Reduced coordinates of the trees of joints that start at root bodies."""
        return Articulation(self, roots)

    # -- Time

    def step(self, dt: float = 1.0 / 60.0, repeat: int = 1) -> StepStatus:
        """Advances the world by `repeat` steps of `dt` s, without the global lock of Python.

        Returns what happened as bits; StepStatus.OK is a clean step.
        """
        if not self._ptr or not self._acquire(False):
            raise self._unusable()
        try:
            if self._unwatched:
                self._watch()
            status = _tnp_step(self._native, dt, repeat)
        finally:
            self._release()
        self._time += dt * repeat
        for rows in self._views:
            rows.after_step()
        if self._recorder is not None:
            self._recorder()
        return _OK if status == 0 else self._step_status(status)

    def _step_status(self, status: int) -> StepStatus:
        if status & _REJECTED:
            self._raise("the step was refused")
        if status & _NO_MEMORY:
            raise MemoryError("there is no memory for the step")
        return StepStatus(status)

    @property
    def time(self) -> float:
        """Simulated time since the world was made, s."""
        return self._time

    @property
    def warning(self) -> str:
        """The first warning of the engine since the last look; empty for none."""
        native = self._native
        text = ffi.string(native.warning).decode("utf-8", "replace") if native.warnings else ""
        native.warnings = 0
        return str(text)

    @property
    def events(self) -> Events:
        """What happened in the last step."""
        return Events(self)

    # -- Pictures

    def record(self, *, poses: bool = True, limit: int = 100000) -> Recording:
        """Records energies, and poses, of every step from now on."""
        self._recording = Recording(self, poses=poses, limit=limit)
        return self._recording

    def plot(self, axes: Any = None) -> Any:
        """Draws the energies since record() with matplotlib; returns the axes."""
        if self._recording is None:
            raise Error("nothing is recorded: call record() before the steps")
        return self._recording.plot(axes)

    def _colors_of(self, hits: Array) -> Array:
        """Colours of what rays hit: (..., 3)."""
        bodies, softs = hits["body"]["index"], hits["soft"]["index"]
        table = np.tile(GROUND, (int(bodies.max(initial=0)) + 1, 1))
        for body in self.bodies:
            if body._id.index < len(table):
                table[body._id.index] = body.color
        soft_colors = np.asarray(PALETTE)[(softs.astype(int) - 1) % len(PALETTE)]
        return np.where(softs[..., None] > 0, soft_colors, table[bodies])

    def image(self, camera: Camera = Camera()) -> Array:
        """A picture of the present state: (height, width, 3) of 8 bits."""
        return shade(self, see(self, camera))

    def depth(self, camera: Camera = Camera()) -> Array:
        """Distances from a camera, m, infinite where nothing is: (height, width)."""
        return depth(see(self, camera), camera)

    def show(self, *, opens: bool = True) -> Viewer:
        """Shows the world in a notebook's cell, or live in a browser.

        A notebook replays what record() or an earlier show() has recorded; a browser shows new steps
        as they are made.
        """
        if self._recording is None:
            self.record()
        assert self._recording is not None
        viewer = Viewer(self._recording)
        if opens and not in_notebook():
            viewer.serve()
        return viewer

def _refuse_after_fork(blocking: bool = True) -> bool:
    raise Error("the threads of this world stayed in the parent of the process")


__all__ = ["World"]
