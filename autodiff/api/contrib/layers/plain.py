"""Layers without weights of their own: dropout, pooling, shapes, repetition; and looking up embeddings."""
from __future__ import annotations

from typing import Any

from ....core.convert import convert_to_tensor
from ....core.dtypes import int32, int64
from ....core.errors import ArgumentError, ShapeError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ...arrays.creation import linspace, one_hot
from ...arrays.rearrange import meshgrid
from ...arrays.shaping import concat, reshape, shape, transpose
from ...layers import core, pooling
from ...math.reductions import reduce_max, reduce_sum
from ...nn.embedding import embedding_lookup
from ...variables.initializers import Constant, Ones
from ...variables.variable_scope import variable_scope
from ..arg_scope import add_arg_scope
from ..framework import model_variable
from .utils import channels_first, collect, collect_named_outputs, renaming_getter

__all__ = ["avg_pool2d", "avg_pool3d", "dropout", "embed_sequence", "flatten", "max_pool2d", "max_pool3d", "maxout",
           "one_hot_encoding", "repeat", "softmax", "spatial_softmax", "stack"]


@add_arg_scope
def dropout(inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
            outputs_collections: Any = None, scope: Any = None, seed: int | None = None) -> Tensor:
    """In training, elements are kept with probability keep_prob and divided by it, the others become 0."""
    with variable_scope(scope, "Dropout", [inputs], custom_getter=renaming_getter()) as sc:
        layer = core.Dropout(1 - keep_prob, noise_shape, seed, sc.name, _scope=sc)
        outputs = layer(convert_to_tensor(inputs), training=is_training)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """All axes after the first in one. inputs: [n, ...] -> [n, k]."""
    with get_default_graph().name_scope(scope or "Flatten") as full:
        return collect_named_outputs(outputs_collections, full, core.flatten(convert_to_tensor(inputs)))


def _pooling(layer_class: Any, name: str, formats: tuple[str, str]) -> Any:
    def function(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = formats[0],
                 outputs_collections: Any = None, scope: Any = None) -> Tensor:
        """One number for each window of the inputs."""
        layout = channels_first(data_format, formats)
        with get_default_graph().name_scope(scope or name) as full:
            layer = layer_class(kernel_size, stride, padding, layout, _scope=full)
            return collect_named_outputs(outputs_collections, full, layer(convert_to_tensor(inputs)))

    function.__name__ = function.__qualname__ = name.lower().replace("pool", "_pool")
    return add_arg_scope(function)


max_pool2d = _pooling(pooling.MaxPooling2D, "MaxPool2D", ("NHWC", "NCHW"))
avg_pool2d = _pooling(pooling.AveragePooling2D, "AvgPool2D", ("NHWC", "NCHW"))
max_pool3d = _pooling(pooling.MaxPooling3D, "MaxPool3D", ("NDHWC", "NCDHW"))
avg_pool3d = _pooling(pooling.AveragePooling3D, "AvgPool3D", ("NDHWC", "NCDHW"))


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Tensor:
    """The largest of each num_units groups of channels. Source: Goodfellow et al. (2013), section 2."""
    with variable_scope(scope, "MaxOut", [inputs]):
        x = convert_to_tensor(inputs)
        sizes: list[Any] = [build.Shape(x)[i] if n is None else n for i, n in enumerate(x.dims or ())]
        channels = x.dims[axis] if x.dims else None
        if channels is None or channels % num_units:
            raise ArgumentError(f"number of features({channels}) is not a multiple of num_units({num_units})")
        sizes[axis] = num_units
        return reduce_max(build.Reshape(x, [*sizes, channels // num_units]), -1)


@add_arg_scope
def one_hot_encoding(labels: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0,
                     outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Rows that are on_value at the label and off_value else. labels: int[n] -> float[n, num_classes]."""
    with get_default_graph().name_scope(scope or "OneHotEncoding") as full:
        labels = convert_to_tensor(labels)
        labels = build.Cast(labels, dtype=int64) if labels.dtype is int32 else labels
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, full, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Tensor:
    """softmax over the last axis, of any rank from 2 on."""
    with variable_scope(scope, "softmax", [logits]):
        logits = convert_to_tensor(logits)
        if logits.dims is None or len(logits.dims) < 2 or logits.dims[-1] is None:
            raise ShapeError(expected="logits of rank >= 2 with a known last size", found=logits.describe())
        rows = build.Softmax(build.Reshape(logits, [-1, logits.dims[-1]]))
        result = build.Reshape(rows, build.Shape(logits))
        result.set_shape(logits.dims)
        return result


@add_arg_scope
def repeat(inputs: Any, repetitions: int, layer: Any, *args: Any, scope: Any = None, **options: Any) -> Tensor:
    """A layer applied again and again, in the scopes `<layer>_1`, `<layer>_2`, …; other arguments are the layer's."""
    with variable_scope(scope, "Repeat", [inputs]):
        outputs = convert_to_tensor(inputs)
        for i in range(repetitions):
            outputs = layer(outputs, *args, scope=f"{scope or _name_of(layer, 'repeat')}_{i + 1}", **options)
        return outputs


@add_arg_scope
def stack(inputs: Any, layer: Any, stack_args: Any, *, scope: Any = None, **options: Any) -> Tensor:
    """A layer applied once for each item of stack_args, which is its argument or a list of its arguments."""
    if not isinstance(stack_args, (list, tuple)):
        raise ArgumentError(expected="a list as stack_args", found=repr(stack_args))
    with variable_scope(scope, "Stack", [inputs]):
        outputs = convert_to_tensor(inputs)
        for i, args in enumerate(stack_args):
            args = args if isinstance(args, (list, tuple)) else [args]
            outputs = layer(outputs, *args, scope=f"{scope or _name_of(layer, 'stack')}_{i + 1}", **options)
        return outputs


def _name_of(layer: Any, default: str) -> str:
    inner = getattr(layer, "func", None)  # of a functools.partial
    return str(getattr(layer, "__name__", None) or getattr(inner, "__name__", default))


def embed_sequence(ids: Any, vocab_size: int | None = None, embed_dim: int | None = None, unique: bool = False,
                   initializer: Any = None, regularizer: Any = None, trainable: bool = True, scope: Any = None,
                   reuse: Any = None) -> Tensor:
    """Rows of a new table by number. ids: int[n, t] -> float[n, t, embed_dim].

    unique is accepted without effect on the result. Raises ArgumentError (ValueError) without sizes, unless reused.
    """
    if not (reuse or vocab_size and embed_dim):
        raise ArgumentError(expected="vocab_size and embed_dim", found=f"{vocab_size} and {embed_dim}")
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if reuse and vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
        table = model_variable("embeddings", shape, initializer=initializer, regularizer=regularizer,
                               trainable=trainable)
        return embedding_lookup(table, ids)


@add_arg_scope
def spatial_softmax(features: Any, temperature: Any = None, name: str | None = None, variables_collections: Any = None,
                    trainable: bool = True, data_format: str = "NHWC") -> Tensor:
    """Where each channel is greatest: the mean place of a softmax over its points, between -1 and 1 along both axes.

    features: float[n, h, w, k] -> float[n, 2 k], place along h and w of one channel after the other. temperature: what
    features are divided by; a variable that begins with it, or with 1. Source: Finn et al. (2016), section IV.
    """
    with variable_scope(name, "spatial_softmax"):
        sizes, known = shape(features), features.shape
        if data_format not in ("NHWC", "NCHW"):
            raise ArgumentError("data_format has to be either NCHW or NHWC.", found=repr(data_format))
        first = data_format == "NCHW"
        height, width = (sizes[axis + first] for axis in (1, 2))
        channels = known[1 if first else 3].value
        if channels is None:
            raise ArgumentError("The num_channels dimension of the inputs to `spatial_softmax` should be defined. "
                                "Found `None`.")
        with get_default_graph().name_scope("spatial_softmax_op"):
            down, across = (reshape(place, [height * width]) for place in meshgrid(
                linspace(-1.0, 1.0, height), linspace(-1.0, 1.0, width), indexing="ij"))
            start = Ones() if temperature is None else Constant(temperature)
            divisor = model_variable("temperature", (), initializer=start, trainable=trainable)
            if trainable:
                collect(divisor, variables_collections, "temperature")
            rows = reshape(features if first else transpose(features, [0, 3, 1, 2]), [-1, height * width])
            weights = build.Softmax(rows / divisor)
            places = [reduce_sum(place * weights, [1], keepdims=True) for place in (down, across)]
            points = reshape(concat(places, 1), [-1, channels * 2])
            points.set_shape([None, channels * 2])
            return points
