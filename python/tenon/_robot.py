"""Robots from files, and reduced coordinates of any mechanism."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._convert import Array, ArrayLike, Error, Vector, fill, given, numbers, rows_in, to_c
from ._native import ffi, lib
from ._rows import Rows

if TYPE_CHECKING:
    from ._handles import Body, Joint
    from ._world import World

_NULL = ffi.NULL


class Articulation:
    """Reduced coordinates of mechanisms: of the trees of joints that start at root bodies.

    Positions are in the order of the joints, depth first, each as its kind has them; a free root has
    seven: the position of its origin and a quaternion x y z w. q, qd and force are read-only views
    that steps refresh.
    """

    _root_keys: List[Any]  # none of a robot

    def __init__(self, world: "World", roots: Sequence["Body"]) -> None:
        self._setup(world, roots)
        self._root_keys = [body._key() for body in roots]
        self._register()

    def _setup(self, world: "World", roots: Sequence["Body"], cuts: Sequence["Joint"] = ()) -> None:
        self._world = world
        self._native = ffi.new("tnp_robot *")
        body_id, joint_id = ffi.typeof("tn_body_id"), ffi.typeof("tn_joint_id")
        self._roots = ffi.new("tn_body_id[]", [to_c(body_id, body, "roots") for body in roots])
        self._cuts = ffi.new("tn_joint_id[]", [to_c(joint_id, joint, "cuts") for joint in cuts])
        made = _NULL
        if roots:
            made = world._invoke(lib.tn_articulation_create, self._definition())
            if not made:
                world._raise("the articulation was refused")
        self._native.articulation = made
        counts = lib.tn_articulation_get_counts(made)
        self._native.position_count = counts.positions
        self._native.velocity_count = counts.velocities
        self._make_rows()

    def _definition(self) -> Any:
        definition = ffi.new("tn_articulation_def *", lib.tn_default_articulation_def())
        definition.roots, definition.root_count = self._roots, len(self._roots)
        definition.cuts, definition.cut_count = self._cuts, len(self._cuts)
        return definition

    def _make_rows(self) -> None:
        counts = lib.tn_articulation_get_counts(self._native.articulation)
        self._q = self._rows(counts.positions, lib.tn_articulation_positions)
        self._qd = self._rows(counts.velocities, lib.tn_articulation_velocities)
        self._force = self._rows(counts.velocities, lib.tn_articulation_joint_forces)
        self._list_joints(counts.joints)

    def _copy_to(self, world: "World", native: Any, target: Array, applied: Array) -> "Articulation":
        """This one in a world of a batch, which has made `native`."""
        made = type(self).__new__(type(self))
        made._world, made._native = world, native
        made._root_keys = self._root_keys
        number = world._number()
        made._roots = ffi.new("tn_body_id[]", [(root.index, root.generation, number) for root in self._roots])
        made._cuts = ffi.new("tn_joint_id[]", [(cut.index, cut.generation, number) for cut in self._cuts])
        made._make_rows()
        world._robots.append(made)
        world._views += [made._q, made._qd, made._force]
        return made

    def _register(self) -> None:
        world = self._world
        world._keep.append((self._native, self._q, self._qd, self._force))
        last = world._native.robots
        if not last:
            world._native.robots = self._native
        else:
            while last.next:
                last = ffi.cast("tnp_robot *", last.next)
            last.next = self._native
        world._robots.append(self)
        world._views += [self._q, self._qd, self._force]

    def _list_joints(self, count: int) -> None:
        rows = ffi.new("tn_articulation_joint[]", max(count, 1))
        lib.tn_articulation_joints(self._native.articulation, rows, count)
        world = self._world
        self._joints = [world._handle("tn_joint_id", rows[i].joint) for i in range(count)]
        self._moved = [world._handle("tn_body_id", rows[i].body) for i in range(count)]
        self._slices = [
            (
                slice(rows[i].first_position, rows[i].first_position + rows[i].position_count),
                slice(rows[i].first_velocity, rows[i].first_velocity + rows[i].velocity_count),
            )
            for i in range(count)
        ]

    @property
    def joints(self) -> List[Optional["Joint"]]:
        """Joints in the order of the coordinates; None for a free root."""
        return list(self._joints)

    @property
    def bodies(self) -> List["Body"]:
        """The bodies that the joints move."""
        return list(self._moved)

    @property
    def slices(self) -> List[Tuple[slice, slice]]:
        """Of each joint: where its numbers are in q, and in qd and force."""
        return list(self._slices)

    # -- Views

    def _rows(self, count: int, function: Any) -> Rows:
        return Rows((count,), lambda rows: self._call(function, rows.pointer))

    def _call(self, function: Any, *arguments: Any) -> None:
        world = self._world

        def call(_: Any, *more: Any) -> Any:
            return function(self._native.articulation, *more)

        if not world._invoke(call, *arguments):
            world._raise("the articulation refused the call")

    @property
    def q(self) -> Array:
        """Positions, m and rad. Setting them moves the bodies at once."""
        return self._q.view()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        rows = rows_in(value, self._q.array.shape, "q")
        self._call(lib.tn_articulation_set_positions, ffi.cast("double *", ffi.from_buffer(rows)), _NULL)
        self._world._touch()

    @property
    def qd(self) -> Array:
        """Velocities, m/s and rad/s. They can be set."""
        return self._qd.view()

    @qd.setter
    def qd(self, value: ArrayLike) -> None:
        rows = rows_in(value, self._qd.array.shape, "qd")
        self._call(lib.tn_articulation_set_velocities, ffi.cast("double *", ffi.from_buffer(rows)), _NULL)
        self._world._touch()

    @property
    def force(self) -> Array:
        """Forces of the joints along their axes, N and N m, as the mean over the last step."""
        return self._force.view()

    # -- Dynamics

    def apply_forces(self, forces: ArrayLike) -> None:
        """Applies generalised forces, N and N m, during the next step."""
        rows = rows_in(forces, self._qd.array.shape, "forces")
        self._call(lib.tn_articulation_apply_forces, ffi.cast("double *", ffi.from_buffer(rows)))

    def _out(self, function: Any, *arguments: Any, shape: Tuple[int, ...] = ()) -> Array:
        out = np.zeros(shape or self._qd.array.shape)
        if out.size:
            self._call(function, *arguments, ffi.cast("double *", ffi.from_buffer(out)))
        return out

    def mass_matrix(self) -> Array:
        """The mass matrix M: qd M qd / 2 is the kinetic energy."""
        n = len(self._qd.array)
        return self._out(lib.tn_articulation_mass_matrix, shape=(n, n))

    def bias_forces(self) -> Array:
        """Coriolis and centrifugal forces and minus gravity, N and N m."""
        return self._out(lib.tn_articulation_bias_forces)

    def inverse_dynamics(self, accelerations: ArrayLike) -> Array:
        """The generalised forces for given accelerations."""
        rows = rows_in(accelerations, self._qd.array.shape, "accelerations")
        return self._out(lib.tn_articulation_inverse_dynamics, ffi.cast("double *", ffi.from_buffer(rows)))

    def forward_dynamics(self, forces: ArrayLike) -> Array:
        """The accelerations under given forces, without loops, drives and contacts."""
        rows = rows_in(forces, self._qd.array.shape, "forces")
        return self._out(lib.tn_articulation_forward_dynamics, ffi.cast("double *", ffi.from_buffer(rows)))

    def jacobian(self, body: "Body", point: Vector = (0.0, 0.0, 0.0)) -> Tuple[Array, Array]:
        """Jacobians (3, velocities) of the velocity of a point and of the angular velocity of a body."""
        linear, angular = np.zeros((3, len(self._qd.array))), np.zeros((3, len(self._qd.array)))
        self._call(
            lib.tn_articulation_jacobian,
            to_c(ffi.typeof("tn_body_id"), body, "body"),
            numbers(point, 3, "point"),
            ffi.cast("double *", ffi.from_buffer(linear)),
            ffi.cast("double *", ffi.from_buffer(angular)),
        )
        return linear, angular

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {len(self._joints)} joints, {len(self._qd.array)} degrees of freedom>"

    # -- Copies

    def _parts(self) -> Dict[str, Any]:
        return {"kind": type(self), "before": None, "roots": self._root_keys}

    @classmethod
    def _rebuild(cls, world: "World", parts: Dict[str, Any]) -> None:
        number = world._number()
        ids = [ffi.new("tn_body_id *", (*key, number))[0] for key in parts["roots"]]
        cls(world, [world._handle("tn_body_id", id) for id in ids])


class Keyframe(NamedTuple):
    """A named state of a robot's file."""

    name: str
    target: Any
    """controls of all actuators"""


class Robot(Articulation):
    """A model of a file in a world: see World.load().

    target has a number for each actuator, in the order of the file: the target of a position servo,
    the force of a motor. It may be written and acts from the next step on.
    """

    def __init__(self, world: "World", source: str, options: Dict[str, Any]) -> None:
        before = world.save()
        self._source, self._options = source, dict(options)
        model = _read_model(world, source, options)
        self._model = model
        counts = lib.tn_model_get_counts(model)
        instance = _build(world, model, options)
        world._restructured()
        self._instance = instance
        self._root_keys = []
        self._named = self._find_bodies(world, counts.bodies)
        tree = [world._handle("tn_joint_id", lib.tn_instance_joint(instance, i)) for i in range(counts.joints)]
        roots = _roots(tree, list(self._named.values()))
        # What the file adds to its tree, such as equalities, closes loops.
        cuts = {joint for body in self._named.values() for joint in body.joints if joint not in tree}
        self._setup(world, roots, sorted(cuts, key=lambda joint: joint._key()))
        self._before = before
        self._native.instance = instance
        self._native.actuator_count = counts.actuators
        self.target: Array = np.array([lib.tn_instance_control(instance, i) for i in range(counts.actuators)])
        """Controls of the actuators from the next step on."""
        self._applied = self.target.copy()
        self._targets()
        self._register()
        world._keep.append((model, self.target, self._applied))

    def _targets(self) -> None:
        self._native.target = ffi.cast("double *", self.target.ctypes.data)
        self._native.applied = ffi.cast("double *", self._applied.ctypes.data)

    def _copy_to(self, world: "World", native: Any, target: Array, applied: Array) -> "Robot":
        made = super()._copy_to(world, native, target, applied)
        assert isinstance(made, Robot)
        made._source, made._options, made._before = self._source, self._options, self._before
        made._model, made._instance = self._model, native.instance
        made._named = made._find_bodies(world, lib.tn_model_get_counts(self._model).bodies)
        made.__dict__["target"], made._applied = target, applied
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "target" and "target" in self.__dict__:
            self.target[:] = rows_in(value, self.target.shape, "target")
        else:
            super().__setattr__(name, value)

    def _find_bodies(self, world: "World", count: int) -> Dict[str, "Body"]:
        rows = ffi.new("tn_model_body[]", max(count, 1))
        lib.tn_model_bodies(self._model, -1, rows, count)
        found = {}
        for i in range(1, count):
            body = world._handle("tn_body_id", lib.tn_instance_body(self._instance, i))
            if body is not None:
                found[_text(rows[i].name) or f"body {i}"] = body
        return found

    @property
    def name(self) -> str:
        """Name of the model; empty for none."""
        return _text(lib.tn_model_name(self._model))

    @property
    def report(self) -> str:
        """What of the file is honoured, approximated and ignored."""
        size = lib.tn_model_write_report(self._model, False, _NULL, 0)
        text = ffi.new("char[]", max(size, 1))
        lib.tn_model_write_report(self._model, False, text, size)
        return _text(text)

    @property
    def named_bodies(self) -> Dict[str, "Body"]:
        """Bodies by their names in the file; those without joints are part of another body."""
        return dict(self._named)

    def body(self, name: str) -> "Body":
        """A body by its name in the file."""
        if name not in self._named:
            raise KeyError(f"the robot has no body '{name}'")
        return self._named[name]

    @property
    def named_joints(self) -> Dict[str, "Joint"]:
        """Joints by their names in the file."""
        count = lib.tn_model_get_counts(self._model).joints
        found = {}
        for i in range(count):
            joint = self._world._handle("tn_joint_id", lib.tn_instance_joint(self._instance, i))
            if joint is not None:
                found[_text(lib.tn_model_joint_name(self._model, i)) or f"joint {i}"] = joint
        return found

    @property
    def actuators(self) -> List[str]:
        """Names of the actuators, in the order of target."""
        return [_text(lib.tn_model_actuator_name(self._model, i)) for i in range(len(self.target))]

    @property
    def keyframes(self) -> Dict[str, Keyframe]:
        """Keyframes of the file by name."""
        found = {}
        for i in range(lib.tn_model_get_counts(self._model).keyframes):
            values = np.zeros(len(self.target))
            if len(values):
                pointer = ffi.cast("double *", ffi.from_buffer(values))
                lib.tn_model_keyframe_controls(self._model, i, pointer, len(values))
            name = _text(lib.tn_model_keyframe_name(self._model, i)) or str(i)
            found[name] = Keyframe(name, values)
        return found

    def __repr__(self) -> str:
        return f"<Robot '{self.name}', {len(self._qd.array)} degrees of freedom, {len(self.target)} actuators>"

    def _parts(self) -> Dict[str, Any]:
        return {
            "kind": type(self),
            "before": self._before,
            "source": self._source,
            "options": self._options,
            "target": self.target.copy(),
            "applied": self._applied.copy(),
            "state": self._carried(),
        }

    def _carried(self) -> Array:
        """What its actuators and sensors carry from step to step."""
        state = np.zeros(lib.tn_instance_state(self._instance, _NULL, 0))
        lib.tn_instance_state(self._instance, ffi.cast("double *", ffi.from_buffer(state)), len(state))
        return state

    @classmethod
    def _rebuild(cls, world: "World", parts: Dict[str, Any]) -> None:
        made = cls(world, parts["source"], parts["options"])
        made.target[:] = parts["target"]
        made._applied[:] = parts["applied"]
        state = parts["state"]
        lib.tn_instance_set_state(made._instance, ffi.cast("double *", ffi.from_buffer(state)), len(state))


def _text(value: Any) -> str:
    return str(ffi.string(value).decode("utf-8", "replace")) if value else ""


def _read_model(world: "World", source: str, options: Dict[str, Any]) -> Any:
    keep: List[Any] = []
    definition = ffi.new("tn_import_def *", lib.tn_default_import_def())
    given_options = {k: options[k] for k in ("base", "max_hulls", "meshes", "format") if k in options}
    fill(definition, "tn_import_def", given(given_options), keep)
    paths = [ffi.new("char[]", os.fsencode(p)) for p in options.get("search_paths", ())]
    listed = ffi.new("char *[]", paths) if paths else _NULL
    definition.search_paths, definition.search_path_count = listed, len(paths)
    if source.lstrip().startswith("<"):
        data = source.encode()
        model = lib.tnp_parse(world._native, b"text", data, len(data), definition)
    else:
        model = lib.tnp_load(world._native, os.fsencode(source), definition)
    if not model:
        world._raise(f"'{source}' cannot be read")
    return ffi.gc(model, lib.tn_model_destroy)


def _build(world: "World", model: Any, options: Dict[str, Any]) -> Any:
    keep: List[Any] = []
    definition = ffi.new("tn_instance_def *", lib.tn_default_instance_def())
    definition.place = (
        numbers(options.get("position", (0, 0, 0)), 3, "position"),
        numbers(options.get("rotation", (0, 0, 0, 1)), 4, "rotation"),
    )
    fill(definition, "tn_instance_def", given({k: options[k] for k in ("y_up", "prefix") if k in options}), keep)
    name = options.get("keyframe")
    if name is not None:
        definition.keyframe = lib.tn_model_find_keyframe(model, str(name).encode())
        if definition.keyframe < 0:
            raise KeyError(f"the file has no keyframe '{name}'")

    def create(pointer: Any) -> Any:
        return lib.tn_instance_create(pointer, model, definition)

    instance = world._invoke(create)
    if not instance:
        raise Error("the model cannot be built in the world")
    return instance


def _roots(tree: Sequence[Optional["Joint"]], bodies: Sequence["Body"]) -> List["Body"]:
    """Dynamic bodies that no joint of the model hangs on another dynamic body."""
    parents = {joint.body_b: joint.body_a for joint in tree if joint is not None}
    found: List["Body"] = []
    for body in bodies:
        at: Any = body
        above = parents.get(at)
        while above is not None and above.type.name == "DYNAMIC":
            at, above = above, parents.get(above)
        if at.type.name == "DYNAMIC" and at not in found:
            found.append(at)
    return found


__all__ = ["Articulation", "Keyframe", "Robot"]
