"""Values that are not what is meant: an index for a maximum, the first step for the last, whole quotients."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order, past, reached
from ...facts.roles import ASKS, VARIABLES, at_line, place_of
from ..findings import Finding
from .case import Case, finding, held
from .heads import SAME, Head, comes_of_data, constant, heads, same_exponential, through, unbroadcast, weights_of
from .signs import signs_of
from .wiring import counts_down

_PRODUCTS = {"MatMul": 2, "Conv2D": 4, "DepthwiseConv2dNative": 4}  # of inputs and kernels of this rank
_CONTRACTS = ("MatMul", "BatchMatMulV2")
_QUOTIENTS = ("FloorDiv", "TruncateDiv")
_CUTS = ("Minimum", "Maximum", "Mul", "RealDiv", "SelectV2", "Select", "Identity")
_COMPARES = ("Equal", "NotEqual", "Greater", "GreaterEqual")
_LARGE, _FAR = 100.0, 4.0  # size of targets, and how many times larger than what is predicted they are
_SEEN = 4  # training steps, fewer of which do not show where predictions go
_LOST, _FEW = 0.5, 4  # share of quotients with a remainder, and how many different ones are next to nothing
_VALUE = ("Cast", "Mul", "Add", "AddV2", "StopGradient", "Select", "SelectV2", "Sub", *SAME)


def misuses(case: Case) -> list[Finding]:
    """Findings about ops that take, or make, another thing than is meant."""
    rules = (_bias_in_kernel, _one_time_step, _weights_crossed, _whole_quotients, _hinge_turned, _scaled_by_the_batch,
             _one_moment)
    metrics = (_itself, _rounded_logits)
    return [*(f for op in case.operations if op.type in _COMPARES for rule in metrics for f in rule(op, case)),
            *(f for op in case.behind for rule in rules for f in rule(op, case)), *_index_for_value(case),
            *_advantage_trained(case), *_clipped_in_vain(case), *_picked_across(case), *_large_targets(case),
            *_summed_over_examples(case)]


def _bias_in_kernel(op: Operation, case: Case) -> Iterator[Finding]:
    """A bias that is added to the kernel, not to what the kernel makes."""
    if op.type not in _PRODUCTS or (total := op.inputs[1].op).type not in ("Add", "AddV2"):
        return
    parts = sorted(total.inputs, key=lambda t: len(unbroadcast(t).dims or ()))
    sources = [held(unbroadcast(t)) for t in parts]
    if all(s.outputs and s.outputs[0] in case.variables for s in sources) and [
            len(s.outputs[0].dims or ()) for s in sources] == [1, _PRODUCTS[op.type]]:
        bias, kernel = (s.name for s in sources)
        yield finding(44 if case.learns else 62, "bias in the kernel", total, f"{total.name} adds {bias}, a bias, to "
                      f"{kernel}, the kernel that {op.name} multiplies by, not to what comes out of it: it changes all "
                      "weights of a unit by the same, and no unit has a bias", "add it after the product: close the "
                      "parenthesis before the bias", target=f"{bias}:0", confidence="certain")


def _one_time_step(op: Operation, case: Case) -> Iterator[Finding]:
    """One step, or one example, picked out of what a recurrent network gave, and nothing else of it used."""
    if op.type != "StridedSlice" or op not in case.trained:
        return
    source, time = op.inputs[0].op, 0
    if source.type == "Transpose" and source.inputs[0].op.type == "ListStack":
        source, time = source.inputs[0].op, 1
    dims, begin = op.inputs[0].dims, static_value(op.inputs[1])
    loop = source.inputs[0].op if source.type == "ListStack" else source
    if loop.type != "While" or dims is None or len(dims) != 3 or begin is None:
        return
    picked = [axis for axis in range(begin.size) if op.attrs.get("shrink_axis_mask", 0) >> axis & 1]
    others = [c for t in (*loop.outputs, *source.outputs, op.inputs[0]) for c in t._consumers
              if c in case.behind and c not in (op, source, op.inputs[0].op)]
    if len(picked) != 1 or others or dims[time] == 1:
        return
    at = int(begin[picked[0]])
    if picked[0] == time and at == 0 and not any(counts_down(t) for t in loop.attrs["body"].outputs):
        yield finding(63 if not case.learns else 45, "first time step", op, f"{op.name} takes the first of "
                      f"{dims[time] or 'all'} steps of what the recurrent layer {loop.name} gives, and nothing else of "
                      "it is used: it has seen the first element of each sequence alone, and no gradient comes from "
                      "the others", f"take the last one: x[{', '.join([':'] * time + ['-1'])}], or the final state",
                      confidence="certain")
    elif picked[0] == 1 - time and dims[1 - time] is None:
        yield finding(66, "one example for one step", op, f"{op.name} takes element {at} of axis {picked[0]} of "
                      f"{op.inputs[0].name}, of axes [{'batch, time' if time else 'time, batch'}, units]: that is "
                      "all steps of one example, not one step of all examples",
                      f"x[{', '.join([':'] * time + ['-1'])}]; or transpose it first", confidence="certain")


def _itself(op: Operation, case: Case) -> Iterator[Finding]:
    """What is compared with itself, as where both sides of an accuracy are the labels."""
    if op.inputs[0] is op.inputs[1] and op.inputs[0].dtype.base_dtype.is_floating and (op.type == "NotEqual" or {
            each.type for each in op.outputs[0]._consumers} == {"LogicalAnd"}):
        return  # x != x asks for nan, and isfinite does by x == x
    first, then = (_told(t) for t in op.inputs)
    is_own = first == then and op.inputs[0].dims == op.inputs[1].dims  # or each example is compared with each
    if is_own and op.type in ("Equal", "NotEqual") and comes_of_data(op.inputs):
        yield finding(66, "compared with itself", op, f"{op.name} compares {first[-1].name} with itself: it is "
                      f"{op.type == 'Equal'} for every example, whatever the model says",
                      "compare predictions with labels", confidence="certain")


def _told(tensor: Tensor) -> tuple[Any, ...]:
    """What a tensor is, as types of ops and axes, down to what it is made from."""
    made: list[Any] = []
    while tensor.op.type in ("ArgMax", "Round", *SAME):
        axis = static_value(tensor.op.inputs[1]) if tensor.op.type == "ArgMax" else None
        made += [] if tensor.op.type in SAME else [(tensor.op.type, None if axis is None else int(axis))]
        tensor = tensor.op.inputs[0]
    return *made, tensor


def _rounded_logits(op: Operation, case: Case) -> Iterator[Finding]:
    """Logits that are rounded, or compared with 0.5, as if they were probabilities."""
    logits = {past(head.prediction, SAME): head for head in heads(case) if head.form == "sigmoid"}
    half = constant(unbroadcast(op.inputs[1])) if op.type != "Equal" else None
    sides = [past(t, SAME) for t in op.inputs]
    rounded = [past(t.op.inputs[0], SAME) for t in sides if t.op.type == "Round"] if op.type == "Equal" else (
        sides[:1] if half is not None and np.all(half == 0.5) else [])
    for tensor in rounded:
        if tensor in logits and op not in case.behind:
            yield finding(64, "logits for probabilities", op, f"{op.name} takes {tensor.name} for a probability, "
                          f"{'rounded' if op.type == 'Equal' else 'and 0.5 for its middle'}, but it is the logits of "
                          f"{logits[tensor].op.name}{at_line(place_of(logits[tensor].op))}, which are 0 where both "
                          "classes are as likely", f"tf.round(tf.sigmoid({tensor.op.name})), or compare with 0",
                          target=tensor.name, confidence="certain")


def _weights_crossed(op: Operation, case: Case) -> Iterator[Finding]:
    """A weighted sum whose weights do not sum to 1, as their softmax runs over the other axis."""
    if op.type not in _CONTRACTS or not op.inputs[0].dims or len(op.inputs[0].dims) < 3:
        return
    weights, summed = op.inputs[0].op, -1
    if op.attrs.get("adj_x") or op.attrs.get("transpose_a"):
        summed = -2
    normal = _normalized(weights, len(op.inputs[0].dims))
    if normal is None or weights not in case.trained or {normal, summed} != {-1, -2}:
        return
    yield finding(64 if not case.learns else 45, "softmax over the wrong axis", weights, f"{op.name}"
                  f"{at_line(place_of(op))} sums over axis {summed} with the weights {weights.outputs[0].name}, but "
                  f"their softmax is over axis {normal}: they do not sum to 1 for what is summed, so it is no average, "
                  "and what all queries share cancels out", f"tf.nn.softmax(scores, axis={summed})",
                  confidence="certain")


def _normalized(op: Operation, rank: int) -> int | None:
    """The axis, counted from the end, over which a softmax made a tensor sum to 1; None for anything else."""
    if op.type == "Softmax":
        return -1
    if op.type == "Transpose" and op.inputs[0].op.type == "Softmax":
        order = static_value(op.inputs[1])
        return None if order is None else [int(i) for i in order].index(rank - 1) - rank
    if op.type == "RealDiv" and op.inputs[0].op.type == "Exp":
        total = unbroadcast(op.inputs[1]).op
        axes = static_value(total.inputs[1]) if total.type == "Sum" and same_exponential(
            total.inputs[0].op, op.inputs[0].op) else None
        return None if axes is None or axes.size != 1 else int(axes.reshape(())) % rank - rank
    return None


def _whole_quotients(op: Operation, case: Case) -> Iterator[Finding]:
    """Integers divided to integers, of data that a layer then takes as floats."""
    if op.type not in _QUOTIENTS or not op.outputs[0].dtype.is_integer or op in case.trained:
        return
    if not comes_of_data(op.inputs) or any(o.type in ASKS for o in ancestors(op.inputs)) or not any(
            c.type == "Cast" and c.outputs[0].dtype.is_floating for c in through(op.outputs[0])):
        return
    case.want(*op.inputs)
    given, made = case.series(op.inputs[0]), case.series(op.outputs[0])
    below = case.series(op.inputs[1])
    if not given or not made or not below or not given[0].size or not np.all(below[0]):
        return
    lost, kinds = float((np.mod(given[0], below[0]) != 0).mean()), np.unique(made[0])
    if lost > _LOST and len(kinds) <= _FEW:
        yield finding(67, "integer division", op, f"{op.name} divides the integers {op.inputs[0].name}, from "
                      f"{given[0].min()} to {given[0].max()}, to integers: {lost:.0%} have a remainder, which is cut "
                      f"off, and all that is left is {', '.join(map(str, kinds))} ({float((made[0] == 0).mean()):.0%} "
                      "are 0)", "cast before the division: tf.cast(x, tf.float32) / n",
                      step=case.looked[0].step, confidence="certain")


def _index_for_value(case: Case) -> Iterator[Finding]:
    """A target of a regression made of the place of a maximum, not of the maximum."""
    for head in heads(case):
        if head.form not in ("squared", "absolute") or head.labels is None or head.labels.op in case.trained:
            continue
        made = reached([head.labels.op], lambda op: [t.op for t in op.inputs] if op.type in _VALUE else [])
        for op in in_order(made):
            if op.type == "ArgMax" and any(o.type in VARIABLES for o in ancestors(op.inputs)):
                yield finding(67, "index for value", op, f"{op.name} gives the place of the largest of "
                              f"{op.inputs[0].name}, 0 to {_last(op)}, and the target {head.labels.name} of "
                              f"{head.op.name}{at_line(place_of(head.op))} is made of that number: not of the largest "
                              "value", "tf.reduce_max(x, axis) for the value; tf.argmax gives its index",
                              confidence="certain")
                return


def _advantage_trained(case: Case) -> Iterator[Finding]:
    """The error of a critic as the weight of a policy's loss, with the gradient through it."""
    critics = [head for head in heads(case) if head.form in ("squared", "absolute")]
    policies = [head for head in heads(case) if head.form in ("sparse", "softmax", "log")]
    for head in policies if critics else ():
        for weight in [t for t in weights_of(head, case) if t.op in case.trained]:
            critic = next((each for each in critics if each.prediction.op in ancestors([weight]) and
                           each.prediction.op not in ancestors(head.op.inputs)), None)  # no focal loss
            if critic is not None:
                yield finding(66, "advantage is trained", weight.op, f"{weight.name} weighs {head.op.name}"
                              f"{at_line(place_of(head.op))} with the error of the critic {critic.prediction.name}, "
                              "and the gradient goes through it: the critic is moved to make the policy's loss small, "
                              "not to be right", "put tf.stop_gradient around the advantage", confidence="certain")
                return


def _hinge_turned(op: Operation, case: Case) -> Iterator[Finding]:
    """The smaller of an error and 0, where the larger is meant."""
    if op.type != "Minimum" or op not in case.trained:
        return
    bound = next((value for t in op.inputs if (value := constant(unbroadcast(t))) is not None), None)
    if bound is None or not np.size(bound) or np.max(bound) > 0:
        return
    if signs_of(op, case) == {1}:
        yield finding(68, "hinge the wrong way", op, f"{op.name} takes the smaller of an error and {np.max(bound):g}, "
                      f"and {case.y.name}, which is minimized, grows with it: only what is right already has a "
                      "gradient, and the loss falls without need", "tf.maximum, which lets go of what is right",
                      confidence="certain")


def _scaled_by_the_batch(op: Operation, case: Case) -> Iterator[Finding]:
    """Examples divided by a norm over the examples, not by their own."""
    if op.type != "Mul" or op not in case.trained:
        return
    for x, root in (op.inputs, op.inputs[::-1]):
        total = unbroadcast(root).op
        for _ in range(3):
            if total.type in ("Rsqrt", "Maximum", "AddV2", "Add"):
                total = unbroadcast(total.inputs[0]).op
        axes = static_value(total.inputs[1]) if total.type == "Sum" and unbroadcast(root).op.type == "Rsqrt" else None
        source = total.inputs[0].op if axes is not None else op
        if axes is not None and source.type == "Square" and source.inputs[0] is x and x.dims and len(x.dims) > 1 and (
                np.ravel(axes).tolist() == [0]) and x.dims[0] is None:
            yield finding(63 if not case.learns else 45, "norm over the batch", op, f"{op.name} divides {x.name} by "
                          "its norm over axis 0, the examples: each column gets the length 1, and no row does, so what "
                          "one example becomes depends on the others", "over the axis of the features: "
                          "tf.nn.l2_normalize(x, axis=-1)", confidence="certain")
            return


def _one_moment(op: Operation, case: Case) -> Iterator[Finding]:
    """Batch normalization by one mean and one variance of all features together."""
    total = past(op.inputs[0], ("Add", "AddV2", *SAME)).op if op.type == "Rsqrt" and op in case.trained else op
    square = past(total.inputs[0], SAME).op if total.type == "Mean" else op
    dims = square.inputs[0].dims if square.type == "SquaredDifference" else None
    axes = static_value(total.inputs[1]) if dims and len(dims) > 1 else None
    scales = [held(unbroadcast(t)) for c in op.outputs[0]._consumers if c.type == "Mul" for t in c.inputs]
    if dims and axes is not None and {int(a) % len(dims) for a in np.ravel(axes)} == set(range(len(dims))) and any(
            s.outputs[0] in case.variables and s.attrs["shape"] == dims[-1:] for s in scales):
        yield finding(47, "moments over the wrong axes", total, f"{total.name} is one variance of {dims[-1]} features"
                      " together, examples and features, but each has a scale of its own: features of different sizes "
                      "stay so", f"tf.nn.moments(x, {list(range(len(dims) - 1))})", confidence="certain")


def _picked_across(case: Case) -> Iterator[Finding]:
    """Logarithms that labels pick along one axis, of a softmax over another."""
    for head in heads(case):
        rank = len(head.prediction.dims or ())
        normal = _normalized(head.end, rank) if head.form == "log" and rank > 2 else None
        _, axes = _summed(head)
        if normal is None or axes is None or axes.size != 1:
            continue
        picked = int(axes.reshape(())) % rank - rank
        if picked != normal:
            yield finding(66, "softmax over the wrong axis", head.end, f"the softmax {head.end.outputs[0].name} is "
                          f"over axis {normal}, but labels pick of its logarithm {head.op.name}"
                          f"{at_line(place_of(head.op))} along axis {picked}: there its probabilities do not sum to 1",
                          f"tf.nn.softmax(logits, axis={picked})", confidence="certain")


def _summed(head: Head) -> tuple[Operation | None, np.ndarray | None]:
    """The sum of logarithms times labels, and its axes."""
    product = next((c for t in head.op.outputs for c in through(t) if c.type == "Mul"), None)
    total = next((c for c in through(product.outputs[0]) if c.type == "Sum"), None) if product is not None else None
    return total, None if total is None else static_value(total.inputs[1])


def _summed_over_examples(case: Case) -> Iterator[Finding]:
    """A cross entropy that is summed over the examples, of which then the mean over the classes is taken."""
    for head in heads(case):
        dims, (total, axes) = head.prediction.dims or (), _summed(head)
        mean = next((c for c in through(total.outputs[0]) if c.type == "Mean"), None) if total is not None else None
        if head.form == "log" and total is not None and mean is not None and axes is not None and dims[:1] == (
                None,) and len(dims) == 2 and (dims[1] or 0) > 2 and np.ravel(axes).tolist() == [0]:
            yield finding(35 if case.learns else 62, "summed over the examples", total, f"{total.name} sums the cross "
                          f"entropy over axis 0, the examples, and {mean.name} takes the mean of the {dims[1]} "
                          "classes: loss and gradients grow with the batch, and so do the steps",
                          "sum over the classes, axis=1, and take the mean over the examples", confidence="certain")


def _large_targets(case: Case) -> Iterator[Finding]:
    """Targets of a regression that are so large that the training hardly gets near them."""
    if case.learns or case.is_spoiled or len(case.steps) < _SEEN:
        return
    for head in heads(case):
        if head.form not in ("squared", "absolute") or head.labels is None or head.labels.op in case.trained or \
                head.activation:
            continue
        labels, said = case.series(head.labels), case.series(head.prediction)
        size, reached = (min(sizes[-1], float(np.median(sizes))) if sizes else 0.0 for sizes in (
            [float(np.abs(each).mean()) for each in values if each.size] for values in (labels, said)))
        if size > _LARGE and reached < size / _FAR and case.last_loss > 0.8 * case.first_loss:
            is_square = head.form == "squared"  # else steps are as long, however far it is, and a rate may be for that
            why = ", and gradients are as large as the targets" if is_square else ""
            yield finding(77 if is_square else 39, "targets not scaled", head.op, "the targets "
                          f"{unbroadcast(head.labels).name} have the size {size:.4g}, and after {case.steps[-1].step} "
                          f"steps predictions have {reached:.3g}: to get there weights of usual size take thousands "
                          f"of steps{why}", "scale the targets: (y - mean) / std, and predictions back",
                          target=unbroadcast(head.labels).name, step=case.steps[0].step)


def _last(op: Operation) -> str:
    axis, dims = static_value(op.inputs[1]), op.inputs[0].dims
    size = None if axis is None or not dims else dims[int(axis.reshape(()))]
    return "n - 1" if size is None else str(size - 1)


def _clipped_in_vain(case: Case) -> list[Finding]:
    """Gradients that are clipped, or scaled, to what nothing takes, as the update takes them as they are."""
    found = [(u.gradient, end) for u in case.updates if u.y is not None and (end := dead_end(u.gradient)) is not None]
    if not found:
        return []
    gradient, end = found[0]
    more = f", and so do others of {len(found) - 1} more" if len(found) > 1 else ""
    return [finding(47, "clipping not applied", end, f"{end.name} makes something else of the gradient {gradient.name}"
                    f"{more}, but nothing takes it: the update takes the gradient as it is",
                    "give apply_gradients what was clipped, with its variables", confidence="certain")]


def dead_end(gradient: Tensor) -> Operation | None:
    """What a gradient was made into, of its shape, that nobody takes."""
    stack = [c for c in gradient._consumers if c.type in _CUTS and c.gradient_of is None]
    for _ in range(20):
        if not stack:
            return None
        op = stack.pop()
        if not op.outputs[0]._consumers and op.outputs[0].dims == gradient.dims:
            return op
        stack += [c for c in op.outputs[0]._consumers if c.type in _CUTS and c.gradient_of is None]
    return None
