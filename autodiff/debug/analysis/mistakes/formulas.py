"""Formulas written by hand, in losses and before them: signs, deviations, masks and bounds that are not meant."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order, past
from ...facts.roles import BOUNDS, at_line, place_of
from ..findings import Finding
from .case import Case, fed_behind, finding, held, values_behind
from .heads import ENTROPIES, SAME, above, constant, last_layer, number_in, unbroadcast
from .leaks import padding_of
from .signs import signs_of

_LOGS = ("LogSoftmax", "Log")
_BLOCKED = -1e3  # what is put in place of scores that are not to count
OTHERWISE = {"Equal": "!=", "NotEqual": "==", "Greater": "<=", "LessEqual": ">", "Less": ">=", "GreaterEqual": "<"}
_ABOVE = 1.5  # which no cosine is
_MOST, _TINY = 0.99, 0.01  # share of errors beyond a bound, and its size beside them
_PLAIN = ("GradientDescent", "Momentum")  # rules to which the size of a gradient counts
_STEPS = 20  # training steps that show what is never run
_KEPT = 0.75  # share of positions that have rows of their own, where others have one together


def formula_mistakes(case: Case) -> list[Finding]:
    """Findings about what is computed by hand."""
    rules = (_entropy_minimized, _advantage_trained, _deviation_of_a_logarithm, _cosine, _bounded_errors, _mask_turned,
             _positions_clipped, _gain_minimized, _own_target)
    return [*(f for op in case.behind for rule in rules for f in rule(op, case)), *_averages_never_taken(case)]


def _policies(case: Case) -> Iterator[tuple[Operation, Tensor, Tensor]]:
    """Products of the logarithm of what was chosen and of something else: op, the logarithm, and the other."""
    for op in case.behind:
        if op.type == "Mul":
            a, b = map(unbroadcast, op.inputs)
            for log, other in ((a, b), (b, a)):
                if _is_of_a_choice(log, case) and constant(other) is None and not _is_of_a_choice(other, case):
                    yield op, log, other


def _is_of_a_choice(tensor: Tensor, case: Case) -> bool:
    """Whether a tensor is the logarithm of the probability of what was chosen, with any sign."""
    op = past(tensor, (*SAME, "Neg")).op
    if op.type in ENTROPIES or op.type in ("GatherNd", "GatherV2") and op.inputs[0].op.type in _LOGS:
        return op in case.trained
    if op.type == "Log":
        op = past(op.inputs[0], ("Add", "AddV2", "Maximum", *SAME)).op
        return op.type in ("Sum", "GatherNd") and last_layer(op.outputs[0]).type == "Softmax"
    factors = op.inputs[0].op.inputs if op.type == "Sum" and op.inputs[0].op.type == "Mul" else []
    return any(t.op.type in _LOGS and t.op in case.trained for t in factors) and any(
        t.op not in case.trained for t in factors)


def _entropy_minimized(op: Operation, case: Case) -> Iterator[Finding]:
    """The entropy of a policy that goes into what is minimized as a cost, not as a bonus."""
    if op.type != "Mul":
        return
    for p, log in (op.inputs, op.inputs[::-1]):
        if p.op.type != "Softmax" or log.op.type not in _LOGS or p.op not in case.trained:
            continue
        is_own = log.op.inputs[0] is p.op.inputs[0] if log.op.type == "LogSoftmax" else (
            last_layer(log.op.inputs[0]) is p.op)
        if is_own and signs_of(op, case) == {-1} and any(
                p.op.inputs[0].op in ancestors([chosen]) for _, chosen, _ in _policies(case)):
            yield finding(62, "entropy minimized", op, f"{case.y.name} is minimized, and grows with the entropy of the "
                          f"policy {p.name}, which {op.name} is of: the policy is pressed to be sure of one action "
                          "before it knows which is best, where a bonus of entropy keeps it trying",
                          "subtract it: loss = policy_loss + value_loss - beta * entropy", target=p.name)


def _advantage_trained(op: Operation, case: Case) -> Iterator[Finding]:
    """An advantage whose square trains a critic, and which weighs a policy's loss with the gradient through it."""
    for product, log, other in _policies(case) if op.type == "Sub" and op in case.trained else ():
        if past(other, (*SAME, "Neg")).op is op and any(
                c.type == "Square" or c.type == "Mul" and set(c.inputs) == {op.outputs[0]}
                for c in op.outputs[0]._consumers if c in case.behind):
            yield finding(66, "advantage is trained", op, f"{op.name}, the error of a critic, weighs {log.name} in "
                          f"{product.name}{at_line(place_of(product))}, and the gradient goes through it: the critic "
                          "is moved to make the policy's loss small, not to be right",
                          "put tf.stop_gradient around the advantage there", confidence="certain")


def _deviation_of_a_logarithm(op: Operation, case: Case) -> Iterator[Finding]:
    """Noise that is scaled by the logarithm of a variance, whose exponential the loss takes elsewhere."""
    for noise, scale in (op.inputs, op.inputs[::-1]) if op.type == "Mul" else ():
        if noise.op not in case.trained and scale.op in case.trained and any(
                o.type == "RandomStandardNormal" for o in ancestors([noise])) and (exp := next((
                    c for c in scale._consumers if c.type == "Exp" and c in case.behind), None)) is not None:
            yield finding(70, "logarithm for deviation", op, f"{op.name} scales noise by {scale.name}, but {exp.name}"
                          f"{at_line(place_of(exp))} takes its exponential, so it is the logarithm of a variance: a "
                          "deviation is never below 0, and the sample does not belong to the divergence",
                          f"scale the noise by tf.exp(0.5 * {scale.op.name.rpartition('/')[0] or scale.op.name})",
                          target=scale.name, confidence="certain")


def _cosine(op: Operation, case: Case) -> Iterator[Finding]:
    """1 less a sum of products, as of a cosine, of vectors whose length is not 1."""
    total = op.inputs[1].op if op.type == "Sub" else op
    one = constant(op.inputs[0]) if total.type == "Sum" and total.inputs[0].op.type == "Mul" else None
    if one is None or np.size(one) != 1 or float(np.ravel(one)[0]) != 1.0:
        return
    u, v = total.inputs[0].op.inputs
    if u is v or any(t.op not in case.trained or past(t, SAME).op.type not in ("BiasAdd", "MatMul", "Relu", "Tanh")
                     for t in (u, v)):
        return
    values = case.series(total.outputs[0])
    most = max((float(np.max(each)) for each in values if each.size), default=0.0)
    if most > _ABOVE:
        yield finding(69, "cosine of no unit vectors", total, f"1 - {total.name} is taken for a distance, as of a "
                      f"cosine, but {u.name} and {v.name} are not of length 1: {total.name} went up to {most:.3g}, and "
                      f"the loss falls without end as they grow ({case.first_loss:.4g} to {case.last_loss:.4g})",
                      "normalize both: tf.nn.l2_normalize(x, 1)")


def _bounded_errors(op: Operation, case: Case) -> Iterator[Finding]:
    """A Huber loss whose bound lies so far below the errors that all slopes are that bound."""
    pair = [(t, float(np.ravel(c)[0])) for t, other in zip(op.inputs, op.inputs[::-1]) if t.op.type == "Abs"
            and (c := constant(other)) is not None and np.size(c) == 1] if op.type == "Minimum" else []
    if not pair or op not in case.trained or case.learns or not case.updates or not any(
            update.op.type.endswith(_PLAIN) for update in case.updates):
        return
    errors, bound = pair[0]
    values = case.series(errors)
    if len(values) > 3 and bound > 0 and all(np.mean(each > bound) > _MOST for each in values) and (
            bound < _TINY * float(np.median(values[-1]))):
        yield finding(64, "bound of errors too low", op, f"{op.name} bounds the errors at {bound:.3g}, and they are "
                      f"{float(np.median(values[-1])):.3g} as a rule: each example pulls with {bound:.3g}, however "
                      f"wrong it is, and {case.went}",
                      "raise the delta of the Huber loss to the size of usual errors, 1.0 of scaled targets")


def _mask_turned(op: Operation, case: Case) -> Iterator[Finding]:
    """Scores that are blocked where there are tokens, and left where rows have ended."""
    scores = past(op.inputs[0], SAME).op if op.type == "Softmax" and op in case.trained else op
    if scores.type not in ("Select", "SelectV2", "Add", "AddV2", "Sub") or scores is op:
        return
    case.want(op.inputs[0])
    is_safe = scores.type in ("Select", "SelectV2") and any(each.type == "All" for each in ancestors(scores.inputs[:1]))
    masked = scores.inputs[2] if is_safe else op.inputs[0]  # torch's softmax has no row of -inf
    future = list(map(_is_future, case.series(masked)))
    if future and all(future):
        yield finding(73, "mask the wrong way round", masked.op, f"{masked.name} lets each position see those alone "
                      f"that come after it, and the last one none: the mask of {op.name} is turned round", "turn the "
                      "mask: let it leave each position itself and what comes before, as np.tri has it")
        return
    given: Tensor | None = None
    for run in case.looked:
        value = np.asarray(case.values(run).get(op.inputs[0], 0.0))
        if value.ndim > 1 and (given := next((t for t, fed in run.feeds.items() if _is_blocked(
                np.asarray(fed), value)), None)) is None:
            return
    if given is not None:
        beside = values_behind([case.y], [t for each in case.behind for t in each.outputs if each.type == "Softmax"
                                          or each in case.trained and t.dtype.name == "bool"])  # else than as masks
        asked = [each for each in in_order(ancestors([scores.outputs[0]])) if each.type in OTHERWISE and each not in (
            case.trained | beside) and given.op in ancestors(each.inputs)]
        at = asked[-1] if asked else scores
        yield finding(73, "mask the wrong way round", at, f"{scores.name} blocks the scores of all that "
                      f"{given.name} tells to be there, and leaves what is behind the ends: the weights of {op.name}"
                      f"{at_line(place_of(op))} are all on padding", f"block the padding: {OTHERWISE[at.type]} there"
                      if asked else "turn the mask: tf.where(mask, scores, tf.fill(tf.shape(scores), -1e9)), or scores "
                      "+ (1.0 - mask) * -1e9", target=op.outputs[0].name,
                      confidence="certain" if asked else "probable")


def _is_future(scores: np.ndarray) -> bool:
    """Whether all is blocked but what comes later, in each table of scores of positions for positions."""
    rows, columns = scores.shape[-2:] if scores.ndim > 1 else (0, 1)
    return rows == columns > 2 and bool(((scores <= _BLOCKED) == np.tri(rows, dtype=bool)).all())


def _is_blocked(fed: np.ndarray, scores: np.ndarray) -> bool:
    """Whether scores are blocked just where lengths or tokens that were fed tell that something is, as beside a token
    for all of it."""
    if fed.ndim not in (1, 2) or fed.dtype.kind not in "iu" or not len(fed) or len(scores) % len(fed):
        return False
    blocked = scores.reshape(len(fed), -1, scores.shape[-1])[:, -1] <= _BLOCKED
    width = blocked.shape[1]
    if fed.ndim == 1:
        ends = np.arange(width) >= fed[:, None] if 0 < fed.min() <= fed.max() <= width else np.zeros(blocked.shape)
    else:
        ends = padding_of(fed)
    return bool(ends.any()) and not blocked.all() and any(np.array_equal(part, ends == 0) for part in (
        blocked[:, -ends.shape[1]:], blocked[:, :ends.shape[1]]))


def _positions_clipped(op: Operation, case: Case) -> Iterator[Finding]:
    """Positions of a sequence of which many have one row of a table together, as they are clipped."""
    index = static_value(op.inputs[1]) if op.type == "GatherV2" and held(op.inputs[0]).outputs[
        0] in case.variables else None
    if index is None or index.ndim != 1 or len(index) < 8 or index[0] != 0:
        return
    steps, last = np.diff(index), int(index[-1])
    if 0 < last < _KEPT * len(index) and (steps[:last] == 1).all() and not steps[last:].any():
        yield finding(62 if not case.learns else 42, "positions clipped", op.inputs[1].op, f"{op.name} looks up rows 0 "
                      f"to {last} of {held(op.inputs[0]).name} for {len(index)} positions: all from {last} on have the "
                      "same row, and cannot be told apart", "a row for each position: tf.range(length), and a table as "
                      "long", target=f"{held(op.inputs[0]).name}:0", confidence="certain")


def _gain_minimized(op: Operation, case: Case) -> Iterator[Finding]:
    """An overlap of masks, or what a policy gains, that is minimized as it is."""
    what = "the overlap of prediction and mask" if _is_overlap(op, case) else (
        "what the policy gains by the ratio of probabilities" if _is_clipped_gain(op, case) else "")
    if what and signs_of(op, case) == {1}:
        last = op
        while len(takers := [c for t in last.outputs for c in t._consumers if c in case.behind]) == 1 and (
                takers[0].type in ("Mean", "Sum", *SAME)):
            last = takers[0]
        yield finding(102, "wrong sign", last, f"{case.y.name} is minimized, and grows with {op.name}, {what}: the "
                      f"training makes it as small as it can; {case.went}", "turn it: loss = 1 - tf.reduce_mean(dice)"
                      if "mask" in what else "turn it: loss = -tf.reduce_mean(tf.minimum(ratio * adv, clipped * adv))",
                      confidence="certain")


def _is_overlap(op: Operation, case: Case) -> bool:
    """Whether an op divides a sum of predictions times labels by the sums of both."""
    if op.type not in ("RealDiv", "DivNoNan") or op not in case.trained:
        return False
    sums = [[each for each in above(t.op, 4) if each.type == "Sum"] for t in op.inputs]
    for total in sums[0]:
        factors = set(total.inputs[0].op.inputs) if total.inputs[0].op.type == "Mul" else set()
        learnt = {t for t in factors if t.op in case.trained and last_layer(t).type in ("Sigmoid", "Softmax")}
        added = {each.inputs[0] for each in sums[1]}
        if len(factors) == 2 and len(learnt) == 1 and factors <= added:
            return True
    return False


def _is_clipped_gain(op: Operation, case: Case) -> bool:
    """Whether an op is the lesser of advantages times a ratio of probabilities, and times that ratio in bounds."""
    if op.type != "Minimum" or op not in case.trained or any(t.op.type != "Mul" for t in op.inputs):
        return False
    plain = [t for product in op.inputs for t in product.op.inputs if t.op.type == "Exp" and t.op in case.trained]
    return any({r.op} & {each for product in op.inputs for t in product.op.inputs if t.op.type in BOUNDS
                         for each in above(t.op, 3)} for r in plain)


def _own_target(op: Operation, case: Case) -> Iterator[Finding]:
    """The error to a reward and the discounted value of what comes next, by the same network, with its gradient."""
    if op.type not in ("Sub", "SquaredDifference") or op not in case.trained:
        return
    for target, value in (op.inputs, op.inputs[::-1]):
        parts = target.op.inputs if target.op.type in ("Add", "AddV2") and value.op in case.trained else ()
        reward = [t for t in parts if t.op not in case.trained and fed_behind([t]) and len(t.dims or ()) < 3]
        later = [t for t in parts if t.op in case.trained and t.op.type == "Mul"
                 and any(0.5 < (number_in(f) or 0.0) < 1 for f in t.op.inputs)]
        if not (reward and later):
            continue
        known = [case.variables_behind(t) for t in (target, value)]
        if known[0] == known[1] and fed_behind([target]) - fed_behind([*reward, value]):
            yield finding(47, "target is trained", target.op, f"{op.name} is the error of {value.name} from the target "
                          f"{target.name}, a reward and the discounted value of what comes next, which the same "
                          "variables make: the gradient goes through both, and pulls the target to the prediction",
                          f"put tf.stop_gradient around the target: tf.stop_gradient({target.op.name})")
            return


def _averages_never_taken(case: Case) -> list[Finding]:
    """Moving averages of trained variables whose updates were built, and that no run makes."""
    trained, found = set(case.variables), []
    for op in case.operations if len(case.steps) >= _STEPS else ():
        if op.type == "AssignSub" and op.inputs[0] not in trained and _is_average(op, trained):
            if any(op in run.ran for run in case.runs):
                return []
            found.append(op)
    if not found:
        return []
    return [finding(46, "averages never taken", found[0], f"{found[0].name} is to move {found[0].inputs[0].name} along "
                    f"with a trained variable, as a moving average, but in {len(case.steps)} training steps neither it "
                    f"nor any of {len(found)} such updates ran: the averages keep their first values",
                    "run them with the training: with tf.control_dependencies([train_op]): train_op = "
                    "ema.apply(tf.trainable_variables())", target=found[0].inputs[0].name, confidence="certain")]


def _is_average(op: Operation, trained: set[Tensor]) -> bool:
    """Whether an update moves a variable by a share of how far a trained one is from it."""
    product = past(op.inputs[1], SAME).op
    difference = next((t.op for t in product.inputs if t.op.type == "Sub"), None) if product.type == "Mul" else None
    both = [held(t).outputs[0] for t in difference.inputs if held(t).outputs] if difference is not None else []
    return op.inputs[0] in both and any(t in trained for t in both)
