"""Metrics that are kept in variables from batch to batch: sums and means."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from .. import math
from ..common.ranks import matched
from ..control.dependencies import control_dependencies, group
from ..variables.layer_base import numbered, snake_case
from ..variables.variable import Variable
from . import backend, initializers


class Metric:
    """A number over all that update_state was given since reset_states.

    Subclasses make the variables it is kept in by add_weight, and say update_state and result.
    """

    update_state: Any
    result: Any

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        self.name, self.dtype = name or numbered(snake_case(type(self).__name__), 0), dtype or float32
        self.weights: list[Variable] = []

    variables = property(lambda self: self.weights)

    def add_weight(self, name: str, shape: Any = (), aggregation: Any = None, synchronization: Any = None,
                   initializer: Any = "zeros", dtype: Any = None) -> Variable:
        """A variable in no collection of the graph; a session of Keras gives it its first value."""
        made = Variable(lambda: initializers.get(initializer)(shape, dtype or self.dtype), name=name, trainable=False,
                        collections=[], use_resource=True)
        get_default_graph().outermost.extras.setdefault("metrics", []).append(made)  # for get_session
        self.weights.append(made)
        return made

    def reset_states(self) -> None:
        """Begin anew, from zero."""
        for variable in self.weights:
            backend.set_value(variable, np.zeros(variable.shape.as_list()))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The result with these values."""
        graph = get_default_graph()
        before = 0 if graph.executing_eagerly else len(graph.get_operations())
        update = self.update_state(*args, **options)
        if not graph.executing_eagerly and update is None:
            update = group(*(op for op in graph.get_operations()[before:] if op.type.startswith("Assign")))
        with control_dependencies([] if update is None else [update]):
            return build.Identity(self.result())


class Sum(Metric):
    """The sum of values, each times its weight."""

    def __init__(self, name: str | None = "sum", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self.add_weight("total")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        return self.total.assign_add(math.reduce_sum(math.multiply(*weighed(values, sample_weight))))

    def result(self) -> Any:
        return build.Identity(self.total)


class Mean(Metric):
    """The mean of values."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total, self.count = self.add_weight("total"), self.add_weight("count")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        values, weights = weighed(values, sample_weight)
        return group(self.total.assign_add(math.reduce_sum(values * weights)),
                     self.count.assign_add(math.reduce_sum(weights)))

    def result(self) -> Any:
        return build.DivNoNan(self.total, self.count)


class MeanMetricWrapper(Mean):
    """The mean over examples of a function of what is true and what was predicted."""

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **options: Any) -> None:
        super().__init__(name, dtype)
        self.fn, self._options = fn, options

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        true, predicted = (math.cast(convert_to_tensor(each), float32) for each in (y_true, y_pred))
        more = len(predicted.dims or ()) - len(true.dims or ())
        if more == 1 and predicted.dims[-1] == 1:
            predicted = build.Squeeze(predicted, squeeze_dims=[-1])
        elif more == -1 and true.dims[-1] == 1:
            true = build.Squeeze(true, squeeze_dims=[-1])
        return super().update_state(self.fn(true, predicted, **self._options), sample_weight)


def weighed(values: Any, sample_weight: Any) -> tuple[Tensor, Tensor]:
    """Values as floats, and a weight for each; those of one weight are averaged if there are fewer axes of weights."""
    values = math.cast(convert_to_tensor(values), float32)
    if sample_weight is None:
        return values, build.OnesLike(values)
    values, _, weights = matched(values, None, math.cast(convert_to_tensor(sample_weight), float32))
    if 0 < len(weights.dims) < len(values.dims):
        values = math.reduce_mean(values, axis=[*range(len(weights.dims), len(values.dims))])
    return values, weights * build.OnesLike(values)
