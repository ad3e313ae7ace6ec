"""Public import paths: `import autodiff.nn` gives the module that lives at `autodiff.api.nn`, never a second copy."""
from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class PublicPaths:
    """Finds the namespaces of a package by their public paths, for the import system.

    places: namespace -> path of its module below the package. Paths below a namespace lead below that module.
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        self._package, self._places = package, places

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec that leads to the module's own place; None where the path is that place, or not ours."""
        package, _, rest = name.partition(".")
        namespace, _, below = rest.partition(".")
        place = self._places.get(namespace, namespace) if package == self._package else namespace
        if place == namespace:
            return None
        return ModuleSpec(name, _Elsewhere(".".join(filter(None, (package, place, below)))))  # type: ignore[arg-type]


class _Elsewhere:
    """Loads nothing: hands out the module of another path."""

    def __init__(self, place: str) -> None:
        self._place = place

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._place)
        self._own = module.__spec__, module.__loader__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Undoes what the import system wrote into the module: it keeps the spec of its own place."""
        module.__spec__, module.__loader__ = self._own
