"""Recordings of a world: energies and poses over time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, List

import numpy as np

from ._convert import Array, Error, to_c
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._world import World


class Recording:
    """What a world does from now on: a row for each step.

    It ends when the number of bodies or soft bodies changes, or with stop().
    """

    def __init__(self, world: "World", *, poses: bool = True, limit: int = 100000) -> None:
        self._world = world
        self._limit = to_c(ffi.typeof("uint32_t"), limit, "limit")
        self._poses = to_c(ffi.typeof("bool"), poses, "poses")
        self._time: List[float] = []
        self._energy: List[Any] = []
        self._frames: List[Array] = []
        self._shape = self._layout()
        self._lock = threading.Lock()
        world._recorder = self._note
        self._note()

    def _layout(self) -> Any:
        c = self._world.counters
        return c.bodies, c.softs, c.particles

    def _note(self) -> None:
        world = self._world
        if self._layout() != self._shape or len(self._time) >= self._limit:
            self.stop()
            return
        e = world._invoke(lib.tn_world_energy)
        rows = [world.poses.astype(np.float32).ravel()] if self._poses else []
        if self._poses:
            rows += [soft.positions.astype(np.float32).ravel() for soft in world.softs]
        with self._lock:
            self._time.append(world.time)
            self._energy.append((e.kinetic, e.potential, e.elastic, e.total))
            if rows:
                self._frames.append(np.concatenate(rows))

    def stop(self) -> None:
        """Ends the recording; what there is stays."""
        if self._world._recorder == self._note:
            self._world._recorder = None

    def __len__(self) -> int:
        return len(self._time)

    def __reduce__(self) -> Any:
        raise Error("a recording cannot be copied or pickled: its time, energy and poses can")

    @property
    def time(self) -> Array:
        """Times of the rows, s."""
        return np.array(self._time)

    @property
    def energy(self) -> Array:
        """Energies, J, as a structured array: kinetic, potential, elastic, total."""
        kind = [(n, "f8") for n in ("kinetic", "potential", "elastic", "total")]
        return np.array(self._energy, kind)

    @property
    def poses(self) -> Array:
        """Poses of all bodies: (rows, bodies, 7)."""
        bodies = self._shape[0]
        rows = [frame[: 7 * bodies].reshape(bodies, 7) for frame in self._frames]
        return np.array(rows) if rows else np.zeros((0, bodies, 7), np.float32)

    def plot(self, axes: Any = None) -> Any:
        """Draws the energies over time with matplotlib; returns the axes."""
        if axes is None:
            from matplotlib import pyplot

            _, axes = pyplot.subplots()
        energy = self.energy
        for name in ("kinetic", "potential", "elastic", "total"):
            if energy[name].any():
                axes.plot(self.time, energy[name], label=name)
        axes.set_xlabel("time, s")
        axes.set_ylabel("energy, J")
        if axes.lines:
            axes.legend()
        return axes


__all__ = ["Recording"]
