"""Rows of the op table: gather and scatter, partition and stitch, distinct values, order."""

import numpy as np
from autodiff.errors import ArgumentError, DTypeError, InvalidArgumentError, ShapeError

from ..case import Case, array

PAIRS = np.array([[1, 0], [0, 3], [1, 0]], np.int32)
DIFFERENT = np.array([[1, 0], [0, 3]], np.int32)
PARTS = np.array([1, 0, 1, 2, 1], np.int32)

LOOKED_UP = [
    Case("GatherV2", (array(4, 3), np.array([[2, 0], [2, 3]], np.int32), 0)),
    Case("GatherV2", (array(2, 4, 3), np.array([3, 0, 3], np.int32), 1), id="second axis"),
    Case("GatherV2", (array(2, 4), np.int32(3), -1), id="one, last axis"),
    Case("GatherV2", (array(2, 5, 4), np.array([[3, 0, 1], [2, 2, 0]], np.int32), 2), dict(batch_dims=1), id="by row"),
    Case("GatherV2", (array(4, 3), np.array([2]), 2), id="axis beyond", fails=ShapeError),
    Case("GatherV2", (array(), np.array([2]), 0), id="scalar", fails=ShapeError),
    Case("GatherV2", (array(4, 3), np.array([4]), 0), id="beyond", fails=InvalidArgumentError, at_run=True),
    Case("GatherV2", (array(4, 3), np.array([-1]), 0), id="negative", fails=InvalidArgumentError, at_run=True),
    Case("GatherGrad", ([2, 4, 3], np.array([3, 0, 3, 1, 2], np.int32), 1, array(2, 5, 3))),
    Case("GatherGrad", ([2, 5, 4], np.array([[3, 0, 1], [2, 2, 0]], np.int32), -1, array(2, 5, 3)),
         dict(batch_dims=1), id="by row"),
    Case("GatherGrad", ([4, 3], np.array([4], np.int32), 0, array(1, 3)), id="beyond", fails=InvalidArgumentError,
         at_run=True),
    Case("GatherNd", (array(2, 4, 3), PAIRS)),
    Case("GatherNd", (array(4, 3), np.array([[2], [0]], np.int32)), id="rows"),
    Case("GatherNd", (array(4), PAIRS), id="too deep", fails=ShapeError),
    Case("GatherNd", (array(2, 3), PAIRS), id="beyond", fails=InvalidArgumentError, at_run=True),
    Case("ScatterNd", (PAIRS, array(3, 5), [2, 4, 5])),
    Case("ScatterNd", (PAIRS, array(3, 6), [2, 4, 5]), id="differ", fails=ShapeError),
    Case("ScatterNd", (PAIRS, array(3), [2, 3]), id="beyond", fails=InvalidArgumentError, at_run=True),
    Case("TensorScatterUpdate", (array(2, 4, 5), DIFFERENT, array(2, 5))),
    Case("TensorScatterUpdate", (array(2, 4), PAIRS, array(2)), id="differ", fails=ShapeError),
    Case("TensorScatterAdd", (array(2, 4), PAIRS, array(3))),
    Case("TensorScatterAdd", (array(2, 4), PAIRS, array(2)), id="differ", fails=ShapeError),
    Case("TensorScatterSub", (array(2, 4), PAIRS, array(3))),
    Case("TensorScatterSub", (array(2, 4), PAIRS, array(2)), id="differ", fails=ShapeError),
    Case("SparseToDense", (DIFFERENT[::-1], [2, 4], array(2), array()), batch=(2,)),
    Case("SparseToDense", (DIFFERENT[::-1], [2, 4], array(), array(seed=1)), id="one value", batch=(2,)),
    Case("SparseToDense", (DIFFERENT, [2, 4], array(2), array()), id="order", fails=InvalidArgumentError, at_run=True),
]

PARTED = [
    Case("DynamicStitch", (np.array([0, 2], np.int32), np.array([[1], [3]], np.int32), array(2, 3), array(2, 1, 3)),
         dict(n=2), static=(0, 1)),
    Case("DynamicStitch", (np.array([0, 2], np.int32), array(2, 3)), dict(n=2), id="counts", fails=ArgumentError),
    Case("DynamicStitch", (np.array([0, 2]), array(2, 3)), dict(n=1), id="int64", fails=DTypeError),
    Case("DynamicPartition", (array(5, 2), PARTS), dict(num_partitions=3)),
    Case("DynamicPartition", (array(3, 2), np.zeros(3, np.int32)), dict(num_partitions=1), id="one"),
    Case("DynamicPartition", (array(4, 2), PARTS), dict(num_partitions=3), id="differ", fails=ShapeError),
    Case("DynamicPartition", (array(5), PARTS), dict(num_partitions=2), id="beyond", fails=InvalidArgumentError,
         at_run=True),
    Case("InvertPermutation", (np.array([2, 0, 3, 1]),)),
    Case("InvertPermutation", (np.array([2, 0, 2]),), id="twice", fails=InvalidArgumentError, at_run=True),
    Case("Unique", (np.array([4, 1, 4, 2, 1]),)),
    Case("Unique", (array(2, 3),), id="matrix", fails=ShapeError),
    Case("UniqueWithCounts", (np.array([4, 1, 4, 2, 1]),)),
    Case("Unique", (np.array([[4, 1, 4], [4, 1, 4]]),), {"axis": 1}, id="columns"),
    Case("UniqueWithCounts", (array(2, 3),), id="matrix", fails=ShapeError),
    Case("ListDiff", (np.array([1, 2, 3, 4]), np.array([2, 4]))),
    Case("ListDiff", (array(2, 3), array(2)), id="matrix", fails=ShapeError),
    Case("UnravelIndex", (np.array([5, 22], np.int32), [3, 4, 2])),
    Case("UnravelIndex", (np.array([24], np.int32), [3, 4, 2]), id="beyond", fails=InvalidArgumentError, at_run=True),
]

ORDERED = [
    Case("TopKV2", (array(2, 3, 5), 2)),
    Case("TopKV2", (array(7), 3), id="vector"),
    Case("TopKV2", (array(2, 3), 4), id="too many", fails=ArgumentError),
    Case("TopKV2", (array(2, 3), 4), id="too many found late", fails=InvalidArgumentError, at_run=True),
    Case("Bucketize", (np.array([[-5.0, 0.0], [3.5, 12.0]]),), dict(boundaries=[0.0, 3.0])),
    Case("Bucketize", (np.array([1.0]),), dict(boundaries=[3.0, 0.0]), id="order", fails=InvalidArgumentError,
         at_run=True),
    Case("NthElement", (array(2, 3, 5), 2)),
    Case("NthElement", (array(2, 5), 0), {"reverse": True}, id="greatest"),
    Case("NthElement", (array(2, 3), 3), id="too large", fails=ArgumentError),
    Case("NthElement", (array(2, 3), 3), id="too large found late", fails=InvalidArgumentError, at_run=True,
         static=()),
    Case("LowerBound", (np.sort(array(2, 5)), array(2, 3)), batch=(1,)),
    Case("LowerBound", (array(5), array(3)), id="vectors", fails=ShapeError),
    Case("UpperBound", (np.sort(array(2, 5)), array(2, 3)), batch=(1,)),
    Case("UpperBound", (array(5), array(3)), id="vectors", fails=ShapeError),
]

ROWS = [*LOOKED_UP, *PARTED, *ORDERED]
