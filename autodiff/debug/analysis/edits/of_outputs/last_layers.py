"""The last layer with an activation that its targets are in the range of; numbers with a squared error."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .....core.dtypes import int32
from .....core.graph import Operation
from .....core.op import build
from ...findings import Finding
from ...mistakes.case import Case
from ...mistakes.last_layer import NO_PROBABILITY, SQUARED, logits_of
from ..activations import Activation
from ..in_graph import constant
from ..of_heads import NAMED, as_probability, head_of, without_activation
from ..of_training import Attempt, edit, otherwise


def within_range(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The last layer with an activation of the range that its targets are in; or without one."""
    head = head_of(op, case)
    if head is not None and head.labels is not None:
        yield from _within(head.end, case.series(head.labels))
    yield from without_activation(op, case, finding)


def _within(end: Operation, targets: Sequence[np.ndarray]) -> Iterator[Attempt]:
    """An activation whose range is that of targets from -1 to 1."""
    low, high = min((float(v.min()) for v in targets), default=-2), max((float(v.max()) for v in targets), default=2)
    if end.type not in NAMED or not -1 <= low < high <= 1:
        return
    low, high = (float(f"{each:.1g}") for each in (np.floor(10 * low) / 10, np.ceil(10 * high) / 10))
    text = "{tf}.nn.tanh" if (low, high) == (-1, 1) else f"lambda z: {low:g} + {high - low:.2g} * {{tf}}.sigmoid(z)"
    x = logits_of(end)
    yield Attempt((edit(end, f"{text.format(tf='tf')} in its place", lambda now: build.Tanh(now(x)) if "tanh" in text
                        else build.AddV2(build.Mul(build.Sigmoid(now(x)), constant(high - low, x)), constant(low, x)),
                        Activation(end, text)),))


def other_error(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The mean of squares in place of the one cross entropy of what are no classes; else of a probability."""
    head = head_of(op, case)
    if SQUARED not in finding.remedy:
        yield from as_probability(op, case, finding) if finding.kind == NO_PROBABILITY else ()
    elif head is not None and head.labels is not None and case.y.dims == ():
        x = logits_of(head.end) if head.activation in ("Softmax", "Sigmoid") else head.end.outputs[0]
        yield otherwise(case.y.op, "a squared error", lambda now: build.Mean(build.SquaredDifference(
            now(x), head.labels), build.Const(value=np.arange(len(x.dims or ()), dtype=np.int32), dtype=int32)))
