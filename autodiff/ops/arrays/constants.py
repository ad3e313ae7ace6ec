"""Where values come from: constants, placeholders, fills; and the ops that pass them on."""

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.declare import op
from ...core.dtypes import as_dtype, int32
from ...core.errors import ShapeError
from ...core.infer import declared, no_outputs, rank_of, same_shape
from ...core.op import Index, Own, Spec, blocked, build, outputs
from ...core.shapes import as_dims, compatible, show


@op("Const", infer=lambda *, value, dtype: Spec(as_dtype(dtype), value.shape), no_grad="a constant has no inputs")
def const(*, value, dtype):
    """A fixed array. -> any[...]."""
    return value


@op("Placeholder", infer=declared, stateful=True, no_grad="a placeholder has no inputs")
def placeholder(*, dtype, shape=None, run):
    """A value that each run must feed. -> dtype[shape]."""
    return run.not_fed()


def _with_default(value, *, shape=None):
    dims = as_dims(shape)
    if not compatible(value.dims, dims):
        raise ShapeError(f"the default has shape {show(value.dims)}, expected {show(dims)}")
    return Spec(value.dtype.base_dtype, dims)


@op("PlaceholderWithDefault", infer=_with_default)
def placeholder_with_default(input, *, shape=None):
    """The default, unless a run feeds it; of any shape if `shape` is None. input: any[...] -> any[shape]."""
    return input


@op("Identity", infer=same_shape)
def identity(input):
    """The same value under another name. input: any[...] -> any[...]."""
    return input


@op("DebugGradientIdentity", infer=same_shape)
def debug_gradient_identity(input):
    """The same value; a GradientsDebugger records its gradient. input: any[...] -> any[...]."""
    return input


@op("GuaranteeConst", infer=same_shape, no_rule="guarantee_const promises that the value does not change")
def guarantee_const(input):
    """The same value, promised not to change between runs. input: any[...] -> any[...]."""
    return input


@op("IdentityN", infer=lambda *xs: tuple(Spec(x.dtype.base_dtype, x.dims) for x in xs))
def identity_n(*input: Own):
    """Each input under another name. input: any[...]... -> the same."""
    return outputs(input)


@op("StopGradient", infer=same_shape, no_grad="stop_gradient lets no gradient through")
def stop_gradient(input):
    """The same value, held constant when differentiated. input: any[...] -> any[...]."""
    return input


@op("PreventGradient", infer=same_shape,
    no_rule="Gradient explicitly disabled, it was marked as not to be differentiated")
def prevent_gradient(input, *, message=""):
    """The same value; asking for its gradient is a LookupError. input: any[...] -> any[...]."""
    return input


@op("NoOp", infer=no_outputs, no_grad="it has no outputs")
def no_op():
    """Nothing; holds control dependencies together."""
    return ()


def _filled(dims, value):
    rank_of(dims, exactly=1, what="dims")
    rank_of(value, exactly=0, what="value")
    sizes = static_value(dims)
    if sizes is not None and sizes.size and sizes.min() < 0:
        raise ShapeError(expected="sizes >= 0", found=sizes.tolist())
    return Spec(value.dtype.base_dtype, static_dims(dims))


@op("Fill", infer=_filled)
def fill(dims: Index, value):
    """An array of one value. dims: int[rank], value: any[] -> any[dims]."""
    return np.full(tuple(dims), value, dtype=value.dtype)


@op("ZerosLike", infer=same_shape, no_grad="zeros_like depends on the shape alone")
def zeros_like(x, *, out=None):
    """Zeros of the input's shape. x: any[...] -> any[...]."""
    if out is None:
        return np.zeros(x.shape, x.dtype)
    out.fill(0)
    return out


@op("OnesLike", infer=same_shape, no_grad="ones_like depends on the shape alone")
def ones_like(x):
    """Ones of the input's shape. x: number[...] -> number[...]."""
    return np.ones(x.shape, x.dtype)


@op("Shape", infer=lambda input, *, out_type=int32: Spec(
    as_dtype(out_type), (None if input.dims is None else len(input.dims),)), no_grad="a shape is made of integers")
def shape(input: Own, *, out_type=int32):
    """Sizes of the input. input: any[...] -> int[rank]."""
    return np.array(np.shape(input), dtype=as_dtype(out_type).as_numpy_dtype)


for each in (placeholder_with_default, identity, debug_gradient_identity):
    each.gradient(lambda node, dy: (dy,))


identity_n.gradient(lambda node, *dys: dys)


@fill.gradient
def _fill_gradient(node, dy):
    return blocked("a shape is made of integers"), build.Sum(dy, build.Range(0, build.Rank(dy), 1))


# ---- batching: one more leading axis ----------------------------------------------------

@placeholder_with_default.batched
@identity.batched
@debug_gradient_identity.batched
@stop_gradient.batched
@guarantee_const.batched
@prevent_gradient.batched
@zeros_like.batched
@ones_like.batched
def _one_input(node, args, batched):
    attrs = {k: v for k, v in node.attrs.items() if k != "shape"}
    return node.definition(args[0], **attrs)


@identity_n.batched
def _each_input(node, args, batched):
    return [output if is_batched else None for output, is_batched in zip(node.definition(*args), batched)]


@fill.batched
def _fill_batched(node, args, batched):
    if batched[0]:
        raise ShapeError(expected="the same shape for each slice", found="a fill whose shape varies")
    value = args[1][(slice(None), *[None] * node.inputs[0].dims[0])]
    return build.BroadcastTo(value, build.ConcatV2(0, build.Shape(args[1]), args[0]))


@shape.batched
def _shape_batched(node, args, batched):
    return [None]  # the same for each slice: the unbatched op answers
