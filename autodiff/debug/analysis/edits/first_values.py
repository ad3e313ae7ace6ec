"""First values of variables, as a script has them: all the same, drawn at random in place of that; or too large."""
from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.site import source_lines
from ...facts.records import NewLines
from ..scripts.calls import called, given, is_call, words_of
from ..scripts.changes import Change
from ..scripts.expressions import name_of, number_of
from ..scripts.source_tree import Source

_ALIKE = ("zeros", "ones", "constant", "fill", "full")  # functions that give them, of TensorFlow and NumPy
_INITIALIZERS = tuple(f"{each}initializer" for each in _ALIKE[:3]) + _ALIKE[:3]
_SIZE = "0.1"
_DRAWN = ("randomnormal", "truncatednormal", "randomuniform", "normal", "uniform")  # TensorFlow's functions
_SIZES = ("stddev", "scale", "maxval")  # what such a function, or an initializer, calls its size
_WORDS = {"getvariable": "initializer", "lstmcell": "initializer", "fullyconnected": "weights_initializer",
          **dict.fromkeys(("dense", "conv1d", "conv2d", "conv3d", "grucell"), "kernel_initializer")}  # what takes one
_GIVEN = ("initializer", "kernel_initializer", "weights_initializer", "initial_value")


def drawn_lines(kernels: Iterable[Operation]) -> NewLines:
    """The lines that give kernels their first values, with random ones; {} where one of them is not surely found."""
    known = [op for op in kernels if op.site is not None]
    files = {op.site.file for op in known if op.site is not None}
    if len(files) != 1:
        return {}
    file, = files
    old = [line.rstrip("\r\n") for line in source_lines(file)]
    text = "\n".join(old)
    try:
        source = Source(text)
        changes = {change for op in known for change in _drawn(source, op)}
        for start, end, new in sorted(changes, reverse=True):
            text = text[:start] + new + text[end:]
        ast.parse(text)
    except (ArgumentError, SyntaxError, ValueError):
        return {}
    new_lines = text.split("\n")
    return {} if len(new_lines) != len(old) else {
        (file, at): line for at, (was, line) in enumerate(zip(old, new_lines), 1) if was != line}


def _drawn(source: Source, op: Operation) -> Iterator[Change]:
    """The one call, or word, in the expression that made a variable, which says what it begins with."""
    made = [node for each in source.spanned(op) for node in ast.walk(each)]
    words = [value for call in made for name, value in words_of(call).items()
             if name.endswith("initializer") and name != "bias_initializer"]
    words = [each[0] if len(each := source.given_to(word)) == 1 else word for word in words]  # by a name
    calls = [node for node in made if isinstance(node, ast.Call) and is_call(node, *_ALIKE)]
    told = [node for node in words if _initializer(node) in _INITIALIZERS]
    if len({*calls, *told}) != 1:
        raise ArgumentError(f"what {op.name} begins with is not surely found")
    if told:
        mark = source.text[source.range(told[0])[0]]
        yield *source.range(told[0]), f"{mark}glorot_uniform{mark}" if isinstance(told[0], ast.Constant) else (
            f"{source.module()}.glorot_uniform_initializer()")
        return
    call, = calls
    yield (*source.range(call), _random(source, call))


def _initializer(node: ast.expr) -> str:
    """The initializer that an expression names; "" for an array."""
    if isinstance(node, ast.Constant):
        return str(node.value).lower()
    func = node.func if isinstance(node, ast.Call) else node
    is_array = bool(given(node, 0)) and called(node) in _ALIKE and "initializers" not in ast.unparse(func)
    return "" if is_array else name_of(func)


def _random(source: Source, call: ast.Call) -> str:
    """Random numbers of the shape that a call of TensorFlow or NumPy gives one number in."""
    is_value_first = is_call(call, "constant")
    shapes = [*given(call, None, "shape", "dims"), *given(call, None if is_value_first else 0)]
    dtypes = [*given(call, None, "dtype"), *given(call, 1 if is_call(call, *_ALIKE[:2]) else None)]
    if not shapes or not isinstance(call.func, ast.Attribute):
        raise ArgumentError("the shape of what it begins with is not written there")
    sizes, kind = (source.raw(each[0]) if each else "" for each in (shapes, dtypes))
    module = source.raw(call.func.value)
    if module == source.module():
        return f"{module}.truncated_normal({sizes}, stddev={_SIZE}{f', dtype={kind}' * bool(kind)})"
    return f"{module}.random.normal(0.0, {_SIZE}, {sizes}){f'.astype({kind})' * bool(kind)}"


class Begun(NamedTuple):
    """The first values of a variable, times `factor`; usual: by TensorFlow's own initializer, where one can be."""

    op: Operation
    factor: float
    usual: bool = False


def begun_anew(source: Source, rewrite: Begun) -> list[Change]:
    """Where the script says what a variable begins with. Raises ArgumentError where that is not surely found."""
    begun = {each for node in source.spanned(rewrite.op) if isinstance(node, ast.Call) for each in _begun(source, node)}
    if not begun and (told := _told(source, rewrite)):
        return told
    if len(begun) != 1:
        raise ArgumentError(f"what {rewrite.op.name} begins with is written in {len(begun) or 'no'} places")
    node = begun.pop()
    while isinstance(node, ast.Name):
        values = [each for each in source.given_to(node) if source.scope(each) is source.scope(node)]
        if len(values) != 1:
            raise ArgumentError(f"{node.id} is given several values")
        node = values[0]
    name = name_of(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and (name.endswith("initializer") or name in _DRAWN):
        if rewrite.usual and (text := _usual(source, node, rewrite.op)):
            return [(*source.range(node), text)]
        words = given(node, None, *_SIZES)
        if len(words) == 1 and not np.isnan(number_of(words[0])):
            return [(*source.range(words[0]), f"{number_of(words[0]) * rewrite.factor:.3g}")]
    if name.endswith("initializer") or isinstance(node, ast.Constant):
        raise ArgumentError(f"the size of what {rewrite.op.name} begins with is not written there")
    shapes = {tuple(each.outputs[0].dims or ()) for each in rewrite.op.graph.operations.values()
              if each.type == rewrite.op.type and each.span == rewrite.op.span and each.site == rewrite.op.site}
    rows = _rows(node) if len(shapes) > 1 and {*map(len, shapes)} == {2} and rewrite.usual else ""
    if len(shapes) > 1 and not rows:
        raise ArgumentError("variables of several shapes begin with it")
    text = source.beside(node) + (f" / {rows} ** 0.5" if rows else f" * {rewrite.factor:.2g}")
    return [(*source.range(node), f"({text})" if source.is_beside_operator(node) else text)]


def _told(source: Source, rewrite: Begun) -> list[Change]:
    """Of a variable that begins as TensorFlow has it: an initializer for the one call that makes it, or its cell."""
    calls = [node for node in source.spanned(rewrite.op) if isinstance(node, ast.Call)]
    if any(name_of(call.func).endswith("rnn") for call in calls):
        calls = _cells(source)
    words = {_WORDS[name_of(call.func)] for call in calls if name_of(call.func) in _WORDS}
    if len(calls) != 1 or not words or len(rewrite.op.outputs[0].dims or ()) < 2:
        return []
    scale = source.spelled(f"{{tf}}.variance_scaling_initializer({rewrite.factor ** 2:.2g}, 'fan_avg')")
    return [source.one_more(calls[0], f"{words.pop()}={scale}")]


def _cells(source: Source) -> list[ast.Call]:
    """The calls that make cells of recurrences."""
    return [node for node in source.all(ast.Call) if name_of(node.func).endswith("cell")]


def _rows(node: ast.expr) -> str:
    """The number of rows that NumPy is to draw, as it is written; "" where that is not one expression."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)
             and ast.unparse(each.func).rpartition(".")[0].endswith("random")]
    if len(calls) != 1:
        return ""
    size = words_of(calls[0]).get("size")
    first = size or next(iter(calls[0].args if is_call(calls[0], "randn", "rand") else ()), None)
    if isinstance(first, ast.Starred) or first is size is not None and isinstance(first, (ast.Name, ast.Attribute)):
        return f"{ast.unparse(getattr(first, 'value', first) if first is not size else first)}[0]"
    first = first.elts[0] if isinstance(first, (ast.List, ast.Tuple)) and first.elts else first
    return ast.unparse(first) if isinstance(first, (ast.Name, ast.Constant)) else ""


def _begun(source: Source, call: ast.Call) -> list[ast.expr]:
    """What a call that makes variables is given to begin with; of a loop over a cell what the cells are given."""
    words = given(call, None, *_GIVEN)
    if words or is_call(call, "variable"):
        return words or call.args[:1]
    cells = _cells(source) if name_of(call.func).endswith("rnn") else []
    return [word for node in cells for word in given(node, None, _GIVEN[0])]


def _usual(source: Source, call: ast.Call, op: Operation) -> str:
    """The initializer, or what it gives of the shape that TensorFlow's function is given; "" for NumPy's."""
    kind = op.outputs[0].dtype.base_dtype.name
    dtype = f"dtype={{tf}}.{kind}" * (kind != "float32")
    if name_of(call.func).endswith("initializer"):
        return source.spelled(f"{{tf}}.glorot_normal_initializer({dtype})")
    shape = given(call, 0, "shape")
    is_theirs = isinstance(call.func, ast.Attribute) and ast.unparse(call.func).startswith(f"{source.module()}.")
    return source.spelled(f"{{tf}}.glorot_normal_initializer({dtype})") + f"({source.written(shape[0])})" if (
        is_theirs and len(shape) == 1) else ""
