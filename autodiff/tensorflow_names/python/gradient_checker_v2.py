"""tensorflow.python.ops.gradient_checker_v2: Jacobians of a function by its ops' rules and by differences."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...api.arrays.creation import placeholder
from ...core.convert import as_array
from ...core.defaults import get_default_session
from ...core.dtypes import as_dtype
from ...core.graph import Graph, Tensor, get_default_graph
from ...gradients import numeric_check
from ...runtime.session import Session

Jacobians = list[np.ndarray]


def compute_gradient(f: Callable[..., Any], x: Sequence[Any], delta: float = 1e-3) -> tuple[Jacobians, Jacobians]:
    """For each argument of f its Jacobian, by gradients and by central differences of width 2 delta.

    f: function of tensors; x: its arguments, arrays or tensors. The matrices are float[size of x, size of y]; a complex
    number counts as two, its real and its imaginary part.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
                         f"{type(x)}")
    here = get_default_graph()
    graph = Graph() if here.executing_eagerly else here
    with graph.as_default(), contextlib.ExitStack() as stack:
        session = get_default_session()
        if session is None or session.graph is not graph:
            session = stack.enter_context(Session(graph=graph))
        values = [np.array(session.run(v) if isinstance(v, Tensor) and v.graph is graph else as_array(
            v.numpy() if hasattr(v, "numpy") else v)) for v in x]
        inputs = [placeholder(as_dtype(value.dtype), value.shape) for value in values]
        y = f(*inputs)
        found = numeric_check.compute_gradient(
            inputs, [value.shape for value in values], y, np.shape(session.run(y, dict(zip(inputs, values)))), values,
            delta)
        return [analytic for analytic, _ in found], [numeric for _, numeric in found]


def max_error(grad1: Jacobians, grad2: Jacobians) -> float:
    """The largest difference between two lists of matrices; NaN for NaN."""
    worst = 0.0
    for one, other in zip(grad1, grad2):
        if one.size or other.size:
            worst = np.maximum(worst, np.fabs(one - other).max())
    return float(worst)


def _to_numpy(a: Any) -> Any:
    """The array of a value: of an eager tensor, of IndexedSlices with zeros between."""
    if not hasattr(a, "indices"):
        return a.numpy() if hasattr(a, "numpy") else a
    dense = np.zeros(tuple(np.asarray(a.dense_shape)), np.asarray(a.values).dtype)
    np.add.at(dense, np.asarray(a.indices), np.asarray(a.values))
    return dense
