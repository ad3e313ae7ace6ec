"""tf.debugging.assert_shapes: sizes of several tensors against each other, by names."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.errors import ArgumentError, ShapeError
from ..core.graph import Tensor, get_default_graph
from ..core.name_scope import scope
from ..core.op import build

_ANY = ("*", Ellipsis)  # as the first entry: any axes


class _Size(NamedTuple):
    """The size of a tensor's axis: a number if it is known, or a tensor. axis: counted as the shape was given."""

    tensor: Tensor
    axis: int
    size: Any


def assert_shapes(shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                  name: str | None = None) -> Any:
    """The operation that fails unless the sizes of tensors are what is said, and equal where they have one name.

    shapes: pairs of a tensor and its shape, or a dict: numbers, names, None or '.' for any size; '*' or `...` as the
    first entry for any axes; None for any shape. A scalar may stand for one element. Raises ShapeError (ValueError)
    for what is known now.
    """
    with scope(name, "assert_shapes", [shapes]):
        pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
        checks: list[Any] = []
        known: dict[Any, _Size] = {}
        for given, wanted in pairs:
            if wanted is not None:
                _check(convert_to_tensor(given), wanted, message or "", known, checks, summarize or 3)
        with get_default_graph().control_dependencies(checks):
            return build.NoOp(name="static_checks_determined_all_ok")


def _check(tensor: Tensor, wanted: Any, message: str, known: dict[Any, _Size], checks: list[Any],
           summarize: int) -> None:
    if not hasattr(wanted, "__iter__") and not hasattr(wanted, "__getitem__"):
        raise ArgumentError(f"{message}.  Tensor {_called(tensor)}.  Specified shape must be an iterable.  An iterable "
                            "has the attribute `__iter__` or `__getitem__`.  Received specified shape: "
                            f"{wanted}".removeprefix(".  "))
    entries = [_entry(entry) for entry in wanted]
    is_open = bool(entries) and entries[0] in _ANY
    entries = entries[is_open:]
    if any(entry in _ANY for entry in entries):
        index = next(i for i, entry in enumerate(entries) if entry in _ANY)
        raise ArgumentError(f"{message}Tensor {_called(tensor)} specified shape index {index}.  Symbol `...` or `*` "
                            "for a variable number of unspecified dimensions is only allowed as the first entry")
    if not is_open and len(entries) <= 1 and tensor.dims in ((), None) or not entries and not is_open:
        if tensor.dims == () or not entries and (tensor.dims is None or len(tensor.dims) <= 1):
            tensor, entries = build.Reshape(tensor, [-1]), entries or [1]
    _check_rank(tensor, len(entries), is_open, message, checks, summarize)
    dynamic = build.Shape(tensor)
    rank = None if tensor.dims is None else len(tensor.dims)
    for place, entry in enumerate(entries):
        axis = place - len(entries) if is_open else place
        size = None if rank is None else tensor.dims[axis]  # type: ignore[index]
        found = _Size(tensor, axis, dynamic[axis] if size is None else size)
        if entry is None:
            continue
        if isinstance(entry, int):
            _compare(found, entry, "Specified explicitly", message, checks, summarize)
        elif entry in known:
            first = known[entry]
            why = f"Specified by tensor {_called(first.tensor)} dimension {first.axis}"
            _compare(found, first.size, why, message, checks, summarize)
        else:
            known[entry] = found


def _entry(entry: Any) -> Any:
    """A number, a name, or None; digits as a text are a number."""
    if isinstance(entry, (int, np.integer)):
        return int(entry)
    if isinstance(entry, str) and entry.isdigit():
        return int(entry)
    return None if entry == "." else getattr(entry, "value", entry)


def _check_rank(tensor: Tensor, rank: int, is_open: bool, message: str, checks: list[Any], summarize: int) -> None:
    words = "must have rank at least" if is_open else "must have rank"
    if tensor.dims is None:
        holds = build.GreaterEqual(build.Rank(tensor), rank) if is_open else build.Equal(build.Rank(tensor), rank)
        checks.append(build.Assert(holds, message, f"Tensor {_called(tensor)} {words}", rank, "Received shape: ",
                                   build.Shape(tensor), summarize=summarize))
    elif len(tensor.dims) < rank or not is_open and len(tensor.dims) != rank:
        raise ShapeError(f"{message}.  Tensor {_called(tensor)} {words} {rank}.  Received rank {len(tensor.dims)}, "
                         f"shape {tensor.shape}".removeprefix(".  "))


def _compare(found: _Size, wanted: Any, why: str, message: str, checks: list[Any], summarize: int) -> None:
    if not isinstance(wanted, Tensor) and not isinstance(found.size, Tensor):
        if wanted != found.size:
            raise ShapeError(f"{message}.  {why}.  Tensor {_called(found.tensor)} dimension {found.axis} must have "
                             f"size {wanted}.  Received size {found.size}, shape {found.tensor.shape}")
        return
    checks.append(build.Assert(build.Equal(found.size, wanted), message, why,
                               f"Tensor {_called(found.tensor)} dimension", found.axis, "must have size", wanted,
                               "Received shape: ", build.Shape(found.tensor), summarize=summarize))


def _called(tensor: Tensor) -> str:
    return str(tensor.shape) if tensor.graph.executing_eagerly else tensor.name
