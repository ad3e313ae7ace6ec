"""tf.contrib.nn: cross entropies with their arguments in the order before TensorFlow 1.0, logits first."""
from __future__ import annotations

from typing import Any

from ...core.graph import Tensor
from ..common.unsupported import refusing
from ..nn import cross_entropy

__all__ = ["deprecated_flipped_sigmoid_cross_entropy_with_logits",
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


__getattr__ = refusing("tf.contrib.nn", __name__)
