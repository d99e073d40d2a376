"""Exact states of worlds: saved, restored, copied, pickled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Tuple, Type, Union

from ._convert import Error
from ._generated import VERSION_STRING, WorldBase
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._articulation import Articulation
    from ._world import World


class State(bytes):
    """The exact state of a world, from World.save()."""

    hash: int

    def __new__(cls, data: bytes, hash: int) -> "State":
        made = super().__new__(cls, data)
        made.hash = hash
        return made

    def __getnewargs__(self) -> Any:
        return bytes(self), self.hash

    def __repr__(self) -> str:
        return f"<State of {len(self)} bytes, hash {self.hash:016x}>"

    __str__ = __repr__


class States(WorldBase):
    """The part of a world that saves and restores it."""

    __slots__ = ()

    _settings: Dict[str, Any]
    _robots: List["Articulation"]
    _time: float
    _colors: Dict[Any, Any]

    @property
    def hash(self) -> int:
        """A fingerprint of the whole state; equal states have equal hashes on every machine."""
        return int(self._invoke(lib.tn_world_hash))

    def save(self) -> State:
        """The exact state, for the same version and machine type."""
        size = self._invoke(lib.tn_world_save, ffi.NULL, 0)
        data = bytearray(size)
        self._invoke(lib.tn_world_save, ffi.from_buffer(data), size)
        return State(bytes(data), self.hash)

    def restore(self, state: Union[State, bytes]) -> None:
        """Replaces everything in the world by a saved state, or changes nothing."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"state must be from save(), not {state!r}")
        data = bytes(state)
        if not self._invoke(lib.tn_world_restore, data, len(data)):
            self._raise("the state is not one of a world")
        self._restructured()

    def save_state(self) -> bytes:
        """The dynamic state: what differs between worlds that have the same things in them.

        A tenth of the bytes and of the time of save(). Masses, materials and settings are not in it.
        """
        size = self._invoke(lib.tn_world_save_state, ffi.NULL, 0)
        data = bytearray(size)
        self._invoke(lib.tn_world_save_state, ffi.from_buffer(data), size)
        return bytes(data)

    def restore_state(self, state: bytes) -> None:
        """Puts the world, or one with the same things in it, into a state from save_state()."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"state must be from save_state(), not {state!r}")
        data = bytes(state)
        if not self._invoke(lib.tn_world_restore_state, data, len(data)):
            self._raise("the state is not one of this world")
        self._touch()

    def copy(self) -> "World":
        """Another world in the same state, with the same robots."""
        return rebuild(*self._parts())

    def _parts(self) -> Tuple[Any, ...]:
        if self._native.run:
            raise Error("a world of a scene cannot be copied; save() and restore() its state")
        return (
            type(self),
            VERSION_STRING,
            self._settings,
            self.save(),
            self._time,
            [robot._parts() for robot in self._robots],
            dict(self._colors),
        )

    def __reduce__(self) -> Any:
        return rebuild, self._parts()

    def __copy__(self) -> "World":
        raise Error("a world cannot be copied in part: use copy() or copy.deepcopy()")

    def __deepcopy__(self, memo: Dict[int, Any]) -> "World":
        made = memo[id(self)] = self.copy()
        return made


def rebuild(
    kind: Type["World"], version: str, settings: Dict[str, Any], state: State, time: float, robots: List[Any],
    colors: Dict[Any, Any],
) -> "World":
    """A world from the parts of another one."""
    if version != VERSION_STRING:
        raise Error(f"a world of version {version} cannot be read by {VERSION_STRING}")
    world = kind(**settings)
    for robot in robots:
        if robot["before"] is not None:
            world.restore(robot["before"])
            robot["kind"]._rebuild(world, robot)  # what it makes gets the ids that it had
    world.restore(state)
    for robot in robots:
        if robot["before"] is None:
            robot["kind"]._rebuild(world, robot)
    world._time = time
    world._colors.update(colors)
    return world


__all__ = ["State"]
