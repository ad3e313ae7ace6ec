"""Non-maximum suppression: of boxes that overlap the one with the best score is kept.

Source: Bodla et al. (2017), "Soft-NMS", figure 2; a box's score falls by exp(-overlap² / (2 sigma)).
"""

from functools import partial

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.dtypes import float16, float32, int32
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Int32, Kind, Spec
from ..common.batch_axis import slice_by_slice

_DTYPES = (float16, float32)
Number = Kind("Number", allowed=_DTYPES, default=float32)
_CHOSEN = "which boxes are kept does not depend on them differentiably"


def _kept(overlaps_of, scores, most, threshold, score_threshold=-np.inf, sigma=0.0):
    """int32[k], best first, of scores above score_threshold, and their float32[k] after what overlaps them was kept.

    overlaps_of: box -> its float32[n] with all. most: the most boxes that are kept. sigma: 0 drops what overlaps more
    than the threshold, else its score falls.
    """
    if most < 0:
        raise ArgumentError(expected="max_output_size must be non-negative", found=int(most))
    left, kept = np.array(scores, np.float32), []
    left[~(left > score_threshold)] = -np.inf
    while len(kept) < most and left.size:
        best = int(left.argmax())
        if not left[best] > score_threshold:
            break
        kept.append((best, left[best]))
        overlaps = overlaps_of(best)
        weight = np.where(overlaps <= threshold, np.exp(-0.5 / sigma * overlaps ** 2) if sigma else 1, 0)
        alive = weight > 0
        left[alive] *= weight[alive].astype(np.float32)
        left[~alive] = left[best] = -np.inf
    return np.array([i for i, _ in kept], np.int32), np.array([score for _, score in kept], np.float32)


def _among(boxes):
    """Of a box: the shared part of its area and that of each box, of what both cover; 0 for boxes without area."""
    y, x = (np.sort(boxes[:, corner].astype(np.float32), 1) for corner in ([0, 2], [1, 3]))
    area = (y[:, 1] - y[:, 0]) * (x[:, 1] - x[:, 0])

    def overlaps(i):
        shared = np.ones_like(area)
        for side in (y, x):
            shared = shared * np.maximum(np.minimum(side[:, 1], side[i, 1]) - np.maximum(side[:, 0], side[i, 0]), 0)
        both = area + area[i] - shared
        return np.divide(shared, both, out=np.zeros_like(both), where=(area > 0) & (area[i] > 0))

    return overlaps


def _checked(boxes, scores, max_output_size, *numbers, square=False):
    """Judge the shapes; the most boxes there can be, None if it is not known."""
    rank_of(boxes, exactly=2, what="boxes")
    rank_of(scores, exactly=1, what="scores")
    for number in (max_output_size, *numbers):
        rank_of(number, exactly=0, what="the number")
    n, sides = boxes.dims or (None, None)
    count = scores.dims[0] if scores.dims is not None else None
    if None not in (n, count) and n != count:
        raise ShapeError(f"Dimensions must be equal, but are {n} and {count}: boxes and scores")
    if not square and sides not in (4, None):
        raise ShapeError(f"Dimension must be 4 but is {sides}: the corners (y1, x1, y2, x2) of boxes")
    most = static_value(max_output_size)
    return None if most is None else int(most)


def _indices(*inputs, square=False):
    _checked(*inputs, square=square)
    return Spec(int32, (None,))


def _padded_indices(*inputs, pad_to_max_output_size):
    most = _checked(*inputs)
    return Spec(int32, (most if pad_to_max_output_size else None,)), Spec(int32, ())


def _padded_scores(*inputs, pad_to_max_output_size):
    indices, count = _padded_indices(*inputs, pad_to_max_output_size=pad_to_max_output_size)
    return indices, Spec(inputs[0].dtype.base_dtype, indices.dims), count


def _filled(values, most, pad):
    return np.pad(values, (0, most - len(values))) if pad else values


@op("NonMaxSuppressionV2", infer=_indices, dtypes=_DTYPES, no_grad=_CHOSEN, batched=slice_by_slice)
def non_max_suppression_v2(boxes, scores, max_output_size: Int32, iou_threshold: Number):
    """Indices of the boxes that are kept, best first. boxes: float[n, 4], scores: float[n] -> int32[k], k <= size."""
    return _kept(_among(boxes), scores, max_output_size, iou_threshold)[0]


@op("NonMaxSuppressionV3", infer=_indices, dtypes=_DTYPES, no_grad=_CHOSEN, batched=slice_by_slice)
def non_max_suppression_v3(boxes, scores, max_output_size: Int32, iou_threshold: Number, score_threshold: Number):
    """NonMaxSuppressionV2 of the boxes with a score above score_threshold."""
    return _kept(_among(boxes), scores, max_output_size, iou_threshold, score_threshold)[0]


@op("NonMaxSuppressionV4", infer=_padded_indices, dtypes=_DTYPES, no_grad=_CHOSEN, batched=slice_by_slice)
def non_max_suppression_v4(boxes, scores, max_output_size: Int32, iou_threshold: Number, score_threshold: Number, *,
                           pad_to_max_output_size=False):
    """NonMaxSuppressionV3, with zeros up to the size if that is wanted, and how many are valid: int32[]."""
    kept, _ = _kept(_among(boxes), scores, max_output_size, iou_threshold, score_threshold)
    return _filled(kept, max_output_size, pad_to_max_output_size), np.array(len(kept), np.int32)


@op("NonMaxSuppressionV5", infer=_padded_scores, dtypes=_DTYPES, no_grad=_CHOSEN, batched=slice_by_slice)
def non_max_suppression_v5(boxes, scores, max_output_size: Int32, iou_threshold: Number, score_threshold: Number,
                           soft_nms_sigma: Number, *, pad_to_max_output_size=False):
    """NonMaxSuppressionV4 with the scores that the kept boxes have left, as the second output."""
    kept, left = _kept(_among(boxes), scores, max_output_size, iou_threshold, score_threshold, float(soft_nms_sigma))
    most, pad = max_output_size, pad_to_max_output_size
    return _filled(kept, most, pad), _filled(left.astype(scores.dtype), most, pad), np.array(len(kept), np.int32)


@op("NonMaxSuppressionWithOverlaps", infer=partial(_indices, square=True), dtypes=(float32,), no_grad=_CHOSEN,
    batched=slice_by_slice)
def non_max_suppression_with_overlaps(overlaps, scores, max_output_size: Int32, overlap_threshold: Number,
                                      score_threshold: Number):
    """NonMaxSuppressionV3 of things whose overlaps are known. overlaps: float32[n, n], scores: float32[n]."""
    return _kept(lambda i: overlaps[i], scores, max_output_size, overlap_threshold, score_threshold)[0]
