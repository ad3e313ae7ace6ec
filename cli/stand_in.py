"""TensorFlow's import names resolve to autodiff while a model script is loaded."""
from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import autodiff


class Alias(ModuleType):
    """A module that has what `target` has, and what is set on itself."""

    def __init__(self, name: str, target: Any) -> None:
        super().__init__(name, f"autodiff, under TensorFlow's name {name}.")
        self.__path__: list[str] = []
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._target)})


def modules() -> dict[str, ModuleType]:
    """Import name -> the module that answers it, parents before children."""
    plain = ModuleType("empty")
    found: dict[str, ModuleType] = {"tensorflow": Alias("tensorflow", autodiff),
                                    "tensorflow.compat": Alias("tensorflow.compat", plain),
             "tensorflow.compat.v1": Alias("tensorflow.compat.v1", autodiff),
             "tensorflow.python": Alias("tensorflow.python", plain)}
    for name, value in sorted(vars(autodiff).items()):
        if isinstance(value, ModuleType) and value.__name__ == f"autodiff.{name}":
            found[f"tensorflow.{name}"] = found[f"tensorflow.compat.v1.{name}"] = value
    if "tensorflow.debug" in found:
        found["tensorflow.python.debug"] = found["tensorflow.debug"]
    for name, module in found.items():
        parent, _, child = name.rpartition(".")
        if isinstance(found.get(parent), Alias) and isinstance(module, Alias) or name == "tensorflow.python.debug":
            setattr(found[parent], child, module)
    return found


@contextlib.contextmanager
def standing_in() -> Iterator[None]:
    """`import tensorflow` gives autodiff inside the block, and what was there before comes back."""
    names = modules()
    saved = {name: module for name, module in sys.modules.items()
             if name == "tensorflow" or name.startswith("tensorflow.")}
    for name in saved:
        del sys.modules[name]
    sys.modules.update(names)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name == "tensorflow" or name.startswith("tensorflow.")]:
            del sys.modules[name]
        sys.modules.update(saved)
