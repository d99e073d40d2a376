"""Batches whose worlds are on a card: what differs from those on the CPU."""

from __future__ import annotations

import math
import weakref
from typing import Any, Iterator, List, NoReturn, Optional, Tuple

import numpy as np

from ._batch import Batch, _close, _pointer, _whole
from ._card import CardArray, card_rows, check_card
from ._convert import Array, ArrayLike, Error
from ._generated import BatchField, StepStatus
from ._native import ffi, lib
from ._world import World


class CardBatch(Batch):
    """Copies of a world that are stepped on a card of NVIDIA, with the bits that they have on the CPU.

    poses and velocities are arrays in the memory of the card, refreshed there by step() and reset();
    get() and put() read and write the other fields without copies. There are no single worlds, and
    so no coordinates of robots and no controls of their actuators: drives have "targets".
    """

    __slots__ = ("_dtype",)

    def __init__(
        self, world: World, count: int, *, threads: Optional[int] = None, device: str = "cuda",
        dtype: Any = np.float64, world_bytes: int = 0,
    ) -> None:
        check_card()
        n = self._begin(world, count)
        self._dtype = np.dtype(dtype)
        self._native = ffi.new("tnp_batch *")
        self._memory = ffi.new("tnp_world[]", n)  # only their messages are used
        native = self._native
        native.worlds, native.count, native.on_card = self._memory, n, True
        native.world_bytes = _whole(world_bytes, 0, 2**31 - 1, "world_bytes")
        self._open(world, threads)
        self._finalizer = weakref.finalize(self, _close, native, self._pid, self._memory)
        self._poses, self._velocities = self._field_array("poses"), self._field_array("velocities")
        self._changed()

    def _field_array(self, field: str) -> CardArray:
        return CardArray(self._field(field)[1], self._dtype)

    def _new_array(self, shape: Tuple[int, ...]) -> CardArray:
        return CardArray(shape, self._dtype)

    def _changed(self) -> None:
        for field, array in (("poses", self.poses), ("velocities", self.velocities)):
            self.get(field, array)

    def _articulate(self) -> None:
        self._refuse("coordinates of robots")

    # -- Time

    def _problem(self, what: str, otherwise: str, index: Optional[int] = None) -> Error:
        grown = index is not None and self._status[index] & int(StepStatus.OUT_OF_MEMORY)
        if grown and not self._native.worlds[index].errors:
            size = lib.tn_batch_world_bytes(self._native.batch)
            otherwise = f"it has outgrown its {size} bytes on the card: reset() it, or give more world_bytes"
        return super()._problem(what, otherwise, index)

    def step(self, dt: float = 1.0 / 60.0, repeat: int = 1) -> Array:
        """Advances all worlds by `repeat` steps of `dt` s; returns the bits of StepStatus of each."""
        if not (math.isfinite(dt) and dt > 0.0):  # worlds on a card have no messages
            raise Error(f"dt must be positive and finite, not {dt!r}")
        self._run(lambda native: lib.tn_batch_step(native.batch, dt, repeat))
        self._times += dt * repeat
        status = lib.tn_batch_status(self._native.batch)
        self._status[:] = np.frombuffer(ffi.buffer(status, self._status.nbytes), np.uint32)
        self._changed()
        self._check("the step")
        return self.status

    def reset(self, mask: Optional[ArrayLike] = None) -> None:
        """Puts worlds back to their start: all, or those of a mask (worlds,). Parameters stay."""
        chosen = self._mask(mask)
        done = self._run(lambda native: lib.tn_batch_reset(native.batch, _pointer("uint8_t", chosen)))
        self._times[slice(None) if chosen is None else chosen] = 0.0
        self._changed()
        if not done:
            raise self._problem("the reset", "it was refused")

    def keep(self) -> None:
        """Makes the present states the start of reset()."""
        if not self._run(lambda native: lib.tn_batch_keep(native.batch, ffi.NULL)):
            raise self._problem("the states", "there is no memory for them on the card")

    def write(self, mask: Optional[ArrayLike] = None, *, bodies: bool = True) -> None:
        """Hands poses and velocities to the worlds of a mask."""
        chosen = self._mask(mask)
        problems = []
        for field, array in ((BatchField.POSES, self.poses), (BatchField.VELOCITIES, self.velocities)):
            rows = card_rows(array, array.shape)
            problems.append(self._write_rows(field.name.lower(), int(field), array.shape, rows, chosen))
        self._changed()
        for problem in filter(None, problems):
            raise problem

    # -- What only worlds on the CPU have

    def _refuse(self, what: str) -> NoReturn:
        raise Error(f"the worlds are on a card: there are no {what}; use get() and put()")

    def __getitem__(self, index: int) -> World:
        self._refuse("single worlds")

    def __iter__(self) -> Iterator[World]:
        self._refuse("single worlds")

    def set(self, thing: Any, name: str, values: ArrayLike) -> None:
        """Not on a card: put() sets fields."""
        self._refuse("properties of single worlds")

    def derivatives(self, *_: Any, **__: Any) -> Tuple[Array, Array]:
        """Not on a card."""
        self._refuse("derivatives")

    def for_each(self, function: Any) -> List[Any]:
        """Not on a card."""
        self._refuse("single worlds")

    @property
    def poses(self) -> CardArray:
        """Position x y z, m, and rotation x y z w, on the card: (worlds, bodies, 7)."""
        return self._poses  # type: ignore[no-any-return]

    @poses.setter
    def poses(self, values: Any) -> None:
        self._poses.set(values)

    @property
    def velocities(self) -> CardArray:
        """Velocities, m/s, and angular velocities, rad/s, on the card: (worlds, bodies, 6)."""
        return self._velocities  # type: ignore[no-any-return]

    @velocities.setter
    def velocities(self, values: Any) -> None:
        self._velocities.set(values)

    @property  # type: ignore[misc]
    def q(self) -> Array:
        """Not on a card."""
        self._refuse("coordinates of robots")

    @property  # type: ignore[misc]
    def qd(self) -> Array:
        """Not on a card."""
        self._refuse("coordinates of robots")

    @property  # type: ignore[misc]
    def target(self) -> Array:
        """Not on a card: drives have "targets"."""
        self._refuse("controls of robots")

    @property
    def positions(self) -> Array:
        """Not on a card: poses has them."""
        self._refuse("parts of arrays")

    @property
    def rotations(self) -> Array:
        """Not on a card: poses has them."""
        self._refuse("parts of arrays")

    def __repr__(self) -> str:
        return f"<CardBatch of {len(self)} worlds, {self._body_count} bodies each, on cuda:0>"


__all__ = ["CardBatch"]
