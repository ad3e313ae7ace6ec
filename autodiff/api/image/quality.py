"""How alike two images are, and the slopes in one: TensorFlow's tf.image functions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor, get_default_graph
from ...core.infer import rank_of
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import broadcast, compatible, show
from .. import math
from ..debugging import Assert
from ..math.casts import in_dtype
from ..nn.convolutions import depthwise_conv2d
from ..nn.pooling import avg_pool
from .sides import waiting_for

__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation"]

_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)  # Wang, Simoncelli, Bovik (2003), Multiscale structural similarity


def _floats(*values: Any) -> list[Tensor]:
    """Images as float32, from 0 to 1 if they are integers; the bound of their values likewise."""
    images = [convert_to_tensor(value) for value in values]
    dtype = images[0].dtype.base_dtype
    whole: Any = dtype.max
    single = [in_dtype(x) for x in images]
    return single if dtype.is_floating else [x * (1.0 / float(whole)) for x in single]


def _bounded(img1: Any, img2: Any, max_val: Any) -> list[Tensor]:
    img1 = convert_to_tensor(img1, name="img1")
    bound = build.Cast(convert_to_tensor(max_val), dtype=img1.dtype.base_dtype)
    return _floats(img1, convert_to_tensor(img2, name="img2"), bound)


def _verify_compatible_image_shapes(img1: Tensor, img2: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """Both shapes, and what checks in a run that they are of images of one size. Raises ShapeError if they are not."""
    for image in (img1, img2):
        if image.dims is not None and len(image.dims) < 3:
            raise ShapeError(expected="images of rank >= 3", found=image.describe())
    if img1.dims is not None and img2.dims is not None:
        broadcast(img1.dims[:-3], img2.dims[:-3])
        if not compatible(img1.dims[-3:], img2.dims[-3:]):
            raise ShapeError(f"Two images are not compatible: {show(img1.dims)} and {show(img2.dims)}")
    shapes = build.Shape(img1), build.Shape(img2)
    alike = build.All(build.Equal(shapes[0][-3:], shapes[1][-3:]), [0])
    return *shapes, [Assert(build.Size(shapes[0]) >= 3, shapes, 10), Assert(alike, shapes, 10)]


def _checked(img1: Tensor, img2: Tensor) -> Tensor:
    """img1, once both are known to be images of one size."""
    *_, checks = _verify_compatible_image_shapes(img1, img2)
    return waiting_for(checks if None in [*(img1.dims or [None])[-3:], *(img2.dims or [None])[-3:]] else [], img1)


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal to noise ratio in decibels: 10 log10 of max_val^2 over the mean square of a - b.

    a, b: real[..., h, w, c] -> float32[...]; inf for equal images. max_val: the range of values.
    """
    with scope(name, "PSNR", [a, b]) as full:
        a = convert_to_tensor(a)
        bound = build.Cast(convert_to_tensor(max_val), dtype=a.dtype.base_dtype)
        a, b, bound = _floats(a, b, bound)
        error = build.Mean(build.SquaredDifference(_checked(a, b), b), [-3, -2, -1])
        ten = np.log(np.float32(10.0))
        return build.Sub(20 * build.Log(bound) / ten, np.float32(10 / ten) * build.Log(error), name=full)


def _window(size: int, sigma: float) -> np.ndarray:
    """Weights of a Gaussian window with sum 1: float64[size, size]."""
    places = np.arange(size) - (size - 1) / 2
    weights = np.exp(-0.5 * (places / sigma) ** 2)
    both = np.outer(weights, weights)
    return both / both.sum()


def _merged(x: Tensor) -> Tensor:
    return build.Reshape(x, build.ConcatV2(0, [-1], build.Shape(x)[-3:]))


def _similarity(img1: Tensor, img2: Tensor, bound: Tensor, window: tuple[int, float],
                constants: tuple[float, float]) -> tuple[Tensor, Tensor]:
    """The means over space of luminance times contrast-structure, and of the latter alone: float[..., c]."""
    size = window[0]
    checks = [build.Assert(build.All(build.GreaterEqual(build.Shape(x)[-3:-1], size), [0]), build.Shape(x), size,
                           summarize=8) for x in (img1, img2)]
    with get_default_graph().control_dependencies(checks):
        img1 = build.Identity(img1)
    if img1.dims is None or img1.dims[-1] is None:
        raise ArgumentError(expected="images with a known count of channels", found=img1.describe())
    weights: Any = np.tile(_window(*window)[:, :, None, None], (1, 1, img1.dims[-1], 1)).astype(np.float32)

    def reduced(x: Tensor) -> Tensor:
        y = depthwise_conv2d(_merged(x), weights, strides=[1, 1, 1, 1], padding="VALID")
        return build.Reshape(y, build.ConcatV2(0, build.Shape(x)[:-3], build.Shape(y)[1:]))

    c1, c2 = (build.Square(bound * constant) for constant in constants)
    mean1, mean2 = reduced(img1), reduced(img2)
    product = mean1 * mean2 * 2.0
    squares = build.Square(mean1) + build.Square(mean2)
    luminance = (product + c1) / (squares + c1)
    spread = reduced(img1 * img2) * 2.0
    spreads = reduced(build.Square(img1) + build.Square(img2))
    structure = (spread - product + c2) / (spreads - squares + c2)
    return build.Mean(luminance * structure, [-3, -2]), build.Mean(structure, [-3, -2])


def ssim(img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01,
         k2: float = 0.03) -> Tensor:
    """The structural similarity of images, 1 for equal ones, the mean over channels and over all Gaussian windows.

    img1, img2: real[..., h, w, c], h and w >= filter_size -> float32[...]. max_val: the range of values.
    Source: Wang, Bovik, Sheikh, Simoncelli (2004), Image quality assessment.
    """
    one, two, bound = _bounded(img1, img2, max_val)
    found, _ = _similarity(_checked(one, two), two, bound, (filter_size, filter_sigma), (k1, k2))
    return build.Mean(found, [-1])


def ssim_multiscale(img1: Any, img2: Any, max_val: Any, power_factors: Sequence[float] = _SCALES,
                    filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> Tensor:
    """The structural similarity over several scales, each half of the one before, weighted by power_factors.

    img1, img2: real[..., h, w, c] -> float32[...]. Source: Wang, Simoncelli, Bovik (2003).
    """
    with scope(None, "MS-SSIM", [img1, img2]):
        one, two, bound = _bounded(img1, img2, max_val)
        _checked(one, two)
        structures = []
        for scale in range(len(power_factors)):
            if scale:
                one, two = _halved(one), _halved(two)
            found, structure = _similarity(one, two, bound, (filter_size, filter_sigma), (k1, k2))
            structures.append(build.Relu(structure))
        structures[-1] = build.Relu(found)
        powers = np.asarray(power_factors, np.float32)
        return build.Mean(build.Prod(build.Pow(build.Pack(*structures, axis=-1), powers), [-1]), [-1])


def _halved(x: Tensor) -> Tensor:
    """The means of 2 x 2 pixels; an odd last row or column is repeated."""
    flat = _merged(x)
    odd = build.FloorMod(build.Shape(flat)[1:3], 2)
    after = build.Pack(build.ZerosLike(odd), odd, axis=1)
    none = np.zeros((1, 2), np.int32)
    y = avg_pool(build.MirrorPad(flat, build.ConcatV2(0, none, after, none), mode="SYMMETRIC"), [1, 2, 2, 1],
                 [1, 2, 2, 1], "VALID")
    if flat.dims is not None and y.dims is not None:
        y.set_shape([*y.dims[:3], flat.dims[3]])
    return build.Reshape(y, build.ConcatV2(0, build.Shape(x)[:-3], build.Shape(y)[1:]))


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """(dy, dx): each pixel's next in its column, or row, less itself; 0 at the end. image: real[n, h, w, c]."""
    if image.dims is None or len(image.dims) != 4:
        raise ShapeError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], found {image.describe()}")
    down = image[:, 1:] - image[:, :-1]
    across = image[:, :, 1:] - image[:, :, :-1]
    return (build.Reshape(build.ConcatV2(1, down, build.ZerosLike(image[:, :1])), build.Shape(image)),
            build.Reshape(build.ConcatV2(2, across, build.ZerosLike(image[:, :, :1])), build.Shape(image)))


def sobel_edges(image: Any) -> Tensor:
    """Slopes by Sobel's filters, down and across, of images mirrored at their edges.

    image: float[n, h, w, c] -> float[n, h, w, c, 2].
    """
    image = convert_to_tensor(image)
    if image.dims is None or image.dims[-1] is None:
        raise ArgumentError(expected="images with a known count of channels", found=image.describe())
    kernel = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    both = np.stack([kernel, kernel.T], axis=-1)[:, :, None, :]
    weights: Any = np.tile(both, (1, 1, image.dims[-1], 1)).astype(as_dtype(image.dtype.base_dtype).as_numpy_dtype)
    mirrored = build.MirrorPad(image, np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32), mode="REFLECT")
    y = depthwise_conv2d(mirrored, weights, [1, 1, 1, 1], "VALID")
    y = build.Reshape(y, build.ConcatV2(0, build.Shape(image), [2]))
    y.set_shape([*image.dims, 2])
    return y


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of absolute differences of neighboring pixels. images: real[n, h, w, c] -> [n]; real[h, w, c] -> [].

    Source: Rudin, Osher and Fatemi (1992), in its anisotropic form.
    """
    with scope(name, "total_variation", [images]):
        images = convert_to_tensor(images, name="images")
        rank = rank_of(images, what="images")
        if rank not in (3, 4):
            raise ShapeError(expected="images of 3 or 4 axes", found=f"shape {images.shape}")
        down = images[..., 1:, :, :] - images[..., :-1, :, :]
        across = images[..., 1:, :] - images[..., :-1, :]
        axes = [1, 2, 3] if rank == 4 else None
        return math.reduce_sum(math.abs(down), axis=axes) + math.reduce_sum(math.abs(across), axis=axes)
