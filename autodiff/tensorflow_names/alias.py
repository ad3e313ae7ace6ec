"""TensorFlow's import names, answered by autodiff while a script runs."""
from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .. import NAMESPACES
from ..api import flags
from ..api.common.unsupported import unsupported_name
from ..api.compat import disable_v2_tensorshape
from ..core.errors import StateError, UnsupportedError
from .places import ROOMS, is_module, may_be_imported, place_of

KERAS_VERSION = "2.3.1"  # the last `keras` that had TensorFlow 1 below it
VERSION = "1.15.5"  # of the TensorFlow whose names and semantics these are: scripts ask tf.__version__ and tf.VERSION
COMPANIONS = ("absl", "six")  # packages that TensorFlow 1 brought with it, of which scripts make use

class Alias(ModuleType):
    """A module that finds its names in rooms of autodiff. Raises UnsupportedError for a name that none has."""

    def __init__(self, name: str, rooms: Sequence[str]) -> None:
        super().__init__(name, f"autodiff, under TensorFlow's name {name}.")
        self._rooms = rooms
        self._changed: dict[str, list[tuple[ModuleType, Any]]] = {}
        self.__version__ = VERSION if name.partition(".")[0] != "keras" else KERAS_VERSION
        if "" in rooms:
            self.VERSION = VERSION

    def __getattr__(self, name: str) -> Any:
        if name == "__all__" and "" not in self._rooms:  # for import *
            return sorted({each for room in self._rooms for each in _public(_room(room))})
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if is_module(f"{self.__name__}.{name}"):
            return module_named(f"{self.__name__}.{name}")
        refusal = None
        for room in self._rooms:
            try:
                value = getattr(_room(room), name)
            except AttributeError as error:
                refusal = refusal or error
            else:
                if room or not isinstance(value, ModuleType) or name in NAMESPACES:
                    self.__dict__[name] = value
                    return value
        raise refusal if isinstance(refusal, UnsupportedError) else unsupported_name(self._spelling, name, dir(self))

    def __setattr__(self, name: str, value: Any) -> None:
        """A name that a script gives another value has it for those who look it up in its room, too, until the end."""
        super().__setattr__(name, value)
        for room in () if name[0] == "_" or isinstance(value, ModuleType) else self._rooms:
            module = _room(room) if room else None
            if isinstance(module, ModuleType) and name in vars(module):
                self._changed.setdefault(name, []).append((module, vars(module)[name]))
                setattr(module, name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        for module, value in reversed(self._changed.pop(name, ())):
            setattr(module, name, value)

    def put_back(self) -> None:
        """Give the rooms' names the values they had."""
        for name in list(self._changed):
            delattr(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for room in self._rooms for name in dir(_room(room)))})

    @property
    def _spelling(self) -> str:
        top, dot, rest = self.__name__.partition(".")
        return ("tf" if top == "tensorflow" else top) + dot + rest


def has_protobuf() -> bool:
    """Whether Google's own protocol buffers are installed."""
    google = PathFinder.find_spec("google")
    return google is not None and PathFinder.find_spec("google.protobuf", google.submodule_search_locations) is not None


def is_answered(name: str) -> bool:
    """Whether an import name is answered by us: of what came with TensorFlow 1 only where it is not installed.

    `keras` is, unless it is to stand on another framework than TensorFlow.
    """
    top = name.partition(".")[0]
    if top == "google":
        return not has_protobuf() and (name != top or PathFinder.find_spec(top) is None)
    if top in COMPANIONS:
        return PathFinder.find_spec(top) is None and is_module(name)
    return top == "tensorflow" or top == "keras" and os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow"


class Finder:
    """Finds `tensorflow`, `keras` and what is below for the import system; what came with it, too, if not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if is_answered(name) else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Alias(spec.name, _rooms_of(spec.name))

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: an Alias looks its names up when they are asked for."""


def module_named(name: str) -> ModuleType:
    """The module of an import name: the import system's while a script runs, else one made now.

    Somebody else's module of that name may ask us in turn: it is none of ours.
    """
    known = sys.modules.get(name)
    if isinstance(known, Alias):
        return known
    if known is None and any(isinstance(finder, Finder) for finder in sys.meta_path):
        return importlib.import_module(name)
    return Alias(name, _rooms_of(name))


def _room(dotted: str) -> Any:
    if dotted.startswith(("api.", "tensorflow_names.")):
        return importlib.import_module(f"..{dotted}", __package__)
    if dotted.startswith("stdlib."):
        return importlib.import_module(dotted.removeprefix("stdlib."))
    if dotted.startswith("python."):
        return importlib.import_module(f".{dotted}", __package__)
    found: Any = sys.modules[__package__.partition(".")[0]]
    for name in dotted.split(".") if dotted else ():
        found = getattr(found, name)
    return found


def _public(room: Any) -> Iterable[str]:
    """The names that a room has of itself and of those beside it, without what it is made with."""
    around = getattr(room, "__name__", "").rpartition(".")[0]
    own = [name for name, value in vars(room).items() if name[0] != "_" and callable(value)
           and getattr(value, "__module__", "").startswith(around)]
    return [*getattr(room, "__all__", ()), *own]


def _rooms_of(name: str) -> tuple[str, ...]:
    """The rooms that answer an import name. Raises ModuleNotFoundError, which says what to use, if there are none."""
    place = place_of(name)
    rest, rooms = name[len(place) + 1:], ROOMS[place]
    if ".ops.gen_" in name:
        rooms = "python.raw_ops", *rooms
    if name.startswith("tensorflow.python.ops."):
        rooms = *rooms, "python.ops", "python.version_2", "python.raw_ops"
    if name.startswith("tensorflow.python.") and not may_be_imported(name):
        raise _missing(unsupported_name("tf", name.partition(".")[2], ()))
    if not rest or {"core", "python"} & set(name.split(".")):
        return rooms
    path = ".".join([*rooms[-1:], rest]).strip(".")
    try:
        if rooms and isinstance(_room(path), ModuleType):
            return (path,)
        raise unsupported_name("tf", path if name.startswith("keras.") else name.partition(".")[2], ())
    except AttributeError as error:
        raise _missing(error) from None


def _missing(error: AttributeError) -> ModuleNotFoundError:
    return ModuleNotFoundError(str(error))  # without a name: `from package import it` would hide these words


def real_tensorflow() -> str:
    """Where a real TensorFlow is installed; empty if there is none."""
    try:
        spec = importlib.util.find_spec("tensorflow")
    except (ImportError, ValueError):
        return ""
    return "" if spec is None or isinstance(spec.loader, Finder) else str(spec.origin)


class standing_in:  # noqa: N801 (used as a function is)
    """`import tensorflow`, and what is below it, gives autodiff inside the block; then all is as before.

    shadow: even where a real TensorFlow is installed; else that raises StateError (a RuntimeError).
    The flags that an earlier script defined are forgotten. No generator: one that is left open is closed when the
    interpreter ends, after the import system is gone.
    """

    def __init__(self, *, shadow: bool = False) -> None:
        self.shadow = shadow

    def __enter__(self) -> None:
        real = "" if self.shadow else real_tensorflow()
        if real:
            raise StateError(f"a real TensorFlow is installed: {real}",
                             hint="use `import autodiff as tf` beside it, or standing_in(shadow=True) to hide it")
        flags.FLAGS.forget()
        disable_v2_tensorshape()
        self._saved, self._finder = _taken_out(), Finder()
        sys.meta_path.insert(0, self._finder)

    def __exit__(self, *raised: object) -> None:
        sys.meta_path.remove(self._finder)
        for module in _taken_out().values():
            if isinstance(module, Alias):
                module.put_back()
        sys.modules.update(self._saved)
        disable_v2_tensorshape()


def _taken_out() -> dict[str, ModuleType]:
    names = [name for name, module in sys.modules.items() if name.partition(".")[0] in ("tensorflow", "keras")
             or name.partition(".")[0] in ("google", *COMPANIONS) and isinstance(module, Alias)]
    return {name: sys.modules.pop(name) for name in names}
