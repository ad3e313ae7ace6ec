"""Hessian times vector of one y by several xs together: each flattened, one behind the other."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...api.arrays.shaping import concat, reshape, split
from ...api.math.casts import cast
from ...core.errors import AutodiffError
from ...core.graph import Tensor
from ...core.indexed_slices import dense
from ...core.op import build
from ...gradients.backprop import gradients
from ...gradients.batching import vectorize
from .derivatives import Derivatives, Product


def joint_product(derivatives: Derivatives, y: Tensor, xs: Sequence[Tensor], shapes: Sequence[tuple[int, ...]],
                  dtypes: Sequence[str]) -> Product | None:
    """The product for directions float[n], n the elements of all xs; None if y depends on none of them.

    shapes, dtypes: of the values of xs. An x that y does not depend on has blocks of zeros.
    """
    firsts = [derivatives.gradient(y, x)[0] for x in xs]
    if all(first is None for first in firsts):
        return None
    sizes = [prod(shape) for shape in shapes]
    with derivatives.hidden.building():
        direction = build.Placeholder(dtype=dtypes[0], shape=[sum(sizes)], name="direction")
        parts = [cast(reshape(part, list(shape)), dtype)
                 for part, shape, dtype in zip(split(direction, sizes), shapes, dtypes)]
        known = [(dense(first), part) for first, part in zip(firsts, parts) if first is not None]
        seconds = gradients([first for first, _ in known], list(xs), grad_ys=[part for _, part in known],
                            unconnected_gradients="zero")
        flat = [cast(reshape(dense(second), [-1]), dtypes[0]) for second in seconds if second is not None]
        result = concat(flat, 0)
        directions = build.Placeholder(dtype=dtypes[0], shape=[None, sum(sizes)], name="directions")
        try:
            rows: Tensor | None = vectorize([result], {direction: directions}, build.Shape(directions)[0])[0]
        except AutodiffError:
            rows = None
    return Product(direction, result, directions, rows)
