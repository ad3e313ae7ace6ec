"""Why a gradient is None, zero or tiny, or passes no loop or branch."""
from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, descendants, in_order, past, reached
from ...gradients.between import carries_gradient
from ...gradients.blocked_reasons import GradientCall
from ..facts.graph_lists import calls_of, trainable_tensors
from ..facts.roles import ASKS, SCALES, SOFTMAXES, at_line, place_of, rescaled
from ..facts.stats import statistics
from .advice import advice_of
from .attenuation import SATURATING, also_lost, noted, remedy
from .cut_remedies import held_in_both, is_straight_through, of_both
from .disconnected import disconnected, not_trained, only_added
from .findings import Cut, Hop, WhyNone, WhySmall
from .flow import cuts_between, path

TINY = 1e-6  # of the norm at y: below it a gradient counts as vanished
HUGE = 1e4  # of the norm at y: above it a gradient counts as exploding
CHAIN = 3  # saturating ops in one path that are to blame together


def why_none(y: Tensor, x: Tensor, call: GradientCall | None = None) -> WhyNone:
    """Why d y / d x is None, without any values. call: the gradient call in question, if there is one."""
    found = _why_none(y, x, call)
    remark = advice_of(y.graph).remarks.get(x.op.name)
    if remark is None or found.kind not in ("disconnected", "not asked"):
        return found
    return replace(found, text=f"{remark.text}{at_line(remark.place)}", place=remark.place or found.place,
                   remedy=remark.remedy or (found.remedy if found.kind == "not asked" else ""))


def _why_none(y: Tensor, x: Tensor, call: GradientCall | None) -> WhyNone:
    place = place_of(x.op)
    if y is not x and y.op not in descendants([x]):
        return disconnected(y, x)
    cuts, flows = cuts_between(y, x)
    if not flows:
        operations = y.graph.operations  # a comparison often only chooses between what is cut elsewhere
        cuts = sorted(cuts, key=lambda cut: cut.op in operations and operations[cut.op].outputs[0].dtype.is_bool)
        cuts = [_of_indices(looked_into(cut, operations.get(cut.op)), cuts, operations.get(cut.op)) for cut in cuts]
        first = [cut for cut in cuts if cut.first]
        first = [cut for cut in first if cut.op_type not in ASKS and not _is_of_shapes(cut, x)] or first
        first = _passed_by_all(first, y, x) or _meant_last(first, operations)
        cuts = [*first, *(cut for cut in cuts if cut.op not in {each.op for each in first})]
        return WhyNone(y.name, x.name, "cut", _cut_text(first, y, x), _first_remedy(cuts), tuple(cuts), (), place)
    if call is not None and call.stops and not _flows_around(y, x, call.stops):
        names = ", ".join(repr(stop.name) for stop in call.stops)
        return WhyNone(y.name, x.name, "held", f"the gradient call holds {names} constant, and every path from "
                       f"{y.name} to {x.name} passes there", "take it out of stop_gradients", tuple(cuts), (), place)
    if call is not None and call.found.get(x) is None:
        return not_trained(y, x, call, calls_of(y.graph), x in trainable_tensors(y.graph))
    return WhyNone(y.name, x.name, "flows", f"it is not None: a gradient flows from {y.name} to {x.name}", "",
                   tuple(cuts), (), place)


def only_derived(y: Tensor, x: Tensor) -> bool:
    """Whether y sees only derivatives of what x is added to, as an equation's residual does: x says nothing in them."""
    behind = ancestors([y])
    return only_added(x, behind) or any(
        call.ys[0] is not y and any(isinstance(each, Tensor) and each.op in behind for each in call.found.values()) and
        _why_none(call.ys[0], x, None).kind == "flows" for call in calls_of(y.graph))


def _passed_by_all(cuts: Sequence[Cut], y: Tensor, x: Tensor) -> list[Cut]:
    """The one that every path passes, whatever else cuts some of them: with it gone a gradient may flow."""
    known = [(cut, op) for cut in cuts if (op := y.graph.operations.get(cut.op)) is not None and op.outputs]
    asks = [t for op in ancestors([y]) if op.type in ASKS and op is not y.op for t in op.outputs]
    return [cut for cut, op in known if len(cuts) > 1 and not _flows_around(y, x, [*op.outputs, *asks])][:1]


def _meant_last(cuts: Sequence[Cut], operations: Mapping[str, Operation]) -> list[Cut]:
    """Those that may be meant behind the others; a straight-through estimator is left out where there are others. Of
    two losses that hold the same constant the first is to blame."""
    ops = {cut.op: operations[cut.op] for cut in cuts if cut.op in operations}
    passed = [cut for cut in cuts if cut.op in ops and is_straight_through(ops[cut.op])]
    rest = sorted((cut for cut in cuts if cut not in passed), key=lambda cut: (cut.kind == "stop_gradient",
                                                                               not cut.remedy))
    for cut in sorted(rest, key=lambda cut: ops[cut.op].index if cut.op in ops else 0) if passed else ():
        if cut.op in ops and (other := held_in_both(ops[cut.op], ops.values())) is not None:
            reason, remedy = of_both(ops[cut.op], other)
            told = replace(cut, reason=reason, remedy=remedy)
            return [told, *(each for each in rest if each is not cut)]
    return rest or passed


def _of_indices(cut: Cut, cuts: Sequence[Cut], op: Operation | None) -> Cut:
    """Of ones and zeros: the cut that made the indices of real numbers."""
    above = {each.name for each in ancestors(op.inputs[:1])} if op is not None and op.type == "OneHot" else ()
    made = next((each for each in cuts if each.op in above and each.op != cut.op), None)
    if made is None:
        return cut
    return replace(cut, reason=f"{cut.reason}, here those of {made.op} ({made.op_type}{at_line(made.place)}): "
                   f"{made.reason}", remedy=made.remedy or cut.remedy)


def _first_remedy(cuts: Sequence[Cut]) -> str:
    """The remedy of the cut that is told first; if it has none, of one behind it."""
    return next((cut.remedy for cut in cuts if cut.remedy), "")


def _cut_text(first: Sequence[Cut], y: Tensor, x: Tensor) -> str:
    if not first:
        return f"no path from {y.name} to {x.name} carries a gradient"
    places = [f"{cut.op} ({cut.op_type}{f', {_where(cut)}' if cut.place else ''})" for cut in first[:3]]
    more = f" and {len(first) - 3} more" if len(first) > 3 else ""
    return (f"every path from {y.name} to {x.name} passes {' or '.join(places)}{more}, which lets no gradient through: "
            f"{first[0].reason}") + (f"; {first[0].op} is of {made}" if (made := advice_of(y.graph).makers.get(
                first[0].op)) else "")


def _where(cut: Cut) -> str:
    if cut.place is None:
        return ""
    inside = f" in {cut.place.function}" if cut.place.function not in ("", "<module>") else ""
    return f"{cut.place.file.rsplit('/', 1)[-1]}:{cut.place.line}{inside}"


def _is_of_shapes(cut: Cut, x: Tensor) -> bool:
    """Whether a cut only takes the shape of what is made of x."""
    op = x.graph.operations.get(cut.op)
    sizes = [each.outputs[0] for each in ancestors(op.inputs) if each.type in ASKS] if op is not None else []
    return op is not None and bool(sizes) and not any(_flows_around(t, x, sizes) for t in op.inputs)


def _flows_around(y: Tensor, x: Tensor, stops: Sequence[Tensor]) -> bool:
    """Whether a path from y to x misses the ops of `stops`; x's own op does not count."""
    held = {stop.op for stop in stops} - {x.op}
    passed = reached({y.op} - held, lambda op: [t.op for t in op.inputs if t.op not in held])
    return y is x or any(x in op.inputs for op in passed)


def why_small(y: Tensor, x: Tensor, gradients: Mapping[Tensor, Any], values: Mapping[Tensor, Any]) -> WhySmall:
    """Why the gradient at x is zero or tiny. gradients: of y, at the tensors between; values: of the tensors."""
    stats = statistics(gradients[x])
    norm = stats.norm if stats.norm is not None else float("nan")
    found = path(y, x, gradients)
    top = next((hop.incoming for hop in found.hops if hop.incoming), 1.0)
    kind = "zero" if stats.count and stats.zeros == stats.count else "tiny" if norm < TINY * top else (
        "exploding" if norm > HUGE * max(top, 1.0) else "fine")
    if kind == "fine":
        text = f"the gradient of {y.name} at {x.name} is not small: norm {norm:.3g}"
        return WhySmall(y.name, x.name, kind, norm, text + _dead_parts(x, found.hops, gradients), "", ())
    if kind == "exploding":
        return _why_large(y, x, norm, top, found.hops)
    if kind == "zero":
        lost = [hop for hop in found.hops if hop.incoming and hop.outgoing == 0][-1:]
    else:
        lost = _weakest(found.hops)
    ops = x.graph.operations
    told = tuple(noted(hop, ops[hop.op], values) for hop in lost[:5])
    if kind == "zero" and told:
        behind = found.hops[found.hops.index(lost[-1]) + 1:]
        told += tuple(also_lost(behind, lambda hop: ops[hop.op], values)[:3])
        told = tuple(sorted(told, key=lambda hop: hop.op_type not in SOFTMAXES))  # what is constant is beyond a bound
    text = f"{kind} at {x.name} (norm {norm:.3g}, {top:.3g} near {y.name})"
    chain = [hop for hop in found.hops if hop.op_type in SATURATING and (hop.gain or 1.0) < 1.0]
    if kind == "tiny" and told and told[0].op_type in SATURATING and len(chain) >= CHAIN and not any(
            "saturated" in hop.note for hop in told):
        return _why_chain(y, x, norm, text, chain, told)
    if told:
        first = told[0]
        alike = [hop.gain for hop in found.hops if hop.op_type == first.op_type and hop.gain is not None]
        if kind == "tiny" and len(alike) > 1:
            text += f": {len(alike)} ops {first.op_type} scale it by {np.prod(alike):.2g} together"
        text += f": lost in {first.op} ({first.op_type}){at_line(first.place)}"
        text += f": {first.note}" if first.note else ""
    return WhySmall(y.name, x.name, kind, norm, text, remedy(told, ops[told[0].op] if told else None, values), told)


def scaled_back(y: Tensor, gradients: Collection[Tensor]) -> float:
    """inf if y is a loss times a number, and so is each gradient, as against what is too small for its type; else 0."""
    is_meant = y.op.type in SCALES and gradients and all(rescaled(gradient) is not gradient for gradient in gradients)
    return math.inf if is_meant else 0.0


def _dead_parts(x: Tensor, hops: Sequence[Hop], gradients: Mapping[Tensor, Any]) -> str:
    """`; 2 of 5 columns of it are 0: [1, 3]`: units of a layer that do not learn, and the op that lets nothing by."""
    array = np.asarray(gradients[x])
    dead = _zero_columns(array)
    if not dead.size or dead.size == array.shape[-1]:
        return ""
    some = ", ".join(map(str, dead[:8])) + (", …" if dead.size > 8 else "")
    text = f"; {dead.size} of {array.shape[-1]} {'columns' if array.ndim == 2 else 'elements'} of it are 0: [{some}]"
    at = {tensor.name: np.asarray(value) for tensor, value in gradients.items()}
    for hop in hops:  # from y: the first after which these are 0
        value = at.get(hop.tensor)
        if value is not None and value.ndim and value.shape[-1] == array.shape[-1] and set(dead) <= set(
                _zero_columns(value)):
            return f"{text}, lost in {hop.op} ({hop.op_type}){at_line(hop.place)}"
    return text


def _zero_columns(array: np.ndarray) -> np.ndarray:
    if array.ndim < 1 or array.shape[-1] < 2 or array.dtype.kind != "f":
        return np.zeros(0, np.int64)
    return np.flatnonzero(~array.reshape(-1, array.shape[-1]).any(axis=0))


def _why_chain(y: Tensor, x: Tensor, norm: float, text: str, chain: Sequence[Hop], noted: tuple[Hop, ...]) -> WhySmall:
    """A chain of squashing functions: no single op is to blame."""
    kinds = " and ".join(dict.fromkeys(hop.op_type for hop in chain))
    total = float(np.prod([hop.gain or 0.0 for hop in chain]))
    text += (f": a chain of {len(chain)} ops {kinds}, from {chain[0].op} to {chain[-1].op}, scales it by {total:.2g} "
             f"together" + ("; the slope of a sigmoid is at most 1/4" if "Sigmoid" in kinds else ""))
    remedy = ("use tf.nn.relu in the hidden layers, add skip connections or normalize each layer, and initialize the "
              "weights by tf.glorot_uniform_initializer")
    return WhySmall(y.name, x.name, "tiny", norm, text, remedy, noted)


def _why_large(y: Tensor, x: Tensor, norm: float, top: float, hops: Sequence[Hop]) -> WhySmall:
    """Which hops make a gradient large."""
    growing = sorted((hop for hop in hops if hop.gain is not None and hop.gain > 2.0), key=lambda hop: -(hop.gain or 0))
    text = f"exploding at {x.name} (norm {norm:.3g}, {top:.3g} near {y.name})"
    if growing:
        first = growing[0]
        alike = [hop for hop in growing if hop.op_type == first.op_type]
        text += f": the gain is largest, {first.gain:.3g}, in {first.op} ({first.op_type}){at_line(first.place)}"
        if len(alike) > 1:
            together = np.prod([h.gain or 1.0 for h in alike])
            text += f"; {len(alike)} ops {first.op_type} grow it by {together:.2g} together"
    remedy = "scale these weights or values down, clip with tf.clip_by_global_norm, or lower the learning rate"
    return WhySmall(y.name, x.name, "exploding", norm, text, remedy, tuple(growing[:5]))


def _weakest(hops: Sequence[Hop]) -> list[Hop]:
    """Hops that shrink the gradient, those of the op type that shrinks most first; an average over a batch is no loss.
    """
    shrinking = [hop for hop in hops if hop.gain is not None and hop.gain < 0.8 and hop.op_type != "Mean"]
    product: dict[str, float] = {}
    for hop in shrinking:
        product[hop.op_type] = product.get(hop.op_type, 1.0) * (hop.gain or 0.0)
    return sorted(shrinking, key=lambda hop: (product[hop.op_type], hop.gain))


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
