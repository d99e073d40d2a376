"""Robots from files."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Tuple

import numpy as np

from ._articulation import Articulation
from ._convert import Array, Vector, number_in, rows_in
from ._models import build, read_model, roots_of, text
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._handles import Body, Joint
    from ._world import World

_NULL = ffi.NULL


class Keyframe(NamedTuple):
    """A named state of a robot's file."""

    name: str
    target: Any
    """controls of all actuators"""


class Actuator:
    """An actuator of a robot."""

    __slots__ = ("_robot", "index")

    def __init__(self, robot: "Robot", index: int) -> None:
        self._robot = robot
        self.index = index
        """Its place in Robot.target."""

    @property
    def name(self) -> str:
        """Its name in the file; empty for none."""
        return text(lib.tn_model_actuator_name(self._robot._model, self.index))

    @property
    def target(self) -> float:
        """Its number in Robot.target: what a servo goes to, or the force of a motor. It can be set."""
        return float(self._robot.target[self.index])

    @target.setter
    def target(self, value: float) -> None:
        self._robot.target[self.index] = number_in(value, "target")

    def __repr__(self) -> str:
        return f"<Actuator {self.index} '{self.name}', target {self.target:g}>"


class Robot(Articulation):
    """A model of a file in a world: see World.load().

    target has a number for each actuator, in the order of the file: the target of a position servo,
    the force of a motor. It may be written and acts from the next step on.
    """

    __slots__ = ("_source", "_options", "_model", "_instance", "_named", "_before", "_target", "_applied")

    def __init__(self, world: "World", source: str, options: Dict[str, Any]) -> None:
        before = world.save()
        self._source, self._options = source, dict(options)
        model = read_model(world, source, options)
        self._model = model
        counts = lib.tn_model_get_counts(model)
        instance = build(world, model, options)
        world._restructured()
        self._instance = instance
        self._root_keys = []
        self._named = self._find_bodies(world, counts.bodies)
        tree = [world._handle("tn_joint_id", lib.tn_instance_joint(instance, i)) for i in range(counts.joints)]
        roots = roots_of(tree, list(self._named.values()))
        # What the file adds to its tree, such as equalities, closes loops.
        cuts = {joint for body in self._named.values() for joint in body.joints if joint not in tree}
        self._setup(world, roots, sorted(cuts, key=lambda joint: joint._key()))
        self._before = before
        self._native.instance = instance
        self._native.actuator_count = counts.actuators
        self._target: Array = np.array([lib.tn_instance_control(instance, i) for i in range(counts.actuators)])
        self._applied = self._target.copy()
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
        made._target, made._applied = target, applied
        return made

    @property
    def target(self) -> Array:
        """Controls of the actuators from the next step on; they can be written."""
        return self._target

    @target.setter
    def target(self, value: Any) -> None:
        self._target[:] = rows_in(value, self._target.shape, "target")

    def _find_bodies(self, world: "World", count: int) -> Dict[str, "Body"]:
        rows = ffi.new("tn_model_body[]", max(count, 1))
        lib.tn_model_bodies(self._model, -1, rows, count)
        found = {}
        for i in range(1, count):
            body = world._handle("tn_body_id", lib.tn_instance_body(self._instance, i))
            if body is not None:
                found[text(rows[i].name) or f"body {i}"] = body
        return found

    @property
    def name(self) -> str:
        """Name of the model; empty for none."""
        return text(lib.tn_model_name(self._model))

    @property
    def report(self) -> str:
        """What of the file is honoured, approximated and ignored."""
        size = lib.tn_model_write_report(self._model, False, _NULL, 0)
        written = ffi.new("char[]", max(size, 1))
        lib.tn_model_write_report(self._model, False, written, size)
        return text(written)

    @property
    def named_bodies(self) -> Dict[str, "Body"]:
        """Bodies by their names in the file; those without joints are part of another body."""
        return dict(self._named)

    def body(self, name: str) -> "Body":
        """A body by its name in the file."""
        return _named("body", name, self._named)  # type: ignore[no-any-return]

    def jacobian(self, body: Any, point: Vector = (0.0, 0.0, 0.0)) -> Tuple[Array, Array]:
        """As of Articulation; the body may be given by its name in the file."""
        return super().jacobian(self.body(body) if isinstance(body, str) else body, point)

    @property
    def named_joints(self) -> Dict[str, "Joint"]:
        """Joints by their names in the file."""
        count = lib.tn_model_get_counts(self._model).joints
        found = {}
        for i in range(count):
            joint = self._world._handle("tn_joint_id", lib.tn_instance_joint(self._instance, i))
            if joint is not None:
                found[text(lib.tn_model_joint_name(self._model, i)) or f"joint {i}"] = joint
        return found

    def joint(self, name: str) -> "Joint":
        """A joint by its name in the file."""
        return _named("joint", name, self.named_joints)  # type: ignore[no-any-return]

    def actuator(self, name: str) -> Actuator:
        """An actuator by its name in the file."""
        index = lib.tn_model_find_actuator(self._model, name.encode()) if isinstance(name, str) else -1
        if index < 0:
            _named("actuator", name, dict.fromkeys(self.actuators))
        return Actuator(self, index)

    @property
    def sensors(self) -> Dict[str, Array]:
        """Values of the sensors of the file by name, in the units of MuJoCo."""
        found = {}
        for i in range(lib.tn_model_get_counts(self._model).sensors):
            size = self._world._invoke(lambda _: lib.tn_instance_sensor(self._instance, i, _NULL, 0))
            values = np.zeros(size)
            if size:
                pointer = ffi.cast("double *", ffi.from_buffer(values))
                self._world._invoke(lambda _: lib.tn_instance_sensor(self._instance, i, pointer, size))
            found[text(lib.tn_model_sensor_name(self._model, i)) or f"sensor {i}"] = values
        return found

    def sensor(self, name: str) -> Array:
        """Values of a sensor by its name in the file."""
        return _named("sensor", name, self.sensors)  # type: ignore[no-any-return]

    def apply_keyframe(self, name: str) -> None:
        """Puts positions, velocities and target to those of a keyframe."""
        index = lib.tn_model_find_keyframe(self._model, name.encode()) if isinstance(name, str) else -1
        if index < 0:
            _named("keyframe", name, self.keyframes)
        if not self._world._invoke(lambda _: lib.tn_instance_apply_keyframe(self._instance, index)):
            self._world._raise("the keyframe was refused")
        for i in range(len(self.target)):
            self.target[i] = self._applied[i] = lib.tn_instance_control(self._instance, i)
        self._world._touch()

    @property
    def actuators(self) -> List[str]:
        """Names of the actuators, in the order of target."""
        return [text(lib.tn_model_actuator_name(self._model, i)) for i in range(len(self.target))]

    @property
    def keyframes(self) -> Dict[str, Keyframe]:
        """Keyframes of the file by name."""
        found = {}
        for i in range(lib.tn_model_get_counts(self._model).keyframes):
            values = np.zeros(len(self.target))
            if len(values):
                pointer = ffi.cast("double *", ffi.from_buffer(values))
                lib.tn_model_keyframe_controls(self._model, i, pointer, len(values))
            name = text(lib.tn_model_keyframe_name(self._model, i)) or str(i)
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


def _named(kind: str, name: Any, among: Dict[str, Any]) -> Any:
    if not isinstance(name, str) or name not in among:
        near = difflib.get_close_matches(str(name), list(among), 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise KeyError(f"the robot has no {kind} {name!r}{hint}")
    return among[name]


__all__ = ["Actuator", "Keyframe", "Robot"]
