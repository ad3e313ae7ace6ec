"""Gradients that are None: meant to be, as of a network's copy; or of a loss made of the wrong of two like tensors."""
from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ....gradients.blocked_reasons import GradientCall
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import ASSIGNS, at_line, place_of
from ..scripts.calls import called, given, is_call
from ..scripts.changes import Change
from .raised_at import RaisedAt

_IN_STEP = ("zip", "list", "tuple", "enumerate")  # calls that take a gradient for each variable
_ASKING = ("compute_gradients", "gradients")
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)


def without_none(at: RaisedAt) -> tuple[list[Change], str]:
    """Gradients that are None are left as they are, or left out."""
    kinds = (ast.ListComp, ast.GeneratorExp, ast.For)
    around: Any = next((each for each in at.around(at.node) if isinstance(each, kinds)), None)
    target: Any = around.generators[0].target if hasattr(around, "generators") else getattr(around, "target", None)
    name = next((each.id for each in ast.walk(target) if isinstance(each, ast.Name) and any(
        isinstance(used, ast.Name) and used.id == each.id for used in ast.walk(at.node))), "") if target else ""
    if not name:
        return [], ""
    test = f" if {name} is not None"
    listed: Any = around.iter if isinstance(around, ast.For) else around.generators[0].iter
    made = [node for node in at.assigned(listed.id, within=at.scope(at.statement(around)))
            if len(node.targets) == 1] if isinstance(listed, ast.Name) else []
    whole = f"[{ast.unparse(target)} for {at.written(target)} in {at.written(listed)}{test}]"
    if isinstance(target, ast.Tuple) and len(made) == 1 and at.loads(listed.id) > 1:  # others take it too
        return [at.after(made[0], line := f"{listed.id} = {whole}")], line
    if isinstance(around, ast.For):
        return [(*at.range(listed), whole)], test.strip()
    used = next((each for each in at.around(around) if isinstance(each, (ast.Call, ast.stmt))), None)
    read = [{each.id for each in ast.walk(node) if isinstance(each, ast.Name)} for node in (target, around.elt)]
    if (read[0] & read[1]) - {name} or isinstance(used, ast.Call) and not is_call(used, *_IN_STEP):  # whole pairs
        end = at.range(listed)[1]
        return [(end, end, test)], test.strip()
    start, new = at.range(around.elt)[0], f"None if {name} is None else"
    return [(start, start, f"{new} ")], new


def of_copies_kept(at: RaisedAt, y: Tensor, xs: Sequence[Tensor], call: GradientCall, cuts: Sequence[Operation]
                   ) -> tuple[list[Change], str, str]:
    """The variables that are trained are asked about alone, where the others are copies of them, held constant."""
    flow = [x for x in call.xs if call.found.get(x) is not None]
    made = [_copied_by(x, flow) for x in xs]
    is_twin = bool(cuts) and all(cut.type == "StopGradient" for cut in cuts) and _under(xs) == _under(flow)
    if not flow or not all(made) and not is_twin:
        return [], "", ""
    why = f"it takes the values of what is trained{at_line(place_of(made[0]))}" if made[0] is not None else (
        f"it is of a second network like that of {flow[0].name}, held constant{at_line(place_of(cuts[0]))}")
    changes, words, asks = _asked(at, y, flow)
    if not changes:
        changes, words = without_none(at)
    return changes, words, f"{why}, and is not to be trained itself{asks}"


def _copied_by(x: Tensor, flow: Collection[Tensor]) -> Operation | None:
    """What gives a variable values that are made of those that are trained, but for its first ones."""
    trained = {each.op for each in flow}
    return next((op for op in x._consumers if op.type in ASSIGNS and op.inputs[0] is x
                 and op.name != f"{x.op.name}/Assign" and ancestors(op.inputs[1:]) & trained), None)


def _under(variables: Sequence[Tensor]) -> list[tuple[str, Any]]:
    """Names of variables under their first scope, and their shapes."""
    return sorted((x.op.name.partition("/")[2], str(x.op.attrs.get("shape"))) for x in variables)


def _asked(at: RaisedAt, y: Tensor, flow: Sequence[Tensor]) -> tuple[list[Change], str, str]:
    """The one gradient call of y, asked for some variables; and what it is asked for as it is."""
    calls = [each for each in at.calls(*_ASKING) if (t := at.tensor(next(iter(given(each, 0, "loss", "ys")), None)))
             is None or t is y]
    text = _list_of(at, flow)
    if len(calls) != 1 or not text:
        return [], "", ""
    asks = f", but {at.written(calls[0].func).rpartition('.')[2]} at line {calls[0].lineno} asks for it too"
    asked = given(calls[0], 1, "xs") if called(calls[0]) == "gradients" else given(calls[0], 1, "var_list")
    if not asked:
        return [at.told(calls[0], "var_list", text)], f"var_list={text}", f"{asks}, as no var_list is given there"
    whole = at.assigned(asked[0].id) if isinstance(asked[0], ast.Name) else []
    node = whole[0].value if len(whole) == 1 else asked[0]
    if not is_call(node, "trainablevariables") or given(node, 0, "scope") or not whole and len(
            at.calls("trainable_variables")) > 1:
        return [], "", ""
    return [(*at.range(node), text)], f"{text} in place of {at.written(node)}", asks


def _list_of(at: RaisedAt, flow: Sequence[Tensor]) -> str:
    """How some variables are spelled as a list: by a name for them, or by their scope; "" for neither."""
    held = {name: value for name, value in at.names.items() if isinstance(value, (list, tuple))}
    for name, owner in at.local.items():
        held |= {f"{name}.{key}": value for key, value in getattr(owner, "__dict__", {}).items() if isinstance(
            value, (list, tuple)) and f".{key}" in at.text}
    named = next((name for name, value in held.items() if {at.variable(each) for each in value} == {*flow}), "")
    scopes = {x.op.name.partition("/")[0] for x in flow if "/" in x.op.name}
    top = next(iter(scopes)) if len(scopes) == 1 else ""
    under = {x for x in trainable_tensors(at.graph) if re.match(top, x.op.name)} if top else set()
    return named or (f'{at.module()}.trainable_variables("{top}")' if under == {*flow} else "")


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
