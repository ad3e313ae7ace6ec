"""What to write instead: remedies for ops that made nan or inf, told from the op, its operands and its neighbors."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...api.data.nonfinite import GAVE
from ...core.constant_value import is_one, static_value
from ...core.errors import ArgumentError
from ...core.function_graph import functions_of
from ...core.graph import Graph, Operation, Tensor
from ...core.site import source_lines
from ...core.traversal import ancestors, past
from ..facts.roles import ASSIGNS, PLACEHOLDERS, VARIABLES, at_line, of_data, place_of, takes_elements
from .advice import advice_of
from .edits.formulas import better_forms
from .edits.in_graph import at_one_place, bounds_of, edits_of, is_half
from .edits.of_givens import MATRICES
from .edits.of_keras.schedules import set_to_nan
from .edits.of_read_data import is_spread, met_first
from .findings import Link
from .scripts.source_tree import Source
from .spectra import equal_eigenvalues

_SAME = ("Identity", "Reshape", "ExpandDims", "Squeeze", "Cast", "StridedSlice", "BroadcastTo", "Maximum", "Neg")
_DIVISIONS = ("RealDiv", "FloorDiv", "Reciprocal")
REMEDIES = {
    "MatMul": "scale the weights or the inputs down; clip gradients with tf.clip_by_global_norm",
    "SelfAdjointEigV2": "equal eigenvalues have no derivative of their vectors: use eigenvalues only, or break the tie",
    "Svd": "equal singular values have no derivative of their vectors: use singular values only, or break the tie",
    "Norm": "keep the norm away from 0: tf.sqrt(tf.reduce_sum(x * x) + 1e-12)",
    **dict.fromkeys(MATRICES, "the matrix is singular, or not positive definite: add a small "
                    "multiple of the identity, m + 1e-4 * tf.eye(n)"),
    **dict.fromkeys(("CTCLoss", "CTCLossV2"), "more frames or fewer labels: each label needs a frame, and one more "
                    "between two that are equal; or leave out such samples: tf.where(tf.is_inf(loss), 0.0, loss)"),
    **dict.fromkeys(("Softmax", "LogSoftmax"), "a row is -inf throughout: leave one of its elements unmasked, or mask "
                    "with -1e9 in place of -inf")}
_WHOLE = "np.isfinite(data).all(axis=1) says which rows are whole, np.where(np.isfinite(data), data, 0.0) replaces"
_OFTEN = 8  # times
_WORDY = 150  # letters of what nobody would write
_FINITE = ("Softmax", "LogSoftmax")  # to blame for what -inf makes, not for a sum too large


def remedy_for(op: Operation, trap: str, operands: Sequence[Any], values: Mapping[Tensor, Any]) -> str:
    """What to write in place of an op that made something non-finite. operands: the numbers that met, None unknown.

    trap: "where", "underflow" or ""; "" if there is nothing to say.
    """
    forward = op.forward_op
    if not op.inputs:
        return _of_input(op, values)
    if trap == "where" and (guards := edits_of(forward, trap)):
        return f"guard the input, not the output: {guards[0].words}"
    if trap == "underflow" and forward.type in ("Sqrt", "Rsqrt", "Pow", "Norm"):
        return "a square underflowed to 0: add a small constant under the root, rescale, or work in float64"
    if trap == "underflow" and forward.type != "Log":
        return "a number too small for the type became 0: rescale, add a small constant, or work in float64"
    if equal_eigenvalues(op, values):
        return REMEDIES["SelfAdjointEigV2"]
    half = is_half(op)
    if half and op.gradient_of is None and _overflow(op, values) and all(v is None or np.isfinite(v) for v in operands):
        return _overflow(op, values)
    for op_type in (forward.type, op.type):
        if op_type in REMEDIES and not (op_type in _FINITE and _is_finite(forward, values)):
            return REMEDIES[op_type]
    if forward.type not in _DIVISIONS and op.type in _DIVISIONS:
        return "keep the denominator away from 0: tf.div_no_nan, or add a small constant"
    negative = _has_negative(forward, values)
    for edit in (*edits_of(forward, trap), *better_forms(forward, negative=negative), *bounds_of(forward)):
        if len(edit.words) < _WORDY:
            return f"keep what it is given where it is finite: {edit.words}" if edit.is_bound else f"write {edit.words}"
    return _overflow(op, values) if all(v is None or np.isfinite(v) for v in operands) else ""


def of_products(op: Operation, chain: Sequence[Link]) -> str:
    """What to do about a 0 that a product became which the same line multiplies again and again; else ""."""
    first = next((op.graph.operations.get(link.op) for link in chain if link.underflows), None)
    count = len(at_one_place(first)) if first is not None and first.type in ("Mul", "MatMul") else 0
    loops = [op.graph.operations.get(link.op) for link in chain if not link.value]
    is_carried = any(each is not None and each.type == "While" and _multiplies(each) for each in loops)
    return (f"a product of {'many' if is_carried else count} steps underflows: divide by its sum in each step, and add "
            "up the logarithms of these sums; or add logarithms, by tf.reduce_logsumexp, in place of multiplying"
            ) if is_carried or count > _OFTEN else ""


def _multiplies(loop: Operation) -> bool:
    """Whether a loop carries on a product of what it carried."""
    return any(made.type == "Mul" and not {t.op for t in body.arguments}.isdisjoint(ancestors(made.inputs))
               for body in functions_of(loop)[1:2] for t in body.outputs if (made := past(t, _SAME).op).inputs)


def divides_by_count_less_1(op: Operation) -> bool:
    """Whether it divides a sum of squares by their count less 1, as a variance does."""
    most = op.inputs[1].op if op.type == "RealDiv" and op.gradient_of is None else op
    less = most.inputs[0].op if most.type == "Maximum" else most
    return less.type == "Sub" and op.inputs[0].op.type == "Sum" and is_one(less.inputs[1])


def of_none(op: Operation, values: Mapping[Tensor, Any]) -> str:
    """`a mean over none of 8, 0 / 0 = nan`, of a sum divided by the count of what was chosen; the like of a deviation;
    else ""."""
    if divides_by_count_less_1(op):
        return "the deviation of one number, 0 / (1 - 1) = nan"
    count = past(op.inputs[1], _SAME).op if op.type == "RealDiv" else op
    chosen = values.get(count.inputs[0], 1.0) if count.type == "Sum" else 1.0
    is_count = count.type == "Sum" and any(each.type in ("Cast", "Select", "SelectV2") and each.inputs[0].dtype.name ==
                                           "bool" for each in ancestors([count.inputs[0]]))
    return f"a mean over none of {np.size(chosen)}, 0 / 0 = nan" if is_count and not np.any(chosen) else ""


def _is_finite(op: Operation, values: Mapping[Tensor, Any]) -> bool:
    return all(np.isfinite(np.asarray(values[t])).all() for t in op.inputs if t in values)


def _of_input(op: Operation, values: Mapping[Tensor, Any]) -> str:
    if op.type in PLACEHOLDERS:
        return f"clean the data before they are fed: {_WHOLE}"
    if op.type in VARIABLES:
        if (told := advice_of(op.graph).spoilers.get(op.name)) is not None:
            return told.remedy
        return f"give it finite values: another checkpoint, or its initial ones (init {op.name})"
    for risky in mapped_ops(op):
        return (f"in the dataset's map function: {(*edits_of(risky, ''), *bounds_of(risky))[0].words}"
                f"{at_line(place_of(risky))}")
    if takes_elements(op):
        return f"clean the data that the dataset is made of{at_line(of_data(op))}: {_WHOLE}"
    if op.type == "Const":
        return _of_constant(op, np.asarray(values.get(op.outputs[0], 0)))
    return ""


def numpys(op: Operation) -> str:
    """`, made by NumPy at train.py:6 (divide by zero encountered in divide)`, of what the script gave; else ""."""
    advice = advice_of(op.graph)
    rate = set_to_nan(op)
    if not advice.warned or op.type in VARIABLES or op.type == "Const" and op.outputs[0].dims == () and rate is None:
        return ""
    told = met_first(advice) if op.type in PLACEHOLDERS else advice.warned[-1:] if rate else advice.warned[:1]
    return f", made by NumPy{' or'.join(at_line(each.place) for each in told)} ({told[0].text})"


def _of_constant(op: Operation, value: np.ndarray) -> str:
    """Numbers that were nan or inf before TensorFlow had them: what for, and where they may come from."""
    store = next((c for t in op.outputs for c in t._consumers if c.type in ASSIGNS), None)
    if (rate := set_to_nan(op)) is not None:
        return rate.remedy
    if store is not None:
        return (f"the script itself computed these first values of {store.inputs[0].op.name}: look there for a division"
                " by 0, such as a scale over a size that is 0")
    if np.isneginf(value).any() and not np.isposinf(value).any() and not np.isnan(value).any():
        return "mask with a large finite number, such as -1e9, in place of -inf"
    given = "nan: a missing value, float('nan')" if np.isnan(value).any() else "inf"
    return f"the script gave it as {given}, or 0 / 0 in NumPy before; give a finite number there (np.isfinite tells)"


def graphs_of(op: Operation) -> Sequence[Graph]:
    """Of what takes elements from a dataset, or is fed them by Keras: the graphs of its map functions."""
    found: Sequence[Graph] = getattr(getattr(op.attrs.get("function"), "iterator", None), "graphs", ())
    return found or op.graph.extras.get("mapped", {}).get(op, ())


def mapped_ops(op: Operation) -> list[Operation]:
    """Of what takes elements from a dataset: the ops of its map functions that may make nan or inf of numbers."""
    graphs = graphs_of(op)
    known = [graph.extras[GAVE][-1] for graph in graphs if graph.extras.get(GAVE, [None])[-1] is not None]
    return known or [each for graph in graphs for each in graph.operations.values()
                     if edits_of(each, "") or bounds_of(each)]


def by_zero(op: Operation) -> str:
    """` (STD at train.py:20 is 0 at [5], as that column never changes)`, of a division by a constant; else ""."""
    value = static_value(op.inputs[1]) if op.type == "RealDiv" else None
    zeros = np.argwhere(np.asarray(value) == 0).tolist() if value is not None else []
    try:
        source = Source("".join(source_lines(op.site.file if op.site is not None and zeros else "")))
        node = source.operand(source.expression(op), op, 1)
    except (ArgumentError, SyntaxError, OSError):
        return ""
    made, place = source.given_to(node) or [node], place_of(op)
    where = at_line(place._replace(line=made[0].lineno)) if place is not None and made != [node] else ""
    some = f" at {zeros[0]}" + f" and {len(zeros) - 1} more" * (len(zeros) > 1) if zeros[0] else ""
    return f" ({source.raw(node)}{where} is 0{some}{', as that column never changes' * is_spread(made[0])})"


def _overflow(op: Operation, values: Mapping[Tensor, Any]) -> str:
    if any(t.dtype.name == "variant" for t in op.inputs) or any(np.isnan(np.asarray(values[t])).any() for t in
                                                                op.outputs if t in values):
        return ""
    if is_half(op):
        return "work in float32 here (float16 ends at 65504), or scale the values and the loss down"
    return "scale the values down, clip them, or work in float64"


def origin_of(tensor: Tensor) -> Operation:
    """The op that a tensor's numbers come from, past what only passes them on."""
    op = tensor.op
    for _ in range(8):
        if op.type not in _SAME or not op.inputs:
            break
        constants = [t for t in op.inputs if static_value(t) is None]
        if not constants:
            break
        op = constants[0].op
    return op


def _has_negative(op: Operation, values: Mapping[Tensor, Any]) -> bool:
    value = np.asarray(values[op.inputs[0]]) if op.inputs[0] in values else np.zeros(0)
    return value.dtype.kind in "fi" and bool((value < 0).any())


def is_sum_of_squares(tensor: Tensor, squares: Sequence[str] = ("Square",)) -> bool:
    """Whether a tensor is a sum or mean of squares, up to its shape. squares: the op types that give them."""
    op = tensor.op
    for _ in range(8):
        if op.type in squares or op.type == "Mul" and (op.inputs[0] is op.inputs[1] or op.inputs[1].op.type == "Conj"):
            return True
        if op.type not in ("Sum", "Mean", "Identity", "Reshape", "Squeeze", "Real", "Cast"):
            return False
        op = op.inputs[0].op
    return False
