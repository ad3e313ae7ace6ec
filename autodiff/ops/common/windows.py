"""Windows that slide over the axes of space: how many there are, where they lie, and arrays of them.

Layout inside: [n, *space, c]. A layout with channels second is turned on the way in and out.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError, ShapeError
from ...core.shapes import Dims, show


class Slide(NamedTuple):
    """How windows slide: one entry for each axis of space. pads: (before, after) of each axis, or SAME or VALID."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: Any


def channels_first(data_format: str) -> bool:
    """Whether a layout such as "NCHW" keeps channels before space."""
    if not isinstance(data_format, str) or data_format[:1] != "N" or "C" not in data_format:
        raise ArgumentError(expected="a data_format such as 'NHWC' or 'NCHW'", found=repr(data_format))
    return data_format[1] == "C"


def channels_last(x: np.ndarray, data_format: str) -> np.ndarray:
    """`x` with its channels on the last axis, whichever format it is in."""
    return np.moveaxis(x, 1, -1) if data_format[1] == "C" else x


def restored(x: np.ndarray, data_format: str) -> np.ndarray:
    """The inverse of channels_last."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if data_format[1] == "C" else x


def of_space(values: Sequence[int], data_format: str, what: str) -> tuple[int, ...]:
    """The entries for the axes of space of an attribute with one entry an axis. Those of n and c must be 1."""
    values = tuple(int(v) for v in values)
    if len(values) != len(data_format):
        raise ArgumentError(expected=f"{len(data_format)} {what} for {data_format}", found=list(values))
    first = 2 if channels_first(data_format) else 1
    space = values[first:first + len(values) - 2]
    rest = values[:first] + values[first + len(space):]
    if any(v != 1 for v in rest) or any(v < 1 for v in space):
        raise ArgumentError(expected=f"{what} of 1 for batch and channels, and >= 1 for space", found=list(values))
    return space


def slide_of(*, strides: Any, padding: str, data_format: str, dilations: Any = None,
             explicit_paddings: Any = ()) -> Slide:
    """A Slide from an op's attributes. Raises ArgumentError (ValueError) for attributes out of range."""
    space = of_space(strides, data_format, "strides")
    dilated = of_space(dilations, data_format, "dilations") if dilations else (1,) * len(space)
    if padding == "EXPLICIT":
        pairs = [tuple(explicit_paddings[i:i + 2]) for i in range(0, len(explicit_paddings), 2)]
        first = 2 if channels_first(data_format) else 1
        return Slide(space, dilated, tuple(pairs[first:first + len(space)]))
    if padding not in ("SAME", "VALID"):
        raise ArgumentError(expected="padding 'SAME' or 'VALID'", found=repr(padding))
    return Slide(space, dilated, padding)


def extent(size: int | None, window: int | None, stride: int, dilation: int, padding: Any) -> int | None:
    """Count of windows along one axis, or None if unknown. Raises ShapeError if the window is too large."""
    if size is None or window is None and padding != "SAME":
        return None
    if padding == "SAME":
        return -(-size // stride)
    reach = (window - 1) * dilation + 1  # type: ignore[operator]
    if padding != "VALID":
        size += sum(padding)
    if size < reach:
        raise ShapeError(f"Negative dimension size caused by subtracting {reach} from {size}",
                         expected=f"a window of at most {size}", found=reach)
    return (size - reach) // stride + 1


def extents(space: Dims, window: Dims, slide: Slide) -> Dims:
    """Count of windows along each axis of space."""
    return tuple(extent(size, k, s, d, slide.padding if isinstance(slide.padding, str) else slide.padding[i])
                 for i, (size, k, s, d) in enumerate(zip(space, window, slide.strides, slide.dilations)))


def pads(space: Sequence[int], window: Sequence[int], slide: Slide) -> list[tuple[int, int]]:
    """How much each axis of space is widened before and after."""
    if slide.padding == "VALID":
        return [(0, 0)] * len(space)
    if slide.padding != "SAME":
        return list(slide.padding)
    widened = []
    for size, k, s, d in zip(space, window, slide.strides, slide.dilations):
        missing = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        widened.append((missing // 2, missing - missing // 2))
    return widened


def padded(x: np.ndarray, pads: list[tuple[int, int]], value: Any = 0) -> np.ndarray:
    """`x` with its axes of space widened by `value`."""
    if not any(map(any, pads)):
        return x
    shape = (x.shape[0], *(a + n + b for n, (a, b) in zip(x.shape[1:-1], pads)), x.shape[-1])
    wide = np.zeros(shape, x.dtype) if value == 0 else np.full(shape, value, x.dtype)
    wide[inside(x.shape[1:-1], pads)] = x
    return wide


def inside(space: Sequence[int], pads: list[tuple[int, int]]) -> tuple[slice, ...]:
    """Where the unpadded array lies in the padded one."""
    return (slice(None), *(slice(a, a + n) for n, (a, _) in zip(space, pads)))


def offsets(window: Sequence[int], counts: Sequence[int], slide: Slide) -> Iterator[tuple[Any, ...]]:
    """For each place in the window, row by row: its index, and where in the padded array all windows have it."""
    for index in product(*map(range, window)):
        yield index, (slice(None), *(slice(i * d, i * d + (n - 1) * s + 1, s)
                                     for i, d, s, n in zip(index, slide.dilations, slide.strides, counts)))


def views(x: np.ndarray, window: Sequence[int], counts: Sequence[int], slide: Slide) -> np.ndarray:
    """All windows of the padded `x`, without copying: [n, *counts, *window, c]."""
    step = x.strides[1:-1]
    strides = (x.strides[0], *(a * s for a, s in zip(step, slide.strides)),
               *(a * d for a, d in zip(step, slide.dilations)), x.strides[-1])
    return np.lib.stride_tricks.as_strided(x, (x.shape[0], *counts, *window, x.shape[-1]), strides, writeable=False)


def check_channels(found: int | None, expected: int | None, x: Any, filters: Any) -> None:
    """Raises ShapeError if input and filters differ in their number of channels."""
    if found is not None and expected is not None and found != expected:
        raise ShapeError(f"Depth of input ({found}) is not a multiple of input depth of filter ({expected})",
                         found=f"input {show(x.dims)}, filter {show(filters.dims)}")


def placed(result: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """`result` in `out`, if there is one and it is not there already."""
    if out is None or out is result:
        return result
    np.copyto(out, result)
    return out
