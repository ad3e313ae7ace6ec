"""A lax.while_loop that counts up to a number, as a lax.fori_loop of as many turns, which has a gradient."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..debug.analysis.scripts.calls import called, given, owner_of
from ..debug.analysis.scripts.expressions import number_of
from ..debug.analysis.scripts.parsed import Parsed
from .new_lines import NewLines
from .script_lines import spelled


def counted(file: str, line: int) -> NewLines:
    """What is carried is left as it is in turns past those that the loop would have made. {} where no number in the
    script says how many there are at most."""
    source = Parsed.of_file(file)
    for call in source.at_line(line, ast.Call):
        owner: Any = owner_of(call)
        parts = [*given(call, 0, "cond_fun"), *given(call, 1, "body_fun"), *given(call, 2, "init_val")]
        if called(call) != "while_loop" or len(parts) != 3:
            continue
        test, body = (_function(source, each) for each in parts[:2])
        for limit, is_whole in _limits(source, test) if owner is not None else ():
            at, made, begun = _element(test, limit.left), getattr(_result(body), "elts", ()), _tuple(source, parts[2])
            step = made[at] if at is not None and at < min(len(made), len(begun)) else None
            if not isinstance(step, ast.BinOp) or not isinstance(step.op, ast.Add) or number_of(step.right) != 1 or (
                    _element(body, step.left) != at or at is None or number_of(begun[at]) % 1):
                continue
            end = source.raw(limit.comparators[0]) + " + 1" * isinstance(limit.ops[0], ast.LtE)
            condition, turn, first = (source.raw(each) for each in parts)
            condition, turn = (f"({each})(carry)" if each.startswith("lambda") else f"{each}(carry)"
                               for each in (condition, turn))
            tree, where = spelled(file, "jax.tree_util.tree_map"), spelled(file, "jax.numpy.where")
            turn = turn if is_whole else f"{tree}(lambda new, old: {where}({condition}, new, old), {turn}, carry)"
            return source.rows([source.put(call, f"{source.raw(owner)}.fori_loop({source.raw(begun[at])}, "
                                                 f"{end}, lambda _, carry: {turn}, {first})")], file)
    return {}


def _function(source: Parsed, node: ast.expr) -> Any:
    """A lambda, or the function that a name is."""
    return next((each for each in source.all(ast.FunctionDef) if each.name == ast.unparse(node)), node)


def _result(function: Any) -> Any:
    return function.body if isinstance(function, ast.Lambda) else next(
        (each.value for each in ast.walk(function) if isinstance(each, ast.Return)), None)


def _limits(source: Parsed, test: Any) -> Iterator[tuple[Any, bool]]:
    """The comparisons that all have to hold with a number of the script's; whether it is the only one."""
    result = _result(test)
    level = [*getattr(result, "values", ())] if isinstance(result, ast.BoolOp) and isinstance(result.op, ast.And) else (
        [result.left, result.right] if isinstance(result, ast.BinOp) and isinstance(result.op, ast.BitAnd) else
        [*result.args] if called(result) == "logical_and" else [result])
    for each in level:
        if isinstance(each, ast.Compare) and len(each.ops) == 1 and isinstance(each.ops[0], (ast.Lt, ast.LtE)):
            bound = each.comparators[0]
            values = [bound, *source.given_to(bound), *source.passed(bound)]
            if all(number_of(value) % 1 == 0 for value in values[len(values) > 1:]):
                yield each, len(level) == 1


def _element(function: Any, node: ast.expr) -> int | None:
    """Which element of what a function is given a node is."""
    carry = function.args.args[0].arg
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == carry:
        return getattr(node.slice, "value", None)
    apart = next((each.targets[0] for each in ast.walk(function) if isinstance(each, ast.Assign)
                  and ast.unparse(each.value) == carry and isinstance(each.targets[0], ast.Tuple)), None)
    names = [ast.unparse(each) for each in apart.elts] if apart is not None else []
    return names.index(ast.unparse(node)) if ast.unparse(node) in names else None


def _tuple(source: Parsed, node: ast.expr) -> list[ast.expr]:
    made = [node, *source.given_to(node)][-1]
    return [*getattr(made, "elts", ())]
