"""Names of the leaves of arguments that are trees of arrays."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any


def parameter_names(function: Callable[..., Any], arguments: Sequence[Any]) -> list[str]:
    """What a function calls each positional argument; those that it takes as a rest are numbered."""
    try:
        bound = inspect.signature(function).bind(*arguments).arguments
    except (TypeError, ValueError):
        bound = {}
    names: list[str] = []
    for name, value in bound.items():
        names += [f"{name}.{i}" for i in range(len(value))] if _is_rest(function, name) else [name]
    return names + [f"argument_{i}" for i in range(len(names), len(arguments))]


def _is_rest(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters and parameters[name].kind is inspect.Parameter.VAR_POSITIONAL


def dotted(path: Any, name: str = "") -> str:
    """The keys that lead to a leaf of a tree, after the name of what holds it."""
    keys = [str(next((getattr(key, a) for a in ("key", "idx", "name") if hasattr(key, a)), key)) for key in path]
    return ".".join([*([name] if name else []), *keys])
