"""SparseTensors and IndexedSlices in branches and loops, which take their parts: tensors alone."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...core import nest
from ...core.errors import ShapeError
from ...core.indexed_slices import IndexedSlices
from ...core.shapes import as_dims, show
from ...core.sparse_tensor import SparseTensor, parts_of

OWN: Any = object()  # in place of a shape invariant: that of the loop variable as it enters


class SparseParts(NamedTuple):
    """Those of a SparseTensor."""

    indices: Any
    values: Any
    dense_shape: Any


class RowParts(NamedTuple):
    """Those of IndexedSlices without a dense shape."""

    values: Any
    indices: Any


class SizedRowParts(NamedTuple):
    """Those of IndexedSlices."""

    values: Any
    indices: Any
    dense_shape: Any


def kind_of(leaf: Any) -> Any:
    """How a value falls into parts; None if it is whole."""
    if isinstance(leaf, SparseTensor):
        return SparseParts
    if isinstance(leaf, IndexedSlices):
        return RowParts if leaf.dense_shape is None else SizedRowParts
    return None


def parted(structure: Any, kinds: list[Any] | None = None) -> Any:
    """A nested structure with the parts of each composite value in its place. kinds: what may fall into parts, each."""
    leaves = nest.flatten(structure)
    kinds = [kind_of(leaf) for leaf in leaves] if kinds is None else kinds
    if len(kinds) != len(leaves):
        return structure
    left = iter(kinds)
    return nest.map_structure(lambda leaf: _parts(leaf, next(left)), structure)


def _parts(leaf: Any, kind: Any) -> Any:
    if kind is None or kind_of(leaf) is not kind:
        return leaf
    return kind(*(parts_of(leaf) if kind is SparseParts else (getattr(leaf, part) for part in kind._fields)))


def rejoined(structure: Any) -> Any:
    """Undo `parted`."""
    if isinstance(structure, SparseParts):
        return SparseTensor(*structure)
    if isinstance(structure, (RowParts, SizedRowParts)):
        return IndexedSlices(*structure)
    if not nest.is_sequence(structure):
        return structure
    return nest.like(structure, [rejoined(child) for child in nest.children(structure)])


def part_shapes(whole: Any, shapes: list[Any] | None) -> Iterator[Any]:
    """Shape invariants of the parts of loop variables, by those of the whole ones.

    Raises ShapeError (ValueError) unless a SparseTensor's is of its dense shape: of rank 1.
    """
    leaves = nest.flatten(whole)
    for leaf, shape in zip(leaves, shapes or [OWN] * len(leaves)):
        kind = kind_of(leaf)
        if kind is None:
            yield shape
        elif kind is SparseParts:
            yield from _sparse_shapes(leaf, shape)
        else:
            rows = as_dims(leaf.values.shape if shape is OWN else shape)
            whole_rows = () if rows is None else (len(rows),)
            yield from (rows, None if rows is None else rows[:1], whole_rows or None)[:len(kind._fields)]


def _sparse_shapes(leaf: SparseTensor, shape: Any) -> tuple[Any, Any, Any]:
    dims = as_dims(leaf.dense_shape.dims if shape is OWN else shape)
    if dims is not None and len(dims) != 1:
        raise ShapeError("Expected a shape with 1 dimension", expected="the shape of the SparseTensor's dense_shape",
                         found=show(dims))
    rank = None if dims is None else dims[0]
    return (None, rank), (None,), (rank,)
