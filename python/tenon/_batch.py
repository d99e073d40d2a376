"""Many worlds at once, each a copy of one world with its own state and parameters."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Iterable, Iterator, List, Optional, cast

import numpy as np

from ._calls import Handle
from ._convert import Array, ArrayLike, Error
from ._generated import POSE_NUMBERS, VELOCITY_NUMBERS, StepStatus
from ._native import ffi, lib
from ._states import rebuild
from ._world import World


def _pointer(ctype: str, array: Optional[Array]) -> Any:
    return ffi.NULL if array is None or not array.size else ffi.cast(f"{ctype} *", array.ctypes.data)


class Batch:
    """Copies of a world that are stepped together, on several threads.

    poses, velocities, q and qd have a row for each world and are refreshed by step() and reset(). They
    may be written; write() hands them to the worlds. target, of the first robot of each world, acts
    from the next step on. All of them support DLPack, in the memory of the host.
    """

    def __init__(self, world: World, count: int, *, threads: Optional[int] = None) -> None:
        if not isinstance(world, World):
            raise TypeError(f"world must be a World, not {world!r}")
        if int(count) != count or count < 1:
            raise ValueError(f"count must be 1 or more, not {count!r}")
        workers = (os.cpu_count() or 1) if threads is None else int(threads)
        if not 1 <= workers <= 256:
            raise ValueError(f"threads must be from 1 to 256, not {threads!r}")
        parts = list(world._parts())
        parts[2] = {**parts[2], "threads": 1}
        self._worlds: List[World] = [rebuild(*parts) for _ in range(int(count))]
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._make_arrays()
        state = parts[3]
        self._states = [bytes(state)] * len(self._worlds)
        self._start_targets = self.target.copy()
        self._native = ffi.new("tnp_batch *")
        self._link()
        self._pool = ffi.gc(lib.tnp_pool_create(workers), lib.tnp_pool_destroy)
        self._run(lib.tnp_batch_read)

    def _make_arrays(self) -> None:
        n, first = len(self._worlds), self._worlds[0]
        bodies = len(first.bodies)
        self._body_count = bodies
        self.poses: Array = np.zeros((n, bodies, POSE_NUMBERS))
        """Position x y z, m, and rotation x y z w: (worlds, bodies, 7)."""
        self.velocities: Array = np.zeros((n, bodies, VELOCITY_NUMBERS))
        """Velocities, m/s, and angular velocities, rad/s: (worlds, bodies, 6)."""
        robot = first._robots[0] if first._robots else None
        self.q: Array = np.zeros((n, 0 if robot is None else len(robot._q.array)))
        """Coordinates of the first robot or articulation: (worlds, k)."""
        self.qd: Array = np.zeros((n, 0 if robot is None else len(robot._qd.array)))
        """Their rates: (worlds, k)."""
        robots = [w.robots[0] for w in self._worlds if w.robots]
        controls = len(robots[0].target) if robots else 0
        self.target: Array = np.zeros((n, controls))
        """Controls of the first robot: (worlds, actuators)."""
        self._applied = np.zeros((n, controls))
        for i, robot in enumerate(robots):
            self.target[i], self._applied[i] = robot.target, robot._applied
            robot._share(self.target[i], self._applied[i])
        self._status = np.zeros(n, np.uint32)
        self._hashes = np.zeros(n, np.uint64)

    def _link(self) -> None:
        native, n = self._native, len(self._worlds)
        self._pointers = ffi.new("tnp_world *[]", [w._native for w in self._worlds])
        native.worlds, native.count, native.body_count = self._pointers, n, self._body_count
        native.status = _pointer("uint32_t", self._status)
        native.hashes = _pointer("uint64_t", self._hashes)
        native.poses, native.velocities = _pointer("double", self.poses), _pointer("double", self.velocities)
        native.q, native.rates = _pointer("double", self.q), _pointer("double", self.qd)
        self._link_states()

    def _link_states(self) -> None:
        self._state_pointers = ffi.new("void *[]", [ffi.from_buffer(s) for s in self._states])
        self._state_sizes = ffi.new("size_t[]", [len(s) for s in self._states])
        self._native.states, self._native.state_sizes = self._state_pointers, self._state_sizes

    def _run(self, function: Any) -> None:
        if os.getpid() != self._pid:
            raise Error("the threads of this batch stayed in the parent of the process")
        if self._pool is None:
            raise Error("the batch is closed")
        if not self._lock.acquire(False):
            raise Error("the batch is in use by another thread")
        held = 0
        try:
            for world in self._worlds:
                if not world._ptr or not world._acquire(False):
                    raise world._unusable()
                held += 1
                world._native.errors = 0
            function(self._pool, self._native)
        finally:
            for world in self._worlds[:held]:
                world._release()
            self._lock.release()

    # -- Time

    def step(self, dt: float = 1.0 / 60.0, repeat: int = 1) -> Array:
        """Advances all worlds by `repeat` steps of `dt` s; returns the bits of StepStatus of each."""
        self._native.dt, self._native.repeat = dt, repeat
        self._run(lib.tnp_batch_step)
        for world in self._worlds:
            world._time += dt * repeat
            world._touch()
        self._check("the step")
        return self._status.copy()

    def _check(self, what: str) -> None:
        bad = np.nonzero(self._status & (StepStatus.REJECTED | StepStatus.OUT_OF_MEMORY))[0]
        if len(bad):
            native = self._worlds[bad[0]]._native
            text = ffi.string(native.error).decode("utf-8", "replace") if native.errors else "it was refused"
            raise Error(f"{what} of world {bad[0]}: {text}")

    def _mask(self, mask: Optional[ArrayLike]) -> Optional[Array]:
        if mask is None:
            return None
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != (len(self),):
            raise ValueError(f"mask must be {len(self)} truth values")
        return np.ascontiguousarray(chosen)

    def reset(self, mask: Optional[ArrayLike] = None) -> None:
        """Puts worlds back to their start: all, or those of a mask (worlds,)."""
        chosen = self._mask(mask)
        self._native.mask = _pointer("uint8_t", chosen)
        self._run(lib.tnp_batch_reset)
        self._native.mask = ffi.NULL
        which: Any = slice(None) if chosen is None else chosen
        self.target[which] = self._start_targets[which]
        self._applied[which] = self._start_targets[which]
        for i, world in enumerate(self._worlds):
            if chosen is None or chosen[i]:
                world._restructured()
                world._time = 0.0
        self._check("the reset")

    def keep(self) -> None:
        """Makes the present states, with all parameters, the start of reset()."""
        self._states = [bytes(world.save()) for world in self._worlds]
        self._start_targets = self._applied.copy()
        self._link_states()

    def write(self, mask: Optional[ArrayLike] = None, *, bodies: bool = False) -> None:
        """Hands q and qd to the worlds of a mask, or with `bodies` poses and velocities."""
        chosen = self._mask(mask)
        native = self._native
        native.mask = _pointer("uint8_t", chosen)
        whole = (native.poses, native.velocities, native.q, native.rates)
        if bodies or not self.q.size:
            native.q = native.rates = ffi.NULL
        else:
            native.poses = native.velocities = ffi.NULL
        try:
            self._run(lib.tnp_batch_write)
        finally:
            native.poses, native.velocities, native.q, native.rates = whole
            native.mask = ffi.NULL
        self._check("the write")
        self._run(lib.tnp_batch_read)
        for world in self._worlds:
            world._touch()

    @property
    def hash(self) -> Array:
        """A fingerprint of the state of each world: (worlds,)."""
        self._run(lib.tnp_batch_hash)
        return self._hashes.copy()

    # -- Parameters

    def set(self, thing: Any, name: str, values: ArrayLike) -> None:
        """Sets a property of each world.

        thing: a handle of the world that the batch was made of, or of one of its copies; or "world"
        name: of the property, such as "mass", "gravity_scale" or "gravity"
        values: one for each world
        """
        rows: List[Any] = list(cast(Iterable[Any], values))
        if len(rows) != len(self):
            raise ValueError(f"values must be one for each of {len(self)} worlds, not {len(rows)}")
        for world, value in zip(self._worlds, rows):
            target = world if thing == "world" else self._same(thing, world)
            setattr(target, name, value.item() if isinstance(value, np.generic) else value)

    def _same(self, thing: Any, world: World) -> Any:
        if not isinstance(thing, Handle):
            raise TypeError(f"thing must be a handle or 'world', not {thing!r}")
        number = world._number()
        return world._handle(thing._ctype, ffi.new(f"{thing._ctype} *", (*thing._key(), number))[0])

    def for_each(self, function: Callable[[World], Any]) -> List[Any]:
        """Calls a function with each world."""
        return [function(world) for world in self._worlds]

    # -- Life

    @property
    def positions(self) -> Array:
        """Positions, m: (worlds, bodies, 3)."""
        return self.poses[:, :, :3]

    @property
    def rotations(self) -> Array:
        """Rotations, unit quaternions x y z w: (worlds, bodies, 4)."""
        return self.poses[:, :, 3:]

    def __len__(self) -> int:
        return len(self._worlds)

    def __getitem__(self, index: int) -> World:
        return self._worlds[index]

    def __iter__(self) -> Iterator[World]:
        return iter(self._worlds)

    def close(self) -> None:
        """Gives the memory of all worlds back. Arrays stay readable."""
        self._pool = None
        for world in self._worlds:
            world.close()

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} worlds, {self._body_count} bodies each>"


__all__ = ["Batch"]
