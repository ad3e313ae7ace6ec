"""Derivatives of a gradient, written column by column."""
from __future__ import annotations

import ast
import re

from ...facts.records import NewLines
from .calls import called
from .parsed import Parsed

_CALLS = ("gradients", "grad")


def apart(file: str, line: int, told: str) -> NewLines:
    """A line whose one `gradients(g, x)[0]` is of all columns of g, with those of each column; {} where it has none.

    told: what says of how many columns that is."""
    count = re.findall(r"\d+", told)[0]
    try:
        source = Parsed.of_file(file)
    except SyntaxError:
        return {}
    found = [node for node in source.all(ast.Subscript) if isinstance(node.value, ast.Call)
             and called(node.value) in _CALLS and node.value.args
             and node.lineno == node.end_lineno == line and ast.unparse(node.slice) == "0"]
    if len(found) != 1 or not isinstance(call := found[0].value, ast.Call):
        return {}
    of, function = call.args[0], ast.unparse(call.func)
    module = function.partition(".")[0]
    if isinstance(of, ast.Call) and isinstance(of.func, ast.Attribute) and of.func.attr in ("sum", "reduce_sum"):
        of = of.args[0] if ast.unparse(of.func.value) == module else of.func.value
    column = f"{ast.unparse(of)}[:, i]" + ".sum()" * (module == "torch")
    rest = [*call.args[1:], *(word for word in call.keywords if word.arg not in ("grad_outputs", "grad_ys"))]
    new = (f"{module}.stack([{function}({', '.join([column, *map(ast.unparse, rest)])})[0][:, i] "
           f"for i in range({count})], 1)")
    return source.rows([(*source.range(found[0]), new)], file)
