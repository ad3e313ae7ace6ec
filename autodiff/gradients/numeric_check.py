"""Numeric against analytic gradients: central differences of a tensor in a session."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.convert import to_tensor
from ..core.defaults import session_for
from ..core.errors import ArgumentError
from ..core.graph import Tensor
from ..core.indexed_slices import dense
from ..core.op import build
from .aggregate import Gradient
from .backprop import gradients

__all__ = ["compute_gradient", "compute_gradient_error"]


def compute_gradient(x: Any, x_shape: Any, y: Tensor, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                     init_targets: Any = None, extra_feed_dict: Mapping[Any, Any] | None = None) -> Any:
    """(analytic, numeric) Jacobians of y by x, each [elements of x, elements of y], in the default session.

    A complex number is two elements, its real and its imaginary part.

    x: a tensor or a list of them (then x_shape and x_init_value are lists, and so is the result).
    x_init_value: where; random if None. delta: step of the central differences, in x's units.
    init_targets: operations to run first. Raises ArgumentError (ValueError) without a default session.
    """
    several = isinstance(x, (list, tuple))
    xs = [v if isinstance(v, Tensor) else to_tensor(v.graph, v, None, "x") for v in (x if several else [x])]
    shapes = list(x_shape) if several else [x_shape]
    starts = x_init_value if several and x_init_value is not None else [x_init_value] * len(xs)
    session = session_for(y.graph, None, "compute a gradient")
    for target in [] if init_targets is None else np.atleast_1d(np.asarray(init_targets, dtype=object)):
        session.run(target)
    found = gradients(y, xs, grad_ys=build.OnesLike(y) if y.dtype.is_complex else None)
    seed = _starting_points(xs, shapes, starts)
    feeds = {**dict(extra_feed_dict or {}), **dict(zip(xs, seed))}
    out = tuple(y_shape)
    pairs = [(_analytic(session, v, y, dx, feeds, out), _numeric(session, v, y, feeds, delta, out))
             for v, dx in zip(xs, found)]
    return pairs if several else pairs[0]


def compute_gradient_error(x: Any, x_shape: Any, y: Tensor, y_shape: Any, x_init_value: Any = None,
                           delta: float = 1e-3, init_targets: Any = None,
                           extra_feed_dict: Mapping[Any, Any] | None = None) -> float:
    """The largest absolute difference between the analytic and the numeric Jacobian; see compute_gradient."""
    pairs = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = [pairs] if isinstance(pairs, tuple) else pairs
    return max(float(np.abs(a - n).max(initial=0.0)) for a, n in pairs)


def _starting_points(xs: Sequence[Tensor], shapes: Sequence[Any], starts: Sequence[Any]) -> list[np.ndarray]:
    points = []
    for x, shape, start in zip(xs, shapes, starts):
        dtype = x.dtype.as_numpy_dtype
        if start is None:
            draw = np.random.default_rng(0).random
            start = draw(tuple(shape)) + (1j * draw(tuple(shape)) if x.dtype.is_complex else 0)
        start = np.array(start, dtype)
        if start.shape != tuple(shape):
            raise ArgumentError(f"x_init_value has shape {list(start.shape)}, expected {list(shape)}")
        points.append(start)
    return points


def _analytic(session: Any, x: Tensor, y: Tensor, dx: Gradient | None, feeds: dict,
              y_shape: tuple[int, ...]) -> np.ndarray:
    """One gradient for each element of y."""
    unit: np.ndarray = np.zeros(y_shape, y.dtype.as_numpy_dtype)
    directions = _elements(unit)
    jacobian: np.ndarray = np.zeros((_elements(feeds[x]).size, directions.size), x.dtype.real_dtype.as_numpy_dtype)
    if dx is None:
        return jacobian
    if not directions.size:
        found = np.shape(session.run(dense(dx), feeds))
        if found != feeds[x].shape:
            raise ArgumentError(f"Empty gradient has wrong shape: expected {feeds[x].shape}, got {found}")
    weights = to_tensor(y.graph, unit, None, "weights")
    gradient = gradients(y, x, grad_ys=weights)[0]
    assert gradient is not None  # dx is not: y depends on x
    row = dense(gradient)
    for j in range(directions.size):
        directions[j] = 1
        jacobian[:, j] = _elements(session.run(row, {**feeds, weights: unit}))
        directions[j] = 0
    return jacobian


def _numeric(session: Any, x: Tensor, y: Tensor, feeds: dict, delta: float, y_shape: tuple[int, ...]) -> np.ndarray:
    """Central differences, one element of x at a time."""
    rows = []
    for i in range(_elements(feeds[x]).size):
        high, low = feeds[x].copy(), feeds[x].copy()
        _elements(high)[i] += delta
        _elements(low)[i] -= delta
        change = session.run(y, {**feeds, x: high}) - session.run(y, {**feeds, x: low})
        rows.append(_elements(change) / (2 * delta))
    count = _elements(np.zeros(y_shape, y.dtype.as_numpy_dtype)).size
    return np.array(rows, x.dtype.real_dtype.as_numpy_dtype).reshape(len(rows), count)


def _elements(array: Any) -> np.ndarray:
    """The real numbers of an array in a row, as a view where it can be one: of a complex number two."""
    flat = np.asarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
