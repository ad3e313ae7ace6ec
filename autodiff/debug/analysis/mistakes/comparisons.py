"""What is compared for an accuracy: predictions that are never whole, targets of a regression, numbers of classes."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....core.graph import Operation
from ...facts.roles import at_line, place_of
from ..findings import Finding
from .case import Case, fed_behind, finding
from .heads import Head, heads, last_layer

_CLASSES = 20  # different whole numbers that may be classes
_WHOLE = ("Greater", "GreaterEqual", "Round", "Rint", "ArgMax")
_NEVER_WHOLE = ("Softmax", "Sigmoid", "Tanh", "MatMul", "BiasAdd", "Add", "AddV2")


def comparison_mistakes(case: Case) -> list[Finding]:
    """Findings about what asks whether predictions equal labels."""
    return [found for op in case.operations if op.type == "Equal" and op.inputs[0].dtype.is_floating
            for found in _compared(op, case)]


def _compared(op: Operation, case: Case) -> Iterator[Finding]:
    said = next((t for t in op.inputs if t.op in case.trained and last_layer(t).type in _NEVER_WHOLE), None)
    fed = next((t for t in op.inputs if t is not said and t.op not in case.trained and fed_behind([t])), None)
    if said is not None and fed is not None:
        yield finding(60, "floats compared", op, f"{op.name} asks whether {said.name}, of the type {said.dtype.name}, "
                      "is equal to the labels to the last bit: it hardly ever is, so an accuracy made of it is 0 "
                      "however good the model is", "compare classes: tf.argmax(x, 1) of both, or tf.round(p) or p > "
                      "0.5 for two")
    elif fed is not None and any(last_layer(t).type in _WHOLE for t in op.inputs):
        head = next((each for each in heads(case) if each.form in ("squared", "absolute") and each.labels is not None
                     and fed_behind([fed]) == fed_behind([each.labels])), None)
        known = case.series(fed) if head is not None else []
        if head is not None and known:
            yield from _of_a_regression(op, head, np.concatenate([np.ravel(v) for v in known]), fed.name)


def _of_a_regression(op: Operation, head: Head, targets: np.ndarray, name: str) -> Iterator[Finding]:
    """An accuracy beside a squared or absolute error: of targets that are not whole, or of the numbers of classes."""
    share, numbers = float(np.mean(targets != np.round(targets))), np.unique(targets)
    if share > 0.5 and len(numbers) > 1:
        yield finding(46, "accuracy of a regression", op, f"{op.name} compares whole numbers with {name}, but "
                      f"{share:.0%} of these targets are not whole: its mean stays near 0 for the best model too",
                      'measure the error: tf.abs(x - y), or in Keras metrics=["mae"]', confidence="certain")
    elif share == 0 and 2 < len(numbers) <= _CLASSES and (head.prediction.dims or (0,))[-1] == 1:
        yield finding(44, "class numbers", head.op, f"the labels {name} are the numbers {numbers[0]:g} to "
                      f"{numbers[-1]:g} of {len(numbers)} classes, of which an accuracy is asked ({op.name}), but "
                      f"{head.op.name} is the {head.form} error of one output, {head.end.name}"
                      f"{at_line(place_of(head.end))}: a class counts as the farther from another the more their "
                      f"numbers differ", f"one output for each of {len(numbers)} classes, a softmax, and a sparse "
                      "categorical cross entropy")
