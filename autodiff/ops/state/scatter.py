"""Changing rows or single elements of a variable: the Scatter family."""

import operator
from functools import partial

import numpy as np

from ...core.declare import op
from ...core.dtypes import ALL, NUMBERS, REALS
from ...core.errors import ShapeError
from ...core.infer import held
from ...core.op import Index, Ref, Spec, T
from ...core.shapes import compatible, show
from ..arrays.gather import places_in
from ..arrays.slice import index_of, sliced
from ..common.refusals import check_within, mismatch
from .variables import referred

OF_ROWS = ", the rows of the variable"
LONG = 8  # elements of a row from which on it pays to take, change and put whole rows
_NOT_DIFFERENTIATED = "assignment to rows is not differentiated"


def _rows(ref, indices, updates):
    """updates: indices.shape + ref.shape[1:], or a scalar."""
    dims = held(ref).dims
    if updates.dims not in ((), None) and indices.dims is not None and dims is not None:
        expected = (*indices.dims, *dims[1:])
        if not compatible(updates.dims, expected):
            raise ShapeError(f"shape must be {show(expected)}, that of indices and then of a row, but the updates have "
                             f"{show(updates.dims)}")
    return referred(ref)


def _elements(ref, indices, updates):
    """indices: int[..., k]; updates: indices.shape[:-1] + ref.shape[k:]."""
    dims = held(ref).dims
    if indices.dims and dims is not None and indices.dims[-1] is not None and updates.dims is not None:
        expected = (*indices.dims[:-1], *dims[indices.dims[-1]:])
        if not compatible(updates.dims, expected):
            raise ShapeError(mismatch(indices.dims, updates.dims, dims, "input"), expected=show(expected),
                             found=show(updates.dims))
    return referred(ref)


def _changed(run, ref, place, updates, ufunc):
    """The variable with `ufunc`, or None to set, applied at `place`."""
    if ufunc is None:
        return run.update(ref, place, lambda value: operator.setitem(value, place, updates))
    return run.update(ref, place, lambda value: ufunc.at(value, place, updates))


def _at_rows(run, ref, indices, updates, ufunc):
    shape = run.read(ref).shape
    check_within(indices, shape[0], OF_ROWS)
    if ufunc is None or updates.ndim == 0 or updates.size < LONG * indices.size:
        return _changed(run, ref, indices, updates, ufunc)
    change = partial(row_by_row, ufunc, indices.reshape(-1), updates.reshape(-1, *shape[1:]))
    return run.update(ref, indices, change)


def row_by_row(ufunc, indices, updates, value):
    """`ufunc.at(value, indices, updates)`, with the same bits, for long rows: in rounds in which no two are alike."""
    while indices.size:
        order = indices.argsort(kind="stable")
        ordered = indices[order]
        first = np.empty(len(ordered), bool)
        first[0] = True
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        if first.all():
            value[indices] = ufunc(value.take(indices, axis=0), updates)
            return
        rows = order[first]
        if 2 * rows.size < indices.size:  # few rows, many times: rounds would be many
            ufunc.at(value, indices, updates)
            return
        ordered = ordered[first]
        value[ordered] = ufunc(value.take(ordered, axis=0), updates.take(rows, axis=0))
        later = np.sort(order[~first])
        indices, updates = indices[later], updates[later]


def _at_elements(run, ref, indices, updates, ufunc):
    shape = run.read(ref).shape
    if not shape:
        raise ValueError("Output must be at least 1-D, got shape: []")
    return _changed(run, ref, places_in(indices, shape), updates, ufunc)


def _part(ref, begin, end, strides, value, **masks):
    dims = held(ref).dims
    part = sliced(Spec(value.dtype, dims), begin, end, strides, **masks)
    is_empty = 0 in (part.dims or ()) and 0 in (value.dims or ())
    if not is_empty and not compatible(part.dims, value.dims):
        raise ShapeError(f"shapes differ: the part of the variable has {show(part.dims)}, and the value "
                         f"{show(value.dims)}")
    return referred(ref)


@op("StridedSliceAssign", infer=_part, stateful=True, no_rule=_NOT_DIFFERENTIATED)
def strided_slice_assign(ref: Ref, begin: Index, end: Index, strides: Index, value: T, *, begin_mask=0, end_mask=0,
                         ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, run):
    """Set the part `ref[begin:end:strides]`; masks as for StridedSlice. value: any[of the part] -> the reference."""
    place = index_of(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return _changed(run, ref, place, value, None) if value.size else run.read(ref)


def _scatter(name, dtypes, by_elements, ufunc, words, reason):
    """The op `Scatter…`. ufunc: of old values and updates; None to set. reason: why it has no gradient, and how."""
    infer, change = (_elements, _at_elements) if by_elements else (_rows, _at_rows)
    shapes = "indices: int[..., k], updates: any[..., rest of ref]" if by_elements else \
        "indices: int[k...], updates: any[k..., ...] or any[]"

    def kernel(ref: Ref, indices: Index, updates: T, *, run):
        whole = ufunc is np.divide and updates.dtype.kind in "iu"
        return change(run, ref, indices, updates, np.floor_divide if whole else ufunc)

    kernel.__name__, kernel.__doc__ = name, f"{words}. {shapes}. -> the reference."
    op(name, infer=infer, dtypes=dtypes, stateful=True, **{reason: _NOT_DIFFERENTIATED})(kernel)


for _name, _dtypes, _ufunc, _words, _reason in (
        ("Update", ALL, None, "Set {}", "no_rule"),
        ("Add", NUMBERS, np.add, "Add to {}; duplicates add up", "no_grad"),
        ("Sub", NUMBERS, np.subtract, "Subtract from {}; duplicates add up", "no_grad"),
        ("Mul", NUMBERS, np.multiply, "Multiply {}", "no_grad"), ("Div", NUMBERS, np.divide, "Divide {}", "no_grad"),
        ("Min", REALS, np.minimum, "Keep the smaller of old and new {}", "no_rule"),
        ("Max", REALS, np.maximum, "Keep the larger of old and new {}", "no_rule")):
    _scatter(f"Scatter{_name}", _dtypes, False, _ufunc, _words.format("rows"), _reason)
    if _name in ("Update", "Add", "Sub"):
        _scatter(f"ScatterNd{_name}", _dtypes, True, _ufunc, _words.format("elements or slices"), "no_grad")
