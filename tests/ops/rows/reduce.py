"""Rows of the op table: reductions over axes, running totals, segments."""

import numpy as np
from autodiff.errors import ArgumentError, DTypeError, InvalidArgumentError, ShapeError

import autodiff as tf

from ..case import Case, array

X = array(2, 3, 4)
WITH_ZEROS = np.where(X > 0.5, 0.0, X)
BOOLS = X > 0
TIES = np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 2.0]])
IDS = np.array([0, 0, 2, 2, 2], np.int32)
UNSORTED = np.array([2, 0, -1, 2, 2], np.int32)


def over_axes(op: str, x: np.ndarray) -> list[Case]:
    """One axis, from the end, several, all, none, kept, a vector, and axes that are not there."""
    return [Case(op, (x, 1)), Case(op, (x, -1), id="last"), Case(op, (x, [0, 2]), id="two"),
            Case(op, (x, [0, 1, 2]), id="all"), Case(op, (x, np.zeros(0, np.int32)), id="none"),
            Case(op, (x, [1, -1]), dict(keep_dims=True), id="kept"), Case(op, (x[0, 0], [0]), id="vector"),
            Case(op, (x, 3), id="axis", fails=ArgumentError), Case(op, (x, [[0]]), id="axes", fails=ShapeError)]


ROWS = [
    *[case for op in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm") for case in over_axes(op, X)],
    *[case for op in ("All", "Any") for case in over_axes(op, BOOLS)],
    *[Case(op, ((X * 9).astype(np.int32), 1), id="int") for op in ("Sum", "Mean", "Prod", "Max", "Min")],
    *[Case(op, (np.zeros((2, 0, 3)), 1), id="empty", batch=())
      for op in ("Sum", "Prod", "Max", "Min", "EuclideanNorm")],
    Case("Prod", (WITH_ZEROS, [0, 2]), id="zeros"),
    Case("Sum", (array(2, 3) + 1j * array(2, 3, seed=1), 1), id="complex", differentiable=()),
    Case("Sum", (BOOLS, 0), id="bool", fails=DTypeError),
    Case("KeptShape", ([2, 3, 4], [0, -1])),
    Case("SumTo", (X, [3, 4])),
    Case("SumTo", (X, [2, 1, 4]), id="ones"),
    Case("SumTo", (X, [2, 3, 4]), id="same"),
    Case("SumTo", (X, np.zeros(0, np.int32)), id="scalar"),
    *[Case(op, (X, axis), id=str(axis)) for op in ("ArgMax", "ArgMin") for axis in (0, -1)],
    *[Case(op, (TIES, 1), dict(output_type=tf.int32), id="ties") for op in ("ArgMax", "ArgMin")],
    *[Case(op, (X, 3), id="axis", fails=ArgumentError) for op in ("ArgMax", "ArgMin")],

    *[Case(op, (X, axis), dict(exclusive=exclusive, reverse=reverse), id=f"{axis}{exclusive:d}{reverse:d}")
      for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp") for axis in (1, -1)
      for exclusive in (False, True) for reverse in (False, True) if not exclusive or op != "CumulativeLogsumexp"],
    *[Case("CumulativeLogsumexp", (X, 1), dict(exclusive=True, reverse=reverse), id=f"exclusive{reverse:d}",
           differentiable=()) for reverse in (False, True)],
    *[Case(op, (X, 3), id="axis", fails=ArgumentError) for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp")],
    *[Case(op, (X, [0, 1]), id="axes", fails=ShapeError) for op in ("Cumsum", "CumulativeLogsumexp")],
    Case("Cumprod", (WITH_ZEROS, 1), dict(exclusive=True), id="zeros"),
    Case("Cumprod", (WITH_ZEROS, [0, 2]), id="two"),
    Case("ProdOfOthers", (WITH_ZEROS, [0, 2])),
    Case("ProdOfOthers", (X, -1), id="last"),
    Case("Shift", (X, 1)),
    Case("Shift", (X, [0, 2]), dict(reverse=True), id="reverse"),
    Case("Recurrence", (X, array(2, 3, 4, seed=1), 1)),
    Case("Recurrence", (X, array(2, 3, 4, seed=1), [0, 2]), dict(reverse=True), id="reverse"),
    Case("Recurrence", (X, array(2, 3), 1), id="differs", fails=ShapeError),

    *[Case(op, (array(5, 3), IDS)) for op in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin")],
    *[Case(op, (array(5, 3), IDS[::-1].copy()), id="falls", fails=InvalidArgumentError, at_run=True)
      for op in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin")],
    Case("SegmentSum", (array(4, 3), IDS), id="differs", fails=InvalidArgumentError, at_run=True),
    Case("SortedIds", (IDS, -1), batch=()),
    *[Case("SortedIds", given, id=id, fails=InvalidArgumentError, at_run=True)
      for id, given in {"falling": (IDS[::-1], -1), "beyond": (IDS, 2)}.items()],
    *[Case(op, (array(3, 2), IDS % 4, IDS, 4), batch=()) for op in ("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad")],
    *[Case(op, (array(3, 2), IDS + 2, IDS, 4), id="beyond", fails=InvalidArgumentError, at_run=True)
      for op in ("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad")],
    *[Case(op, (array(5, 3), UNSORTED, 4)) for op in ("UnsortedSegmentSum", "UnsortedSegmentProd")],
    *[Case(op, (array(5, 3), UNSORTED // 2, 2)) for op in ("UnsortedSegmentMax", "UnsortedSegmentMin")],
    Case("UnsortedSegmentSum", (array(2, 5, 3), np.stack([UNSORTED, IDS]), 3), id="matrix"),
    Case("UnsortedSegmentProd", (np.array([[0.0], [2.0], [3.0], [4.0], [0.0]]), IDS, 3), id="zeros", second=False),
    Case("UnsortedSegmentSum", (array(5, 3), IDS, 2), id="beyond", fails=InvalidArgumentError, at_run=True),
    Case("UnsortedSegmentSum", (array(4, 3), IDS, 3), id="differs", fails=ShapeError),
    Case("Bincount", ([1, 3, 1, 5], 5, np.zeros(0, np.int32)), batch=()),
    Case("Bincount", ([1, 3, 1, 2], 5, array(4)), id="weights", batch=()),
    Case("Bincount", ([1, -3], 5, np.zeros(0)), id="negative", fails=InvalidArgumentError, at_run=True),
    Case("HistogramFixedWidth", (array(3, 4, low=-2.0, high=4.0), np.array([-1.0, 3.0]), 5), batch=()),
    Case("HistogramFixedWidth", (array(3), np.array([1.0, 1.0]), 5), id="range", fails=InvalidArgumentError,
         at_run=True),
    Case("HistogramFixedWidth", (array(3), np.array([1.0, 2.0]), 0), id="none", fails=ValueError),
    Case("GatherOrZero", (array(4, 3), UNSORTED)),
]
