"""Rows and single elements of a variable: the methods that change them, all made of one, and one that reads them."""
from __future__ import annotations

from typing import Any

from ...core.errors import KindError
from ...core.op import build


def _by_slices(kind: str, text: str) -> Any:
    def changed(self: Rows, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        if not hasattr(sparse_delta, "indices"):
            raise KindError(expected="IndexedSlices", found=repr(sparse_delta))
        return self._rows_changed(kind, sparse_delta.indices, sparse_delta.values, name)

    changed.__doc__ = text
    return changed


def _by_vectors(kind: str, text: str) -> Any:
    def changed(self: Rows, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._rows_changed(kind, indices, updates, name)

    changed.__doc__ = text
    return changed


class Rows:
    """The methods of a variable about rows. Each that changes them returns the result of the variable's assign."""

    def _rows_changed(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how its rows change")

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Elements or slices by index vectors."""
        return build.GatherNd(self, indices, name=name)

    scatter_update = _by_slices("ScatterUpdate", "Set the rows of an IndexedSlices.")
    scatter_add = _by_slices("ScatterAdd", "Add the rows of an IndexedSlices.")
    scatter_sub = _by_slices("ScatterSub", "Subtract the rows of an IndexedSlices.")
    scatter_mul = _by_slices("ScatterMul", "Multiply by the rows of an IndexedSlices.")
    scatter_div = _by_slices("ScatterDiv", "Divide by the rows of an IndexedSlices.")
    scatter_max = _by_slices("ScatterMax", "Keep the larger of each row and that of an IndexedSlices.")
    scatter_min = _by_slices("ScatterMin", "Keep the smaller of each row and that of an IndexedSlices.")
    scatter_nd_update = _by_vectors("ScatterNdUpdate", "Set elements or slices by index vectors.")
    scatter_nd_add = _by_vectors("ScatterNdAdd", "Add to elements or slices by index vectors.")
    scatter_nd_sub = _by_vectors("ScatterNdSub", "Subtract from elements or slices by index vectors.")
