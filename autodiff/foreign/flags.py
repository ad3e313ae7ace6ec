"""Flags that a script holds beside what a step is given, and gives to no op, as where an episode has ended."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..core.graph import Operation, Tensor
from ..core.site import PACKAGE
from ..core.traversal import ancestors
from ..debug.analysis.advice import Flag
from ..debug.analysis.mistakes.targets.left_open import Bootstrap, bootstraps_of

_LIBRARIES = (PACKAGE, os.path.dirname(os.__file__) + os.sep, "<frozen")
_NUMBERS = (bool, int, float, np.number, np.bool_)
_NONE = Flag(0, 0, "")
_PARTS = 16  # of a tuple, dict or object that are looked at

_Name = tuple[CodeType, str]
_Scope = tuple[CodeType, Mapping[str, Any]]  # a function, and what its names are


class Flags:
    """Those beside the losses whose targets a network makes itself. kind: of the framework's arrays.

    array_of: their elements. own, other: a flag of that kind, or another, as a number in the framework's terms.
    """

    def __init__(self, kind: type, array_of: Callable[[Any], np.ndarray], own: str = "{}", other: str = "{}") -> None:
        self._kind, self._array_of, self._own, self._other = kind, array_of, own, other
        self._known: dict[Tensor, tuple[list[Bootstrap], set[Operation]]] = {}
        self._held: dict[Tensor, dict[_Name, Flag | None]] = {}  # None: was no flag, or went into the graph, once

    def beside(self, loss: Tensor, feeds: Mapping[Tensor, Any], *called: _Scope) -> dict[str, Flag]:
        """Those that the functions hold which wait for a step, this one and those before it. called: functions that
        the step was made of, and their arguments."""
        if loss not in self._known:
            self._known[loss] = bootstraps_of(loss), ancestors([loss])
        (found, behind), held = self._known[loss], self._held.setdefault(loss, {})
        for each in found[:1]:
            given = [np.ravel(value) for fed, value in feeds.items() if fed.op in behind]
            rows = (each.reward.dims or (0,))[0] or 0
            for code, names in (*called, *_waiting()) if rows > 1 else ():
                for text, value in _spelled(names):
                    name = code, text
                    array = self._array(value, rows) if held.get(name, _NONE) is not None else None
                    if array is None:
                        continue
                    old, is_flag = held.get(name) or _NONE, array.dtype.kind in "biuf" and bool(np.all(
                        (array == 0) | (array == 1)))
                    is_used = is_flag and array.any() and any(np.array_equal(array.ravel(), v) for v in given)
                    held[name] = None if is_used or not is_flag else Flag(
                        old.ones + int(array.sum()), old.rows + rows, self._kept(each, code, text, value, array.ndim))
        flags = [(text, flag) for (_, text), flag in held.items() if flag is not None]
        return dict(sorted(flags, key=lambda each: bool(each[1].kept)))  # a name of several functions, as it is written

    def _array(self, value: Any, rows: int) -> np.ndarray | None:
        """What has a number for each of so many rows; None for anything else."""
        if isinstance(value, (list, tuple)):
            return np.asarray(value) if len(value) == rows and isinstance(value[0], _NUMBERS) else None
        shape: Any = getattr(value, "shape", None) if isinstance(value, (np.ndarray, self._kind)) else ()
        if tuple(shape) not in ((rows,), (rows, 1)):
            return None
        try:
            return value if isinstance(value, np.ndarray) else self._array_of(value)
        except (TypeError, ValueError, RuntimeError):
            return None  # as of what is traced

    def _kept(self, each: Bootstrap, code: CodeType, text: str, value: Any, rank: int) -> str:
        """What the target's line is to multiply by; "" where that cannot read it."""
        site, wanted = each.product.site, len(each.following.dims or ())
        if site is None or (site.file, site.function) != (code.co_filename, code.co_name):
            return ""
        shape = "" if wanted == rank else ".reshape(-1, 1)" if wanted > rank else ".reshape(-1)"
        return f"(1 - {(self._own if isinstance(value, self._kind) else self._other).format(text)}{shape})"


def _waiting() -> Iterator[_Scope]:
    """The script's functions that wait for what is done here, innermost first, and what they hold."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if "-packages" not in file and not file.startswith(_LIBRARIES):
            yield frame.f_code, frame.f_locals
            if frame.f_code.co_name == "<module>":
                return
        frame = frame.f_back


def _spelled(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a function holds, and the parts of its tuples, dicts and plain objects, by their text."""
    for name, value in list(names.items()):
        yield name, value
        if isinstance(value, dict):
            yield from ((f"{name}[{key!r}]", part) for key, part in [*value.items()][:_PARTS] if isinstance(key, str))
        elif isinstance(value, tuple) and (fields := getattr(value, "_fields", None)):
            yield from ((f"{name}.{field}", part) for field, part in zip(fields, value))
        elif isinstance(value, tuple) or isinstance(value, list) and value and not isinstance(value[0], _NUMBERS):
            yield from ((f"{name}[{i}]", part) for i, part in enumerate(value[:_PARTS]))
        elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
            yield from ((f"{name}.{field}", getattr(value, field, None)) for field in value.__dataclass_fields__)
