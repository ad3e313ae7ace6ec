"""Softmax over the last axis, and the cross entropies that are fused with it."""

import numpy as np

from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.dtypes import FLOATS
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.infer import rank_of, ranked, same_shape
from ...core.op import Index, Spec, blocked, build
from ...core.shapes import broadcast, compatible, show
from ..common.batch_axis import all_batched, in_front, sizes
from ..common.threads import by_rows
from ..common.windows import placed
from ..math.elementwise import is_zero

_LOGITS = ranked(same_shape, at_least=1, what="logits")
_FEW_CLASSES, _MANY_ROWS = 16, 128
_PIECE = 1 << 16  # elements of rows that are worth a thread


def _shifted(x, out=None, axis=-1):
    """x minus its maximum over an axis, so that exp does not overflow."""
    return np.subtract(x, np.maximum.reduce(x, axis, None, None, True, -np.inf), out=out)


@op("Softmax", infer=_LOGITS, dtypes=FLOATS, batched=in_front)
def softmax(logits, *, out=None):
    """exp(x) / sum(exp(x)) over the last axis. logits: float[..., k] -> float[..., k]."""
    whole = out if out is not None and out.flags.c_contiguous else np.empty(logits.shape, logits.dtype)
    size = logits.shape[-1]
    given, found = logits.reshape(-1, size), whole.reshape(-1, size)

    def work(part):
        y = _shifted(given[part], found[part])
        np.exp(y, out=y)
        y /= np.add.reduce(y, -1, None, None, True)

    by_rows(work, len(given), size, _PIECE)
    return placed(whole, out)


@softmax.gradient
def _(node, dy):
    y = node.outputs[0]
    return ((dy - build.Sum(dy * y, [-1], keep_dims=True)) * y,)


@op("LogSoftmax", infer=_LOGITS, dtypes=FLOATS, batched=in_front)
def log_softmax(logits, *, out=None):
    """x - log(sum(exp(x))) over the last axis. logits: float[..., k] -> float[..., k]."""
    y = _shifted(logits, out)
    y -= np.log(np.exp(y).sum(axis=-1, keepdims=True))
    return y


log_softmax.gradient(lambda node, dy: (dy - build.Sum(dy, [-1], keep_dims=True) * build.Exp(node.outputs[0]),))


def _cross_entropy(features, labels):
    dims = broadcast(features.dims, labels.dims)
    if dims is not None and len(dims) != 2:
        raise ShapeError(f"Shape must be rank 2, but is rank {len(dims)}: logits and labels are "
                         f"{show(features.dims)} and {show(labels.dims)}")
    dims = (None, None) if dims is None else dims
    dtype = features.dtype.base_dtype
    return Spec(dtype, dims[:1]), Spec(dtype, dims)


@op("SoftmaxCrossEntropyWithLogits", infer=_cross_entropy, dtypes=FLOATS)
def softmax_cross_entropy(features, labels):
    """Cross entropy of softmax(features) and labels, in nats, and its derivative for features.

    features: float[n, k], labels: float[n, k], rows that sum to 1. -> loss float[n], backprop float[n, k].
    """
    y = _shifted(features)
    e = np.exp(y)
    total = e.sum(axis=-1, keepdims=True)
    y -= np.log(total)
    loss = labels * y  # NaN for a label of 0 where the logit is -inf, as in TensorFlow
    np.negative(loss, out=loss)
    e /= total
    return loss.sum(axis=-1), e - labels


def _for_features(node, dloss, dbackprop):
    """The gradient for the logits: of the loss, and of its derivative if that is used."""
    dx = build.ExpandDims(dloss, -1) * node.outputs[1]
    if not is_zero(dbackprop):
        p = build.Softmax(node.inputs[0])
        dx = dx + (dbackprop - build.Sum(dbackprop * p, [-1], keep_dims=True)) * p
    return dx


def _like(dx, x):
    return dx if dx.dims is not None and dx.dims == x.dims else build.SumTo(dx, sizes(x))


@softmax_cross_entropy.gradient
def _(node, dloss, dbackprop):
    features, labels = node.inputs
    dlabels = build.ExpandDims(dloss, -1) * -build.LogSoftmax(features)
    if not is_zero(dbackprop):
        dlabels = dlabels - dbackprop
    return _like(_for_features(node, dloss, dbackprop), features), _like(dlabels, labels)


@softmax_cross_entropy.batched
def _(node, args, batched):
    features, labels = all_batched(args, batched)
    rows = [build.Reshape(x, build.Pack(-1, build.Shape(x)[2], axis=0)) for x in (features, labels)]
    return _unflattened(features, *build.SoftmaxCrossEntropyWithLogits(*rows))


def _unflattened(features, loss, backprop):
    shape = build.Shape(features)
    return build.Reshape(loss, shape[:2]), build.Reshape(backprop, shape)


def _sparse_cross_entropy(features, labels):
    rank_of(features, exactly=2, what="logits")
    rank_of(labels, exactly=1, what="labels")
    n, k = features.dims or (None, None)
    if not compatible((n,), labels.dims):
        raise ShapeError(f"count of logits and of labels differ: {n} and {labels.dims[0]}")
    n = merge_sizes(n, labels.dims[0] if labels.dims else None)
    dtype = features.dtype.base_dtype
    return Spec(dtype, (n,)), Spec(dtype, (n, k))


@op("SparseSoftmaxCrossEntropyWithLogits", infer=_sparse_cross_entropy, dtypes=FLOATS)
def sparse_softmax_cross_entropy(features, labels: Index):
    """Cross entropy of softmax(features) and the class labels, in nats, and its derivative for features.

    features: float[n, k], labels: int[n], 0 <= label < k. -> loss float[n], backprop float[n, k].
    Raises InvalidArgumentError for a label out of range.
    """
    classes = features.shape[1]
    if labels.size and not 0 <= np.minimum.reduce(labels) <= np.maximum.reduce(labels) < classes:
        wrong = labels[(labels < 0) | (labels >= classes)][0]
        raise InvalidArgumentError(None, None, f"Received a label value of {wrong} which is outside the valid range of "
                                   f"[0, {classes}): expected 0 <= label < {classes}\nlabel values: {labels[:20]}")
    loss, slope = np.empty(len(labels), features.dtype), np.empty(features.shape, features.dtype)
    across = classes <= _FEW_CLASSES and len(labels) >= _MANY_ROWS  # then rows are added up side by side

    def work(part):
        loss[part] = _losses(features[part], labels[part], slope[part], across)

    by_rows(work, len(labels), classes, _PIECE)
    return loss, slope


def _losses(features, labels, slope, across):
    """The cross entropies; the derivatives are left in `slope`. across: rows are added up side by side."""
    x = features.T if across else features
    y = _shifted(np.ascontiguousarray(x), np.empty(x.shape, x.dtype) if across else slope, 0 if across else -1)
    flat, rows = y.reshape(-1), np.arange(len(labels))
    own = rows + np.multiply(labels, len(rows), dtype=np.intp) if across else rows * x.shape[1] + labels
    chosen = flat.take(own)
    np.exp(y, out=y)
    total = np.add.reduce(y, 0 if across else -1)
    y /= total if across else total[:, None]
    flat[own] = flat.take(own) - 1
    if across:
        slope[...] = y.T
    return np.log(total) - chosen


@sparse_softmax_cross_entropy.gradient
def _(node, dloss, dbackprop):
    return _for_features(node, dloss, dbackprop), blocked("labels are integers")


@sparse_softmax_cross_entropy.batched
def _(node, args, batched):
    features, labels = all_batched(args, batched)
    rows = build.Reshape(features, build.Pack(-1, build.Shape(features)[2], axis=0))
    return _unflattened(features, *build.SparseSoftmaxCrossEntropyWithLogits(rows, build.Reshape(labels, [-1])))
