"""What happened in a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._convert import Array, dtype_of
from ._generated import EventKind
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._world import World


class Events:
    """What happened in the last step, as structured arrays."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def _read(self, kind: int, cname: str) -> Array:
        world = self._world
        count = world._invoke_native(lib.tnp_events, kind, ffi.NULL, 0)
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


__all__ = ["Events"]
