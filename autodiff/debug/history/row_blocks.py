"""Rows of a Hessian or Jacobian in blocks, on any `concurrent.futures.Executor`: threads, processes, a cluster.

A block is one batched backward pass. What is sent to a worker is data: a pack of the graph, and which rows are wanted;
the worker needs nothing but this package.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.convert import to_tensor
from ...core.errors import ArgumentError
from ...core.graph import Graph, Tensor
from ...core.indexed_slices import dense
from ...core.op import build
from ...core.shapes import is_known, num_elements, show
from ...gradients.backprop import gradients, source_of
from ...gradients.batching import depending_on, vectorize
from ...ops.common.threads import pool
from ...runtime.feed import Feeds
from ...runtime.session import Session
from .gathering import gathered
from .packing import Pack, opened, pack
from .replay import moment_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

BUDGET = 1 << 26  # bytes that the tensors of one block may take together
FEWEST = 8  # blocks, so that there is one for each worker


def hessian_rows(session: Session, loss: Tensor, x: Any, feed_dict: dict | None = None, *, block: int | None = None,
                 budget: int = BUDGET, executor: Executor | None = None) -> np.ndarray:
    """The Hessian of a loss, float[x.shape + x.shape], as `jacobian_rows` of its gradient.

    Raises ArgumentError (ValueError) if the loss does not depend on x.
    """
    gradient = _kept(session, ("gradient", loss, source_of(x)), lambda: gradients(loss, [x])[0])
    if gradient is None:
        raise ArgumentError(f"no Hessian for {getattr(x, 'name', x)!r}: the loss does not depend on it")
    return jacobian_rows(session, dense(gradient), x, feed_dict, block=block, budget=budget, executor=executor)


def jacobian_rows(session: Session, y: Tensor, x: Any, feed_dict: dict | None = None, *, block: int | None = None,
                  budget: int = BUDGET, executor: Executor | None = None) -> np.ndarray:
    """dy/dx of shape y.shape + x.shape, in blocks of rows that run side by side.

    block: rows at a time; by default as many as `budget` bytes allow, an eighth of all at most.
    executor: where blocks run; threads of this process by default. Variables are read once. Raises
    ArgumentError (ValueError) for unknown shapes, HoldsPythonError (StateError) if a Python function is on the way.
    """
    directions, stacked, x_shape, per_row = _kept(session, (y, source_of(x)), lambda: _stacked(session.graph, y, x))
    size = num_elements(y.dims) or 0
    if block is None:
        block = min(max(budget // max(per_row, 1), 1), max(-(-size // FEWEST), 1))
    if block < 1:
        raise ArgumentError(f"block is {block}, expected at least one row")
    moment = moment_of(session, dict(zip(*Feeds(session.graph).read(feed_dict or {}))), session.runs)
    sent = pack(moment, [stacked], [directions])
    tasks = [(sent, stacked.name, directions.name, low, min(low + block, size)) for low in range(0, size, block)]
    parts = list(gathered(executor if executor is not None else pool(), rows_of, tasks))
    return np.concatenate(parts).reshape(*y.dims, *x_shape)  # type: ignore[misc]


def rows_of(sent: Pack, result: str, directions: str, low: int, high: int) -> np.ndarray:
    """Rows low to high of the Jacobian: what a worker does."""
    here = opened(sent)
    given = here.tensor(directions)
    dims: tuple[int, ...] = given.dims[1:]  # type: ignore[index]
    unit: np.ndarray = np.eye(high - low, num_elements(dims), low, given.dtype.as_numpy_dtype)
    return np.asarray(here.values([here.tensor(result)], {given: unit.reshape(high - low, *dims)})[0])


def _kept(session: Session, key: Any, build_it: Callable[[], Any]) -> Any:
    """What has been built in this graph for a key, so that a second call adds nothing to it."""
    kept = session.graph.extras.setdefault("rows", {})
    if key not in kept:
        with session.graph.as_default():
            kept[key] = build_it()
    return kept[key]


def _stacked(graph: Graph, y: Tensor, x: Any) -> tuple[Tensor, Tensor, tuple[int, ...], int]:
    """A placeholder for directions, what the backward pass gives for each, the shape of x, bytes for a direction."""
    with graph.name_scope("rows"):
        x_value = to_tensor(graph, x, None, "x")
        if not is_known(y.dims) or not is_known(x_value.dims):
            raise ArgumentError(expected="known shapes", found=f"{show(y.dims)} by {show(x_value.dims)}",
                                hint="use set_shape")
        direction = build.Identity(build.ZerosLike(y), name="direction")
        found = gradients(y, [x], grad_ys=[direction])[0]
        directions = build.Placeholder(dtype=y.dtype.base_dtype, shape=(None, *y.dims))  # type: ignore[misc]
        if found is None:
            raise ArgumentError(f"{y.name!r} does not depend on {getattr(x, 'name', x)!r}")
        stacked = vectorize([dense(found)], {direction: directions}, build.Shape(directions)[0])[0]
        on_the_way = depending_on([dense(found)], {direction: direction})
    per_row = sum((num_elements(t.dims) or 0) * t.dtype.size for op in on_the_way for t in op.outputs)
    return directions, stacked, tuple(x_value.dims), per_row  # type: ignore[arg-type]
