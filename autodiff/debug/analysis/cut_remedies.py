"""What to do about an op that lets no gradient through."""
from __future__ import annotations

from collections.abc import Iterable

from ...core.constant_value import static_value
from ...core.graph import Operation, Tensor
from ...core.traversal import past, users_of
from ...gradients.between import carries_gradient
from ..facts.roles import PLACEHOLDERS, VARIABLES, at_line, place_of

_STRAIGHT = "or keep the forward value and pass the gradient straight through: z + tf.stop_gradient(chosen - z)"
_SMOOTH = {
    "ArgMax": "train the scores, by a cross entropy or by their softmax as weights, and keep argmax for metrics; "
              f"{_STRAIGHT}",
    "ArgMin": f"use a softmax of the negated scores as weights, or keep argmin for metrics only; {_STRAIGHT}",
    "TopKV2": "use the values that tf.nn.top_k gives, its first output, not the indices; or a softmax of the scores as "
              "weights",
    "OneHot": "use a softmax of the scores as weights, in place of ones and zeros",
    "StopGradient": "remove the tf.stop_gradient, or leave this variable out of the training",
    "Cast": "keep the computation in floating point; cast to an integer only for indices and metrics",
    "PyFunc": "write it with tf ops, or give it a gradient with tf.custom_gradient",
    "While": "build the loop with back_prop=True",
    "Multinomial": "weigh the logarithm of the drawn class's probability by its reward, or draw by a Gumbel-softmax",
    "Where": "choose by tf.where(condition, x, other), or multiply with weights",
    **dict.fromkeys(("Assign", "AssignAdd", "AssignSub", "AssignVariableOp"), "use what is assigned in the "
                    "computation, as a loss of tf.losses does, not the variable; assign, as tf.metrics do, beside it")}
_SCORES = {"ArgMax": "reduce_max", "ArgMin": "reduce_min"}
_STEPS = ("Round", "Floor", "Ceil", "Rint", "Sign", "FloorDiv", "FloorMod", "Bucketize")
_COUNTS = ("HistogramFixedWidth", "Bincount")
_WEIGHTS = ("an index has no gradient: weigh all elements by how near they are to it, tf.reduce_sum(tf.nn.softmax("
            "-tf.square(tf.range(n) - index)) * x), with a float index and range")
_COMPARISONS = ("Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr",
                "LogicalNot", "InTopKV2", "InTopK")
_ANSWERS = ("Equal", "NotEqual", "InTopKV2", "InTopK")
_LOOKUPS = ("GatherV2", "ResourceGather", "GatherNd", "OneHot")
_ON_THE_WAY = ("Cast", "Reshape", "ExpandDims", "Squeeze", "Pack", "ConcatV2", "Minimum", "Maximum", "Add", "AddV2",
               "Sub")


def remedy_for_cut(op: Operation, index: int, kind: str) -> str:
    """What to write in place of an op, so that a gradient gets to its input `index`; "" if nothing is known."""
    if not carries_gradient(op.inputs[index]) and not op.inputs[index].op.inputs:
        return _for_integers(op, index)
    if kind == "blocked" and op.override is not None:
        return "let the registered gradient function return a tensor for this input"
    users = [c for t in op.outputs for c in t._consumers]
    if op.type in _ANSWERS or op.type in ("ArgMax", "Round", "Cast") and users and all(
            user.type in ("Equal", "NotEqual") for user in users):
        return "a count of right answers has no gradient: minimize a cross entropy, and keep the count for metrics"
    if op.type in ("Cast", "Round", "Floor", "Ceil", "Rint") and _is_index(op.outputs[0]):
        return _WEIGHTS
    users += [c for user in users for t in user.outputs for c in t._consumers]
    if op.type in _COMPARISONS or op.type == "Cast" and any(user.type in _COMPARISONS for user in users):
        return "its derivative is zero wherever it exists: compare softly, tf.sigmoid(k * (a - b)) in place of a > b"
    if op.type == "TopKV2" and "argsort" in op.name:
        return ("ranks are integers: take soft ones, tf.reduce_sum(tf.sigmoid(k * (x[:, None] - x[None, :])), 1), or "
                "what tf.sort gives")
    if op.type == "StopGradient" and op.name.endswith("labels_stop_gradient"):
        return ("labels are taken as constants, and these are computed of variables: if labels and logits are swapped, "
                "give the logits to logits=, the targets to labels=")
    if (error := error_of_stopped(op)) is not None:
        return (f"take {error.name}{at_line(place_of(error))} of what is not stopped: a critic learns by that error; "
                "and keep the tf.stop_gradient for what else it goes into, as the loss of a policy does")
    if op.type in _SMOOTH:
        return _SMOOTH[op.type]
    if op.type in _COUNTS:
        return ("count softly: tf.reduce_sum(tf.exp(-tf.square((x[:, None] - centers) / width)), 0), with a center for "
                "each bin")
    if op.type in _STEPS:
        name = op.type.lower()
        return ("its derivative is zero wherever it exists: leave it out of the loss, or keep the forward value and "
                f"pass the gradient, x + tf.stop_gradient(tf.{name}(x) - x)")
    if kind == "no rule":
        return "register a gradient with @tf.RegisterGradient, or leave it out of the path"
    return ""


def error_of_stopped(op: Operation) -> Operation | None:
    """The square, or size, of what a stop_gradient gives, perhaps of a difference from it, where that also weighs
    something else, as an advantage does a policy; None if it is no such."""
    if op.type != "StopGradient":
        return None
    users = [*dict.fromkeys(users_of(op))]
    users = [*dict.fromkeys(users_of(users[0]))] if len(users) == 1 and users[0].type == "Sub" else users
    errors = [user for user in users if user.type in ("Square", "Abs") or user.type == "Pow" or user.type == "Mul" and
              user.inputs[0] is user.inputs[1]]
    return errors[0] if len(errors) == 1 and any(user.type == "Mul" for user in users if user not in errors) else None


def is_straight_through(op: Operation) -> bool:
    """Whether it is the stop_gradient of z + tf.stop_gradient(chosen - z), by which the gradient passes."""
    kept = _itself(op.inputs[0]).op if op.type == "StopGradient" else op
    return kept.type == "Sub" and kept is not op and any(user.type in ("Add", "AddV2") and _itself(
        kept.inputs[1]) in map(_itself, user.inputs) for user in op.outputs[0]._consumers)


def held_in_both(op: Operation, others: Iterable[Operation]) -> Operation | None:
    """Another stop_gradient of the same tensor, which is then compared with the same: one of the two was to let it be
    trained. None if there is none."""
    def compared(each: Operation) -> list[tuple[str, list[Tensor]]]:
        return [(user.type, [_itself(t) for t in user.inputs if t is not each.outputs[0]])
                for user in each.outputs[0]._consumers if user.gradient_of is None and user.type in (
                    "Sub", "SquaredDifference")]
    return next((each for each in others if each is not op and each.type == op.type == "StopGradient" and _itself(
        each.inputs[0]) is _itself(op.inputs[0]) and compared(op) and compared(each) == compared(op)), None)


def _itself(tensor: Tensor) -> Tensor:
    return past(tensor, ("Identity",))


def of_both(op: Operation, other: Operation) -> tuple[str, str]:
    """What is said of that, and what to do."""
    return (f"the two losses{at_line(place_of(op))} and{at_line(place_of(other))[3:]} hold the same side constant",
            "let one of them train it, and hold the other side: the loss of (x, tf.stop_gradient(z)) for that of "
            "(tf.stop_gradient(x), z)")


def of_an_index(op: Operation, y: Tensor, x: Tensor) -> str:
    """What to differentiate in place of an index, where that is asked for by what is fed, not by what is trained."""
    while y.op is not op and y.op.type in _ON_THE_WAY:
        y = y.op.inputs[0]
    if y.op is not op or op.type not in _SCORES or x.op.type not in PLACEHOLDERS:
        return ""
    axis = static_value(op.inputs[1]) if len(op.inputs) > 1 else None
    written = f"tf.{_SCORES[op.type]}(scores" + (")" if axis is None else f", axis={int(axis)})")
    return f"take the gradient of the score in place of its index: {written}, of the scores that it is given"


def _for_integers(op: Operation, index: int) -> str:
    source = op.inputs[index].op
    if source.type in VARIABLES:
        return "make the variable floating point: tf.Variable(..., dtype=tf.float32)"
    if op.type in _LOOKUPS:
        return f"differentiate by what is looked up, such as {op.outputs[0].name!r}, not by the indices"
    return "make it floating point: gradients exist for real numbers only"


def _is_index(tensor: Tensor) -> bool:
    """Whether all that is made of a tensor is an index that something is looked up by."""
    users = [op for op in tensor._consumers if op.gradient_of is None]
    return bool(users) and all(
        op.type in (*_LOOKUPS, "StridedSlice", "Slice") and op.inputs[0] is not tensor or op.type == "OneHot" or
        op.type == "Shape" or op.type in _ON_THE_WAY and _is_index(op.outputs[0]) for op in users)
