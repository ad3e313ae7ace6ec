"""Rows of the op table: sparse tensors by their entries."""

import numpy as np

from autodiff.errors import InvalidArgumentError, ShapeError

from .case import Case, array

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
    Case("SparseReduceMax", (SORTED, array(5), SHAPE, [2]), id="axis beyond", fails=InvalidArgumentError, at_run=True),
]

ROWS = PRODUCTS + CWISE + REDUCED
