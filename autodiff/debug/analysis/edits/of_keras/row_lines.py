"""Lines that take rows of data, or arrays of states, written anew: by the loop's number, in order, of what is next."""
from __future__ import annotations

import ast

from .....core.errors import ArgumentError
from ...findings import Finding
from ...mistakes.case import Case
from ...scripts.calls import given, is_call
from ...scripts.changes import Change
from ...scripts.expressions import pairs_of
from ...scripts.source_tree import Source
from ...scripts.thrown_away import OF_DATASETS, left_dataset


def predicted_mixed(source: Source) -> tuple[int, list[Change]] | None:
    """The one generator of which all is predicted, and that mixes its examples: what is made of them has their order.
    """
    given_first = [node for call in source.calls_named("predictgenerator", "predict") for node in given(call, 0)]
    made = {each for node in given_first for value in (node, *source.given_to(node)) for each in [value]
            if is_call(each, "flow", "flowfromdirectory", "flowfromdataframe")}
    mixing = [call for call in made if getattr(next(iter(given(call, None, "shuffle")), None), "value", True) is True]
    if len(mixing) != 1:
        return None
    return mixing[0].lineno, [source.told(mixing[0], "shuffle", "False")]  # type: ignore[arg-type]


def by_its_number(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The one loop over rows that takes all of them at a place which stays: at the number of the loop."""
    found = []
    for loop in source.all(ast.For):
        inside = [node for each in loop.body for node in ast.walk(each)]
        names = {node.id for node in inside if isinstance(node, ast.Name)}
        stored = {ast.unparse(node) for node in inside if isinstance(getattr(node, "ctx", None), ast.Store)}
        taken = [node for node in inside if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
                 and isinstance(node.slice, (ast.Name, ast.Attribute)) and ast.unparse(node.slice) not in stored]
        begins = {ast.unparse(each) for each in ast.walk(loop.iter) if isinstance(each, (ast.Name, ast.Attribute))}
        taken = [node for node in taken if ast.unparse(node.slice) in begins]
        if isinstance(loop.target, ast.Name) and loop.target.id not in names and is_call(loop.iter, "range") and taken:
            found.append((loop.target.id, taken))
    if len(found) != 1:
        raise ArgumentError("no one loop does so")
    (name, taken), = found
    return min(node.lineno for node in taken), [(*source.range(node.slice), name) for node in taken]


def dataset_kept(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The dataset that is thrown away."""
    if (found := left_dataset(source, *OF_DATASETS)) is None:
        raise ArgumentError("no dataset is thrown away")
    return found


def of_next(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """What a layer is given, or a function that makes it, by the name of the placeholder that is to be there."""
    operations = case.graph.operations
    op, left = operations[finding.op], operations[finding.target.partition(":")[0]]
    calls = [node for node in source.spanned(op) if isinstance(node, ast.Call) and node.args]
    here = source.spanned(left)
    made = [target for node in source.all(ast.Assign) for target, value in pairs_of(node) if value in here]
    if len(calls) != 1 or len(made) != 1:
        raise ArgumentError("no one call, or no one name")
    return calls[0].lineno, [(*source.range(calls[0].args[0]), ast.unparse(made[0]))]
