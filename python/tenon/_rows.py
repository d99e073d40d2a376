"""Arrays that steps refresh."""

from __future__ import annotations

from sys import getrefcount
from typing import Callable, Tuple

import numpy as np

from ._convert import Array, Error
from ._native import ffi


class Rows:
    """Numbers of the engine in memory of Python.

    A step refreshes them if they were read since the step before, or if somebody holds a view of them.
    Otherwise the next read does.
    """

    __slots__ = ("array", "fresh", "pointer", "_fill", "_was_read")

    def __init__(self, shape: Tuple[int, ...], fill: Callable[["Rows"], None]) -> None:
        """fill: writes the numbers."""
        self.array: Array = np.zeros(shape)
        self.pointer = ffi.cast("double *", self.array.ctypes.data)
        self.fresh = self._was_read = False
        self._fill = fill

    def refresh(self) -> None:
        """Reads the numbers."""
        if self.array.size:
            self._fill(self)
        self.fresh = True

    def view(self) -> Array:
        """The present numbers; read-only."""
        if not self.fresh:
            self.refresh()
        self._was_read = True
        view: Array = self.array[...]
        view.flags.writeable = False
        return view

    def after_step(self) -> None:
        """Refreshes the numbers if somebody is going to look at them."""
        # The slot and the argument of getrefcount make two references without a view.
        if not self._was_read and getrefcount(self.array) == 2:
            self.fresh = False
            return
        self._was_read = False
        try:
            self.refresh()
        except Error:  # what they are of is gone: the next read says so
            self.fresh = False
