"""Why no gradient passes a loop or a branch: what it returns, or the op inside of it that lets nothing through."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, descendants, in_order, past
from ...gradients.between import carries_gradient
from ..facts.roles import at_line, place_of
from .findings import Cut
from .flow import cuts_between


def looked_into(cut: Cut, op: Operation | None) -> Cut:
    """The same cut, told by what is inside of it. op: the cut itself."""
    body, inner = _inside(cut, op) if op is not None else (None, None)
    if op is None or body is None or inner is None:
        return cut
    reached = [t for t in body.outputs if carries_gradient(t) and inner.op in ancestors([t])]
    for result in reached:
        cuts, flows = cuts_between(result, inner)
        first = next((each for each in cuts if each.first), None)
        if not flows and first is not None:
            told = f"inside of it {first.op} ({first.op_type}){at_line(first.place)}: {first.reason}"
            return replace(cut, reason=told, remedy=first.remedy, place=first.place)
    if reached or op.type == "If":
        return cut
    made = in_order(each for each in descendants([inner]) if each is not inner.op and each.graph is inner.graph)
    same = [i for i, (given, back) in enumerate(zip(body.arguments, body.outputs)) if past(back, ("Identity",)) is given
            and carries_gradient(given)]
    lost = f", what {made[-1].name}{at_line(place_of(made[-1]))} makes of it does not get out" if made else ""
    kept = f"; loop variable {same[0] + 1} is returned as it was given" if same else ""
    return replace(cut, reason=f"nothing that the loop's body returns depends on it{lost}{kept}",
                   remedy="return from the body what it computes, in place of the loop variable as it was given" if same
                   else "return it from the body, as a loop variable", place=place_of(made[-1]) if made else cut.place)


def _inside(cut: Cut, op: Operation) -> tuple[Any, Tensor | None]:
    """The body or branch that takes the cut's input, and what that is inside of it; None for a condition's."""
    number = next((i for i, t in enumerate(op.inputs) if t.name == cut.input), 0)
    if op.type == "If" and number:
        first, other = op.attrs["then_branch"], op.attrs["else_branch"]
        given = (*first.inputs, *other.inputs)[number - 1]
        return (first if number <= len(first.inputs) else other), given
    count, skipped = (len(op.attrs["shapes"]), len(op.attrs["cond"].captured)) if op.type == "While" else (0, 0)
    if op.type != "While" or not op.attrs["back_prop"] or count <= number < count + skipped:
        return None, None
    return op.attrs["body"], op.attrs["body"].inputs[number if number < count else number - skipped]
