"""GradientsWith: tf.gradients with all of its arguments, of what is typed, and its values."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.convert import to_tensor
from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.names import did_you_mean
from ....core.op import build
from ....gradients.aggregate import AggregationMethod
from ....gradients.backprop import gradients
from ...analysis.why import why_none
from ...facts.derivative_answers import GradientPart, GradientsOf
from ...facts.stats import statistics
from ..state import State
from .evaluate import Values, plain

AGGREGATIONS = {name.lower(): method for name, method in vars(AggregationMethod).items() if name.isupper()}


class GradientsWith:
    """Differentiates a sum of ys, each with its weight, some tensors held constant."""

    def __init__(self, state: State, values: Values) -> None:
        self.state, self.model, self.values = state, state.model, values

    def of(self, xs: Sequence[str], ys: Sequence[str] = (), *, weights: Sequence[str] = (), stops: Sequence[str] = (),
           unconnected: str = "none", aggregation: str = "") -> GradientsOf:
        """The gradients of sum(ys) by each x, in the last run.

        weights: for each y an expression of its shape, in place of ones (grad_ys). stops: tensors to hold constant.
        unconnected: "none", or "zero" for zeros where no y depends on x. aggregation: add_n, experimental_tree or
        experimental_accumulate_n. Raises ArgumentError (ValueError) for weights that do not fit, and unknown options.
        """
        tops = [self.model.targets.outside(y) for y in ys] or [self.model.y_of("")]
        bottoms = [self.model.targets.outside(name) for x in xs for name in self.model.resolve(x)]
        held = [self.model.targets.outside(name) for stop in stops for name in self.model.resolve(stop)]
        values = self._weights(tops, weights)
        with self.model.derivatives.hidden.building():
            given = [_filled(y, value) for y, value in zip(tops, values)] or None
            found = gradients(tops, bottoms, grad_ys=given, stop_gradients=held or None,
                              unconnected_gradients=unconnected, aggregation_method=_method(aggregation))
        at = self.state.moment_for([*tops, *bottoms])
        when = self.state.when(at)
        arrays = iter(self.state.values([g for g in found if g is not None], at))
        parts = tuple(self._part(tops, x, None if g is None else plain(next(arrays)), held, when)
                      for x, g in zip(bottoms, found))
        return GradientsOf(tuple(t.name for t in tops), tuple(weights), tuple(t.name for t in held),
                           tuple(x.name for x in bottoms if x in held), parts, when)

    def _weights(self, ys: list[Tensor], texts: Sequence[str]) -> list[np.ndarray]:
        """What each y receives; none for ones."""
        if texts and len(texts) != len(ys):
            raise ArgumentError(f"expected one weight for each y: {len(ys)} ys and {len(texts)} weights",
                                hint="--weights takes expressions with commas between them, in the order of the ys")
        return [np.asarray(self.values.as_value(text)).astype(y.dtype.base_dtype.as_numpy_dtype)
                for y, text in zip(ys, texts)]

    def _part(self, ys: list[Tensor], x: Tensor, value: Any, held: list[Tensor], when: str) -> GradientPart:
        if value is None:
            return GradientPart(x.name, None, None, 0, _reason(ys, x, held))
        kept = self.values.keep(f"grad {','.join(y.name for y in ys)} {x.name}", value, when, (x.name,))
        return GradientPart(x.name, value, statistics(value), kept.number)


def _filled(y: Tensor, weight: np.ndarray) -> Any:
    """A weight of y's shape: one number does for all of y's elements."""
    if weight.ndim or y.dims == ():
        return weight
    return build.Fill(build.Shape(y), to_tensor(y.graph, weight, y.dtype.base_dtype, "weight"))


def _reason(ys: list[Tensor], x: Tensor, held: list[Tensor]) -> str:
    """Why no y gets a gradient at x."""
    found = [why_none(y, x) for y in ys]
    flows = held and any(why.kind == "flows" for why in found)
    if flows:
        return f"every way to it goes through what is held constant: {', '.join(t.name for t in held)}"
    return found[0].text


def _method(name: str) -> int | None:
    if not name:
        return None
    if name.lower() not in AGGREGATIONS:
        raise ArgumentError(f"expected one of AggregationMethod's {', '.join(AGGREGATIONS)}, found {name!r}",
                            hint=did_you_mean(name.lower(), AGGREGATIONS))
    return AGGREGATIONS[name.lower()]
