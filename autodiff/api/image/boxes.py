"""Parts of images: boxes given by parts of the height and width, and windows. TensorFlow's tf.image functions."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..common.arguments import one_of
from ..random import get_seed

__all__ = ["crop_and_resize", "draw_bounding_boxes", "extract_image_patches", "extract_patches", "non_max_suppression",
           "non_max_suppression_overlaps", "non_max_suppression_padded", "non_max_suppression_with_overlaps",
           "non_max_suppression_with_scores", "sample_distorted_bounding_box"]


def crop_and_resize(image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
                    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None) -> Tensor:
    """Each box of its image, brought to one size. image: real[b, h, w, c], crop_size: int32[2].

    boxes: float32[n, 4], (y1, x1, y2, x2) with 0 and 1 at the first and the last pixel; outside of the image stands
    extrapolation_value. box_ind (or box_indices): int32[n], the image of each. method: 'bilinear' or 'nearest'.
    -> float32[n, *crop_size, c], with gradients for the image and the boxes.
    """
    return build.CropAndResize(image, boxes, one_of("box_indices", box_indices, "box_ind", box_ind), crop_size,
                               method=method, extrapolation_value=float(extrapolation_value), name=name)


def extract_image_patches(images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,
                          name: str | None = None, sizes: Any = None) -> Tensor:
    """The pixels of each window, row by row, as the channels of one place; 0 outside of the image.

    images: real[n, h, w, c] -> real[n, h', w', kh * kw * c]. ksizes (or sizes), strides, rates (the distance of pixels
    in a window): 4 numbers each, the first and last 1. padding: 'SAME' or 'VALID'.
    """
    return build.ExtractImagePatches(images, ksizes=one_of("sizes", sizes, "ksizes", ksizes), strides=strides,
                                     rates=rates, padding=padding, name=name)


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Tensor:
    """extract_image_patches by its newer name."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                        score_threshold: Any = -math.inf, name: str | None = None) -> Tensor:
    """Indices of the boxes that are kept, best first: none overlaps a better one by more than iou_threshold.

    boxes: float[n, 4], two opposite corners each; scores: float[n] -> int32[at most max_output_size]. iou: the shared
    part of what two boxes cover.
    """
    with scope(name, "non_max_suppression"):
        return build.NonMaxSuppressionV3(boxes, scores, max_output_size, iou_threshold, score_threshold)


def non_max_suppression_with_scores(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                                    score_threshold: Any = -math.inf, soft_nms_sigma: Any = 0.0,
                                    name: str | None = None) -> tuple[Tensor, Tensor]:
    """non_max_suppression, and the scores. With soft_nms_sigma above 0 the scores of what overlaps fall instead."""
    with scope(name, "non_max_suppression_with_scores"):
        return tuple(build.NonMaxSuppressionV5(boxes, scores, max_output_size, iou_threshold, score_threshold,
                                               soft_nms_sigma)[:2])


def non_max_suppression_padded(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                               score_threshold: Any = -math.inf, pad_to_max_output_size: bool = False,
                               name: str | None = None) -> tuple[Tensor, Tensor]:
    """non_max_suppression, with zeros up to max_output_size if that is wanted, and how many indices are valid."""
    with scope(name, "non_max_suppression_padded"):
        return tuple(build.NonMaxSuppressionV4(boxes, scores, max_output_size, iou_threshold, score_threshold,
                                               pad_to_max_output_size=pad_to_max_output_size))


def non_max_suppression_with_overlaps(overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5,
                                      score_threshold: Any = -math.inf, name: str | None = None) -> Tensor:
    """non_max_suppression of things whose overlaps are known. overlaps: float32[n, n]."""
    with scope(name, "non_max_suppression_overlaps"):
        return build.NonMaxSuppressionWithOverlaps(overlaps, scores, max_output_size, overlap_threshold,
                                                   score_threshold)


non_max_suppression_overlaps = non_max_suppression_with_overlaps


def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, seed: int | None = None,
                                  seed2: int | None = None, min_object_covered: Any = 0.1,
                                  aspect_ratio_range: Any = None, area_range: Any = None,
                                  max_attempts: int | None = None,
                                  use_image_if_no_bounding_boxes: bool | None = None,
                                  name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """A part of an image, drawn so that it covers enough of one of the boxes; the whole image if none is found.

    image_size: int[3], bounding_boxes: float32[b, n, 4] -> begin and size for tf.slice, int[3] each, and the part as
    a box, float32[1, 1, 4]. area_range: of the part's area to the image's, aspect_ratio_range: of width to height.
    """
    given = {"aspect_ratio_range": aspect_ratio_range, "area_range": area_range, "max_attempts": max_attempts,
             "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes}
    first, second = (seed or 0, seed2 or 0) if seed or seed2 else get_seed(None)
    with scope(name, "sample_distorted_bounding_box"):
        return tuple(build.SampleDistortedBoundingBoxV2(
            image_size, bounding_boxes, min_object_covered, seed=first or 0, seed2=second or 0,
            **{key: value for key, value in given.items() if value is not None}))


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Tensor:
    """Each image with the frames of its boxes, a pixel wide. images: float[b, h, w, 1, 3 or 4].

    boxes: float32[b, n, 4], (y1, x1, y2, x2) with 0 and 1 at the borders. colors: float32[k, channels], in turn.
    """
    return build.DrawBoundingBoxesV2(images, boxes, np.zeros((0, 4), np.float32) if colors is None else colors,
                                     name=name or "DrawBoundingBoxes")
