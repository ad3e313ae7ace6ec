"""Windows as shifted parts of an image, one for each place in the window: for what has no op of its own."""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.rearrange import pad
from ..common.arguments import one_of

__all__ = ["dilation2d", "erosion2d"]


def shifted(x: Tensor, window: Sequence[int], strides: Sequence[int], rates: Sequence[int],  # noqa: PLR0913
            padding: str, fill: float) -> list[Tensor]:
    """The elements at each place of a window, row by row. x: any[n, *space, channels] -> any[n, *out, channels] each.

    rates: the distance of places. fill: what lies outside. Raises ShapeError for 'SAME' windows on unknown sizes.
    """
    reach = [(k - 1) * rate for k, rate in zip(window, rates)]
    if padding not in ("SAME", "VALID"):
        raise ArgumentError(expected="a padding of 'SAME' or 'VALID'", found=repr(padding))
    if padding == "SAME":
        sizes = x.dims[1:-1] if x.dims is not None else (None,)
        if None in sizes:
            raise ShapeError(expected="an image of known sizes for padding 'SAME'", found=x.describe())
        more = [max((math.ceil(n / s) - 1) * s + r + 1 - n, 0) for n, s, r in zip(sizes, strides, reach)]
        x = pad(x, [[0, 0], *([m // 2, m - m // 2] for m in more), [0, 0]], constant_values=fill)
    parts = []
    for place in itertools.product(*map(range, window)):
        starts = [i * rate for i, rate in zip(place, rates)]
        ends = [start - r or None for start, r in zip(starts, reach)]
        parts.append(x[(slice(None), *map(slice, starts, ends, strides))])
    return parts


def pool_with_holes(x: Tensor, window: Sequence[int], rates: Sequence[int], padding: str, *, largest: bool) -> Tensor:
    """The largest, or the mean, of what each window has in the image."""
    strides = [1] * len(window)
    if largest:
        return functools.reduce(build.Maximum, shifted(x, window, strides, rates, padding, -math.inf))
    total, counts = (build.AddN(*shifted(part, window, strides, rates, padding, 0.0)) for part in
                     (x, build.OnesLike(x)))
    return total / counts


def dilation2d(input: Any, filter: Any = None, strides: Any = None, rates: Any = None,  # noqa: PLR0913
               padding: Any = None, name: str | None = None, filters: Any = None, dilations: Any = None) -> Tensor:
    """The largest of image plus filter in each window. input: float[n, h, w, c], filter: float[kh, kw, c].

    strides, rates (or dilations): 4 numbers each, the first and last 1. -> float[n, h', w', c].
    """
    kernel, rates = one_of("filter", filter, "filters", filters), one_of("rates", rates, "dilations", dilations)
    with scope(name, "dilation2d", [input, kernel]):
        x, kernel = convert_to_tensor(input), convert_to_tensor(kernel)
        if kernel.dims is None or len(kernel.dims) != 3 or None in kernel.dims[:2]:
            raise ShapeError(expected="a filter [rows, columns, channels] of known sizes", found=kernel.describe())
        rows, columns = kernel.dims[:2]
        parts = shifted(x, (rows, columns), strides[1:3], rates[1:3], padding, -math.inf)
        raised = [part + kernel[i // columns, i % columns] for i, part in enumerate(parts)]
        return functools.reduce(build.Maximum, raised)


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, name: str | None = None) -> Tensor:
    """The least of image minus kernel in each window; shapes as of dilation2d."""
    with scope(name, "erosion2d", [value, kernel]):
        turned = build.ReverseV2(convert_to_tensor(kernel), [0, 1])
        return -dilation2d(-convert_to_tensor(value), turned, strides, rates, padding)


def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None) -> Tensor:
    """The elements of each window, as the channels of one place; 0 outside.

    input: real[n, d, h, w, c] -> real[n, d', h', w', kd * kh * kw * c]. ksizes, strides: 5 numbers, the first and the
    last 1.
    """
    with scope(name, "extract_volume_patches", [input]):
        parts = shifted(convert_to_tensor(input), ksizes[1:4], strides[1:4], (1, 1, 1), padding, 0)
        return build.ConcatV2(-1, *parts) if len(parts) > 1 else build.Identity(parts[0])
