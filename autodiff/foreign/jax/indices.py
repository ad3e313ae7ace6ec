"""Indices outside of their array, which JAX moves inside without a word."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.experimental import checkify


def check_indices(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """The exception of the first index outside of its array when function(*values) runs; None if all are inside."""
    try:
        with jax.disable_jit(False):
            error, _ = checkify.checkify(function, errors=checkify.index_checks)(*values)
    except (NotImplementedError, jax.errors.JAXTypeError):  # what checkify cannot follow it does not judge
        return None
    return error.get_exception()
