"""Descriptions of shapes and of the meshes of soft bodies, for World.add_body() and the like."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from ._convert import Array, ArrayLike, Error, Vector, numbers, rows_in, to_c
from ._generated import ShapeKind, ShapeSpecBase
from ._native import ffi, lib


class ShapeSpec(ShapeSpecBase):
    """A shape of some kind: what all of them have in common.

    Keyword arguments are those of a shape: position, rotation, density, material, filter, sensor,
    hit_events. See `Shape` for their meaning.
    """

    kind: ShapeKind

    def __init__(self, **options: Any) -> None:
        self._options(**options)

    def _make(self, world: Any) -> Dict[str, Any]:
        """Fields of the definition; geometry is made in the world."""
        return self.values

    def __repr__(self) -> str:
        parts = ", ".join(f"{k}={v!r}" for k, v in self.values.items())
        return f"{type(self).__name__}({parts})"


class Sphere(ShapeSpec):
    """A sphere; radius in m."""

    kind = ShapeKind.SPHERE

    def __init__(self, radius: float = 0.5, **options: Any) -> None:
        super().__init__(**options)
        self.values["radius"] = radius


class Box(ShapeSpec):
    """A box, by its half extents along x, y and z, m."""

    kind = ShapeKind.BOX

    def __init__(self, x: float = 0.5, y: Optional[float] = None, z: Optional[float] = None, **options: Any) -> None:
        super().__init__(**options)
        self.values["half_extents"] = (x, x if y is None else y, x if z is None else z)


class _Axial(ShapeSpec):
    def __init__(self, radius: float = 0.5, half_length: float = 0.5, **options: Any) -> None:
        super().__init__(**options)
        self.values.update(radius=radius, half_length=half_length)


class Capsule(_Axial):
    """A capsule along y; `half_length` is that of the straight part, m."""

    kind = ShapeKind.CAPSULE


class Cylinder(_Axial):
    """A cylinder along y; lengths in m."""

    kind = ShapeKind.CYLINDER


class Cone(_Axial):
    """A cone along y, base at -half_length, tip at +half_length; lengths in m."""

    kind = ShapeKind.CONE


class Plane(ShapeSpec):
    """The half space y < 0 of its frame; not on dynamic bodies."""

    kind = ShapeKind.PLANE


def _points(value: ArrayLike, name: str) -> Tuple[Array, Any]:
    rows = rows_in(value, (-1, 3), name, np.float32)
    return rows, ffi.cast("tn_vec3 *", ffi.from_buffer(rows))


def _indices(value: ArrayLike, width: int, name: str) -> Tuple[Array, Any]:
    whole = np.asarray(value)
    if whole.dtype.kind not in "iu" and whole.size:
        raise TypeError(f"{name} must be integers, not {whole.dtype}")
    rows = rows_in(value, (-1, width), name, np.int32)
    return rows, ffi.cast("int *", ffi.from_buffer(rows))


class _Shared(ShapeSpec):
    """A shape with geometry, which is made once in each world and shared by all shapes of it."""

    def _geometry(self, world: Any) -> Any:
        raise NotImplementedError

    def _make(self, world: Any) -> Dict[str, Any]:
        made = world._geometries.get(id(self))
        if made is None or made[0] is not self or not made[1].is_valid:
            handle = world._handle("tn_geometry_id", self._geometry(world))
            made = world._geometries[id(self)] = (self, handle)
        return {**self.values, "geometry": made[1]}


class Hull(_Shared):
    """The convex hull of points (n, 3), m; simplified to `max_vertices` if it has more."""

    kind = ShapeKind.HULL

    def __init__(self, points: ArrayLike, *, max_vertices: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.points, self._pointer = _points(points, "points")
        self.max_vertices = to_c(ffi.typeof("int"), max_vertices, "max_vertices")

    def _geometry(self, world: Any) -> Any:
        return world._invoke(lib.tn_hull_create, self._pointer, len(self.points), self.max_vertices)


class Mesh(_Shared):
    """Triangles (m, 3) of vertices (n, 3), m; not on dynamic bodies."""

    kind = ShapeKind.MESH

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike, **options: Any) -> None:
        super().__init__(**options)
        self.vertices, self._vertices = _points(vertices, "vertices")
        self.triangles, self._triangles = _indices(triangles, 3, "triangles")

    def _geometry(self, world: Any) -> Any:
        return world._invoke(
            lib.tn_mesh_create, self._vertices, len(self.vertices), self._triangles, len(self.triangles)
        )


class HeightField(_Shared):
    """Heights (rows, columns), m, over a grid in the xz plane; not on dynamic bodies."""

    kind = ShapeKind.HEIGHT_FIELD

    def __init__(self, heights: ArrayLike, spacing: Tuple[float, float] = (1.0, 1.0), **options: Any) -> None:
        super().__init__(**options)
        self.heights = rows_in(heights, (-1, -1), "heights", np.float32)
        self.spacing = numbers(spacing, 2, "spacing")

    def _geometry(self, world: Any) -> Any:
        rows, columns = self.heights.shape
        pointer = ffi.cast("float *", ffi.from_buffer(self.heights))
        return world._invoke(lib.tn_height_field_create, pointer, columns, rows, *self.spacing)


class Wire(_Shared):
    """A tube of `radius` m along a smooth curve through points (n, 3) with tangents (n, 3), m."""

    kind = ShapeKind.WIRE

    def __init__(
        self,
        points: ArrayLike,
        tangents: Optional[ArrayLike] = None,
        *,
        radius: float = 0.05,
        closed: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        rows = rows_in(points, (-1, 3), "points", np.float32)
        self.closed = to_c(ffi.typeof("bool"), closed, "closed")
        if tangents is None:
            if self.closed:
                tangents = 0.5 * (np.roll(rows, -1, 0) - np.roll(rows, 1, 0))
            else:
                tangents = np.gradient(rows, axis=0) if len(rows) > 1 else np.zeros_like(rows)
        self.points = np.ascontiguousarray(
            np.hstack([rows, rows_in(tangents, (len(rows), 3), "tangents", np.float32)])
        )
        self.values["radius"] = radius

    def _geometry(self, world: Any) -> Any:
        pointer = ffi.cast("tn_wire_point *", ffi.from_buffer(self.points))
        return world._invoke(lib.tn_wire_create, pointer, len(self.points), self.closed)


# ---- Soft bodies ---------------------------------------------------------------------------------


class SoftMesh:
    """Particles and elements of a soft body; `tethers` names anchors that the rest hangs on."""

    def __init__(self, function: Any, *arguments: Any, tethers: Sequence[int] = ()) -> None:
        self._function = function
        self._arguments = arguments
        self._tethers = tuple(to_c(ffi.typeof("int"), i, "tethers") for i in tethers)

    def _fill(self, definition: Any) -> None:
        """Fills in the arrays, for tn_soft_mesh_free()."""
        if not self._function(definition, *self._arguments):
            raise Error(f"{self!r}: sizes that the engine refuses")
        if self._tethers:
            anchors = ffi.new("int[]", self._tethers)
            if not lib.tn_soft_mesh_tethers(definition, anchors, len(self._tethers)):
                raise Error(f"tethers must be particles of the mesh, not {self._tethers}")

    def __repr__(self) -> str:
        return f"<SoftMesh {self._function.__name__[len('tn_soft_mesh_'):]}>"


def cloth(columns: int, rows: int, size_x: float, size_z: float, *, tethers: Sequence[int] = ()) -> SoftMesh:
    """A cloth in the xz plane about the origin; particle row * columns + column."""
    return SoftMesh(lib.tn_soft_mesh_cloth, columns, rows, size_x, size_z, tethers=tethers)


def rope(segments: int, length: float, *, tethers: Sequence[int] = ()) -> SoftMesh:
    """A rope of `length` m along x from the origin."""
    return SoftMesh(lib.tn_soft_mesh_rope, segments, length, tethers=tethers)


def soft_box(cells: Sequence[int], half_extents: Vector, *, tetrahedra: bool = False) -> SoftMesh:
    """A box of cells along each axis: hexahedra, or tetrahedra."""
    whole = rows_in(cells, (3,), "cells", np.int32).tolist()
    return SoftMesh(lib.tn_soft_mesh_box, whole, numbers(half_extents, 3, "half_extents"), tetrahedra)


def soft_ball(cells: int, radius: float, *, tetrahedra: bool = False) -> SoftMesh:
    """A ball of `radius` m: a box of `cells` cells a side, rounded."""
    return SoftMesh(lib.tn_soft_mesh_ball, cells, radius, tetrahedra)


def soft_tube(cells: Sequence[int], inner_radius: float, outer_radius: float, half_length: float) -> SoftMesh:
    """A thick tube about the z axis; cells around, across its wall, along; lengths in m."""
    whole = rows_in(cells, (3,), "cells", np.int32).tolist()
    return SoftMesh(lib.tn_soft_mesh_tube, whole, inner_radius, outer_radius, half_length)


def balloon(level: int, radius: float) -> SoftMesh:
    """A closed surface of 20 * 4^level triangles, of `radius` m; give it a pressure."""
    return SoftMesh(lib.tn_soft_mesh_sphere, level, radius)


class _Surface(SoftMesh):
    def __init__(self, function: Any, vertices: ArrayLike, triangles: ArrayLike, *more: Any) -> None:
        self._keep = (_points(vertices, "vertices"), _indices(triangles, 3, "triangles"))
        (v, pv), (t, pt) = self._keep
        super().__init__(function, pv, len(v), pt, len(t), *more)


def soft_triangles(vertices: ArrayLike, triangles: ArrayLike) -> SoftMesh:
    """Cloth of any triangles (m, 3) of vertices (n, 3), m; edges are found."""
    return _Surface(lib.tn_soft_mesh_triangles, vertices, triangles)


def soft_solid(vertices: ArrayLike, triangles: ArrayLike, cell: float, *, tetrahedra: bool = False) -> SoftMesh:
    """Cells of `cell` m that fill a closed surface."""
    return _Surface(lib.tn_soft_mesh_solid, vertices, triangles, cell, tetrahedra)


__all__ = [
    "Box", "Capsule", "Cone", "Cylinder", "HeightField", "Hull", "Mesh", "Plane", "ShapeSpec", "Sphere",
    "SoftMesh", "Wire", "balloon", "cloth", "rope", "soft_ball", "soft_box", "soft_solid",
    "soft_triangles", "soft_tube",
]
