"""Rows of boxes that overlap, are drawn and are sampled, of images scaled by kernels, and of PNG."""

import numpy as np
from autodiff.errors import InvalidArgumentError

from ..case import Case, array

BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1]], np.float32)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5], np.float32)
MOST, HALF, LEAST = np.int32(2), np.float32(0.5), np.float32(0.1)
IMAGES = array(2, 5, 6, 3, dtype=np.float32)
SIZE, SCALE, MOVE = np.array([3, 4], np.int32), np.array([0.6, 0.7], np.float32), np.array([0.1, -0.2], np.float32)

ROWS: list[Case] = [
    Case("NonMaxSuppressionV2", (BOXES, SCORES, MOST, HALF), static=(2,), batch=(0, 1)),
    Case("NonMaxSuppressionV3", (BOXES, SCORES, MOST, HALF, LEAST), static=(2,), batch=(0, 1)),
    Case("NonMaxSuppressionV4", (BOXES, SCORES, MOST, HALF, LEAST), {"pad_to_max_output_size": True}, static=(2,),
         batch=()),
    Case("NonMaxSuppressionV5", (BOXES, SCORES, MOST, HALF, LEAST, HALF), static=(2,), batch=(0, 1)),
    Case("NonMaxSuppressionWithOverlaps", (array(5, 5, dtype=np.float32), SCORES, MOST, HALF, LEAST), static=(2,),
         batch=()),
    Case("NonMaxSuppressionV3", (BOXES[:, :3], SCORES, MOST, HALF, LEAST), fails=ValueError, id="corners"),
    Case("NonMaxSuppressionV3", (BOXES, SCORES[:4], MOST, HALF, LEAST), fails=ValueError, id="number"),
    Case("NonMaxSuppressionV3", (BOXES, SCORES, -MOST, HALF, LEAST), fails=InvalidArgumentError, at_run=True,
         id="negative"),
    Case("NonMaxSuppressionWithOverlaps", (BOXES[0], SCORES, MOST, HALF, LEAST), fails=ValueError, id="rank"),
    Case("DrawBoundingBoxesV2", (IMAGES, BOXES[None].repeat(2, 0), array(2, 3, dtype=np.float32)), batch=(0, 1)),
    Case("DrawBoundingBoxesV2", (IMAGES, BOXES, array(2, 3, dtype=np.float32)), fails=ValueError, id="rank"),
    Case("SampleDistortedBoundingBoxV2", (np.array([5, 6, 3], np.int32), BOXES[None, :1], LEAST), {"seed": 1},
         batch=()),
    Case("SampleDistortedBoundingBoxV2", (np.array([5, 6, 3], np.int32), BOXES, LEAST), fails=ValueError, id="rank"),
    *(Case("ScaleAndTranslate", (IMAGES, SIZE, SCALE, MOVE), {"kernel_type": kernel}, id=kernel, differentiable=(),
           static=(1,), batch=(0,)) for kernel in ("lanczos3", "gaussian", "box", "keyscubic")),
    Case("ScaleAndTranslate", (IMAGES, SIZE, SCALE, MOVE), {"kernel_type": "sinc"}, fails=ValueError, id="kernel"),
    Case("ScaleAndTranslateGrad", (array(2, 3, 4, 3, dtype=np.float32), IMAGES, SCALE, MOVE), differentiable=(),
         batch=(0,)),
    Case("ScaleAndTranslateGrad", (array(2, 3, 4, 3, dtype=np.float32), IMAGES, SCALE[0], MOVE), fails=ValueError,
         id="rank"),
    Case("ApproximateEqual", (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.000001, 3.1]))),
    Case("ApproximateEqual", (array(2), array(1, 2)), fails=ValueError, id="rank"),
    Case("EncodePng", (array(2, 3, 4, dtype=np.uint8),)),
    Case("EncodePng", (array(2, 3, 5, dtype=np.uint8),), fails=ValueError, id="channels"),
    Case("DecodePng", (b"GIF89a",), fails=InvalidArgumentError, at_run=True),
]
