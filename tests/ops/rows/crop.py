"""Rows of boxes cut out of images. They give float32, so `test_image_boxes` checks their gradients."""

import numpy as np
from autodiff.errors import InvalidArgumentError, OutOfRangeError

from ..case import Case, array

IMAGES = array(2, 5, 6, 3, dtype=np.float32)
BOXES = np.array([[0.1, 0.2, 0.8, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.3, 0.1, 1.2, 0.7]], np.float32)
OF, SIZE = np.array([0, 1, 1], np.int32), np.array([4, 2], np.int32)
GRADS = array(3, 4, 2, 3, dtype=np.float32)

ROWS: list[Case] = [
    *(Case("CropAndResize", (IMAGES, BOXES, OF, SIZE), attrs, id="-".join(map(str, attrs.values())), differentiable=(),
           static=(3,), batch=()) for attrs in ({}, {"method": "nearest"}, {"extrapolation_value": 2.0})),
    Case("CropAndResize", (IMAGES, BOXES, OF, np.array([1, 1], np.int32)), id="one", differentiable=(), static=(3,),
         batch=()),
    Case("CropAndResize", (IMAGES, BOXES, OF + 1, SIZE), fails=OutOfRangeError, at_run=True, id="outside"),
    Case("CropAndResize", (IMAGES, BOXES, OF, SIZE * 0), fails=InvalidArgumentError, at_run=True, id="zero"),
    Case("CropAndResize", (IMAGES[0], BOXES, OF, SIZE), fails=ValueError, id="rank"),
    Case("CropAndResize", (IMAGES, BOXES[:2], OF, SIZE), fails=ValueError, id="number"),
    Case("CropAndResize", (IMAGES, BOXES, OF, SIZE), {"method": "cubic"}, fails=ValueError, id="method"),
    Case("CropAndResizeGradImage", (GRADS, BOXES, OF, np.array([2, 5, 6, 3], np.int32)), {"T": "float32"},
         differentiable=(), static=(3,), batch=()),
    Case("CropAndResizeGradBoxes", (GRADS, IMAGES, BOXES, OF), batch=()),
]
