"""What came close to nan in a training that stayed finite: with other random numbers it would have been there."""
from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ....core.constant_value import is_one, static_value
from ....core.graph import Operation, Tensor
from ..advice import advice_of
from ..arithmetic_rules import number
from ..findings import Finding
from .case import Case, finding

NEAR = "near nan"
# kinds of findings, those of traps, that are of what may happen, at values that may never come
HAZARDS = ("where trap", "log of softmax", "log of sigmoid", "log", "norm", "sqrt", "division", "power", "arc",
           "decomposition")
_SEVERITY = 57
_HIGH = 60.0  # of an exponential, which overflows at 88.7
_LEAST, _LEAST_OF_REST = 1e-25, 1e-6  # of a probability, which is 0 below 1e-45; of 1 less one, which is below 6e-8
_LEAST_SIGMOID = 1e-6  # TensorFlow's vectors have 0 for a sigmoid below 1e-7
_SLIGHT = 1e-2
_SHARE = 0.15  # of what it usually is: how near 0 a number may come that nothing keeps above 0
_FAR = 6  # ops that are looked back through
_SELECTS = ("Select", "SelectV2")
_LINEAR = ("MatMul", "BatchMatMulV2", "Conv2D", "BiasAdd")
_ADDS = ("Add", "AddV2")
_PASSES = ("Identity", "Reshape", "Squeeze", "ExpandDims", "StridedSlice", "Transpose", "Sub", "GatherV2",
           "GatherNd", "Split", "SplitV", *_ADDS, *_SELECTS)


def near_misses(case: Case) -> Iterator[Finding]:
    """Logarithms that are given what nothing keeps above 0, and exponentials, that came near what they cannot take."""
    logs = [op for op in case.behind if op.type in ("Log", "Exp") and op in case.trained and op.gradient_of is None]
    if case.is_spoiled or case.failed or len(case.steps) < 2:
        return
    least = {"Softmax": _LEAST, "Sigmoid": _LEAST if advice_of(case.y.graph).words else _LEAST_SIGMOID}
    kinds = {op: _HIGH if op.type == "Exp" else _bound(op.inputs[0], least) for op in logs}
    case.want(*(op.inputs[0] for op, bound in kinds.items() if bound is not None))
    for op, bound in kinds.items():
        values = [v for v in case.series(op.inputs[0]) if v.size and np.isfinite(v).all()] if bound is not None else []
        if not values or bound is None:
            continue
        ends = [float(v.max() if op.type == "Exp" else v.min()) for v in values]
        at = int(np.argmax(ends) if op.type == "Exp" else np.argmin(ends))
        limit = bound or _SHARE * float(np.median(values[0]))
        if ends[at] < limit if op.type == "Exp" else not 0 < ends[at] < limit:
            continue
        word, then = ("exp", "beyond 88.7 it is inf") if op.type == "Exp" else (
            "log", "at 0 it is -inf" if bound else "nothing keeps that above 0, and below it is nan")
        yield finding(_SEVERITY, NEAR, op, f"{word}({number(ends[at])}) was taken in step {case.looked[at].step}, and "
                      f"{then}: this training stayed finite, but with another start, or more steps, it may not",
                      "keep what it is given away from there", step=case.looked[at].step, confidence="certain")


def near_poles(case: Case) -> Iterator[Finding]:
    """Powers below 1 of what is 0 where a probability is right, and that probability came to 0 or 1."""
    if case.is_spoiled or case.failed or len(case.steps) < 2:
        return
    powers = [op for op in case.behind if op.type == "Pow" and op in case.trained and op.gradient_of is None
              and (power := static_value(op.inputs[1])) is not None and ((power > 0) & (power < 1)).all()]
    ways = [(op, squash, end) for op in powers for squash, end in ways_to_zero(op.inputs[0]) if squash is not None]
    case.want(*(squash.outputs[0] for _, squash, _ in ways))
    for op, squash, end in ways:
        limit = _LEAST if squash.type == "Softmax" and not end else _LEAST_SIGMOID
        for at, value in enumerate(case.series(squash.outputs[0])):
            if value.size and np.min(np.abs(value - end)) < limit:
                yield finding(_SEVERITY, NEAR, op, f"a power whose slope at 0 is inf, of 0 where {squash.name} "
                              f"is {end:d} and right: in step {case.looked[at].step} it is {end:d} already; this "
                              "training stayed finite, but with another start it may not", "keep what it is given away "
                              "from 0", step=case.looked[at].step)
                break


def ways_to_zero(x: Tensor, turned: bool = False, far: int = 2 * _FAR) -> Iterator[tuple[Operation | None, bool]]:
    """The probabilities that bring a number to 0, as they come to 0, or, turned, to 1; None for what a bound keeps."""
    op = x.op
    values = [static_value(t) for t in op.inputs]
    if op.type in ("Sigmoid", "Softmax"):
        yield op, turned
    sides = {"Minimum": ([], values), "Maximum": (values, [])}.get(op.type)
    least, most = ([v for v in side if v is not None] for side in sides or ([], []))
    raised = least + [v for v in values if op.type in _ADDS and v is not None]
    is_kept = any(np.min(v) < 1 for v in most) if turned else any(np.max(v) > 0 for v in raised)
    if is_kept:
        yield None, turned
    if not far or is_kept or op.type not in (*_PASSES, "Mul", "Abs", "Sum", "Max") and sides is None:
        return
    turns = op.type == "Sub" and is_one(op.inputs[0])
    for t, value in zip(op.inputs, values):
        yield from ways_to_zero(t, turned != turns, far - 1) if value is None else ()


def _bound(x: Tensor, least: Mapping[str, float], turned: bool = False, far: int = _FAR) -> float | None:
    """Below what a number is near 0: 0.0 for a share of its usual size; None of what is kept from 0, or not known."""
    op = x.op
    if op.type in least:
        return _LEAST_OF_REST if turned else least[op.type]
    if op.type in _LINEAR:
        return 0.0
    values = [static_value(t) for t in op.inputs] if op.type in _ADDS else []
    if op.type not in _PASSES or not far or any(value is not None and 0 < np.min(value) < _SLIGHT for value in values):
        return None  # or that was added to keep it from 0
    turned = turned or op.type == "Sub" and is_one(op.inputs[0])
    parts = op.inputs[1:] if op.type in _SELECTS else op.inputs[1:] if turned and op.type == "Sub" else op.inputs
    bounds = [_bound(t, least, turned, far - 1) for t in parts if static_value(t) is None]
    known = [bound for bound in bounds if bound is not None]
    return None if len(known) < len(bounds) and op.type in _SELECTS else max(known, default=None)
