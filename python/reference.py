"""The reference of the package from its docstrings, as Markdown: see generate.py."""

import ast
import re
from pathlib import Path
from typing import Dict, Iterator, List

PACKAGE = Path(__file__).resolve().parent / "tenon"
MODULES = ["_world", "_handles", "_events", "_states", "_articulation", "_robot", "_batch", "_card_batch", "_card",
           "learn", "rotations", "_pictures", "_scenes", "_study", "_record", "_viewer",
           "_specs", "_convert"]
HIDDEN = ("Value",)  # of no use by itself
PARTS = ["_making", "_arrays", "_queries"]  # of World, without classes of their own
PARAMETER = re.compile(r"(\w+(?:, \w+)*): (.+)")

INTRODUCTION = """# Python reference

Written by `generate.py` from the docstrings of the package. [Python](python.md) is the introduction.
"""


def escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def parameters(node: ast.FunctionDef) -> List[str]:
    a = node.args
    return [p.arg for p in a.posonlyargs + a.args + a.kwonlyargs if p.arg not in ("self", "cls")]


def paragraphs(node: ast.AST, indent: str = "") -> List[str]:
    """The docstring of a function: its text, then its parameters as a list."""
    text: List[str] = []
    listed: List[str] = []
    known = parameters(node) if isinstance(node, ast.FunctionDef) else []
    for line in (ast.get_docstring(node) or "").splitlines():  # type: ignore[arg-type]
        match = PARAMETER.fullmatch(line)
        if match and all(name in known for name in match.group(1).split(", ")):
            listed.append(f"{indent}- `{match.group(1)}`: {escaped(match.group(2))}")
        else:
            text.append(line)
    return [escaped(" ".join(text)), *listed]


def signature(node: ast.FunctionDef) -> str:
    """Names of parameters, as they are called."""
    a = node.args
    names = [p.arg for p in a.posonlyargs + a.args if p.arg not in ("self", "cls")]
    names += [f"*{a.vararg.arg}"] if a.vararg else ["*"] if a.kwonlyargs else []
    names += [p.arg for p in a.kwonlyargs] + ([f"**{a.kwarg.arg}"] if a.kwarg else [])
    return ", ".join(names)


def is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)


def is_setter(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in node.decorator_list)


def documented_attributes(node: ast.ClassDef) -> Iterator[List[str]]:
    """Attributes with a string below them, of the class or set by its methods."""
    for body in [node.body, *(f.body for f in node.body if isinstance(f, ast.FunctionDef))]:
        for first, second in zip(body, body[1:]):
            target = first.target if isinstance(first, ast.AnnAssign) else getattr(first, "targets", [None])[0]
            name = getattr(target, "attr", getattr(target, "id", "_"))
            if isinstance(second, ast.Expr) and isinstance(second.value, ast.Constant) and not name.startswith("_"):
                yield [name, f"- `{name}`: {escaped(str(second.value.value))}"]


def member_lines(classes: List[ast.ClassDef]) -> List[str]:
    """An entry for each public member; those of a class hide those of its bases."""
    found: Dict[str, List[str]] = {}
    for node in classes:
        for name, line in documented_attributes(node):
            found.setdefault(name, [line])
        for item in node.body:
            if not isinstance(item, ast.FunctionDef) or item.name in found or is_setter(item):
                continue
            if item.name.startswith("_") and not (item.name == "__init__" and ast.get_docstring(item)):
                continue
            name = classes[0].name if item.name == "__init__" else item.name
            call = "" if is_property(item) else f"({signature(item)})"
            text, *listed = paragraphs(item, "  ")
            found[item.name] = [f"- `{name}{call}`: {text}", *listed]
    first = found.pop("__init__", [])
    return first + [line for lines in found.values() for line in lines]


def bases(node: ast.ClassDef, classes: Dict[str, ast.ClassDef]) -> List[ast.ClassDef]:
    """A class and those that it inherits from."""
    found = [node]
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            found += [c for c in bases(classes[base.id], classes) if c not in found]
    return found


def public_names(tree: ast.Module) -> List[str]:
    """What `__all__` lists; everything without it."""
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
        if getattr(target, "id", "") == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]  # type: ignore[attr-defined]
    names = [n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))]
    return [name for name in names if not name.startswith("_")]


def reference(generated: str) -> str:
    """All public names with their docstrings."""
    trees = {module: ast.parse((PACKAGE / f"{module}.py").read_text()) for module in MODULES + PARTS}
    made = [n for n in ast.parse(generated).body if isinstance(n, ast.ClassDef)]
    classes = {n.name: n for tree in trees.values() for n in tree.body if isinstance(n, ast.ClassDef)}
    classes.update({n.name: n for n in made})
    out = [INTRODUCTION]
    for module in MODULES:
        public = public_names(trees[module])
        prefix = "" if module.startswith("_") else f"{module}."
        for node in trees[module].body:
            if getattr(node, "name", "") not in public or node.name in HIDDEN:  # type: ignore[attr-defined]
                continue
            if isinstance(node, ast.FunctionDef):
                text, *listed = paragraphs(node)
                name = prefix + node.name
                out += [f"## {name}", "", f"`{name}({signature(node)})`", "", text, ""]
                out += [*listed, ""] if listed else []
            elif isinstance(node, ast.ClassDef):
                text = paragraphs(node)[0]
                out += [f"## class {prefix}{node.name}", "", text, "", *member_lines(bases(node, classes)), ""]
    out += ["## Values and enums", ""]
    for node in made:
        if not node.name.endswith("Base"):
            out.append(f"- `{node.name}`: {paragraphs(node)[0]}")
            out += [f"  {line}" for _, line in documented_attributes(node)]
    return "\n".join([*out, ""])
