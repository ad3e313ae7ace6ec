"""Indices outside of their array, which JAX moves inside without a word."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.experimental import checkify


def check_indices(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """The exception of the first index outside of its array when function(*values) runs; None if all are inside."""
    checked = checkify.checkify(function, errors=checkify.index_checks)
    try:
        with jax.disable_jit(False):  # in one piece, of which XLA keeps what the indices come from
            error = jax.jit(lambda *given: checked(*given)[0])(*values)
    except (NotImplementedError, jax.errors.JAXTypeError):  # what checkify cannot follow it does not judge
        return None
    return error.get_exception()
