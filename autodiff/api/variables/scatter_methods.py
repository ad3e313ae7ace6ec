"""Rows and single elements of a variable: the methods that change them, all made of one, and one that reads them."""
from __future__ import annotations

from typing import Any

from ...core.errors import KindError
from ...core.op import build


class Rows:
    """The methods of a variable about rows. Each that changes them returns the result of the variable's assign."""

    def _rows_changed(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how its rows change")

    def _scatter(self, kind: str, slices: Any, name: str | None) -> Any:
        if not hasattr(slices, "indices"):
            raise KindError(expected="IndexedSlices", found=repr(slices))
        return self._rows_changed(kind, slices.indices, slices.values, name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Elements or slices by index vectors."""
        return build.GatherNd(self, indices, name=name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Set the rows of an IndexedSlices."""
        return self._scatter("ScatterUpdate", sparse_delta, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Add the rows of an IndexedSlices."""
        return self._scatter("ScatterAdd", sparse_delta, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtract the rows of an IndexedSlices."""
        return self._scatter("ScatterSub", sparse_delta, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiply by the rows of an IndexedSlices."""
        return self._scatter("ScatterMul", sparse_delta, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divide by the rows of an IndexedSlices."""
        return self._scatter("ScatterDiv", sparse_delta, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Keep the larger of each row and that of an IndexedSlices."""
        return self._scatter("ScatterMax", sparse_delta, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Keep the smaller of each row and that of an IndexedSlices."""
        return self._scatter("ScatterMin", sparse_delta, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Set elements or slices by index vectors."""
        return self._rows_changed("ScatterNdUpdate", indices, updates, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add to elements or slices by index vectors."""
        return self._rows_changed("ScatterNdAdd", indices, updates, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract from elements or slices by index vectors."""
        return self._rows_changed("ScatterNdSub", indices, updates, name)
