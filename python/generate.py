#!/usr/bin/env python3
"""Writes the declarations and the generated part of the package from the public headers.

    python3 python/generate.py           write tenon/_declarations.cdef and tenon/_generated.py
    python3 python/generate.py --check   compare them with the headers; status 1 if they differ

The headers are the only source: names, types, defaults and docstrings follow them. Functions and
fields of types that Python has no use for (callbacks, pointers of the host) are left out.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from reference import reference

HERE = Path(__file__).resolve().parent

# ---- Headers -------------------------------------------------------------------------------------


@dataclass
class Field:
    name: str
    type: str  # without const
    count: str  # of an array, or empty
    doc: str
    pointer: bool
    const: bool = False


@dataclass
class Struct:
    name: str
    doc: str
    fields: List[Field]


@dataclass
class Enum:
    name: str
    doc: str
    members: List[Tuple[str, int, str]]


@dataclass
class Function:
    name: str
    doc: str
    result: Field
    parameters: List[Field]
    text: str


@dataclass
class Api:
    order: List[str] = field(default_factory=list)  # texts for cffi
    structs: Dict[str, Struct] = field(default_factory=dict)
    enums: Dict[str, Enum] = field(default_factory=dict)
    functions: Dict[str, Function] = field(default_factory=dict)
    constants: List[Tuple[str, str, str]] = field(default_factory=list)


def comment_text(lines: List[str]) -> str:
    return "\n".join(line.strip() for line in lines).strip()


def parse_declarator(text: str, doc: str = "") -> Field:
    text = " ".join(text.split())
    const = text.startswith("const ")
    array = re.search(r"\[([^\]]*)\]$", text)
    count = array.group(1) if array else ""
    if array:
        text = text[: array.start()]
    match = re.match(r"^((?:const )?(?:struct |unsigned )?\w+)((?: const)?[ *]*(?:const \*)?)(\w*)$", text)
    if not match:
        raise ValueError(f"cannot read the declaration '{text}'")
    base = match.group(1).replace("const ", "")
    pointer = "*" in match.group(2)
    if match.group(2).count("*") > 1:
        base += " *"
    return Field(match.group(3), base, count, doc, pointer, const)


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


class Parser:
    """Reads one header; it relies on the project's format."""

    def __init__(self, api: Api, text: str) -> None:
        self.api = api
        self.lines = text.split("\n")
        self.at = 0
        self.doc: List[str] = []

    def run(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith("///"):
                self.doc.append(line[3:])
                self.at += 1
                continue
            self.declaration(line)
            self.doc = []

    def until(self, end: str) -> str:
        first = self.at
        while not re.search(end, without_comments(self.lines[self.at])):
            self.at += 1
        self.at += 1
        return "\n".join(self.lines[first : self.at])

    def declaration(self, line: str) -> None:
        if line.startswith("typedef enum"):
            self.enum(self.until(r"^\}.*;"))
        elif re.match(r"typedef struct \w+ \w+;", line):
            self.at += 1
            self.api.order.append(line)
        elif line.startswith("typedef struct"):
            self.struct(self.until(r"^\}.*;"))
        elif line.startswith("typedef"):
            self.api.order.append(" ".join(without_comments(self.until(r";\s*$")).split()))
        elif line.startswith("TN_API") or re.match(r"[a-z]\w* .*\btnp_\w+\(", line):
            self.function(self.until(r";\s*$"))
        elif line.startswith("static inline"):
            self.until(r"^\}")
        elif line.startswith("#define"):
            self.constant(line)
        else:
            self.at += 1

    def constant(self, line: str) -> None:
        self.until(r"[^\\]$|^$")
        match = re.match(r"#define (TN_[A-Z_]+) +([-\w.+\"]+)(?:\s*///<\s*(.*))?$", line)
        if match and match.group(1) not in ("TN_API",):
            value = re.sub(r"(?<=\d)f$", "", match.group(2))
            doc = match.group(3) or comment_text(self.doc)
            if re.match(r"^[-\d.e+\"]", value):
                self.api.constants.append((match.group(1), value, doc))

    def members(self, text: str, separator: str) -> List[Tuple[str, str]]:
        """Declarations of a block, with their comments before or behind them."""
        body = text[text.index("{") + 1 : text.rindex("}")]
        found: List[Tuple[str, str]] = []
        doc: List[str] = []
        pending = ""
        for raw in body.split("\n"):
            code, mark, comment = raw.partition("///")
            if mark and not comment.startswith("<") and not code.strip() and not pending:
                doc.append(comment)
                continue
            code = without_comments(code).strip()
            if mark and comment.startswith("<"):
                comment = comment[1:]
            if not code and mark and found and not pending:  # a comment that goes on
                name, old = found[-1]
                found[-1] = (name, f"{old} {comment.strip()}")
                continue
            pending = f"{pending} {code}".strip()
            if pending and (pending.endswith(separator) or separator == ","):
                found.append((pending.rstrip(separator + " "), comment_text(doc) or comment.strip()))
                pending, doc = "", []
        return found

    def enum(self, text: str) -> None:
        name = re.search(r"\}\s*(\w+);", without_comments(text))
        assert name
        members: List[Tuple[str, int, str]] = []
        value = 0
        for code, doc in self.members(text, ","):
            label, _, explicit = code.partition("=")
            value = int(explicit, 0) if explicit.strip() else value
            members.append((label.strip(), value, doc))
            value += 1
        self.api.enums[name.group(1)] = Enum(name.group(1), comment_text(self.doc), members)
        listing = ", ".join(f"{label} = {value}" for label, value, _ in members)
        self.api.order.append(f"typedef enum {{ {listing} }} {name.group(1)};")

    def struct(self, text: str) -> None:
        name = re.search(r"\}\s*(\w+);", without_comments(text))
        assert name
        fields = []
        listing = []
        for code, doc in self.members(text, ";"):
            code = " ".join(code.split())
            listing.append(f"  {code};")
            if "(" in code:
                label = re.search(r"\(\*(\w+)\)", code)
                assert label
                fields.append(Field(label.group(1), "function", "", doc, True))
            else:
                fields.append(parse_declarator(code, doc))
        self.api.structs[name.group(1)] = Struct(name.group(1), comment_text(self.doc), fields)
        self.api.order.append(
            "typedef struct {\n" + "\n".join(listing) + f"\n}} {name.group(1)};"
        )

    def function(self, text: str) -> None:
        code = " ".join(without_comments(text).replace("TN_API", "").split()).rstrip(";")
        if "(*" in code:  # of the host, which has no use for it here
            return
        match = re.match(r"^(.*?)\b(tnp?_\w+)\((.*)\)$", code)
        if not match:
            raise ValueError(f"cannot read the function '{code}'")
        result = parse_declarator(match.group(1).strip() + " result")
        arguments = match.group(3).strip()
        parameters = (
            [] if arguments == "void" else [parse_declarator(p) for p in arguments.split(",")]
        )
        self.api.functions[match.group(2)] = Function(
            match.group(2), comment_text(self.doc), result, parameters, code
        )
        self.api.order.append(code + ";")


HEADERS = [
    "include/tenon/base.h",
    "include/tenon/id.h",
    "include/tenon/math.h",
    "include/tenon/types.h",
    "include/tenon/bulk.h",
    "include/tenon/tenon.h",
    "import/include/tenon/import.h",
    "batch/include/tenon/batch.h",
    "python/glue/glue.h",
]


def source_root() -> Path:
    inside = HERE / "csrc"
    return inside if inside.is_dir() else HERE.parent


def header_paths(root: Path) -> List[Path]:
    """The public headers; those without a place in the order above come before tenon.h."""
    known = [root / name for name in HEADERS]
    if not known[-1].exists():  # in a source distribution
        known[-1] = HERE / "glue/glue.h"
    more = sorted(set((root / "include/tenon").glob("*.h")) - set(known))
    at = HEADERS.index("include/tenon/tenon.h")
    return known[:at] + more + known[at:]


def read_headers() -> Api:
    api = Api()
    for path in header_paths(source_root()):
        Parser(api, path.read_text()).run()
    for name in api.structs:
        found = re.match(r"^tn_(\w+)_id$", name)
        if found:
            HANDLES[name] = PREFIXES[found.group(1)] = camel(found.group(1))
    return api


def declarations(api: Api) -> str:
    head = "// Written by generate.py from the public headers: do not edit.\n"
    text = "\n".join(api.order) + "\n"
    for name, value, _ in api.constants:  # cffi knows no macros
        text = re.sub(rf"\[{name}\]", f"[{value}]", text)
    return head + text


# ---- The generated part of the package -----------------------------------------------------------

MATHS = {"tn_vec3": "Vec3", "tn_pos": "Vec3", "tn_quat": "Quat"}
NUMBERS = {"float": "float", "double": "float", "int": "int", "bool": "bool"}
NUMBERS.update({f"uint{n}_t": "int" for n in (8, 16, 32, 64)})
NUMBERS.update({"int32_t": "int", "size_t": "int"})
# Handles with a class of their own in _handles.py; those of other ids are generated as a whole.
WRITTEN = ("body", "shape", "joint", "soft", "attachment", "geometry")
PREFIXES = {"world": "World"}
HANDLES: Dict[str, str] = {}  # by the name of the id
# Structures that are not values of Python: definitions, and what is read as arrays.
NO_VALUES = re.compile(r"_(def|id)$|^tn_(allocator|debug_draw|soft_skin|geometry_source|convex_parts)$|^tnp_")
# Fields that only a host in C needs.
HOST_FIELDS = {"user_data", "cookie", "log_repeats", "context"}
# Written by hand, because they need more than a call.
BY_HAND = {
    "tn_world_create", "tn_world_destroy", "tn_world_step", "tn_world_hash", "tn_world_save",
    "tn_world_restore", "tn_world_copy", "tn_world_save_state", "tn_world_restore_state", "tn_world_profile", "tn_world_ray", "tn_world_rays", "tn_world_moved",
    "tn_world_cast", "tn_world_overlap", "tn_world_overlap_softs", "tn_world_overlap_box",
    "tn_world_closest_point", "tn_world_reach", "tn_joint_def_at", "tn_joint_def_between",
    "tn_world_contact_events", "tn_world_sleep_events", "tn_world_soft_events",
    "tn_world_joint_breaks", "tn_shape_box", "tn_soft_mesh_free", "tn_body_name",
    "tn_body_set_name", "tn_body_is_valid", "tn_soft_apply_forces",
}


def camel(name: str) -> str:
    text = re.sub(r"^tn_", "", name)
    return "".join(part.capitalize() for part in text.split("_"))


def spaced(doc: str) -> str:
    return doc.replace("\\", "\\\\").replace('"""', "'''")


def python_name(match: "re.Match[str]") -> str:
    """tn_body_set_mass() as Body.mass, where a class has the rest of the name."""
    prefix, rest = match.group(1), match.group(2)
    if prefix not in PREFIXES:
        return match.group(0)
    return f"{PREFIXES[prefix]}.{re.sub('^(get|is|set)_', '', rest)}"


def pythonic(doc: str) -> str:
    """A comment of C in the words of the package."""
    doc = re.sub(r"[;,] parameters\s+and\s+result\s+as\s+of\s+\w+\(\)", "", doc)
    doc = re.sub(r"`?\btn_default_\w+\(\)`?", "the default", doc)
    doc = re.sub(r"\btn_([a-z]+)_(\w+)\(\)", python_name, doc)
    doc = re.sub(r"\bTN_(METHOD|BODY|COMBINE|SOFT|DRIVE)_([A-Z_]+)\b", r"\2", doc)
    return spaced(doc)


PARAMETER = re.compile(r"^@(param|return)\b", re.M)


def summary(doc: str) -> str:
    """A comment without its parameters and result."""
    match = PARAMETER.search(doc)
    return doc[: match.start()].strip() if match else doc


def with_parameters(doc: str, names: List[str]) -> str:
    """A comment with those of its parameters that Python has."""
    match = PARAMETER.search(doc)
    if not match:
        return doc
    kept = [summary(doc), ""]
    for part in re.split(r"^(?=@)", doc[match.start() :], flags=re.M):
        found = re.match(r"@param (\w+)\s+", part)
        if found and found.group(1) in names:
            kept.append(f"{found.group(1)}: {' '.join(part[found.end():].split())}")
    return "\n".join(kept).strip()


def doc_lines(doc: str, indent: str) -> List[str]:
    lines = pythonic(doc).split("\n")
    if len(lines) == 1 and len(lines[0]) < 90:
        return [f'{indent}"""{lines[0]}"""']
    return [f'{indent}"""{lines[0]}'] + [f"{indent}{line}".rstrip() for line in lines[1:]] + [f'{indent}"""']


# Methods of a world that make something from a definition.
HIDDEN = {"joint": ("kind", "body_a", "body_b"), "attachment": ("soft", "particle", "body")}
ADDERS = [
    ("body", "add_body", "Body", ["*shapes: ShapeSpecBase"], "self._add_body(shapes, values)",
     "Adds a body with any number of shapes."),
    ("joint", "add_joint", "Joint",
     ["kind: Union[JointKind, str, int]", "body_a: Optional[Body]", "body_b: Optional[Body] = None",
      "*", "point: Optional[Vector] = None", "axis: Vector = (1.0, 0.0, 0.0)",
      "points: Optional[Tuple[Vector, Vector]] = None"],
     "self._add_joint(kind, body_a, body_b, (point, axis, points), values)",
     """Adds a joint between two bodies, or a body and the world (None).

        Its frames meet at `point` with the axis a along `axis`, as the bodies stand now; or `points`
        gives one for each body, and the axis is from one to the other. Otherwise frame_a and frame_b
        are used."""),
    ("soft", "add_soft", "Soft",
     ["mesh: SoftMesh", "*", "pinned: Sequence[int] = ()"],
     "self._add_soft(mesh, pinned, values)",
     "Adds a soft body; particles `pinned` stay where they are."),
    ("attachment", "attach", "Attachment",
     ["soft: Soft", "particle: int", "body: Optional[Body] = None"],
     "self._attach(soft, particle, body, values)",
     """Ties a particle to a point of a body or of the world (None).

        Without `point` it is where the particle is now."""),
]


class Writer:
    def __init__(self, api: Api) -> None:
        self.api = api
        self.out: List[str] = []
        self.values = [s for s in api.structs.values() if self.is_value(s)]
        self.names = {s.name: camel(s.name) for s in self.values}
        self.names["tn_transform"] = "Transform"

    def is_value(self, struct: Struct) -> bool:
        return (
            not NO_VALUES.search(struct.name)
            and struct.name not in MATHS
            and struct.name not in ("tn_transform", "tn_range", "tn_sym3")
            and not any(f.pointer and f.type != "char" and f.name not in HOST_FIELDS for f in struct.fields)
        )

    # -- Types of Python

    def result_type(self, f: Field) -> Optional[str]:
        """The type that a value of C is read as; None if Python has no use for it."""
        if f.pointer:
            return "str" if f.type == "char" else None
        if f.count:
            return "Array"
        if f.type in MATHS:
            return "Array"
        if f.type == "tn_sym3":
            return "Array"
        if f.type == "tn_range":
            return "Tuple[float, float]"
        if f.type in HANDLES:
            return f'Optional[{HANDLES[f.type]}]'
        if f.type in self.api.enums:
            return camel(f.type)
        return NUMBERS.get(f.type) or self.names.get(f.type)

    def argument_type(self, f: Field) -> Optional[str]:
        if f.pointer:
            return "str" if f.type == "char" and f.const else None
        if f.count:
            element = self.argument_type(Field(f.name, f.type, "", f.doc, False))
            return f"Sequence[{element}]" if element else None
        if f.type == "tn_range":
            return "Tuple[float, float]"
        if f.type in MATHS:
            return "Vector"
        if f.type == "tn_sym3":
            return "Matrix"
        if f.type == "tn_transform":
            return "TransformLike"
        if f.type in HANDLES:
            return f'Optional[{HANDLES[f.type]}]'
        if f.type in self.api.enums:
            return f"Union[{camel(f.type)}, str, int]"
        if f.type in self.names:
            return f"Union[{self.names[f.type]}, Mapping[str, Any]]"
        return NUMBERS.get(f.type)

    # -- Enums and values

    def enums(self) -> None:
        for e in self.api.enums.values():
            values = [value for _, value, _ in e.members]
            is_flags = len(values) > 3 and all(v & (v - 1) == 0 for v in values) and max(values) > 8
            self.out += ["", "", f"class {camel(e.name)}(enum.{'IntFlag' if is_flags else 'IntEnum'}):"]
            self.out += doc_lines(e.doc, "    ") + [""]
            shared = e.members[0][0]
            for label, _, _ in e.members[1:]:
                while not label.startswith(shared):
                    shared = shared[: shared[:-1].rfind("_") + 1]
            if len(e.members) == 1:
                shared = "TN_"
            for label, value, doc in e.members:
                name = label[len(shared) :]
                if name.endswith("COUNT"):
                    continue
                name = name + "_" if name.lower() in ("none",) else name
                self.out += [f"    {name} = {value}"]
                if doc:
                    self.out += doc_lines(doc, "    ")

    def structs(self) -> None:
        for s in self.values:
            self.out += ["", "", "@dataclass", f"class {self.names[s.name]}(Value):"]
            self.out += doc_lines(s.doc, "    ") + [""]
            self.out += [f'    _ctype = "{s.name}"', ""]
            for f in s.fields:
                kind = self.result_type(f)
                if f.name in HOST_FIELDS or kind is None or f.type == "function":
                    continue
                self.out += [f"    {f.name}: {kind} = UNSET"]
                if f.doc:
                    self.out += doc_lines(f.doc, "    ")

    # -- Keyword arguments

    def keywords(self, struct: str, leave_out: Tuple[str, ...] = ()) -> List[Tuple[Field, str]]:
        found = []
        for f in self.api.structs[struct].fields:
            kind = self.argument_type(f)
            if f.name in HOST_FIELDS or f.name in leave_out or kind is None or f.name.endswith("_count"):
                continue
            found.append((f, kind))
        return found

    def keyword_method(self, name: str, first: List[str], struct: str, result: str, doc: str,
                       call: str, leave_out: Tuple[str, ...] = ()) -> None:
        keys = self.keywords(struct, leave_out)
        self.out += ["", f"    def {name}("]
        star = [] if any(text.startswith("*") for text in first) else ["*"]
        self.out += [f"        {text}," for text in ["self"] + first + star]
        taken = {text.split(":")[0].strip("* ") for text in first}
        names = {f.name: f"{f.name}_values" if f.name in taken else f.name for f, _ in keys}
        for f, kind in keys:
            self.out += [f"        {names[f.name]}: {kind} = UNSET,"]
        self.out += [f"    ) -> {result}:"]
        self.out += [f'        """{spaced(doc)}', "", "        Omitted arguments have the defaults of the engine.", ""]
        for f, _ in keys:
            self.out += [f"        {names[f.name]}: {pythonic(f.doc)}".replace("\n", " ")]
        self.out += ['        """', "        values = {"]
        self.out += [f'            "{f.name}": {names[f.name]},' for f, _ in keys]
        self.out += ["        }", f"        {call}"]

    # -- Classes of handles

    def functions_of(self, prefix: str) -> List[Function]:
        return [
            f
            for f in self.api.functions.values()
            if f.name.startswith(f"tn_{prefix}_")
            and f.parameters
            and f.parameters[0].type == "tn_world"
            and f.name not in BY_HAND
            and "user_data" not in f.name
            and not re.search(r"_(create|destroy|is_valid|get_def|set_def)$", f.name)
        ]

    def own_parameters(self, prefix: str, f: Function) -> Optional[List[Field]]:
        """Parameters behind the world and the id; None if it does not take the id."""
        rest = f.parameters[1:]
        if prefix == "world":
            return rest
        if not rest or rest[0].type != f"tn_{prefix}_id" or rest[0].pointer:
            return None
        return rest[1:]

    def list_result(self, rest: List[Field]) -> Optional[Tuple[str, str]]:
        """Of a function that fills an array: type of Python and of the elements."""
        if len(rest) < 2 or rest[-1].name != "capacity" or not rest[-2].pointer or len(rest) > 2:
            return None
        element = rest[-2].type
        if element in HANDLES:
            return f"List[{HANDLES[element]}]", element
        return "Array", element

    def property(self, name: str, kind: str, doc: str, body: str) -> None:
        self.out += ["", "    @property", f"    def {name}(self) -> {kind}:"]
        self.out += doc_lines(summary(doc), "        ") + [f"        {body}"]

    def getter_name(self, prefix: str, function: str) -> str:
        return re.sub(r"^(get|is)_", "", function[len(f"tn_{prefix}_") :])

    def setter(self, prefix: str, name: str) -> Optional[Function]:
        f = self.api.functions.get(f"tn_{prefix}_set_{name}")
        rest = self.own_parameters(prefix, f) if f and f.name not in BY_HAND else None
        if not f or rest is None or not rest:
            return None
        if len(rest) == 1 and self.argument_type(rest[0]) and rest[0].name != "particle":
            return f
        if len(rest) == 2 and rest[0].pointer and rest[1].name == "count":
            return f
        return None

    def write_property(self, prefix: str, f: Function, rest: List[Field], done: set) -> bool:
        name = self.getter_name(prefix, f.name)
        many = self.list_result(rest)
        if many:
            kind, element = many
            body = f'return self._list(lib.{f.name}, "{element}")'
        elif not rest and (kind0 := self.result_type(f.result)) and f.result.type != "void" and (
            f.parameters[0].const
        ):
            kind = kind0
            body = f"return self._get(lib.{f.name})"
        else:
            return False
        self.property(name, kind, f.doc, body)
        done.add(name)
        s = self.setter(prefix, name)
        if s:
            value = self.own_parameters(prefix, s)
            assert value
            kind = "ArrayLike" if value[0].pointer else (self.argument_type(value[0]) or "")
            call = "_set_list" if value[0].pointer else "_set"
            kind = "Any" if kind != self.result_type(f.result) else kind
            self.out += ["", f"    @{name}.setter", f"    def {name}(self, value: {kind}) -> None:"]
            old = f", lib.{f.name}" if value[0].type in self.names and value[0].type != "tn_transform" else ""
            self.out += [f'        self.{call}(lib.{s.name}, "{value[0].type}", "{name}", value{old})']
            done.add(s.name)
        return True

    def write_method(self, prefix: str, f: Function, rest: List[Field]) -> None:
        types = [self.argument_type(p) for p in rest]
        is_status = f.result.type == "bool" and not f.parameters[0].const
        kind = "None" if is_status or f.result.type == "void" else self.result_type(f.result)
        if None in types or kind is None:
            return
        name = f.name[len(f"tn_{prefix}_") :]
        arguments = "".join(f", {p.name}: {t}" for p, t in zip(rest, types))
        pairs = "".join(f', ("{p.type}", "{p.name}", {p.name})' for p in rest)
        getter = self.api.functions.get(f.name.replace("_set_", "_", 1))
        if kind == "None" and getter and rest and len(getter.parameters) == len(f.parameters) - 1:
            pairs += f", old=lib.{getter.name}"
        call = f"self._{'do' if kind == 'None' else 'call'}(lib.{f.name}{pairs})"
        self.out += ["", f"    def {name}(self{arguments}) -> {kind}:"]
        self.out += doc_lines(with_parameters(f.doc, [p.name for p in rest]), "        ")
        self.out += [f"        {call}" if kind == "None" else f"        return cast({kind!r}, {call})"]

    def definition_properties(self, prefix: str, done: set) -> None:
        """Fields of the definition that have no function of their own."""
        name = f"tn_{prefix}_def"
        if f"tn_{prefix}_get_def" not in self.api.functions:
            return
        for f, kind in self.keywords(name):
            result = self.result_type(f)
            if f.name in done or result is None:
                continue
            if f.type in HANDLES:
                self.property(f.name, result, f.doc, f'return cast({result!r}, self._field("{f.name}"))')
                continue
            self.property(f.name, result, f.doc, f'return cast({result!r}, self._field("{f.name}"))')
            self.out += ["", f"    @{f.name}.setter", f"    def {f.name}(self, value: Any) -> None:",
                         f'        self._configure({{"{f.name}": value}})']
            done.add(f.name)
        self.keyword_method("configure", [], name, "None",
                            "Changes several settings at once, or none of them.",
                            "self._configure(values)")

    def handle_class(self, prefix: str) -> None:
        title = PREFIXES[prefix]
        base = "WorldCalls" if prefix == "world" else "Handle"
        id_struct = self.api.structs.get(f"tn_{prefix}_id")
        doc = id_struct.doc if id_struct else "Functions of a world."
        own = prefix != "world" and prefix not in WRITTEN
        self.out += ["", "", f"class {title}{'' if own else 'Base'}({base}):"] + doc_lines(doc, "    ") + [""]
        self.out += [f'    _prefix = "tn_{prefix}"'] if prefix != "world" else []
        self.out += [f'    _ctype = "tn_{prefix}_id"'] if own else []
        self.out += ["    __slots__ = ()"]
        if prefix == "world":
            self.keyword_method("__init__", [], "tn_world_def", "None",
                                "Makes an empty world.", "self._create(values)")
            for part, name, result, first, call, doc in ADDERS:
                self.keyword_method(name, first, f"tn_{part}_def", result, doc,
                                    f"return {call}", HIDDEN.get(part, ()))
            for part in PREFIXES:
                self.plain_adder(part)
        done: set = set()
        later = []
        for f in self.functions_of(prefix):
            rest = self.own_parameters(prefix, f)
            if rest is None or f.name in done:
                continue
            if not self.write_property(prefix, f, rest, done):
                later.append((f, rest))
        for f, rest in later:
            done.add(f.name[len(f"tn_{prefix}_") :])
            if f.name not in done and not any(p.pointer and p.type != "char" for p in rest):
                self.write_method(prefix, f, rest)
        if prefix not in ("world", "geometry"):
            self.definition_properties(prefix, done)

    def plain_adder(self, part: str) -> None:
        """A method for a kind of thing that this script does not know by name."""
        create = self.api.functions.get(f"tn_{part}_create")
        if part in WRITTEN or not create or f"tn_{part}_def" not in self.api.structs:
            return
        takes = [p.type for p in create.parameters] == ["tn_world", f"tn_{part}_def"]
        if takes and f"tn_default_{part}_def" in self.api.functions:
            default = self.api.functions[f"tn_default_{part}_def"]
            first = ["kind: Any"] if default.parameters else []
            call = f'self._add("tn_{part}", values{", kind" if first else ""})'
            self.keyword_method(f"add_{part}", first, f"tn_{part}_def", PREFIXES[part],
                                summary(create.doc), f"return {call}", ("kind",) if first else ())

    def shape_keywords(self) -> None:
        self.out += ["", "", "class ShapeSpecBase(SpecCalls):"]
        self.out += ['    """Arguments that shapes of all kinds take."""', ""]
        sizes = ("kind", "radius", "half_length", "half_extents", "geometry")
        self.keyword_method("_options", [], "tn_shape_def", "None", "Keeps the given arguments.",
                            "self._keep(values)", sizes)

    def run(self) -> str:
        self.out = [HEAD]
        for name, value, doc in self.api.constants:
            self.out += [f"{name[3:]} = {value}"] + ([f"#: {pythonic(doc)}".replace("\n", " ")] if doc else [])
        self.enums()
        self.structs()
        self.out += ["", "", "VALUES: Dict[str, Type[Value]] = {"]
        self.out += [f'    "{s.name}": {self.names[s.name]},' for s in self.values]
        self.out += ["}", "", "ENUMS: Dict[str, Type[enum.IntEnum]] = {"]
        self.out += [f'    "{e}": {camel(e)},  # type: ignore[dict-item]' if False else f'    "{e}": cast(Type[enum.IntEnum], {camel(e)}),' for e in self.api.enums]
        self.out += ["}"]
        self.shape_keywords()
        for prefix in PREFIXES:
            self.handle_class(prefix)
        others = [f'"{i}": {n}' for i, n in HANDLES.items() if i[3:-3] not in WRITTEN]
        self.out += ["", "", f"OTHER_HANDLES: Dict[str, Type[Handle]] = {{{', '.join(others)}}}"]
        names = [name[3:] for name, _, _ in self.api.constants] + [camel(e) for e in self.api.enums]
        names += [self.names[s.name] for s in self.values]
        names += [n for i, n in HANDLES.items() if i[3:-3] not in WRITTEN]
        self.out += ["", "__all__ = ["] + [f'    "{name}",' for name in names] + ["]"]
        return "\n".join(self.out) + "\n"


HEAD = '''"""Written by generate.py from the public headers: do not edit."""
# mypy: disable-error-code="misc,no-any-return"

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    Union,
    cast,
)

from ._calls import Handle, SpecCalls, WorldCalls
from ._convert import (
    UNSET,
    Array,
    Matrix,
    Transform,
    TransformLike,
    Value,
    Vector,
)
from ._native import lib

if TYPE_CHECKING:
    from ._handles import Attachment, Body, Geometry, Joint, Shape, Soft
    from ._specs import SoftMesh
'''


def main(arguments: List[str]) -> int:
    api = read_headers()
    generated = Writer(api).run()
    texts = {
        HERE / "tenon/_declarations.cdef": declarations(api),
        HERE / "tenon/_generated.py": generated,
    }
    if (HERE.parent / "docs").is_dir():
        texts[HERE.parent / "docs/python_reference.md"] = reference(generated)
    stale = [p for p, text in texts.items() if not p.exists() or p.read_text() != text]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.name} differs from the headers: run python3 python/generate.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path])
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
