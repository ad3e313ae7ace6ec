"""Pairs as lists of values by their keys."""
from collections.abc import Iterable
from typing import Any


def grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """Key -> its values, both in the order in which they come."""
    found: dict[Any, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
