"""tf.keras.losses: the loss of each example from what is true and what was predicted, by name and as classes."""
from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int64
from ...core.errors import ArgumentError
from ...core.graph import Tensor, get_default_graph
from ...core.names import closest
from ...core.op import build
from .. import math, nn
from ..arrays.shaping import reshape
from ..common.made import Configured, named
from ..common.unsupported import refusing
from ..layers.core import Flatten
from .utils import deserialized, get_custom_objects, serialized

EPSILON = 1e-7


class Reduction:
    """How the losses of examples become one number."""

    AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE = "auto", "none", "sum", "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE


def _pair(y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor]:
    predicted = convert_to_tensor(y_pred)
    return math.cast(convert_to_tensor(y_true), predicted.dtype), predicted


def _logits(predicted: Tensor, kind: str) -> Tensor | None:
    """What a softmax or sigmoid was taken of, where a prediction is that: its loss is exact where it saturates."""
    if get_default_graph().executing_eagerly:
        return None
    while predicted.op.type == "Identity":
        predicted = predicted.op.inputs[0]
    return predicted.op.inputs[0] if predicted.op.type == kind else None


def _loss(name: str, words: str, of: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Any, Any], Tensor]:
    """A loss of each example: of(true, predicted), both of the type of what was predicted."""
    def loss(y_true: Any, y_pred: Any) -> Tensor:
        return of(*_pair(y_true, y_pred))

    return named(loss, name, words)


def _mean(errors: Any) -> Tensor:
    return math.reduce_mean(errors, axis=-1)


def _logarithm(x: Tensor) -> Tensor:
    return build.Log1p(math.maximum(x, EPSILON))


mean_squared_error = _loss("mean_squared_error", "The mean of (y_pred - y_true)² over the last axis.",
                           lambda true, predicted: _mean(build.SquaredDifference(predicted, true)))
mean_absolute_error = _loss("mean_absolute_error", "The mean of |y_pred - y_true| over the last axis.",
                            lambda true, predicted: _mean(build.Abs(predicted - true)))
mean_absolute_percentage_error = _loss(
    "mean_absolute_percentage_error", "The mean of 100 · |y_pred - y_true| / |y_true| over the last axis.",
    lambda true, predicted: 100.0 * _mean(build.Abs((true - predicted) / math.maximum(build.Abs(true), EPSILON))))
mean_squared_logarithmic_error = _loss(
    "mean_squared_logarithmic_error",
    "The mean of (log(1 + y_pred) - log(1 + y_true))² over the last axis; below zero is zero.",
    lambda true, predicted: _mean(build.SquaredDifference(_logarithm(predicted), _logarithm(true))))


def logcosh(y_true: Any, y_pred: Any) -> Tensor:
    """The mean of log(cosh(y_pred - y_true)) over the last axis."""
    true, predicted = _pair(y_true, y_pred)
    error = predicted - true
    return _mean(error + nn.softplus(-2.0 * error) - np.log(2.0))


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0) -> Tensor:
    """Cross entropy of two distributions over the last axis, in nats. from_logits: y_pred is before its softmax."""
    true, predicted = _pair(y_true, y_pred)
    if label_smoothing:
        true = true * (1.0 - label_smoothing) + label_smoothing / true.dims[-1]  # type: ignore[index]
    logits = predicted if from_logits else _logits(predicted, "Softmax")
    if logits is not None:
        return nn.softmax_cross_entropy_with_logits_v2(labels=true, logits=logits)
    predicted = predicted / math.reduce_sum(predicted, axis=-1, keepdims=True)
    return -math.reduce_sum(true * build.Log(math.clip_by_value(predicted, EPSILON, 1.0 - EPSILON)), axis=-1)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """Cross entropy of labels, int[...] or [..., 1], and distributions over the last axis, in nats."""
    predicted = convert_to_tensor(y_pred)
    logits = predicted if from_logits else _logits(predicted, "Softmax")
    if logits is None:
        logits = build.Log(math.clip_by_value(predicted, EPSILON, 1.0 - EPSILON))
    labels, dims = reshape(math.cast(convert_to_tensor(y_true), int64), [-1]), logits.dims
    if dims is not None and len(dims) == 2:
        return nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    rows = reshape(logits, build.Pack(-1, build.Shape(logits)[-1], axis=0))
    lost = reshape(nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=rows), build.Shape(logits)[:-1])
    lost.set_shape(None if dims is None else dims[:-1])
    return lost


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0) -> Tensor:
    """The mean over the last axis of the cross entropies of probabilities, in nats."""
    true, predicted = _pair(y_true, y_pred)
    if label_smoothing:
        true = true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    logits = predicted if from_logits else _logits(predicted, "Sigmoid")
    if logits is not None:
        return _mean(nn.sigmoid_cross_entropy_with_logits(labels=true, logits=logits))
    p = math.clip_by_value(predicted, EPSILON, 1.0 - EPSILON)
    return -_mean(true * build.Log(p + EPSILON) + (1.0 - true) * build.Log(1.0 - p + EPSILON))


def _hinge(true: Tensor, predicted: Tensor) -> Tensor:
    """max(1 - true · predicted, 0); labels 0 and 1 are taken for -1 and 1 where there are no others."""
    binary = math.reduce_all(math.logical_or(math.equal(true, 0.0), math.equal(true, 1.0)))
    signs = true + math.cast(binary, true.dtype) * (true - 1.0)
    return math.maximum(1.0 - signs * predicted, 0.0)


hinge = _loss("hinge", "The mean of max(1 - y_true · y_pred, 0); labels 0 and 1 are taken for -1 and 1 where there are "
              "no others.", lambda true, predicted: _mean(_hinge(true, predicted)))
squared_hinge = _loss("squared_hinge", "The mean of max(1 - y_true · y_pred, 0)², as hinge.",
                      lambda true, predicted: _mean(build.Square(_hinge(true, predicted))))


def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Tensor:
    """Σ y_true · log(y_true / y_pred) over the last axis, in nats."""
    true, predicted = (math.clip_by_value(each, EPSILON, 1.0) for each in _pair(y_true, y_pred))
    return math.reduce_sum(true * build.Log(true / predicted), axis=-1)


categorical_hinge = _loss(
    "categorical_hinge", "max(1 + the greatest wrong score - the right one, 0), over the last axis.",
    lambda true, predicted: math.maximum(math.reduce_max((1.0 - true) * predicted, axis=-1)
                                         - math.reduce_sum(true * predicted, axis=-1) + 1.0, 0.0))
poisson = _loss("poisson", "The mean of y_pred - y_true · log(y_pred) over the last axis.",
                lambda true, predicted: _mean(predicted - true * build.Log(predicted + EPSILON)))


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Tensor:
    """The cosine of the angle between the two along an axis; greater where they are more alike."""
    true, predicted = (nn.l2_normalize(each, axis=axis) for each in _pair(y_true, y_pred))
    return math.reduce_sum(true * predicted, axis=axis)


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Tensor:
    """½ e² where |e| <= delta, and delta · |e| - ½ delta² beyond; element by element."""
    true, predicted = _pair(y_true, y_pred)
    error = build.Abs(predicted - true)
    inside = math.minimum(error, delta)
    return 0.5 * build.Square(inside) + delta * (error - inside)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity


class Loss(Configured):
    """A loss as one number. Subclasses say `call(y_true, y_pred)`, a loss for each example."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        self.reduction, self.name = reduction, name

    def call(self, y_true: Any, y_pred: Any) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no call")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """The mean over the batch, by default. sample_weight: float[n], or one for all."""
        losses = self.call(y_true, y_pred)
        return reduced(losses, sample_weight, self.reduction)

    def get_config(self) -> dict[str, Any]:
        """Its settings by name."""
        return {"reduction": self.reduction, "name": self.name}


def reduced(losses: Tensor, sample_weight: Any = None, reduction: str = Reduction.AUTO) -> Tensor:
    """The losses of examples as one number. sample_weight: float[n] or float[], which they are multiplied with."""
    if sample_weight is not None:
        weights = math.cast(convert_to_tensor(sample_weight), losses.dtype)
        if weights.dims and losses.dims and len(losses.dims) > 1:
            losses = losses if len(weights.dims) == len(losses.dims) and weights.dims[-1] != 1 else \
                math.reduce_mean(Flatten()(losses), axis=-1)
        if weights.dims and len(weights.dims) == 2 and len(losses.dims or ()) < 2:
            weights = weights[:, 0]
        losses = losses * weights
    return losses if reduction == Reduction.NONE else math.reduce_sum(losses) if reduction == Reduction.SUM \
        else math.reduce_mean(losses)


def _class_of(function: Any, kind: str) -> Any:
    class Made(Loss):
        def __init__(self, *args: Any, reduction: str = Reduction.AUTO, name: str | None = None,
                     **options: Any) -> None:
            super().__init__(reduction, name or function.__name__)
            names = function.__code__.co_varnames[2:function.__code__.co_argcount]
            self.options = {**dict(zip(names, args)), **options}

        def call(self, y_true: Any, y_pred: Any) -> Tensor:
            made: Tensor = function(y_true, y_pred, **self.options)
            return made

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), **self.options}

    return named(Made, kind, function.__doc__)


_CLASSES = {
    "MeanSquaredError": mean_squared_error, "MeanAbsoluteError": mean_absolute_error, "LogCosh": logcosh,
    "MeanAbsolutePercentageError": mean_absolute_percentage_error,
    "MeanSquaredLogarithmicError": mean_squared_logarithmic_error,
    "Huber": huber_loss, "BinaryCrossentropy": binary_crossentropy,
    "CategoricalCrossentropy": categorical_crossentropy, "Hinge": hinge, "SquaredHinge": squared_hinge,
    "SparseCategoricalCrossentropy": sparse_categorical_crossentropy, "KLDivergence": kullback_leibler_divergence,
    "CategoricalHinge": categorical_hinge, "Poisson": poisson, "CosineSimilarity": cosine_proximity}
globals().update({kind: _class_of(function, kind) for kind, function in _CLASSES.items()})


def check_target(loss: Any, targets: Any, outputs: Any) -> None:
    """Raises ArgumentError (ValueError) for targets of a shape that these losses would take for something else."""
    target, output = (tuple(getattr(each, "dims", each.shape) or ()) for each in (targets, outputs))
    name = getattr(loss, "__name__", "") or getattr(loss, "name", "")
    if name == "categorical_crossentropy" and target[-1:] == (1,) != output[-1:]:
        raise ArgumentError(
            f"You are passing a target array of shape {target} while using as loss `{name}`. "
            f"`{name}` expects targets to be binary matrices (1s and 0s) of shape (samples, classes).",
            hint=f"for integer classes use loss='sparse_{name}', or convert them: tf.keras.utils.to_categorical(y)")
    if name in ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy") and any(
            theirs not in (None, mine) for mine, theirs in zip(target[1:], output[1:])):
        raise ArgumentError(
            f"A target array with shape {target} was passed for an output of shape {output} while using as loss "
            f"`{name}`. This loss expects targets to have the same shape as the output.",
            hint=f"the last layer gives {list(output[1:])} for each example, the targets have {list(target[1:])}: "
                 "change one" + ", as by return_sequences=False in the last LSTM or GRU" * (len(output) > len(target)))


def get(identifier: Any) -> Any:
    """The function of a name; a function itself; None for None. Raises ArgumentError (ValueError) for others."""
    found = globals().get(identifier) if isinstance(identifier, str) else identifier
    if found is not None and not callable(found) or found is None and identifier is not None:
        near = closest(str(identifier), [name for name, each in globals().items() if isinstance(each, FunctionType)
                                         and each.__code__.co_varnames[:1] == ("y_true",)])
        raise ArgumentError(f"Unknown loss function:{identifier}",
                            hint=f"did you mean {near[0]!r}?" if near else "name a loss, as 'mse', or give a function")
    return found() if isinstance(found, type) else found


def serialize(loss: Any) -> Any:
    """The name of a function, or the class of a loss and its settings."""
    return serialized(loss) if isinstance(loss, Loss) else loss.__name__


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The loss that `serialize` told of. custom_objects: one's own by name."""
    if not isinstance(name, str):
        return deserialized(name, {kind: globals()[kind] for kind in _CLASSES}, custom_objects)
    return {**get_custom_objects(), **(custom_objects or {})}.get(name) or get(name)


__getattr__ = refusing("tf.keras.losses", __name__)
