"""How new variables are made: as resources or not, and by functions that a script puts before."""
from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ...core.graph import get_default_graph

_RESOURCE_BY_DEFAULT = "resource_variables"
_KEY = "variable_creators"  # in a graph's extras: those in force, the innermost last


class VariableSynchronization:
    """When copies of a variable are brought together: there is one. What is for ON_READ is not trained by default."""

    AUTO, NONE, ON_WRITE, ON_READ = range(4)


class VariableAggregation:
    """How copies of a variable are brought together; accepted without effect, there is one copy."""

    NONE, SUM, MEAN, ONLY_FIRST_REPLICA, ONLY_FIRST_TOWER = 0, 1, 2, 3, 3


def enable_resource_variables() -> None:
    """Make every new variable of the default graph a resource."""
    get_default_graph().outermost.extras[_RESOURCE_BY_DEFAULT] = True


def disable_resource_variables() -> None:
    """Make new variables of the default graph references again."""
    get_default_graph().outermost.extras[_RESOURCE_BY_DEFAULT] = False


def resource_variables_enabled() -> bool:
    """Whether a new variable of the default graph is a resource when nothing else is asked for."""
    return bool(get_default_graph().outermost.extras.get(_RESOURCE_BY_DEFAULT, False))


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Inside, a variable is what variable_creator(next_creator, **arguments of tf.Variable) gives; the innermost is
    asked first."""
    creators = get_default_graph().extras.setdefault(_KEY, [])
    creators.append(variable_creator)
    try:
        yield
    finally:
        creators.remove(variable_creator)


class Created(type):
    """The class of classes of variables: a call asks the creators in force."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        creators = get_default_graph().extras.get(_KEY)
        if not creators:
            return super().__call__(*args, **options)
        given = inspect.signature(cls.__init__).bind_partial(None, *args, **options)  # type: ignore[misc]
        given.apply_defaults()
        make: Callable[..., Any] = super().__call__
        for creator in creators:
            make = functools.partial(creator, make)
        return make(**dict(list(given.arguments.items())[1:]))
