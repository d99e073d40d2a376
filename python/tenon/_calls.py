"""Calls of the engine: one thread at a time in a world, and messages as exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Tuple

import numpy as np

from ._convert import NUMBERS, SIZES, Error, count_names, dtype_of, fill, fill_nested, from_c, given, rows_in, to_c
from ._native import ffi, lib
from ._rows import Rows

if TYPE_CHECKING:
    from ._world import World


class WorldCalls:
    """The part of a world that calls the engine."""

    __slots__ = ()  # of all parts: a misspelt attribute of a world is an error
    _native: Any  # tnp_world *
    _ptr: Any  # tn_world *; null once it is closed
    _acquire: Any
    _release: Any
    _views: List[Rows]  # arrays that steps refresh

    def _create(self, values: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def _raise(self, what: str = "") -> None:
        """Raises the first message since the last look."""
        native = self._native
        text = ffi.string(native.error).decode("utf-8", "replace") if native.errors else what
        native.errors = 0
        raise Error(text or "the engine refused the call")

    def _unusable(self) -> Error:
        if not self._ptr:
            return Error("the world is closed")
        return Error("the world is in use by another thread")

    def _invoke(self, function: Any, *arguments: Any) -> Any:
        """Calls the engine; a message of an error is raised."""
        if not self._ptr or not self._acquire(False):
            raise self._unusable()
        try:
            result = function(self._ptr, *arguments)
        finally:
            self._release()
        if self._native.errors:
            self._raise()
        return result

    def _invoke_native(self, function: Any, *arguments: Any) -> Any:
        """The same for functions of the glue."""
        if not self._ptr or not self._acquire(False):
            raise self._unusable()
        try:
            result = function(self._native, *arguments)
        finally:
            self._release()
        if self._native.errors:
            self._raise()
        return result

    def _handle(self, cname: str, value: Any) -> Any:
        raise NotImplementedError

    def _add_body(self, shapes: Any, values: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def _add_joint(self, kind: Any, a: Any, b: Any, frame: Any, values: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def _add_soft(self, mesh: Any, pinned: Any, values: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def _attach(self, soft: Any, particle: int, body: Any, values: Mapping[str, Any]) -> Any:
        raise NotImplementedError

    def _add(self, prefix: str, values: Mapping[str, Any], *kind: Any) -> Any:
        """Makes something of a definition that needs no more than its fields."""
        keep: List[Any] = []
        default = getattr(lib, f"tn_default_{prefix[3:]}_def")
        types = ffi.typeof(default).args
        arguments = [to_c(t, value, "kind") for t, value in zip(types, kind)]
        definition = ffi.new(f"{prefix}_def *", default(*arguments))
        fill(definition, f"{prefix}_def", given(values), keep)
        made = self._handle(f"{prefix}_id", self._invoke(getattr(lib, f"{prefix}_create"), definition))
        if made is None:
            self._raise("it was refused")
        return made

    def _touch(self) -> None:
        """Arrays no longer show the world."""

    def _restructured(self) -> None:
        """Bodies came or went."""

    def _call(self, function: Any, *pairs: Tuple[str, str, Any]) -> Any:
        return call(self, (), function, pairs)

    def _do(self, function: Any, *pairs: Tuple[str, str, Any], old: Any = None) -> None:
        do(self, (), function, pairs, old)

    def _get(self, function: Any) -> Any:
        return from_c(ffi.typeof(function).result, self._invoke(function), self)

    def _set(self, function: Any, ctype: str, name: str, value: Any, old: Any = None) -> None:
        do(self, (), function, ((ctype, name, value),), old)

    def _list(self, function: Any, element: str) -> Any:
        return read_list(self, (), function, element)


class Handle:
    """Names something in a world. It is light: two handles of the same thing are equal."""

    __slots__ = ("_world", "_id")
    _prefix = ""
    _ctype = ""
    _world: World
    _id: Any

    def __init__(self, world: Any, id: Any) -> None:
        self._world = world
        self._id = id

    @property
    def world(self) -> World:
        """The world that it is in."""
        return self._world

    @property
    def id(self) -> Any:
        """Its id as a record, as in contacts and events."""
        record = np.zeros((), dtype_of(self._ctype))
        record["index"], record["generation"] = self._id.index, self._id.generation
        record["world"] = self._id.world
        return record

    @property
    def is_valid(self) -> bool:
        """Whether it is still there."""
        world = self._world
        if not world._ptr:
            return False
        return bool(world._invoke(getattr(lib, f"{self._prefix}_is_valid"), self._id))

    def destroy(self) -> None:
        """Removes it from the world."""
        self._world._invoke(getattr(lib, f"{self._prefix}_destroy"), self._id)
        self._world._restructured()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Handle)
        return self._world is other._world and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Tuple[int, int]:
        return (self._id.index, self._id.generation)

    def __reduce__(self) -> Any:
        return _rebuild_handle, (self._world, self._ctype, self._key())

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            return f"<{name} {self._describe()}>" if self.is_valid else f"<{name}, gone>"
        except Error as error:
            return f"<{name}, {error}>"

    def _describe(self) -> str:
        return f"#{self._id.index - 1}"

    # -- Used by the generated classes

    def _get(self, function: Any) -> Any:
        world = self._world
        return from_c(ffi.typeof(function).result, world._invoke(function, self._id), world)

    def _set(self, function: Any, ctype: str, name: str, value: Any, old: Any = None) -> None:
        do(self._world, (self._id,), function, ((ctype, name, value),), old)

    def _call(self, function: Any, *pairs: Tuple[str, str, Any]) -> Any:
        return call(self._world, (self._id,), function, pairs)

    def _do(self, function: Any, *pairs: Tuple[str, str, Any], old: Any = None) -> None:
        do(self._world, (self._id,), function, pairs, old)

    def _list(self, function: Any, element: str) -> Any:
        return read_list(self._world, (self._id,), function, element)

    def _set_list(self, function: Any, ctype: str, name: str, value: Any) -> None:
        width = SIZES.get(ctype)
        shape = (-1, width) if width else (-1,)
        element = "f8" if ctype == "tn_pos" else NUMBERS.get(ctype, "f4")
        rows = rows_in(value, shape, name, element)
        pointer = ffi.cast(f"{ctype} *", ffi.from_buffer(rows, require_writable=False))
        self._world._invoke(function, self._id, pointer, len(rows))
        self._world._touch()

    def _definition(self) -> Any:
        return self._world._invoke(getattr(lib, f"{self._prefix}_get_def"), self._id)

    def _field(self, name: str) -> Any:
        definition = self._definition()
        known = dict(ffi.typeof(definition).fields)
        value = from_c(known[name].type, getattr(definition, name), self._world)
        for count in count_names(name):
            if count in known and known[name].type.kind == "array":
                return value[: getattr(definition, count)]
        return value

    def _configure(self, values: Mapping[str, Any]) -> None:
        keep: List[Any] = []
        definition = ffi.new(f"{self._prefix}_def *", self._definition())
        fill(definition, f"{self._prefix}_def", given(values), keep)
        done = self._world._invoke(
            getattr(lib, f"{self._prefix}_set_def"), self._id, definition
        )
        if not done:
            self._world._raise("the settings were refused")
        self._world._touch()


def _rebuild_handle(world: Any, cname: str, key: Tuple[int, int]) -> Any:
    return world._handle(cname, ffi.new(f"{cname} *", (*key, world._number()))[0])


def argument(kind: Any, value: Any, name: str, keep: List[Any], old: Any) -> Any:
    """An argument; fields of a structure that are not given are as in `old`, or zero."""
    converted = to_c(kind, value, name, keep)
    if not isinstance(converted, dict):
        return converted
    whole = ffi.new(f"{kind.cname} *") if old is None else ffi.new(f"{kind.cname} *", old)
    fill_nested(whole, converted)
    return whole[0]


def call(world: Any, first: Tuple[Any, ...], function: Any, pairs: Any, getter: Any = None) -> Any:
    """Calls a function with arguments by their types of C."""
    keep: List[Any] = []
    kind = ffi.typeof(function)
    types = kind.args[1 + len(first) :]
    arguments: List[Any] = []
    for i, (t, (_, name, value)) in enumerate(zip(types, pairs)):
        reads = getter is not None and i == len(pairs) - 1 and t.kind == "struct"
        old = world._invoke(getter, *first, *arguments) if reads else None
        arguments.append(argument(t, value, name, keep, old))
    result = world._invoke(function, *first, *arguments)
    return None if kind.result.cname == "void" else from_c(kind.result, result, world)


def do(world: Any, first: Tuple[Any, ...], function: Any, pairs: Any, getter: Any = None) -> None:
    """The same for a function that changes the world and tells whether it could."""
    if call(world, first, function, pairs, getter) is False:
        world._raise(f"{function.__name__} was refused")
    world._touch()


def read_list(world: Any, first: Tuple[Any, ...], function: Any, element: str) -> Any:
    """All that a function lists: handles, or an array."""
    count = world._invoke(function, *first, ffi.NULL, 0)
    if element.endswith("_id"):
        ids = ffi.new(f"{element}[]", max(count, 1))
        count = min(count, world._invoke(function, *first, ids, count))
        return [world._handle(element, ids[i]) for i in range(count)]
    rows = np.zeros(count, dtype_of(element)) if element not in SIZES else np.zeros(
        (count, SIZES[element]), "f8" if element == "tn_pos" else "f4"
    )
    if count:
        world._invoke(function, *first, ffi.cast(f"{element} *", ffi.from_buffer(rows)), count)
    return rows


class SpecCalls:
    """A description that a world makes something of."""

    values: Dict[str, Any]

    def _keep(self, values: Mapping[str, Any]) -> None:
        self.values = given(values)
