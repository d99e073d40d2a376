"""Arrays in the memory of a card, which learners take without a copy."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._convert import Array, ArrayLike, Error, rows_in
from ._native import ffi, lib

_CUDA = 2  # of DLPack
_REASON = 400

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def _asked(function: Any, *arguments: Any) -> Any:
    """Calls a function that says in its last two arguments why it fails."""
    why = ffi.new(f"char[{_REASON}]")
    result = function(*arguments, why, _REASON)
    if not result:
        raise Error(ffi.string(why).decode("utf-8", "replace"))
    return result


def check_card() -> None:
    """Raises the reason why batches cannot be on a card here."""
    _asked(lib.tnp_card_is_there)


def cuda_available() -> bool:
    """Whether Batch(..., device="cuda") can work here; Batch() says why not."""
    return bool(lib.tnp_card_is_there(ffi.new(f"char[{_REASON}]"), _REASON))


def _drop(card: Any, pid: int) -> None:
    if os.getpid() == pid:  # a forked child has no use of the card
        lib.tnp_card_drop(card)


class CardArray:
    """An array of floats in the memory of a card.

    `torch.from_dlpack(array)` and the like take it without a copy, and see what later steps write
    there; so do libraries that know `__cuda_array_interface__`. It stays valid as long as somebody
    holds it. Calls of a batch have finished when they return; finish what a learner does on a
    stream of its own before the next call.
    """

    def __init__(self, shape: Tuple[int, ...], dtype: Any = np.float64) -> None:
        self.dtype = np.dtype(dtype)
        """float32 or float64"""
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TypeError(f"dtype must be float32 or float64, not {self.dtype}")
        self.shape = tuple(shape)
        """as of a numpy array"""
        self._card = _asked(lib.tnp_card_new, self.nbytes)
        weakref.finalize(self, _drop, self._card, os.getpid()).atexit = False

    @property
    def nbytes(self) -> int:
        """Its size, bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def address(self) -> int:
        """Where it is, on the card."""
        return int(ffi.cast("uintptr_t", lib.tnp_card_address(self._card)))

    def numpy(self) -> Array:
        """A copy in the memory of the host."""
        copied = np.empty(self.shape, self.dtype)
        if copied.size:
            _asked(lib.tnp_card_read, self._card, ffi.from_buffer(copied))
        return copied

    def set(self, values: ArrayLike) -> None:
        """Copies numbers of the host to the card; they are broadcast to its shape."""
        given = rows_in(np.broadcast_to(np.asarray(values), self.shape), self.shape, "values", self.dtype)
        if given.size:
            _asked(lib.tnp_card_write, self._card, ffi.from_buffer(given))

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _CUDA, 0

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A capsule for from_dlpack(); what is on the card is complete, whatever the stream."""
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError("the array is given where it is; numpy() copies it to the host")
        bits = 8 * self.dtype.itemsize
        tensor = lib.tnp_card_tensor(self._card, bits, self.shape, len(self.shape))
        if not tensor:
            raise MemoryError("there is no memory for the description of the array")
        ends = ffi.addressof(lib, "tnp_card_end_capsule")
        pointers = [int(ffi.cast("uintptr_t", pointer)) for pointer in (tensor, ends)]
        return _new_capsule(pointers[0], b"dltensor", pointers[1])

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3}

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise TypeError("the array is on a card: numpy() copies it")

    def __reduce__(self) -> Any:
        raise Error("an array on a card cannot be copied or pickled: numpy() copies it to the host")

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<CardArray {' x '.join(map(str, self.shape))} of {self.dtype} on cuda:0>"


def card_rows(array: Any, shape: Tuple[int, ...]) -> Any:
    """An array on the card, of anybody, as tn_batch_rows; None if it is of the host."""
    described = getattr(array, "__cuda_array_interface__", None)
    if described is None:
        return None
    if tuple(described["shape"]) != shape:
        raise ValueError(f"values must have the shape {shape}, not {tuple(described['shape'])}")
    dtype = np.dtype(described["typestr"])
    types = {np.dtype(np.float32): lib.TN_FLOAT, np.dtype(np.float64): lib.TN_DOUBLE}
    if dtype not in types:
        raise TypeError(f"values must be float32 or float64, not {dtype}")
    tight = np.cumprod((dtype.itemsize, *shape[:0:-1]))[::-1]
    strides = described.get("strides")
    if strides is not None and any(n > 1 and s != t for n, s, t in zip(shape, strides, tight)):
        raise ValueError("values must lie without gaps in the order of C: make them contiguous")
    pointer = ffi.cast("void *", described["data"][0])
    return ffi.new("tn_batch_rows *", {"data": pointer, "type": types[dtype], "on_device": True})


__all__ = ["CardArray", "cuda_available"]
