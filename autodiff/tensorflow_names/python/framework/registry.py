"""tensorflow.python.framework.registry: what is registered under names, each once."""
from __future__ import annotations

import sys
from typing import Any


class Registry(dict[str, Any]):
    """Objects by name. Raises KeyError for a name that is taken, LookupError for one that nobody registered."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._places = name, dict[str, str]()

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Note an object under a name, or its own `__name__`."""
        key, frame = name or candidate.__name__, sys._getframe(1)
        if key in self:
            raise KeyError(f"Registering two {self._name} with name '{key}'! (Previous registration was in "
                           f"{self._places[key]})")
        self[key], self._places[key] = candidate, f"{frame.f_code.co_name} {frame.f_code.co_filename}:{frame.f_lineno}"

    list, lookup = dict.keys, dict.__getitem__
