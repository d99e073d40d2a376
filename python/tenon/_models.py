"""Files of robots: found, read and built in a world."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from ._convert import Error, fill, given, numbers
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._handles import Body, Joint
    from ._world import World

_NULL = ffi.NULL
ROBOTS = Path(__file__).resolve().parent / "robots"


def find_file(source: str) -> str:
    """A path; where there is no such file, a model of the package of that name, such as "arm"."""
    path = Path(source)
    if path.exists() or path.name != source:
        return source
    own = ROBOTS / path.stem / (path.name if path.suffix else f"{path.name}.xml")
    return str(own) if own.is_file() else source


def text(value: Any) -> str:
    """A text of the engine; empty for none."""
    return str(ffi.string(value).decode("utf-8", "replace")) if value else ""


def read_model(world: "World", source: str, options: Dict[str, Any]) -> Any:
    """Reads a file, or a text that begins with "<"."""
    keep: List[Any] = []
    definition = ffi.new("tn_import_def *", lib.tn_default_import_def())
    given_options = {k: options[k] for k in ("base", "max_hulls", "meshes", "format") if k in options}
    fill(definition, "tn_import_def", given(given_options), keep)
    paths = [ffi.new("char[]", os.fsencode(p)) for p in options.get("search_paths", ())]
    listed = ffi.new("char *[]", paths) if paths else _NULL
    definition.search_paths, definition.search_path_count = listed, len(paths)
    if source.lstrip().startswith("<"):
        data = source.encode()
        model = lib.tnp_parse(world._native, b"text", data, len(data), definition)
    else:
        model = lib.tnp_load(world._native, os.fsencode(find_file(source)), definition)
    if not model:
        world._raise(f"'{source}' cannot be read")
    return ffi.gc(model, lib.tn_model_destroy)


def build(world: "World", model: Any, options: Dict[str, Any]) -> Any:
    """Builds a model in a world."""
    keep: List[Any] = []
    definition = ffi.new("tn_instance_def *", lib.tn_default_instance_def())
    definition.place = (
        numbers(options.get("position", (0, 0, 0)), 3, "position"),
        numbers(options.get("rotation", (0, 0, 0, 1)), 4, "rotation"),
    )
    fill(definition, "tn_instance_def", given({k: options[k] for k in ("y_up", "prefix") if k in options}), keep)
    name = options.get("keyframe")
    if name is not None:
        definition.keyframe = lib.tn_model_find_keyframe(model, str(name).encode())
        if definition.keyframe < 0:
            raise KeyError(f"the file has no keyframe '{name}'")

    def create(pointer: Any) -> Any:
        return lib.tn_instance_create(pointer, model, definition)

    instance = world._invoke(create)
    if not instance:
        raise Error("the model cannot be built in the world")
    return instance


def roots_of(tree: Sequence[Optional["Joint"]], bodies: Sequence["Body"]) -> List["Body"]:
    """Dynamic bodies that no joint of the model hangs on another dynamic body."""
    parents = {joint.body_b: joint.body_a for joint in tree if joint is not None}
    found: List["Body"] = []
    for body in bodies:
        at: Any = body
        above = parents.get(at)
        while above is not None and above.type.name == "DYNAMIC":
            at, above = above, parents.get(above)
        if at.type.name == "DYNAMIC" and at not in found:
            found.append(at)
    return found
