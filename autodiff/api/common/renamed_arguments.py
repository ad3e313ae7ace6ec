"""Arguments that TensorFlow 1 takes under two names."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError


def one_of(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """The argument under whichever name it has, None under neither. Raises ArgumentError (ValueError) for both."""
    if value is not None and old_value is not None:
        raise ArgumentError(expected=f"{name!r} or its other name {old_name!r}", found="both")
    return old_value if value is None else value
