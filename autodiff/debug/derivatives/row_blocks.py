"""Rows of a Hessian or Jacobian in blocks, on any `concurrent.futures.Executor`: threads, processes, a cluster.

A block is one batched backward pass. What is sent to a worker is data: names of ops, arrays, and
which rows are wanted; so it pickles, and the worker needs nothing but this package.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.convert import to_tensor
from ...core.errors import ArgumentError, StateError
from ...core.graph import Graph, Tensor
from ...core.indexed_slices import dense
from ...core.op import OPS, build
from ...core.shapes import is_known, num_elements, show
from ...gradients.backprop import gradients, source_of
from ...gradients.batching import depending_on, vectorize
from ...ops.common.threads import one_blas_thread, pool, processors
from ...runtime.plan.passes import is_pure, optimize
from ...runtime.plan.plan import Plan, compile_plan, last_uses
from ...runtime.session import Session

if TYPE_CHECKING:
    from concurrent.futures import Executor

BUDGET = 1 << 26  # bytes that the tensors of one block may take together


class Recipe(NamedTuple):
    """A plan as plain data. steps: op, attributes, slots of inputs and outputs, slots let go; values: slot -> array."""

    steps: tuple[tuple[str, dict[str, Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]
    values: dict[int, Any]
    direction: int
    result: int


class Rows(NamedTuple):
    """What gives any rows: of dy/dx, for y and x of these shapes. bytes_per_row: of all tensors on the way."""

    recipe: Recipe
    y_shape: tuple[int, ...]
    x_shape: tuple[int, ...]
    dtype: Any
    bytes_per_row: int


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

    block: rows at a time; by default as many as `budget` bytes allow, and enough for all processors.
    executor: where blocks run; threads of this process by default. Variables are read once. Raises
    ArgumentError (ValueError) for unknown shapes, StateError if an op needs this session.
    """
    rows = _rows(session, y, x, feed_dict)
    size = num_elements(rows.y_shape) or 0
    if block is None:
        block = min(max(budget // max(rows.bytes_per_row, 1), 1), max(-(-size // processors()), 1))
    if block < 1:
        raise ArgumentError(f"block is {block}, expected at least one row")
    starts = range(0, size, block)
    map_on = (executor if executor is not None else pool()).map
    parts = map_on(rows_of, [rows] * len(starts), starts, [min(low + block, size) for low in starts])
    found = np.empty((size, *rows.x_shape), rows.dtype)
    for low, part in zip(starts, parts):
        found[low:low + block] = part
    return found.reshape(*rows.y_shape, *rows.x_shape)


def rows_of(rows: Rows, low: int, high: int) -> np.ndarray:
    """Rows low to high of the Jacobian: what a worker does."""
    unit: np.ndarray = np.eye(high - low, num_elements(rows.y_shape), low, rows.dtype)
    return follow(rows.recipe, unit.reshape(high - low, *rows.y_shape))


def follow(recipe: Recipe, direction: np.ndarray) -> np.ndarray:
    """The recipe's result for a direction; on any thread."""
    slots = {**recipe.values, recipe.direction: direction}
    with one_blas_thread(1), np.errstate(all="ignore"):
        for name, attrs, inputs, outputs, dead in recipe.steps:
            result = OPS[name].kernel(*[slots[i] for i in inputs], **attrs)
            slots.update(zip(outputs, [result] if len(outputs) == 1 else result))
            for slot in dead:
                del slots[slot]
    return slots[recipe.result]


def _kept(session: Session, key: Any, build_it: Callable[[], Any]) -> Any:
    """What has been built in this graph for a key, so that a second call adds nothing to it."""
    kept = session.graph.extras.setdefault("rows", {})
    if key not in kept:
        with session.graph.as_default():
            kept[key] = build_it()
    return kept[key]


def _rows(session: Session, y: Tensor, x: Any, feed_dict: dict | None) -> Rows:
    directions, stacked, x_shape, per_row = _kept(session, (y, source_of(x)), lambda: _stacked(session.graph, y, x))
    recipe = recipe_of(session, stacked, directions, feed_dict)
    return Rows(recipe, tuple(y.dims), x_shape, y.dtype.base_dtype.as_numpy_dtype, per_row)  # type: ignore[arg-type]


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


def recipe_of(session: Session, result: Tensor, direction: Tensor, feed_dict: dict | None = None) -> Recipe:
    """How `result` follows from `direction`, a placeholder. Raises StateError if an op needs this session."""
    plan = optimize(compile_plan([result], (), [direction, *(feed_dict or {})]))
    return _recipe(session, plan, list((feed_dict or {}).items()))


def _recipe(session: Session, plan: Plan, fed: Sequence[tuple[Tensor, Any]]) -> Recipe:
    """The plan with what does not depend on the direction computed already."""
    values = {**plan.constants}
    for slot, (tensor, value) in zip(plan.feeds[1:], fed):
        values[slot] = np.asarray(value, tensor.dtype.base_dtype.as_numpy_dtype)
    last, steps = last_uses(plan), []
    run = session.new_run()
    for i, step in enumerate(plan.steps):
        run.op = step.op
        if step.reads is not None:
            values[step.outputs[0]] = run.read(step.reads)
        elif not is_pure(step):
            raise StateError(f"{step.op.name!r} ({step.op.type}) needs the session it runs in: it cannot be sent to "
                             "workers", line=f"{step.op.site}")
        elif all(s in values for s in step.inputs):
            with np.errstate(all="ignore"):
                result = step.op.definition.kernel(*[values[s] for s in step.inputs], **step.op.attrs)
            values.update(zip(step.outputs, [result] if len(step.outputs) == 1 else result))
        else:
            steps.append((i, step))
    used = {s for _, step in steps for s in step.inputs}.union(plan.fetches)
    values = {slot: value for slot, value in values.items() if slot in used}
    return Recipe(tuple([(s.op.type, s.op.attrs, s.inputs, s.outputs, tuple(
        x for x in {*s.inputs, *s.outputs} if last[x] <= i and x not in values)) for i, s in steps]),
        values, plan.feeds[0], plan.fetches[0])
