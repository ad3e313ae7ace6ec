"""TensorFlow's sentences for indices and updates that do not fit."""

import numpy as np

from ...core.shapes import compatible, show

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def check_within(indices, size, of):
    """Raises IndexError unless 0 <= index < size for all; unsigned, negative ones are large. of: what, in words."""
    if indices.size and np.maximum.reduce(indices.view(_UNSIGNED[indices.itemsize]), axis=None) >= size:
        raise IndexError(f"{first_outside(indices, size)}{of}")


def first_outside(indices, size, what="indices", how="not in", lowest=0):
    """`indices[0,1] = 7 is not in [0, 2)`, of the first index outside of lowest <= index < size."""
    outside = indices >= size if lowest is None else (indices < lowest) | (indices >= size)
    place = tuple(np.argwhere(outside)[0].tolist())
    at = f"[{','.join(map(str, place))}]" if place else ""
    return f"{what}{at} = {indices[place]} is {how} [0, {size})"


def not_within(indices, shape, what="shape"):
    """`indices[0,1] = [7] does not index into shape [3]`, of the first row that leaves the shape."""
    limits = np.array(shape[:indices.shape[-1]])
    place = tuple(np.argwhere(((indices < 0) | (indices >= limits)).any(-1))[0].tolist())
    at = f"[{','.join(map(str, place))}]" if place else ""
    entries = ", ".join(map(str, indices[place].tolist()))
    return f"indices{at} = [{entries}] does not index into {what} {show(shape)}"


def mismatch(indices, updates, dims, target="output"):
    """Why updates fit neither the outer shape of indices nor the rest of `dims`."""
    outer = len(indices) - 1
    if len(updates) < outer or not compatible(indices[:-1], updates[:outer]):
        return (f"The outer {outer} dimensions of indices.shape={show(indices)} must match the outer {outer} "
                f"dimensions of updates.shape={show(updates)}")
    return (f"The inner {len(dims) - indices[-1]} dimensions of {target}.shape={show(dims)} must match the inner "
            f"{len(updates) - outer} dimensions of updates.shape={show(updates)}")
