"""Rows of windows of images laid out as channels."""

import numpy as np

from ..case import Case, array

APART = {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
WIDE = {"ksizes": [1, 2, 2, 1], "strides": [1, 1, 2, 1], "rates": [1, 2, 1, 1], "padding": "SAME"}
SIZES = np.array([2, 5, 6, 3], np.int32)

ROWS: list[Case] = [
    Case("ExtractImagePatches", (array(2, 5, 6, 3),), APART),
    Case("ExtractImagePatches", (array(2, 5, 6, 3),), WIDE, id="same"),
    Case("ExtractImagePatches", (array(5, 6, 3),), APART, id="rank", fails=ValueError),
    Case("ExtractImagePatchesGrad", (SIZES, array(2, 2, 4, 18)), APART, static=(0,)),
    Case("ExtractImagePatchesGrad", (SIZES, array(2, 5, 3, 12)), WIDE, static=(0,), id="same"),
]
