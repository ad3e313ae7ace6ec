"""Derivatives of several columns, written of one, or column by column."""
from __future__ import annotations

import ast

from ...facts.records import NewLines
from .calls import called
from .parsed import Parsed

_CALLS = ("gradients", "grad")
_MOST = 3  # arguments without a word: of what, by what, and what it is weighed by


def apart(file: str, line: int, count: str) -> NewLines:
    """A line whose one `gradients(g, x)[0]` is of all columns of g, with those of each column; {} where it has none.

    count: of the columns."""
    try:
        source = Parsed.of_file(file)
    except SyntaxError:
        return {}
    found = [node for node in source.all(ast.Subscript) if isinstance(node.value, ast.Call)
             and called(node.value) in _CALLS and node.value.args
             and node.lineno == node.end_lineno == line and ast.unparse(node.slice) == "0"]
    if len(found) != 1 or not isinstance(call := found[0].value, ast.Call):
        return {}
    module = source.imported().get("torch") or ast.unparse(call.func).partition(".")[0]
    new = f"{module}.stack([{_of_column(call, 'i', source)}[0][:, i] for i in range({count})], 1)"
    return source.rows([(*source.range(found[0]), new)], file)


def one_alone(file: str, line: int, column: int) -> NewLines:
    """A line whose one call differentiates all columns together with that of one; {} where it has none."""
    try:
        source = Parsed.of_file(file)
    except SyntaxError:
        return {}
    calls = [node for node in source.all(ast.Call) if called(node) in _CALLS and node.args and node.lineno == line]
    if len(calls) != 1 or len(calls[0].args) > _MOST or isinstance(of := calls[0].args[0], ast.Name) and (
            "jax" in ast.unparse(calls[0].func)):
        return {}
    if not isinstance(of, ast.Lambda):
        return source.rows([(*source.range(calls[0]), _of_column(calls[0], str(column), source))], file)
    summed = _unsummed(of.body)
    return {} if summed is of.body else source.rows([(*source.range(of.body), (
        f"{ast.unparse(summed)}[..., {column}].sum()"))], file)


def _of_column(call: ast.Call, column: str, source: Parsed) -> str:
    """A call that differentiates columns, as it would be of one."""
    function = ast.unparse(call.func)
    of = f"{ast.unparse(_unsummed(call.args[0]))}[:, {column}]" + ".sum()" * (
        "torch" in source.imported() or function.startswith("torch"))
    rest = [*call.args[1:2], *(word for word in call.keywords if word.arg not in ("grad_outputs", "grad_ys"))]
    return f"{function}({', '.join([of, *map(ast.unparse, rest)])})"


def _unsummed(node: ast.expr) -> ast.expr:
    """What an expression is the sum of; itself where it is none."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in (
            "sum", "reduce_sum"):
        return node
    is_function = node.args and ast.unparse(node.func.value) in ("tf", "torch", "jnp", "np", "tensorflow", "jax.numpy")
    return node.args[0] if is_function else node.func.value
