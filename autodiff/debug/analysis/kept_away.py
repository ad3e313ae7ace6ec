"""What a graph shows of numbers without running it: that they are not 0, how large they may get, their signs."""
from __future__ import annotations

import numpy as np

from ...core.constant_value import is_one, static_value
from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, past
from .edits.in_graph import SELECTS
from .mistakes.reach import ways_to_zero
from .mistakes.signs import NEVER_NEGATIVE, is_squared

CARRIES = ("Identity", "IdentityN", "Reshape", "ExpandDims", "Squeeze", "Cast", "BroadcastTo", "StridedSlice", "Tile",
            "Transpose", "GatherV2", "StopGradient")
MANY = 8  # ops that are looked back through


def is_kept_away(tensor: Tensor) -> bool:
    """Whether a tensor shows that it is not 0: a constant, a sum with a positive constant, a bound, an exponential."""
    op = past(tensor, CARRIES).op
    value = _constant(op.outputs[0])
    if value is not None:
        return bool(np.all(np.asarray(value) != 0))
    if op.type in ("Exp", "Softplus", "Maximum", "Cosh", "Size", "Shape", "Prod", *SELECTS):
        return True
    if op.type in ("MatrixDiagPart", "DiagPart", "If"):  # JAX chooses between two ways to take a diagonal
        return any(each.type == "Cholesky" for each in ancestors(op.inputs))
    if op.type == "Fill":
        return is_kept_away(op.inputs[1])
    if op.type == "Sub":
        least, most = static_value(op.inputs[0]), _most(op.inputs[1])
        ways = [*ways_to_zero(op.outputs[0])] if is_one(op.inputs[0]) else []
        return least is not None and most is not None and bool(np.all(least > most)) or bool(ways) and all(
            squash is None for squash, _ in ways)
    if op.type in ("Add", "AddV2"):
        constants = [static_value(t) for t in op.inputs]
        return any(c is not None and np.asarray(c).dtype.kind in "fiu" and bool(np.all(np.asarray(c) > 0))
                   for c in constants)
    if op.type in ("Sum", "Mean"):  # of exponentials: the denominator of a softmax; of examples whose label is not -100
        source = op.inputs[0].op
        return source.type in ("Exp", "Softmax", "Softplus") or is_squared(source) and is_kept_away(
            source.inputs[0]) or source.type in SELECTS and source.inputs[
            0].op.type == "NotEqual" and bool(np.all(np.asarray(static_value(source.inputs[0].op.inputs[1]) or 0) < 0))
    if op.type == "RealDiv":  # but a share of exponentials, which may be as small as 0
        above = past(op.inputs[0], CARRIES).op
        return (above.type != "Exp" or _has_least(above.inputs[0])) and is_kept_away(op.inputs[0])
    return op.type in ("Sqrt", "Mul", "Square", "Pow", "Minimum", "Log1p", "Abs") and all(map(is_kept_away, op.inputs))


def _has_least(tensor: Tensor) -> bool:
    """Whether a tensor shows that it is not below some number."""
    op = past(tensor, CARRIES).op
    known = [_constant(t) for t in op.inputs] if op.type in ("Maximum", "Minimum", "Add", "AddV2", "Mul") else []
    if op.type == "Mul" and not any(c is not None and np.all(c >= 0) for c in known):
        return False
    least = [c is not None or _has_least(t) for c, t in zip(known, op.inputs)]
    return op.type in ("Tanh", "Sigmoid", "Relu", "Softplus", "Square", "Abs") or bool(least) and (
        any if op.type == "Maximum" else all)(least)


def _most(tensor: Tensor) -> np.ndarray | None:
    """The constant that a tensor is kept below, or at; None where it shows none."""
    op = past(tensor, CARRIES).op
    if op.type not in ("Minimum", "Maximum"):
        return None
    bounds = [static_value(t) for t in op.inputs]
    if op.type == "Maximum":
        a, b = (_most(t) if bound is None else bound for t, bound in zip(op.inputs, bounds))
        return None if a is None or b is None else np.maximum(a, b)
    return next((bound for bound in bounds if bound is not None), None)


def _constant(tensor: Tensor, depth: int = 4) -> np.ndarray | None:
    """The value of what is computed of constants alone, as the 1 / (1 - rate) of a dropout; None for anything else."""
    value = static_value(tensor)
    op = tensor.op
    if value is not None or not depth or not op.inputs or not op.definition.elementwise:
        return value
    inputs = [_constant(t, depth - 1) for t in op.inputs]
    if any(x is None for x in inputs):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(op.definition.kernel(*inputs, **op.attrs))


def is_risky_power(op: Operation) -> bool:
    """Whether the derivative of a power may be inf or nan, by its exponent, at a base that may be 0."""
    if is_kept_away(op.inputs[0]):
        return False
    exponent = static_value(op.inputs[1])
    if exponent is None:
        return True
    array = np.asarray(exponent, dtype=float)
    return bool(np.any((array < 1) & (array != 0))) or bool(np.any((array < 2) & (array != np.round(array))))


def sign_of(tensor: Tensor, far: int = MANY) -> int:
    """1 for what shows that it is never negative, -1 for what is never positive, else 0."""
    op = past(tensor, CARRIES).op
    value = _constant(op.outputs[0])
    if value is not None or not far:
        return 0 if value is None else int(np.all(value >= 0)) - int(np.all(value <= 0))
    if op.type in NEVER_NEGATIVE or is_squared(op):
        return 1
    if op.type == "Sub":  # of a logarithm of exponentials, which are taken of what is less than the largest
        most = past(op.inputs[1], CARRIES).op
        most = past(most.inputs[1], CARRIES).op if most.type in SELECTS else most
        return -int(most.type == "Max" and most.inputs[0] is op.inputs[0])
    if op.type in ("Neg", "Sum", "Mean"):
        return sign_of(op.inputs[0], far - 1) * (-1 if op.type == "Neg" else 1)
    return sign_of(op.inputs[0], far - 1) * sign_of(op.inputs[1], far - 1) if op.type in ("Mul", "RealDiv") else 0
