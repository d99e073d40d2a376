#!/usr/bin/env python3
"""Writes the tables of recordings from the public headers.

    python3 scripts/recorded_calls.py           write the three headers
    python3 scripts/recorded_calls.py --check   compare them with the headers; status 1 if they differ

src/data/recorded_calls.h numbers structures and functions that take a world, record_tables.h has
their fields and parameters, src/tools/replay_calls.h a function for each that makes the call with
decoded arguments.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from generate import Api, Field, Function, Parser, Struct  # noqa: E402

HEADERS = ["base", "id", "math", "types", "bulk", "coupling", "tenon"]

SCALARS = {
    "float": "F32",
    "double": "F64",
    "int": "I32",
    "int32_t": "I32",
    "uint32_t": "U32",
    "uint64_t": "U64",
    "size_t": "SIZE",
    "bool": "BOOL",
}

# Arrays of definitions: field, what they hold, the field with their number, and how many of each.
ARRAYS = {
    "tn_soft_def": {
        "vertices": ("vertex_count", 1),
        "edges": ("edge_count", 2),
        "triangles": ("triangle_count", 3),
        "tetrahedra": ("tetrahedron_count", 4),
        "hexahedra": ("hexahedron_count", 8),
        "tethers": ("tether_count", 2),
        "tether_lengths": ("tether_count", 1),
        "cluster_sizes": ("cluster_count", 1),
        "clusters": ("cluster_count", 0),  # the sum of cluster_sizes, which come first
        "masses": ("vertex_count", 1),
    }
}

# Arrays of calls: parameter, the parameter with their number, and how many of each; 0: the product
# of two parameters.
LISTS = {
    "tn_mesh_create": {"vertices": ("vertex_count", 1), "triangles": ("triangle_count", 3)},
    "tn_height_field_create": {"heights": ("columns", 0)},  # times the next parameter
}

# Not recorded, and not made by a replay: they have other owners, callbacks or host pointers.
LEFT_OUT = re.compile(
    r"tn_world_(create|destroy|draw|ray_all|cast_all|rays|save|restore|copy|save_state|restore_state|profile|set_pair_filter|pair_filter|record_calls)$"
    r"|.*user_data$|tn_bodies_read_.*|tn_geometry_get_source|tn_soft_skin_.*|tn_replay_.*"
    r"|tn_bodies_(energy|momentum)$|tn_.*_events$|tn_world_joint_breaks$|tn_body_name$"
)


def read() -> Api:
    api = Api()
    for name in HEADERS:
        Parser(api, (ROOT / f"include/tenon/{name}.h").read_text()).run()
    return api


class Writer:
    def __init__(self, api: Api) -> None:
        self.api = api
        self.used: list = []

    def is_id(self, name: str) -> bool:
        return bool(re.match(r"^tn_\w+_id$", name))

    def kind(self, name: str) -> str:
        if name in SCALARS:
            return f"RECORD_{SCALARS[name]}, 0"
        if name in self.api.enums:
            return "RECORD_I32, 0"
        if self.is_id(name):
            return "RECORD_ID, 0"
        self.use(name)
        return f"RECORD_STRUCT, TYPE_{name}"

    def use(self, name: str) -> None:
        if name in self.used:
            return
        for f in self.api.structs[name].fields:
            if not f.pointer and f.type in self.api.structs and not self.is_id(f.type):
                self.use(f.type)
        if name not in self.used:
            self.used.append(name)

    def field(self, struct: Struct, f: Field) -> str:
        at = f"offsetof({struct.name}, {f.name})"
        if f.type == "char" and f.pointer:
            return f"{{{at}, 1, RECORD_TEXT, 0, 0, 0, 0}}"
        if f.name == "user_data" or f.type == "function" or f.type == "void":
            return f"{{{at}, 1, RECORD_HOST, 0, 0, 0, 0}}"
        if f.pointer:
            count, each = ARRAYS[struct.name][f.name]
            kind, of = self.kind(f.type).split(", ")
            return (
                f"{{{at}, 1, RECORD_ARRAY, {of}, offsetof({struct.name}, {count}), {each}, {kind}}}"
            )
        kind, of = self.kind(f.type).split(", ")
        count = f.count or "1"
        return f"{{{at}, {count}, {kind}, {of}, 0, 0, 0}}"

    def struct(self, name: str) -> str:
        s = self.api.structs[name]
        fields = list(s.fields)
        if name == "tn_soft_def":  # the sizes of clusters before the clusters
            order = {"clusters": 1}
            fields.sort(key=lambda f: order.get(f.name, 0))
        rows = ",\n".join(self.field(s, f) for f in fields)
        return f"static const record_field {name}_fields[] = {{\n{rows}}};"

    # -- Calls

    def recordable(self, f: Function) -> bool:
        p = f.parameters
        return bool(p) and p[0].type == "tn_world" and not LEFT_OUT.match(f.name)

    def parameter(self, f: Function, at: int) -> str:
        p = f.parameters[at]
        names = [q.name for q in f.parameters]
        lists = LISTS.get(f.name, {})
        if p.type == "char":
            return "{ARG_TEXT, RECORD_TEXT, 0, 0, 0}"
        if p.type == "void":  # rows of numbers: ids, count, type, rows, stride
            return "{ARG_ROWS, RECORD_F32, 0, 0, 0}"
        if not p.pointer:
            return f"{{ARG_VALUE, {self.kind(p.type)}, 0, 0}}"
        kind = self.kind(p.type)
        if not p.const and not p.type.endswith("_def"):
            count = names.index("capacity") - 1 if "capacity" in names else -1
            return f"{{ARG_OUT, {kind}, {count}, 1}}"
        if p.name in lists:
            count, each = lists[p.name]
            return f"{{ARG_LIST, {kind}, {names.index(count) - 1}, {each}}}"
        if "count" in names:
            return f"{{ARG_LIST, {kind}, {names.index('count') - 1}, 1}}"
        return f"{{ARG_POINTER, {kind}, 0, 0}}"

    def argument(self, p: Field, at: int) -> str:
        if p.type == "char":
            return f"(const char *)a[{at}]"
        if p.pointer:
            return f"a[{at}]"
        return f"V({p.type}, {at})"

    def calls(self) -> list:
        return [f for f in self.api.functions.values() if self.recordable(f)]


GUARD = """// Written by scripts/recorded_calls.py from the public headers: do not edit.
#ifndef {0}
#define {0}

{1}
#endif
"""


def names_text(w: Writer) -> str:
    enum = ",\n".join(f"CALL_{f.name}" for f in w.calls())
    types = ",\n".join(f"TYPE_{name}" for name in w.used)
    return GUARD.format(
        "TENON_DATA_RECORDED_CALLS_H",
        f"enum {{\n{types},\nRECORD_TYPE_COUNT\n}};\n\nenum {{\n{enum},\nRECORD_CALL_COUNT\n}};\n",
    )


def table_text(w: Writer) -> str:
    rows = []
    for f in w.calls():
        arguments = ", ".join(w.parameter(f, i) for i in range(1, len(f.parameters))) or "{0, 0, 0, 0, 0}"
        changes = "false" if f.parameters[0].const else "true"
        rows.append(f'{{"{f.name}", {changes}, {len(f.parameters) - 1}, {{{arguments}}}}}')
    structs = [w.struct(name) for name in w.used]
    type_rows = ",\n".join(
        f'{{"{n}", sizeof({n}), {n}_fields, sizeof {n}_fields / sizeof(record_field)}}' for n in w.used
    )
    return GUARD.format(
        "TENON_DATA_RECORD_TABLES_H",
        '// Included by record_format.c alone.\n#include "data/record_format.h"\n#include "data/recorded_calls.h"\n\n'
        + "\n".join(structs)
        + f"\n\nconst record_type record_types[] = {{\n{type_rows}}};\n\n"
        + "const record_call_type record_calls[] = {\n"
        + ",\n".join(rows)
        + "};\n",
    )


def thunk_text(w: Writer) -> str:
    thunks, names = [], []
    for f in w.calls():
        if f.name == "tn_world_step":
            continue
        arguments = "".join(", " + w.argument(p, i) for i, p in enumerate(f.parameters[1:]))
        names.append(f"[CALL_{f.name}] = make_{f.name}")
        thunks.append(f"MAKE({f.name}, w{arguments})")
    return GUARD.format(
        "TENON_TOOLS_REPLAY_CALLS_H",
        "// Included by replay.c alone. Argument i of a call, after the world, is at a[i].\n"
        '#include "data/recorded_calls.h"\n\n#include <tenon/tenon.h>\n\n'
        + "#define MAKE(call, ...) static void make_##call(tn_world *w, void **a) { (void)a, (void)call(__VA_ARGS__); }\n"
        + "#define V(type, i) *(type *)a[i]\n\n// clang-format off\n"
        + "\n".join(thunks)
        + "\n// clang-format on\n\n#undef MAKE\n#undef V\n\n"
        + "// Null for a step.\nstatic void (*const replay_functions[RECORD_CALL_COUNT])(tn_world *w, void **a) = {\n"
        + ",\n".join(names)
        + "};\n",
    )


def formatted(text: str) -> str:
    run = subprocess.run(
        ["clang-format", "--assume-filename=src/data/x.h"],
        input=text, capture_output=True, text=True, cwd=ROOT, check=True,
    )
    return run.stdout


def main() -> int:
    w = Writer(read())
    table_text(w)  # finds the structures that are used
    outputs = {
        "src/data/recorded_calls.h": formatted(names_text(w)),
        "src/data/record_tables.h": formatted(table_text(w)),
        "src/tools/replay_calls.h": formatted(thunk_text(w)),
    }
    status = 0
    for name, text in outputs.items():
        path = ROOT / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{name} differs from the headers: run python3 scripts/recorded_calls.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
