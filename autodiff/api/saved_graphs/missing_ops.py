"""Ops that only TensorFlow has, built of ours: older forms of an op, and TensorArrays as lists."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.graph import Tensor
from ...core.op import OPS, build


def _concat(concat_dim: Tensor, *values: Tensor, **attrs: Any) -> Any:
    return build.ConcatV2(concat_dim, *values)


def _gather(params: Tensor, indices: Tensor, **attrs: Any) -> Any:
    return build.GatherV2(params, indices, 0)


def _batch_matmul(x: Tensor, y: Tensor, adj_x: bool = False, adj_y: bool = False, **attrs: Any) -> Any:
    return build.BatchMatMulV2(x, y, adj_x=adj_x, adj_y=adj_y)


def _variable(shape: Any, dtype: Any, container: str = "", shared_name: str = "", **attrs: Any) -> Any:
    return build.VariableV2(shape=shape, dtype=dtype, container=container, shared_name=shared_name)


def _placeholder(dtype: Any, shape: Any = None, **attrs: Any) -> Any:
    return build.Placeholder(dtype=dtype, shape=shape)


def _batch_norm(x: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor, epsilon: float = 1e-4,
                data_format: str = "NHWC", is_training: bool = True, **attrs: Any) -> Any:
    return build.FusedBatchNormV3(x, scale, offset, mean, variance, epsilon=epsilon, data_format=data_format,
                                  is_training=is_training)[:5]


def _batch_norm_gradient(y_backprop: Tensor, x: Tensor, scale: Tensor, mean: Tensor, variance: Tensor, *rest: Tensor,
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


def _reciprocal_gradient(y: Tensor, dy: Tensor, **attrs: Any) -> Any:
    return build.Neg(dy * y * y)


def _lrn_gradient(input_grads: Tensor, input_image: Tensor, output_image: Tensor, T: Any = None, **attrs: Any) -> Any:
    forward = build.LRN(input_image, **attrs)
    return OPS["LRN"].gradient_rule(forward.op, input_grads)  # type: ignore[misc]


def _top_k(input: Tensor, k: int, sorted: bool = True, **attrs: Any) -> Any:
    return build.TopKV2(input, k, sorted=sorted)


def _shapes(*input: Tensor, out_type: Any, **attrs: Any) -> Any:
    return [build.Shape(t, out_type=out_type) for t in input]


# ---- TensorArrays: the flow is the list -------------------------------------------------
def _array(size: Tensor, dtype: Any, **attrs: Any) -> Any:
    items = build.ListReserve(size)
    return [items, items]


def _array_read(handle: Tensor, index: Tensor, flow: Tensor, dtype: Any, **attrs: Any) -> Any:
    return build.ListItem(flow, index, dtype=dtype)


def _array_write(handle: Tensor, index: Tensor, value: Tensor, flow: Tensor, **attrs: Any) -> Any:
    return build.ListSet(flow, index, value)


def _array_gather(handle: Tensor, indices: Tensor, flow: Tensor, dtype: Any, element_shape: Any = None,
                  **attrs: Any) -> Any:
    return build.ListGather(flow, indices, dtype=dtype, shape=element_shape)


def _array_scatter(handle: Tensor, indices: Tensor, value: Tensor, flow: Tensor, **attrs: Any) -> Any:
    return build.ListScatter(flow, indices, value)


def _array_size(handle: Tensor, flow: Tensor, **attrs: Any) -> Any:
    return build.ListLength(flow)


def _array_concat(handle: Tensor, flow: Tensor, dtype: Any, **attrs: Any) -> Any:
    stacked = build.ListStack(flow, flow, dtype=dtype)
    shape = build.Shape(stacked)
    each = build.StridedSlice(shape, [1], [2], [1], shrink_axis_mask=1)
    joined = build.Reshape(stacked, build.ConcatV2(0, [-1], build.StridedSlice(shape, [2], [0], [1], end_mask=1)))
    return [joined, build.Fill(build.ExpandDims(build.ListLength(flow), 0), build.Cast(each, dtype="int64"))]


def _first(*inputs: Tensor, **attrs: Any) -> Any:
    return inputs[0]


def _applied(name: str) -> Callable[..., Any]:
    """A resource variable's step of an optimizer: the op of a reference takes either."""
    def apply(*inputs: Tensor, use_locking: bool = False, **attrs: Any) -> Any:
        known = {key: value for key, value in attrs.items() if key in OPS[name].attributes}
        return OPS[name](*inputs, **known).op

    return apply


def _nothing(*inputs: Tensor, **attrs: Any) -> Any:
    return build.NoOp()


RECIPES: dict[str, Callable[..., Any]] = {
    "BatchMatMul": _batch_matmul, "Concat": _concat, "Gather": _gather, "Variable": _variable,
    "PlaceholderV2": _placeholder, "FusedBatchNorm": _batch_norm, "FusedBatchNormV2": _batch_norm,
    "FusedBatchNormGrad": _batch_norm_gradient, "FusedBatchNormGradV2": _batch_norm_gradient,
    "FusedBatchNormGradV3": _batch_norm_gradient, "ControlTrigger": _nothing, "StackCloseV2": _nothing,
    "Inv": lambda x, **attrs: build.Reciprocal(x), "InvGrad": _reciprocal_gradient, "LRNGrad": _lrn_gradient,
    "TopK": _top_k, "Mod": lambda x, y, **attrs: build.TruncateMod(x, y),
    "ShapeN": _shapes, "Snapshot": _first,
    "TensorArrayV3": _array, "TensorArrayReadV3": _array_read, "TensorArrayWriteV3": _array_write,
    "TensorArrayGatherV3": _array_gather, "TensorArrayScatterV3": _array_scatter, "TensorArraySizeV3": _array_size,
    "TensorArrayConcatV3": _array_concat, "TensorArrayCloseV3": _nothing,
    **{f"Resource{name}": _applied(name) for name in (
        "ApplyAdadelta", "ApplyAdagrad", "ApplyAdagradDA", "ApplyAdam", "ApplyCenteredRMSProp", "ApplyFtrl",
        "ApplyFtrlV2", "ApplyGradientDescent", "ApplyMomentum", "ApplyProximalAdagrad",
        "ApplyProximalGradientDescent", "ApplyRMSProp", "SparseApplyAdadelta", "SparseApplyAdagrad",
        "SparseApplyAdagradDA", "SparseApplyCenteredRMSProp", "SparseApplyFtrl", "SparseApplyFtrlV2",
        "SparseApplyMomentum", "SparseApplyProximalAdagrad", "SparseApplyProximalGradientDescent",
        "SparseApplyRMSProp")},
}
