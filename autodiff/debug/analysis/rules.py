"""What arithmetic did to make a number that is not finite, in words; and what to write instead."""
from __future__ import annotations

from typing import Any

import numpy as np

_OVERFLOW = "clip the input, or work in float64"
REMEDIES = {
    "Log": "keep the argument positive: tf.log(tf.maximum(x, 1e-12)), or take the logarithm of a softmax from "
           "tf.nn.log_softmax",
    "Log1p": "keep the argument above -1",
    "Sqrt": "keep the argument away from 0: tf.sqrt(x + 1e-12)",
    "Rsqrt": "keep the argument away from 0: tf.rsqrt(x + 1e-12)",
    "Div": "keep the denominator away from 0: tf.div_no_nan, or add a small constant",
    "Pow": "keep the base positive: tf.pow(tf.maximum(x, 1e-12), p)",
    "Exp": "subtract the maximum first, or clip the argument (88 overflows float32, 709 float64)",
    "MatMul": "scale the weights or the inputs down; clip gradients with tf.clip_by_global_norm",
    "Acos": "keep the argument inside (-1, 1)", "Asin": "keep the argument inside (-1, 1)",
    "SelfAdjointEigV2": "equal eigenvalues have no derivative of their vectors: use eigenvalues only, or break the tie",
    "Svd": "equal singular values have no derivative of their vectors: use singular values only, or break the tie",
    "Norm": "keep the norm away from 0: tf.sqrt(tf.reduce_sum(x * x) + 1e-12)",
}
_DIVISIONS = ("Div", "RealDiv", "TrueDiv", "DivNoNan", "FloorDiv")


def family(op_type: str) -> str:
    """The key of REMEDIES that an op type goes by."""
    return "Div" if op_type in _DIVISIONS or op_type in ("Reciprocal", "Inv") else op_type


def number(value: Any) -> str:
    """A number in three significant digits."""
    if isinstance(value, (complex, np.complexfloating)):
        return f"{value:.3g}"
    value = float(value)
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e6 else f"{value:.3g}"


def in_words(op_type: str, operands: list[Any], result: Any) -> str:
    """`log(0) = -inf`, `0 / 0 = nan`: what one op did with the numbers at one element.

    operands: a number for each input, or None where no single number of the input went into the element.
    """
    text = number(result)
    known = [None if v is None else number(v) for v in operands]
    signs = {"Mul": "*", "Add": "+", "AddV2": "+", "Sub": "-", "Pow": "**", **dict.fromkeys(_DIVISIONS, "/")}
    if op_type in signs and len(known) == 2 and None not in known:
        overflow = _overflows(operands, op_type, result)
        return f"{_bracketed(known[0])} {signs[op_type]} {_bracketed(known[1])} = {text}" + overflow
    if op_type in ("Reciprocal", "Inv") and known and known[0] is not None:
        return f"1 / {_bracketed(known[0])} = {text}"
    if op_type == "ReciprocalGrad" and len(known) == 2 and None not in known:
        return f"-{known[1]} * {_bracketed(known[0])}**2 = {text}"
    if op_type == "SqrtGrad" and len(known) == 2 and None not in known:
        return f"{_bracketed(known[1])} / (2 * {_bracketed(known[0])}) = {text}"
    if len(known) == 1 and known[0] is not None:
        wide = ": too large for the type" if np.isfinite(operands[0]) and op_type in ("Exp", "Square", "Cast", "Cosh",
                                                                                      "Sinh", "Expm1") else ""
        return f"{op_type.lower()}({known[0]}) = {text}{wide}"
    if None not in known and known:
        return f"{op_type.lower()}({', '.join(map(str, known))}) = {text}"
    return f"{op_type} of finite numbers gives {text}" + (": the sum is too large for the type" if op_type in (
        "MatMul", "BatchMatMul", "Sum", "Mean", "AddN", "Conv2D", "Prod", "Cumsum") and np.isinf(result) else "")


def _bracketed(text: str | None) -> str:
    return f"({text})" if text and text.startswith("-") else str(text)


def _overflows(operands: list[Any], op_type: str, result: Any) -> str:
    if not np.isinf(result) or not all(np.isfinite(v) for v in operands):
        return ""
    if op_type in _DIVISIONS and operands[1] == 0 or op_type == "Pow" and operands[0] == 0:
        return ""
    return ": too large for the type"


def remedy_for(op_type: str, forward_type: str, trap: str, operands: list[Any]) -> str:
    """What to write instead. forward_type: the forward op of a gradient op, else the op's own type."""
    if trap == "where":
        return ("guard the input, not the output: safe = tf.where(ok, x, tf.ones_like(x)), then "
                f"tf.where(ok, {forward_type.lower()}(safe), other)")
    if trap == "underflow" and forward_type in ("Sqrt", "Rsqrt", "Pow", "Norm"):
        return "a square underflowed to 0: add a small constant under the root, rescale, or work in float64"
    if trap == "underflow" and forward_type != "Log":
        return "a number too small for the type became 0: rescale, add a small constant, or work in float64"
    found = REMEDIES.get(family(forward_type)) or REMEDIES.get(family(op_type))
    if found:
        return found
    return _OVERFLOW if all(v is None or np.isfinite(v) for v in operands) else ""
