"""The constant value of a tensor, or of some of its entries, while the graph is built: for shapes made of shapes."""
from __future__ import annotations

from typing import Any

import numpy as np

from .graph import Tensor
from .op import OPS
from .shapes import Dims, is_known

_DEPTH = 32  # shape arithmetic is shallow; a deeper chain is not looked into
_SIZE = 1024  # elements; anything larger is data, not a shape


def static_value(tensor: Any, depth: int = _DEPTH) -> np.ndarray | None:
    """The value of an integer or boolean tensor made of constants and known shapes, or None."""
    if not isinstance(tensor, Tensor):
        return np.asarray(tensor)
    array = getattr(tensor, "array", None)
    if array is not None:  # executing eagerly
        return None if tensor.dtype.kind == "O" else array
    op = tensor.op
    if op.type == "Const":
        return op.attrs["value"]
    if op.type == "Captured":
        return static_value(op.attrs["external"], depth - 1) if depth else None
    if depth == 0 or op.definition.stateful or tensor.dtype.base_dtype.kind not in "iub" and op.type != "Cast":
        return None
    if op.type in ("Shape", "Size", "Rank"):
        return _of_shape(op)
    if not op.inputs or op.type in ("Placeholder", "PlaceholderWithDefault") or op.definition.takes_run:
        return None
    values = []
    for item in op.inputs:
        value = static_value(item, depth - 1)
        if value is None or value.size > _SIZE:
            return _part_of_shape(op, depth) if op.type == "StridedSlice" else None
        values.append(value)
    try:
        with np.errstate(all="ignore"):
            result = op.definition.kernel(*values, **op.attrs)
    except Exception:  # let it fail in the run, where the failure belongs
        return None
    return np.asarray(result if len(op.outputs) == 1 else result[tensor.value_index])


def _part_of_shape(op: Any, depth: int) -> np.ndarray | None:
    """A slice of a partially known shape, where it takes known sizes only."""
    sizes = _sliced(op, depth)
    if sizes is None or None in sizes:
        return None
    value = np.array(sizes, op.outputs[0].dtype.as_numpy_dtype)
    return value[0] if op.outputs[0].dims == () else value


def _of_shape(op: Any) -> np.ndarray | None:
    dims = op.inputs[0].dims
    if dims is None or op.type != "Rank" and not is_known(dims):
        return None
    dtype = op.outputs[0].dtype.as_numpy_dtype
    values = {"Shape": dims, "Size": int(np.prod(dims)) if op.type == "Size" else 0, "Rank": len(dims)}
    return np.asarray(values[op.type], dtype=dtype)


def static_entries(vector: Tensor, length: int) -> list[Any]:
    """The entries, or rows, of `length` integers along the first axis; None for each that is not known."""
    value = static_value(vector)
    if value is not None:
        return value.tolist()
    if vector.op.type == "Pack" and not vector.op.attrs["axis"]:
        values = [static_value(item) for item in vector.op.inputs]
        return [None if v is None else v.tolist() for v in values]
    return [None] * length


def known(tensor: Tensor) -> Any:
    """The static value where there is one, else the tensor: arithmetic on it then makes no ops if it need not."""
    value = static_value(tensor)
    return tensor if value is None else value


def static_dims(tensor: Any, depth: int = _DEPTH) -> Dims | None:
    """The partial shape that an integer vector stands for; None if not even its length is known.

    Entries of -1 in a constant are unknown sizes.
    """
    value = static_value(tensor)
    if value is not None:
        return tuple([None if v < 0 else v for v in np.atleast_1d(value).tolist()])
    length = tensor.dims[0] if tensor.dims is not None and len(tensor.dims) == 1 else None
    unknown = (None,) * length if length is not None else None
    if depth == 0:
        return unknown
    op = tensor.op
    if op.type == "Captured":
        return static_dims(op.attrs["external"], depth - 1)
    if op.type == "Shape":
        return op.inputs[0].dims
    if op.type == "Pack":
        return tuple(_size(item) for item in op.inputs)
    if op.type in ("Cast", "Identity"):
        return static_dims(op.inputs[0], depth - 1)
    if op.type == "ConcatV2":
        parts = [static_dims(item, depth - 1) for item in op.inputs[1:]]
        return None if None in parts else sum([part for part in parts if part is not None], ())
    if op.type == "StridedSlice":
        return _sliced(op, depth) or unknown
    return unknown


def _sliced(op: Any, depth: int) -> Dims | None:
    """The entries that a slice takes of a vector; None where it has more axes, as `y[:, None]` has."""
    bounds = [static_value(item) for item in op.inputs[1:]]
    is_vector = op.inputs[0].dims is not None and len(op.inputs[0].dims) == 1
    whole = None if not is_vector or any(b is None for b in bounds) else static_dims(op.inputs[0], depth - 1)
    if whole is None:
        return None
    entries = np.array([-1 if d is None else d for d in whole])
    kept = OPS["StridedSlice"].kernel(entries, *bounds, **op.attrs)
    return None if np.ndim(kept) > 1 else tuple(None if v < 0 else int(v) for v in np.atleast_1d(kept))


def _size(item: Tensor) -> int | None:
    value = static_value(item)
    if value is not None:
        return None if int(value) < 0 else int(value)
    if item.op.type == "StridedSlice":
        found = _sliced(item.op, _DEPTH)
        return found[0] if found else None
    return None


def is_one(tensor: Tensor) -> bool:
    """Whether a tensor is known to be ones."""
    value = static_value(tensor)
    return value is not None and bool(np.all(np.asarray(value) == 1))
