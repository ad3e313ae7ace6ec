"""tensorflow.python.framework.registry: what is registered under names, each once."""
from __future__ import annotations

import sys
from typing import Any


class Registry:
    """Objects by name. Raises KeyError for a name that is taken, LookupError for one that nobody registered."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._registered: dict[str, tuple[Any, str]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Note an object under a name, or its own `__name__`."""
        key = name or candidate.__name__
        if key in self._registered:
            raise KeyError(f"Registering two {self._name} with name '{key}'! (Previous registration was in "
                           f"{self._registered[key][1]})")
        frame = sys._getframe(1)
        self._registered[key] = candidate, f"{frame.f_code.co_name} {frame.f_code.co_filename}:{frame.f_lineno}"

    def list(self) -> Any:
        """The names."""
        return self._registered.keys()

    def lookup(self, name: str) -> Any:
        """The object of a name."""
        if name not in self._registered:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registered[name][0]
