"""Heights and widths of images: known numbers, or tensors where only a run knows them; what must hold of them."""
from __future__ import annotations

from typing import Any

from ...core.dtypes import float64, int32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.infer import rank_of
from ...core.op import build
from .. import math
from ..control.dependencies import control_dependencies
from ..debugging import Assert


def as_double(n: Any) -> Any:
    """A number as a float, a tensor as float64."""
    return math.cast(n, float64) if isinstance(n, Tensor) else float(n)


def floored(x: Any) -> Any:
    """The whole number below: an int, or an int32 tensor."""
    return math.cast(math.floor(x), int32) if isinstance(x, Tensor) else int(x // 1)


def as_batch(image: Tensor) -> tuple[Tensor, bool]:
    """The image as one of a batch, and whether it was alone; of unknown rank it is. Raises ShapeError for others."""
    if image.dims is None:
        batch = build.ExpandDims(image, 0)
        batch.set_shape([None] * 4)
        return batch, True
    if len(image.dims) not in (3, 4):
        raise ShapeError("'image' must have either 3 or 4 dimensions.", found=f"shape {image.shape}")
    return (build.ExpandDims(image, 0), True) if len(image.dims) == 3 else (image, False)


def with_pixels(batch: Tensor) -> list[Any]:
    """Checks that a batch of images has pixels. Raises ShapeError if it is known to have none."""
    sizes = batch.dims[1:] if batch.dims is not None else (None,)
    if 0 in sizes:
        raise ShapeError(f"all dims of 'image.shape' must be > 0: {batch.shape}")
    return expect(build.All(build.Shape(batch)[1:] > 0, 0), "all dims of 'image.shape' must be > 0") \
        if None in sizes else []


def known_sides(image: Tensor) -> list[Any]:
    """Height and width of an image or a batch, None where they are not known."""
    if image.dims is None or len(image.dims) not in (3, 4):
        raise ShapeError(expected="image of 3 or 4 axes", found=f"shape {image.shape}")
    return list(image.dims[-3:-1])


def sides(image: Tensor) -> list[Any]:
    """Height and width of an image or a batch: numbers where they are known, else tensors."""
    known = known_sides(image)
    shape: Any = build.Shape(image)[-3:-1] if None in known else None
    return [shape[i] if n is None else n for i, n in enumerate(known)]


def expect(holds: Any, what: str, found: Any = "") -> list[Any]:
    """Checks now if it can, else gives the op that checks when it is run. Raises ArgumentError with TensorFlow's words.

    what: the sentence that says what must hold.
    """
    if isinstance(holds, Tensor):
        return [Assert(holds, [what])]
    if not holds:
        raise ArgumentError(what, **({} if found == "" else {"found": found}))
    return []


def waiting_for(checks: list[Any], image: Any) -> Any:
    """The image, once the checks have passed."""
    if not checks:
        return image
    with control_dependencies(checks):
        return build.Identity(image)


def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers, either of which may be a tensor."""
    return math.maximum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else max(a, b)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers, either of which may be a tensor."""
    return math.minimum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else min(a, b)


def row_axis(image: Tensor) -> int:
    """The axis of rows. What is not known to be several images is one."""
    return 1 if rank_of(image, at_least=3, what="image") == 4 else 0
