"""The pace of a training: learning rates that are too high, too low or decayed, and steps the wrong way."""
from __future__ import annotations

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants, past, reached
from ...facts.roles import PLACEHOLDERS, at_line, place_of
from ..findings import Finding
from .case import Case, fed_behind, finding, gradients_of, rate_of, update_op, values_behind
from .heads import DATA, SAME, Head, heads, number_in, scaled, through
from .last_layer import labels_out_of_range
from .pairing import is_rewarded
from .signs import is_squared, sign_through, signs_into, signs_of
from .slow import decayed, too_few, too_low

_GROWN = 10.0  # times its first size: a loss that has diverged
_FAST, _WHOLE = 0.3, 1.0  # change of a kernel by a step, relative to its size; that leaves nothing of what it was
_WORSE = 1.2  # times the loss of a guess
_HASTY, _PEAK, _BEYOND = 6, 3.0, 100.0  # first steps; times its size that a loss grows in long ones, in far longer
_RESTLESS, _MANY = 0.1, 20  # the same of the last of so many steps
_RAISED = 0.5  # of the highest loss, that a step should leave where steps are what raised it
_MENDED = 0.2  # of its first size: a loss that first steps raised, to no harm
_RISES = 0.3  # of what steps lower the loss of their own batches in all: less rise is no matter
_ALIVE = 0.2  # of the inputs of a relu above 0, where it is no dead one
_FACTOR = 10.0  # of a loss, that makes steps so many times as long
_ADAPTIVE = ("Adam", "RMSProp", "Adagrad")  # to which the size of a loss is nothing
_NOT_DOWN = 0.3  # of the steps go up the gradient, from which on none of it is minimized
_UNSCALED = 10.0  # mean size of inputs that makes curvatures large


def pace_mistakes(case: Case) -> list[Finding]:
    """Findings about how the loss goes from step to step; none where no variable has a slope in it, as in a count."""
    smooth = reached([case.y.op], lambda op: [t.op for t in op.inputs if not (
        t.dtype.is_integer or t.dtype.is_bool)])
    if not case.steps or smooth.isdisjoint(v.op for v in case.variables):
        return []
    return _uphill(case) or [*_diverges(case), *_too_high(case), *too_low(case), *decayed(case), *_bottomless(case),
                             *too_few(case)]


def _uphill(case: Case) -> list[Finding]:
    """Updates along the gradient, not against it."""
    slopes = _slopes(case)[:6]
    is_plain = all(update.op.type.endswith("GradientDescent") for update in case.updates)
    if len(slopes) < (2 if is_plain else 4) or not all(s > 0 for _, s in slopes):  # momentum goes on for some steps
        return []
    again = [(step, before, after) for step, before, after in case.again if after > before]
    if not again or _turned(case) or _is_hill(case):  # a gain is climbed, or a density
        return []
    at = update_op(case)
    step, before, after = again[0]
    rate = rate_of(case, case.looked[0]) or 0.0
    why = f"the learning rate is below 0 ({rate:.3g}): " if rate < 0 else ""
    return [finding(104, "wrong sign", at, f"{why}the steps go up the gradient of {case.y.name}: gradient times change "
                    f"is {slopes[0][1]:.3g} at step {slopes[0][0]}, above 0 in all {len(slopes)} steps looked at, and "
                    f"the loss of the same batch goes from {before:.4g} to {after:.4g} by step {step}: it is maximized",
                    "a learning rate above 0" if why else "subtract the learning rate times the gradient "
                    "(assign_sub), or drop the minus before the gradient", step=slopes[0][0], confidence="certain")]


def _is_hill(case: Case) -> bool:
    """Whether all squares of what is trained go into y with a minus: it has a top, and no bottom."""
    ways = ancestors([case.y], [t for op in case.behind if op.type == "StopGradient" for t in op.outputs])
    ends = [signs_into(op.outputs[0], case.y, ways, growing=("Exp", "Log")) for op in ways
            if op in case.trained and is_squared(op)]
    return bool(ends) and all(sign < 0 for each in ends for sign, _ in each)


def _slopes(case: Case) -> list[tuple[int, float]]:
    """Of the steps that are looked at: the number, and gradient times change."""
    raw = gradients_of(case)
    case.want(*raw.values())
    slopes = []
    for run in case.looked:
        values = case.values(run)
        slope = 0.0
        for x, gradient in raw.items():
            before, after = run.before.get(x.op.name), run.after.get(x.op.name)
            if before is not None and after is not None and gradient in values and np.shape(before) == np.shape(after):
                with np.errstate(all="ignore"):
                    change = np.subtract(after, before, dtype=float)
                    slope += float(np.vdot(np.asarray(values[gradient], float), change))
        if slope and np.isfinite(slope):
            slopes.append((run.step, slope))
    return slopes


def negated_losses(case: Case) -> list[Finding]:
    """An error between predictions and labels that goes into y with a minus: the better the fit, the larger y."""
    turned = _turned(case)
    if not turned or (slopes := _slopes(case)) and np.mean([slope > 0 for _, slope in slopes]) > _NOT_DOWN:
        return []  # or y is climbed, or sampled from
    head = turned[0]
    losses = [loss for _, loss in case.losses if np.isfinite(loss)]
    told = f": it went from {losses[0]:.4g} at step {case.losses[0][0]} to {losses[-1]:.4g}" if len(losses) > 1 else ""
    return [finding(102, "wrong sign", head.op, f"{case.y.name} is minimized, but {head.op.name}, the {_error(head)}, "
                    f"goes into it with a minus{_where(case)}: the training makes the error larger, without end{told}",
                    "minimize the error itself: drop the minus", confidence="certain")]


def _turned(case: Case) -> list[Head]:
    """Errors that go into y with a minus, if all of them do."""
    turned, straight = [], []
    for head in heads(case):
        signs = signs_of(head.op, case)
        if signs == {-1} and head.form != "log":
            turned.append(head)
        elif signs != {-1} or head.form == "log":
            straight.append(head)
    elsewhere = {op for call in case.calls if call.ys[0] is not case.y for op in ancestors(call.ys)}
    return [] if straight or any(head.op in elsewhere for head in turned) else turned


def endless_falls(case: Case) -> list[Finding]:
    """An exponential that only goes into y with a minus: y falls without end as it grows."""
    for op in case.behind:
        if op.type == "Exp" and op in case.trained and signs_of(op, case, fed=0) == {-1}:
            below = descendants([op.outputs[0]])
            turn = max((c for c in case.behind if any(sign_through(c, t, 0) < 0 for t in c.inputs if t.op in below or
                                                      t.op is op)), key=lambda c: c.index, default=op)
            weight = 103 if case.is_spoiled else 82  # what overflowed by it follows from it
            return [finding(weight, "wrong sign", turn, f"{op.name}, the exponential of {op.inputs[0].name}, goes into "
                            f"{case.y.name} with a minus{_where(case)}: the loss falls without end as it grows, as "
                            "where the sign of a divergence or a likelihood is turned", "turn the sign of the term: "
                            "the divergence of a normal code is -0.5 * sum(1 + logvar - mu^2 - exp(logvar))")]
    return []


def _error(head: Head) -> str:
    return {"squared": "squared error", "absolute": "absolute error"}.get(head.form, "cross entropy")


def _where(case: Case) -> str:
    turn = next((op for op in reversed(case.behind) if op.type == "Neg"), None)
    return "" if turn is None else f" ({turn.name}{at_line(place_of(turn))})"


def _diverges(case: Case) -> list[Finding]:
    """A loss that grows until it overflows, or far beyond its beginning."""
    losses = case.losses
    finite = [(step, loss) for step, loss in losses if np.isfinite(loss)]
    if len(finite) < 1 or not case.again:
        return []
    start, peak = finite[0], max(finite, key=lambda each: each[1])
    risen = next(((step, before, after) for step, before, after in case.again
                  if np.isfinite(before) and not after <= before + 1e-3 * abs(before)), None)
    overflowed = risen is not None and bool(case.nonfinite) and not np.isfinite(risen[2]) and _is_finite_after(
        case, risen)
    is_raised = max((a for _, b, a in case.again if a > b), default=0) > _RAISED * peak[1]  # not by other batches
    grown = peak[1] > _GROWN * max(abs(start[1]), 1e-6) and (
        case.nonfinite or is_raised and (finite[-1][1] > _GROWN * abs(start[1]) or
                                         case.last_loss > 0.9 * max(case.guess, start[1])))
    if risen is None or not (grown or overflowed):
        return []
    step, before, after = risen
    ends = f"nan or inf at step {case.nonfinite}" if case.nonfinite else f"{finite[-1][1]:.3g} at step {finite[-1][0]}"
    grew = f"the loss grew from {start[1]:.3g} at step {start[0]} to {peak[1]:.3g} at step {peak[0]}, "
    said = (f"the training diverges: {grew if peak is not start else 'the loss is '}{ends}; the update of step {step} "
            f"alone takes the loss of its own batch from {before:.4g} to {after:.4g}")
    return [_cause(case, said, step, 104)]


def _is_finite_after(case: Case, risen: tuple[int, float, float]) -> bool:
    """Whether a step left all variables finite: what is not finite then came of their size."""
    run = next(run for run in case.looked if run.step == risen[0])
    return all(np.isfinite(run.after[v.op.name]).all() for v in case.variables if v.op.name in run.after)


def _too_high(case: Case) -> list[Finding]:
    """Steps that are so long that the loss of their own batch rises, or that nothing of a kernel is left."""
    if _diverges(case) or len(case.losses) < 4 or not np.isfinite(case.last_loss):
        return []
    risen = [(s, b, a) for s, b, a in case.again if a > b + 0.02 * abs(b) + 1e-7]
    is_more = sum(a - b for _, b, a in risen) > _RISES * sum(max(b - a, 0) for _, b, a in case.again)
    early = [(step, v, pace) for step, v, pace in case.paces if step <= case.looked[min(2, len(case.looked) - 1)].step]
    stuck = case.last_loss > 0.8 * case.first_loss > 0
    far = [each for each in early if each[2] > _FAST]
    said, severity = "", 76
    if is_more and len(risen) >= max(3, len(case.again) / 2) and case.last_loss > 0.5 * case.first_loss > 0:
        step, before, after = max(risen, key=lambda each: (each[2] - each[1]) / (abs(each[1]) + 1e-9))
        said = (f"the learning rate is too high: after {len(risen)} of {len(case.again)} steps looked at the loss of "
                f"the same batch is higher than before (at step {step} {before:.4g}, then {after:.4g})")
    elif far and stuck and (risen or _is_lost(case, far)) or _grown(case) and case.last_loss > case.first_loss:
        said, step = "the learning rate is too high", far[0][0] if far else case.looked[-1].step
    elif stuck and (risen or case.last_loss > 0.95 * case.first_loss) and (late := _fast_in_the_end(case)):
        said = "the learning rate is too high"
        far, step = late, late[0][0]
    elif far and (spike := _spike(case, max(p for *_, p in far))) and len(risen) > 1:
        said = (f"the learning rate is too high: the first steps take the loss from {case.losses[0][1]:.4g} to "
                f"{spike[1]:.4g} at step {spike[0]}")
        step, severity = far[0][0], 46
    elif killed := _killed(case):
        far, step, severity = [], killed[1], 74
        said = (f"the learning rate is too high: the steps kill {killed[0].name}{at_line(place_of(killed[0]))}, whose "
                f"inputs were above 0 at step {case.looked[0].step}, and all below by step {step}, where no gradient "
                "comes through")
    if not said:
        return []
    if far:
        _, variable, pace = max(far, key=lambda each: each[2])
        said += f"; step {far[0][0]} changes {variable.name} by {pace:.3g} times its size, where 0.001 is usual"
    said += f"; {case.went}"
    return [_cause(case, said, step, severity)]


def _is_lost(case: Case, far: list[tuple[int, Tensor, float]]) -> bool:
    """Whether first steps left nothing of a kernel, and the loss stays where even a guess is better."""
    return len(case.steps) >= _MANY and case.last_loss > _WORSE * case.guess and max(p for *_, p in far) > _WHOLE


def _killed(case: Case) -> tuple[Operation, int] | None:
    """A hidden relu that lets nothing through from some step on, though it did at first, and that step."""
    for op in case.behind if len(case.steps) >= _MANY and not case.learns else ():
        if op.type == "Relu" and op in case.trained and any(c.type in ("MatMul", "Conv2D") for c in through(
                op.outputs[0])):
            alive = [float((value > 0).mean()) for value in case.series(op.inputs[0])]
            if len(alive) == len(case.looked) > 3 and alive[0] > _ALIVE and not any(alive[-3:]):
                return op, case.looked[max(i for i, share in enumerate(alive) if share) + 1].step
    return None


def _spike(case: Case, pace: float) -> tuple[int, float] | None:
    """The step and size of a loss that the first steps made several times as large as it began, and as a guess.

    None where it came down again, but if it was beyond all measure, and nothing was left of a kernel.
    """
    first = case.losses[0][1]
    step, most = max(case.losses[:_HASTY], key=lambda each: each[1])
    if case.last_loss < _MENDED * min(case.first_loss, case.guess) and not most > _BEYOND * first > 0 < pace - _WHOLE:
        return None
    return (step, most) if 0 < first and most > _PEAK * max(first, min(case.guess, first * _PEAK)) else None


def _fast_in_the_end(case: Case) -> list[tuple[int, Tensor, float]]:
    """Changes of kernels in the last steps looked at, if most are large: nothing has settled."""
    last = case.looked[-max(3, len(case.looked) // 3):]
    late = [each for each in case.paces if each[0] >= last[0].step]
    return late if len(case.steps) >= _MANY and late and float(np.median([p for *_, p in late])) > _RESTLESS else []


def _cause(case: Case, said: str, step: int, severity: int) -> Finding:
    """A training that is too fast, with what makes it so: inputs of great size, a sum over the batch, or the rate."""
    at = update_op(case)
    rate = rate_of(case, case.looked[0])
    how = _grown(case) or ("" if rate is None else f" (the rate is {rate:.3g})")
    large = _large_input(case)
    if large is not None:
        tensor, size = large
        return finding(severity, "inputs not scaled", at, f"{said}: {tensor.name} has values of size {size:.4g}, "
                       f"which makes the gradients of the first layer as large, and the learning rate too high for them"
                       f"{how}", "scale what is fed: x / 255 for pixels, (x - mean) / std by column; or lower the "
                       "learning rate by the square of that size", target=tensor.name, step=step)
    summed = _summed(case)
    if summed is not None:
        op, count = summed
        return finding(severity, "sum for mean", op, f"{said}: the loss is a sum over {count} elements ({op.name}), so "
                       f"the gradient is {count} times that of their mean, and the learning rate too high for it{how}",
                       f"tf.reduce_mean in place of tf.reduce_sum, or a learning rate {count} times lower", step=step)
    op, factor = scaled(case.y)
    if factor >= _FACTOR and not any(u.op.type.endswith(_ADAPTIVE) for u in case.updates):
        return finding(severity, "loss times a factor", case.y.op, f"{said}: {case.y.name} is {op.name} times "
                       f"{factor:g}, and steps as much longer, so the learning rate is too high for it{how}",
                       f"drop the factor; or a learning rate {factor:g} times lower", step=step)
    fed = [value for t, value in case.looked[0].feeds.items() if np.ndim(value) > 1 and t.dims and t.dims[0] is None]
    if fed and all(len(value) == 1 for value in fed):
        return finding(severity, "batch of one", at, f"{said}: each step goes by one example alone, whose "
                       f"gradient is far from that of the others, so the learning rate is too high for it{how}",
                       "feed 32 examples in each step; or lower the learning rate ten times", step=step)
    if "too high" not in said:
        said = f"{said}: the learning rate is too high{how}"
    elif how:
        said += how
    return finding(severity, "learning rate too high", at, said, "lower the learning rate, ten times at first; or clip "
                   "with tf.clip_by_global_norm", step=step)


def _grown(case: Case) -> str:
    """How a learning rate has grown, "" if it has not."""
    rate, last, step = rate_of(case, case.looked[0]) or 0.0, rate_of(case, case.looked[-1]) or 0.0, case.looked[-1].step
    return f"; the rate grows from {rate:.3g} to {last:.3g} by step {step}" * (last > _FACTOR * rate > 0)


def _large_input(case: Case) -> tuple[Tensor, float] | None:
    """What goes into the first layer unscaled, and its mean size."""
    fed = case.looked[0].feeds
    for tensor, value in fed.items():
        if tensor.op.type not in PLACEHOLDERS or np.ndim(value) < 2 or np.asarray(value).dtype.kind not in "fiu":
            continue
        size = float(np.abs(value).mean()) if np.size(value) else 0.0
        if size > _UNSCALED and any(op.type in ("MatMul", "Conv2D", "Mul") for op in through(tensor)) and not any(
                head.labels is not None and tensor.op in values_behind([head.labels]) for head in heads(case)):
            return tensor, size
    for tensor in [past(op.inputs[0], SAME) for op in case.first_layers]:  # of an iterator or a queue
        size = max((float(np.abs(value).mean()) for value in case.series(tensor)[:1] if value.size), default=0.0)
        if size > _UNSCALED and not fed_behind([tensor]) and any(o.type in DATA for o in values_behind([tensor])):
            return tensor, size
    return None


def _summed(case: Case) -> tuple[Operation, int] | None:
    """A sum over the batch in the loss, and of how many elements, where a mean would do."""
    for head in heads(case):
        op, count = head.op, 0
        for _ in range(12):
            taker = next((c for t in op.outputs for c in t._consumers if c in case.behind), None)
            if taker is None or taker.type in ("Mean", "RealDiv", "DivNoNan"):
                return None
            if taker.type == "Sum" and taker.outputs[0].dims == ():
                sizes = case.series(taker.inputs[0])
                count = int(np.shape(sizes[0])[0]) if sizes and np.ndim(sizes[0]) else 0
                after = [c for c in taker.outputs[0]._consumers if c in case.behind]
                return (taker, count) if count > 1 and not any(  # to halve or double makes no mean
                    c.type in ("RealDiv", "DivNoNan", "Mul") and not any(
                        0.25 <= abs(number_in(t) or 0.0) <= 4 for t in c.inputs) for c in after) else None
            op = taker
    return None


def _bottomless(case: Case) -> list[Finding]:
    """A loss made of errors, which are never below 0, that falls far below it."""
    errors = [head for head in heads(case) if head.form in ("squared", "softmax", "sparse", "sigmoid")
              and not is_rewarded(head, case)]
    if not errors or not case.first_loss > 0 or not case.last_loss < -_GROWN * case.first_loss or any(
            found for head in heads(case) for found in labels_out_of_range(head, case)):  # which is why
        return []
    turn = next((op for op in reversed(case.behind) if op.type in ("Neg", "Sub") and op in case.trained), case.y.op)
    return [finding(69, "wrong sign", turn, f"{case.y.name} is made of errors, which are never below 0, but fell from "
                    f"{case.first_loss:.4g} to {case.last_loss:.4g}: something in it, here or behind, is subtracted "
                    "that grows without end, such as a penalty or a divergence", "add it: drop the minus",
                    step=case.losses[-1][0])]
