"""Worlds and what is in them."""

from __future__ import annotations

import os
import threading
import weakref
from sys import getrefcount
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from . import _generated as generated
from ._calls import Handle
from ._convert import (
    ENUMS,
    VALUES,
    Array,
    ArrayLike,
    Error,
    Transform,
    TransformLike,
    Vector,
    dtype_of,
    enum_in,
    fill,
    from_c,
    given,
    numbers,
    rows_in,
    to_c,
)
from ._generated import (
    POSE_NUMBERS,
    VELOCITY_NUMBERS,
    VERSION_STRING,
    AttachmentBase,
    BodyBase,
    EventKind,
    GeometryBase,
    Hit,
    JointBase,
    QueryFilter,
    ReachResult,
    ShapeBase,
    SoftBase,
    StepStatus,
    WorldBase,
)
from ._native import ffi, lib
from ._record import Recording, Viewer, in_notebook
from ._robot import Articulation, Robot
from ._specs import Plane, ShapeSpec, SoftMesh

ENUMS.update(generated.ENUMS)
VALUES.update(generated.VALUES)

_NULL = ffi.NULL
_tnp_step = lib.tnp_step
_OK = StepStatus.OK
_REJECTED = int(StepStatus.REJECTED)
_NO_MEMORY = int(StepStatus.OUT_OF_MEMORY)

# ---- Handles -------------------------------------------------------------------------------------


class Geometry(GeometryBase):
    """Data that shapes share: a hull, mesh, height field or wire."""

    __slots__ = ()
    _ctype = "tn_geometry_id"


class Shape(ShapeBase):
    """A shape of a body or of the world."""

    __slots__ = ()
    _ctype = "tn_shape_id"

    @property
    def box(self) -> Tuple[Array, Array]:
        """The lower and upper corner of the box around it, along the axes of the world, m."""
        corners = ffi.new("tn_pos[2]")
        self._world._invoke(lib.tn_shape_box, self._id, corners, corners + 1)
        kind = ffi.typeof("tn_pos")
        return from_c(kind, corners[0], None), from_c(kind, corners[1], None)

    def mesh(self) -> Tuple[Array, Array]:
        """Vertices (n, 3), m, in its frame, and triangles (m, 3), for drawing."""
        counts = ffi.new("int[2]")
        self._world._invoke(lib.tnp_shape_look, self._id, _NULL, counts, _NULL, counts + 1)
        points = np.zeros((counts[0], 3), np.float32)
        triangles = np.zeros((counts[1], 3), np.int32)
        if points.size and triangles.size:
            self._world._invoke(
                lib.tnp_shape_look,
                self._id,
                ffi.cast("float *", ffi.from_buffer(points)),
                counts,
                ffi.cast("int *", ffi.from_buffer(triangles)),
                counts + 1,
            )
        return points, triangles

    def _describe(self) -> str:
        return f"#{self._id.index - 1} {self.kind.name.lower()}"


class Body(BodyBase):
    """A rigid body."""

    __slots__ = ()
    _ctype = "tn_body_id"

    @property
    def name(self) -> str:
        """Its name; empty for none."""
        return str(from_c(ffi.typeof("char *"), self._world._invoke(lib.tn_body_name, self._id), None))

    @name.setter
    def name(self, value: str) -> None:
        self._world._invoke(lib.tn_body_set_name, self._id, to_c(ffi.typeof("char *"), value, "name"))

    @property
    def position(self) -> Array:
        """Where its origin is, m. Setting it moves the body at once; it wakes up."""
        return from_c(_POS, self._world._invoke(lib.tn_body_position, self._id), None)  # type: ignore[no-any-return]

    @position.setter
    def position(self, value: Vector) -> None:
        self.transform = Transform(numbers(value, 3, "position"), self.rotation)

    @property
    def rotation(self) -> Array:
        """Unit quaternion x y z w from its frame to the world. Setting it turns the body at once."""
        return from_c(_QUAT, self._world._invoke(lib.tn_body_rotation, self._id), None)  # type: ignore[no-any-return]

    @rotation.setter
    def rotation(self, value: Vector) -> None:
        self.transform = Transform(self.position, numbers(value, 4, "rotation"))

    @property
    def row(self) -> int:
        """Its row in World.positions and the like; it changes when a body is destroyed."""
        return self._world._row(self)

    def add_shape(self, shape: ShapeSpec) -> Shape:
        """Adds a shape; updates the mass if that follows the shapes."""
        return self._world.add_shape(shape, self)

    @property
    def energy(self) -> generated.Energy:
        """Its energy, J."""
        ids = ffi.new("tn_body_id[1]", [self._id])
        return from_c(ffi.typeof("tn_energy"), self._world._invoke(lib.tn_bodies_energy, ids, 1), None)  # type: ignore[no-any-return]

    def _describe(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        place = ", ".join(f"{x:.4g}" for x in self.position)
        return f"#{self._id.index - 1}{name} {self.type.name.lower()} at ({place})"


class Joint(JointBase):
    """A joint between two bodies, or a body and the world."""

    __slots__ = ()
    _ctype = "tn_joint_id"

    def _describe(self) -> str:
        return f"#{self._id.index - 1} {self.kind.name.lower()}"


class Soft(SoftBase):
    """A body of particles: cloth, rope, soft solid, balloon."""

    __slots__ = ()
    _ctype = "tn_soft_id"

    def apply_forces(self, forces: ArrayLike, particles: Optional[ArrayLike] = None) -> None:
        """Adds forces (n, 3), N, on particles during the next step; on all without `particles`."""
        rows = rows_in(forces, (-1, 3), "forces", np.float32)
        which = _NULL
        if particles is not None:
            indices = rows_in(particles, (len(rows),), "particles", np.int32)
            which = ffi.cast("int *", ffi.from_buffer(indices))
        pointer = ffi.cast("tn_vec3 *", ffi.from_buffer(rows))
        self._world._invoke(lib.tn_soft_apply_forces, self._id, which, pointer, len(rows))

    def _describe(self) -> str:
        return f"#{self._id.index - 1}, {len(self.masses)} particles"


class Attachment(AttachmentBase):
    """A tie between a particle of a soft body and a point of a body or of the world."""

    __slots__ = ()
    _ctype = "tn_attachment_id"


_CLASSES: Dict[str, Type[Handle]] = {
    c._ctype: c for c in (Geometry, Shape, Body, Joint, Soft, Attachment)
}
_CLASSES.update(generated.OTHER_HANDLES)
_POS, _QUAT = ffi.typeof("tn_pos"), ffi.typeof("tn_quat")

# ---- States and events ---------------------------------------------------------------------------


class State(bytes):
    """The exact state of a world, from World.save()."""

    hash: int

    def __new__(cls, data: bytes, hash: int) -> "State":
        made = super().__new__(cls, data)
        made.hash = hash
        return made

    def __getnewargs__(self) -> Any:
        return bytes(self), self.hash

    def __repr__(self) -> str:
        return f"<State of {len(self)} bytes, hash {self.hash:016x}>"

    __str__ = __repr__


class Events:
    """What happened in the last step, as structured arrays."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def _read(self, kind: int, cname: str) -> Array:
        world = self._world
        count = world._invoke_native(lib.tnp_events, kind, _NULL, 0)
        rows = np.zeros(count, dtype_of(cname))
        if count:
            world._invoke_native(lib.tnp_events, kind, ffi.from_buffer(rows), count)
        return rows

    @property
    def contacts(self) -> Array:
        """All events of contacts and sensors."""
        return self._read(0, "tn_contact_event")

    def _of(self, kind: EventKind) -> Array:
        rows = self.contacts
        chosen: Array = rows[rows["kind"] == int(kind)]
        return chosen

    @property
    def begins(self) -> Array:
        """Shapes that began to touch."""
        return self._of(EventKind.BEGIN)

    @property
    def ends(self) -> Array:
        """Shapes that parted."""
        return self._of(EventKind.END)

    @property
    def hits(self) -> Array:
        """Impacts of shapes with hit_events."""
        return self._of(EventKind.HIT)

    @property
    def sensor_begins(self) -> Array:
        """Shapes that entered a sensor."""
        return self._of(EventKind.SENSOR_BEGIN)

    @property
    def sensor_ends(self) -> Array:
        """Shapes that left a sensor."""
        return self._of(EventKind.SENSOR_END)

    @property
    def sleep(self) -> Array:
        """Bodies that fell asleep or woke."""
        return self._read(1, "tn_sleep_event")

    @property
    def softs(self) -> Array:
        """What happened to soft bodies."""
        return self._read(2, "tn_soft_event")

    @property
    def breaks(self) -> Array:
        """Joints that broke."""
        return self._read(3, "tn_joint_break_event")


# ---- World ---------------------------------------------------------------------------------------


def _destroy(native: Any, pid: int, keep: List[Any]) -> None:
    # `keep` is what the memory of the world points to.
    # In a forked child the threads of a world are gone: its memory is left alone.
    if os.getpid() == pid:
        lib.tnp_close(native)


_worlds: "weakref.WeakSet[World]" = weakref.WeakSet()


def _after_fork() -> None:
    for world in list(_worlds):
        world._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class World(WorldBase):
    """A world: owns bodies, joints, shapes and soft bodies.

    Arrays such as `positions` are read-only views of memory that steps refresh. They stay readable
    as long as Python holds them; when bodies come or go, the world makes new ones.
    """

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
        self._poses: Optional[Array] = None
        self._rates: Optional[Array] = None
        self._fresh_poses = self._fresh_rates = False
        self._wanted_poses = self._wanted_rates = False  # read since the last step
        self._time = 0.0
        self._recorder: Optional[Callable[[], None]] = None
        self._recording: Optional[Recording] = None

    def _opened(self) -> None:
        self._ptr = self._native.world
        self._finalizer = weakref.finalize(self, _destroy, self._native, os.getpid(), self._keep)
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

    # -- Handles

    def _handle(self, cname: str, value: Any) -> Any:
        return _CLASSES[cname](self, ffi.new(f"{cname} *", value)[0]) if value.index else None

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
        self._bodies = self._poses = self._rates = None
        self._touch()

    def _touch(self) -> None:
        self._fresh_poses = self._fresh_rates = False
        for robot in self._robots:
            robot._forget()

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
        for body in self.bodies:
            if body._key() == (int(key["index"]), int(key["generation"])):
                return body
        raise KeyError("there is no body of that id")

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies)

    # -- Making things

    def add_shape(self, shape: ShapeSpec, body: Optional[Body] = None) -> Shape:
        """Adds a shape to a body, or to the world itself (None)."""
        if not isinstance(shape, ShapeSpec):
            raise TypeError(f"shape must be a Box, Sphere or the like, not {shape!r}")
        keep: List[Any] = []
        definition = ffi.new("tn_shape_def *", lib.tn_default_shape_def(int(shape.kind)))
        fill(definition, "tn_shape_def", shape._make(self), keep)
        owner = to_c(ffi.typeof("tn_body_id"), body, "body")
        made = self._handle("tn_shape_id", self._invoke(lib.tn_shape_create, owner, definition))
        if made is None:
            self._raise("the shape was refused")
        return made  # type: ignore[no-any-return]

    def add_plane(self, **options: Any) -> Shape:
        """Adds a solid half space below y = 0 to the world; options are those of a shape."""
        return self.add_shape(Plane(**options))

    def _add_body(self, shapes: Sequence[Any], values: Mapping[str, Any]) -> Body:
        keep: List[Any] = []
        definition = ffi.new("tn_body_def *", lib.tn_default_body_def())
        fill(definition, "tn_body_def", values, keep)
        made = self._handle("tn_body_id", self._invoke(lib.tn_body_create, definition))
        if made is None:
            self._raise("the body was refused")
        try:
            for shape in shapes:
                self.add_shape(shape, made)
        except BaseException:
            made.destroy()
            raise
        if self._bodies is not None and self.counters.bodies == len(self._bodies) + 1:
            self._bodies = None
        self._restructured()
        return made  # type: ignore[no-any-return]

    def _add_joint(
        self, kind: Any, a: Optional[Body], b: Optional[Body], frame: Tuple[Any, ...], values: Mapping[str, Any]
    ) -> Joint:
        keep: List[Any] = []
        point, axis, points = frame
        definition = ffi.new(
            "tn_joint_def *", lib.tn_default_joint_def(enum_in("tn_joint_kind", kind, "kind"))
        )
        definition.body_a = to_c(ffi.typeof("tn_body_id"), a, "body_a")
        definition.body_b = to_c(ffi.typeof("tn_body_id"), b, "body_b")
        if point is not None and points is not None:
            raise TypeError("give point or points, not both")
        if point is not None:
            self._invoke(
                lib.tn_joint_def_at, definition, numbers(point, 3, "point"), numbers(axis, 3, "axis")
            )
        elif points is not None:
            first, second = (numbers(p, 3, "points") for p in points)
            self._invoke(lib.tn_joint_def_between, definition, first, second)
        fill(definition, "tn_joint_def", values, keep)
        made = self._handle("tn_joint_id", self._invoke(lib.tn_joint_create, definition))
        if made is None:
            self._raise("the joint was refused")
        return made  # type: ignore[no-any-return]

    def _add_soft(self, mesh: SoftMesh, pinned: Sequence[int], values: Mapping[str, Any]) -> Soft:
        if not isinstance(mesh, SoftMesh):
            raise TypeError(f"mesh must be cloth(), rope() or the like, not {mesh!r}")
        keep: List[Any] = []
        definition = ffi.new("tn_soft_def *", lib.tn_default_soft_def())
        fill(definition, "tn_soft_def", values, keep)
        try:
            mesh._fill(definition)
            made = self._handle("tn_soft_id", self._invoke(lib.tn_soft_create, definition))
        finally:
            lib.tn_soft_mesh_free(definition)
        if made is None:
            self._raise("the soft body was refused")
        try:
            for particle in pinned:
                made.set_pinned(int(particle), True)
        except BaseException:
            made.destroy()
            raise
        return made  # type: ignore[no-any-return]

    def _attach(
        self, soft: Soft, particle: int, body: Optional[Body], values: Mapping[str, Any]
    ) -> Attachment:
        keep: List[Any] = []
        definition = ffi.new("tn_attachment_def *", lib.tn_default_attachment_def())
        definition.soft = to_c(ffi.typeof("tn_soft_id"), soft, "soft")
        definition.body = to_c(ffi.typeof("tn_body_id"), body, "body")
        definition.particle = to_c(ffi.typeof("int"), particle, "particle")
        options = given(values)
        if "point" not in options:
            at = soft.position(particle)
            options["point"] = at if body is None else body.local_point(at)
        fill(definition, "tn_attachment_def", options, keep)
        made = self._handle("tn_attachment_id", self._invoke(lib.tn_attachment_create, definition))
        if made is None:
            self._raise("the attachment was refused")
        return made  # type: ignore[no-any-return]

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
            status = _tnp_step(self._native, dt, repeat)
        finally:
            self._release()
        self._time += dt * repeat
        # Arrays are filled here if they were read since the last step, or somebody holds a view of
        # them: the world, this frame and getrefcount make three references without.
        poses, rates = self._poses, self._rates
        self._fresh_poses = self._fresh_rates = False
        if poses is not None and (self._wanted_poses or getrefcount(poses) > 3):
            self._wanted_poses = False
            self._read_poses()
        if rates is not None and (self._wanted_rates or getrefcount(rates) > 3):
            self._wanted_rates = False
            self._read_rates()
        if self._robots:
            for robot in self._robots:
                robot._refresh()
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

    # -- Arrays

    def _new_rows(self, width: int) -> Array:
        return np.zeros((self._invoke(lib.tn_world_counters).bodies, width))

    def _read_poses(self) -> None:
        if self._poses is None:
            self._poses = self._new_rows(POSE_NUMBERS)
            self._poses_at = ffi.cast("double *", self._poses.ctypes.data)
        rows = self._poses
        if len(rows):
            self._invoke(lib.tn_bodies_read_poses, _NULL, len(rows), 1, self._poses_at, 0)
        self._fresh_poses = True

    def _read_rates(self) -> None:
        if self._rates is None:
            self._rates = self._new_rows(VELOCITY_NUMBERS)
            self._rates_at = ffi.cast("double *", self._rates.ctypes.data)
        rows = self._rates
        if len(rows):
            self._invoke(lib.tn_bodies_read_velocities, _NULL, len(rows), 1, self._rates_at, 0)
        self._fresh_rates = True

    def _pose_view(self, first: int, last: int) -> Array:
        if not self._fresh_poses:
            self._read_poses()
        self._wanted_poses = True
        assert self._poses is not None
        view = self._poses[:, first:last]
        view.flags.writeable = False
        return view

    @property
    def poses(self) -> Array:
        """Position x y z, m, and rotation x y z w of all bodies: (bodies, 7)."""
        return self._pose_view(0, 7)

    @property
    def positions(self) -> Array:
        """Positions of all bodies, m: (bodies, 3)."""
        return self._pose_view(0, 3)

    @property
    def rotations(self) -> Array:
        """Rotations of all bodies, unit quaternions x y z w: (bodies, 4)."""
        return self._pose_view(3, 7)

    @property
    def velocities(self) -> Array:
        """Velocities, m/s, and angular velocities, rad/s, of all bodies: (bodies, 6)."""
        if not self._fresh_rates:
            self._read_rates()
        self._wanted_rates = True
        assert self._rates is not None
        view = self._rates[:]
        view.flags.writeable = False
        return view

    @property
    def awake(self) -> Array:
        """Which bodies are awake: (bodies,)."""
        count = self._invoke(lib.tn_world_counters).bodies
        flags = np.zeros(count, np.uint8)
        if count:
            self._invoke(lib.tn_bodies_read_awake, _NULL, count, ffi.cast("uint8_t *", ffi.from_buffer(flags)), 0)
        return flags.astype(bool)

    def _ids(self, bodies: Optional[Sequence[Body]]) -> Tuple[Any, int]:
        if bodies is None:
            return _NULL, int(self._invoke(lib.tn_world_counters).bodies)
        kind = ffi.typeof("tn_body_id")
        ids = [to_c(kind, body, "bodies") for body in bodies]
        return ffi.new("tn_body_id[]", ids), len(ids)

    def _write(self, function: Any, values: ArrayLike, width: int, name: str, bodies: Any) -> None:
        ids, count = self._ids(bodies)
        rows = rows_in(values, (count, width), name)
        pointer = ffi.from_buffer(rows) if rows.size else _NULL
        if count and not self._invoke(function, ids, count, 1, pointer, 0):
            self._raise(f"{name} were refused")
        self._touch()

    def set_poses(self, poses: ArrayLike, bodies: Optional[Sequence[Body]] = None) -> None:
        """Moves bodies to rows of x y z, m, and a rotation x y z w; all bodies without a list."""
        self._write(lib.tn_bodies_write_poses, poses, POSE_NUMBERS, "poses", bodies)

    def set_velocities(self, velocities: ArrayLike, bodies: Optional[Sequence[Body]] = None) -> None:
        """Sets rows of velocities, m/s, and angular velocities, rad/s."""
        self._write(lib.tn_bodies_write_velocities, velocities, VELOCITY_NUMBERS, "velocities", bodies)

    def apply_forces(self, forces: ArrayLike, bodies: Optional[Sequence[Body]] = None) -> None:
        """Adds rows of forces, N, through centres of mass, and torques, N m, in the next step."""
        self._write(lib.tn_bodies_apply_forces, forces, 6, "forces", bodies)

    @property
    def events(self) -> Events:
        """What happened in the last step."""
        return Events(self)

    # -- Queries

    def _filter(self, filter: Optional[QueryFilter]) -> Any:
        made = ffi.new("tn_query_filter *", lib.tn_default_query_filter())
        if filter is not None:
            for key, value in to_c(ffi.typeof("tn_query_filter"), filter, "filter").items():
                setattr(made, key, value)
        return made[0]

    def rays(
        self, origins: ArrayLike, displacements: ArrayLike, filter: Optional[QueryFilter] = None
    ) -> Array:
        """The closest hits of rays along the segments from origins to origins + displacements, m.

        Returns a structured array with the fields of `Hit`; `hit` is False where nothing is hit.
        The global lock of Python is released.
        """
        start = rows_in(origins, (-1, 3), "origins")
        way = rows_in(displacements, (-1, 3), "displacements", np.float32)
        if len(start) != len(way):
            raise ValueError(f"{len(start)} origins and {len(way)} displacements")
        if not (np.isfinite(start).all() and np.isfinite(way).all()):
            raise ValueError("origins and displacements must be finite")
        hits = np.zeros(len(start), dtype_of("tn_hit"))
        if len(start):
            self._invoke_native(
                lib.tnp_rays,
                ffi.cast("double *", ffi.from_buffer(start)),
                ffi.cast("float *", ffi.from_buffer(way)),
                len(start),
                self._filter(filter),
                ffi.cast("tn_hit *", ffi.from_buffer(hits)),
            )
        return hits

    def _hit(self, value: Any) -> Optional[Hit]:
        return from_c(ffi.typeof("tn_hit"), value, self) if value.hit else None

    def ray(self, origin: Vector, displacement: Vector, filter: Optional[QueryFilter] = None) -> Optional[Hit]:
        """The closest hit of a ray; None if there is none."""
        found = self._invoke(
            lib.tn_world_ray, numbers(origin, 3, "origin"), numbers(displacement, 3, "displacement"),
            self._filter(filter),
        )
        return self._hit(found)

    def _solid(self, shape: ShapeSpec) -> Any:
        definition = ffi.new("tn_shape_def *", lib.tn_default_shape_def(int(shape.kind)))
        fill(definition, "tn_shape_def", shape._make(self), [])
        return definition

    def cast(
        self, shape: ShapeSpec, at: TransformLike, displacement: Vector, filter: Optional[QueryFilter] = None
    ) -> Optional[Hit]:
        """The first hit of a solid that moves along a segment without turning; None if it is free."""
        found = self._invoke(
            lib.tn_world_cast, self._solid(shape), to_c(ffi.typeof("tn_transform"), at, "at"),
            numbers(displacement, 3, "displacement"), self._filter(filter),
        )
        return self._hit(found)

    def overlap(self, shape: ShapeSpec, at: TransformLike, filter: Optional[QueryFilter] = None) -> List[Shape]:
        """The shapes that a solid overlaps."""
        first = (self._solid(shape), to_c(ffi.typeof("tn_transform"), at, "at"), self._filter(filter))
        count = self._invoke(lib.tn_world_overlap, *first, _NULL, 0)
        ids = ffi.new("tn_shape_id[]", max(count, 1))
        self._invoke(lib.tn_world_overlap, *first, ids, count)
        return [self._handle("tn_shape_id", ids[i]) for i in range(count)]

    def closest_point(
        self, point: Vector, distance: float, filter: Optional[QueryFilter] = None
    ) -> Optional[Hit]:
        """The surface point closest to `point` within `distance` m; negative distances are inside."""
        found = self._invoke(
            lib.tn_world_closest_point, numbers(point, 3, "point"),
            to_c(ffi.typeof("float"), distance, "distance"), self._filter(filter),
        )
        return self._hit(found)

    def reach(
        self, body: Body, target: Vector, *, point: Vector = (0.0, 0.0, 0.0),
        rotation: Optional[Vector] = None, iterations: int = 100,
    ) -> ReachResult:
        """Inverse kinematics: moves a mechanism so that a point of a body comes to `target`, m.

        With `rotation` the body's frame gets that rotation as well. No time passes.
        """
        definition = ffi.new("tn_reach_def *", lib.tn_default_reach_def())
        identity = (0.0, 0.0, 0.0, 1.0)
        values = {
            "body": body,
            "frame": (point, identity),
            "target": (target, identity if rotation is None else rotation),
            "turn": rotation is not None,
            "iterations": iterations,
        }
        fill(definition, "tn_reach_def", values, [])
        result = self._invoke(lib.tn_world_reach, definition)
        self._touch()
        return from_c(ffi.typeof("tn_reach_result"), result, self)  # type: ignore[no-any-return]

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

    # -- States

    @property
    def hash(self) -> int:
        """A fingerprint of the whole state; equal states have equal hashes on every machine."""
        return int(self._invoke(lib.tn_world_hash))

    def save(self) -> State:
        """The exact state, for the same version and machine type."""
        size = self._invoke(lib.tn_world_save, _NULL, 0)
        data = bytearray(size)
        self._invoke(lib.tn_world_save, ffi.from_buffer(data), size)
        return State(bytes(data), self.hash)

    def restore(self, state: Union[State, bytes]) -> None:
        """Replaces everything in the world by a saved state, or changes nothing."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"state must be from save(), not {state!r}")
        data = bytes(state)
        if not self._invoke(lib.tn_world_restore, data, len(data)):
            self._raise("the state is not one of a world")
        self._restructured()

    def copy(self) -> "World":
        """Another world in the same state, with the same robots."""
        return _rebuild(*self._parts())

    def _parts(self) -> Tuple[Any, ...]:
        if self._native.run:
            raise Error("a world of a scene cannot be copied; save() and restore() its state")
        return (
            type(self),
            VERSION_STRING,
            self._settings,
            self.save(),
            self._time,
            [robot._parts() for robot in self._robots],
        )

    def __reduce__(self) -> Any:
        return _rebuild, self._parts()

    def __copy__(self) -> "World":
        raise Error("a world cannot be copied in part: use copy() or copy.deepcopy()")

    def __deepcopy__(self, memo: Dict[int, Any]) -> "World":
        made = memo[id(self)] = self.copy()
        return made


def _refuse_after_fork(blocking: bool = True) -> bool:
    raise Error("the threads of this world stayed in the parent of the process")


def _rebuild(
    kind: Type[World], version: str, settings: Dict[str, Any], state: State, time: float, robots: List[Any]
) -> World:
    """A world from the parts of another one."""
    if version != VERSION_STRING:
        raise Error(f"a world of version {version} cannot be read by {VERSION_STRING}")
    world = kind(**settings)
    for robot in robots:
        if robot["before"] is not None:
            world.restore(robot["before"])
            robot["kind"]._rebuild(world, robot)  # what it makes gets the ids that it had
    world.restore(state)
    for robot in robots:
        if robot["before"] is None:
            robot["kind"]._rebuild(world, robot)
    world._time = time
    return world


__all__ = ["Attachment", "Body", "Events", "Geometry", "Joint", "Shape", "Soft", "State", "World"]
