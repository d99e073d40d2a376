"""Many worlds at once, each a copy of one world with its own state and parameters."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union, cast

import numpy as np

from ._articulation import Articulation
from ._calls import Handle
from ._card import card_rows
from ._convert import Array, ArrayLike, Error, rows_in, to_c
from ._generated import POSE_NUMBERS, VELOCITY_NUMBERS, BatchField, StepStatus
from ._native import ffi, lib
from ._robot import Robot
from ._world import World

_BAD = StepStatus.REJECTED | StepStatus.OUT_OF_MEMORY


def _pointer(ctype: str, array: Optional[Array]) -> Any:
    return ffi.NULL if array is None or not array.size else ffi.cast(f"{ctype} *", array.ctypes.data)


def _close(native: Any, pid: int, keep: Any) -> None:
    # `keep` is what the worlds point to. In a forked child the threads are gone.
    if os.getpid() == pid and native.batch:
        lib.tnp_batch_close(native)


def _whole(value: Any, lowest: int, highest: int, name: str) -> int:
    number = to_c(ffi.typeof("int"), value, name)
    if not lowest <= number <= highest:
        raise ValueError(f"{name} must be from {lowest} to {highest}, not {value!r}")
    return int(number)


def _broadcast(values: Any, shape: Tuple[int, ...]) -> Array:
    given = np.asarray(values)
    if given.dtype.kind not in "fiub":
        raise TypeError(f"values must be an array of real numbers, not {values!r}")
    try:
        return np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(f"values must have the shape {shape}, not {given.shape}") from None


def _assign(array: Array, values: Any, name: str) -> None:
    given = _broadcast(values, array.shape)
    if np.isnan(given).any():
        raise Error(f"{name} must not be NaN")
    array[...] = given


class Batch:
    """Copies of a world that are stepped together, on several threads or on a card.

    poses, velocities, q and qd have a row for each world and are refreshed by step() and reset(). They
    may be written; write() hands them to the worlds. target, of the first robot of each world, acts
    from the next step on. All of them support DLPack. batch[i] is a world.

    device: "cpu", or "cuda" for a card of NVIDIA: the batch is a CardBatch then
    dtype: of the arrays on a card, float32 or float64; those of the host are float64
    world_bytes: memory of each world on a card, which does not grow; 0: measured over 60 steps, and
        up to three times as much. A world that outgrows it goes on on the CPU
    """

    __slots__ = (
        "_lock", "_pid", "_made", "_settings", "_times", "_originals", "_body_count", "_status", "_poses", "_velocities",
        "_q", "_qd", "_target", "_controls", "_starts", "_native", "_memory", "_finalizer", "_start_controls",
        "_articulated", "__weakref__",
    )

    def __new__(cls, world: World, count: int, *, device: str = "cpu", **_: Any) -> "Batch":
        if cls is Batch and isinstance(device, str) and device == "cuda":
            from ._card_batch import CardBatch

            cls = CardBatch
        return super().__new__(cls)

    def __init__(
        self, world: World, count: int, *, threads: Optional[int] = None, device: str = "cpu",
        dtype: Any = np.float64, world_bytes: int = 0,
    ) -> None:
        if not isinstance(device, str) or device != "cpu":
            raise ValueError(f"device must be 'cpu' or 'cuda', not {device!r}")
        if np.dtype(dtype) != np.float64:
            raise ValueError(f"arrays of the host are float64, not {dtype!r}")
        n = self._begin(world, count)
        self._make_arrays(world, n)
        self._link(n)
        self._open(world, threads)
        keep = (self._memory, self._controls, self.poses, self.velocities, self.q, self.qd, self._originals)
        self._finalizer = weakref.finalize(self, _close, self._native, self._pid, keep)
        for slot, robot in enumerate(self._originals):
            self._add_robot(world, slot, robot)
        self._run(lib.tnp_batch_read)
        self.keep()

    def _begin(self, world: World, count: int) -> int:
        if not isinstance(world, World):
            raise TypeError(f"world must be a World, not {world!r}")
        n = _whole(count, 1, 2**31 - 1, "count")
        if world._native.run:
            raise Error("a world of a scene cannot be copied: its controls belong to the scene")
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._made: Dict[int, World] = {}
        self._settings = {**world._settings, "threads": 1}
        self._times = np.full(n, world._time)
        self._originals = list(world._robots)
        self._body_count = len(world.bodies)
        self._status = np.zeros(n, np.uint32)
        return n

    def _open(self, world: World, threads: Optional[int]) -> None:
        workers = (os.cpu_count() or 1) if threads is None else _whole(threads, 1, 256, "threads")
        lanes = self._settings.get("lanes", 0)
        if not world._invoke(self._create, min(workers, 256), lanes):
            raise self._problem("the batch", "there is no memory")

    def _make_arrays(self, world: World, n: int) -> None:
        bodies = self._body_count
        first = self._originals[0] if self._originals else None
        self._poses: Any = np.zeros((n, bodies, POSE_NUMBERS))
        self._velocities: Any = np.zeros((n, bodies, VELOCITY_NUMBERS))
        self._q: Array = np.zeros((n, 0 if first is None else len(first._q.array)))
        self._qd: Array = np.zeros((n, 0 if first is None else len(first._qd.array)))
        self._controls: List[Tuple[Array, Array]] = []
        for robot in self._originals:
            target = robot.target if isinstance(robot, Robot) else np.zeros(0)
            applied = robot._applied if isinstance(robot, Robot) else np.zeros(0)
            self._controls.append((np.tile(target, (n, 1)), np.tile(applied, (n, 1))))
        robots = [i for i, robot in enumerate(self._originals) if isinstance(robot, Robot)]
        self._target: Array = self._controls[robots[0]][0] if robots else np.zeros((n, 0))
        sizes = [
            lib.tn_instance_state(r._native.instance, ffi.NULL, 0) for r in self._originals if r._native.instance
        ]
        self._starts = np.zeros((n, sum(sizes)))

    def _link(self, n: int) -> None:
        self._native = native = ffi.new("tnp_batch *")
        self._memory = ffi.new("tnp_world[]", n), ffi.new("tnp_robot[]", max(1, n * len(self._originals)))
        native.worlds, native.robots = self._memory
        native.count, native.robot_count, native.body_count = n, len(self._originals), self._body_count
        native.status = _pointer("uint32_t", self._status)
        native.poses, native.velocities = _pointer("double", self.poses), _pointer("double", self.velocities)
        native.q, native.rates = _pointer("double", self.q), _pointer("double", self.qd)
        native.starts, native.start_count = _pointer("double", self._starts), self._starts.shape[1]

    def _create(self, world: Any, workers: int, lanes: int) -> bool:
        return bool(lib.tnp_batch_create(self._native, world, workers, lanes))

    def _add_robot(self, world: World, slot: int, robot: Articulation) -> None:
        target, applied = self._controls[slot]
        original = ffi.new("tnp_robot *", robot._native[0])
        original.target, original.applied = _pointer("double", target), _pointer("double", applied)
        definition = robot._definition()
        if not world._invoke(lambda _: lib.tnp_batch_add_robot(self._native, slot, original, definition)):
            raise self._problem("a robot", "it cannot be copied")

    def _problem(self, what: str, otherwise: str, index: Optional[int] = None) -> Error:
        """The first message of a world, or of the first world that has one."""
        worlds = self._native.worlds
        if index is None:
            index = next((i for i in range(len(self)) if worlds[i].errors), 0)
        native = worlds[index]
        text = ffi.string(native.error).decode("utf-8", "replace") if native.errors else otherwise
        return Error(f"{what} of world {index}: {text}")

    def _run(self, function: Any, *arguments: Any) -> Any:
        if os.getpid() != self._pid:
            raise Error("the threads of this batch stayed in the parent of the process")
        if not self._native.batch:
            raise Error("the batch is closed")
        if not self._lock.acquire(False):
            raise Error("the batch is in use by another thread")
        worlds, held = list(self._made.values()), 0
        try:
            for world in worlds:
                if not world._ptr or not world._acquire(False):
                    raise world._unusable()
                held += 1
            lib.tnp_batch_forget(self._native)
            return function(self._native, *arguments)
        finally:
            for world in worlds[:held]:
                world._release()
            self._lock.release()

    # -- Time

    def step(self, dt: float = 1.0 / 60.0, repeat: int = 1) -> Array:
        """Advances all worlds by `repeat` steps of `dt` s; returns the bits of StepStatus of each."""
        self._native.dt, self._native.repeat = dt, repeat
        self._run(lib.tnp_batch_step)
        self._times += dt * repeat
        for world in self._made.values():
            world._time += dt * repeat
            world._stepped()
        self._check("the step")
        return self.status

    @property
    def status(self) -> Array:
        """The bits of StepStatus of each world, of its last step: (worlds,)."""
        return self._status.copy()

    def _check(self, what: str) -> None:
        bad = np.nonzero(self._status & _BAD)[0]
        if len(bad):
            raise self._problem(what, "it was refused", int(bad[0]))

    def _mask(self, mask: Optional[ArrayLike]) -> Optional[Array]:
        if mask is None:
            return None
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != (len(self),):
            raise ValueError(f"mask must be {len(self)} truth values")
        return np.ascontiguousarray(chosen)

    def reset(self, mask: Optional[ArrayLike] = None) -> None:
        """Puts worlds back to their start: all, or those of a mask (worlds,). Parameters stay."""
        chosen = self._mask(mask)
        self._native.mask = _pointer("uint8_t", chosen)
        try:
            self._run(lib.tnp_batch_reset)
        finally:
            self._native.mask = ffi.NULL
        which: Any = slice(None) if chosen is None else chosen
        for (target, applied), start in zip(self._controls, self._start_controls):
            target[which] = start[which]
            applied[which] = start[which]
        self._times[which] = 0.0
        for i, world in self._made.items():
            if chosen is None or chosen[i]:
                world._touch()
                world._time = 0.0
        self._check("the reset")

    def keep(self) -> None:
        """Makes the present states the start of reset()."""
        if not self._run(lib.tnp_batch_keep):
            raise MemoryError("there is no memory for the states")
        self._start_controls = [applied.copy() for _, applied in self._controls]

    def write(self, mask: Optional[ArrayLike] = None, *, bodies: bool = False) -> None:
        """Hands q and qd to the worlds of a mask, or with `bodies` poses and velocities."""
        chosen = self._mask(mask)
        native = self._native
        native.mask = _pointer("uint8_t", chosen)
        native.writes_bodies = bodies or not self.q.size
        try:
            self._run(lib.tnp_batch_write)
        finally:
            native.mask = ffi.NULL
        for world in self._made.values():
            world._touch()
        self._check("the write")
        self._run(lib.tnp_batch_read)

    @property
    def hash(self) -> Array:
        """A fingerprint of the state of each world: (worlds,)."""
        hashes = np.zeros(len(self), np.uint64)
        self._run(lambda native: lib.tn_batch_hashes(native.batch, _pointer("uint64_t", hashes)))
        return hashes

    # -- Parameters

    def set(self, thing: Any, name: str, values: ArrayLike) -> None:
        """Sets a property of each world.

        thing: a handle of the world that the batch was made of, or of one of its copies; or "world"
        name: of the property, such as "mass", "gravity_scale" or "gravity"
        values: one for each world
        """
        try:
            rows: List[Any] = list(cast(Iterable[Any], values))
        except TypeError:
            raise TypeError(f"values must be one for each world, not {values!r}") from None
        if len(rows) != len(self):
            raise ValueError(f"values must be one for each of {len(self)} worlds, not {len(rows)}")
        for world, value in zip(self, rows):
            target = world if thing == "world" else self._same(thing, world)
            setattr(target, name, value.item() if isinstance(value, np.generic) else value)

    def _same(self, thing: Any, world: World) -> Any:
        if not isinstance(thing, Handle):
            raise TypeError(f"thing must be a handle or 'world', not {thing!r}")
        number = world._number()
        return world._handle(thing._ctype, ffi.new(f"{thing._ctype} *", (*thing._key(), number))[0])

    def _field(self, field: Union[BatchField, str]) -> Tuple[Any, Tuple[int, ...]]:
        value = to_c(ffi.typeof("tn_batch_field"), field, "field")
        if value in (BatchField.Q, BatchField.QD, BatchField.Q_FORCES):
            self._articulate()
        shape = self._run(lambda native: lib.tn_batch_shape_of(native.batch, value))
        sizes = (shape.worlds, shape.items, shape.numbers)
        return value, sizes if shape.numbers > 1 else sizes[:2]

    def _new_array(self, shape: Tuple[int, ...]) -> Any:
        return np.zeros(shape)

    def _rows(self, array: Any, shape: Tuple[int, ...]) -> Any:
        """Where an array is that the engine fills."""
        on_card = card_rows(array, shape)
        if on_card is not None:
            return on_card
        if not isinstance(array, np.ndarray) or array.dtype not in (np.float32, np.float64):
            raise TypeError(f"out must be an array of float32 or float64, not {array!r}")
        if array.shape != shape or not array.flags.c_contiguous or not array.flags.writeable:
            raise ValueError(f"out must be writable, without gaps, and have the shape {shape}, not {array.shape}")
        kind = lib.TN_FLOAT if array.dtype == np.float32 else lib.TN_DOUBLE
        return ffi.new("tn_batch_rows *", {"data": _pointer("void", array), "type": kind})

    def get(self, field: Union[BatchField, str], out: Any = None) -> Any:
        """Reads an array of all worlds, such as "contact_forces", "masses" or "frictions".

        field: a member of BatchField or its name
        out: array that is filled, of the host or of a card; None: a new one, where the worlds are
        """
        value, shape = self._field(field)
        array = self._new_array(shape) if out is None else out
        rows = self._rows(array, shape)
        if np.prod(shape) and not self._run(
            lambda native: lib.tn_batch_read(native.batch, value, ffi.NULL, rows[0])
        ):
            raise self._problem(str(field), "it cannot be read")
        return array

    def put(self, field: Union[BatchField, str], values: Any, mask: Optional[ArrayLike] = None) -> None:
        """Writes an array of all worlds, such as "forces", "masses", "frictions" or "gravity".

        field: a member of BatchField or its name
        values: in the shape that get() has, or one that numpy makes into it; or an array on the card
        mask: which worlds take part
        """
        value, shape = self._field(field)
        chosen = self._mask(mask)
        rows = card_rows(values, shape)
        if rows is None:
            given = rows_in(_broadcast(values, shape), shape, "values")
            rows = self._rows(given, shape)
        problem = self._write_rows(field, value, shape, rows, chosen)
        self._changed()
        if problem is not None:
            raise problem

    def _write_rows(
        self, field: Any, value: Any, shape: Tuple[int, ...], rows: Any, chosen: Optional[Array]
    ) -> Optional[Error]:
        where = _pointer("uint8_t", chosen)
        written = not np.prod(shape) or self._run(
            lambda native: lib.tn_batch_write(native.batch, value, where, rows[0])
        )
        return None if written else self._problem(str(field), "it was refused")

    def _changed(self) -> None:
        """The worlds were changed behind the arrays."""
        for world in self._made.values():
            world._touch()
        self._run(lib.tnp_batch_read)

    def for_each(self, function: Callable[[World], Any]) -> List[Any]:
        """Calls a function with each world."""
        return [function(world) for world in self]

    # -- Derivatives

    def _articulate(self) -> None:
        if getattr(self, "_articulated", False):
            return
        if not self._originals:
            raise Error("the world has no robot and no articulation")
        definition = self._originals[0]._definition()
        if not self._run(lambda native: lib.tn_batch_articulate(native.batch, definition)):
            raise self._problem("coordinates", "they were refused")
        self._articulated = True

    def derivatives(
        self,
        dt: float = 1.0 / 60.0,
        repeat: int = 1,
        *,
        forces: Optional[ArrayLike] = None,
        change: float = 0.0,
    ) -> Tuple[Array, Array]:
        """A and B of x' = A x + B u after `repeat` steps, about the present state of world 0.

        x is (q, qd) of the first robot or articulation and u the generalised forces on it. Central
        differences, over all worlds of the batch; afterwards all are in the state of world 0.

        forces: about which to differentiate; None: zero
        change: of each coordinate, rate and force; 0: 1/512
        """
        self._articulate()
        n = self.qd.shape[1]
        about = None if forces is None else rows_in(forces, (n,), "forces")
        a, b = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
        self._native.dt, self._native.repeat = dt, repeat
        done = self._run(
            lib.tnp_batch_derivatives,
            change,
            _pointer("double", about),
            _pointer("double", a),
            _pointer("double", b),
        )
        for world in self._made.values():
            world._touch()
        if not done:
            raise self._problem("derivatives", "they were refused")
        return a, b

    # -- Life

    # -- Arrays: what is assigned to them is copied into them, as the engine reads their memory

    @property
    def poses(self) -> Any:
        """Position x y z, m, and rotation x y z w: (worlds, bodies, 7)."""
        return self._poses

    @poses.setter
    def poses(self, values: Any) -> None:
        _assign(self._poses, values, "poses")

    @property
    def velocities(self) -> Any:
        """Velocities, m/s, and angular velocities, rad/s: (worlds, bodies, 6)."""
        return self._velocities

    @velocities.setter
    def velocities(self, values: Any) -> None:
        _assign(self._velocities, values, "velocities")

    @property
    def q(self) -> Array:
        """Coordinates of the first robot or articulation: (worlds, k)."""
        return self._q

    @q.setter
    def q(self, values: Any) -> None:
        _assign(self._q, values, "q")

    @property
    def qd(self) -> Array:
        """Rates of the coordinates: (worlds, k)."""
        return self._qd

    @qd.setter
    def qd(self, values: Any) -> None:
        _assign(self._qd, values, "qd")

    @property
    def target(self) -> Array:
        """Controls of the first robot: (worlds, actuators)."""
        return self._target

    @target.setter
    def target(self, values: Any) -> None:
        _assign(self._target, values, "target")

    @property
    def positions(self) -> Array:
        """Positions, m: (worlds, bodies, 3)."""
        return self._poses[:, :, :3]  # type: ignore[no-any-return]

    @property
    def rotations(self) -> Array:
        """Rotations, unit quaternions x y z w: (worlds, bodies, 4)."""
        return self._poses[:, :, 3:]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return int(self._native.count)

    def __getitem__(self, index: int) -> World:
        i = range(len(self))[index]
        if i not in self._made:
            if not self._lock.acquire(False):
                raise Error("the batch is in use by another thread")
            try:
                self._made[i] = self._wrap(i)
            finally:
                self._lock.release()
        return self._made[i]

    def _wrap(self, index: int) -> World:
        if not self._native.batch:
            raise Error("the batch is closed")
        world = World._of_batch(self, self._native.worlds + index, self._settings, float(self._times[index]))
        for slot, original in enumerate(self._originals):
            native = self._native.robots + index * len(self._originals) + slot
            target, applied = self._controls[slot]
            original._copy_to(world, native, target[index], applied[index])
        return world

    def __iter__(self) -> Iterator[World]:
        return (self[i] for i in range(len(self)))

    def close(self) -> None:
        """Gives the memory of all worlds back. Arrays stay readable."""
        if not self._native.batch:
            return
        if not self._lock.acquire(False):
            raise Error("the batch is in use by another thread")
        try:
            for world in self._made.values():
                world.close()
            self._finalizer()
        finally:
            self._lock.release()

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise Error("a batch cannot be copied or pickled: copy its worlds, or make another batch of one of them")

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} worlds, {self._body_count} bodies each>"


__all__ = ["Batch"]
