"""Doors: what is put around a framework while a script runs that uses it, so that its steps become runs.

A door is opened when the script imports its framework, or at once if that is loaded already, in the script's own
thread. A room of a framework registers its door in `DOORS`: a function door(view) that gives a context manager.
"""
from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

DOORS = {"torch": "torch.door", "jax": "jax.door", "optax": "jax.optimizers",
         "flax.linen": "jax.averages"}  # framework -> module in this room, which has open_door(view)
BEFORE = {"torch": {"OMP_WAIT_POLICY": "PASSIVE"}}  # variables set, if they are not, before a framework is loaded:
# threads that wait by spinning make small ops several times slower where another process wants their processor
ALWAYS = ("eager.door",)  # modules of doors that no import opens


@dataclass(frozen=True)
class View:
    """What a door may know of the script, and tell it. namespace: gives its globals. is_left: whether it is to be let
    alone. handles: what else the prompt is to know by name. doors: those that others work with, by their framework.

    hurries: whether it goes on to its end, and no watch or stop asks for each step.
    offer: takes the graph and the session that the debugger may look at once the script has ended.
    """

    namespace: Callable[[], dict[str, Any]]
    is_left: Callable[[], bool]
    offer: Callable[[Any, Any], None] = lambda graph, session: None
    hurries: Callable[[], bool] = lambda: False
    handles: dict[str, Any] = field(default_factory=dict)
    doors: dict[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def opened(view: View) -> Iterator[None]:
    """While the script runs: each framework that it imports gets its door.

    Without one, it is of TensorFlow 1's time, and numbers in lists are shown as NumPy then showed them.
    """
    with np.printoptions(legacy="1.25"), contextlib.ExitStack() as open_doors:
        finder = _Finder(lambda name: _open(name, view, open_doors))
        sys.meta_path.insert(0, finder)
        open_doors.callback(sys.meta_path.remove, finder)
        for place in ALWAYS:
            open_doors.enter_context(import_module(f"{__package__}.{place}").open_door(view))
        for name in DOORS:
            if name in sys.modules:
                _open(name, view, open_doors)
        yield


def _open(name: str, view: View, open_doors: contextlib.ExitStack) -> None:
    place = f"{__package__}.{DOORS[name]}"
    np.set_printoptions(legacy=False)
    if importlib.util.find_spec(place) is not None:
        open_doors.enter_context(import_module(place).open_door(view))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds frameworks as Python does, and says when one has been loaded."""

    def __init__(self, loaded: Callable[[str], None]) -> None:
        self._loaded, self._asked = loaded, set[str]()

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in DOORS or name in self._asked:
            return None
        self._asked.add(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        for variable, value in BEFORE.get(name, {}).items():
            os.environ.setdefault(variable, value)
        spec.loader = _Loader(spec.loader, lambda: self._loaded(name))
        return spec


class _Loader(importlib.abc.Loader):
    """A loader that says when it is done."""

    def __init__(self, loader: Any, done: Callable[[], None]) -> None:
        self._loader, self._done = loader, done

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = module.__spec__.loader = self._loader  # type: ignore[union-attr]
        self._loader.exec_module(module)
        self._done()
