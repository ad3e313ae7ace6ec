"""make_template: a function whose variables are made at its first call and shared by all others."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .variable import Variable
from .variable_scope import VariableScope, pure_variable_scope, unique_scope_name, variable_scope


def make_template(name_: str, func_: Callable[..., Any], create_scope_now_: bool = False,
                  unique_name_: str | None = None, custom_getter_: Any = None, **kwargs: Any) -> "Template":
    """`func_` with its get_variable variables shared between calls, in a variable scope of their own.

    create_scope_now_: fix the scope here rather than at the first call. kwargs go to each call.
    """
    return Template(name_, functools.partial(func_, **kwargs) if kwargs else func_, create_scope_now_, unique_name_,
                    custom_getter_)


class Template:
    """A function and the variable scope that its calls share."""

    def __init__(self, name: str, func: Callable[..., Any], create_scope_now: bool, unique_name: str | None,
                 custom_getter: Any) -> None:
        self.name, self._func = name, func
        self._unique_name, self._custom_getter = unique_name, custom_getter
        self._called = False
        self._scope: VariableScope | None = None
        if create_scope_now:
            with pure_variable_scope(unique_name or unique_scope_name(name), name_scope="",
                                     custom_getter=custom_getter) as self._scope:
                pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is not None:
            with variable_scope(self._scope, reuse=self._called):
                result = self._func(*args, **kwargs)
        else:
            with variable_scope(self._unique_name, self.name, custom_getter=self._custom_getter) as self._scope:
                result = self._func(*args, **kwargs)
        self._called = True
        return result

    @property
    def func(self) -> Callable[..., Any]:
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of the variables; None before the first call."""
        return self._scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        return None if self._scope is None else self._scope.name

    @property
    def trainable_variables(self) -> list[Variable]:
        return [] if self._scope is None else self._scope.trainable_variables()

    @property
    def global_variables(self) -> list[Variable]:
        return [] if self._scope is None else self._scope.global_variables()

    @property
    def local_variables(self) -> list[Variable]:
        return [] if self._scope is None else self._scope.local_variables()

    variables = global_variables
