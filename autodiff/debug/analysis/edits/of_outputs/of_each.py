"""What mends a number that is of all examples together: the loss, or the answer, of each; or of all columns."""
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.op import build
from .....core.traversal import ancestors, descendants, in_order
from ...findings import Finding
from ...mistakes.axes.added_columns import all_added
from ...mistakes.axes.against_many import Against, all_against, axes_told
from ...mistakes.axes.reduced_early import Early, axis_of_numbers, early_in
from ...mistakes.case import Case
from ..in_graph import Edit, Now, around, constant, copied
from ..in_source import Argument, Rewrite
from ..of_heads import along, build_axes
from ..of_training import Attempt, edit, otherwise


def each_scored(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The loss of each example's score in place of that of all scores together; or the answer of each alone."""
    for against in [found for found in all_against(case) if found.total is op]:
        line = Argument(op, "axis", axes_told(against)) if against.axes else Rewrite(op, None, "{0}", ((op, 0),))
        yield otherwise(op, "of each example alone", partial(_apart, against), line)
        return
    sums, edits = {case.graph.operations[name.partition(":")[0]] for name in finding.target.split(", ")}, list[Edit]()
    for early in early_in(case.y, sums):
        edits.append(edit(early.end, "the loss of each example", partial(_of_each, early), around(
            early.end, "tf.reduce_mean({0})")))
        for each in early.sums:
            text = "{0}" if axis_of_numbers(each) is None else f"{{tf}}.reduce_{each.type.lower()}({{0}}, axis=-1)"
            edits.append(edit(each, "the loss of each example", lambda now, x=each.outputs[0]: x,  # type: ignore[misc]
                              Rewrite(each, None, text, ((each, 0),))))
    yield Attempt(tuple(edits), is_same=False)


def _of_each(early: Early, now: Now) -> Tensor:
    made = {each.outputs[0]: now(each.inputs[0]) if (axis := axis_of_numbers(each)) is None else along(each, axis, now)
            for each in early.sums}
    for op in in_order(descendants(made) & ancestors(early.end.outputs)):
        made.update(zip(op.outputs, copied(op, tuple(made.get(t, t) for t in op.inputs)).outputs))
    losses = made[early.end.outputs[0]]
    return build.Mean(losses, build_axes(*range(len(losses.dims or ())))())


def one_column(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The derivative of one column alone, that of the answer beside it."""
    for seed in [each.seed for each in all_added(case) if each.seed.name == finding.target and finding.written][:1]:
        alone = (np.arange(case.series(seed)[-1].shape[-1]) == int(finding.written)).astype(float)
        yield otherwise(seed.op, f"that of column {finding.written}", partial(_weighed, seed, alone))


def _weighed(tensor: Tensor, by: np.ndarray, now: Now) -> Tensor:
    return build.Mul(tensor, constant(by, tensor))


def _apart(each: Against, now: Now) -> Tensor:
    """What is reduced, of each example alone, in the shape of the targets."""
    x = now(each.total.inputs[0])
    made = getattr(build, each.total.type)(x, build_axes(*each.axes)()) if each.axes else x
    return build.Reshape(made, build_axes(-1, *[1] * each.is_column)())
