"""Layers of Keras without variables of a matrix: shapes, activations, merged tensors; and Embedding."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core import nest
from ....core.dtypes import int32
from ....core.errors import ArgumentError, ShapeError, UnsupportedError
from ....core.op import build
from ....core.shapes import num_elements
from ....ops.common.op_counts import counted_as, counting
from ... import math, nn
from ...arrays.rearrange import pad, repeat, tile
from ...arrays.shaping import concat, expand_dims, reshape, transpose
from ...common.made import named
from ...layers import Layer
from ...linalg import matmul
from .. import backend
from .elementwise import layer_of, mean_of_steps
from .plain import Weights, function_of

__all__ = ["Activation", "Add", "Average", "Concatenate", "Cropping1D", "Cropping2D", "Cropping3D", "Dot", "Embedding",
           "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D", "GlobalAvgPool1D",
           "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPool3D",
           "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", "Lambda", "Maximum", "Minimum", "Multiply",
           "Permute", "RepeatVector", "Reshape", "Subtract", "UpSampling1D", "UpSampling2D", "UpSampling3D",
           "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D", "add", "average", "concatenate", "maximum", "minimum",
           "multiply", "dot", "subtract"]


class Lambda(Weights, Layer):
    """A function of its input. arguments: by name, handed to it too."""

    def __init__(self, function: Any, output_shape: Any = None, mask: Any = None, arguments: Any = None,
                 **options: Any) -> None:
        super().__init__(**options)
        self.function, self._by_name = function, dict(arguments or {})

    def call(self, inputs: Any) -> Any:
        return self.function(inputs, **self._by_name)


class Activation(Weights, Layer):
    """A function of its input, given or by name."""

    supports_masking = True

    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = function_of("activation", activation)

    def call(self, inputs: Any) -> Any:
        return inputs if self.activation is None else self.activation(inputs)


class Function(Weights, Layer):
    """A layer that is one function of its input."""

    def __init__(self, function: Callable[[Any], Any], **options: Any) -> None:
        super().__init__(**options)
        self._function = function

    def call(self, inputs: Any) -> Any:
        return self._function(inputs)


class Reshape(Function):
    """The same numbers in another shape, each example by itself; one size may be -1."""

    def __init__(self, target_shape: Any, **options: Any) -> None:
        wanted = [int(size) for size in target_shape]

        def shaped(x: Any) -> Any:
            sizes, whole = list(wanted), num_elements(x.dims[1:])
            if -1 in sizes and whole is not None:
                at, others = sizes.index(-1), num_elements(tuple(s for s in sizes if s != -1)) or 1
                if whole % others:
                    raise ArgumentError("total size of new array must be unchanged", expected=f"{whole} numbers",
                                        found=f"shape {wanted}")
                sizes[at] = whole // others
            batch = x.dims[0]
            with counted_as(7 + len(sizes) if batch is None else None):
                return reshape(x, [-1 if batch is None else batch, *sizes] if batch is not None or -1 not in sizes
                               else concat([build.Shape(x)[:1], sizes], 0))
        super().__init__(shaped, **options)


Permute = layer_of("Permute", "The axes of each example in another order. dims: from 1.",
                   lambda x, dims: transpose(x, [0, *dims]), keeps_shape=False)
RepeatVector = layer_of("RepeatVector", "Each vector n times. float[b, k] -> float[b, n, k].",
                        lambda x, n: tile(expand_dims(x, 1), [1, n, 1]), keeps_shape=False)
ZeroPadding1D = layer_of(
    "ZeroPadding1D", "Zeros before and behind each sequence. padding: one number for both, or two.",
    lambda x, padding=1: pad(x, [[0, 0], _pair(padding), [0, 0]]), keeps_shape=False)
Cropping1D = layer_of("Cropping1D", "Each sequence without its ends. cropping: one number for both, or two.",
                      lambda x, cropping=(1, 1): x[:, _between(cropping)], keeps_shape=False)
Cropping2D = layer_of(
    "Cropping2D", "Each image without its border. cropping: one number, or for each axis one or two.",
    lambda x, cropping=((0, 0), (0, 0)): x[(slice(None), *map(_between, _pair(cropping)))], keeps_shape=False)
UpSampling1D = layer_of("UpSampling1D", "Each step so many times. float[b, time, k] -> float[b, size · time, k].",
                        counting(5)(lambda x, size=2: repeat(x, size, axis=1)), keeps_shape=False)


UpSampling3D = layer_of(
    "UpSampling3D", "Each plane, row and column so many times. size: one number, or for each axis one.",
    lambda x, size=(2, 2, 2): repeat(repeat(repeat(x, _three(size)[0], axis=1), _three(size)[1], axis=2),
                                     _three(size)[2], axis=3), keeps_shape=False)
ZeroPadding3D = layer_of(
    "ZeroPadding3D", "Zeros around each volume. padding: one number, or for each axis one or two.",
    lambda x, padding=1: pad(x, [[0, 0], *map(_pair, _three(padding)), [0, 0]]), keeps_shape=False)
Cropping3D = layer_of(
    "Cropping3D", "Each volume without its border. cropping: one number, or for each axis one or two.",
    lambda x, cropping=1: x[(slice(None), *map(_between, _three(cropping)))], keeps_shape=False)


def _three(value: Any) -> Any:
    return [value] * 3 if isinstance(value, int) else [*value]


def _pair(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else tuple(value)


def _between(cropping: Any) -> slice:
    begin, end = _pair(cropping)
    return slice(begin, -end or None)


class ZeroPadding2D(Function):
    """Zeros around each image. padding: one number, one for each axis, or ((top, bottom), (left, right))."""

    def __init__(self, padding: Any = 1, data_format: str | None = None, **options: Any) -> None:
        around = [*map(_pair, _pair(padding))]
        first = data_format == "channels_first"
        super().__init__(lambda x: pad(x, [[0, 0], *[[0, 0]] * first, *around, *[[0, 0]] * (not first)]), **options)


class UpSampling2D(Function):
    """Each row and column so many times. float[b, h, w, k] -> float[b, rows · h, columns · w, k]."""

    def __init__(self, size: Any = (2, 2), data_format: str | None = None, interpolation: str = "nearest",
                 **options: Any) -> None:
        rows, columns = (size, size) if isinstance(size, int) else size
        if data_format == "channels_first" or interpolation != "nearest":
            raise UnsupportedError("UpSampling2D repeats rows and columns of channels_last images alone",
                                   hint="use tf.image.resize_images in a Lambda layer")
        super().__init__(counting(8)(lambda x: repeat(repeat(x, rows, axis=1), columns, axis=2)), **options)


def _global(name: str, reduce: Any, axes: Any, words: str) -> Any:
    is_mean = reduce is math.reduce_mean

    class Made(Function):
        def __init__(self, data_format: str | None = None, **options: Any) -> None:
            chosen = [axis + 1 for axis in axes] if data_format == "channels_first" else axes
            super().__init__(lambda x: reduce(x, axis=chosen), **options)
            self._masked = is_mean and chosen == [1]

        def call(self, inputs: Any, mask: Any = None) -> Any:
            is_masked = mask is not None and self._masked
            return mean_of_steps(inputs, mask[..., None], 1) if is_masked else super().call(inputs)

    return named(Made, name, words)


GlobalAveragePooling1D = GlobalAvgPool1D = _global("GlobalAveragePooling1D", math.reduce_mean, [1],
                                                   "The mean over time; of the steps alone that a mask leaves.")
GlobalAveragePooling2D = GlobalAvgPool2D = _global("GlobalAveragePooling2D", math.reduce_mean, [1, 2],
                                                   "The mean over each image.")
GlobalAveragePooling3D = GlobalAvgPool3D = _global("GlobalAveragePooling3D", math.reduce_mean, [1, 2, 3],
                                                   "The mean over each volume.")
GlobalMaxPooling1D = GlobalMaxPool1D = _global("GlobalMaxPooling1D", math.reduce_max, [1], "The greatest over time.")
GlobalMaxPooling2D = GlobalMaxPool2D = _global("GlobalMaxPooling2D", math.reduce_max, [1, 2],
                                               "The greatest over each image.")
GlobalMaxPooling3D = GlobalMaxPool3D = _global("GlobalMaxPooling3D", math.reduce_max, [1, 2, 3],
                                               "The greatest over each volume.")


class Embedding(Weights, Layer):
    """Rows of a table by number. int[b, n] -> float[b, n, output_dim]; embeddings: float[input_dim, output_dim]."""

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: Any = "random_uniform",
                 embeddings_regularizer: Any = None, activity_regularizer: Any = None,
                 embeddings_constraint: Any = None, mask_zero: bool = False, input_length: Any = None,
                 weights: Any = None, **options: Any) -> None:
        if options.get("input_shape") is None and options.get("batch_input_shape") is None:
            options["input_shape"] = (input_length,)
        options.setdefault("dtype", backend.floatx())
        super().__init__(**options)
        self._sizes, self._initial, self.mask_zero = [input_dim, output_dim], weights, mask_zero
        self._made = embeddings_initializer, embeddings_regularizer, embeddings_constraint

    def build(self, input_shape: Any) -> None:
        initializer, regularizer, constraint = self._made
        self.embeddings = self.add_weight("embeddings", self._sizes, initializer=initializer, regularizer=regularizer,
                                          constraint=constraint)
        if self._initial is not None:
            self.set_weights(self._initial)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return math.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Any) -> Any:
        return nn.embedding_lookup(self.embeddings, inputs if inputs.dtype.is_integer else math.cast(inputs, int32))


class _Merge(Weights, Layer):
    """Several inputs to one. Raises ShapeError (ValueError) for fewer than two."""

    supports_masking = True

    def call(self, inputs: Any) -> Any:
        tensors = nest.flatten(inputs)
        if len(tensors) < 2:
            raise ShapeError("A merge layer should be called on a list of at least 2 inputs.",
                             found=f"{len(tensors)} inputs")
        return self._merged(tensors)

    def _merged(self, tensors: list[Any]) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how it merges")


def _folded(fold: Callable[[Any, Any], Any], name: str, words: str, mean: bool = False) -> Any:
    class Made(_Merge):
        def _merged(self, tensors: list[Any]) -> Any:
            total = tensors[0]
            for tensor in tensors[1:]:
                total = fold(total, tensor)
            return total / len(tensors) if mean else total

    return named(Made, name, words)


Add = _folded(lambda a, b: a + b, "Add", "The sum of its inputs.")
Subtract = _folded(lambda a, b: a - b, "Subtract", "The first input less the second.")
Multiply = _folded(lambda a, b: a * b, "Multiply", "The product of its inputs.")
Average = _folded(lambda a, b: a + b, "Average", "The mean of its inputs.", mean=True)
Maximum = _folded(math.maximum, "Maximum", "The greatest of its inputs.")
Minimum = _folded(math.minimum, "Minimum", "The least of its inputs.")


class Concatenate(_Merge):
    """Its inputs one behind the other along an axis."""

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def _merged(self, tensors: list[Any]) -> Any:
        shapes = [tuple(each.dims) for each in tensors if each.dims is not None]
        kept = {tuple(size for i, size in enumerate(shape) if i != self.axis % len(shape)) for shape in shapes}
        if len({*map(len, shapes)}) > 1 or any(len({*sizes} - {None}) > 1 for sizes in zip(*kept)):
            raise ArgumentError("A `Concatenate` layer requires inputs with matching shapes except for the concat "
                                f"axis. Got inputs shapes: {shapes}")
        return concat(tensors, self.axis)


class Dot(_Merge):
    """The products of two inputs, summed along an axis of each; normalize: of unit vectors, a cosine.

    axes: of float[b, ...], one for both or two. [b, k], [b, k] -> [b, 1]; [b, m, k], [b, n, k] -> [b, m, n] for 2.
    """

    def __init__(self, axes: Any, normalize: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.axes, self.normalize = [axes] * 2 if isinstance(axes, int) else list(axes), normalize

    def _merged(self, tensors: list[Any]) -> Any:
        if self.normalize:
            tensors = [nn.l2_normalize(x, axis=axis) for x, axis in zip(tensors, self.axes)]
        x, y = tensors
        if len(x.dims) == len(y.dims) == 2:
            return math.reduce_sum(x * y, axis=1, keepdims=True)
        first, second = (axis % len(each.dims) for each, axis in zip(tensors, self.axes))
        if not len(x.dims) == len(y.dims) == 3:
            raise ShapeError("a Dot layer multiplies vectors or matrices", found=f"{x.shape} and {y.shape}")
        return matmul(x, y, transpose_a=first == 1, transpose_b=second == 2)


def _function(kind: Any) -> Any:
    def merged(inputs: Any, *args: Any, **options: Any) -> Any:
        return kind(*args, **options)(inputs)
    merged.__doc__ = kind.__doc__
    return merged


add, average, concatenate, dot, maximum, minimum, multiply, subtract = map(_function, (
    Add, Average, Concatenate, Dot, Maximum, Minimum, Multiply, Subtract))
