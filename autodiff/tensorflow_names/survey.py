"""Which of TensorFlow's names, and which modules, a script uses that are not there: from its text, nothing is run."""
from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, NamedTuple

from ..api.common.unsupported import advice
from .alias import is_answered, standing_in


class MissingName(NamedTuple):
    """A name that is not there. name: `tf.contrib.estimator.x`. lines: where it is used. advice: what to use."""

    name: str
    lines: tuple[int, ...]
    advice: str


def survey(source: str | bytes, file: str = "<script>") -> list[MissingName]:
    """The names of a script that are not there, in the order of their first lines.

    Raises SyntaxError if it is no Python.
    """
    missing: dict[str, list[int]] = {}
    with standing_in(shadow=True):
        for name, line in used_names(ast.parse(source, file)):
            lacking = _lacking(name)
            if lacking:
                missing.setdefault(lacking, []).append(line)
    found = sorted((tuple(sorted(set(lines))), name) for name, lines in missing.items())
    return [MissingName("tf" + name.removeprefix("tensorflow"), lines, advice(name.partition(".")[2]))
            for lines, name in found]


def missing_modules(tree: ast.AST, folders: Sequence[str]) -> dict[str, list[int]]:
    """The modules that a program imports and that are not installed, and the lines. An import that is tried may fail.

    folders: searched before sys.path, as the program's own.
    """
    tried = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    missing: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if id(node) in tried or not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
            [node.module or ""][node.level:]
        for top in {name.partition(".")[0] for name in names}:
            if not (top in sys.stdlib_module_names or top == "__main__" or is_answered(top)
                    or PathFinder.find_spec(top, [*folders, *sys.path])):
                missing.setdefault(top, []).append(node.lineno)
    return missing


def used_names(tree: ast.AST, root: str = "tensorflow") -> Iterator[tuple[str, int]]:
    """Each name of a package, TensorFlow's unless told, that a program uses, from `root` on, with its line."""
    bound = dict(_imported(tree, root))
    for node in ast.walk(tree):  # `slim = tf.contrib.slim`
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = _dotted(node.value, bound)
            if name:
                bound.setdefault(node.targets[0].id, name)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if _is_in(alias.name, root))
        elif isinstance(node, ast.ImportFrom) and _is_in(node.module or "", root) and not node.level:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Attribute) and id(node) not in inner:
            name = _dotted(node, bound)
            if name:
                yield name, node.lineno


def _is_in(module: str, root: str) -> bool:
    return module.partition(".")[0] == root


def _imported(tree: ast.AST, root: str) -> Iterator[tuple[str, str]]:
    """Name in the script -> what it stands for, from its imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_in(alias.name, root):
                    yield (alias.asname, alias.name) if alias.asname else (root, root)
        elif isinstance(node, ast.ImportFrom) and _is_in(node.module or "", root) and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _dotted(node: ast.AST, bound: dict[str, str]) -> str:
    """`tensorflow.nn.relu` for an attribute chain that begins with a bound name; else empty."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in bound or not names:
        return ""
    return ".".join([bound[node.id], *reversed(names)])


def _lacking(name: str) -> str:
    """The part of a dotted name that is not there, up to its first unknown word; empty if all of it is."""
    words = name.split(".")
    found: Any = importlib.import_module(words[0])
    for i, word in enumerate(words[1:], 2):
        if not isinstance(found, (ModuleType, type)):
            return ""  # of a function's or an object's attributes nothing is known without running it
        try:
            found = getattr(found, word)
        except AttributeError:
            try:
                found = importlib.import_module(".".join(words[:i]))
            except ImportError:
                return ".".join(words[:i])
    return ""
