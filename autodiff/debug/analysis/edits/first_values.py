"""First values of a kernel that are all the same, as a script has them: drawn at random in their place."""
from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.site import source_lines
from ...facts.records import NewLines
from .changes import Change
from .expressions import name_of
from .source_tree import Source

_ALIKE = ("zeros", "ones", "constant", "fill", "full")  # functions that give them, of TensorFlow and NumPy
_INITIALIZERS = tuple(f"{each}initializer" for each in _ALIKE[:3]) + ("zeros", "ones")
_SIZE = "0.1"


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
    words = [word.value for call in made if isinstance(call, ast.Call) for word in call.keywords
             if str(word.arg).endswith("initializer") and str(word.arg) != "bias_initializer"]
    calls = [node for node in made if isinstance(node, ast.Call) and name_of(node.func) in _ALIKE]
    given = [node for node in words if _initializer(node) in _INITIALIZERS]
    if len({*calls, *given}) != 1:
        raise ArgumentError(f"what {op.name} begins with is not surely found")
    if given:
        start, end = source.range(given[0])
        yield start, end, "'glorot_uniform'" if isinstance(given[0], ast.Constant) else (
            f"{source.module()}.glorot_uniform_initializer()")
        return
    call, = calls
    yield (*source.range(call), _random(source, call))


def _initializer(node: ast.expr) -> str:
    word = node.value if isinstance(node, ast.Constant) else name_of(node.func if isinstance(node, ast.Call) else node)
    return str(word).lower()


def _random(source: Source, call: ast.Call) -> str:
    """Random numbers of the shape that a call of TensorFlow or NumPy gives one number in."""
    named = {word.arg: word.value for word in call.keywords}
    is_value_first = name_of(call.func) == "constant"
    shape = named.get("shape") or named.get("dims") or (None if is_value_first else next(iter(call.args), None))
    dtype = named.get("dtype") or next(iter(call.args[1:2]), None) if name_of(call.func) in _ALIKE[:2] else (
        named.get("dtype"))
    if shape is None or not isinstance(call.func, ast.Attribute):
        raise ArgumentError("the shape of what it begins with is not written there")
    sizes, kind = (source.text[slice(*source.range(each))] if each is not None else "" for each in (shape, dtype))
    module = source.text[slice(*source.range(call.func.value))]
    if module == source.module():
        return f"{module}.truncated_normal({sizes}, stddev={_SIZE}{f', dtype={kind}' * bool(kind)})"
    return f"{module}.random.normal(0.0, {_SIZE}, {sizes}){f'.astype({kind})' * bool(kind)}"
