"""tf.gradients: the graph that computes derivatives, built backwards from ys to xs."""
from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ..core import site
from ..core.convert import to_tensor
from ..core.dtypes import int32
from ..core.errors import ArgumentError, DTypeError, KindError, ShapeError, StateError
from ..core.graph import Graph, Operation, Tensor, get_default_graph, graph_of
from ..core.indexed_slices import IndexedSlices
from ..core.op import build
from ..core.shapes import compatible, is_known, num_elements, show
from ..ops.common.gc_pause import collector_paused
from ..ops.common.instead import instead
from .aggregate import Gradient, check_method
from .between import ends_of, ops_between
from .blocked_reasons import GradientCall
from .sweep import Sweep


class UnconnectedGradients(enum.Enum):
    """The gradient of an x that no y depends on: None, or zeros of its shape."""

    NONE = "none"
    ZERO = "zero"


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients",
              colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
              aggregation_method: int | None = None, stop_gradients: Any = None,
              unconnected_gradients: Any = UnconnectedGradients.NONE) -> list[Gradient | None]:
    """Symbolic derivatives of sum(ys) by each x, as a list with one entry for each x.

    ys, xs: a tensor, a Variable, or a list of them. grad_ys: what the ys receive, ones by default. stop_gradients:
    tensors to hold constant. An entry is a Tensor of x's shape and dtype, an IndexedSlices (rows of a gather), or None
    when no path connects x. colocate_gradients_with_ops: each op stands with the one whose gradient it is for. Raises
    ArgumentError (ValueError) for lengths, shapes and options, DTypeError (TypeError) for a complex y without grad_ys,
    NoGradientError (LookupError) for an op on the path without a registered gradient. Source: reverse accumulation;
    Griewank and Walther (2008), section 3.2.
    """
    if get_default_graph().executing_eagerly:
        raise StateError("tf.gradients is not supported when eager execution is enabled", hint="use tf.GradientTape")
    ys, xs = _tensors(ys), [source_of(x) for x in _as_list(xs)]
    stops = [source_of(s) for s in _as_list(stop_gradients)] if stop_gradients is not None else []
    given = _as_list(grad_ys) if grad_ys is not None else [None] * len(ys)
    zeros = unconnected(unconnected_gradients) is UnconnectedGradients.ZERO
    graph = graph_of([*ys, *xs, *stops, *given])
    if graph.finalized:
        raise StateError("Graph is finalized and cannot be modified: gradients cannot be added to it")
    with graph.as_default(), graph.name_scope(name), _in_bulk(graph, site.here()):
        method = check_method(aggregation_method)
        if len(given) != len(ys):
            raise ArgumentError(f"expected one grad_y for each y: {len(ys)} ys and {len(given)} grad_ys")
        seeds = [seed(graph, y, g, i) for i, (y, g) in enumerate(zip(ys, given))]
        between, before = ops_between(ys, xs), len(graph.operations)
        sweep = Sweep(graph, ys, between, ends_of(xs, stops, between), method=method, gate=gate_gradients)
        sweep.run(ys, seeds)
        found = [sweep.gradient_of(x, zeros) for x in xs]
        graph.extras.setdefault("calls", []).append(GradientCall(tuple(ys), tuple(xs), tuple(stops), sweep.final))
        for op in list(graph.operations.values())[before:] if colocate_gradients_with_ops else ():
            if op.origin is not None:
                beside = op.origin
                if op.type == "AddN" and len({term.op.device for term in op.inputs}) == 1:
                    beside = op.inputs[0].op  # a sum on one device stands with its first term
                op.stand_with(beside.colocated_names())
                op.device = beside.device
        return found


@contextlib.contextmanager
def _in_bulk(graph: Graph, made_from: site.Known) -> Iterator[None]:
    """While many operations are made: the collector pauses, and the user's frames are captured once."""
    with instead([(graph, "made_from", made_from)]), collector_paused():
        yield


def _as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _tensors(values: Any) -> list[Any]:
    found = [to_tensor(graph_of([v]), v, None, f"y_{i}") if not isinstance(v, Tensor) else v
             for i, v in enumerate(_as_list(values))]
    return found


def source_of(value: Any) -> Tensor:
    """The tensor that stands for an x: a Variable's own output, rather than what was read from it."""
    handle = getattr(value, "handle_tensor", None)
    if handle is not None:
        return handle
    if isinstance(value, Tensor):
        return value
    if isinstance(value, IndexedSlices):
        return value.values
    if value is None or isinstance(value, (str, Operation)):
        raise KindError(expected="a tensor or Variable to differentiate by", found=repr(value))
    return to_tensor(graph_of([value]), value, None, "x")


def unconnected(value: Any) -> UnconnectedGradients:
    """The option that a value or its name stands for. Raises ArgumentError for any other."""
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ArgumentError(f"Unknown value for unconnected_gradients: {value!r}",
                            expected="'none' or 'zero'") from None


def seed(graph: Graph, y: Tensor, grad_y: Any, index: int) -> Gradient:
    """The gradient that starts at y: grad_y checked against y, or ones."""
    dtype = y.dtype.base_dtype
    if grad_y is None:
        if dtype.is_complex:
            raise DTypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {dtype!r}) of {y.describe()}",
                             hint="the derivative of a complex value is not one number; give grad_ys, or "
                                  "differentiate tf.real, tf.imag or tf.abs of it")
        with graph.differentiating(y.op, y):
            known = y.dims is not None and is_known(y.dims)
            shape = to_tensor(graph, list(y.dims), int32, "Shape") if known else build.Shape(y)  # type: ignore[arg-type]
            return build.Fill(shape, to_tensor(graph, 1, dtype, f"grad_ys_{index}"))
    if isinstance(grad_y, IndexedSlices):
        return grad_y
    tensor = to_tensor(graph, grad_y, dtype if not isinstance(grad_y, Tensor) else None, f"grad_y_{index}")
    if tensor.dtype.base_dtype.kind != dtype.kind:
        raise DTypeError(f"grad_ys[{index}] has dtype {tensor.dtype.name}, expected {dtype.name} like {y.name!r}")
    with graph.differentiating(y.op, y):
        if not compatible(tensor.dims, y.dims):
            tensor = _of_the_shape(tensor, y, index)
        return build.Identity(tensor, name=f"grad_ys_{index}")


def _of_the_shape(tensor: Tensor, y: Tensor, index: int) -> Tensor:
    """grad_y as y's shape has it: as many elements in their order, or repeated. Rules rely on that shape."""
    found, wanted = tensor.dims, y.dims
    if found is not None and wanted is not None and is_known(found) and is_known(wanted):
        if num_elements(found) == num_elements(wanted):
            return build.Reshape(tensor, list(wanted))
        if len(found) <= len(wanted) and all(a in (1, b) for a, b in zip(found[::-1], wanted[::-1])):
            return build.BroadcastTo(tensor, list(wanted))
    raise ShapeError(f"grad_ys[{index}] has shape {show(tensor.dims)}, expected {show(y.dims)} like {y.name!r}")
