"""Numbers as bits: and, or, not, shifts, counts, the bits of one type read as another's, the next float."""

from functools import partial

import numpy as np

from ...core.declare import op
from ...core.dtypes import ALL, FLOATS, REALS, as_dtype, bool_, uint8
from ...core.errors import ArgumentError
from ...core.infer import broadcast_shape, rank_of
from ...core.op import Own, Spec, build
from ..common.batch_axis import slice_by_slice
from ..common.numpy_ops import numpy_op
from .elementwise import unbroadcast

INTEGERS = tuple(t for t in REALS if t.is_integer)
_BITS = "bits have no gradient"
_of_bits = partial(numpy_op, dtypes=INTEGERS, no_grad=_BITS)

_of_bits("BitwiseAnd", np.bitwise_and, "The bits that are set in both, broadcast. x, y: int[...] -> int[...].")
_of_bits("BitwiseOr", np.bitwise_or, "The bits that are set in either, broadcast. x, y: int[...] -> int[...].")
_of_bits("BitwiseXor", np.bitwise_xor, "The bits that are set in one alone, broadcast. x, y: int[...] -> int[...].")
_of_bits("Invert", np.invert, "The bits that are not set. x: int[...] -> int[...].")


@op("LeftShift", infer=broadcast_shape, elementwise=True, dtypes=INTEGERS, no_grad=_BITS)
def left_shift(x, y, *, out=None):
    """x moved up by y bits, at most its width less one. x, y: int[...] -> int[...]."""
    return np.left_shift(x, _within(x, y), out=out)


@op("RightShift", infer=broadcast_shape, elementwise=True, dtypes=INTEGERS, no_grad=_BITS)
def right_shift(x, y, *, out=None):
    """x moved down by y bits, at most its width less one; a negative one stays so. x, y: int[...] -> int[...]."""
    return np.right_shift(x, _within(x, y), out=out)


def _within(x, y):
    return np.clip(y, y.dtype.type(0), y.dtype.type(8 * x.dtype.itemsize - 1))


@op("PopulationCount", infer=lambda x: Spec(uint8, x.dims), elementwise=True, dtypes=INTEGERS, no_grad=_BITS)
def population_count(x):
    """How many bits are set. x: int[...] -> uint8[...]."""
    return np.bitwise_count(np.asarray(x).view(f"u{x.dtype.itemsize}"))


def _packed(input, threshold):
    rank_of(input, at_least=1, what="input")
    rank_of(threshold, exactly=0, what="threshold")
    if input.dims is None:
        return Spec(uint8, None)
    *lead, last = input.dims
    if last is not None and last % 8:
        raise ArgumentError(f"Inner dimension of input should be divisible by 8, but saw {last}: {input.describe()}")
    return Spec(uint8, (*lead, None if last is None else last // 8))


@op("CompareAndBitpack", infer=_packed, dtypes=(bool_, *REALS), no_grad=_BITS, batched=slice_by_slice)
def compare_and_bitpack(input, threshold):
    """Whether each element is above the threshold, eight to a byte, the first as its highest bit.

    input: real or bool[..., 8n], threshold: real or bool[] -> uint8[..., n].
    """
    return np.packbits(input > threshold, axis=-1)


def _as_type(input, *, type):
    new, old = as_dtype(type), input.dtype.base_dtype
    if new.size == old.size or input.dims is None:
        return Spec(new, input.dims)
    if new.size < old.size:
        return Spec(new, (*input.dims, old.size // new.size))
    if not input.dims or input.dims[-1] not in (None, new.size // old.size):
        raise ArgumentError(f"Cannot bitcast due to shape: expected {new.size // old.size} {old.name} in the last axis "
                            f"for a {new.name}, found {input.describe()}")
    return Spec(new, input.dims[:-1])


@op("Bitcast", infer=_as_type, dtypes=ALL, no_grad=_BITS)
def bitcast(input: Own, *, type):
    """The same bits as elements of another type; a last axis holds the parts of wider ones."""
    new = np.dtype(as_dtype(type).as_numpy_dtype)
    array = np.ascontiguousarray(input)
    if new.itemsize == array.dtype.itemsize:
        return array.view(new).reshape(input.shape)
    if new.itemsize < array.dtype.itemsize:
        return array[..., None].view(new)
    return array.view(new)[..., 0]


bitcast.batched(lambda node, args, batched: bitcast(*args, **node.attrs))


@op("NextAfter", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def next_after(x1, x2, *, out=None):
    """The float next to x1 on the way to x2, broadcast. x1, x2: float[...] -> float[...]."""
    return np.nextafter(x1, x2, out=out)


@next_after.gradient
def _(node, dy):
    """The first moves with its neighbor; the second only says to which side."""
    x, y = node.inputs
    return unbroadcast(dy, x), build.ZerosLike(y)
