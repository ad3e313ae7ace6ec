"""tf.contrib.nn: dropout that keeps the deviation, and cross entropies with logits first, as before TensorFlow 1.0."""
from __future__ import annotations

import numbers
from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.shaping import shape
from ..common.unsupported import refusing
from ..math.casts import cast
from ..nn import cross_entropy
from ..random import random_uniform

__all__ = ["alpha_dropout", "deprecated_flipped_sigmoid_cross_entropy_with_logits",
           "deprecated_flipped_softmax_cross_entropy_with_logits",
           "deprecated_flipped_sparse_softmax_cross_entropy_with_logits"]


def deprecated_flipped_softmax_cross_entropy_with_logits(logits: Any, labels: Any, dim: int = -1,
                                                         name: str | None = None) -> Tensor:
    """tf.nn.softmax_cross_entropy_with_logits; labels are given no gradient."""
    return cross_entropy.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any,
                                                                name: str | None = None) -> Tensor:
    """tf.nn.sparse_softmax_cross_entropy_with_logits."""
    return cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: str | None = None) -> Tensor:
    """tf.nn.sigmoid_cross_entropy_with_logits; `targets` are the labels."""
    return cross_entropy.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def alpha_dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None,
                  name: str | None = None) -> Tensor:
    """With probability 1 - keep_prob what selu is at its least, then scaled and moved: as of selu, mean 0 and deviation
    1 stay. x: float[...] -> float[...].

    noise_shape: where it has 1, one choice serves the whole axis. Raises ArgumentError (ValueError) unless
    0 < keep_prob <= 1. Source: Klambauer, Unterthiner, Mayr, Hochreiter (2017), equation 8.
    """
    with scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1:
            raise ArgumentError("keep_prob must be a scalar tensor or a float in the range (0, 1], got "
                                f"{float(keep_prob):g}")
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if static_value(keep_prob) == 1:
            return x
        least = -1.7580993408473766
        drawn = random_uniform(shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype)
        kept = cast(build.GreaterEqual(drawn, 1 - keep_prob), x.dtype)
        x = x * kept + least * (1 - kept)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * least ** 2) ** -0.5
        shift = -scale * least * (1 - keep_prob)
        return scale * x + shift


__getattr__ = refusing("tf.contrib.nn", __name__)
