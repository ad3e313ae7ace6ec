"""TensorFlow's import names, answered by autodiff while a script runs."""
from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .. import NAMESPACES
from ..api import flags
from ..api.common.unsupported import unsupported_name
from ..core.errors import StateError, UnsupportedError

VERSION = "1.15.5"  # of the TensorFlow whose names and semantics these are: scripts ask tf.__version__ and tf.VERSION

# Import name -> rooms of autodiff that are searched for its names, in this order ("": autodiff itself).
# It stands for all that is below it; what is below `tensorflow` itself is found by its own name.
PLACES: dict[str, tuple[str, ...]] = {
    "google": (),
    "google.protobuf": (),
    "google.protobuf.message": ("tensorflow_names.text_format",),
    "google.protobuf.text_format": ("tensorflow_names.text_format",),
    "tensorflow": ("",),
    "tensorflow.compat": ("compat",),
    "tensorflow.compat.v1": ("",),
    "tensorflow.core": (),
    **{f"tensorflow.core.{room}": ("api.messages", "") for room in ("example", "framework", "protobuf", "util")},
    "tensorflow.examples": (),
    "tensorflow.examples.tutorials": (),
    "tensorflow.examples.tutorials.mnist": ("mnist",),
    "tensorflow.examples.tutorials.mnist.input_data": ("mnist",),
    "tensorflow.contrib.framework.python": ("contrib.framework", ""),
    "tensorflow.contrib.layers.python": ("contrib.layers",),
    "tensorflow.contrib.learn.python.learn.datasets": ("mnist",),
    "tensorflow.contrib.rnn.python": ("contrib.rnn", "nn.rnn_cell"),
    "tensorflow.python": (),
    "tensorflow.python.client": ("",),
    "tensorflow.python.debug": ("debug",),
    "tensorflow.python.eager": ("",),
    "tensorflow.python.framework": ("",),
    "tensorflow.python.framework.errors": ("errors",),
    "tensorflow.python.framework.errors_impl": ("errors",),
    "tensorflow.python.framework.ops": ("",),
    "tensorflow.python.framework.graph_io": ("train",),
    "tensorflow.python.framework.graph_util": ("graph_util",),
    "tensorflow.python.framework.graph_util_impl": ("graph_util",),
    "tensorflow.python.framework.meta_graph": ("train",),
    "tensorflow.python.layers": ("layers",),
    "tensorflow.python.lib": (),
    "tensorflow.python.lib.io": ("gfile",),
    "tensorflow.python.lib.io.python_io": ("python_io",),
    "tensorflow.python.lib.io.tf_record": ("python_io",),
    "tensorflow.python.ops": ("", "math", "nn"),
    "tensorflow.python.ops.distributions": ("distributions",),
    "tensorflow.python.ops.gradient_checker": ("test",),
    "tensorflow.python.ops.gradients": ("",),
    "tensorflow.python.ops.init_ops": ("initializers", ""),
    "tensorflow.python.ops.linalg_ops": ("linalg", ""),
    "tensorflow.python.ops.losses": ("losses",),
    "tensorflow.python.ops.map_fn": ("",),
    "tensorflow.python.ops.metrics": ("metrics",),
    "tensorflow.python.ops.random_ops": ("random", ""),
    "tensorflow.python.ops.rnn": ("nn",),
    "tensorflow.python.ops.rnn_cell": ("nn.rnn_cell",),
    "tensorflow.python.ops.rnn_cell_impl": ("nn.rnn_cell",),
    "tensorflow.python.ops.variable_scope": ("",),
    "tensorflow.python.ops.variables": ("",),
    "tensorflow.python.platform": (),
    "tensorflow.python.platform.app": ("app",),
    "tensorflow.python.platform.flags": ("flags",),
    "tensorflow.python.platform.gfile": ("gfile",),
    "tensorflow.python.platform.googletest": ("test",),
    "tensorflow.python.platform.test": ("test",),
    "tensorflow.python.platform.tf_logging": ("logging",),
    "tensorflow.python.pywrap_tensorflow": ("train",),
    "tensorflow.python.saved_model": ("saved_model",),
    "tensorflow.python.saved_model.builder": ("saved_model.builder",),
    "tensorflow.python.saved_model.constants": ("saved_model.constants",),
    "tensorflow.python.saved_model.signature_constants": ("saved_model.signature_constants",),
    "tensorflow.python.saved_model.tag_constants": ("saved_model.tag_constants",),
    "tensorflow.python.summary": ("summary",),
    "tensorflow.python.summary.summary_iterator": ("train",),
    "tensorflow.python.tools": (),
    "tensorflow.python.tools.inspect_checkpoint": ("api.train.inspect_checkpoint",),
    "tensorflow.python.training": ("train", "train.moving_averages"),
    "tensorflow.python.util": (),
    "tensorflow.python.util.compat": ("compat",),
    "tensorflow.python.util.nest": ("nest",),
}


class Alias(ModuleType):
    """A module that finds its names in rooms of autodiff. Raises UnsupportedError for a name that none has."""

    def __init__(self, name: str, rooms: Sequence[str]) -> None:
        super().__init__(name, f"autodiff, under TensorFlow's name {name}.")
        self._rooms = rooms
        self.__version__ = VERSION
        if "" in rooms:
            self.VERSION = VERSION

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if f"{self.__name__}.{name}" in PLACES:
            return importlib.import_module(f"{self.__name__}.{name}")
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

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for room in self._rooms for name in dir(_room(room)))})

    @property
    def _spelling(self) -> str:
        return "tf" + self.__name__.removeprefix("tensorflow")


def has_protobuf() -> bool:
    """Whether Google's own protocol buffers are installed."""
    google = PathFinder.find_spec("google")
    return google is not None and PathFinder.find_spec("google.protobuf", google.submodule_search_locations) is not None


class Finder:
    """Finds `tensorflow` and all below it for the import system; protocol buffers, too, if they are not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if top == "google" and (has_protobuf() or name == "google" and PathFinder.find_spec(name) is not None):
            return None
        if top not in ("google", "tensorflow"):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Alias(spec.name, _rooms_of(spec.name))

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: an Alias looks its names up when they are asked for."""


def _room(dotted: str) -> Any:
    if dotted.startswith(("api.", "tensorflow_names.")):
        return importlib.import_module(f"..{dotted}", __package__)
    found: Any = sys.modules[__package__.partition(".")[0]]
    for name in dotted.split(".") if dotted else ():
        found = getattr(found, name)
    return found


def _rooms_of(name: str) -> tuple[str, ...]:
    """The rooms that answer an import name. Raises ImportError, which says what to use, if there are none."""
    place = name
    while place not in PLACES:
        place = place.rpartition(".")[0]
    rest, rooms = name[len(place) + 1:], PLACES[place]
    if not rest or rooms and {"core", "python"} & set(place.split(".")):
        return rooms
    try:
        if rooms and isinstance(_room(".".join([*rooms, rest]).strip(".")), ModuleType):
            return (".".join([*rooms, rest]).strip("."),)
        raise unsupported_name("tf", name.partition(".")[2], ())
    except AttributeError as error:
        raise ImportError(str(error), name=name) from None


def real_tensorflow() -> str:
    """Where a real TensorFlow is installed; empty if there is none."""
    try:
        spec = importlib.util.find_spec("tensorflow")
    except (ImportError, ValueError):
        return ""
    return "" if spec is None or isinstance(spec.loader, Finder) else str(spec.origin)


@contextlib.contextmanager
def standing_in(*, shadow: bool = False) -> Iterator[None]:
    """`import tensorflow`, and what is below it, gives autodiff inside the block; then all is as before.

    shadow: even where a real TensorFlow is installed; else that raises StateError (a RuntimeError).
    The flags that an earlier script defined are forgotten.
    """
    real = "" if shadow else real_tensorflow()
    if real:
        raise StateError(f"a real TensorFlow is installed: {real}",
                         hint="use `import autodiff as tf` beside it, or standing_in(shadow=True) to hide it")
    flags.FLAGS.forget()
    saved, finder = _taken_out(), Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _taken_out()
        sys.modules.update(saved)


def _taken_out() -> dict[str, ModuleType]:
    names = [name for name, module in sys.modules.items() if name.partition(".")[0] == "tensorflow"
             or name.partition(".")[0] == "google" and isinstance(module, Alias)]
    return {name: sys.modules.pop(name) for name in names}
