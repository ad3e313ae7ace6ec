"""Classes: a loss, or a layer, that does not fit labels which name one class of each example."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of
from ..findings import Finding
from .case import Case, finding, held
from .heads import ENTROPIES, Head, constant, heads, is_normalized, through
from .last_layer import has_other_half, logits_of
from .pairing import batches_of
from .wiring import linear_source

_TRAINED = 20  # steps that should have taught something
_MOST = 100  # columns: more are an image, not classes


def class_mistakes(case: Case) -> list[Finding]:
    """Findings about losses of labels that are classes."""
    found: list[Finding] = []
    for head in heads(case):
        count = classes_in(head, case) if case.steps else 0
        for rule in (_each_alone, _squared, _narrow) if count else ():
            found += list(rule(head, count, case))[:1]
    return found


def classes_in(head: Head, case: Case) -> int:
    """How many classes the labels tell apart, each example being of one; 0 where they are something else.

    Labels that are fed to the model too, as the images of an autoencoder are, tell no classes.
    """
    if head.labels is None or head.labels.op in case.trained or constant(head.labels) is not None or \
            head.labels.op in ancestors([head.prediction]):
        return 0
    if head.form == "sparse" or head.form == "log" and len(head.labels.dims or ()) < len(head.prediction.dims or ()):
        return int((head.prediction.dims or (0,))[-1] or 0)
    labels = batches_of(case, head.labels)
    shapes = {np.shape(a)[1:] for a in labels}
    if not labels or len(shapes) > 1 or any(a.size == 0 or a.dtype.kind not in "fiub" for a in labels):
        return 0
    values, columns = np.concatenate([a.ravel() for a in labels]), int(np.prod(next(iter(shapes)), initial=1))
    if head.labels.op.type == "OneHot":
        return int((head.labels.dims or (0,))[-1] or 0)
    if not np.isin(values, (0, 1)).all() or columns > _MOST or values.min() == values.max():
        return 0
    if (values.reshape(-1, columns) == values[:columns]).all():
        return 0  # the same of all examples, as of one that is right among others that were drawn
    return 2 if columns == 1 else columns if (values.reshape(-1, columns).sum(axis=1) == 1).all() else 0


def _each_alone(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """A loss of two classes for each of many of which one is right."""
    dims = head.prediction.dims or ()
    columns = dims[-1] or 1 if len(dims) > 1 else 1  # a vector is one question for each example
    if columns < 3:
        return
    squashed = f"{head.end.type.lower()} {head.end.name}{at_line(place_of(head.end))}"
    one_of = f"each example is of one of {count} classes"
    remedy = "end in a softmax: give the logits to tf.nn.softmax_cross_entropy_with_logits_v2"
    if head.form == "log" and head.activation == "Sigmoid" and not has_other_half(head):
        divided = any(is_normalized(c) or c.type in ENTROPIES for t in (head.end, head.op)
                      for c in through(t.outputs[0]))
        follows = "the loss divides them by it, and trains their ratios alone" if divided else "all at 1 is best"
        yield finding(44 if divided and case.learns else 69, "sigmoid over classes", head.op, f"{one_of}, but the last "
                      f"layer is the {squashed}: its outputs do not share a sum of 1: {follows}", remedy)
    elif head.form == "log" and head.activation == "Softmax" and has_other_half(head):
        yield finding(44, "binary cross entropy of classes", head.op, f"{one_of}, but the loss is that of {columns} "
                      f"questions of yes and no, y log(p) + (1 - y) log(1 - p), of the {squashed}, whose outputs "
                      "depend on each other: its mean is small from the start, and so is its slope", remedy)
    elif (head.form == "sigmoid" or head.form == "log" and head.activation == "Sigmoid") and not case.learns:
        yield finding(44, "binary cross entropy of classes", head.op, f"{one_of}, but the loss is that of {columns} "
                      f"questions of yes and no, {case.last_loss:.3g} after {len(case.steps)} steps, where no for "
                      f"everything has {case.guess:.3g}", remedy)


def _squared(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """A squared error of classes; of a softmax it is told as its own kind."""
    if head.form not in ("squared", "absolute") or head.activation not in ("", "Sigmoid", "Relu", "Tanh"):
        return
    what = f"the {head.activation.lower()} {head.end.name}" if head.activation else f"{head.end.name}, of no activation"
    flat = (": where the sigmoid is sure of a wrong class its slope is almost 0" if head.activation == "Sigmoid" else
            ", which is no probability: what is right beyond 1 costs as much as what is wrong")
    told = (f"; one answer to everything costs {case.guess:.3g}, and the loss is {case.last_loss:.3g} after "
            f"{len(case.steps)} steps" if np.isfinite(case.guess) else "")
    name = "softmax" if count > 2 or (head.prediction.dims or (1,))[-1] != 1 else "sigmoid"
    source = logits_of(head.end).name if head.activation else head.prediction.name
    is_number = not head.activation and (head.prediction.dims or (1,))[-1] == 1  # a regression of 0 and 1 may be meant
    is_harmless = case.learns or is_number or len(case.steps) < _TRAINED or not np.isfinite(case.guess)
    yield finding(37 if is_harmless else 44, "squared error of classes", head.op, f"the labels are {count} "
                  f"classes, but {head.op.name} is the {head.form} error of {what}{at_line(place_of(head.end))}{flat}"
                  f"{told}", f"give {source} to tf.nn.{name}_cross_entropy_with_logits{'_v2' * (name == 'softmax')}")


def _narrow(head: Head, count: int, case: Case) -> Iterator[Finding]:
    """A hidden layer of fewer units than tell the classes apart."""
    if head.form not in ("softmax", "sparse", "log"):
        return
    for op in [o for o in ancestors([head.prediction]) if o.type == "MatMul" and len(o.inputs[0].op.inputs) == 1]:
        below = linear_source(op.inputs[0].op.inputs[0], case)
        kernel = held(below.inputs[1]) if below is not None else op
        units = (kernel.outputs[0].dims or (0,))[-1] or 0
        if below is not None and 0 < units < np.log2(count):
            yield finding(38 if case.learns else 66, "layer too narrow", below, f"{kernel.name} has {units} unit"
                          f"{'s' * (units > 1)}, through which all goes that tells {count} classes apart: with a relu "
                          f"or a sigmoid, {2 ** units} answers", f"{2 * count} units or more in hidden layers",
                          target=f"{kernel.name}:0")
            return
