"""Values of C to values of Python and back, by the types that cffi knows."""

from __future__ import annotations

import difflib
import enum
from dataclasses import dataclass, fields
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from ._native import ffi

Array = npt.NDArray[Any]
ArrayLike = npt.ArrayLike
Vector = Union[Sequence[float], Array]
Matrix = Union[Sequence[Sequence[float]], Array]


class Error(Exception):
    """A call that the engine refused, with its message. Nothing was changed."""


class _Unset:
    def __repr__(self) -> str:
        return "default"

    def __bool__(self) -> bool:
        return False


UNSET: Any = _Unset()
"""Stands for the default of the engine."""


class Transform(NamedTuple):
    """A pose: takes a point of its frame to position + rotation * point."""

    position: Any
    """m"""
    rotation: Any = (0.0, 0.0, 0.0, 1.0)
    """unit quaternion x y z w"""


TransformLike = Union[Transform, Tuple[Vector, Vector]]


@dataclass
class Value:
    """A structure of the engine. Fields that are not given keep the engine's defaults."""

    _ctype = ""

    def __repr__(self) -> str:
        parts = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__name__}({', '.join(p for p in parts if not p.endswith('=default'))})"


def given(values: Mapping[str, Any]) -> Dict[str, Any]:
    """The values that are not left to the engine."""
    return {name: value for name, value in values.items() if value is not UNSET}


# ---- To C ----------------------------------------------------------------------------------------

SIZES = {"tn_vec3": 3, "tn_pos": 3, "tn_quat": 4, "tn_range": 2}
ENUMS: Dict[str, Type[enum.IntEnum]] = {}
VALUES: Dict[str, Type[Value]] = {}


def numbers(value: Any, count: int, name: str) -> Tuple[float, ...]:
    """A vector as a tuple; the engine checks more than that it is no NaN."""
    try:
        found = tuple(float(x) for x in value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {count} numbers, not {value!r}") from None
    if len(found) != count:
        raise ValueError(f"{name} must be {count} numbers, not {len(found)}")
    if any(x != x for x in found):
        raise Error(f"{name} must not be NaN")
    return found


def number_in(value: Any, name: str) -> float:
    """A number that is finite."""
    found = float(_number_in("double", value, name))
    if not np.isfinite(found):
        raise Error(f"{name} must be finite, not {value!r}")
    return found


def _symmetric(value: Any, name: str) -> Tuple[float, ...]:
    m = np.asarray(value, dtype=float)
    if np.isnan(m).any():
        raise Error(f"{name} must not be NaN")
    if m.shape == (3,):
        m = np.diag(m)
    if m.shape != (3, 3):
        raise ValueError(f"{name} must be a 3 x 3 matrix or 3 moments, not of shape {m.shape}")
    if not np.array_equal(m, m.T):
        raise ValueError(f"{name} must be symmetric")
    return (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])


def _transform(value: Any, name: str) -> Tuple[Any, Any]:
    try:
        position, rotation = value
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a position and a rotation, not {value!r}") from None
    return numbers(position, 3, name), numbers(rotation, 4, name)


def enum_in(cname: str, value: Any, name: str) -> int:
    """A member, its name in any case, or its number."""
    kind = ENUMS[cname]
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int, np.integer)):
            raise ValueError
        if isinstance(value, str):
            return int(kind[value.upper()])
        return int(kind(int(value)))
    except (KeyError, ValueError):
        words = ", ".join(repr(member.name.lower()) for member in kind)
        raise ValueError(f"{name} must be one of {words}, not {value!r}") from None


def _struct(cname: str, value: Any, name: str) -> Dict[str, Any]:
    if isinstance(value, Value):
        if value._ctype != cname:
            raise TypeError(f"{name} must be {VALUES[cname].__name__}, not {type(value).__name__}")
        items = {f.name: getattr(value, f.name) for f in fields(value)}
    elif isinstance(value, Mapping):
        items = dict(value)
    else:
        raise TypeError(f"{name} must be {VALUES[cname].__name__} or a mapping, not {value!r}")
    known = dict(ffi.typeof(cname).fields)
    for key in items:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"{name} has no field '{key}'{hint}")
    return {k: to_c(known[k].type, v, f"{name}.{k}") for k, v in items.items() if v is not UNSET}


def to_c(kind: Any, value: Any, name: str, keep: Any = None) -> Any:
    """A value as cffi takes it for a parameter or a field of type `kind`."""
    cname = kind.cname
    if cname in SIZES:
        return numbers(value, SIZES[cname], name)
    if cname == "tn_transform":
        return _transform(value, name)
    if cname == "tn_sym3":
        return _symmetric(value, name)
    if cname.endswith("_id") and kind.kind == "struct":
        return handle_in(cname, value, name)
    if cname in ENUMS:
        return enum_in(cname, value, name)
    if kind.kind == "struct":
        return _struct(cname, value, name)
    if kind.kind == "array":
        try:
            count = -1 if isinstance(value, (str, bytes, dict)) else len(value)
        except TypeError:
            count = -1
        if not 0 <= count <= kind.length:
            raise ValueError(f"{name} must be up to {kind.length} values, not {value!r}")
        return [to_c(kind.item, x, f"{name}[{i}]") for i, x in enumerate(value)]
    if kind.kind == "pointer":
        return _text_in(value, name, keep)
    return _number_in(cname, value, name)


def handle_in(cname: str, value: Any, name: str) -> Any:
    """The id of a handle; None is null."""
    if value is None:
        return (0, 0, 0)
    if getattr(value, "_ctype", "") != cname:
        raise TypeError(f"{name} must be a handle ({cname[3:-3]}) or None, not {value!r}")
    return value._id


def _text_in(value: Any, name: str, keep: Any) -> Any:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {value!r}")
    if "\0" in value:
        raise ValueError(f"{name} must not contain a null character")
    text = ffi.new("char[]", value.encode())
    if keep is not None:
        keep.append(text)
    return text


def _number_in(cname: str, value: Any, name: str) -> Any:
    if cname == "_Bool" or cname == "bool":
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name} must be True or False, not {value!r}")
        return bool(value)
    if cname in ("float", "double"):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{name} must be a number, not {value!r}") from None
        if number != number:  # the engine does not look at what it has no use for
            raise Error(f"{name} must not be NaN")
        return number
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    try:
        return int(ffi.cast(cname, value.__index__())) if _fits(cname, value.__index__()) else int("")
    except ValueError:
        raise ValueError(f"{name} is out of range: {value!r}") from None


def _fits(cname: str, value: int) -> bool:
    bits = 8 * int(ffi.sizeof(cname))
    unsigned = cname.startswith(("u", "size"))
    lo, hi = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return bool(lo <= value <= hi)


def count_names(name: str) -> Tuple[str, str]:
    """Names that the number of elements of an array may have: points, axes."""
    return f"{name[:-1]}_count", f"{name[:-2]}is_count"


def fill(target: Any, cname: str, values: Mapping[str, Any], keep: List[Any]) -> None:
    """Writes the given values into a structure; the rest stays."""
    known = dict(ffi.typeof(cname).fields)
    for key, value in values.items():
        if value is UNSET:
            continue
        converted = to_c(known[key].type, value, key, keep)
        if isinstance(converted, list):
            counts = [count for count in count_names(key) if count in known]
            for count in counts:
                setattr(target, count, len(converted))
            if not converted and not counts:
                raise ValueError(f"{key} must be 1 to {known[key].type.length} values")
        if isinstance(converted, dict):
            fill_nested(getattr(target, key), converted)
        else:
            fill_nested(target, {key: converted})


def fill_nested(target: Any, values: Mapping[str, Any]) -> None:
    """Writes what _struct() made of a value."""
    for key, value in values.items():
        if isinstance(value, dict):
            fill_nested(getattr(target, key), value)
        elif isinstance(value, list):
            part = getattr(target, key)
            for i, item in enumerate(value):
                if isinstance(item, dict):
                    fill_nested(part[i], item)
                else:
                    part[i] = item
        else:
            setattr(target, key, value)


# ---- From C --------------------------------------------------------------------------------------

Reader = Callable[[Any, Any], Any]


def _read_struct(cname: str) -> Reader:
    kind = VALUES[cname]
    names = [f.name for f in fields(kind)]
    types = dict(ffi.typeof(cname).fields)

    def read(value: Any, world: Any) -> Any:
        return kind(**{n: from_c(types[n].type, getattr(value, n), world) for n in names})

    return read


def from_c(kind: Any, value: Any, world: Any) -> Any:
    """A value of C as one of Python; `world` is for handles."""
    reader = READERS.get(kind.cname)
    if reader is None:
        reader = READERS[kind.cname] = _find_reader(kind)
    return reader(value, world)


def _find_reader(kind: Any) -> Reader:
    cname = kind.cname
    if cname in VALUES:
        return _read_struct(cname)
    if cname in ENUMS:
        members = ENUMS[cname]
        return lambda v, w: members(v)
    if kind.kind == "array":
        if kind.item.kind == "struct":
            return lambda v, w: np.array([from_c(kind.item, x, w) for x in v])
        return lambda v, w: np.array(list(v))
    if kind.kind == "struct" and cname.endswith("_id"):
        return lambda v, w: w._handle(cname, v)
    if kind.kind == "pointer":
        return lambda v, w: ffi.string(v).decode("utf-8", "replace") if v else ""
    return lambda v, w: v


READERS: Dict[str, Reader] = {
    "tn_vec3": lambda v, w: np.array((v.x, v.y, v.z)),
    "tn_pos": lambda v, w: np.array((v.x, v.y, v.z)),
    "tn_quat": lambda v, w: np.array((v.x, v.y, v.z, v.w)),
    "tn_range": lambda v, w: (v.lo, v.hi),
    "tn_transform": lambda v, w: Transform(
        np.array((v.p.x, v.p.y, v.p.z)), np.array((v.q.x, v.q.y, v.q.z, v.q.w))
    ),
    "tn_sym3": lambda v, w: np.array(
        ((v.xx, v.xy, v.xz), (v.xy, v.yy, v.yz), (v.xz, v.yz, v.zz))
    ),
}

# ---- Arrays --------------------------------------------------------------------------------------

NUMBERS = {"float": "f4", "double": "f8", "int": "i4", "_Bool": "?", "bool": "?", "uint32_t": "u4",
           "uint64_t": "u8", "int32_t": "i4", "uint8_t": "u1", "size_t": "u8"}
_DTYPES: Dict[str, Any] = {}


def dtype_of(cname: str) -> "np.dtype[Any]":
    """The numpy type of a structure, field by field at its place; pointers are left out."""
    if cname not in _DTYPES:
        _DTYPES[cname] = _make_dtype(ffi.typeof(cname))
    return _DTYPES[cname]  # type: ignore[no-any-return]


def _make_dtype(kind: Any) -> Any:
    if kind.cname in NUMBERS:
        return np.dtype(NUMBERS[kind.cname])
    if kind.kind == "enum":
        return np.dtype("i4")
    if kind.cname in SIZES:
        return np.dtype(("f8" if kind.cname == "tn_pos" else "f4", (SIZES[kind.cname],)))
    if kind.kind == "array":
        return np.dtype((_make_dtype(kind.item), (kind.length,)))
    parts = [(n, f) for n, f in kind.fields if f.type.kind != "pointer"]
    return np.dtype(
        {
            "names": [n for n, _ in parts],
            "formats": [_make_dtype(f.type) for _, f in parts],
            "offsets": [f.offset for _, f in parts],
            "itemsize": ffi.sizeof(kind),
        }
    )


def rows_in(value: Any, shape: Tuple[int, ...], name: str, dtype: Any = np.float64) -> Array:
    """An array of a shape, -1 for any number, in the order of C."""
    try:
        given_kind = np.asarray(value).dtype.kind
        with np.errstate(all="ignore"):  # what does not fit is refused below, or by the engine
            rows = np.ascontiguousarray(value, dtype=dtype) if given_kind in "fiub" else None
    except (TypeError, ValueError):
        rows = None
    if rows is None:
        raise TypeError(f"{name} must be an array of real numbers, not {value!r}")
    if rows.dtype.kind in "iu" and rows.size and not np.array_equal(rows, value):
        raise TypeError(f"{name} must be whole numbers in range, not {value!r}")
    if rows.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, rows.shape)):
        wanted = " x ".join("n" if n < 0 else str(n) for n in shape)
        raise ValueError(f"{name} must have the shape {wanted}, not {rows.shape}")
    return rows


__all__ = ["Error", "Transform", "UNSET", "Value"]
