"""What is fed, looked at as data: inputs that are not scaled, columns that say nothing, labels of one class."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ..facts.roles import PLACEHOLDERS, place_of
from .findings import Finding

_LARGE = 50.0  # mean size of inputs beyond which squashing functions and initial weights of 1/sqrt(n) do not fit
_DARK = 5.0  # mean size from which on numbers of 0 to 255 are pixels: most of an image may be black
_BEYOND = 5.0  # times the loss of a guess
_BATCHES = 3  # with labels of one class, from which on it is no accident
_APART = 1000.0  # times the deviation of the usual column: beside such a one the others do not count
_ROWS = 16  # examples over which a column has to vary
_WIDE = 200  # columns; wider ones are images, or words
_MIXES = ("MatMul", "BatchMatMul", "BatchMatMulV2", "Conv2D", "While", "Tensordot")
_PASS = ("Identity", "Reshape", "Transpose", "ExpandDims", "Squeeze", "ConcatV2", "Cast", "StridedSlice",
         "ListUnstack", "BiasAdd", "Add", "AddV2")
_SQUASHES = ("Sigmoid", "Tanh")
_LABELED = ("SparseSoftmaxCrossEntropyWithLogits",)

Batches = Sequence[Mapping[Tensor, Any]]  # what each looked-at step was fed


def feed_mistakes(batches: Batches, *, learns: bool = False, beyond: float = 0.0) -> list[Finding]:
    """Findings about the placeholders that were fed in the last steps.

    learns: the loss falls all the same. beyond: the first loss over that of one answer to everything, 0 for unknown.
    """
    fed: dict[Tensor, list[np.ndarray]] = {}
    for batch in batches:
        for tensor, value in batch.items():
            if tensor.op.type in PLACEHOLDERS:
                fed.setdefault(tensor, []).append(np.asarray(value))
    return [finding for tensor, arrays in fed.items()
            for finding in (*_scale(tensor, arrays, learns, beyond), *_classes(tensor, arrays))]


def _scale(tensor: Tensor, arrays: Sequence[np.ndarray], learns: bool, beyond: float) -> list[Finding]:
    """Inputs of a layer that are far from 1, and columns of them that never change."""
    if not tensor.dtype.is_floating or not all(a.ndim >= 2 and a.size for a in arrays):
        return []
    layer = _first(tensor, _MIXES)
    if layer is None or not all(np.isfinite(a).all() for a in arrays):
        return []
    found = []
    values = np.concatenate([a.reshape(-1, a.shape[-1]) for a in arrays]).astype(np.float64)
    size = float(np.abs(values).mean())
    low, high, mean, spread = values.min(), values.max(), values.mean(), values.std()
    are_pixels = 0 <= low and 128 < high <= 255 and size > _DARK
    spreads = values.std(axis=0)
    wide = len(values) >= _ROWS and arrays[0].ndim == 2 and spreads.max() > _APART * max(np.median(spreads), 1e-9)
    if size > _LARGE or are_pixels:
        what = "pixels from 0 to 255" if are_pixels else f"values from {low:.4g} to {high:.4g}"
        squashed = _first(layer.outputs[0], _SQUASHES) is not None
        weight = 61 if wide or not learns else 46 if beyond > _BEYOND or squashed else 39
        told = f"; the first loss is {beyond:.3g} times what one answer to everything costs" * (beyond > _BEYOND)
        found.append(_finding(weight, "inputs not scaled", layer, tensor, f"{tensor.name} is fed "
                              f"{what} (mean {mean:.3g}, "
                              f"standard deviation {spread:.3g}): {layer.type} makes sums of them that saturate what "
                              f"follows, and gradients of their size{told}",
                              "scale what is fed: x / 255 for pixels, or (x - mean) / std by column"))
    still = np.flatnonzero(values.std(axis=0) == 0)
    if values.ndim == 2 and len(values) >= _ROWS and 0 < still.size < values.shape[1] and arrays[0].ndim == 2:
        found.append(_finding(18, "constant columns", layer, tensor, f"{still.size} of {values.shape[1]} columns of "
                              f"{tensor.name}, such as {still[0]}, are the same in all {len(values)} examples",
                              "leave them out: they only add to the bias"))
    same = _twins(values) if arrays[0].ndim == 2 else []
    if same:
        found.append(_finding(42, "duplicated columns", layer, tensor, f"columns {same[0][0]} and {same[0][1]} of "
                              f"{tensor.name} are equal in all {len(values)} examples"
                              f"{f', and {len(same) - 1} other pairs' if len(same) > 1 else ''}: one says nothing that "
                              "the other does not, and another column may be missing",
                              "look at how the columns are put together"))
    return found


def _twins(values: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of equal columns, of tables that are not too wide, where that is no accident of few values."""
    if values.shape[1] > _WIDE or len(values) < 2 * _ROWS:
        return []
    first: dict[bytes, int] = {}
    found = []
    for i, column in enumerate(values.T):
        if len(np.unique(column)) >= _ROWS and (other := first.setdefault(column.tobytes(), i)) != i:
            found.append((other, i))
    return found if 4 * len(found) < values.shape[1] else []


def _classes(tensor: Tensor, arrays: Sequence[np.ndarray]) -> list[Finding]:
    """Labels that are of one class, batch after batch."""
    loss = _first(tensor, _LABELED) if tensor.dtype.is_integer else None
    if loss is None or len(arrays) < _BATCHES or not all(a.size > 1 for a in arrays):
        return []
    classes = np.unique(np.concatenate([a.ravel() for a in arrays]))
    if classes.size > 1:
        return []
    return [_finding(54, "one label", loss, tensor, f"{tensor.name} was fed the class {classes[0]} alone in the last "
                     f"{len(arrays)} steps: the loss falls by answering {classes[0]} to everything",
                     "shuffle the examples before they are cut into batches")]


def _first(tensor: Tensor, types: Sequence[str]) -> Operation | None:
    """The nearest op of these types that takes the tensor, through ops that only pass it on."""
    level, seen = [tensor], {tensor}
    while level:
        above = []
        for taker in (c for t in level for c in t._consumers):
            if taker.type in types:
                return taker
            if taker.type in _PASS:
                above += [t for t in taker.outputs if t not in seen]
        seen.update(above)
        level = above
    return None


def _finding(severity: int, kind: str, op: Operation, tensor: Tensor, text: str, remedy: str) -> Finding:
    return Finding(severity, kind, tensor.op.name, tensor.op.type, tensor.name, text, remedy, f"print /d {tensor.name}",
                   place_of(op))
