"""tensorflow.python.ops.*: helpers of TensorFlow's own that public code calls."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...api.arrays.creation import identity
from ...api.arrays.gathering import tensor_scatter_add
from ...api.control.custom import py_function
from ...api.nn.rnn_cell.base import zeros_of
from ...api.saved_graphs.missing_ops import batch_norm_gradient
from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.errors import KindError
from ...core.graph import Graph, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import OPS, Blocked, build


def _zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros [batch_size, ...] for each size of a structure."""
    return nest.map_structure(lambda size: zeros_of(batch_size, size, dtype), state_size)


def with_dependencies(dependencies: Sequence[Any], output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor`, once these have run; of IndexedSlices all parts."""
    if not isinstance(output_tensor, IndexedSlices):
        output_tensor = convert_to_tensor(output_tensor)
    graph = get_default_graph()
    with graph.control_dependencies(dependencies), graph.colocate_with(getattr(output_tensor, "values", output_tensor)):
        if isinstance(output_tensor, IndexedSlices):
            dense_shape = output_tensor.dense_shape
            return IndexedSlices(identity(output_tensor.values), identity(output_tensor.indices),
                                 None if dense_shape is None else identity(dense_shape))
        return identity(output_tensor, name=name or "control_dependency")


def _as_indexed_slices(x: Any, optimize: bool = True) -> IndexedSlices:
    """A tensor as all its rows; IndexedSlices stay. Raises KindError (TypeError) for what is neither."""
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise KindError(f"Not a Tensor or IndexedSlices: {type(x)}")
    sizes = build.Shape(x)
    return IndexedSlices(x, build.Range(0, sizes[0], 1), sizes)


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """The shape that a reduction over axes leaves, with ones in their place. input_shape: int[rank] -> int[rank]."""
    return build.KeptShape(build.Cast(convert_to_tensor(input_shape), dtype="int32"), axes)


def add_leading_unit_dimensions(x: Any, num_dimensions: Any) -> Tensor:
    """x with so many axes of size 1 in front. num_dimensions: int[]."""
    ones = build.Fill(build.Pack(num_dimensions, axis=0), 1)
    return build.Reshape(x, build.ConcatV2(0, ones, build.Shape(x)))


def _BatchNormGrad(grad_y: Any, x: Any, scale: Any, pop_mean: Any, pop_var: Any, epsilon: float, data_format: str,  # noqa: N802
                   is_training: bool = True) -> list[Tensor]:
    """The gradients of fused batch normalization for x, scale and offset, of ops that can be differentiated again."""
    tensors = [convert_to_tensor([] if t is None else t, dtype=None if t is not None else scale.dtype)
               for t in (grad_y, x, scale, pop_mean, pop_var)]
    return batch_norm_gradient(*tensors, epsilon=epsilon, data_format=data_format, is_training=is_training)[:3]


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """tf.rank. optimize has no effect."""
    return build.Rank(input, name=name)


def _is_v2_control_flow() -> bool:
    """Branches and loops are functions, not TensorFlow 1's switches."""
    return False


def _case_helper(cond_fn: Callable[..., Any], pred_fn_pairs: Any, default: Any, exclusive: bool, name: str | None,
                 allow_python_preds: bool = False, **cond_kwargs: Any) -> Any:
    """tf.case by another function than tf.cond: the first pair whose predicate holds, else the default or the last."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    chosen = default or pairs.pop()[1]
    with get_default_graph().name_scope(name or "case"):
        for predicate, function in reversed(pairs):
            chosen = functools.partial(cond_fn, predicate, function, chosen, **cond_kwargs)
        return chosen()


eager_py_func = py_function
scatter_nd_non_aliasing_add = tensor_scatter_add
ENABLE_CONTROL_FLOW_V2 = False


def enable_control_flow_v2() -> None:
    """Nothing changes: branches and loops are functions already."""


disable_control_flow_v2, control_flow_v2_enabled = enable_control_flow_v2, _is_v2_control_flow


def IsInWhileContext(op: Any) -> bool:  # noqa: N802
    """Whether an operation is part of a loop's body."""
    return op.graph.building_function


def EnableControlFlowV2(graph: Graph) -> bool:  # noqa: N802
    """Never."""
    return False


def __getattr__(name: str) -> Any:
    """`_ReluGrad`: the gradient function of an op type."""
    declared = OPS.get(name[1:].removesuffix("Grad")) if name.startswith("_") and name.endswith("Grad") else None
    rule = declared and declared.gradient_rule
    if rule is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def gradient(op: Any, *grads: Any) -> Any:
        found = rule(op, *grads)
        parts = [None if isinstance(part, Blocked) else part for part in
                 (found if isinstance(found, (list, tuple)) and not isinstance(found, Blocked) else (found,))]
        return parts[0] if len(parts) == 1 else parts

    return gradient
