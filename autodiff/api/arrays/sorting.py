"""Order: sorting, the k largest, places in a sorted row. TensorFlow's functions."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import known, static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor, graph_of
from ...core.infer import axis_in
from ...core.name_scope import scope
from ...core.op import build


class TopKV2(NamedTuple):
    """values: the largest of each row, largest first. indices: their places in it."""

    values: Tensor
    indices: Tensor


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> TopKV2:
    """The k largest of each row and their places; of equal ones the first."""
    return TopKV2(*build.TopKV2(input, k, sorted=sorted, name=name))


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:
    """What would stand at place n of each row if it were sorted, falling with `reverse`."""
    return build.NthElement(input, n, reverse=reverse, name=name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the prediction of each row's target is among its k largest."""
    with scope(name, "in_top_k", [predictions, targets, k]):
        return build.InTopKV2(predictions, targets, k)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32,
                 name: str | None = None) -> Tensor:
    """For each value its place in the sorted row it belongs to, before ('left') or behind ('right') equal ones."""
    if side not in ("left", "right"):
        raise ArgumentError(f"side is {side!r}, expected 'left' or 'right'")
    rows, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    found = build.LowerBound if side == "left" else build.UpperBound
    places = found(_as_rows(rows), _as_rows(values), out_type=as_dtype(out_type), name=name)
    return build.Reshape(places, known(build.Shape(values)))


def _as_rows(x: Tensor) -> Tensor:
    return build.Reshape(x, build.ConcatV2(0, [-1], build.Shape(x)[-1:]))


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The values in order along an axis."""
    with graph_of([values]).name_scope(name or "sort"):
        return _ordered(values, axis, direction)[0]


def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    """The places that put the values in order along an axis; equal ones keep theirs."""
    with graph_of([values]).name_scope(name or "argsort"):
        return _ordered(values, axis, direction)[1]


def _ordered(values: Any, axis: Any, direction: str) -> tuple[Tensor, Tensor]:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ArgumentError(f"direction is {direction!r}, expected 'ASCENDING' or 'DESCENDING'")
    at = static_value(axis)
    if at is None or at.ndim:
        raise ArgumentError(expected="a constant scalar axis", found=repr(axis))
    values = convert_to_tensor(values, name="values")
    if values.dims is None and int(at) != -1:
        raise ShapeError(expected=f"values of known rank to sort along axis {int(at)}", found=values.describe())
    last = values.dims is None or axis_in(int(at), len(values.dims)) == len(values.dims) - 1
    swap = None if last else convert_to_tensor(_swapped(axis_in(int(at), len(values.dims)), len(values.dims)),
                                               name="transposition")
    rows = values if swap is None else build.Transpose(values, swap)
    ascending = direction == "ASCENDING"
    found, places = build.TopKV2(-rows if ascending else rows, known(build.Shape(rows)[-1]))
    found = -found if ascending else found
    return (found, places) if swap is None else (build.Transpose(found, swap), build.Transpose(places, swap))


def _swapped(axis: int, rank: int) -> np.ndarray:
    order = np.arange(rank, dtype=np.int32)
    order[[axis, -1]] = order[[-1, axis]]
    return order
