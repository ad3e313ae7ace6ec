"""Rows of the op table: sparse tensors by their entries."""

import numpy as np
from autodiff.errors import DTypeError, InvalidArgumentError, ShapeError

from autodiff.ops.sparse.serialization import serialize_sparse

from ..case import Case, array

SORTED = np.array([[0, 1], [0, 3], [2, 0], [2, 3], [2, 4]])
MIXED = np.array([[2, 3], [0, 1], [2, 0], [0, 1]])  # out of order, one place twice
BEYOND = np.array([[0, 1], [3, 0]])
SHAPE = np.array([3, 5])

PRODUCTS = [
    Case("SparseTensorDenseMatMul", (SORTED, array(5), SHAPE, array(5, 2))),
    Case("SparseTensorDenseMatMul", (MIXED, array(4), SHAPE, array(5, 2)), id="mixed"),
    Case("SparseTensorDenseMatMul", (MIXED, array(4), SHAPE, array(3, 2)), dict(adjoint_a=True), id="adjoint a"),
    Case("SparseTensorDenseMatMul", (SORTED, array(5), SHAPE, array(2, 5)), dict(adjoint_b=True), id="adjoint b"),
    Case("SparseTensorDenseMatMul", (SORTED, array(5), SHAPE, array(2, 3)), dict(adjoint_a=True, adjoint_b=True),
         id="adjoints"),
    Case("SparseTensorDenseMatMul", (np.zeros((0, 2), np.int64), array(0), SHAPE, array(5, 2)), id="no entry"),
    Case("SparseTensorDenseMatMul", (SORTED, array(5), SHAPE, array(4, 2)), id="inner", fails=ShapeError),
    Case("SparseTensorDenseMatMul", (SORTED, array(5), SHAPE, array(5)), id="vector", fails=ShapeError),
    Case("SparseTensorDenseMatMul", (SORTED, array(4), SHAPE, array(5, 2)), id="counts", fails=ShapeError),
    Case("SparseTensorDenseMatMul", (BEYOND, array(2), SHAPE, array(5, 2)), id="beyond", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseToDense", (BEYOND, SHAPE, array(2), array()), id="beyond", fails=InvalidArgumentError, at_run=True),
    Case("SparseToDense", (SORTED, SHAPE, array(2), array()), id="counts", fails=InvalidArgumentError, at_run=True),
]

_TEXTS = np.array([[serialize_sparse.kernel(SORTED, array(5), np.array(SHAPE)) for _ in range(2)] for _ in range(3)],
                  object)

WRITTEN = [
    Case("SerializeSparse", (SORTED, array(5), SHAPE), batch=()),
    Case("SerializeManySparse", (SORTED, array(5), SHAPE), batch=()),
    Case("DeserializeSparse", (_TEXTS,), dict(dtype="float64"), batch=()),
    Case("DeserializeSparse", (_TEXTS,), dict(dtype="int32"), id="type", fails=InvalidArgumentError, at_run=True),
    Case("DeserializeSparse", (_TEXTS[..., :2],), dict(dtype="float64"), id="columns", fails=InvalidArgumentError,
         at_run=True),
]

CWISE = [
    Case("SparseDenseCwiseMul", (SORTED, array(5), SHAPE, array(3, 5))),
    Case("SparseDenseCwiseMul", (MIXED, array(4), SHAPE, array(3, 1)), id="a column"),
    Case("SparseDenseCwiseMul", (MIXED, array(4), SHAPE, array(5)), id="a row"),
    Case("SparseDenseCwiseMul", (MIXED, array(4), SHAPE, array()), id="a number"),
    Case("SparseDenseCwiseMul", (SORTED, array(5), SHAPE, array(4)), id="differ", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseDenseCwiseMul", (BEYOND, array(2), SHAPE, array(3, 5)), id="beyond", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseDenseCwiseDiv", (SORTED, array(5), SHAPE, array(3, 5, low=0.5))),
    Case("SparseDenseCwiseDiv", (MIXED, array(4), SHAPE, array(5, low=0.5)), id="a row"),
    Case("SparseDenseCwiseDiv", (MIXED, np.array([-7, 7, 3, 0]), SHAPE, np.array(2)), id="integers"),
    Case("SparseDenseCwiseDiv", (SORTED, array(5), SHAPE, array(2, 3, 5)), id="more axes", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseTensorDenseAdd", (SORTED, array(5), SHAPE, array(3, 5))),
    Case("SparseTensorDenseAdd", (MIXED, array(4), SHAPE, array(3, 5)), id="mixed"),
    Case("SparseTensorDenseAdd", (SORTED, array(5), SHAPE, array(3, 1)), id="no broadcast", fails=InvalidArgumentError,
         at_run=True),
]

CUBE = np.array([[0, 1, 2], [0, 3, 0], [1, 0, 0], [1, 0, 1]])

REDUCED = [
    Case("SparseReduceSum", (MIXED, array(4), SHAPE, [1])),
    Case("SparseReduceSum", (SORTED, array(5), SHAPE, -2), dict(keep_dims=True), id="kept"),
    Case("SparseReduceSum", (CUBE, array(4), np.array([2, 4, 3]), [-1, 0]), id="two axes"),
    Case("SparseReduceSum", (CUBE, array(4), np.array([2, 4, 3]), [0, 1, 2]), id="all"),
    Case("SparseReduceSum", (SORTED, array(5), SHAPE, [2]), id="axis beyond", fails=InvalidArgumentError, at_run=True),
    Case("SparseReduceSum", (BEYOND, array(2), SHAPE, [1]), id="beyond", fails=InvalidArgumentError, at_run=True),
    Case("SparseReduceMax", (MIXED, array(4), SHAPE, [1]), batch=()),
    Case("SparseReduceSumSparse", (MIXED, array(4), SHAPE, [0]), batch=()),
    Case("SparseReduceSumSparse", (CUBE, array(4), np.array([2, 4, 3]), [1, 2]), dict(keep_dims=True), id="kept",
         batch=()),
    Case("SparseReduceSumSparse", (SORTED, array(5), SHAPE, [2]), id="axis beyond", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseReduceMaxSparse", (MIXED, array(4), SHAPE, [0, 1]), batch=()),
    Case("SparseReduceMaxSparse", (SORTED, array(5), SHAPE, [2]), id="axis beyond", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseReduceMax", (SORTED, array(5), SHAPE, [2]), id="axis beyond", fails=InvalidArgumentError, at_run=True),
]

OTHER = np.array([[0, 0], [0, 3], [2, 4]])
JOINED = dict(concat_dim=1, n=2)

ORDERED = [
    Case("SparseReorder", (MIXED, array(4), SHAPE)),
    Case("SparseReorder", (MIXED, array(3), SHAPE), id="counts", fails=ShapeError),
    Case("SparseReshape", (SORTED, SHAPE, np.array([5, -1])), batch=()),
    Case("SparseReshape", (SORTED, SHAPE, np.array([15])), id="flat", batch=()),
    Case("SparseReshape", (SORTED, SHAPE, np.array([4, 4])), id="elements", fails=ShapeError),
    Case("SparseReshape", (SORTED, SHAPE, np.array([-1, -1])), id="two unknown", fails=ShapeError),
    Case("SparseReshape", (SORTED, SHAPE, np.array([4, -1])), id="at run", fails=InvalidArgumentError, at_run=True,
         static=()),
    Case("SparseSlice", (SORTED, array(5), SHAPE, np.array([1, 0]), np.array([7, 4]))),
    Case("SparseSlice", (SORTED, array(5), SHAPE, np.array([4, 0]), np.array([1, 4])), id="nothing"),
    Case("SparseSlice", (SORTED, array(5), SHAPE, np.array([1]), np.array([2])), id="rank", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseConcat", (SORTED, OTHER, array(5), array(3), SHAPE, SHAPE), JOINED),
    Case("SparseConcat", (SORTED, OTHER, array(5), array(3), SHAPE, np.array([4, 5])), dict(concat_dim=-2, n=2),
         id="rows"),
    Case("SparseConcat", (SORTED, OTHER, array(5), array(3), SHAPE, np.array([4, 5])), JOINED, id="differ",
         fails=InvalidArgumentError, at_run=True),
    Case("SparseConcat", (SORTED, CUBE, array(5), array(4), SHAPE, np.array([2, 4, 3])), JOINED, id="ranks",
         fails=ShapeError),
    Case("SparseConcat", (SORTED, OTHER, array(5), np.arange(3), SHAPE, SHAPE), JOINED, id="dtypes", fails=DTypeError),
    Case("SparseSplit", (1, SORTED, array(5), SHAPE), dict(num_split=3)),
    Case("SparseSplit", (0, SORTED, array(5), SHAPE), dict(num_split=4), id="too many", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseFillEmptyRows", (SORTED, array(5), SHAPE, array())),
    Case("SparseFillEmptyRows", (CUBE[::-1], array(4), np.array([5, 4, 3]), array()), id="cube"),
    Case("SparseFillEmptyRows", (SORTED, array(5), SHAPE, array(1)), id="vector", fails=ShapeError),
    Case("SparseFillEmptyRows", (BEYOND, array(2), SHAPE, array()), id="beyond", fails=InvalidArgumentError,
         at_run=True),
    Case("SparseSoftmax", (SORTED, array(5), SHAPE)),
    Case("SparseSoftmax", (CUBE, array(4), np.array([2, 4, 3])), id="cube"),
    Case("SparseSoftmax", (np.array([[0], [2]]), array(2), np.array([3])), id="vector", fails=InvalidArgumentError,
         at_run=True),
]

PAIRS = [
    Case("SparseAdd", (SORTED, array(5), SHAPE, OTHER, array(3), SHAPE, np.array(0.0)), differentiable=(1, 4),
         batch=(1, 4), static=(0, 2, 3, 5, 6)),
    Case("SparseAdd", (SORTED, array(5), SHAPE, OTHER, array(3), SHAPE, np.array(0.4)), id="threshold",
         differentiable=(1, 4), batch=()),
    Case("SparseAdd", (SORTED, array(5), SHAPE, OTHER, array(3), np.array([4, 5]), np.array(0.0)), id="differ",
         fails=ShapeError),
    Case("SparseSparseMaximum", (SORTED, array(5), SHAPE, OTHER, array(3), SHAPE)),
    Case("SparseSparseMaximum", (SORTED, array(5), SHAPE, OTHER, array(3), np.array([4, 5])), id="differ",
         fails=InvalidArgumentError, at_run=True),
    Case("SparseSparseMinimum", (SORTED, array(5), SHAPE, OTHER, array(3), SHAPE)),
    Case("SparseSparseMinimum", (SORTED, array(5), SHAPE, OTHER, array(3), np.array([4, 5])), id="differ",
         fails=InvalidArgumentError, at_run=True),
    Case("SparseMatch", (OTHER, SORTED, SHAPE)),
    Case("SetOperation", (SORTED, np.array([3, 1, 3, 2, 2]), SHAPE, OTHER, np.array([1, 4, 2]), SHAPE),
         {"operation": "union"}),
    Case("SetOperation", (SORTED, np.array([3, 1, 3, 2, 2]), SHAPE, OTHER, np.array([1, 4, 2]), np.array([4, 5])),
         {"operation": "a-b"}, id="differ", fails=InvalidArgumentError, at_run=True),
    Case("SetOperation", (SORTED, np.array([3, 1, 3, 2, 2]), SHAPE, OTHER, np.array([1, 4, 2]), SHAPE),
         {"operation": "a"}, id="unknown", fails=ValueError),
]

DISTANCES = [
    Case("EditDistance", (SORTED, np.array([3, 1, 3, 2, 2]), SHAPE, OTHER, np.array([1, 4, 2]), SHAPE), attrs, batch=(),
         id="-".join(attrs)) for attrs in ({}, {"normalize": False})] + [
    Case("EditDistance", (SORTED, np.array([3, 1, 3, 2, 2]), SHAPE, OTHER[:, 1:], np.array([1, 4, 2]), SHAPE[1:]),
         id="ranks", fails=ShapeError)]

ROWS = DISTANCES + PRODUCTS + WRITTEN + CWISE + REDUCED + ORDERED + PAIRS
