"""Heads: what a loss compares, as its ops tell: predictions, labels, and the activation of the last layer."""
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past
from ...facts.roles import PLACEHOLDERS, VARIABLES
from .case import Case, is_variable_read

SAME = ("Identity", "Reshape", "Squeeze", "ExpandDims", "Cast", "BroadcastTo", "PlaceholderWithDefault")
_ARRANGED = ("Transpose", *SAME)
_SHIFTED = ("Add", "AddV2", "Sub", "Maximum", "Minimum", "Mul")  # by a constant: a guard or a scale
_LAYERS = ("MatMul", "BatchMatMulV2", "Conv2D", "BiasAdd", "While")
_KNOWN = ("Softmax", "Sigmoid", "Tanh", "Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "LogSoftmax",
          "Softsign", "Exp")
DATA = (*PLACEHOLDERS, "PyFunc")
_INDICES = ("SelectV2", "Select", "Pack", "ConcatV2")
_PICKING = ("GatherV2", "GatherNd", "Select", "SelectV2")
_SMOOTH = ("Log1p", "Softplus")
ENTROPIES = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")


class Head(NamedTuple):
    """A place where predictions meet labels. form: "softmax", "sparse" or "sigmoid" (a cross entropy that squashes
    logits itself), "log" (the logarithm of predictions), "squared" or "absolute". op: where they meet, whose output is
    the loss of each element. labels: None where they are not known. end: the last layer's op."""

    form: str
    op: Operation
    prediction: Tensor
    labels: Tensor | None
    end: Operation

    @property
    def activation(self) -> str:
        """The type of the last activation; "" if there is none, "?" if that cannot be told."""
        return activation_of(self.end)


def heads(case: Case) -> list[Head]:
    """The places in what is minimized where predictions meet labels."""
    return [head for op in case.behind if op in case.trained and (head := _head(op, case)) is not None]


def _head(op: Operation, case: Case) -> Head | None:
    if op.type in ENTROPIES:
        form = "sparse" if op.type.startswith("Sparse") else "softmax"
        return Head(form, op, op.inputs[0], op.inputs[1], last_layer(op.inputs[0]))
    if op.type in ("Add", "AddV2") and (pair := _logistic(op)) is not None:
        return Head("sigmoid", op, *pair, last_layer(pair[0]))
    if op.type == "Log":
        return _logarithm(op, case)
    if op.type == "Neg":
        return _picked_from(op, case)
    if op.type == "Sub" and (logits := _left_of_picked(op, case)) is not None:
        return Head("sparse", op, logits, None, last_layer(logits))
    less = difference(op)
    if less is None:
        return None
    depends = [t.op in case.trained for t in less.inputs[:2]]
    if depends[0] == depends[1]:
        return None
    prediction, labels = less.inputs[depends.index(True)], less.inputs[depends.index(False)]
    form = "absolute" if op.type == "Abs" else "squared"
    return Head(form, op, unbroadcast(prediction), unbroadcast(labels), last_layer(prediction))


def _picked_from(op: Operation, case: Case) -> Head | None:
    """What labels pick from a log-softmax, with the sign turned: a cross entropy in steps."""
    source, labels = gathered(past(op.inputs[0], _ARRANGED).op, case)
    product = past(op.inputs[0], ("Mean", "Sum", *_ARRANGED)).op
    for logs, code in (product.inputs, product.inputs[::-1]) if product.type == "Mul" else ():
        if is_log_softmax(logs.op) and code.op not in case.trained:
            return Head("softmax", op, logs.op.inputs[0], unbroadcast(code), last_layer(logs.op.inputs[0]))
    if labels is None or not is_log_softmax(source):
        return None
    return Head("sparse", op, source.inputs[0], labels, last_layer(source.inputs[0]))


def is_log_softmax(op: Operation) -> bool:
    """Whether an op gives the logarithms of a softmax: as one op, or as logits less the log of their sum of exp."""
    if op.type != "Sub":
        return op.type == "LogSoftmax"
    return any(t is op.inputs[0] for t in _summed(op.inputs[1]))


def _left_of_picked(op: Operation, case: Case) -> Tensor | None:
    """The logits of a log of their sum of exp, less those of them that labels pick: a cross entropy in steps."""
    logits, picked = [t for t in _summed(op.inputs[0]) if t.op in case.trained], op.inputs[1]
    while logits and picked not in logits and picked.op.type in (*_PICKING, *_ARRANGED):
        picked = picked.op.inputs[picked.op.type in _INDICES]
    return picked if picked in logits and picked is not op.inputs[1] else None


def _summed(tensor: Tensor) -> list[Tensor]:
    """What a tensor may be the log of the sum of exp of, with the largest taken out or not."""
    log = unbroadcast(tensor).op
    log = log.inputs[0].op if log.type in ("Add", "AddV2") else log  # the largest, which was taken out, comes back
    above = [t.op for t in _nearest(log.outputs[0], 3)] if log.type == "Log" else []
    exps = [o.inputs[0] for o in above if o.type == "Exp"]
    return [*exps, *(t.op.inputs[0] for t in exps if t.op.type == "Sub")]


def gathered(op: Operation, case: Case) -> tuple[Operation, Tensor | None]:
    """What an op picks elements from, and the labels by which it does, if it does."""
    if op.type not in ("GatherV2", "GatherNd") or op.inputs[1].op in case.trained:
        return op, None
    stack = [op.inputs[1]]
    while stack:  # past masks of labels that are left out, and the numbers of rows
        tensor = stack.pop()
        if is_data(tensor):
            return past(op.inputs[0], _ARRANGED).op, tensor
        stack += [t for t in tensor.op.inputs if tensor.op.type in ("StopGradient", *_INDICES, *SAME)]
    return op, None


def is_data(tensor: Tensor) -> bool:
    """Whether a tensor is fed, or comes of an iterator; or is a batch of examples that do, each by itself."""
    op = tensor.op
    return op.type in DATA or op.type == "Pack" and all(t.op.type in DATA for t in op.inputs)


def comes_of_data(tensors: Iterable[Tensor]) -> bool:
    """Whether any of the tensors is computed from what is fed, or comes of an iterator."""
    return any(op.type in DATA for op in ancestors(tensors))


def difference(op: Operation) -> Operation | None:
    """The subtraction whose square or absolute value an op takes, itself if it does both."""
    if op.type == "SquaredDifference":
        return op
    if op.type in ("Square", "Abs", "L2Loss") or op.type == "Pow" and number_in(op.inputs[1]) == 2.0 or \
            op.type == "Mul" and op.inputs[0] is op.inputs[1]:
        source = op.inputs[0].op
        return source if source.type == "Sub" else None
    return None


def _logistic(op: Operation) -> tuple[Tensor, Tensor] | None:
    """Logits and labels of max(x, 0) - x * z + log(1 + exp(-|x|)), or (1 - z) * x + softplus(-x)."""
    for log, rest in (op.inputs, op.inputs[::-1]):
        product = rest.op.inputs[1].op if rest.op.type == "Sub" else rest.op
        smooth = [log.op, *(t.op for t in log.op.inputs if log.op.type == "Mul")]  # by what weighs one class
        if not any(op.type in _SMOOTH or op.type in ("Add", "AddV2") and {t.op.type for t in op.inputs} & {*_SMOOTH}
                   for op in smooth) or product.type != "Mul":
            continue
        inside = set(_nearest(log, 5))
        for x, z in (product.inputs, product.inputs[::-1]):
            if x in inside and z not in inside and (product is not rest.op or z.op.type == "Sub"):
                return x, z if product is not rest.op else z.op.inputs[1]
    return None


def _nearest(tensor: Tensor, depth: int) -> Iterable[Tensor]:
    level = [tensor]
    for _ in range(depth):
        level = [t for each in level for t in each.op.inputs]
        yield from level


def _logarithm(op: Operation, case: Case) -> Head | None:
    """A logarithm of predictions that labels weigh, or that is picked from."""
    end = last_layer(op.inputs[0])
    product = next((c for t in op.outputs for c in through(t) if c.type == "Mul"), None)
    if product is None:  # of what a cross entropy takes for logits, as Keras does with probabilities
        taker = next((c for t in op.outputs for c in through(t) if c.type in ENTROPIES), None)
        return None if taker is None else Head("log", op, op.inputs[0], taker.inputs[1], end)
    labels = next((t for t in product.inputs if past(t, ("Neg", *SAME)).op is not op), None)
    labels = past(labels, ("Neg", "BroadcastTo")) if labels is not None else None
    labels = None if labels is None or constant(labels) is not None else unbroadcast(labels)
    return Head("log", op, op.inputs[0], labels, end)


def through(tensor: Tensor) -> list[Operation]:
    """Who takes a tensor, through ops that only pass it on or turn its sign."""
    found, stack, seen = [], [tensor], {tensor}
    while stack:
        for taker in stack.pop()._consumers:
            found.append(taker)
            if taker.type in ("Neg", *SAME):
                stack += [t for t in taker.outputs if t not in seen]
                seen.update(taker.outputs)
    return found


def weights_of(head: Head, case: Case) -> list[Tensor]:
    """What multiplies the loss of each example on its way into y, but constants; labels that pick from it too."""
    found = [unbroadcast(t) for part in head.op.inputs if head.form == "sigmoid" and part.op.type == "Mul"
             and head.prediction not in part.op.inputs for t in part.op.inputs
             if t.op not in case.trained and constant(t) is None]  # of one class
    stack, seen = list(head.op.outputs[:1]), set(head.op.outputs[:1])
    while stack:
        tensor = stack.pop()
        for taker in tensor._consumers:
            if taker not in case.behind or taker.type not in ("Mul", "Sum", "Mean", "Neg", "AddV2", *SAME):
                continue
            found += [unbroadcast(t) for t in taker.inputs if taker.type == "Mul" and t is not tensor
                      and constant(t) is None]
            stack += [t for t in taker.outputs if t not in seen]
            seen.update(taker.outputs)
    return found


def last_layer(tensor: Tensor) -> Operation:
    """The op that made predictions, before guards, constant factors and changes of shape."""
    op = tensor.op
    for _ in range(30):
        if op.type in SAME and op.inputs:
            op = op.inputs[0].op
        elif op.type in _SHIFTED and len(op.inputs) > 1 and (kept := _but_constants(op)) is not None:
            op = kept.op
        elif op.type == "Sum" and op.inputs[0].op.type == "Mul":  # picked from by labels
            op = _picked(op)
        elif is_normalized(op):
            op = op.inputs[0].op
        else:
            break
        if op is tensor.op:
            break
    return op


def same_exponential(a: Operation, b: Operation) -> bool:
    """Whether two ops are one, or the exponentials of one tensor."""
    return a is b or a.type == b.type == "Exp" and a.inputs[0] is b.inputs[0]


def divided_by(op: Operation) -> Operation | None:
    """The sum, or mean, of what an op divides, by which it does, also of exponentials; None where it does not."""
    total = past(op.inputs[1], SAME).op if op.type == "RealDiv" else op
    if total.type in ("Add", "AddV2") and (kept := _but_constants(total)) is not None:  # and what keeps it above 0
        total = past(kept, SAME).op
    is_own = total.type in ("Sum", "Mean") and (total.inputs[0] is op.inputs[0] or same_exponential(
        total.inputs[0].op, op.inputs[0].op))
    return total if is_own and total is not op else None


def is_normalized(op: Operation) -> bool:
    """Whether an op divides predictions by their sum over classes, but exponentials, which are a softmax then."""
    total = unbroadcast(op.inputs[1]).op if op.type == "RealDiv" else op
    if total.type != "Sum" or total.inputs[0] is not op.inputs[0] or op.inputs[0].op.type == "Exp":
        return False
    axes, rank = static_value(total.inputs[1]), len(op.inputs[0].dims or ())
    return axes is not None and list(np.ravel(axes)) in ([-1], [rank - 1])


def _picked(total: Operation) -> Operation:
    product = total.inputs[0].op
    learnt = [t for t in product.inputs if is_learnt(t)]
    if len(learnt) > 1:  # a mixture, by weights that are learnt
        return total
    return next((t.op for t in product.inputs if last_layer(t).type in ("Softmax", "Sigmoid", "RealDiv")), total)


def _but_constants(op: Operation) -> Tensor | None:
    """The one input of an op that is no constant, if there is one."""
    others = [t for t in op.inputs if constant(t) is None]
    return others[0] if len(others) == 1 and not is_variable_read(others[0]) else None


def activation_of(op: Operation) -> str:
    """The type of an activation; "" for the output of a layer without one, "?" where that cannot be told."""
    if op.type in _KNOWN:
        return op.type
    if op.type == "RealDiv" and op.inputs[0].op.type == "Exp" and past(op.inputs[1], SAME).op.type == "Sum":
        return "Softmax"
    if op.type in ("RealDiv", "Reciprocal") and any(o.type == "Exp" for o in above(op, 3)):
        return "Sigmoid"
    if op.type in _LAYERS or _is_batch_norm(op):
        return ""
    is_sum = op.type in ("Add", "AddV2") and any(is_variable_read(t) for t in op.inputs)
    return "" if is_sum and any(o.type in _LAYERS for o in above(op, 3)) else "?"


def _is_batch_norm(op: Operation) -> bool:
    """Whether an op gives what was divided by its deviation, scaled and moved."""
    return op.type.startswith("FusedBatchNorm") or op.type in ("Add", "AddV2") and any(
        factor.op.type == "Mul" and any(t.op.type == "Rsqrt" for t in factor.op.inputs) or factor.op.type == "Rsqrt"
        for product in op.inputs if product.op.type == "Mul" for factor in product.op.inputs)


def above(op: Operation, depth: int) -> Iterable[Operation]:
    """The ops that an op is computed from, up to so many steps before it."""
    return (t.op for each in op.outputs[:1] for t in _nearest(each, depth))


def unbroadcast(tensor: Tensor) -> Tensor:
    """What was broadcast to make a tensor, or itself."""
    while tensor.op.type in ("BroadcastTo", "Identity") and tensor.op.inputs and not is_variable_read(tensor):
        tensor = tensor.op.inputs[0]
    return tensor


def constant(tensor: Tensor) -> np.ndarray | None:
    """The value of a constant, through what only passes it on; None for anything else."""
    tensor = past(tensor, SAME)
    if tensor.op.type in ("OnesLike", "ZerosLike"):
        return np.asarray(float(tensor.op.type == "OnesLike"))
    if tensor.op.type == "Fill":
        return static_value(tensor.op.inputs[1])
    return static_value(tensor)


def is_learnt(tensor: Tensor) -> bool:
    """Whether a variable has part in a tensor."""
    return any(op.type in VARIABLES for op in ancestors([tensor]))


def number_in(tensor: Tensor) -> float | None:
    """The number that a constant of one element holds; None for anything else."""
    value = constant(tensor)
    return None if value is None or value.size != 1 or value.dtype.kind == "c" else float(value.reshape(()))


def is_weight(op: Operation | None) -> bool:
    """Whether an op multiplies by a number of the script's, as by the weight of a part of a loss."""
    return op is not None and op.type == "Mul" and any(number_in(t) is not None for t in op.inputs)


def scaled(tensor: Tensor) -> tuple[Operation, float]:
    """What a number, or a vector, is a multiple of, past constant factors and signs, and the size of their product."""
    factor = 1.0
    while tensor.op.type in ("Mul", "RealDiv", "Neg", *SAME) and len(tensor.dims or ()) < 2 and (
            known := [number_in(t) for t in tensor.op.inputs]).count(None) == 1:
        factor *= next((abs(1 / v if tensor.op.type == "RealDiv" else v) for v in known if v), 1.0)
        tensor = tensor.op.inputs[known.index(None)]
    return tensor.op, factor


def made_smaller(op: Operation) -> float:
    """What an op divides data by that is a number of the script above 1; 0 for none."""
    numbers = [number_in(t) or 0.0 for t in op.inputs] if op.type in ("RealDiv", "Mul") else []
    by = numbers[1] if op.type == "RealDiv" else 1 / factor if (factor := max(numbers, default=0.0)) > 0 else 0.0
    return by if by > 1 else 0.0
