"""Where a gradient is lost: what an op does to it at the values it had, and what to do about it."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, descendants, past
from ...gradients.blocked_reasons import no_gradient_reason
from ..facts.roles import BOUNDS, PLACEHOLDERS, SOFTMAXES, VARIABLES, at_line, place_of
from .advice import advice_of
from .arithmetic_rules import number
from .cut_remedies import remedy_for_cut
from .findings import Hop

SATURATING = ("Tanh", "Sigmoid", "Softsign", "Erf")
FLAT = ("Sign",)  # the derivative is 0 wherever it exists
_RELUS = ("Relu", "Relu6")
SLOPES = ("ReluGrad", "LeakyReluGrad", "Relu6Grad")  # of what is made of straight pieces
_PRODUCTS = ("Mul", "MatMul", "BatchMatMulV2")
_ARRANGING = ("Transpose", "Reshape", "ExpandDims", "Squeeze")
_LAYERS = ("MatMul", "BatchMatMulV2", "Conv2D", "Conv3D", "If", "While")
_MEANS = ("Mean", "Sum")
_ENTROPIES = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_CANCELLED = 1e-3  # gain of a sum of which nothing is left but rounding
_ONE_SIDED = ("Exp", "Softplus", "Elu", "Selu")
DROPS = "it drops everything: keep_prob is the share that is kept, rate the share that is dropped"
_SIX = 6.0  # where relu6 becomes flat again
_FAR, _MOST = 4.0, 0.5  # input of a squashing function that counts as far out; share of such inputs
_SMALLEST = {"float16": 6e-8, "bfloat16": 1e-38, "float32": 1.4e-45}

Values = Mapping[Tensor, Any]


def noted(hop: Hop, op: Operation, values: Values) -> Hop:
    """A hop with a note on why its op loses. values: of the tensors about it."""
    return replace(hop, note=_note(op, hop, values))


def also_lost(hops: Sequence[Hop], op_of: Callable[[Hop], Operation], values: Values) -> list[Hop]:
    """The hops further down that would let nothing through either."""
    found = [noted(hop, op_of(hop), values) for hop in hops if hop.op_type in (*_RELUS, *BOUNDS, *FLAT, *SOFTMAXES)]
    return [hop for hop in found if hop.op_type in FLAT or "100%" in hop.note or "one element" in hop.note]


def flat_inside(ops: Sequence[Operation], values: Values) -> Hop | None:
    """The op of a call whose inputs lie most where its slope is 0, if most of them do; of relus and squashing ones."""
    worst: tuple[float, Hop] | None = None
    for op in ops:
        if op.type not in (*_RELUS, *SATURATING) or op.inputs[0] not in values:
            continue
        value = np.asarray(values[op.inputs[0]])
        flat = value <= 0 if op.type in _RELUS else np.abs(value) > _FAR
        share = float(flat.mean()) if value.size else 0.0
        if share > _MOST and (worst is None or share > worst[0]):
            hop = Hop(op.name, op.type, op.inputs[0].name, None, None, None, None, place_of(op))
            worst = share, noted(hop, op, values)
    return None if worst is None else worst[1]


def _note(op: Operation, hop: Hop, values: Values) -> str:
    inputs = [np.asarray(values[t]) if t in values else None for t in op.inputs]
    if said := _underflow(op, hop) or _blocks(op, hop):
        return said
    if op.type in FLAT:
        return f"the derivative of {op.type.lower()} is 0"
    if op.type == "If":
        taken = None if inputs[0] is None else bool(inputs[0])
        return "" if taken is None else (f"the {'first' if taken else 'second'} branch was taken in this run, and it "
                                         "does not use this")
    if op.type in ("Select", "SelectV2") and inputs[0] is not None:
        mine = 2 if hop.tensor == op.inputs[2].name else 1
        share = float((inputs[0] == (mine == 2)).mean())
        return f"the condition picks the other branch in {share:.0%} of the elements"
    first = inputs[0] if inputs else None
    if first is None or first.dtype.kind != "f" or not first.size:
        return ""
    if op.type in _MEANS and hop.outgoing == 0:
        return _of_mean(op, first, values)
    if op.type == "Relu6" and first.max() >= _SIX:
        return f"{float(((first <= 0) | (first >= _SIX)).mean()):.0%} of its inputs are <= 0 or >= 6, where it is flat"
    if op.type in _RELUS and first.any():
        return f"{float((first <= 0).mean()):.0%} of its inputs are <= 0, where relu lets nothing through"
    if op.type in _ONE_SIDED and first.max() < -_FAR:
        return f"its inputs are far below 0 (the largest {number(first.max())}), where its slope is 0"
    if op.type in SATURATING:
        return _of_squashing(op.type, first)
    if op.type in (*SOFTMAXES, *_ENTROPIES):
        return _of_softmax(first)
    if op.type in _PRODUCTS:
        return _of_product(op, hop, inputs)
    if op.type in BOUNDS:
        return _of_bound(op, hop, inputs)
    if op.type == "RealDiv" and inputs[1] is not None and inputs[1].size:
        if hop.tensor == op.inputs[1].name and not first.any():
            return f"its numerator {_named(op.inputs[0])} is 0 everywhere"
        return f"its denominator {_named(op.inputs[1])} is {number(np.abs(inputs[1]).max())}"
    if op.type in ("BiasAdd", "Add", "AddV2") and hop.gain is not None and hop.gain < _CANCELLED:
        return "what comes from the examples cancels out, as with a bias before a batch normalization"
    if op.type in SLOPES:
        return f"the second derivative of {op.type.removesuffix('Grad').lower()} is 0, as it is made of straight pieces"
    return "its input is 0 everywhere" if not first.any() and op.type not in ("Identity", "ReadVariableOp") else ""


def _blocks(op: Operation, hop: Hop) -> str:
    """Why no gradient at all gets through an op that gets one; "" if one may."""
    return hop.incoming and no_gradient_reason(op) or ""


def _underflow(op: Operation, hop: Hop) -> str:
    """Whether the gradient became 0 as the type has no number so small."""
    dtype = op.outputs[0].dtype.base_dtype.name
    given = next((t.dtype.base_dtype.name for t in op.inputs if t.name == hop.tensor), dtype)
    narrow = dtype if op.type == "Cast" else given
    floor = _SMALLEST.get(narrow, 0.0)
    if hop.outgoing != 0 or not hop.incoming or not floor or op.type not in (*_PRODUCTS, "Cast", "Mean", "RealDiv"):
        return ""
    if hop.incoming < (1e-2 if narrow == "float16" else 1e-20):
        return f"an underflow: the gradient, {hop.incoming:.3g} here, falls below the smallest {narrow}, {floor:.2g}"
    return ""


def _of_mean(op: Operation, value: np.ndarray, values: Values) -> str:
    result = values.get(op.outputs[0])
    if result is None:
        return ""
    if np.size(result) == value.size and len(op.inputs[0]._consumers) > 1:
        return "it averages over one element: x minus its mean is 0 whatever x is, as with a batch of one"
    return "the contributions of the uses of its input cancel" if len(op.inputs[0]._consumers) > 1 else ""


def _of_squashing(op_type: str, value: np.ndarray) -> str:
    far = float((np.abs(value) > (4 if op_type == "Sigmoid" else 2)).mean())
    if not far:
        return "its slope is at most 1/4" if op_type == "Sigmoid" else ""
    return f"{far:.0%} of its inputs are saturated (largest {np.abs(value).max():.3g})"


def _of_softmax(value: np.ndarray) -> str:
    if value.ndim and value.shape[-1] == 1:
        return "a softmax over one element is 1 whatever that is"
    spread = float((value.max(axis=-1) - value.min(axis=-1)).max())
    return f"it is saturated: its inputs differ by up to {spread:.3g}" if spread > 10 else ""


def _of_product(op: Operation, hop: Hop, inputs: Sequence[np.ndarray | None]) -> str:
    """By which factor: the one that the gradient does not go to."""
    other = next((i for i, t in enumerate(op.inputs[:2]) if t.name != hop.tensor), 0)
    value = inputs[other]
    if value is None or not value.size:
        return ""
    size, name = float(np.abs(value).max()), _named(op.inputs[other])
    made = advice_of(op.graph).makers.get(op.name)
    of = f", in {made}" if made else ""
    return f"factor {name} is at most {size:.3g}" if size else f"factor {name} is 0 everywhere{of}"


def _named(tensor: Tensor) -> str:
    """A tensor's name; of the value read from a variable, however arranged, the variable's."""
    source = past(tensor, ("Identity", "ReadVariableOp", *_ARRANGING)).op
    return source.outputs[0].name if source.type in VARIABLES else tensor.name


def _of_bound(op: Operation, hop: Hop, inputs: Sequence[np.ndarray | None]) -> str:
    mine = next((i for i, t in enumerate(op.inputs) if t.name == hop.tensor), 0)
    value = inputs[mine]
    others = [x for i, x in enumerate(inputs) if i != mine and x is not None]
    if value is None or not others:
        return "the value is clipped"
    low = others[0] if op.type != "Minimum" else None
    high = others[-1] if op.type != "Maximum" else None
    below = 0.0 if low is None else float((value < low).mean())
    above = 0.0 if high is None else float((value > high).mean())
    told = [f"{share:.0%} of its inputs are {word} the bound{f' {number(bound.item())}' if bound.size == 1 else ''}"
            for share, word, bound in ((below, "below", low), (above, "above", high)) if share and bound is not None]
    return ", ".join(told) + ", where it lets nothing through" if told else "the other input is chosen"


def remedy(lost: Sequence[Hop], op: Operation | None, values: Values) -> str:
    """What to do about the hops that lose a gradient. op: of the first."""
    if not lost or op is None:
        return ""
    first = lost[0]
    kinds = {hop.op_type for hop in lost}
    if "underflow" in first.note:
        return "work in float32 here, or scale the loss up and the gradients down again (loss scaling)"
    if "or >= 6" in first.note:
        return "scale the inputs or the initial weights down, or use tf.nn.relu"
    if _blocks(op, first):
        return remedy_for_cut(op, 0, "no gradient")
    below = op.inputs[0].op
    if first.op_type == "Relu" and below.type == "Sub" and static_value(below.inputs[0]) is not None:
        return ("if it is a hinge, all keep the margin, and nothing is left to learn: raise the margin, feed both "
                "classes, or begin with smaller weights and biases")
    if first.op_type in _RELUS and _is_last(op):
        return "leave the relu out of the last layer: nothing brings an output that is below 0 back"
    if kinds & set(_RELUS) and first.op_type != "Softmax" and "cancels out, as with a bias" not in first.note:
        return "lower the learning rate, initialize biases above 0, or use tf.nn.leaky_relu"
    if kinds & set(SATURATING):
        return "scale the inputs or initial weights down, or normalize the layer"
    if kinds & set(FLAT):
        return ("use a smooth stand-in such as tf.tanh, or keep the value and pass the gradient: "
                "x + tf.stop_gradient(tf.sign(x) - x)")
    if first.op_type in _PRODUCTS:
        return _of_factor(op, first, values)
    return _of_kind(first) + _margin(op, first)


def _is_last(op: Operation) -> bool:
    """Whether no layer with weights comes after an op."""
    return not any(each.gradient_of is None and (each.type in _LAYERS or each.type == "Mul" and not any(
        static_value(t) is not None for t in each.inputs)) for each in descendants(op.outputs))


def _margin(op: Operation, hop: Hop) -> str:
    """Of a hinge: the constant that is its margin."""
    added = next((t.op for t in op.inputs if t.name == hop.tensor and t.op.type in ("Add", "AddV2")), None)
    known = [value for t in added.inputs if (value := static_value(t)) is not None] if added is not None else []
    if op.type != "Maximum" or added is None or len(known) != 1 or np.ndim(known[0]):
        return ""
    return f"; here all keep the margin of {number(float(known[0]))}{at_line(place_of(added))}: raise it"


def _of_kind(hop: Hop) -> str:
    """The remedy for an op that is neither a relu, nor squashing, nor a product."""
    if hop.op_type in SLOPES:
        return "use a smooth activation, tf.nn.tanh or tf.nn.softplus, where the loss is made of second derivatives"
    if hop.op_type in _ONE_SIDED:
        return "bring its inputs nearer to 0: scale them down, or begin closer to the data"
    if hop.op_type == "Maximum" and "below the bound 0" in hop.note:
        return ("if it is a hinge, nothing is left to learn where the margin is kept; else use tf.nn.softplus or "
                "tf.nn.leaky_relu")
    if hop.op_type in BOUNDS:
        return ("take the bound off the way of the gradient: tf.sigmoid keeps a prediction between 0 and 1; to limit "
                "steps clip the gradients, by tf.clip_by_global_norm, not the loss or what it is computed of")
    if hop.op_type in (*SOFTMAXES, *_ENTROPIES) and "one element" in hop.note:
        return "take it over the axis of what is chosen from; for a single output use tf.sigmoid"
    if hop.op_type == "Softmax":
        return "scale the logits down, or give them to tf.nn.softmax_cross_entropy_with_logits_v2"
    if hop.op_type == "If":
        return "feed both cases in training, or leave this variable to the runs that take its branch"
    if hop.op_type == "Mean" and "one element" in hop.note:
        return "normalize over more than one example: a larger batch, or other axes"
    if "cancels out, as with a bias" in hop.note:
        return "leave the bias out, use_bias=False: what follows takes it away (a normalization has its own offset)"
    if hop.op_type == "RealDiv" and "denominator" in hop.note:
        return "look at what makes the denominator so large; why nan lists what is inf without effect"
    if hop.op_type in ("Select", "SelectV2"):
        return "look at the condition: print it"
    if hop.op_type in _ENTROPIES:
        return "nothing is left to learn where the labeled class has probability 1: look at the labels and the logits"
    if hop.op_type in ("Square", "Abs", "SquaredDifference") and "0 everywhere" in hop.note:
        return "nothing is left to learn where the error is 0: look at the targets"
    if hop.op_type == "While":
        return "path shows what the loop does to it in each iteration"
    return "look at the values that enter this op: print them, and path shows the way there"


def _of_factor(op: Operation, hop: Hop, values: Values) -> str:
    name = next((t for t in op.inputs[:2] if f"factor {_named(t)} " in hop.note), None)
    if name is None:
        return "look at the factors of this product"
    if "dropout" in op.name or ", in Dropout" in hop.note:
        return DROPS
    root = {o.type for o in ancestors([name])} - {"Const", *_ARRANGING}
    is_variable = any(v in root for v in VARIABLES) and len(root) <= 3
    if is_variable and not np.any(np.asarray(values.get(name, 0))):
        return "initialize it at random, by tf.glorot_uniform_initializer, in place of zeros"
    if is_variable:
        return ("initialize these weights larger, by tf.glorot_uniform_initializer; those that a recurrence repeats by "
                "tf.orthogonal_initializer, or use an LSTM")
    spoiled = _spoiled(name.op, values)
    if spoiled is not name.op:
        return (f"{spoiled.name} ({spoiled.type}{at_line(place_of(spoiled))}) is not finite, which makes "
                f"{_named(name)} small: scale down what it is given, or compute it in a wider type")
    small = "0" if "0 everywhere" in hop.note else "small"
    fed = [f"{o.name!r}{at_line(place_of(o))}" for o in ancestors([name]) if o.type in PLACEHOLDERS]
    if len(fed) == 1 and not any(v in root for v in VARIABLES):
        return f"{_named(name)} is {small} by what is fed for {fed[0]}: feed other numbers"
    return f"{_named(name)} is {small}: look at what makes it so"


def _spoiled(op: Operation, values: Values) -> Operation:
    """The op behind this one whose value is the first not to be finite, itself if there is none."""
    while bad := [t.op for t in op.inputs if t in values and not np.isfinite(np.asarray(values[t])).all()]:
        op = bad[0]
    return op
