"""Ops that only TensorFlow has, built of ours: older forms of an op, and TensorArrays as lists."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.graph import Tensor
from ...core.op import OPS, build
from ..control.dependencies import control_dependencies
from ..math.reductions import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from ..nn.normalization import batch_normalization
from .tensor_lists import LIST_RECIPES, joined


def _batch_norm(x: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor, epsilon: float = 1e-4,
                data_format: str = "NHWC", is_training: bool = True, **attrs: Any) -> Any:
    return build.FusedBatchNormV3(x, scale, offset, mean, variance, epsilon=epsilon, data_format=data_format,
                                  is_training=is_training)[:5]


def _batch_norm_by_moments(t: Tensor, m: Tensor, v: Tensor, beta: Tensor, gamma: Tensor, variance_epsilon: float,
                           scale_after_normalization: bool, **attrs: Any) -> Tensor:
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon)


def batch_norm_gradient(y_backprop: Tensor, x: Tensor, scale: Tensor, mean: Tensor, variance: Tensor, *rest: Tensor,
                         epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True,
                         **attrs: Any) -> Any:
    """The gradient of a normalization by the batch's own moments, or by given ones.

    Source: Ioffe and Szegedy (2015), section 3.
    mean, variance: what the forward op reserved; TensorFlow's kernel on a CPU reserves the variance, not its root.
    """
    axes, ends = ([0, 2, 3], [1, -1, 1, 1]) if data_format == "NCHW" else ([0, 1, 2], [1, 1, 1, -1])
    x32, dy = (build.Cast(t, dtype="float32") for t in (x, y_backprop))

    def spread(t: Tensor) -> Tensor:
        return build.Reshape(t, ends)

    def mean_of(t: Tensor) -> Tensor:
        return build.Mean(t, axes, keep_dims=True)

    if is_training:
        center = mean_of(x32)
        root = build.Rsqrt(mean_of(build.SquaredDifference(x32, center)) + epsilon)
    else:
        center, root = spread(mean), build.Rsqrt(spread(variance) + epsilon)
    normal = (x32 - center) * root
    d_scale, d_offset = build.Sum(dy * normal, axes), build.Sum(dy, axes)
    d_normal = dy * spread(scale)
    if is_training:
        d_normal = d_normal - mean_of(d_normal) - normal * mean_of(d_normal * normal)
    d_x = build.Cast(d_normal * root, dtype=x.dtype.base_dtype)
    return [d_x, d_scale, d_offset, build.ZerosLike(mean), build.ZerosLike(variance)]


def _lrn_gradient(input_grads: Tensor, input_image: Tensor, output_image: Tensor, T: Any = None, **attrs: Any) -> Any:
    forward = build.LRN(input_image, **attrs)
    return OPS["LRN"].gradient_rule(forward.op, input_grads)  # type: ignore[misc]


def _sparse_segments(reduced: Callable[..., Tensor]) -> Callable[..., Any]:
    return lambda data, indices, segment_ids, num_segments=None, name=None, **attrs: reduced(
        data, indices, segment_ids, name, num_segments)


def _applied(name: str) -> Callable[..., Any]:
    """A resource variable's step of an optimizer: the op of a reference takes either."""
    def apply(*inputs: Tensor, use_locking: bool = False, **attrs: Any) -> Any:
        known = {key: value for key, value in attrs.items() if key in OPS[name].attributes}
        return OPS[name](*inputs, **known).op

    return apply


def _distinct(kind: str) -> Callable[..., Any]:
    """Unique along an axis, whose value must be known; an empty list is none."""
    def found(x: Any, axis: Any, out_idx: Any = int32, name: str | None = None, **_: Any) -> Any:
        axes: Any = static_value(convert_to_tensor(axis))
        return OPS[kind](x, out_idx=out_idx, axis=int(axes.flat[0]) if axes.size else None, name=name)

    return found


def _filled_rows_gradient(reverse_index_map: Tensor, grad_values: Tensor, **_: Any) -> list[Tensor]:
    grad_values = build.EnsureShape(grad_values, shape=(None,))
    count, known = build.Shape(grad_values), grad_values.dims[0] if grad_values.dims else "n"
    index = convert_to_tensor(reverse_index_map)
    inside = build.All(build.LogicalAnd(build.GreaterEqual(index, 0), build.Less(index, build.Cast(
        count[0], dtype=index.dtype.base_dtype))), [0])
    with control_dependencies([build.Assert(inside, f"Elements in reverse index must be in [0, {known})")]):
        reverse_index_map = build.Identity(index)
    taken = build.UnsortedSegmentSum(build.OnesLike(reverse_index_map), reverse_index_map, count[0])
    rest = build.Select(build.Greater(taken, build.ZerosLike(taken)), build.ZerosLike(grad_values), grad_values)
    return [build.GatherV2(grad_values, reverse_index_map, 0), build.Sum(rest, 0)]


RECIPES: dict[str, Callable[..., Any]] = {  # of inputs in their order and attributes by name
    "BatchMatMul": lambda x, y, adj_x=False, adj_y=False, **_: build.BatchMatMulV2(x, y, adj_x=adj_x, adj_y=adj_y),
    "Concat": lambda axis, *values, **_: build.ConcatV2(axis, *values),
    "Gather": lambda params, indices, **_: build.GatherV2(params, indices, 0),
    "Variable": lambda shape, dtype, container="", shared_name="", **_: build.VariableV2(
        shape=shape, dtype=dtype, container=container, shared_name=shared_name),
    "PlaceholderV2": lambda dtype, shape=None, **_: build.Placeholder(dtype=dtype, shape=shape),
    "BatchNormWithGlobalNormalization": _batch_norm_by_moments,
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2"), _batch_norm),
    **dict.fromkeys(("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"), batch_norm_gradient),
    **dict.fromkeys(("ControlTrigger", "StackClose", "StackCloseV2", "TensorArrayCloseV3"),
                    lambda *_, **__: build.NoOp()),
    "Stack": lambda elem_type, stack_name="", **_: build.StackV2(-1, elem_type=elem_type, stack_name=stack_name),
    "StackPush": lambda handle, elem, swap_memory=False, **_: build.StackPushV2(handle, elem, swap_memory=swap_memory),
    "StackPop": lambda handle, elem_type, **_: build.StackPopV2(handle, elem_type=elem_type),
    "Inv": lambda x, **_: build.Reciprocal(x), "InvGrad": lambda y, dy, **_: build.Neg(dy * y * y),
    "LRNGrad": _lrn_gradient, "Mod": lambda x, y, **_: build.TruncateMod(x, y),
    "TopK": lambda x, k, sorted=True, **_: build.TopKV2(x, k, sorted=sorted),
    "SparseFillEmptyRowsGrad": _filled_rows_gradient,
    "UniqueV2": _distinct("Unique"), "UniqueWithCountsV2": _distinct("UniqueWithCounts"),
    "ShapeN": lambda *input, out_type, **_: [build.Shape(t, out_type=out_type) for t in input],
    "Snapshot": lambda x, **_: build.Identity(x),
    **{f"SparseSegment{kind}{end}": _sparse_segments(reduced) for end in ("", "WithNumSegments") for kind, reduced in (
        ("Sum", sparse_segment_sum), ("Mean", sparse_segment_mean), ("SqrtN", sparse_segment_sqrt_n))},
    **LIST_RECIPES,  # TensorArrays: the flow is the list
    "TensorArrayV3": lambda size, dtype, **_: [build.ListReserve(size, dtype=dtype)] * 2,
    "TensorArrayConcatV3": lambda handle, flow, dtype, **_: joined(flow, dtype=dtype),
    "TensorArrayReadV3": lambda handle, index, flow, dtype, **_: build.ListItem(flow, index, dtype=dtype),
    "TensorArrayWriteV3": lambda handle, index, value, flow, **_: build.ListSet(flow, index, value),
    "TensorArrayGatherV3": lambda handle, indices, flow, dtype, element_shape=None, **_: build.ListGather(
        flow, indices, dtype=dtype, shape=element_shape),
    "TensorArrayScatterV3": lambda handle, indices, value, flow, **_: build.ListScatter(flow, indices, value),
    "TensorArraySizeV3": lambda handle, flow, **_: build.ListLength(flow),
    **{f"Resource{name}": _applied(name) for name in (
        "ApplyAdadelta", "ApplyAdagrad", "ApplyAdagradDA", "ApplyAdam", "ApplyCenteredRMSProp", "ApplyFtrl",
        "ApplyFtrlV2", "ApplyGradientDescent", "ApplyMomentum", "ApplyProximalAdagrad",
        "ApplyProximalGradientDescent", "ApplyRMSProp", "SparseApplyAdadelta", "SparseApplyAdagrad",
        "SparseApplyAdagradDA", "SparseApplyCenteredRMSProp", "SparseApplyFtrl", "SparseApplyFtrlV2",
        "SparseApplyMomentum", "SparseApplyProximalAdagrad", "SparseApplyProximalGradientDescent",
        "SparseApplyRMSProp")}}
