"""What Python and NumPy have removed since TensorFlow 1's time, put back for a script and its own modules alone.

A name is looked for when the script's text is compiled: `np.float` becomes a call that gives it. Installed libraries
and the modules themselves stay as they are.
"""
from __future__ import annotations

import ast
import collections
import collections.abc
import contextlib
import html
import importlib
import inspect
import math
import os
import sys
import time
import unittest
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

import numpy as np

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def _argspec(function: Any) -> ArgSpec:
    found = inspect.getfullargspec(function)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _random_integers(low: int, high: int | None = None, size: Any = None) -> Any:
    """Whole numbers up to and with `high`, or from 1 to `low`."""
    return np.random.randint(1 if high is None else low, (low if high is None else high) + 1, size)


# module -> name -> what it was
REMOVED: dict[str, dict[str, Any]] = {
    "numpy": {
        "float": float, "int": int, "bool": bool, "object": object, "str": str, "complex": complex, "long": int,
        "unicode": str, "float_": np.float64, "complex_": np.complex128, "string_": np.bytes_, "unicode_": np.str_,
        "Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "PINF": np.inf, "NINF": -np.inf, "NaN": np.nan,
        "product": np.prod, "cumproduct": np.cumprod, "alltrue": np.all, "sometrue": np.any, "round_": np.round,
        "row_stack": np.vstack, "mat": np.asmatrix, "rank": np.ndim, "asscalar": lambda a: a.item(),
        "msort": lambda a: np.sort(a, axis=0), "in1d": lambda a, b: np.isin(np.ravel(a), b),
        "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype), "trapz": getattr(np, "trapezoid", None),
    },
    "numpy.random": {"random_integers": _random_integers},
    "collections": {name: getattr(collections.abc, name) for name in collections.abc.__all__},
    "time": {"clock": time.process_time}, "inspect": {"getargspec": _argspec}, "fractions": {"gcd": math.gcd},
    "cgi": {"escape": html.escape}}
# module -> name of what is there still -> what it gave
CHANGED: dict[str, dict[str, Any]] = {"numpy": {"meshgrid": lambda *xi, **options: list(np.meshgrid(*xi, **options))}}
_METHODS = {"assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assertAlmostEquals":
            "assertAlmostEqual", "assertItemsEqual": "assertCountEqual", "assertRegexpMatches": "assertRegex",
            "assertRaisesRegexp": "assertRaisesRegex", "assert_": "assertTrue"}
_OLD_METHODS = {old: new for old, new in _METHODS.items() if not hasattr(unittest.TestCase, old)}
# function of NumPy -> what an argument was called, and is
_ARGUMENTS = {name: (old, new) for name, old, new in (
    ("reshape", "newshape", "shape"), *((name, "interpolation", "method") for name in (
        "percentile", "quantile", "nanpercentile", "nanquantile")))
    if old not in inspect.signature(getattr(np, name)).parameters}
_TELLING = (*(name for names in (*REMOVED.values(), *CHANGED.values()) for name in names), *_OLD_METHODS,
            *(old for old, _ in _ARGUMENTS.values()))


def old_name(module: str, name: str) -> Any:
    """What a module has under a name, or had."""
    if name in CHANGED.get(module, ()):
        return CHANGED[module][name]
    try:
        return getattr(importlib.import_module(module), name)
    except (AttributeError, ImportError):
        return REMOVED[module][name]


def code_of(text: str | bytes, path: str, put_back: list[str]) -> CodeType:
    """The code of a script in which old names are there again. put_back: takes those that were found, as written.

    Raises SyntaxError or ValueError for what is no Python.
    """
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if not any(name in words for name in _TELLING):
        return compile(text, path, "exec", dont_inherit=True)
    tree = compile(text, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    restorer = _Restorer(tree)
    restored: Any = ast.fix_missing_locations(restorer.visit(tree)) if restorer.modules or _OLD_METHODS else tree
    put_back += [name for name in restorer.found if name not in put_back]
    return compile(restored, path, "exec", dont_inherit=True)


def _is_gone(module: str, name: str) -> bool:
    if name in CHANGED.get(module, ()):
        return True
    if name not in REMOVED.get(module, ()):
        return False
    try:
        return not hasattr(importlib.import_module(module), name)
    except ImportError:
        return True


class _Restorer(ast.NodeTransformer):
    """modules: name in the script -> the module it is bound to. found: the old names that were replaced."""

    def __init__(self, tree: ast.AST) -> None:
        self.modules: dict[str, str] = {}
        self.found: list[str] = []
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self.modules.update({alias.asname or alias.name: alias.name for alias in node.names
                                     if alias.name in REMOVED and (alias.asname or "." not in alias.name)})

    def _restored(self, node: ast.AST, module: str, name: str, written: str) -> ast.expr:
        self.found.append(written)
        call = ast.parse(f"__import__({__name__!r}, fromlist=['old_name']).old_name({module!r}, {name!r})", mode="eval")
        return ast.copy_location(call.body, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        written = ast.unparse(node)
        self.generic_visit(node)
        first, *rest = written.split(".")
        module = ".".join([self.modules.get(first, ""), *rest[:-1]])
        if isinstance(node.ctx, ast.Load) and first in self.modules and _is_gone(module, node.attr):
            return self._restored(node, module, node.attr, written)
        if node.attr in _OLD_METHODS and node.attr not in self.own:
            self.found.append(node.attr)
            node.attr = _OLD_METHODS[node.attr]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:  # noqa: N802
        gone = [alias for alias in node.names if not node.level and _is_gone(node.module or "", alias.name)]
        if not gone:
            return node
        made: list[ast.stmt] = []
        for alias in gone:
            value = self._restored(node, node.module or "", alias.name, f"{node.module}.{alias.name}")
            made.append(ast.copy_location(ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())], value), node))
        node.names = [alias for alias in node.names if alias not in gone]
        return [node, *made] if node.names else made

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _ARGUMENTS \
                and self.modules.get(ast.unparse(function.value)) == "numpy":
            old, new = _ARGUMENTS[function.attr]
            for keyword in node.keywords:
                if keyword.arg == old:
                    keyword.arg = new
                    self.found.append(f"{old}=")
        self.generic_visit(node)
        return node


class _Loader(SourceFileLoader):
    """Loads a module of the script's own; what is compiled is kept nowhere."""

    put_back: list[str]

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:  # type: ignore[override]
        return code_of(data, path, self.put_back)

    def path_stats(self, path: Any) -> Any:
        raise OSError("no compiled file is looked for, nor written")


class _Finder:
    """Finds the script's own modules: those below its folders which are not installed there."""

    def __init__(self, folders: Sequence[str], put_back: list[str]) -> None:
        self._folders, self._put_back = [os.path.abspath(folder) for folder in folders], put_back

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, self._folders if path is None else path)
        file = spec.origin if spec is not None else None
        if spec is None or not file or not file.endswith(".py") or "site-packages" in file or \
                not os.path.abspath(file).startswith(tuple(folder + os.sep for folder in self._folders)):
            return None
        loader = _Loader(spec.name, file)
        loader.put_back = self._put_back
        spec.loader, spec.cached = loader, None
        return spec


@contextlib.contextmanager
def in_modules_of(folders: Sequence[str], put_back: list[str]) -> Iterator[None]:
    """Modules imported inside the block from below these folders have old names again, noted in put_back."""
    finder = _Finder(folders, put_back)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
