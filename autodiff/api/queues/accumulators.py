"""tf.ConditionalAccumulator: gradients of several workers, averaged where they are not of an old step."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int32, int64
from ...core.errors import ArgumentError, InvalidArgumentError, ShapeError
from ...core.function_graph import taking_anew
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.shapes import TensorShape, compatible
from ..control.custom import py_func
from .host import Waiting


class _HostSum(Waiting):
    """The sum of dense gradients since the last one was taken, and of how many."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.step, self._total = 0, 0, None

    def apply(self, step: int, *gradient: Any) -> None:
        """Add a gradient, unless it was computed before the present step. Raises InvalidArgumentError for its shape."""
        with self._changed:
            if step >= self.step:
                self._add(*gradient)
                self.count += 1
                self._changed.notify_all()

    def take(self, required: int, mean: bool) -> Any:
        """The mean or sum, once there are `required` gradients; the next step begins."""
        if required < 1:
            raise InvalidArgumentError(f"Argument num_required must be >= 1: found {required}")
        with self._changed:
            while self.count < required:
                self._wait("TakeGrad")
            taken = self._result(mean)
            self.count, self._total, self.step = 0, None, self.step + 1
            return taken

    def set_step(self, step: int) -> None:
        with self._changed:
            self.step = max(self.step, int(step))

    def _add(self, *parts: Any) -> None:
        gradient, = parts
        total: Any = self._total
        if total is not None and total.shape != gradient.shape:
            raise InvalidArgumentError(f"Shape mismatch: expected {list(total.shape)}, got {list(gradient.shape)}")
        self._total = gradient.copy() if total is None else total + gradient

    def _result(self, mean: bool) -> Any:
        total: Any = self._total
        return total / total.dtype.type(self.count) if mean else total


class _HostRows(_HostSum):
    """Sums of the rows of gradients, and how many had each; sizes of rows are those of the first gradient."""

    def __init__(self, shape: TensorShape) -> None:
        super().__init__()
        self._shape = shape

    def _add(self, *parts: Any) -> None:
        indices, values, given = parts
        known = self._shape.dims_tuple
        if indices.ndim != 1:
            raise InvalidArgumentError(f"Input indices should be vector but received shape: {list(indices.shape)}")
        if values.ndim < 1:
            raise InvalidArgumentError("Values cannot be 0-dimensional.")
        if len(values) != len(indices):
            raise InvalidArgumentError(f"Expected {len(indices)} non-empty input values, got {len(values)}")
        if known:
            if given.size:
                _check("shape", given, known, range(len(known)))
            for i, index in enumerate(indices):
                if known[0] is not None and index >= known[0]:
                    raise InvalidArgumentError(f"Shape mismatch: index of slice {i} exceeded limits of shape; index is "
                                               f"{index} exceeded {known[0]}")
            _check("values", values.shape, known, range(1, len(known)))
        rows: Any = self._total
        if rows:
            sizes = (None, *next(iter(rows.values()))[0].shape)
            if len(sizes) != values.ndim:
                raise InvalidArgumentError(f"Shape mismatch: expected values rank {len(sizes)}, got {values.ndim}")
            _check("values", values.shape, sizes, range(1, len(sizes)))
        rows = dict(rows or {})
        for index, value in zip(indices.tolist(), values):
            total, count = rows.get(index, (0, 0))
            rows[index] = (total + value, count + 1)
        self._total = rows

    def _result(self, mean: bool) -> Any:
        rows: Any = self._total
        indices = sorted(rows)
        values = np.stack([rows[i][0] / rows[i][0].dtype.type(rows[i][1]) if mean else rows[i][0] for i in indices])
        known = self._shape.dims_tuple or (None,)
        sizes = [-1 if known[0] is None else known[0], *values.shape[1:]]
        return np.array(indices, np.int64), values, np.array(sizes, np.int64)


def _check(what: str, found: Any, expected: Any, axes: range) -> None:
    if len(found) < len(expected):
        raise InvalidArgumentError(f"Shape mismatch: expected {what} rank at least {len(expected)}, got {len(found)}")
    for axis in axes:
        if expected[axis] is not None and found[axis] not in (-1, expected[axis]):
            raise InvalidArgumentError(f"Shape mismatch: expected {what} dim {axis} to be {expected[axis]}, got "
                                       f"{found[axis]}")


def _as_int64(value: Any) -> Tensor:
    return build.Cast(convert_to_tensor(value), dtype=int64)


class ConditionalAccumulatorBase:
    """Gradients of one variable, of `shape`; those applied with a step below the accumulator's are dropped.

    What it holds belongs to the graph. reduction_type: 'MEAN' or 'SUM'. Raises ArgumentError (ValueError) for others.
    """

    def __init__(self, dtype: Any, shape: Any, host: _HostSum, name: str, reduction_type: str) -> None:
        if reduction_type not in ("MEAN", "SUM"):
            raise ArgumentError(expected="a reduction_type of 'MEAN' or 'SUM'", found=repr(reduction_type))
        self._dtype, self._shape, self._host = as_dtype(dtype), TensorShape(shape), host
        self._mean, self._name = reduction_type == "MEAN", get_default_graph().unique_name(name)
        self.accumulator_ref = convert_to_tensor(self._name, name=f"{self._name}/handle")

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients were added since the last was taken: int32[]."""
        found = py_func(lambda: np.int32(self._host.count), [], int32, name=name or f"{self._name}_NumAccumulated")
        found.set_shape([])
        return found

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """The operation that moves the step on."""
        step = _as_int64(new_global_step)
        return self._effect(self._host.set_step, [step], name or f"{self._name}_SetGlobalStep")

    def _effect(self, function: Callable[..., Any], inputs: list[Tensor], name: str) -> Operation:
        with get_default_graph().name_scope(name):
            done = py_func(lambda *arrays: function(*arrays) or np.bool_(True), inputs, "bool", name="update")
            with get_default_graph().control_dependencies([done]):
                return build.NoOp(name="done")

    def _take(self, num_required: Any, kinds: Any, name: str | None) -> Any:
        @taking_anew
        def take(number: Any) -> Any:
            return self._host.take(int(number), self._mean)

        count = convert_to_tensor(num_required, dtype=int32)
        return py_func(take, [count], kinds, name=name or f"{self._name}_TakeGradient")


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Dense gradients."""

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None,
                 name: str = "conditional_accumulator", reduction_type: str = "MEAN") -> None:
        super().__init__(dtype, shape, _HostSum(), name, reduction_type)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        """The operation that adds a gradient of `local_step`. Raises ShapeError (ValueError) for another shape."""
        gradient, step = convert_to_tensor(grad, dtype=self._dtype), _as_int64(local_step)
        if not compatible(gradient.dims, self._shape.dims_tuple):
            raise ShapeError(f"Shapes {gradient.shape} and {self._shape} are incompatible", found=gradient.describe())
        return self._effect(self._host.apply, [step, gradient], name or f"{self._name}_ApplyGradient")

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean or sum of what was added, once that is num_required gradients."""
        taken = self._take(num_required, self._dtype, name)
        taken.set_shape(self._shape)
        return taken


class SparseGradient(NamedTuple):
    """What is taken of a SparseConditionalAccumulator: int64[n], any[n, ...], and the shape of the whole, int64[r]."""

    indices: Tensor
    values: Tensor
    shape: Tensor


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Gradients of some rows: each row's mean is of the gradients that had it."""

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None,
                 name: str = "sparse_conditional_accumulator", reduction_type: str = "MEAN") -> None:
        super().__init__(dtype, shape, _HostRows(TensorShape(shape)), name, reduction_type)

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None) -> Operation:
        """The operation that adds such a gradient."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices: Any, grad_values: Any, grad_shape: Any = None,  # noqa: PLR0913
                   local_step: Any = 0, name: str | None = None) -> Operation:
        """The operation that adds rows. grad_shape: of the whole, or None; wrong shapes are refused in the run."""
        shape = grad_shape if isinstance(grad_shape, Tensor) else np.array(grad_shape or (), np.int64)
        inputs = [_as_int64(local_step), _as_int64(grad_indices), convert_to_tensor(grad_values, dtype=self._dtype),
                  _as_int64(shape)]
        return self._effect(self._host.apply, inputs, name or f"{self._name}_ApplyGradient")

    def take_grad(self, num_required: Any, name: str | None = None) -> SparseGradient:
        """Indices in order, the mean or sum of each row, and the shape, once num_required gradients were added."""
        return SparseGradient(*self._take(num_required, [int64, self._dtype, int64], name))

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """take_grad as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)
