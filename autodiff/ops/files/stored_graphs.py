"""Ops that only stored graphs have, above all the gradient ops of TensorFlow."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import as_dtype, float32, variant
from ...core.errors import InvalidArgumentError, UnimplementedError
from ...core.infer import same_shape
from ...core.op import Index, Int32, Kind, Own, Spec, T, outputs

List = Kind("List", allowed=(variant,))


@op("BroadcastGradientArgs", infer=lambda s0, s1: (Spec(s0.dtype.base_dtype, (None,)),) * 2, stateful=True,
    no_grad="axes are integers")
def broadcast_gradient_args(s0: Index, s1: Index):
    """The axes over which the gradients of two tensors are summed. s0, s1: int[n], shapes -> int[...] twice."""
    rank = max(len(s0), len(s1))
    a, b = (np.concatenate([np.ones(rank - len(s), np.int64), s]) for s in (s0, s1))
    if ((a != b) & (a != 1) & (b != 1)).any():
        raise InvalidArgumentError(f"Incompatible shapes: {list(map(int, s0))} vs. {list(map(int, s1))}")
    return tuple(np.flatnonzero((own == 1) & ((other != 1) | (np.arange(rank) < rank - len(s)))).astype(s.dtype)
                 for own, other, s in ((a, b, s0), (b, a, s1)))


@op("ConcatOffset", infer=lambda concat_dim, *shape: tuple(Spec(s.dtype.base_dtype, s.dims) for s in shape),
    stateful=True, no_grad="offsets are integers")
def concat_offset(concat_dim: Int32, *shape: Int32):
    """Where each part begins in what ConcatV2 gives. concat_dim: int32[], shape: int32[n] each -> the same."""
    found, begin, rank = [], 0, np.size(shape[0])
    if not -rank <= concat_dim < rank:
        raise ValueError(f"Concat dim is out of range: {concat_dim} vs. {rank}")
    for i, dims in enumerate(shape):
        if dims.ndim != 1 or dims.size != rank:
            raise ValueError(f"input {i} should be a vector, found {dims.ndim} axes" if dims.ndim != 1 else
                             f"input {i} should contain {rank} elements, but got {dims.size}")
        if (np.delete(dims, concat_dim) != np.delete(shape[0], concat_dim)).any():
            found, first = (" ".join(map(str, each.tolist())) for each in (dims, shape[0]))
            raise ValueError(f"All dimensions except {concat_dim} must match. Input {i} has shape [{found}] and "
                             f"doesn't match input 0 with shape [{first}].")
        offset = np.zeros_like(dims)
        offset[int(concat_dim)] = begin
        begin += dims[int(concat_dim)]
        found.append(offset)
    return outputs(tuple(found))


@op("StackV2", infer=lambda max_size, **attrs: Spec(variant, ()), stateful=True, no_grad="a stack is no number")
def stack(max_size: Int32, *, elem_type=float32, stack_name=""):
    """An empty stack, to which a stored loop pushes what its stored gradient reads. -> list."""
    return []


@op("StackPushV2", infer=lambda handle, elem, **attrs: same_shape(elem), stateful=True)
def stack_push(handle: List, elem: T, *, swap_memory=False):
    """Put a value on a stack, and give it. elem: any[...] -> any[...]."""
    handle.append(elem)
    return elem


stack_push.gradient(lambda node, dy: (None, dy))


@op("StackPopV2", infer=lambda handle, *, elem_type: Spec(elem_type, None), stateful=True,
    no_grad="a stored gradient reads it")
def stack_pop(handle: List, *, elem_type):
    """Take the last value off a stack. -> any[...]."""
    if not handle:
        raise InvalidArgumentError("a stack is empty: its stored loop did not run before its stored gradient")
    return handle.pop()


@op("NotServed", infer=lambda *inputs, type, dtypes, given: tuple(Spec(as_dtype(dtype), None) for dtype in dtypes),
    stateful=True, no_rule="the op is not supported")
def not_supported(*inputs: Own, type, dtypes, given):
    """In place of an op of a stored graph that gradbg does not support: it fails when it runs. inputs: any[...].

    given: its attributes, with which it is written.
    """
    raise UnimplementedError(f"gradbg does not support the op {type!r}",
                             hint="fetch and feed tensors that do not need it")
