"""What Python and NumPy have removed since TensorFlow 1's time, put back for a script and its own modules alone.

A name is looked for when the script's text is compiled: `np.float` becomes a call that gives it. Installed libraries
and the modules themselves stay as they are.
"""
from __future__ import annotations

import ast
import base64
import collections
import collections.abc
import contextlib
import html
import importlib
import inspect
import math
import operator
import os
import random
import re
import sys
import threading
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


def _kept(make: Any) -> Any:
    """np.array and its kind, of which rows of different lengths made an array of objects."""
    def made(x: Any, dtype: Any = None, **options: Any) -> Any:
        try:  # copy=False once meant: where none is needed
            return make(x, dtype, **{key: value or None if key == "copy" else value for key, value in options.items()})
        except ValueError as error:
            if dtype is not None or "inhomogeneous" not in str(error):
                raise
            return make(x, object)
    return made


def _listed(stack: Any) -> Any:
    """np.vstack and its kind, which took what is only iterated over."""
    return lambda arrays, **options: stack(arrays if hasattr(arrays, "__len__") else list(arrays), **options)


def _fromstring(string: Any, dtype: Any = float, count: int = -1, sep: str = "") -> Any:
    return np.fromstring(string, dtype, count, sep=sep) if sep else np.frombuffer(string, dtype, count).copy()


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
        "math": math, "bool8": np.bool_, "int0": np.intp, "typeDict": np.sctypeDict, "issubsctype": np.issubdtype,
        "find_common_type": lambda arrays, scalars: np.result_type(*arrays, *scalars),
    },
    "numpy.lib": {"pad": np.pad}, "base64": {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes},
    "numpy.random": {"random_integers": _random_integers},
    "collections": {name: getattr(collections.abc, name) for name in collections.abc.__all__},
    "time": {"clock": time.process_time}, "inspect": {"getargspec": _argspec}, "fractions": {"gcd": math.gcd},
    "cgi": {"escape": html.escape}}
# module -> name of what is there still -> what it gave, or took
CHANGED: dict[str, dict[str, Any]] = {
    "numpy": {"meshgrid": lambda *xi, **options: list(np.meshgrid(*xi, **options)), "fromstring": _fromstring,
              **{name: _kept(getattr(np, name)) for name in ("array", "asarray")},
              **{name: _listed(getattr(np, name)) for name in ("vstack", "hstack", "dstack", "column_stack")}},
    "random": {"sample": lambda population, k: random.sample(
        tuple(population) if isinstance(population, collections.abc.Set) else population, k)}}
# What methods were called, and are, of objects that no longer have the old one.
_METHODS = {"assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assertAlmostEquals":
            "assertAlmostEqual", "assertItemsEqual": "assertCountEqual", "assertRegexpMatches": "assertRegex",
            "assertRaisesRegexp": "assertRaisesRegex", "assert_": "assertTrue", "tostring": "tobytes",
            "isAlive": "is_alive"}
_OLD_METHODS = {old: new for old, new in _METHODS.items()
                if not any(hasattr(kind, old) for kind in (unittest.TestCase, np.ndarray, threading.Thread))}
# function of NumPy -> what an argument was called, and is
_ARGUMENTS = {name: (old, new) for name, old, new in (
    ("reshape", "newshape", "shape"), *((name, "interpolation", "method") for name in (
        "percentile", "quantile", "nanpercentile", "nanquantile")))
    if old not in inspect.signature(getattr(np, name)).parameters}
_WIDENING: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow"}
_HERE = "__old_names__"  # what a script has this module by: it is asked in the script's loops
_PLAIN = ast.Name | ast.Attribute | ast.Subscript | ast.Constant | ast.expr_context  # may as well be read twice
_FOREIGN = re.compile(r"^\s*(?:import|from)\s+(?:torch|jax)\b", re.MULTILINE)  # what was written for NumPy as it is


def old_name(module: str, name: str) -> Any:
    """What a module has under a name, or had."""
    if name in CHANGED.get(module, ()):
        return CHANGED[module][name]
    try:
        return vars(importlib.import_module(module))[name]
    except (KeyError, ImportError):
        return REMOVED[module][name]


def old_method(of: Any, name: str) -> Any:
    """A method that has another name now."""
    return getattr(of, name if hasattr(of, name) else _METHODS[name])


def old_number(x: Any, into: Any = None) -> Any:
    """An array of one number as that number, which NumPy once made of it. into: the array where it is put, if it is."""
    is_one = isinstance(x, np.ndarray) and x.ndim and x.size == 1
    return x.reshape(()) if is_one and (into is None or isinstance(into, np.ndarray) and into.dtype != object) else x


def old_text(form: str, values: Any) -> str:
    """form % values, for which arrays of one number once were numbers."""
    try:
        return form % values
    except TypeError:
        return form % (tuple(map(old_number, values)) if isinstance(values, tuple) else old_number(values))


def old_result(of: str, a: Any, b: Any) -> Any:
    """An operator's result, where a number of NumPy's own type once did not widen an array of floats."""
    a, b = (float(x) if type(x) is np.float64 and isinstance(y, np.ndarray) and y.ndim and y.dtype.kind == "f" else x
            for x, y in ((a, b), (b, a)))
    return getattr(operator, of)(a, b)


def code_of(text: str | bytes, path: str, put_back: list[str]) -> CodeType:
    """The code of a script in which old names are there again. put_back: takes those that were found, as written.

    Raises SyntaxError or ValueError for what is no Python.
    """
    tree = compile(text, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    restorer = (_Names if _FOREIGN.search(words) else _Habits)(tree)
    restored: Any = restorer.visit(tree)
    if restorer.is_used:
        at = next((i for i, node in enumerate(restored.body) if not _comes_first(node)), 0)
        restored.body.insert(at, ast.copy_location(ast.Import([ast.alias(__name__, _HERE)]), restored.body[0]))
    restored = ast.fix_missing_locations(restored)
    put_back += [name for name in dict.fromkeys(restorer.found) if name not in put_back]
    return compile(restored, path, "exec", dont_inherit=True)


def _comes_first(node: ast.stmt) -> bool:
    """Whether a statement is a text, as a docstring, or an import of __future__, which nothing may stand before."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" or isinstance(
        node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_gone(module: str, name: str) -> bool:
    if name not in REMOVED.get(module, ()):
        return False
    try:
        return name not in vars(importlib.import_module(module))
    except ImportError:
        return True


def _read_at(node: ast.AST, text: str) -> Any:
    """What an expression says, as if it stood where `node` is."""
    read = ast.parse(text, mode="eval").body
    for part in ast.walk(read):
        ast.copy_location(part, node)
    return read


class _Names(ast.NodeTransformer):
    """modules: name in the script -> the module it is bound to. found: the old names that were replaced. is_used:
    whether the script is to have this module."""

    changed: dict[str, dict[str, Any]] = {}

    def __init__(self, tree: ast.AST) -> None:
        self.modules: dict[str, str] = {}
        self.is_used = False
        self.found: list[str] = []
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self.modules.update({alias.asname or alias.name: alias.name for alias in node.names
                                     if alias.name in {*REMOVED, *CHANGED} and (alias.asname or "." not in alias.name)})

    def _restored(self, node: ast.expr | ast.stmt, function: str, *values: Any) -> ast.expr:
        self.is_used = True
        call = _read_at(node, f"{_HERE}.{function}()")
        call.args = [value if isinstance(value, ast.AST) else ast.Constant(value) for value in values]
        return call

    def _module(self, node: ast.AST) -> str:
        """The module that a dotted name of the script's is, "" if it is none."""
        first, *rest = ast.unparse(node).split(".")
        return ".".join([self.modules[first], *rest]) if first in self.modules else ""

    def _is_other(self, module: str, name: str, written: str) -> bool:
        """Whether a name gave something else. written: how it is noted where it is gone."""
        is_gone = _is_gone(module, name)
        self.found += [written] if is_gone else []
        return is_gone or name in self.changed.get(module, ())

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        written, module = ast.unparse(node), self._module(node.value)
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and self._is_other(module, node.attr, written):
            return self._restored(node, "old_name", module, node.attr)
        if node.attr in _OLD_METHODS and node.attr not in self.own:
            self.found.append(node.attr)
            return self._restored(node, "old_method", node.value, node.attr)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:  # noqa: N802
        module = node.module or ""
        gone = [alias for alias in node.names if not node.level
                and self._is_other(module, alias.name, f"{module}.{alias.name}")]
        made: list[ast.stmt] = []
        for alias in gone:
            value = self._restored(node, "old_name", module, alias.name)
            made.append(ast.copy_location(ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())], value), node))
        node.names = [alias for alias in node.names if alias not in gone]
        return [node, *made] if node.names else made

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _ARGUMENTS \
                and self._module(function.value) == "numpy":
            old, new = _ARGUMENTS[function.attr]
            for keyword in node.keywords:
                if keyword.arg == old:
                    keyword.arg = new
                    self.found.append(f"{old}=")
        self.generic_visit(node)
        return node


class _Habits(_Names):
    """Also what NumPy did with arrays of one number, with numbers of its own, and with rows of different lengths."""

    changed = CHANGED

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        super().visit_Call(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("float", "int") and node.args:
            node.args[0] = self._restored(node.args[0], "old_number", node.args[0])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802
        of = _WIDENING.get(type(node.op))
        is_numpy = of and any(isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and (
            side.func.attr == "astype" or self._module(side.func.value) == "numpy") for side in (node.left, node.right))
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return self._restored(node, "old_text", node.left, node.right)
        return self._restored(node, "old_result", of, node.left, node.right) if is_numpy else node

    def _put(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if isinstance(target, ast.Subscript) and all(isinstance(part, _PLAIN) for part in ast.walk(target.value)):
            into = _read_at(target, ast.unparse(target.value))
            node.value = self._restored(node.value, "old_number", node.value, into)
        return node

    visit_Assign = visit_AugAssign = _put  # noqa: N815


_ROOM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = tuple(os.path.join(os.path.dirname(_ROOM), name, "") for name in (os.path.basename(_ROOM), "cli"))


class _Loader(SourceFileLoader):
    """Loads a module of the script's own; what is compiled is kept nowhere."""

    put_back: list[str]

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:  # type: ignore[override]
        return code_of(data, path, self.put_back)

    def path_stats(self, path: Any) -> Any:
        raise OSError("no compiled file is looked for, nor written")


class _Finder:
    """Finds the script's own modules: those below its folders which are not installed there, and are none of ours."""

    def __init__(self, folders: Sequence[str], put_back: list[str]) -> None:
        self._folders, self._put_back = [os.path.abspath(folder) for folder in folders], put_back

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, self._folders if path is None else path)
        file = spec.origin if spec is not None else None
        whole = os.path.abspath(file or "")
        if spec is None or not file or not file.endswith(".py") or "site-packages" in file or whole.startswith(
                _OURS) or not whole.startswith(tuple(folder + os.sep for folder in self._folders)):
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
