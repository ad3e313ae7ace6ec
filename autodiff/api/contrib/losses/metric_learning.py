"""tf.contrib.losses.metric_learning: losses of embeddings, by how far apart they are and which have the same label.

labels: int[n], of which class each is. embeddings: float32[n, k].
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.dtypes import float32
from ....core.errors import KindError, ShapeError
from ....core.graph import Tensor
from ....core.sparse_tensor import SparseTensor
from ...arrays.creation import ones, ones_like, zeros
from ...arrays.rearrange import diag, pad, tile
from ...arrays.shaping import expand_dims, reshape, shape, size, transpose
from ...common.unsupported import refusing
from ...control.dependencies import name_scope
from ...debugging import Print
from ...linalg.products import matmul
from ...math import casts, elementwise
from ...math.reductions import reduce_max, reduce_mean, reduce_min, reduce_sum
from ...math.selection import where
from ...nn.cross_entropy import softmax_cross_entropy_with_logits
from ...sparse.arithmetic import sparse_minimum, sparse_reduce_sum

__all__ = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "npairs_loss_multilabel", "triplet_semihard_loss"]


def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: Any = 1.0) -> Tensor:
    """The mean over pairs of the squared distance of those with label 1, of (margin - distance) of those with 0.

    Source: Hadsell, Chopra, LeCun (2006), equation 4. At distance 0 the gradient is nan, as in TensorFlow.
    """
    squares = elementwise.squared_difference(embeddings_anchor, embeddings_positive)
    distances = elementwise.sqrt(reduce_sum(squares, 1))
    return reduce_mean(
        casts.cast(labels, distances.dtype) * elementwise.square(distances)
        + (1.0 - casts.cast(labels, distances.dtype))
        * elementwise.square(elementwise.maximum(margin - distances, 0.0)), name="contrastive_loss")


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: Any = 1.0) -> Tensor:
    """The mean over pairs of one label of margin + their squared distance - that of a semi-hard negative, if above 0.

    A negative is semi-hard that is farther than the pair is; the nearest of these, or else the farthest of all.
    Source: Schroff, Kalenichenko, Philbin (2015), section 3.2.
    """
    labels = _column(labels)
    distances = _distances(embeddings, squared=True)
    same = elementwise.equal(labels, transpose(labels))
    other = elementwise.logical_not(same)
    n = size(labels)
    tiled = tile(distances, [n, 1])
    mask = elementwise.logical_and(
        tile(other, [n, 1]), elementwise.greater(tiled, reshape(transpose(distances), [-1, 1])))
    has_farther = transpose(reshape(
        elementwise.greater(reduce_sum(casts.cast(mask, float32), 1, keepdims=True), 0.0), [n, n]))
    others, farther = casts.cast(other, float32), casts.cast(mask, float32)
    nearest = transpose(reshape(_least(tiled, farther), [n, n]))
    farthest = tile(_greatest(distances, others), [1, n])
    loss = elementwise.add(margin, distances - where(has_farther, nearest, farthest))
    positives = casts.cast(same, float32) - diag(ones([n]))
    count = reduce_sum(positives)
    return elementwise.truediv(reduce_sum(elementwise.maximum(elementwise.multiply(loss, positives), 0.0)), count,
                               name="triplet_semihard_loss")


def lifted_struct_loss(labels: Any, embeddings: Any, margin: Any = 1.0) -> Tensor:
    """Half the mean over pairs of one label of the square of their distance + a smooth maximum of margin - distance
    to all others, if above 0.

    Source: Oh Song, Xiang, Jegelka, Savarese (2016), equation 4.
    """
    labels = _column(labels)
    distances = _distances(embeddings)
    same = elementwise.equal(labels, transpose(labels))
    other = elementwise.logical_not(same)
    n = size(labels)
    difference = margin - distances
    mask = casts.cast(other, float32)
    greatest = _greatest(difference, mask)
    largest = elementwise.maximum(greatest, transpose(greatest))  # taken out of the exp, so that it does not overflow
    tiled, mask_tiled = tile(difference, [n, 1]), tile(mask, [n, 1])
    column = reshape(transpose(largest), [-1, 1])
    summed = reshape(reduce_sum(elementwise.multiply(elementwise.exp(tiled - column), mask_tiled), 1, keepdims=True),
                     [n, n])
    loss = largest + elementwise.log(summed + transpose(summed))
    loss += distances
    positives = casts.cast(same, float32) - diag(ones([n]))
    count = reduce_sum(positives) / 2.0
    squares = elementwise.square(elementwise.maximum(elementwise.multiply(loss, positives), 0.0))
    return elementwise.truediv(0.25 * reduce_sum(squares), count, name="liftedstruct_loss")


def npairs_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: Any = 0.002,
                print_losses: bool = False) -> Tensor:
    """The cross entropy of which positive has an anchor's label, by their products; and L2 of both times reg_lambda.

    print_losses: print both parts in each run. Source: Sohn (2016), equation 7.
    """
    norms, logits = _products(embeddings_anchor, embeddings_positive, reg_lambda)
    labels = _column(labels)
    same = casts.cast(elementwise.equal(labels, transpose(labels)), float32)
    return _npairs(norms, logits, same, print_losses)


def npairs_loss_multilabel(sparse_labels: Sequence[Any], embeddings_anchor: Any, embeddings_positive: Any,
                           reg_lambda: Any = 0.002, print_losses: bool = False) -> Tensor:
    """npairs_loss of pairs that have several labels each: as alike as the labels that they share are many.

    sparse_labels: a SparseTensor bool[classes] of each pair. Raises KindError (TypeError) for others.
    """
    if not all(isinstance(each, SparseTensor) for each in sparse_labels):
        raise KindError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with name_scope("NpairsLossMultiLabel"):
        norms, logits = _products(embeddings_anchor, embeddings_positive, reg_lambda)
        n = len(sparse_labels)
        shared = zeros([n, n])
        for i, one in enumerate(sparse_labels):
            for j, other in enumerate(sparse_labels):
                count = casts.cast(sparse_reduce_sum(sparse_minimum(one, other)), float32)
                shared += pad(expand_dims(expand_dims(count, 0), 1), [[i, n - i - 1], [j, n - j - 1]])
        return _npairs(norms, logits, shared, print_losses)


def _products(anchor: Any, positive: Any, reg_lambda: Any) -> tuple[Tensor, Tensor]:
    """The norms of the embeddings times reg_lambda, and the product of each anchor with each positive."""
    of_anchor, of_positive = (reduce_mean(reduce_sum(elementwise.square(x), 1)) for x in (anchor, positive))
    norms = elementwise.multiply(0.25 * reg_lambda, of_anchor + of_positive, name="l2loss")
    return norms, matmul(anchor, positive, transpose_b=True)


def _npairs(norms: Tensor, logits: Tensor, likeness: Tensor, print_losses: bool) -> Tensor:
    likeness = likeness / reduce_sum(likeness, 1, keepdims=True)
    entropy = reduce_mean(softmax_cross_entropy_with_logits(logits=logits, labels=likeness), name="xentropy")
    if print_losses:
        entropy = Print(entropy, ["cross entropy:", entropy, "l2loss:", norms])
    return norms + entropy


def _column(labels: Any) -> Tensor:
    sizes = shape(labels)
    if sizes.dims != (1,):
        raise ShapeError("labels must have one axis, of the examples", expected="int[n]", found=repr(labels))
    return reshape(labels, [sizes[0], 1])


def _distances(features: Any, squared: bool = False) -> Tensor:
    """From each row to each other; exactly 0 to itself. float[n, k] -> float[n, n]."""
    squares = elementwise.add(
        reduce_sum(elementwise.square(features), [1], keepdims=True),
        reduce_sum(elementwise.square(transpose(features)), [0], keepdims=True)
    ) - 2.0 * matmul(features, transpose(features))
    found = elementwise.maximum(squares, 0.0)
    alike = elementwise.less_equal(found, 0.0)
    if not squared:  # the slope of a root at 0 is infinite
        found = elementwise.sqrt(found + casts.cast(alike, float32) * 1e-16)
    found = elementwise.multiply(found, casts.cast(elementwise.logical_not(alike), float32))
    n = shape(features)[0]
    return elementwise.multiply(found, ones_like(found) - diag(ones([n])))


def _greatest(data: Any, mask: Any) -> Tensor:
    """The greatest of each row among those whose mask is 1. -> float[n, 1]."""
    least = reduce_min(data, 1, keepdims=True)
    return reduce_max(elementwise.multiply(data - least, mask), 1, keepdims=True) + least


def _least(data: Any, mask: Any) -> Tensor:
    greatest = reduce_max(data, 1, keepdims=True)
    return reduce_min(elementwise.multiply(data - greatest, mask), 1, keepdims=True) + greatest


__getattr__ = refusing("tf.contrib.losses.metric_learning", __name__)
