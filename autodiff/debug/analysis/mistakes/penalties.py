"""What is added to a loss: penalties that outweigh the error of the data, squares of what is averaged first, and what
a stop_gradient keeps from training anything."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order, past, reached
from ...facts.roles import LAYERS, at_line, place_of
from ..cut_remedies import is_straight_through
from ..findings import Finding
from .case import SHAPES, Case, fed_behind, finding, held, values_behind
from .heads import SAME, above, comes_of_data, constant, heads, is_data, number_in, scaled, through
from .signs import signs_of

_SUMS = ("Add", "AddV2", "AddN")
_SMALL, _ROWS = 0.1, 4  # a factor that is meant to weigh a sum down; a batch
_MANY, _GONE = 8, 0.1  # numbers of an example, by which a mean of them is too small; nats as good as none
_SHOWN = 20  # steps after which a divergence tells what became of it
_HEAVY = 5.0  # times the error of the data, at the beginning
_COUNTS = 0.6  # of the error with weights of 0: up to which the data have their say
_MOST = 20  # terms of a loss
_CANCELS = 0.5  # of the mean of squares: where the square of a mean is less, both signs are there


def penalty_mistakes(case: Case) -> list[Finding]:
    """Findings about what is added to the error of the data."""
    return (_weighted_by_zero(case) or _subtracted(case) or _too_heavy(case) or _summed_beside_mean(case)
            or _divergence_too_heavy(case) or _divergence_of_weight(case))


def _weighted_by_zero(case: Case) -> list[Finding]:
    """A loss times a constant 0, which alone depends on some variables: they are never trained."""
    for op in case.behind:
        if op.type == "Mul" and 0.0 in (number_in(t) for t in op.inputs) and op in case.trained:
            others = values_behind([case.y], op.outputs)
            alone = [v for v in case.variables if v.op in ancestors(op.inputs) and v.op not in others]
            if alone and len(alone) < len(case.variables) and op in above_sums(case.y):
                return [finding(52, "loss weight of 0", op, f"{next(t.name for t in op.inputs if t.op in case.trained)}"
                                f" is added to the loss times 0: {alone[0].name}, and {len(alone) - 1} others that "
                                "nothing else depends on, are never trained", "give it a weight above 0, or leave its "
                                "output out", target=alone[0].name, confidence="certain")]
    return []


def above_sums(y: Tensor) -> set[Operation]:
    """What y is a sum of, past sums and factors."""
    return reached([y.op], lambda op: [t.op for t in op.inputs] if op.type in (*_SUMS, "Identity") else [])


def _subtracted(case: Case) -> list[Finding]:
    """A square of weights that goes into the loss with a minus."""
    variables = {v.op for v in case.variables}
    for op in case.behind:
        squared = op.inputs[0].op.inputs[0] if op.type in ("Sum", "Mean") and op.inputs[0].op.type == "Square" else (
            op.inputs[0] if op.type == "L2Loss" else None)
        if squared is None or held(squared) not in variables:
            continue
        if signs_of(op, case) == {-1}:
            return [finding(102, "penalty subtracted", op, f"{op.name}, the square of {held(squared).name}, is "
                            f"subtracted from {case.y.name}, which is minimized: the larger the weights, the lower it "
                            "is, without end",
                            "add the penalty", target=f"{held(squared).name}:0", confidence="certain")]
    return []


def _too_heavy(case: Case) -> list[Finding]:
    """A penalty of the weights that is many times the error of the data."""
    parts = addends(case.y)
    penalties = [t for t in parts if t.op in case.trained and not comes_of_data([t])]
    data = [t for t in parts if t not in penalties and t.op in case.trained]
    if not penalties or not data or not case.looked:
        return []
    case.want(*parts)
    values = case.values(case.looked[0])
    of = {t: float(np.sum(values[t])) for t in parts if t in values and np.size(values[t]) == 1}
    penalty, error = sum(abs(of.get(t, 0.0)) for t in penalties), sum(abs(of.get(t, 0.0)) for t in data)
    if not 0 < _HEAVY * error < penalty < np.inf:
        return []
    end = case.looked[-1]
    none = {v.op.name: np.zeros_like(end.before[v.op.name]) for t in penalties for v in case.variables
            if v.op in ancestors([t]) and v.op.name in end.before}
    last, bare = (sum(abs(case.with_variables(end, t, {**end.before, **less}) or 0.0) for t in data)
                  for less in ({}, none))
    if last < _COUNTS * bare:
        return []  # the data hold the weights against the penalty
    largest = max(penalties, key=lambda t: abs(of.get(t, 0.0)))
    return [finding(67 if penalty > 2 * _HEAVY * error else 48, "penalty too large", largest.op, f"the penalty "
                    f"(regularization) {largest.name} is {penalty:.4g} at step {case.looked[0].step}, beside "
                    f"{error:.4g} of the data ({data[0].name}): {penalty / error:.3g} times as much, so the weights "
                    "are pulled to 0 and the data hardly count", f"scale the penalty down, "
                    f"{10 ** np.ceil(np.log10(penalty / error)):.0f} times or more: 1e-4 is a usual "
                    "factor", step=case.looked[0].step)]


def _summed_beside_mean(case: Case) -> list[Finding]:
    """Errors of the examples of a batch, the ones averaged, and the others summed."""
    known = [(op, factor) for op, factor in map(scaled, addends(case.y)) if op in case.trained and op.type in (
        "Sum", "Mean") and comes_of_data(op.inputs)]
    case.want(*(op.inputs[0] for op, _ in known))
    values = case.values(case.looked[0]) if case.looked and len(known) > 1 else {}
    rows = {op: np.shape(values[op.inputs[0]])[:1] for op, _ in known if op.inputs[0] in values}
    for op in [op for op, factor in known if op.type == "Sum" and factor > _SMALL and rows.get(op, ()) > (_ROWS,)]:
        if beside := [o for o, factor in known if o.type == "Mean" and factor < 1 / _SMALL and rows.get(o) == rows[op]]:
            return [finding(58, "sum beside a mean", op, f"{op.name} is a sum over the {rows[op][0]} examples of the "
                            f"batch, and what is added to it, {beside[0].name}{at_line(place_of(beside[0]))}, a mean "
                            f"over them: it counts {rows[op][0]} times, and more with larger batches",
                            "reduce both alike: sum over the numbers of each example, and take the mean over examples",
                            target=beside[0].outputs[0].name, confidence="certain")]
    return []


def _divergence_too_heavy(case: Case) -> list[Finding]:
    """The divergence of a code, summed over its numbers, or a mean over these few, beside a mean over all that is
    decoded: it goes to 0."""
    parts = _of_an_example(case.y) if case.steps else []
    kinds = ("Sum", "Mean")[:1 + (len(case.steps) >= _SHOWN)]  # a mean is small at first
    codes = [(op, f, _numbers(op) if op.type == "Mean" else 1) for op, f in parts if op.type in kinds and any(
        o.type == "Exp" for o in above(op, 4)) and not _has_errors(op, case)]
    means = [(op, f, _numbers(op)) for op, f in parts if op.type == "Mean" and _has_errors(op, case)]
    for (op, weight, few), (mean, factor, size) in ((code, other) for code in codes for other in means):
        known = [0.5 * few * float(np.mean(v)) for v in case.series(op.outputs[0])]  # nats, of a normal code
        rows = mean.inputs[0].dims[0] if op.type == "Sum" and mean.inputs[0].dims and op.outputs[0].dims == () == (
            mean.outputs[0].dims) else 1
        count, examples = size * (rows or 1) // few, f" and the {rows} examples of a batch" * ((rows or 1) > 1)
        if size >= _MANY * few and weight / few > factor / size and known and abs(known[-1]) < _GONE:
            what = "a sum" if op.type == "Sum" else f"a mean over {few}"
            return [finding(49, "divergence too heavy", mean, f"{mean.name} is a mean over the {size} numbers of an "
                            f"example{examples}, {op.name}{at_line(place_of(op))}, a divergence beside it, {what}, "
                            f"which counts {count} times as much: it is {abs(known[-1]):.2g} by step "
                            f"{case.looked[-1].step}, so the code says nothing of the example", "sum both" if examples
                            else f"take {count} times the mean, or less of the other", confidence="certain",
                            written=count)]
    return []


def _numbers(op: Operation) -> int:
    """Of how many numbers of an example a mean is."""
    return int(np.prod([n or 1 for n in (op.inputs[0].dims or ())[1:]]))


def _has_errors(op: Operation, case: Case) -> bool:
    """Whether predictions meet labels behind an op."""
    return any(head.op in ancestors([op.inputs[0]]) for head in heads(case))


def cut_off(case: Case) -> list[Finding]:
    """A term of the loss that a stop_gradient keeps from all variables, or from those that else only a divergence or
    a penalty trains."""
    terms = [t for t in _terms(case.y) if case.variables_behind(t)]
    ways = {t: reached([t.op], lambda op: [i.op for i in op.inputs] if op.type not in ("StopGradient", *SHAPES) else [])
            for t in (terms if len(terms) > 1 else ())}
    trained = case.stepped if len(terms) > 1 else set[Operation]()
    for term, way in ways.items():
        apart = (case.variables_behind(term) & trained) - way
        others = [o for o in terms if o is not term and not apart.isdisjoint(ways[o])]
        is_idle = trained.isdisjoint(way)
        if not apart or not apart <= set[Operation]().union(*(ways[o] for o in others)) or not is_idle and not (any(
                head.op in way for head in heads(case)) and all(_holds_back(o, ways[o], case) for o in others)):
            continue
        stops = [op for op in way if op.type == "StopGradient" and not is_straight_through(op) and not apart.isdisjoint(
            ancestors(op.inputs))]
        meant = [op for op in stops if any(is_residual(o, case) for o in (op.inputs[0].op, *above(op, 4)))]
        for stop in in_order(op for op in stops if op not in meant or len(meant) == len(stops))[:1]:
            name = in_order(apart & ancestors(stop.inputs))[0].outputs[0].name
            return [finding(66, "term cut off", stop, f"{stop.name} lets no gradient of {term.name}, a part of "
                            f"{case.y.name}, through to {name}: " + (f"that part{share_of(term, case)} trains nothing"
                            if is_idle else
                            f"only {others[0].name} trains it, which does not say how well it does its task"),
                            "remove the tf.stop_gradient", target=term.name,
                            confidence="certain" if is_idle else "probable")]
    return []


def share_of(term: Tensor, case: Case) -> str:
    """`, 1.2 of 1.3,`: what a term is of y in the last step that is looked at; "" where that is not known."""
    case.want(term, case.y)
    known = [tuple(float(v) for v in values) for values in zip(case.series(term)[-1:], case.series(case.y)[-1:])
             if all(np.size(v) == 1 for v in values)]
    return "".join(f", {part:.3g} of {whole:.3g}," for part, whole in known)


def _terms(y: Tensor) -> list[Tensor]:
    """As addends, past signs and factors too."""
    found, stack = list[Tensor](), [y]
    while stack and len(found) < _MOST:
        op, _ = scaled(stack.pop())
        is_sum = op.type in (*_SUMS, "Sub") and all(t.dims == () for t in op.inputs)
        stack += op.inputs if is_sum else ()
        found += () if is_sum else op.outputs[:1]
    return found


def _holds_back(term: Tensor, way: set[Operation], case: Case) -> bool:
    """Whether a term of a loss is a penalty of weights, or the divergence of a normal code, and no error."""
    near = {o.type for o in (term.op, *above(term.op, 8)) if o in case.trained}
    return not comes_of_data([term]) or {"Exp", "Square"} <= near and "Log" not in near and not any(
        head.op in way for head in heads(case))


def _divergence_of_weight(case: Case) -> list[Finding]:
    """The divergence of a code that a factor makes count many times, or that is summed over the examples."""
    errors = [head.op for head in heads(case)]
    parts = _of_an_example(case.y) if case.steps else []
    told = [(op, f) for op, f in parts if op.type == "Sum" and ancestors([op.inputs[0]]).isdisjoint(errors)
            and {"Exp", "Square"} <= {o.type for o in above(op, 6)}]
    others = [f for op, f in parts if op.type == "Sum" and not ancestors([op.inputs[0]]).isdisjoint(errors)]
    for op, weight in told if others else ():
        axes, dims = static_value(op.inputs[1]), op.inputs[0].dims or ()
        if axes is not None and np.ravel(axes).tolist() == [0] and len(dims) == 2 and dims[0] is None:
            return [finding(66, "summed over the examples", op, f"{op.name}, a divergence, is a sum over axis 0, the "
                            f"examples, where the error beside it is summed over the numbers of each: it counts more "
                            "with larger batches, and holds the code down", "take it over the code: axis=1",
                            confidence="certain")]
        heavy = max((o for o in case.behind if o.type == "Mul" and op in ancestors(o.inputs) and o.outputs[0].dims == ()
                     and (max((number_in(t) or 0.0) for t in o.inputs) >= _HEAVY)), key=lambda o: o.index, default=None)
        known = [0.5 * float(np.mean(v)) for v in case.series(op.outputs[0])]  # nats, of a normal code
        if heavy is not None and 2 * weight >= _HEAVY * max(others) and known and abs(known[-1]) < _GONE and not any(
                error in ancestors(heavy.inputs) for error in errors):
            return [finding(66, "divergence weighs too much", heavy, f"{op.name}{at_line(place_of(op))}, a divergence, "
                            f"counts {2 * weight / max(others):.3g} times as much as the error: it is "
                            f"{abs(known[-1]):.2g} by step {case.looked[-1].step}, so the code says nothing",
                            "weigh it less, by 1 at first", step=case.looked[-1].step)]
    return []


def _of_an_example(y: Tensor) -> list[tuple[Operation, float]]:
    """What the loss of an example is a sum of, as ops that reduce over its numbers, and their factors."""
    found, stack = [], [(y, 1.0)]
    while stack:
        tensor, weight = stack.pop()
        op, factor = scaled(tensor)
        dims = op.inputs[0].dims if op.type == "Mean" else None
        if op.type in (*_SUMS, "Sub") or dims is not None and len(dims) < 2:
            stack += [(t, weight * factor) for t in op.inputs if number_in(t) is None]
        else:
            found.append((op, weight * factor))
    return found


def addends(y: Tensor) -> list[Tensor]:
    """What a loss is a sum of."""
    found: list[Tensor] = []
    stack: list[tuple[Tensor, int]] = [(y, 0)]
    while stack:
        tensor, depth = stack.pop()
        op = _unwrapped(tensor)
        if op.type in _SUMS and depth < 20 and all(t.dims == () for t in op.inputs):
            stack += [(t, depth + 1) for t in op.inputs]
        else:
            found.append(op.outputs[tensor.value_index] if op is tensor.op else op.outputs[0])
    return found


def _unwrapped(tensor: Tensor) -> Operation:
    op = tensor.op
    while op.type in SAME and op.inputs and op.inputs[0].dims == ():
        op = op.inputs[0].op
    return op


def is_residual(op: Operation, case: Case) -> bool:
    """Whether an op is a prediction less what was fed for it, example by example."""
    if op.type != "Sub" or op not in case.trained or not op.outputs[0].dims:
        return False
    trained = [t.op in case.trained for t in op.inputs]
    if sum(trained) != 1 or not (fed := fed_behind([op.inputs[trained.index(False)]])):
        return False
    said = past(op.inputs[trained.index(True)], SAME).op  # weighed by labels already it is no prediction
    return said.type != "Mul" or not any(t.op not in case.trained and fed & fed_behind([t]) for t in said.inputs)


def averaged_first(op: Operation, case: Case) -> Iterator[Finding]:
    """The square of a mean, where the mean of squares is meant: of residuals, or of all that the loss has of data."""
    mean = averaged_in(op)
    if mean is None or op not in case.trained or signs_of(op, case) != {1}:
        return
    source = past(mean.inputs[0], SAME)
    users = [c for c in through(source) if c in case.behind and c is not mean and c.type not in ("Neg", *SAME)]
    labels = next((t for t in source.op.inputs if t.op not in case.trained), None)
    is_of_labels, is_one = labels is not None and is_residual(source.op, case), mean.outputs[0].dims == ()
    if users or not is_one and not is_of_labels:
        return
    if is_of_labels and labels is not None and (is_one or is_data(past(labels, SAME))):
        said = past(next(t for t in source.op.inputs if t is not labels), SAME)
        if any(said.op in ancestors([head.prediction]) or head.labels is not None and fed_behind([labels]) & fed_behind(
                [head.labels]) for head in heads(case)):
            return  # a penalty of what is off on average, beside the error
    elif not is_one or not _is_alone(op, source, case):
        return
    case.want(source, mean.outputs[0])
    values, means = case.series(source), case.series(mean.outputs[0])
    if not is_one and not (values and means and values[0].size > means[0].size) or not is_of_labels and (
            not values or np.mean(values[-1]) ** 2 > _CANCELS * np.mean(np.square(values[-1]))):
        return
    what = "residuals" if is_of_labels else f"of {source.name}"
    yield finding(73, "mean before square", op, f"{op.name} takes the {'size' if op.type == 'Abs' else 'square'} of "
                  f"{mean.name}{at_line(place_of(mean))}, the {how_reduced(mean)} of all {what}: errors of both signs "
                  "cancel in it, so it is 0 for what is right on average alone",
                  "tf.reduce_mean(tf.square(prediction - labels))" if is_of_labels else "square first, and take the "
                  "mean of the squares: tf.reduce_mean(tf.square(x))", confidence="certain" if is_of_labels else
                  "probable")


def averaged_in(op: Operation) -> Operation | None:
    """The mean, or sum, of which an op takes the square or size; None if it does not."""
    is_square = op.type in ("Square", "Abs", "L2Loss") or op.type == "Pow" and constant(op.inputs[1]) is not None or (
        op.type == "Mul" and op.inputs[0] is op.inputs[1])
    mean = scaled(op.inputs[0])[0] if is_square else op
    return mean if is_square and mean.type in ("Mean", "Sum") else None


def how_reduced(total: Operation) -> str:
    """ "sum", or "mean", also where it is divided only then."""
    return "sum" if total.type == "Sum" and "mean" not in getattr(place_of(total), "text", "") else "mean"


def _is_alone(op: Operation, source: Tensor, case: Case) -> bool:
    """Whether y is that square and others, each of a mean too, of one number, or of weights alone."""
    if source.op.type == "Mul" and any(t.op not in case.trained and number_in(t) is None for t in source.op.inputs):
        return False  # weighed by what tests it
    parts = [scaled(t)[0] for t in addends(case.y)]
    return op in parts and all(averaged_in(each) is not None or not any(
        o.type in LAYERS and o in case.trained for o in ancestors(each.outputs)) or each.inputs and each.type in (
        "Square", "Abs", "Mul", "Pow") and {*(each.inputs[0].dims or ())} <= {1} for each in parts)
