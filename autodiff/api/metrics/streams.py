"""What every metric does: local variables that add up, collections, and the refusal when executing eagerly."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...core.collections import GraphKeys
from ...core.errors import StateError
from ...core.graph import Tensor, get_default_graph
from ..variables.initializers import zeros_initializer
from ..variables.variable import Variable

Metric = tuple[Tensor, Tensor]  # (value, update_op)


def metric_variable(shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None) -> Variable:
    """A local variable of zeros, which local_variables_initializer sets."""
    return Variable(lambda: zeros_initializer()(shape, dtype), trainable=False, dtype=dtype, name=name,
                    validate_shape=validate_shape, collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def collected(value: Tensor, update: Tensor, metrics_collections: Any, updates_collections: Any) -> Metric:
    """Both, added to the collections that were asked for."""
    graph = get_default_graph()
    if metrics_collections:
        graph.add_to_collections(metrics_collections, value)
    if updates_collections:
        graph.add_to_collections(updates_collections, update)
    return value, update


def in_graphs(function: Callable[..., Any]) -> Callable[..., Any]:
    """A metric that says so when ops run at once: it needs its variables and runs."""

    @functools.wraps(function)
    def metric(*args: Any, **options: Any) -> Any:
        if get_default_graph().executing_eagerly:
            raise StateError(f"tf.metrics.{function.__name__} is not supported when eager execution is enabled.")
        return function(*args, **options)

    return metric
