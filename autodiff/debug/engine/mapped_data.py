"""What keeps nan and inf away that a dataset's map function made of an element."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...api.data.nonfinite import GAVE
from ...core.errors import AutodiffError
from ...core.graph import Graph, Tensor
from ...core.op import build
from ...core.traversal import ancestors, in_order
from ...runtime.session import Session
from ..analysis.edits.in_graph import Edit, bounds_of, copied, edits_of, replaced
from ..analysis.edits.of_givens import one_more
from ..analysis.remedies import graphs_of
from ..derivatives.hidden_ops import HiddenOps


def mended_maps(fed: Tensor, value: np.ndarray) -> Iterator[Edit]:
    """What a dataset gave, as a map function that keeps nan and inf away gives it. value: with nan or inf."""
    graph = next((each for each in reversed(graphs_of(fed.op)) if GAVE in each.extras), None)
    given, outputs, op = graph.extras[GAVE] if graph is not None else ({}, [], None)
    if graph is None or op is None:
        return
    without = Session(graph=graph).run(outputs, given)
    number = next((i for i, made in enumerate(without) if np.shape(made) == value.shape[1:]
                   and not np.isfinite(made).all()), None)
    several = value[np.isfinite(value)]
    counts = op.type == "Log" and several.size and np.median(several) > 0
    for edit in (*([one_more(op)] if counts else ()), *edits_of(op, ""), *bounds_of(op)):
        with_edit = _made_with(edit, outputs[number], given) if number is not None else None
        if with_edit is not None and np.isfinite(with_edit).all():
            other = with_edit.astype(value.dtype)
            words = f"in the dataset's map function: {edit.words}"
            yield replace(edit, op=fed.op, words=words, explains=True, is_bound=False, build=replaced(
                fed, words, lambda x: build.SelectV2(build.IsFinite(x), x, build.Mul(  # noqa: B023
                    build.OnesLike(x), build.Const(value=other, dtype=x.dtype.base_dtype)))).build)  # noqa: B023


def _made_with(edit: Edit, output: Tensor, given: dict[Tensor, Any]) -> np.ndarray | None:
    """An output of a map function with an edit of it; None where the graph does not allow that."""
    graph: Graph = output.graph
    now: dict[Tensor, Tensor] = {}
    try:
        with graph.as_default(), HiddenOps(graph).building():
            for op in in_order(ancestors([output])):
                if op is edit.op:
                    now.update(zip(op.outputs, edit.made(lambda t: now.get(t, t))))
                elif any(t in now for t in op.inputs):
                    now.update(zip(op.outputs, copied(op, tuple(now.get(t, t) for t in op.inputs)).outputs))
            made: np.ndarray = Session(graph=graph).run(now[output], given)
    except (AutodiffError, KeyError):
        return None
    return made
