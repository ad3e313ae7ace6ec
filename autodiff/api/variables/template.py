"""make_template: a function whose variables are made at its first call and shared by all others."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from typing import Any

from ...core.collections import GraphKeys, get_collection
from ...core.errors import ArgumentError
from ...core.graph import get_default_graph
from ..control.function import function
from .eager_store import EagerVariableStore
from .variable import Variable
from .variable_scope import VariableScope, pure_variable_scope, unique_scope_name, variable_scope


def make_template(name_: str, func_: Callable[..., Any], create_scope_now_: bool = False,
                  unique_name_: str | None = None, custom_getter_: Any = None, **kwargs: Any) -> "Template":
    """`func_` with its get_variable variables shared between calls, in a variable scope of their own.

    create_scope_now_: fix the scope here rather than at the first call. kwargs go to each call. Raises ArgumentError
    (ValueError) without a name, and for unique_name_ in eager execution.
    """
    if name_ is None:
        raise ArgumentError("name cannot be None.")
    if unique_name_ and get_default_graph().executing_eagerly:
        raise ArgumentError("unique_name_ cannot be used when eager exeuction is enabled.")
    return Template(name_, functools.partial(func_, **kwargs) if kwargs else func_, create_scope_now_, unique_name_,
                    custom_getter_)


def make_template_internal(name_: str, func_: Callable[..., Any], *options: Any, create_graph_function_: bool = False,
                           **kwargs: Any) -> "Template":
    """make_template of a function, or of tf.function of it."""
    return make_template(name_, function(func_) if create_graph_function_ else func_, *options, **kwargs)


class Template:
    """A function and the variable scope that its calls share. Executing eagerly, it keeps the variables itself."""

    def __init__(self, name: str, func: Callable[..., Any], create_scope_now: bool, unique_name: str | None,
                 custom_getter: Any) -> None:
        self.name, self.func = name, func
        self._unique_name, self._custom_getter = unique_name, custom_getter
        self._variables_created = False
        self._template_store = EagerVariableStore.within_default() if get_default_graph().executing_eagerly else None
        self._scope: VariableScope | None = None
        if create_scope_now:
            with pure_variable_scope(unique_name or unique_scope_name(name), name_scope="",
                                     custom_getter=custom_getter) as self._scope:
                pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._template_store.as_default() if self._template_store is not None else contextlib.nullcontext():
            if self._scope is not None:
                with variable_scope(self._scope, reuse=self._variables_created):
                    return self._called(args, kwargs)
            with variable_scope(self._unique_name, self.name, custom_getter=self._custom_getter) as self._scope:
                return self._called(args, kwargs)

    def _called(self, args: Any, kwargs: Any) -> Any:
        before = len(get_collection(GraphKeys.TRAINABLE_VARIABLES))
        result = self.func(*args, **kwargs)
        made = get_collection(GraphKeys.TRAINABLE_VARIABLES)[before:]
        if self._variables_created and made:
            raise ArgumentError("Trainable variable created when calling a template after the first time, perhaps you "
                                f"used tf.Variable when you meant tf.get_variable: {[v.name for v in made]}")
        self._variables_created = True
        return result

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of the variables; None before the first call."""
        return self._scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """What the names of the variables begin with; None before the first call."""
        name = None if self._scope is None else self._scope.name
        return name if not name or name.endswith("/") else f"{name}/"

    def _below(self, variables: Iterable[Variable]) -> list[Variable]:
        """Of these those below the scope."""
        below = self.variable_scope_name
        return [v for v in variables if v.name.startswith(below)] if below is not None else []

    @property
    def trainable_variables(self) -> list[Variable]:
        store = self._template_store
        return self._below(get_collection(GraphKeys.TRAINABLE_VARIABLES) if store is None
                           else store.trainable_variables())

    @property
    def global_variables(self) -> list[Variable]:
        store = self._template_store
        return self._below(get_collection(GraphKeys.GLOBAL_VARIABLES) if store is None else store.variables())

    @property
    def local_variables(self) -> list[Variable]:
        return self._below(get_collection(GraphKeys.LOCAL_VARIABLES))

    @property
    def variables(self) -> list[Variable]:
        """The global variables, and the local ones."""
        return list(dict.fromkeys(self.global_variables + self.local_variables))

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The variables that are not trained."""
        return [v for v in self.variables if not v.trainable]
