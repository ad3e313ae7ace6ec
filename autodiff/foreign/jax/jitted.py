"""What JAX refuses under jax.jit alone, where this is off: a function that the script jits is traced as JAX would do it
at its first call, and a gradient that could not be traced here is asked for again. The error is the script's own."""
from __future__ import annotations

import contextlib
import functools
import io
import random
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

Alone = Callable[[Callable[[], Any]], Any]


class Jitted:
    """What stands in the place of jax.jit. alone: runs a function so that calls in it are no steps. passes: tells
    by the arguments whether something is traced around a call."""

    def __init__(self, alone: Alone, passes: Callable[[Any, Any], bool]) -> None:
        self._alone, self._passes = alone, passes
        self._real = jax.jit

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While the script runs."""
        self._real, jax.jit = jax.jit, functools.update_wrapper(self._jit, jax.jit)
        try:
            yield
        finally:
            jax.jit = self._real

    @property
    def _jit(self) -> Callable[..., Any]:
        def jit(*fun: Callable[..., Any], **options: Any) -> Any:
            return self._made(*fun, **options) if fun else functools.partial(self._made, **options)

        return jit

    def _made(self, fun: Callable[..., Any], **options: Any) -> Any:
        as_jax_has_it = self._real(fun, **options)
        is_known: list[bool] = []

        @functools.wraps(fun)
        def called(*args: Any, **kwargs: Any) -> Any:
            if not is_known and not self._passes(args, kwargs):
                is_known.append(True)
                self._alone(lambda: _traced(lambda: as_jax_has_it.eval_shape(*args, **kwargs)))
            return fun(*args, **kwargs)

        return self._real(called, **options)


def refused(call: Callable[[], Any]) -> None:
    """Raises what JAX does where a gradient is asked for with jax.jit on."""
    _traced(call)


def _traced(call: Callable[[], Any]) -> None:
    """Run it with jax.jit on; neither what it prints nor the numbers it draws are the script's."""
    states = random.getstate(), np.random.get_state()
    try:
        with jax.disable_jit(False), contextlib.redirect_stdout(io.StringIO()):
            call()
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
