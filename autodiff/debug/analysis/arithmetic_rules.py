"""What arithmetic did to make a number that is not finite, in words."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Operation

_WIDE = ("Exp", "Square", "Cast", "Cosh", "Sinh", "Expm1", "SquaredDifference")
_DIVISIONS = ("RealDiv", "DivNoNan", "FloorDiv")
_SIGNS = {"Mul": "*", "Add": "+", "AddV2": "+", "Sub": "-", "Pow": "**", **dict.fromkeys(_DIVISIONS, "/")}
_TOTALS = ("MatMul", "BatchMatMulV2", "Einsum", "Sum", "SumTo", "BiasAddGrad", "Mean", "AddN", "Conv2D",
           "Conv2DBackpropFilter", "Conv2DBackpropInput", "Prod", "Cumsum", "L2Loss")


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
    wide = ": too large for the type" if overflows(op_type, operands, result) else ""
    if op_type in _SIGNS and len(known) == 2 and None not in known:
        return f"{_bracketed(known[0])} {_SIGNS[op_type]} {_bracketed(known[1])} = {text}{wide}"
    if op_type == "Reciprocal" and known and known[0] is not None:
        return f"1 / {_bracketed(known[0])} = {text}"
    if op_type == "ReciprocalGrad" and len(known) == 2 and None not in known:
        return f"-{known[1]} * {_bracketed(known[0])}**2 = {text}"
    if op_type == "SqrtGrad" and len(known) == 2 and None not in known:
        return f"{_bracketed(known[1])} / (2 * {_bracketed(known[0])}) = {text}"
    if len(known) == 1 and known[0] is not None:
        if op_type in ("Acos", "Asin", "Atanh", "Acosh") and known[0] in ("1", "-1") and abs(operands[0]) != 1:
            known = [f"{operands[0]:.9g}"]
        return f"{op_type.lower()}({known[0]}) = {text}{wide}"
    if None not in known and known:
        return f"{op_type.lower()}({', '.join(map(str, known))}) = {text}{wide}"
    return f"{op_type.removesuffix('To')} of finite numbers gives {text}{wide.replace(':', ': the sum is')}"


def overflows(op_type: str, operands: list[Any], result: Any) -> bool:
    """Whether one op made inf of finite numbers as its result is too large for the type. operands: as of `in_words`."""
    if not np.isinf(result):
        return False
    if not operands or None in operands:
        return op_type in _TOTALS
    if not (op_type in _SIGNS and len(operands) == 2 or op_type in _WIDE) or not all(map(np.isfinite, operands)):
        return False
    return not (op_type in _DIVISIONS and operands[1] == 0 or op_type == "Pow" and operands[0] == 0)


def _bracketed(text: str | None) -> str:
    return f"({text})" if text and text.startswith("-") else str(text)


def letters_of(op: Operation) -> str:
    """The axes of a sum of products of two tensors by letters, as of einsum: `ab,bc->ac` of a matrix product; "" of
    any other op."""
    if op.type == "Einsum" and len(op.inputs) == 2:
        equation = op.attrs["equation"].replace(" ", "")
        return "" if "." in equation else equation
    if op.type != "MatMul":
        return ""
    turned = [op.attrs.get(f"transpose_{side}") for side in "ab"]
    return f"{'ba' if turned[0] else 'ab'},{'cb' if turned[1] else 'bc'}->ac"
