"""Arrays of all bodies of a world."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._convert import Array, ArrayLike, rows_in, to_c
from ._generated import POSE_NUMBERS, VELOCITY_NUMBERS, WorldBase
from ._handles import Body
from ._native import ffi, lib
from ._rows import Rows


class Arrays(WorldBase):
    """The part of a world that reads and writes all bodies at once."""

    _poses: Optional[Rows]
    _rates: Optional[Rows]

    def _body_count(self) -> int:
        return int(self._invoke(lib.tn_world_bodies, ffi.NULL, 0))

    def _fill_poses(self, rows: Rows) -> None:
        self._invoke(lib.tn_bodies_read_poses, ffi.NULL, len(rows.array), lib.TN_DOUBLE, rows.pointer, 0)

    def _fill_rates(self, rows: Rows) -> None:
        self._invoke(lib.tn_bodies_read_velocities, ffi.NULL, len(rows.array), lib.TN_DOUBLE, rows.pointer, 0)

    def _nothing_moved(self) -> bool:
        # A scene may move bodies before its step, which the engine does not list.
        return not self._native.run and not self._invoke(lib.tn_world_moved, ffi.NULL, 0)

    def _pose_rows(self) -> Rows:
        if self._poses is None:
            self._poses = Rows((self._body_count(), POSE_NUMBERS), self._fill_poses, self._nothing_moved)
            self._views.append(self._poses)
        return self._poses

    @property
    def poses(self) -> Array:
        """Position x y z, m, and rotation x y z w of all bodies: (bodies, 7)."""
        return self._pose_rows().view()

    @property
    def positions(self) -> Array:
        """Positions of all bodies, m: (bodies, 3)."""
        return self._pose_rows().view(slice(0, 3))

    @property
    def rotations(self) -> Array:
        """Rotations of all bodies, unit quaternions x y z w: (bodies, 4)."""
        return self._pose_rows().view(slice(3, 7))

    @property
    def velocities(self) -> Array:
        """Velocities, m/s, and angular velocities, rad/s, of all bodies: (bodies, 6)."""
        if self._rates is None:
            self._rates = Rows((self._body_count(), VELOCITY_NUMBERS), self._fill_rates)
            self._views.append(self._rates)
        return self._rates.view()

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
