"""Functions that a script puts before the making of variables: tf.variable_creator_scope."""
from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ...core.graph import get_default_graph

_KEY = "variable_creators"  # in a graph's extras: those in force, the innermost last


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
