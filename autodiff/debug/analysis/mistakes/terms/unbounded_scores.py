"""Scores of the right classes whose mean is raised, where nothing divides them by those of the others: no end to it."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, past
from ....facts.roles import VARIABLES, at_line, place_of
from ...findings import Finding
from ..axes.mixed import with_loss
from ..case import Case, finding, held, values_behind
from ..classes import classes_in
from ..heads import DATA, SAME, Head, activation_of, gathered, last_layer, unbroadcast
from ..signs import signs_of
from ..trainers import by_loss

KIND = "scores without bound"
_FAR, _LINEAR = 1000.0, 1e-3  # by how much scores are raised; share by which twice as much may miss twice the fall


def unbounded_scores(case: Case) -> Iterator[Finding]:
    """A mean of scores of the right classes that is raised, and falls as far as they are raised."""
    for op in case.behind if with_loss(case) else ():
        for place, scores, labels in _pairs(op, case):
            head = Head("log", op, scores, labels, last_layer(scores))
            count, axis = classes_in(head, case), (scores.dims or (0,))[-1] or 0
            if count < 2 or axis != count or not _is_alone(op, scores, case) or signs_of(op, case) != {-1}:
                continue
            falls = _falls(scores, labels, case)
            if falls is None:
                continue
            yield finding(85, KIND, op, f"{op.name} takes the score of the right class of {scores.name}, which "
                          f"{head.end.name}{at_line(place_of(head.end))} gives as it is: nothing weighs it against the "
                          f"scores of the other {count - 1}, so {case.y.name} has no least value. Raised by {_FAR:g}, "
                          f"it falls by {falls:.4g}; {case.went}{_told(scores, labels, case)}", "take the logarithms "
                          "of shares: tf.nn.log_softmax(scores), or tf.nn.softmax_cross_entropy_with_logits",
                          target=scores.name, confidence="certain", written=place)
            return


def _pairs(op: Operation, case: Case) -> Iterator[tuple[int, Tensor, Tensor]]:
    """The operand of an op that is scores of classes, by number, and the labels that pick of them."""
    source, given = gathered(op, case)
    sides = [(0, source.outputs[0], given)] if given is not None else [
        (i, t, other) for i, (t, other) in enumerate(zip(op.inputs, op.inputs[::-1]))] if op.type == "Mul" else []
    for place, scores, labels in sides:
        scores, labels = unbroadcast(scores), unbroadcast(labels)
        if scores.op in case.trained and labels.op not in case.trained and _is_linear(last_layer(scores)):
            yield place, scores, labels


def _is_linear(end: Operation) -> bool:
    """Whether an op is the end of a layer that nothing bends or bounds."""
    return activation_of(end) == "" or end.type in ("Add", "AddV2") and any(
        held(past(t, SAME)).type in VARIABLES for t in end.inputs) and any(
            activation_of(past(t, (*SAME, "Transpose")).op) == "" for t in end.inputs)


def _is_alone(op: Operation, scores: Tensor, case: Case) -> bool:
    """Whether what the scores are computed of trains by them alone, but for penalties: not as of a critic, whose scores
    of others fall, or of what is judged by one."""
    own = case.variables_behind(scores)
    others = ancestors([case.y], op.outputs) & case.trained
    beside = [o for o in others if ancestors(o.inputs) & own and any(b.type in DATA for b in values_behind(o.inputs))]
    past_it = {o for o in beside if op not in ancestors(o.inputs)}
    return not past_it and not any(y is not case.y and case.variables_behind(y) & own for y in by_loss(case))


def _falls(scores: Tensor, labels: Tensor, case: Case) -> float | None:
    """By how much y falls where all scores of right classes are raised; None where it does not fall evenly."""
    run = with_loss(case)[-1]
    case.want(scores, labels)
    known = case.values(run)
    if scores not in known or labels not in known:
        return None
    value, named = np.asarray(known[scores]), np.asarray(known[labels])
    hot = named if named.shape == value.shape else np.eye(value.shape[-1])[named.astype(int).ravel()].reshape(
        value.shape) if named.size * value.shape[-1] == value.size else None
    ys = [case.with_variables(run, case.y, run.before, {scores: (value + by * hot).astype(value.dtype)})
          for by in (0.0, _FAR, 2 * _FAR)] if hot is not None else []
    falls = [ys[0] - y for y in ys[1:] if y is not None and ys[0] is not None]
    return falls[0] if len(falls) == 2 and falls[0] > 0 and abs(falls[1] - 2 * falls[0]) <= _LINEAR * falls[0] else None


def _told(scores: Tensor, labels: Tensor, case: Case) -> str:
    """How often the right class has the largest score, at first and at last."""
    shares = []
    for value, named in zip(case.series(scores), case.series(labels)):
        right = named.argmax(-1) if named.shape == value.shape else named.reshape(value.shape[:-1])
        shares.append(float((value.argmax(-1) == right).mean()))
    return f", and right answers from {shares[0]:.0%} to {shares[-1]:.0%} of a batch"
