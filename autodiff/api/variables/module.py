"""tf.Module: an object that finds the variables and modules among its attributes."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from ...core import nest
from ...core.errors import ArgumentError
from ..control.dependencies import name_scope
from .trackable import AutoTrackable
from .variable import Variable

__all__ = ["Module"]


class Module(AutoTrackable):
    """What it holds, in attributes or in lists, tuples and dicts there, counts as its own. name: an identifier.

    By default the name is that of the class in small letters, with `_` between words.
    """

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset({"_name_scope"})

    def __init__(self, name: str | None = None) -> None:
        name = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(self).__name__).lower()
        if not name.isidentifier():
            raise ArgumentError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                                "(e.g. a valid class name).")
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> Any:
        """The scope in which it was made, to be entered again."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """Its variables and those of its modules, each once."""
        return tuple(self._flatten(predicate=lambda found: isinstance(found, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Of its variables those that are trained."""
        return tuple(self._flatten(predicate=lambda found: isinstance(found, Variable) and found.trainable))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules that it holds, and those in them."""
        return tuple(self._flatten(predicate=lambda found: isinstance(found, Module)))

    def _flatten(self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None,
                 attribute_traversal_key: Any = None, with_path: bool = False) -> Iterator[Any]:
        """What its attributes hold and `predicate` takes, by name of the attribute, and then of the modules there."""
        seen: set[int] = {id(self)}
        waiting: list[tuple[tuple[Any, ...], Module]] = [((), self)]
        while waiting:
            path, module = waiting.pop()
            attributes = {name: value for name, value in vars(module).items()
                          if name not in module._TF_MODULE_IGNORED_PROPERTIES}
            below: list[tuple[tuple[Any, ...], Module]] = []
            for name in sorted(attributes, key=attribute_traversal_key):
                for i, value in enumerate(_leaves(attributes[name])):
                    if id(value) in seen:
                        continue
                    seen.add(id(value))
                    place = (*path, name) if value is attributes[name] else (*path, name, i)
                    if predicate is None or predicate(value):
                        yield (place, value) if with_path else value
                    if recursive and isinstance(value, Module):
                        below.append((place, value))
            waiting += below[::-1]

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that makes its ops in the module's scope."""

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **options: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **options)

        return scoped


def _leaves(value: Any) -> list[Any]:
    return nest.flatten(value) if isinstance(value, (list, tuple, dict)) else [value]
