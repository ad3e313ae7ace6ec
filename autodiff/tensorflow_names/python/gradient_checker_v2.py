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
from ...gradients.backprop import gradients
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
        dy = placeholder(y.dtype.base_dtype, y.shape)
        slopes = gradients(y, inputs, grad_ys=dy)

        def output(at: Sequence[np.ndarray]) -> np.ndarray:
            return np.asarray(session.run(y, dict(zip(inputs, at))))

        whole = output(values)
        analytic: Jacobians = []
        for value, slope in zip(values, slopes):
            columns = np.zeros((_real(value).size, _real(whole).size), value.real.dtype)
            for i in range(columns.shape[1] if slope is not None else 0):
                unit = np.zeros(whole.size, whole.dtype)
                _real(unit)[i] = 1
                feeds = {**dict(zip(inputs, values)), dy: unit.reshape(whole.shape)}
                columns[:, i] = _real(_to_numpy(session.run(slope, feeds), value.shape))
            analytic.append(columns)
        return analytic, [_by_differences(output, values, i, _real(whole).size, delta) for i in range(len(values))]


def _real(array: Any) -> np.ndarray:
    """The numbers of an array in a row, a complex one as two; a view where the array is a row itself."""
    return np.ravel(array).view(np.asarray(array).real.dtype)


def _to_numpy(a: Any, shape: Any = None) -> np.ndarray:
    """The array of a value: of an eager tensor, of IndexedSlices of that shape (else their own) with zeros between."""
    if not hasattr(a, "indices"):
        return a.numpy() if hasattr(a, "numpy") else a
    dense = np.zeros(tuple(np.asarray(a.dense_shape)) if shape is None else shape, np.asarray(a.values).dtype)
    np.add.at(dense, np.asarray(a.indices), np.asarray(a.values))
    return dense


def _by_differences(output: Callable[[Sequence[np.ndarray]], np.ndarray], values: list[np.ndarray], which: int,
                    size: int, delta: float) -> np.ndarray:
    value = values[which]
    rows = np.zeros((_real(value).size, size), value.real.dtype)
    for i in range(len(rows)):
        ends = []
        for step in (delta, -delta):
            moved = value.copy()
            _real(moved.reshape(-1))[i] += step
            ends.append(_real(output([*values[:which], moved, *values[which + 1:]])))
        rows[i] = (ends[0] - ends[1]) / (2 * delta)
    return rows


def max_error(grad1: Jacobians, grad2: Jacobians) -> float:
    """The largest difference between two lists of matrices; NaN for NaN."""
    worst = 0.0
    for one, other in zip(grad1, grad2):
        if one.size or other.size:
            worst = np.maximum(worst, np.fabs(one - other).max())
    return float(worst)
