"""Rays, casts and other questions to a world."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from ._convert import Array, ArrayLike, TransformLike, Vector, dtype_of, fill, from_c, numbers, rows_in, to_c
from ._generated import Hit, QueryFilter, ReachResult, WorldBase
from ._handles import Body, Shape
from ._native import ffi, lib
from ._specs import ShapeSpec


class Queries(WorldBase):
    """The part of a world that answers questions."""

    __slots__ = ()

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
        if not isinstance(shape, ShapeSpec):
            raise TypeError(f"shape must be a Box, Sphere or the like, not {shape!r}")
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
        count = self._invoke(lib.tn_world_overlap, *first, ffi.NULL, 0)
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
