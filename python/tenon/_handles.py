"""Handles of what is in a world."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Type

import numpy as np

from . import _generated as generated
from ._calls import Handle
from ._colors import GROUND, PALETTE, Color, color_in
from ._convert import Array, ArrayLike, Error, Transform, Vector, from_c, given, numbers, rows_in, to_c
from ._forces import contact_forces
from ._generated import (
    AttachmentBase,
    BodyBase,
    BodyType,
    GeometryBase,
    JointAxis,
    JointBase,
    JointKind,
    ShapeBase,
    ShapeKind,
    SoftBase,
)
from ._native import ffi, lib
from ._specs import ShapeSpec

_NULL = ffi.NULL
_POS, _QUAT = ffi.typeof("tn_pos"), ffi.typeof("tn_quat")


class Geometry(GeometryBase):
    """Data that shapes share: a hull, mesh, height field or wire."""

    __slots__ = ()
    _ctype = "tn_geometry_id"


_SIZES = {"radius", "half_length", "half_extents"}
_SIZES_OF = {
    ShapeKind.SPHERE: ("radius",),
    ShapeKind.BOX: ("half_extents",),
    ShapeKind.CAPSULE: ("radius", "half_length"),
    ShapeKind.CYLINDER: ("radius", "half_length"),
    ShapeKind.CONE: ("radius", "half_length"),
    ShapeKind.WIRE: ("radius",),
}


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

    def _check_size(self, name: str) -> None:
        if name in _SIZES and name not in _SIZES_OF.get(self.kind, ()):
            raise Error(f"a {self.kind.name.lower()} has no {name}")

    def _field(self, name: str) -> Any:
        self._check_size(name)
        return super()._field(name)

    def _configure(self, values: Mapping[str, Any]) -> None:
        if "kind" not in given(values):
            for name in given(values):
                self._check_size(name)
        super()._configure(values)

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

    @property
    def color(self) -> Color:
        """In pictures: red, green, blue from 0 to 1. Can be set to "#rrggbb" or a name as well."""
        chosen = self._world._colors.get(self._key())
        if chosen is not None:
            return chosen
        if self.type is BodyType.STATIC:
            return GROUND
        return PALETTE[self.row % len(PALETTE)]

    @color.setter
    def color(self, value: Any) -> None:
        self.type  # raises if the body is gone
        self._world._colors[self._key()] = color_in(value)

    @property
    def contact_force(self) -> Array:
        """Sum of the forces of all contacts on it, N, as the mean over the last step."""
        total = contact_forces(self.contacts, np.array([self._id.index]))
        return total[0]  # type: ignore[no-any-return]

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
    """A joint between two bodies, or a body and the world.

    A hinge, a slider and a distance joint have one axis: position, rate, target and so on are its.
    """

    __slots__ = ()
    _ctype = "tn_joint_id"

    def _only_axis(self) -> JointAxis:
        kind = self.kind
        if kind is JointKind.HINGE:
            return JointAxis.ANGULAR_A
        if kind in (JointKind.PRISMATIC, JointKind.DISTANCE):
            return JointAxis.LINEAR_A
        raise Error(f"a {kind.name.lower()} joint has no axis of its own: use state, drive() and set_drive()")

    @property
    def position(self) -> float:
        """Along its one axis, rad or m."""
        return float(self.state.position[self._only_axis()])

    @property
    def rate(self) -> float:
        """Of its position, rad/s or m/s."""
        return float(self.state.rate[self._only_axis()])

    @property
    def drive_force(self) -> float:
        """Of the drive of its one axis, N m or N, as the mean over the last step."""
        return float(self.state.drive_force[self._only_axis()])

    @property
    def target(self) -> float:
        """Of the drive of its one axis, rad or m: see servo()."""
        return float(self.drive(self._only_axis()).target)

    @target.setter
    def target(self, value: float) -> None:
        self.set_drive(self._only_axis(), {"target": value})

    @property
    def target_rate(self) -> float:
        """Rate that the drive of its one axis keeps, rad/s or m/s: see servo()."""
        return float(self.drive(self._only_axis()).velocity)

    @target_rate.setter
    def target_rate(self, value: float) -> None:
        self.set_drive(self._only_axis(), {"velocity": value})

    @property
    def range(self) -> Tuple[float, float]:
        """Limits of its one axis, rad or m; it can be set."""
        axis = self._only_axis()
        low, high = self.angular[0] if axis is JointAxis.ANGULAR_A else self.linear[0]
        return float(low), float(high)

    @range.setter
    def range(self, value: Tuple[float, float]) -> None:
        name = "angular" if self._only_axis() is JointAxis.ANGULAR_A else "linear"
        others = [tuple(pair) for pair in getattr(self, name)[1:]]
        self._configure({name: [numbers(value, 2, "range"), *others]})

    def servo(self, stiffness: float, damping: float, *, max_force: float = float("inf")) -> None:
        """Gives its one axis a drive: stiffness (target - position) + damping (target_rate - rate).

        stiffness: N m/rad or N/m; 0 for a motor that keeps a rate
        damping: N m s/rad or N s/m
        max_force: N m or N, either way
        """
        drive = {"stiffness": stiffness, "damping": damping, "limits": (-max_force, max_force)}
        self.set_drive(self._only_axis(), drive)

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


HANDLES: Dict[str, Type[Handle]] = {c._ctype: c for c in (Geometry, Shape, Body, Joint, Soft, Attachment)}
HANDLES.update(generated.OTHER_HANDLES)

__all__ = ["Attachment", "Body", "Geometry", "Joint", "Shape", "Soft"]
