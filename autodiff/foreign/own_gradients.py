"""A gradient function of the script that gives another shape than its input has: the line, and what mends it."""
from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import ArgumentError
from ..core.site import Site
from ..debug.analysis.advice import Remark
from ..debug.analysis.scripts.calls import called, owner_text
from ..debug.analysis.scripts.calls import given as argument_of
from ..debug.analysis.scripts.expressions import number_of
from ..debug.analysis.scripts.parsed import Parsed
from ..debug.facts.roles import as_place, at_line

Shape = Sequence[int] | None  # None of what is no array
_RULE = re.compile(r"at output\[(\d+)\] the bwd rule produced an output of type \w+\[([\d,]*)\] corresponding to an "
                   r"input of type \w+\[([\d,]*)\]")
_PRODUCTS = ("mm", "matmul", "dot")


def of_function(forward: Callable[..., Any], backward: Callable[..., Any], args: Sequence[Any],
                slopes: Sequence[Any], dys: Sequence[Any]) -> Remark:
    """Of an autograd.Function that was given arguments, and whose backward was given dys and gave slopes of them."""
    code, names = inspect.unwrap(backward).__code__, [*inspect.signature(forward).parameters][-len(args):]
    shapes = [[[*t.shape] if hasattr(t, "shape") else None for t in each] for each in (args, slopes, dys)]
    return misshapen(code.co_filename, max(at or 0 for *_, at in code.co_lines()), names, *shapes)


def misshapen(file: str, line: int, names: Sequence[str], inputs: Sequence[Shape], slopes: Sequence[Shape],  # noqa: PLR0913
              given: Sequence[Shape] = ()) -> Remark:
    """Of the function that a line is in, which gives gradients of these shapes for inputs of others.

    given: the shapes of the gradients that it is given.
    Raises StopIteration where all fit, LookupError where the return does not give them one by one.
    """
    at = next(i for i, (x, dx) in enumerate(zip(inputs, slopes)) if not _fits(x, dx))
    source = Parsed.of_file(file)
    function = source.at_line(line, ast.FunctionDef)[-1]
    returned: Any = [each for each in ast.walk(function) if isinstance(each, ast.Return)
                     and source.scope(each) is function][-1].value
    parts = [*getattr(returned, "elts", [returned])]
    made = ([each for each in source.given_to(parts[at]) if source.scope(each) is function] or parts[at:at + 1])[-1]
    place, name, x, dx = as_place(Site(file, made.lineno, function.name)), names[at], inputs[at], slopes[at]
    text = f"{function.name}() gives the gradient of {name}, which is {_shown(x)}, as {_shown(dx)}{at_line(place)}"
    other = next((i for i, each in enumerate(inputs) if i != at and each == dx and slopes[i] == x), None)
    try:
        if dx == [*(x or ())][::-1] and dx is not None and len(dx) == 2:
            new = _transposed(source, made)
            return Remark(f"{text}: transposed", place, new, source.rows([source.put(made, new)], file))
        if other is not None and other < len(parts):
            swapped = [source.put(parts[i], source.raw(parts[j])) for i, j in ((at, other), (other, at))]
            return Remark(f"{text}: that of {names[other]} stands there", as_place(Site(file, returned.lineno, "")),
                          "return them in the order of the arguments", source.rows(swapped, file))
        for call, axis in _sums(made):
            whole = [each for each in given if each and dx == ([] if axis is None else _without(each, axis))]
            over = {i for each in whole for i in range(len(each or ())) if _without(each, i) == x}
            if len(over) == 1:
                new = f"{source.raw(call.func)}({over.pop()})"
                return Remark(f"{text}: {name} was repeated along another axis", place, new, source.rows([source.put(
                    call, new)], file))
    except ArgumentError:
        pass
    return Remark(text, place, f"a gradient has the shape of what it is of: leave it unsummed, sum it over what {name} "
                  "was repeated along, or reshape it")


def of_custom_vjp(file: str, line: int, said: str) -> Remark | None:
    """Of what JAX says of a bwd rule that was given by defvjp. line: where such a function is called."""
    found, source = _RULE.search(said.replace("\n", " ")), Parsed.of_file(file)
    rules = source.calls_named("defvjp") if found else []
    read = {each.id for each in source.at_line(line, ast.Name)}
    functions = {each.name: each for each in source.all(ast.FunctionDef)}
    for rule in (each for each in rules if owner_text(each) in read or len(rules) == 1):
        of, bwd = functions.get(owner_text(rule)), "".join(map(ast.unparse, argument_of(rule, 1, "bwd")))
        if found and of is not None and bwd in functions and not any(isinstance(
                each, ast.Call) for each in of.decorator_list):  # nondiff_argnums
            at, dx, x = int(found[1]), *([int(n) for n in each.split(",") if n] for each in found.groups()[1:])
            return misshapen(file, functions[bwd].body[-1].lineno, [each.arg for each in of.args.args],
                             [*[None] * at, x], [*[None] * at, dx])
    return None


def _sums(node: ast.expr) -> list[tuple[ast.Call, int | None]]:
    """The calls of x.sum() and x.sum(axis) in an expression, with the axis."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and called(each) == "sum"]
    found = [(call, number_of(call.args[0]) if call.args else None) for call in calls if len(
        call.args) < 2 and not call.keywords]
    return [(call, None if axis is None else int(axis)) for call, axis in found if axis is None or axis == axis]


def _without(shape: Shape, axis: int) -> list[int]:
    """A shape without one of its axes."""
    kept = [*(shape or ())]
    del kept[axis:axis + 1 or None]
    return kept


def _fits(x: Shape, dx: Shape) -> bool:
    """Whether a gradient has the shape of its input, or may be summed to it."""
    return x is None or dx is None or len(dx) >= len(x) and all(n in (1, d) for n, d in zip([*x][::-1], [*dx][::-1]))


def _shown(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape or ()))}]"


def _transposed(source: Parsed, node: ast.expr) -> str:
    """The transpose of an expression: of a product that of its factors in the other order."""
    factors: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        factors = [node.left, node.right]
    elif isinstance(node, ast.Call) and called(node) in _PRODUCTS and isinstance(node.func, ast.Attribute):
        factors = [*([node.func.value] if len(node.args) == 1 else []), *node.args]
    if len(factors) != 2 or not any(_is_transpose(each) for each in factors):
        return _turned(source, node)
    sign = next(".t()" if isinstance(each, ast.Call) else ".T" for each in factors if _is_transpose(each))
    left, right = (_turned(source, each, sign) for each in factors[::-1])
    if isinstance(node, ast.BinOp):
        return f"{left} @ {right}"
    function: Any = node.func  # type: ignore[attr-defined]
    return f"{source.raw(function)}({left}, {right})" if len(node.args) == 2 else (  # type: ignore[attr-defined]
        f"{left}.{function.attr}({right})")


def _is_transpose(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "T" or called(node) == "t" and not getattr(node, "args", 1)


def _turned(source: Parsed, node: ast.expr, sign: str = ".T") -> str:
    """The transpose of a factor; of one that is transposed, that itself."""
    if _is_transpose(node):
        owner: Any = node if isinstance(node, ast.Attribute) else node.func  # type: ignore[attr-defined]
        return source.raw(owner.value)
    return f"{source.beside(node)}{sign}"
