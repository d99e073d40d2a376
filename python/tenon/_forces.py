"""Sums of the forces of contacts."""

from __future__ import annotations

import numpy as np

from ._convert import Array


def contact_forces(contacts: Array, slots: Array) -> Array:
    """Forces of contacts on the bodies of slots, which rise: (slots, 3), N."""
    points = contacts["points"]["normal_force"]
    used = np.arange(points.shape[-1]) < contacts["count"][:, None]
    pressed = np.where(used, points, 0.0).sum(-1, dtype=float)
    force = contacts["normal"] * pressed[:, None] + contacts["friction_force"]
    total = np.zeros((len(slots), 3))
    for side, sign in (("body_a", -1.0), ("body_b", 1.0)):
        index = contacts[side]["index"]
        rows = np.minimum(np.searchsorted(slots, index), max(len(slots) - 1, 0))
        mine = slots[rows] == index if len(slots) else np.zeros(len(index), bool)
        np.add.at(total, rows[mine], sign * force[mine])
    return total
