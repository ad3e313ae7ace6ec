"""Rows of the op table: branches, loops, and the lists that loops and TensorArrays are made of.

A list is no array, so its ops are checked between ListUnstack, which makes a list of the rows of x,
and ListStack, which makes one tensor of a list.
"""

import numpy as np
from autodiff.errors import DTypeError, InvalidArgumentError

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.core.op import build

from ..case import Case, array

X, Y = array(4, 3), array(4, 3, seed=1)


def stacked(items: Tensor) -> Tensor:
    """A list of float64[3] as float64[n, 3]."""
    return build.ListStack(items, items, dtype=tf.float64, shape=[3])


def stepped(x: Tensor, y: Tensor) -> Tensor:
    """x <- tanh(x) * y, three times over."""
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.tanh(x) * y), [0, x])[1]


def chosen(x: Tensor, y: Tensor) -> Tensor:
    """The branch taken is a product, the other a sum."""
    return tf.cond(tf.constant(True), lambda: x * tf.tanh(y), lambda: x + y)


ROWS = [
    Case("If", (X, Y), through=chosen),
    Case("Captured", (X, Y), through=chosen),
    Case("While", (X, Y), through=stepped),
    Case("Argument", (X, Y), through=stepped),
    Case("Recall", (X,), through=lambda x: build.Recall(x, tf.tanh(x), type="Tanh", attrs={}, override=None, count=1)),

    Case("ListReserve", (X,), through=lambda x: stacked(build.ListSet(build.ListReserve(2), 0, x[1]))),
    Case("ListLength", (X,), through=lambda x: build.ListLength(build.ListUnstack(x))),
    Case("ListLength", (X,), id="tensor", fails=DTypeError),
    Case("ListItem", (X,), through=lambda x: build.ListItem(build.ListUnstack(x), 2, dtype=tf.float64, shape=[3])),
    Case("ListItem", (X,), id="out of range", fails=InvalidArgumentError, at_run=True,
         through=lambda x: build.ListItem(build.ListUnstack(x), 4, dtype=tf.float64, shape=[3])),
    Case("ListItem", (X,), id="not written", fails=InvalidArgumentError, at_run=True,
         through=lambda x: build.ListItem(build.ListReserve(5), 4, dtype=tf.float64, shape=[3])),
    Case("ListItemOrZeros", (X, array(3)), differentiable=(0,),
         through=lambda x, like: build.ListItemOrZeros(build.ListUnstack(x), 1, like)),
    Case("ListItemOrZeros", (X, array(3)), id="zeros", differentiable=(),
         through=lambda x, like: build.ListItemOrZeros(build.ListReserve(2), 1, like)),
    Case("ListOf", (X, array(3)), differentiable=(1,),
         through=lambda x, item: stacked(build.ListOf(build.ListUnstack(x), 2, item))),
    Case("ListSet", (X, array(3)),
         through=lambda x, item: stacked(build.ListSet(build.ListClear(build.ListUnstack(x), 2), 2, item))),
    Case("ListSet", (X, array(3)), id="written already", fails=InvalidArgumentError, at_run=True,
         through=lambda x, item: stacked(build.ListSet(build.ListUnstack(x), 2, item))),
    Case("ListSet", (X, array(3)), id="no room", fails=InvalidArgumentError, at_run=True,
         through=lambda x, item: stacked(build.ListSet(build.ListUnstack(x), 4, item, grow=False))),
    Case("ListStack", (X,), id="not written", fails=InvalidArgumentError, at_run=True,
         through=lambda x: build.ListStack(build.ListClear(build.ListUnstack(x), 1), build.ListUnstack(x),
                                           dtype=tf.float64, shape=[3], written=True)),
    Case("ListSet", (X, array(3)), id="append",
         through=lambda x, item: stacked(build.ListSet(build.ListUnstack(x), 4, item))),
    Case("ListTrim", (X, array(2)), differentiable=(0,),
         through=lambda x, like: stacked(build.ListTrim(build.ListUnstack(x), build.ListUnstack(like)))),
    Case("ListExtend", (X, array(5)), differentiable=(0,),
         through=lambda x, like: stacked(build.ListExtend(build.ListUnstack(x), build.ListUnstack(like)))),
    Case("ListClear", (X,), through=lambda x: stacked(build.ListClear(build.ListUnstack(x), 1))),
    Case("ListAdd", (X, Y), through=lambda x, y: stacked(build.ListAdd(build.ListUnstack(x), build.ListUnstack(y)))),
    Case("ListZeros", (X,), differentiable=(), batch=(),
         through=lambda x: stacked(build.ListZeros(build.ListUnstack(x)))),
    Case("ListStack", (X,), through=lambda x: stacked(build.ListUnstack(x))),
    Case("ListConcat", (array(5, 3),), id="of pieces",
         through=lambda x: build.ListConcat(build.ListSplit(x, [2, 3]), build.ListSplit(x, [2, 3]), dtype=tf.float64,
                                            shape=[None, 3])),
    Case("ListSizes", (array(5, 3),), differentiable=(), batch=(),
         through=lambda x: build.ListSizes(build.ListSplit(x, [2, 3]))),
    Case("ListSplit", (array(5, 3),),
         through=lambda x: build.ListItem(build.ListSplit(x, [2, 3]), 1, dtype=tf.float64, shape=[3, 3])),
    Case("ListSplit", (array(5, 3),), id="another sum", fails=InvalidArgumentError, at_run=True,
         through=lambda x: build.ListConcat(build.ListSplit(x, [2, 2]), build.ListSplit(x, [2, 2]), dtype=tf.float64)),
    Case("ListUnstack", (X,), through=lambda x: stacked(build.ListUnstack(x))),
    Case("ListRestack", (X, Y), differentiable=(0,),
         through=lambda x, like: build.ListRestack(build.ListUnstack(x), like)),
    Case("ListGather", (X,), through=lambda x: build.ListGather(
        build.ListUnstack(x), np.array([3, 1, 1]), dtype=tf.float64, shape=[3])),
    Case("ListScatter", (X, array(2, 3)), through=lambda x, rows: stacked(
        build.ListScatter(build.ListUnstack(x), np.array([3, 3]), rows))),
    Case("ListGatherOrZeros", (X, array(2, 3)), differentiable=(0,), through=lambda x, like: build.ListGatherOrZeros(
        build.ListUnstack(x), np.array([3, 3]), like)),
    Case("ListFirstSlices", (array(4, 2, 3),), differentiable=(), batch=(),
         through=lambda x: stacked(build.ListFirstSlices(build.ListUnstack(x)))),
    Case("ListRepeat", (X,), through=lambda x: stacked(build.ListSumSlices(build.ListRepeat(build.ListUnstack(x), 2)))),
    Case("ListSumSlices", (array(4, 2, 3),), through=lambda x: stacked(build.ListSumSlices(build.ListUnstack(x)))),
    Case("ListBatchSize", (X,), batch=(), through=lambda x: build.ListBatchSize(build.ListUnstack(x))),
    Case("ListSwapAxes", (array(4, 2, 3),), through=lambda x: build.ListStack(
        build.ListSwapAxes(build.ListUnstack(x)), build.ListUnstack(x), dtype=tf.float64, shape=[3, 2])),
]
