"""What to do about an op that lets no gradient through."""
from __future__ import annotations

from ...core.graph import Operation
from ...gradients.between import carries_gradient
from ..facts.roles import VARIABLES

_STRAIGHT = "or keep the forward value and pass the gradient straight through: z + tf.stop_gradient(chosen - z)"
_SMOOTH = {
    "Round": "keep the forward value, pass the gradient: x + tf.stop_gradient(tf.round(x) - x)",
    "ArgMax": f"use a softmax of the scores as weights, or keep argmax for metrics only; {_STRAIGHT}",
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
                    "computation, not the variable; assign it as a side effect, under tf.control_dependencies"),
}
_STEPS = ("Floor", "Ceil", "Rint", "Sign", "FloorDiv", "FloorMod", "Bucketize")
_COMPARISONS = ("Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr",
                "LogicalNot", "InTopKV2", "InTopK")
_LOOKUPS = ("GatherV2", "Gather", "ResourceGather", "GatherNd", "OneHot")


def remedy_for_cut(op: Operation, index: int, kind: str) -> str:
    """What to write in place of an op, so that a gradient gets to its input `index`; "" if nothing is known."""
    if not carries_gradient(op.inputs[index]) and not op.inputs[index].op.inputs:
        return _for_integers(op, index)
    if kind == "blocked" and op.override is not None:
        return "let the registered gradient function return a tensor for this input"
    if op.type in ("Equal", "NotEqual", "InTopKV2", "InTopK"):
        return "a count of right answers has no gradient: minimize a cross entropy, and keep the count for metrics"
    if op.type in _SMOOTH:
        return _SMOOTH[op.type]
    if op.type in _STEPS or op.type in _COMPARISONS:
        return "its derivative is zero wherever it exists: use a smooth stand-in such as tf.sigmoid or tf.tanh"
    if kind == "no rule":
        return "register a gradient with @tf.RegisterGradient, or leave it out of the path"
    return ""


def _for_integers(op: Operation, index: int) -> str:
    source = op.inputs[index].op
    if source.type in VARIABLES:
        return "make the variable floating point: tf.Variable(..., dtype=tf.float32)"
    if op.type in _LOOKUPS:
        return "differentiate by what is looked up, such as the embedding vectors, not by the indices"
    return "make it floating point: gradients exist for real numbers only"
