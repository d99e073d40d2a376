"""Handles of what is in a world."""

from __future__ import annotations

from typing import Dict, Optional, Tuple, Type

import numpy as np

from . import _generated as generated
from ._calls import Handle
from ._convert import Array, ArrayLike, Transform, Vector, from_c, numbers, rows_in, to_c
from ._generated import AttachmentBase, BodyBase, GeometryBase, JointBase, ShapeBase, SoftBase
from ._native import ffi, lib
from ._specs import ShapeSpec

_NULL = ffi.NULL
_POS, _QUAT = ffi.typeof("tn_pos"), ffi.typeof("tn_quat")


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


HANDLES: Dict[str, Type[Handle]] = {c._ctype: c for c in (Geometry, Shape, Body, Joint, Soft, Attachment)}
HANDLES.update(generated.OTHER_HANDLES)

__all__ = ["Attachment", "Body", "Geometry", "Joint", "Shape", "Soft"]
