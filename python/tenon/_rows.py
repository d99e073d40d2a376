"""Arrays that steps refresh."""

from __future__ import annotations

from sys import getrefcount
from typing import Callable, Optional, Tuple

import numpy as np

from ._convert import Array, Error
from ._native import ffi


class Rows:
    """Numbers of the engine in memory of Python.

    A step refreshes them if they were read since the step before, or if somebody holds a view of them.
    Otherwise the next read does.
    """

    __slots__ = ("array", "fresh", "pointer", "_fill", "_unchanged", "_was_read")

    def __init__(
        self,
        shape: Tuple[int, ...],
        fill: Callable[["Rows"], None],
        unchanged: Optional[Callable[[], bool]] = None,
    ) -> None:
        """fill: writes the numbers; unchanged: whether the last step has left them as they are."""
        self.array: Array = np.zeros(shape)
        self.pointer = ffi.cast("double *", self.array.ctypes.data)
        self.fresh = self._was_read = False
        self._fill, self._unchanged = fill, unchanged

    def refresh(self) -> None:
        """Reads the numbers."""
        if self.array.size:
            self._fill(self)
        self.fresh = True

    def expect(self) -> None:
        """The next step refreshes the numbers, as if they had been read."""
        self._was_read = True

    def view(self, columns: slice = slice(None)) -> Array:
        """The present numbers, or some columns of them; read-only."""
        if not self.fresh:
            self.refresh()
        self._was_read = True
        view: Array = self.array[..., columns]
        view.flags.writeable = False
        return view

    def after_step(self, repeat: int) -> None:
        """Refreshes the numbers if somebody is going to look at them."""
        # The slot and the argument of getrefcount make two references without a view.
        if not self._was_read and getrefcount(self.array) == 2:
            self.fresh = False
        elif self.fresh and repeat == 1 and self._unchanged is not None and self._unchanged():
            pass
        else:
            self._was_read = False
            try:
                self.refresh()
            except Error:  # what they are of is gone: the next read says so
                self.fresh = False
