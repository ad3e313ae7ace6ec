"""Fourier transforms of the last one, two or three axes, of complex and of real numbers."""

from typing import Any

import numpy as np

from ...core.constant_value import static_entries
from ...core.declare import op
from ...core.dtypes import COMPLEX, complex64, complex128, float32, float64
from ...core.errors import ShapeError
from ...core.graph import Operation, Tensor
from ...core.infer import rank_of, ranked, same_shape
from ...core.op import Int32, OpDef, Spec, blocked, build
from ...core.shapes import is_known, show
from ..common.batch_axis import in_front, shared

_COMPLEX_OF = {"float32": complex64, "float64": complex128}


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _last_sizes(x: Tensor, rank: int, dtype: Any) -> Any:
    """How many elements the last axes have, as a number of this type."""
    if x.dims is not None and is_known(x.dims[-rank:]):
        return np.array(np.prod(x.dims[-rank:]), dtype.as_numpy_dtype)
    return build.Cast(build.Prod(build.Shape(x)[-rank:], [0]), dtype=dtype)


# ---- of complex numbers -------------------------------------------------------------------

def _complex(rank: int, name: str, text: str) -> tuple[OpDef, OpDef]:
    """The transform of the last `rank` axes and its inverse, with their rules."""
    def forward(input):  # type: ignore[no-untyped-def]
        return np.fft.fftn(input, axes=_axes(rank)).astype(input.dtype, copy=False) if input.size else input.copy()

    def inverse(input):  # type: ignore[no-untyped-def]
        return np.fft.ifftn(input, axes=_axes(rank)).astype(input.dtype, copy=False) if input.size else input.copy()

    forward.__name__, forward.__doc__ = name.lower(), f"The sum of x exp(-2 pi i j k / n) over {text}. complex[...]."
    inverse.__name__, inverse.__doc__ = f"i{name.lower()}", f"The inverse of {name}, over {text}. complex[...]."
    infer = ranked(same_shape, at_least=rank)
    there = op(name, infer=infer, dtypes=COMPLEX, batched=in_front)(forward)
    back = op(f"I{name}", infer=infer, dtypes=COMPLEX, batched=in_front)(inverse)

    @there.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        return (back(dy) * _last_sizes(dy, rank, dy.dtype.base_dtype),)

    @back.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        return (build.RealDiv(there(dy), _last_sizes(dy, rank, dy.dtype.base_dtype)),)

    return there, back


fft, ifft = _complex(1, "FFT", "the last axis")
fft2d, ifft2d = _complex(2, "FFT2D", "the last two axes")
fft3d, ifft3d = _complex(3, "FFT3D", "the last three axes")


# ---- of real numbers ----------------------------------------------------------------------

def _lengths(input: Tensor, fft_length: Tensor, rank: int) -> list[int | None]:
    rank_of(input, at_least=rank, what="input")
    rank_of(fft_length, exactly=1, what="fft_length")
    if fft_length.dims not in (None, (None,), (rank,)):
        raise ShapeError(expected=f"an fft_length of shape [{rank}]", found=show(fft_length.dims))
    return static_entries(fft_length, rank)


def _check_sizes(input, wanted):
    found = input.shape[-len(wanted):]
    if any(n < m for n, m in zip(found, wanted)):
        raise ValueError(f"expected last axes of at least {list(wanted)} elements for this fft_length, found "
                         f"{list(found)}\ntf.signal pads them")
    return input[(..., *(slice(m) for m in wanted))]


def _real(rank: int, name: str, text: str) -> tuple[OpDef, OpDef]:
    """The transform of real numbers, which keeps the non-redundant half, and its inverse, with their rules."""
    def inferred(input: Tensor, fft_length: Tensor) -> Spec:
        *rest, last = _lengths(input, fft_length, rank)
        dims = None if input.dims is None else (*input.dims[:-rank], *rest, None if last is None else last // 2 + 1)
        return Spec(_COMPLEX_OF[input.dtype.base_dtype.name], dims)

    def inverse_inferred(input: Tensor, fft_length: Tensor) -> Spec:
        lengths = _lengths(input, fft_length, rank)
        return Spec(input.dtype.real_dtype, None if input.dims is None else (*input.dims[:-rank], *lengths))

    def forward(input, fft_length: Int32):  # type: ignore[no-untyped-def]
        x = _check_sizes(input, fft_length.tolist())
        return np.fft.rfftn(x, axes=_axes(rank)).astype(np.result_type(input.dtype, np.complex64), copy=False)

    def inverse(input, fft_length: Int32):  # type: ignore[no-untyped-def]
        *rest, last = fft_length.tolist()
        x = _check_sizes(input, [*rest, last // 2 + 1])
        return np.fft.irfftn(x, s=(*rest, last), axes=_axes(rank)).astype(input.real.dtype, copy=False)

    forward.__name__, inverse.__name__ = name.lower(), f"i{name.lower()}"
    forward.__doc__ = (f"The first fft_length[-1] // 2 + 1 frequencies of real numbers over {text}, the first "
                       f"fft_length of each. float[...], int32[{rank}] -> complex[...].")
    inverse.__doc__ = f"The inverse of {name}: fft_length real numbers in {text}. complex[...], int32[{rank}]."
    there = op(name, infer=inferred, dtypes=(float32, float64))(forward)
    back = op(f"I{name}", infer=inverse_inferred, dtypes=COMPLEX, batched=in_front)(inverse)
    whole_back = {1: ifft, 2: ifft2d, 3: ifft3d}[rank]

    @there.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        # Re of the sum of dy exp(+2 pi i j k / n): the half that was left out has no gradient and counts as 0
        x, lengths = node.inputs
        full = _padded(dy, rank, lengths)
        count = _last_sizes(full, rank, x.dtype.base_dtype)
        return _padded(build.Real(whole_back(full)) * count, rank, build.Shape(x)[-rank:]), blocked(_LENGTHS)

    @back.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        x, lengths = node.inputs
        last = lengths[-1]
        twice = build.Cast(build.Range(0, build.FloorDiv(last, 2) + 1, 1), dtype=dy.dtype)
        alone = build.LogicalOr(build.Equal(twice, 0.0), build.Equal(twice * 2.0, build.Cast(last, dtype=dy.dtype)))
        count = build.Select(alone, build.OnesLike(twice), build.OnesLike(twice) * 2.0)
        factor = build.RealDiv(count, _last_sizes(dy, rank, dy.dtype.base_dtype))
        found = there(dy, lengths) * build.Cast(factor, dtype=x.dtype.base_dtype)
        return _padded(found, rank, build.Shape(x)[-rank:]), blocked(_LENGTHS)

    @there.batched
    @back.batched
    def _(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        shared(node, batched, 1)
        return node.definition(*args)

    return there, back


_LENGTHS = "lengths are integers"


def _padded(x: Tensor, rank: int, sizes: Tensor) -> Tensor:
    """`x` with zeros after its last axes, up to these sizes."""
    after = build.Pack(build.ZerosLike(sizes), sizes - build.Shape(x)[-rank:], axis=1)
    before = build.Fill(build.Pack(build.Rank(x) - rank, 2, axis=0), 0)
    return build.Pad(x, build.ConcatV2(0, before, after))


rfft, irfft = _real(1, "RFFT", "the last axis")
rfft2d, irfft2d = _real(2, "RFFT2D", "the last two axes")
rfft3d, irfft3d = _real(3, "RFFT3D", "the last three axes")
