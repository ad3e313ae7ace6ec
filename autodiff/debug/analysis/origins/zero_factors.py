"""Where a factor that is 0 comes from: the op that made zeros of other numbers, or that was given none but zeros."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....core.function_graph import functions_of
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import PLACEHOLDERS, VARIABLES, at_line, place_of
from ..arithmetic_rules import number
from ..attenuation import DROPS, SLOPES, noted, remedy
from ..findings import Hop
from .chain import chain_of
from .sources import Scene

_PRODUCTS = ("Mul", "MatMul", "BatchMatMulV2", "Einsum", "Prod")
_TURNED = {"Equal": "not_equal", "NotEqual": "equal", "Greater": "less_equal", "GreaterEqual": "less",
           "Less": "greater_equal", "LessEqual": "greater"}
_PICKS = ("GatherV2", "GatherNd", "ResourceGather")
_FAR = 200  # ops on the way back


def zeros_from(factor: Tensor, values: Mapping[Tensor, Any]) -> tuple[str, str]:
    """`Relu at train.py:7 gives nothing but zeros: 100% of its inputs are …`, and a remedy; each "" if nothing tells.

    values: of the tensors behind the factor, as far as they are known.
    """
    op = factor.op
    for _ in range(_FAR):
        zeros = [t for t in op.inputs if t in values and np.size(values[t]) and not np.any(values[t])
                 and (_is_real(t) or t.dtype.is_bool or op.type in ("Cast", "OneHot"))]
        if op.type == "ZerosLike" and op.origin is not None and op.origin.type in SLOPES:
            op, zeros = op.origin, []
        if functions_of(op) or op.type in _TURNED or not zeros:
            break
        if op.type not in _PRODUCTS and len(zeros) < sum(map(_is_real, op.inputs)):
            break
        op = zeros[0].op
    given = op.inputs[0].name if op.inputs else ""
    if op.type in _TURNED and all(t in values for t in op.inputs):
        return _compared(op, values)
    if op.type == "OneHot" and all(t in values for t in op.inputs[:2]) and np.size(values[op.inputs[0]]):
        indices, depth = np.asarray(values[op.inputs[0]]), int(values[op.inputs[1]])
        there = f"{op.name} (OneHot{at_line(place_of(op))})"
        return (f"{there} gives nothing but zeros: its indices are {_range(indices)}, its depth is {depth}",
                f"indices count from 0 to {depth - 1}: subtract 1 from those that count from 1, or give it more depth")
    if op.type in ("Add", "AddV2", "Sub") and (one := next(
            (each for each in ancestors(op.inputs) if each.type == "Mean" and averages_one(each, values)), None)):
        return (f"{one.name} (Mean{at_line(place_of(one))}) averages over one element: what is left of x less its mean "
                "is 0 whatever x is", "normalize over more than one example: a larger batch, or other axes")
    if op.type in _PICKS and factor.op.outputs[0] in values:
        made = op.outputs[0]
        first = next(iter(chain_of(made, (0,) * np.ndim(values[made]), Scene(values, lambda *_: None))), None)
        if first is not None:
            return f"{first.text}{at_line(first.place)}", f"pick others there, or give {first.op} other numbers"
    hop = noted(Hop(op.name, op.type, given, None, 1.0, 0.0, 0.0, place_of(op)), op, values)
    if op is factor.op and not hop.note:
        return "", ""
    if op.type in VARIABLES:
        also = [f"{t.op.name}{at_line(place_of(t.op))}" for t in trainable_tensors(op.graph) if t.op is not op
                and np.ndim(values.get(t, 0)) > 1 and not np.any(values[t])]
        told = f", and so {'is' if len(also) == 1 else 'are'} {', '.join(also)}" if also else ""
        return (f"variable {op.name}{at_line(hop.place)} is 0 throughout{told}",
                f"initialize {'them' if also else 'it'} at random, by tf.glorot_uniform_initializer, in place of zeros")
    if op.type in PLACEHOLDERS:
        return f"0 was fed for {op.name!r}{at_line(hop.place)} throughout", f"feed {op.name} numbers that are not all 0"
    why = f": {hop.note}" if hop.note else ""
    if op.type in ("Maximum", "Minimum"):
        mended = "bring what enters it within its bounds, by its bias, initial weights or scale"
    else:
        mended = remedy([hop], op, values) if hop.note else ""
    return (f"{op.name} ({op.type}{at_line(hop.place)}) gives nothing but zeros{why}", mended)


def _compared(op: Operation, values: Mapping[Tensor, Any]) -> tuple[str, str]:
    """Of a comparison that comes out the same for all elements."""
    where = "everywhere" if np.all(values.get(op.outputs[0], False)) else "nowhere"
    there = f"{op.name} ({op.type}{at_line(place_of(op))}) holds {where}"
    if "dropout" in op.name:
        return there, DROPS
    sides = ", ".join(f"{t.name} is {_range(np.asarray(values[t]))}" for t in op.inputs)
    bound = next((t for t in op.inputs if not ancestors([t]) & {each for each in ancestors(op.inputs)
                                                                if each.type in (*VARIABLES, *PLACEHOLDERS)}), None)
    ways = [f"turn it around, tf.{_TURNED[op.type]}", "compare with a number within their range"]
    if bound is not None and "Equal" not in op.type[:8]:
        ways.reverse()
    return f"{there}: {sides}", f"{ways[0]}, or " + (ways[1] if bound is not None else "feed other numbers")


def averages_one(mean: Operation, values: Mapping[Tensor, Any]) -> bool:
    """Whether a mean is of one element each."""
    given, made = values.get(mean.inputs[0]), values.get(mean.outputs[0])
    return given is not None and made is not None and np.size(made) == np.size(given) > 0


def _range(value: np.ndarray) -> str:
    low, high = (number(each.item()) for each in (value.min(), value.max()))
    return low if low == high else f"{low} to {high}"


def picked_by(choice: Operation, scene: Scene) -> tuple[str, str]:
    """Why a choice picks the same branch throughout: `0 was fed for 'length' at row 0`, and a remedy; each "" if
    nothing tells. scene: where the values of its condition are known.
    """
    test = choice.inputs[0]
    value = np.asarray(scene.values.get(test, ()))
    if not value.size or np.ptp(value.astype(np.int8)):
        return "", ""
    compared = test.op.type in _TURNED and all(t in scene.values for t in test.op.inputs)
    links = [link for link in chain_of(test.op.outputs[0], (0,) * value.ndim, scene)
             if link.kind in ("fed", "variable", "made")]
    if not links:
        return _compared(test.op, scene.values) if compared else ("", "")
    first = links[0]
    what = f"feed other numbers for {first.op}" if first.kind == "fed" else f"look at {first.op}"
    return f"{first.text}{at_line(first.place)}", f"{what}: the condition{at_line(place_of(test.op))} is of it"


def _is_real(tensor: Tensor) -> bool:
    return tensor.dtype.base_dtype.is_floating
