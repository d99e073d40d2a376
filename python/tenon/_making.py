"""Makes bodies, shapes, joints and soft bodies in a world."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ._convert import enum_in, fill, given, numbers, to_c
from ._generated import WorldBase
from ._handles import Attachment, Body, Joint, Shape, Soft
from ._native import ffi, lib
from ._specs import Plane, ShapeSpec, SoftMesh


class Making(WorldBase):
    """The part of a world that makes things in it."""

    __slots__ = ()

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
                made.set_pinned(particle, True)
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
