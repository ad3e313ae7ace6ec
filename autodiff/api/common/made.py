"""What is made by others: by a function, under a name of its own; of its settings by name."""
from typing import Any


class Configured:
    """What can be made anew of its settings by name."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """One of such settings."""
        return cls(**config)


def named(made: Any, name: str, words: str | None) -> Any:
    """A function or class that another one made, as if it had been written with this name and docstring."""
    made.__name__ = made.__qualname__ = name
    made.__doc__ = words
    return made
