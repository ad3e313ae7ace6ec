"""Second order: Jacobians, Hessians and Hessian-vector products, as one batched backward pass."""
from __future__ import annotations

from typing import Any

from ..convert import to_tensor
from ..errors import ArgumentError
from ..graph import Tensor
from ..indexed_slices import dense
from ..op import build
from ..shapes import num_elements
from .backprop import gradients
from .batching import vectorise


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

    One backward pass is built for a symbolic direction, then vectorised over the unit directions.
    """
    x_value = to_tensor(y.graph, x, None, "x")
    with y.graph.as_default(), y.graph.name_scope(name):
        size: Any = num_elements(y.dims)
        size = build.Size(y) if size is None else size
        direction = build.Identity(build.ZerosLike(y), name="direction")
        found = gradients(y, [x], grad_ys=[direction])[0]
        y_shape, x_shape = build.Shape(y), build.Shape(x_value)
        shape = build.ConcatV2(0, y_shape, x_shape)
        if found is None:
            return None
        unit = build.Reshape(build.Diag(build.Fill([size] if isinstance(size, int) else build.Pack(size, axis=0),
                                                   to_tensor(y.graph, 1, y.dtype.base_dtype, "one"))),
                             build.ConcatV2(0, [-1], y_shape))
        if y.dims is not None:
            unit.set_shape((size if isinstance(size, int) else None, *y.dims))
        rows = vectorise([dense(found)], {direction: unit}, size)[0]
        result = build.Reshape(rows, shape)
        if y.dims is not None and x_value.dims is not None:
            result.set_shape((*y.dims, *x_value.dims))
        return result


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
