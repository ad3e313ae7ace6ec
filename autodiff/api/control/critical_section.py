"""CriticalSection: functions whose ops run together, with none of another such function's between them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...core.graph import Operation, get_default_graph
from ...core.op import build
from .control_flow import cond


class CriticalSection:
    """A lock that one function at a time holds. What a function makes is one step of a run, as a branch is; which of
    several comes first is left to the run. The arguments name the lock and change nothing."""

    def __init__(self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None,
                 import_scope: str | None = None) -> None:
        self.name, self._is_held = name or "critical_section", False

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What `fn()` gives, computed while the lock is held. Raises ArgumentError (ValueError) inside of `fn`."""
        if self._is_held:
            raise ArgumentError(f"fn of critical section {self.name!r} executes in the section itself, which it would "
                                "wait for without end")
        self._is_held = True
        try:
            if get_default_graph().executing_eagerly:
                return fn()
            given: list[Any] = []

            def inside() -> list[Any]:
                given.append(fn())
                return [leaf for leaf in nest.flatten(given[0]) if leaf is not None]

            def never() -> list[Any]:
                return [_alike(leaf) for leaf in nest.flatten(given[0]) if leaf is not None]

            made = iter(cond(convert_to_tensor(True), inside, never, strict=True, name=name or f"{self.name}_execute"))
        finally:
            self._is_held = False
        return nest.map_structure(lambda leaf: None if leaf is None else next(made).op if isinstance(leaf, Operation)
                                  else next(made), given[0])


def _alike(leaf: Any) -> Any:
    """What stands for a result where there is none, of its type and as far as possible of its shape."""
    if isinstance(leaf, Operation):
        return build.NoOp()
    leaf = convert_to_tensor(leaf)
    nothing = np.zeros([size or 0 for size in leaf.dims or ()], leaf.dtype.as_numpy_dtype)
    return convert_to_tensor(nothing, leaf.dtype.base_dtype)
