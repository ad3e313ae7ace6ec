"""Boxes in images, given by parts of their height and width: TensorFlow's tf.image functions."""
from __future__ import annotations

from typing import Any

from .graph import Tensor
from .op import build
from .spelling import one_of

__all__ = ["crop_and_resize"]


def crop_and_resize(image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
                    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None) -> Tensor:
    """Each box of its image, brought to one size. image: real[b, h, w, c], crop_size: int32[2].

    boxes: float32[n, 4], (y1, x1, y2, x2) with 0 and 1 at the first and the last pixel; outside of the image stands
    extrapolation_value. box_ind (or box_indices): int32[n], the image of each. method: 'bilinear' or 'nearest'.
    -> float32[n, *crop_size, c], with gradients for the image and the boxes.
    """
    return build.CropAndResize(image, boxes, one_of("box_indices", box_indices, "box_ind", box_ind), crop_size,
                               method=method, extrapolation_value=float(extrapolation_value), name=name)
