"""Rows of the op table: constants, placeholders, fills, and the ops that pass values on."""

import numpy as np
from autodiff.errors import InvalidArgumentError, ShapeError

import autodiff as tf

from ..case import Case, array

ROWS = [
    Case("Const", attrs=dict(value=array(2, 3), dtype=tf.float64)),
    Case("Placeholder", attrs=dict(dtype=tf.float32, shape=[2]), fails=InvalidArgumentError, at_run=True),
    Case("PlaceholderWithDefault", (array(2, 3),)),
    Case("PlaceholderWithDefault", (array(2, 3),), dict(shape=[None, 3]), id="partial"),
    Case("PlaceholderWithDefault", (array(2, 3),), dict(shape=[2, 4]), id="differs", fails=ShapeError),
    Case("Identity", (array(2, 3),)),
    Case("Identity", (np.array([1, 2, 3]),), id="int"),
    Case("IdentityN", (array(2, 3), array(4))),
    Case("DebugGradientIdentity", (array(2, 3),)),
    Case("StopGradient", (array(2, 3),)),
    Case("PreventGradient", (array(2, 3),), dict(message="no")),
    Case("NoOp"),
    Case("Fill", ([2, 3], array())),
    Case("Fill", ([2, 3], array(2)), id="value", fails=ShapeError),
    Case("ZerosLike", (array(2, 3),)),
    Case("OnesLike", (array(2, 3),)),
    Case("Shape", (array(2, 3),)),
    Case("Shape", (array(2, 3),), dict(out_type=tf.int64), id="int64"),
]
