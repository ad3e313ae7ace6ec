"""Mistakes that raise nothing: graphs that compute and train, but hardly what is meant. They show without any run."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, in_order, past, reached
from ..derivatives.derivatives import is_plain
from ..facts.graph_lists import calls_of
from ..facts.roles import VARIABLES, at_line, place_of
from .findings import Finding
from .mistakes.axes.over_the_batch import over_the_batch
from .mistakes.case import finding, held
from .mistakes.heads import SAME, unbroadcast
from .mistakes.signs import wrong_sign
from .mistakes.stepping import copies_among
from .remedies import origin_of
from .update_blame import is_store

_SUMMING = ("Add", "AddV2", "AddN", "Sub", "Mul", "RealDiv", "Neg", "Sum", "Mean", "Identity", "Cast", "Reshape",
            "Pack", "ConcatV2")  # what a penalty passes on its way to the loss, but no norm to divide by
_ALMOST = 1e-3  # by which rows of labels may miss 1

Values = Mapping[Tensor, Any]


def silent_mistakes(y: Tensor, operations: Iterable[Operation], variables: Sequence[Tensor]) -> list[Finding]:
    """Findings about what is minimized and what trains whom. operations: of the whole graph."""
    behind = ancestors([y])
    listed = list(operations)
    return [*(f for op in in_order(behind) for f in over_the_batch(op)), *_penalized_twice(y),
            *wrong_sign(y, behind), *_trained_copies(listed, variables, behind)]


def _penalized_twice(y: Tensor) -> list[Finding]:
    """Variables whose square is added to the loss in two places."""
    penalties: dict[Operation, list[Operation]] = defaultdict(list)
    for op in in_order(reached([y.op], lambda op: [t.op for t in op.inputs] if op.type in _SUMMING else [])):
        if op.type == "L2Loss":
            penalties[held(op.inputs[0])].append(op)
        elif op.type in ("Sum", "Mean") and op.inputs[0].op.type == "Square":
            penalties[held(op.inputs[0].op.inputs[0])].append(op)
    twice = {variable: ops for variable, ops in penalties.items() if variable.type in VARIABLES and len(ops) > 1}
    if not twice:
        return []
    names = [f"{op.name}:0" for op in twice]
    first, last = next(iter(twice.values()))[0], next(iter(twice.values()))[-1]
    which = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} others"
    return [finding(63, "decay twice", last, f"the square of {which} is added to the loss twice: by {first.name}"
                    f"{at_line(place_of(first))} and by {last.name}{at_line(place_of(last))}",
                    "drop one: the regularizer of the layer (tf.losses.get_regularization_loss), or the sum by hand",
                    target=names[0])]


def _trained_copies(operations: Sequence[Operation], variables: Sequence[Tensor], behind: set[Operation]
                    ) -> list[Finding]:
    """Variables copied from others that make y beside them, as target networks are, which an optimizer changes too."""
    copies = {variable: found for variable, found in copies_among(operations, variables).items() if found[0] in behind}
    trained = {op.inputs[0].op: op for op in operations
               if is_store(op) and "Apply" in op.type and op.inputs and op.inputs[0].op in copies}
    if not trained:
        return []
    variable, update = next(iter(trained.items()))
    source, copy = copies[variable]
    more = f" and {len(trained) - 1} others" if len(trained) > 1 else ""
    return [finding(67, "copy is trained", update, f"{variable.name}:0{more} copied from {source.name}:0"
                    f"{at_line(place_of(copy))}, as those of a target network are, but the optimizer changes "
                    f"{'it' if len(trained) == 1 else 'them'} too: gradients go through the target",
                    "put tf.stop_gradient around the target, or give minimize var_list=the online variables",
                    target=f"{variable.name}:0")]


def suspicions(y: Tensor, ops: Iterable[Operation]) -> list[Finding]:
    """What shows in the graph alone. ops: the forward ones between the trainable variables and y."""
    found = [_vector(y)] if y.dims is not None and {*y.dims} - {1} and _trains(y) else []
    for op in ops:
        found += _twice(op)
    return found


def value_suspicions(ops: Sequence[Operation], values: Values) -> list[Finding]:
    """What shows in the values of a run."""
    found = []
    for op in ops:
        known = [np.asarray(values[t]) for t in map(unbroadcast, op.inputs) if t in values]
        if len(known) == len(op.inputs):
            found += _labels(op, known)
    return found


def _trains(y: Tensor) -> bool:
    """Whether variables are what the gradient of y is asked of, if any is: that of an input shows what it looks at.

    What is given a gradient, as an action is that of its critic, is no loss.
    """
    asked = [held(x).type in VARIABLES and is_plain(call) for call in calls_of(y.graph) if y in call.ys
             for x in call.xs]
    return any(asked) or not asked


def _vector(y: Tensor) -> Finding:
    shape = "[" + ", ".join("?" if n is None else str(n) for n in y.dims or ()) + "]"
    return finding(46, "loss is no scalar", y.op, f"{y.name} has the shape {shape}: its gradient is that of the sum "
                   "of its elements, so the steps grow with the batch",
                   "take tf.reduce_mean of it; grad --per-example shows the parts")


def _twice(op: Operation) -> list[Finding]:
    """A cross entropy that squashes its logits itself, given what is squashed already."""
    if op.type == "LogSoftmax":
        source = origin_of(op.inputs[0])
        if source.type == "Softmax":
            return [finding(66, "double softmax", source, f"{op.name} (LogSoftmax{at_line(place_of(op))}) takes the "
                            f"softmax of {source.outputs[0].name}, which is one already: it is taken twice, which "
                            "flattens the gradient", f"give it {source.inputs[0].name}, from before the softmax",
                            confidence="certain")]
    return []


def _sums_to_one(labels: Tensor, value: np.ndarray) -> int | None:
    """The last axis of what was turned to be labels, if these sum to 1 along that; None if not."""
    turned = past(labels, SAME).op
    order = static_value(turned.inputs[1]) if turned.type == "Transpose" else None
    dims = [-1 if n is None else n for n in turned.outputs[0].dims or ()] if order is not None else []
    if order is None or len(dims) < 2 or dims.count(-1) > 1 and len(dims) > 2:
        return None
    last = len(dims) - 1
    whole = value if len(dims) == 2 else value.reshape(dims)
    return last if last != order[-1] and np.allclose(whole.sum(axis=list(order).index(last)), 1) else None


def _labels(op: Operation, known: Sequence[np.ndarray]) -> list[Finding]:
    if op.type != "SoftmaxCrossEntropyWithLogits" or len(known) < 2 or not known[1].size:
        return []
    sums = known[1].sum(axis=-1)
    wrong = np.abs(sums - 1) > _ALMOST
    if not wrong.any():
        return []
    if (axis := _sums_to_one(op.inputs[1], known[1])) is not None:
        return [finding(105, "softmax over the batch", op, f"{op.name} takes the softmax and the labels over the "
                        f"wrong axis: what is fed for the labels sums to 1 along axis {axis}, and not along the one "
                        f"that it was given, where row 0 sums to {sums.ravel()[0]:.3g}", f"give it no axis, or "
                        f"axis={axis}", confidence="certain")]
    first = int(np.flatnonzero(wrong.ravel())[0])
    source = past(op.inputs[1], (*SAME, "StopGradient", "Pack")).op
    if source.type == "OneHot" and not sums[wrong].any():
        depth = known[1].shape[-1]
        return [finding(64, "labels out of range", source, f"{wrong.sum()} of {wrong.size} rows that {source.name} "
                        f"makes for {op.name}{at_line(place_of(op))} are all 0, such as row {first}: their classes "
                        f"are not among 0 to {depth - 1}, so these examples teach nothing",
                        f"raise the depth {depth} to the count of classes; labels that begin with 1: y - 1")]
    is_scaled = bool(wrong.all()) and np.ptp(sums) < _ALMOST * np.abs(sums).max()
    return [finding(77 if is_scaled else 52, "labels", op, f"{wrong.sum()} of {wrong.size} rows of the labels of "
                    f"{op.name} do not sum to 1: row {first} sums to {sums.ravel()[first]:.3g}", "give it "
                    "probabilities, such as tf.one_hot of the classes; a row of zeros pulls at nothing")]
