"""Rows of images: other sizes, other colors. The maps give float32, so `test_image` checks most of their gradients."""

import numpy as np

from ..case import Case, array

X = array(2, 3, 4, 5)
SIZE = np.array([5, 7], np.int32)
SMALL = np.array([2, 3], np.int32)
COLORS = array(4, 5, 3, low=0.0, dtype=np.float32)

MOVED = np.array([[1, 0, 0.25, 0, 1, -1.25, 0, 0]], np.float32)
BENT = np.array([[1.1, 0.2, -1, 0.1, 0.9, 0.3, 0.01, -0.02], [0.9, 0, 0.4, 0, 1, 0, 0, 0]], np.float32)

ROWS: list[Case] = [
    Case("ImageProjectiveTransformV2", (X, MOVED, np.array([3, 4], np.int32)), {"interpolation": "NEAREST"},
         static=(2,), batch=(0,)),
    Case("ImageProjectiveTransformV2", (X, BENT, SIZE), {"interpolation": "BILINEAR"}, static=(2,), batch=(0,),
         differentiable=(), id="bent"),
    Case("ImageProjectiveTransformV2", (X, BENT[0], SIZE), {"interpolation": "NEAREST"}, fails=ValueError, id="rank"),
    Case("ImageProjectiveTransformV2", (X, BENT, SIZE), {"interpolation": "CUBIC"}, fails=ValueError, id="how"),
    *(Case(f"Resize{kind}", (X, size), attrs, differentiable=(), static=(1,), id=f"{'-'.join(attrs)}-{size[0]}")
      for kind in ("Bilinear", "Bicubic") for size in (SIZE, SMALL)
      for attrs in ({}, {"align_corners": True}, {"half_pixel_centers": True})),
    *(Case(f"Resize{kind}Grad", (array(2, 5, 7, 5, dtype=np.float32), X), differentiable=())
      for kind in ("Bilinear", "Bicubic")),
    Case("ResizeArea", (X, SMALL), differentiable=(), static=(1,)),
    *(Case("ResizeNearestNeighbor", (X, size), attrs, static=(1,), id=f"{'-'.join(attrs)}-{size[0]}")
      for size in (SIZE, SMALL) for attrs in ({}, {"align_corners": True}, {"half_pixel_centers": True})),
    Case("ResizeNearestNeighborGrad", (array(2, 5, 7, 5), np.array([3, 4], np.int32)), static=(1,)),
    Case("ResizeBilinear", (array(3, 4, 5), SIZE), fails=ValueError, id="rank"),
    Case("ResizeBilinear", (X, np.array([2, 3, 4], np.int32)), fails=ValueError, id="size"),
    Case("ResizeNearestNeighbor", (X, np.array([0, 3], np.int32)), fails=ValueError, id="zero"),
    Case("RGBToHSV", (COLORS.astype(np.float64),)),
    Case("HSVToRGB", (COLORS.astype(np.float64),)),
    Case("RGBToHSV", (X,), fails=ValueError, id="channels"),
    Case("AdjustHue", (COLORS, np.float32(0.3))),
    Case("AdjustSaturation", (COLORS, np.float32(0.3))),
    Case("AdjustContrastv2", (COLORS, np.float32(2.0))),
    Case("AdjustContrastv2", (array(4, 5, dtype=np.float32), np.float32(2.0)), fails=ValueError, id="rank"),
]
