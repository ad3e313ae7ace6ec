"""Why no gradient passes a loop: what its body returns, or the op inside of it that lets nothing through."""
from __future__ import annotations

from dataclasses import replace

from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, descendants, in_order
from ...gradients.between import carries_gradient
from ..facts.roles import at_line, place_of
from .findings import Cut
from .flow import cuts_between


def looked_into(cut: Cut, op: Operation | None) -> Cut:
    """The same cut, told by what is inside of it. op: the cut itself."""
    inner = _inside(cut, op) if op is not None and op.type == "While" and op.attrs["back_prop"] else None
    if op is None or inner is None:
        return cut
    body = op.attrs["body"]
    reached = [t for t in body.outputs if carries_gradient(t) and inner.op in ancestors([t])]
    for result in reached:
        cuts, flows = cuts_between(result, inner)
        first = next((each for each in cuts if each.first), None)
        if not flows and first is not None:
            told = f"inside of it {first.op} ({first.op_type}){at_line(first.place)}: {first.reason}"
            return replace(cut, reason=told, remedy=first.remedy, place=first.place)
    if reached:
        return cut
    made = in_order(each for each in descendants([inner]) if each is not inner.op and each.graph is inner.graph)
    same = [i for i, (given, back) in enumerate(zip(body.arguments, body.outputs)) if _source(back) is given
            and carries_gradient(given)]
    lost = f", what {made[-1].name}{at_line(place_of(made[-1]))} makes of it does not get out" if made else ""
    kept = f"; loop variable {same[0] + 1} is returned as it was given" if same else ""
    return replace(cut, reason=f"nothing that the loop's body returns depends on it{lost}{kept}",
                   remedy="return from the body what it computes, in place of the loop variable as it was given" if same
                   else "return it from the body, as a loop variable", place=place_of(made[-1]) if made else cut.place)


def _inside(cut: Cut, op: Operation) -> Tensor | None:
    """What the cut's input is inside of the body; None for what only the condition takes."""
    number = next((i for i, t in enumerate(op.inputs) if t.name == cut.input), None)
    count, skipped = len(op.attrs["shapes"]), len(op.attrs["cond"].captured)
    if number is None or count <= number < count + skipped:
        return None
    return op.attrs["body"].inputs[number if number < count else number - skipped]


def _source(tensor: Tensor) -> Tensor:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor
