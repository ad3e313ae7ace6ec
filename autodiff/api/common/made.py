"""What a function made, under a name of its own."""
from typing import Any


def named(made: Any, name: str, words: str | None) -> Any:
    """A function or class that another one made, as if it had been written with this name and docstring."""
    made.__name__ = made.__qualname__ = name
    made.__doc__ = words
    return made
