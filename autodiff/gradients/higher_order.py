"""Second order: Jacobians, Hessians and Hessian-vector products, as one batched backward pass.

Hessians of a function of A x, element by element, are A^T diag(d) A, seen from the backward pass: logistic, Poisson and
least-squares regression are of this kind.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core.convert import to_tensor
from ..core.errors import ArgumentError
from ..core.graph import Operation, Tensor
from ..core.indexed_slices import dense
from ..core.op import build
from ..core.shapes import is_known, num_elements
from .backprop import gradients, source_of
from .batching import depending_on, vectorize
from .coloring import colored, pattern, vanishing

CACHE = 1 << 18  # bytes of the largest tensor in a block: all of them together then stay in the cache
WHOLE = 1 << 21  # bytes of the largest tensor for all rows that are not worth splitting
SMALLEST_BLOCK, MOST_BLOCKS = 16, 64  # rows; blocks, as each adds its operations to the graph
FEWEST_ROWS = 32  # of a Jacobian that is worth looking for zeros
_SAME_ELEMENTS = frozenset(("Reshape", "Identity", "ExpandDims", "Squeeze"))


def hessians(ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
             gate_gradients: bool = False, aggregation_method: int | None = None) -> list[Tensor]:
    """The Hessian of sum(ys) for each x, as a list: one block of shape x.shape + x.shape each.

    x: float[...] of any shape, sizes may be unknown until it runs. Raises ArgumentError
    (ValueError) if sum(ys) does not depend on an x.
    """
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    options: dict[str, Any] = dict(colocate_gradients_with_ops=colocate_gradients_with_ops,
                                   gate_gradients=gate_gradients, aggregation_method=aggregation_method)
    first = gradients(ys, xs, **options)
    blocks = []
    for i, (x, gradient) in enumerate(zip(xs, first)):  # a gradient that is constant has a Hessian of zeros
        if gradient is None:
            raise ArgumentError(f"no Hessian of ys for {getattr(x, 'name', x)!r}: ys do not depend on it")
        with gradient.graph.name_scope(name if i == 0 else f"{name}_{i}"):
            block = jacobian(dense(gradient), x)
            blocks.append(_zero_block(gradient, x) if block is None else block)
    return blocks


def _zero_block(gradient: Any, x: Any) -> Tensor:
    shape = build.Shape(to_tensor(gradient.graph, x, None, "x"))
    return build.Fill(build.ConcatV2(0, shape, shape), to_tensor(gradient.graph, 0, gradient.dtype.base_dtype, "zero"))


def jacobian(y: Tensor, x: Any, *, name: str = "jacobian") -> Tensor | None:
    """d y / d x of shape y.shape + x.shape, or None if y does not depend on x.

    One backward pass is built for a symbolic direction, then vectorized over directions: few, if the
    graph shows that most elements are zero, else the unit directions, in blocks that fit the cache.
    Of a function of A x, element by element, it is one product of A with itself.
    What a block's directions do not reach is zero, whatever infinite or NaN factors stand beside it.
    """
    x_value = to_tensor(y.graph, x, None, "x")
    with y.graph.as_default(), y.graph.name_scope(name):
        direction = build.Identity(build.ZerosLike(y), name="direction")
        found = gradients(y, [x], grad_ys=[direction])[0]
        if found is None:
            return None
        backward = Backward(y, direction, dense(found))
        result = backward.by_colors(source_of(x)) if is_known(y.dims) and is_known(x_value.dims) else None
        if result is None and x_value.dims == y.dims:
            gram = weighted_gram(direction, backward.found)
            result = None if gram is None else build.Reshape(gram, [*y.dims, *y.dims])  # type: ignore[misc]
        if result is None:
            rows = backward.by_blocks() if is_known(y.dims) else backward.at_once()
            result = build.Reshape(rows, build.ConcatV2(0, build.Shape(y), build.Shape(x_value)))
        if y.dims is not None and x_value.dims is not None:
            result.set_shape((*y.dims, *x_value.dims))
        return result


class Backward(NamedTuple):
    """A backward pass that is linear in its direction. y, direction: of one shape; found: its result."""

    y: Tensor
    direction: Tensor
    found: Tensor

    def along(self, directions: Tensor, count: Any, zero: Collection[Tensor] = ()) -> Tensor:
        """The products with `count` directions, stacked on a new axis 0. zero: tensors that are zero along each."""
        return vectorize([self.found], {self.direction: directions}, count, zero)[0]

    def at_once(self) -> Tensor:
        """All rows in one batch, for a y of unknown shape."""
        y, size = self.y, build.Size(self.y)
        one = to_tensor(y.graph, 1, y.dtype.base_dtype, "one")
        unit = build.Reshape(build.Diag(build.Fill(build.Pack(size, axis=0), one)),
                             build.ConcatV2(0, [-1], build.Shape(y)))
        if y.dims is not None:
            unit.set_shape((None, *y.dims))
        return self.along(unit, size)

    def by_blocks(self) -> Tensor:
        """All rows, some unit directions at a time."""
        size, per_row = num_elements(self.y.dims) or 0, self._bytes_per_row()
        block = max(CACHE // max(per_row, 1), SMALLEST_BLOCK, -(-size // MOST_BLOCKS))
        if 2 * block > size or size * per_row <= WHOLE:
            block = max(size, 1)
        needs = vanishing(self.found, self.direction) if block < size else {}
        bounds = _bounds(max(size, 1), block, needs.values())
        first, count = bounds[-2], min(block, size)
        # one constant for all blocks: the directions from `low` on are `size` of its columns, from `first - low` on
        units: np.ndarray = np.eye(count, first + size, first, self.y.dtype.base_dtype.as_numpy_dtype)
        directions = to_tensor(self.y.graph, units, None, "units")
        rows = []
        for low, high in pairwise(bounds):
            zero = {t for t, elements in needs.items() if not elements[low:high].any()}
            count = min(high, size) - low
            unit = build.Reshape(build.Slice(directions, [0, first - low], [count, size]), [count, *self.y.dims])  # type: ignore[misc]
            rows.append(self.along(unit, count, zero))
        return joined(rows)

    def _bytes_per_row(self) -> int:
        """The size of the largest tensor on the way."""
        ops = depending_on([self.found], {self.direction: self.direction})
        return max([(num_elements(t.dims) or 0) * t.dtype.size for op in ops for t in op.outputs], default=0)

    def by_colors(self, x: Tensor) -> Tensor | None:
        """The whole Jacobian from a few passes, each for the sum of rows that have no column in common.

        None if that would not save much.
        """
        rows = num_elements(self.y.dims) or 0
        bits = pattern(self.y, x) if rows >= FEWEST_ROWS else None
        colors = colored(bits, rows // 4) if bits is not None else None
        if bits is None or colors is None:
            return None
        y, count = self.y, max(colors) + 1
        seeds: np.ndarray = np.zeros((count, rows), y.dtype.base_dtype.as_numpy_dtype)
        seeds[colors, range(rows)] = 1
        seed = to_tensor(y.graph, seeds.reshape(count, *y.dims), None, "seeds")  # type: ignore[misc]
        row, column = np.nonzero(bits)
        values = build.GatherNd(build.Reshape(self.along(seed, count), [count, -1]),
                                np.stack([np.asarray(colors)[row], column], axis=1))
        flat = build.ScatterNd((row * bits.shape[1] + column)[:, None], values, np.array([bits.size]))
        return build.Reshape(flat, [*y.dims, *x.dims])  # type: ignore[misc]


def _bounds(size: int, block: int, needs: Iterable[np.ndarray]) -> list[int]:
    """Where blocks begin, and the end: there if it can be, where what a direction reaches changes."""
    changes: np.ndarray = np.zeros(size + 1, bool)
    for elements in needs:
        changes[1:size] |= elements[1:] != elements[:-1]
    bounds = [0]
    while bounds[-1] < size:
        low, high = bounds[-1], min(bounds[-1] + block, size)
        near = np.flatnonzero(changes[low + 1:high + 1])
        is_near = len(near) > 0 and high < size and 2 * (near[-1] + 1) >= block
        bounds.append(low + 1 + int(near[-1]) if is_near else high)
    return bounds


def joined(parts: list[Tensor]) -> Tensor:
    """Tensors one after another along axis 0."""
    return parts[0] if len(parts) == 1 else build.ConcatV2(0, *parts)


def hessian_vector_product(ys: Any, xs: Any, v: Any) -> list[Tensor | None]:
    """H v for the Hessian H of sum(ys), without forming H: the gradient of (gradient . v).

    xs, v: lists of equal length and matching shapes; v is held constant. Gives a list, one entry
    for each x. Raises ArgumentError (ValueError) for unequal lengths.
    Source: Pearlmutter (1994), Fast exact multiplication by the Hessian.
    """
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    v = list(v) if isinstance(v, (list, tuple)) else [v]
    if len(xs) != len(v):
        raise ArgumentError(f"expected one vector for each x: {len(xs)} xs and {len(v)} vectors")
    first = gradients(ys, xs)
    products = [dense(g) * build.StopGradient(to_tensor(g.graph, w, g.dtype.base_dtype, "v"))
                for g, w in zip(first, v) if g is not None]
    return gradients(products, xs)  # type: ignore[return-value]


_hessian_vector_product = hessian_vector_product  # the private name that TF1 code imports


class Product(NamedTuple):
    """A product of a fixed matrix with a vector. rows: the matrix is A itself, with a row for each result."""

    matrix: Tensor
    is_rows: bool
    value: Tensor


def weighted_gram(direction: Tensor, found: Tensor) -> Tensor | None:
    """A^T diag(d) A, if that is what the linear map from `direction` to `found` is; else None."""
    ops = depending_on([found], {direction: direction})
    products = [p for op in ops if op.type == "MatMul" for p in _product(op, direction, ops)]
    if len(products) != 2 or sum(op.type == "MatMul" for op in ops) != 2:
        return None
    first, last = products
    if first.matrix is not last.matrix or first.is_rows is last.is_rows or not direction.dtype.is_floating:
        return None
    count = num_elements(first.value.dims)
    if count is None or not all(_goes_straight(op, first.value, last.value, count) for op in ops):
        return None
    inner = next(t for t in last.value.op.inputs if t is not last.matrix)
    ones = build.Fill([1, *first.value.dims], build.OnesLike(first.value[0, 0]))  # type: ignore[misc]
    weights = vectorize([inner], {first.value: ones}, 1)[0]
    matrix = first.matrix if first.is_rows else build.Transpose(first.matrix, [1, 0])
    return build.WeightedGram(matrix, build.Reshape(weights, [count]))


def _product(op: Operation, direction: Tensor, ops: list[Operation]) -> list[Product]:
    """The product that a MatMul is, if it is one."""
    on_the_way = {t for o in ops for t in o.outputs} | {direction}
    fixed = [i for i, t in enumerate(op.inputs) if t not in on_the_way]
    if len(fixed) != 1 or 1 not in (op.outputs[0].dims or ()):
        return []
    place = fixed[0]
    is_transposed = op.attrs["transpose_a" if place == 0 else "transpose_b"]
    return [Product(op.inputs[place], (place == 0) is not is_transposed, op.outputs[0])]


def _goes_straight(op: Operation, first: Tensor, last: Tensor, count: int) -> bool:
    """Whether an op is one of the products, moves nothing, or goes element by element between the two."""
    if op.type == "MatMul":
        return True
    size = num_elements(op.outputs[0].dims)
    if op.type in _SAME_ELEMENTS:
        return size is not None and size == num_elements(op.inputs[0].dims)
    is_between = first.op.index < op.index < last.op.index
    return is_between and op.definition.elementwise and size == count
