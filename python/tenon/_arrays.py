"""Arrays of all bodies of a world."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._convert import Array, ArrayLike, rows_in, to_c
from ._forces import contact_forces
from ._generated import POSE_NUMBERS, VELOCITY_NUMBERS, WorldBase
from ._handles import Body
from ._native import ffi, lib
from ._rows import Rows


class Arrays(WorldBase):
    """The part of a world that reads and writes all bodies at once."""

    __slots__ = ()

    _poses: Array  # which the engine refreshes in steps; replaced only while the world is held
    _pose_views: Tuple[Array, Array, Array]  # poses, positions, rotations, read-only
    _unwatched: bool  # bodies came or went since it was made

    def _body_count(self) -> int:
        return int(self._invoke(lib.tn_world_bodies, ffi.NULL, 0))

    def _watch(self) -> None:
        raise NotImplementedError

    def _rate_rows(self) -> Rows:
        raise NotImplementedError

    def _read_poses(self) -> None:
        if not self._ptr or not self._acquire(False):
            raise self._unusable()
        try:
            if self._unwatched:
                self._watch()
            lib.tnp_read_poses(self._native)
        finally:
            self._release()

    def _fill_rates(self, rows: Rows) -> None:
        self._invoke(lib.tn_bodies_read_velocities, ffi.NULL, len(rows.array), lib.TN_DOUBLE, rows.pointer, 0)

    @property
    def poses(self) -> Array:
        """Position x y z, m, and rotation x y z w of all bodies: (bodies, 7). Setting them moves the bodies."""
        if self._unwatched or self._native.stale:
            self._read_poses()
        return self._pose_views[0]

    @poses.setter
    def poses(self, value: Any) -> None:
        self.set_poses(value)

    @property
    def positions(self) -> Array:
        """Positions of all bodies, m: (bodies, 3)."""
        if self._unwatched or self._native.stale:
            self._read_poses()
        return self._pose_views[1]

    @positions.setter
    def positions(self, value: Any) -> None:
        rows = rows_in(value, (self._body_count(), 3), "positions")
        self.set_poses(np.hstack([rows, self.rotations]))

    @property
    def rotations(self) -> Array:
        """Rotations of all bodies, unit quaternions x y z w: (bodies, 4)."""
        if self._unwatched or self._native.stale:
            self._read_poses()
        return self._pose_views[2]

    @rotations.setter
    def rotations(self, value: Any) -> None:
        rows = rows_in(value, (self._body_count(), 4), "rotations")
        self.set_poses(np.hstack([self.positions, rows]))

    @property
    def velocities(self) -> Array:
        """Velocities, m/s, and angular velocities, rad/s, of all bodies: (bodies, 6)."""
        return self._rate_rows().view()

    @velocities.setter
    def velocities(self, value: Any) -> None:
        self.set_velocities(value)

    @property
    def contact_forces(self) -> Array:
        """Sums of the forces of contacts on all bodies, N, as the mean over the last step: (bodies, 3)."""
        return contact_forces(self.contacts, np.array([body._id.index for body in self.bodies], int))

    @property
    def awake(self) -> Array:
        """Which bodies are awake: (bodies,)."""
        flags = np.zeros(self._body_count(), np.uint8)
        if flags.size:
            pointer = ffi.cast("uint8_t *", ffi.from_buffer(flags))
            self._invoke(lib.tn_bodies_read_awake, ffi.NULL, len(flags), pointer, 0)
        return flags.astype(bool)

    def _ids(self, bodies: Optional[Sequence[Body]]) -> Tuple[Any, int]:
        if bodies is None:
            return ffi.NULL, self._body_count()
        kind = ffi.typeof("tn_body_id")
        ids = [to_c(kind, body, "bodies") for body in bodies]
        return ffi.new("tn_body_id[]", ids), len(ids)

    def _write(self, function: Any, values: ArrayLike, width: int, name: str, bodies: Any) -> None:
        ids, count = self._ids(bodies)
        rows = rows_in(values, (count, width), name)
        pointer = ffi.from_buffer(rows) if rows.size else ffi.NULL
        if count and not self._invoke(function, ids, count, lib.TN_DOUBLE, pointer, 0):
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
