"""The elements of datasets: what is known of their leaves, and how they are checked, nested and stacked."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...core import nest
from ...core.constant_value import static_value
from ...core.convert import as_array, convert_to_tensor
from ...core.dtypes import DType
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.shapes import Dims, TensorShape, compatible
from ...core.site import Site


@dataclass(frozen=True)
class Element:
    """The dtype and the (partial) shape of one leaf of an element."""

    dtype: DType
    dims: Dims | None


class Shuffled(NamedTuple):
    """A shuffle of a dataset: where it is written, of how many elements at a time; order: equal for the same order."""

    site: Site | None
    size: int
    order: Any


class Structured:
    """A dataset, or an iterator over one: it has a structure of Elements."""

    _structure: Any

    @property
    def output_types(self) -> Any:
        return nest.map_structure(lambda spec: spec.dtype, self._structure)

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(lambda spec: TensorShape(spec.dims), self._structure)

    @property
    def output_classes(self) -> Any:
        return nest.map_structure(lambda _: Tensor, self._structure)


def leaves_of(item: Any, structure: Any) -> list[Any]:
    """The leaves of an element, which may itself be a list of numbers where the structure has one Element."""
    if isinstance(structure, Element):
        return [item]
    return [leaf for part, inner in zip(nest.children(item), nest.children(structure), strict=True)
            for leaf in leaves_of(part, inner)]


def checked_array(value: Any, spec: Element) -> np.ndarray:
    """`value` as an array of the dtype and shape in `spec`. Raises ArgumentError (ValueError) for another shape."""
    array = as_array(value, spec.dtype)
    if not compatible(spec.dims, array.shape):
        raise ArgumentError(f"the generator gave an array of shape {list(array.shape)}, expected {spec.dims}")
    return array


def positive_count(value: Any) -> int:
    """A known number, at least 1. Raises ArgumentError (ValueError) for any other."""
    known = static_value(value) if isinstance(value, Tensor) else value
    if known is None or int(known) < 1:
        raise ArgumentError(expected="a known count >= 1", found=repr(value))
    return int(known)


def batched(structure: Any, size: int | None) -> Any:
    """The structure of batches of such elements."""
    return nest.map_structure(lambda e: Element(e.dtype, None if e.dims is None else (size, *e.dims)), structure)


def elements_of(tensors: Any) -> Any:
    """An Element for each of the nested tensors, in the same structure."""
    return nest.map_structure(lambda t: Element(t.dtype.base_dtype, t.dims), tensors)


def stacked_with_padding(rows: list[np.ndarray], wanted: Dims | None, fill: Any) -> np.ndarray:
    """One array of arrays of different sizes, filled up with `fill`; a None in `wanted` is the longest size."""
    longest = np.max([np.shape(row) for row in rows], axis=0)
    sizes = [int(n) if w is None else w for n, w in zip(longest, wanted or (None,) * len(longest))]
    if any(n > w for n, w in zip(longest, sizes)):
        raise ArgumentError(f"an element of shape {list(longest)} is larger than the padded shape {sizes}")
    batch = np.full((len(rows), *sizes), fill, np.asarray(rows[0]).dtype)
    for i, row in enumerate(rows):
        place: Any = (i, *(slice(n) for n in np.shape(row)))
        batch[place] = row
    return batch


def lists_as_arrays(tensors: Any) -> Any:
    """The same structure with each list as one array, or one tensor if there are tensors in it: lists do not nest."""
    if isinstance(tensors, list):
        has_tensors = any(hasattr(leaf, "op") for leaf in nest.flatten(tensors))
        return convert_to_tensor(tensors) if has_tensors else as_array(tensors)
    if not nest.is_sequence(tensors):
        return tensors
    return nest.like(tensors, [lists_as_arrays(child) for child in nest.children(tensors)])
