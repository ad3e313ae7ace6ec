"""Where a factor that is 0 comes from: the op that made zeros of other numbers, or that was given none but zeros."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....core.graph import Tensor
from ...facts.roles import PLACEHOLDERS, VARIABLES, at_line, place_of
from ..attenuation import SLOPES, noted, remedy
from ..findings import Hop

_PRODUCTS = ("Mul", "MatMul", "BatchMatMul", "BatchMatMulV2", "Prod")
_FAR = 200  # ops on the way back


def zeros_from(factor: Tensor, values: Mapping[Tensor, Any]) -> tuple[str, str]:
    """`Relu at train.py:7 gives nothing but zeros: 100% of its inputs are …`, and a remedy; each "" if nothing tells.

    values: of the tensors behind the factor, as far as they are known.
    """
    op = factor.op
    for _ in range(_FAR):
        zeros = [t for t in op.inputs if t in values and np.size(values[t]) and not np.any(values[t])]
        if op.type == "ZerosLike" and op.origin is not None and op.origin.type in SLOPES:
            op, zeros = op.origin, []
        if not zeros or op.type not in _PRODUCTS and len(zeros) < sum(_is_real(t) for t in op.inputs):
            break
        op = zeros[0].op
    if op is factor.op and op.type not in SLOPES:
        return "", ""
    given = op.inputs[0].name if op.inputs else ""
    hop = noted(Hop(op.name, op.type, given, None, 1.0, 0.0, 0.0, place_of(op)), op, values)
    if op.type in VARIABLES:
        return (f"variable {op.name}{at_line(hop.place)} is 0 throughout",
                "initialize it at random, by tf.glorot_uniform_initializer, in place of zeros")
    if op.type in PLACEHOLDERS:
        return f"0 was fed for {op.name!r}{at_line(hop.place)} throughout", f"feed {op.name} numbers that are not all 0"
    why = f": {hop.note}" if hop.note else ""
    return (f"{op.name} ({op.type}{at_line(hop.place)}) gives nothing but zeros{why}",
            remedy([hop], op, values) if hop.note else "")


def _is_real(tensor: Tensor) -> bool:
    return tensor.dtype.base_dtype.is_floating
