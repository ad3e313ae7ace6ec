"""A loss that is made of the wrong of two like tensors: what the same layers say of something else."""
from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ....core.graph import Tensor
from ....core.traversal import ancestors
from ...facts.graph_lists import trainable_tensors
from ..scripts.changes import Change
from .raised_at import RaisedAt

_NAMED = (ast.Name, ast.Attribute, ast.Subscript)


def of_the_other(at: RaisedAt, y: Tensor, xs: Sequence[Tensor]) -> tuple[list[Change], str, str]:
    """The like tensor that the asked variables make, in the last statement of a loss, its own alone, that has the one
    of the same layers which they do not make."""
    behind, last = ancestors([y]), at.statement(at.node)
    every: list[Any] = at.all(*_NAMED)
    named = {at.written(node): t for node in every if (t := at.tensor(node)) is not None}
    made: dict[Any, str] = {each: name for each in at.all(ast.Assign) if (
        t := named.get(name := at.written(each.targets[0]))) is not None and t.op in behind}
    for statement in [last, *sorted(made, key=lambda each: -each.lineno)]:
        read = [at.statement(node) for node in every if at.written(node) == made.get(statement)
                and isinstance(node.ctx, ast.Load)]
        if not {*read} <= {*made, last}:
            continue
        nodes = [node for node in ast.walk(getattr(statement, "value", statement)) if isinstance(node, _NAMED)]
        for old in dict.fromkeys(at.written(node) for node in nodes):
            new = _other(at, named, old, {*xs}) if old in named and named[old] is not y else ""
            if new and named[old].op in behind:
                changes = [(*at.range(node), new) for node in nodes if at.written(node) == old]
                return changes, f"{new} in place of {old} at line {statement.lineno}", (
                    f"{at.spelling(y) or 'the loss'} is made of {old} at line {statement.lineno}, which does not "
                    f"depend on it; {new} does")
    return [], "", ""


def _other(at: RaisedAt, named: Mapping[str, Tensor], old: str, xs: set[Tensor]) -> str:
    """The tensor that is made by the layers of another one, none of the variables among them, and by all of those."""
    variables = trainable_tensors(at.graph)

    def layers(t: Tensor) -> set[Tensor]:
        behind = ancestors([t])
        return {each for each in variables if each.op in behind}

    kind, own = (named[old].op.type, named[old].dims, named[old].dtype), layers(named[old])
    return next((name for name, t in named.items() if own and not own & xs and (t.op.type, t.dims, t.dtype) == kind
                 and own | xs <= layers(t)), "")
