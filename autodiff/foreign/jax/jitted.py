"""What JAX traces once, done in Python instead, so that every value in it is at hand: jax.jit and the loops of jax.lax.

A function that the script jits, and the body of a scan, are traced as JAX would do it at their first call, and a
gradient that could not be traced here is asked for again: an error is the script's own. JAX's own functions stay
compiled.
"""
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
_IN_PYTHON = "while_loop fori_loop cond switch map associative_scan".split()


class Jitted:
    """What stands in the place of jax.jit and of what jax.lax has for loops and branches.

    alone: runs a function so that calls in it are no steps. passes: tells by the arguments whether something is traced
    around a call.
    """

    def __init__(self, alone: Alone, passes: Callable[[Any, Any], bool]) -> None:
        self._alone, self._passes = alone, passes
        self._jit, self._scan, self._pmap = jax.jit, jax.lax.scan, jax.pmap

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While the script runs."""
        parts: list[tuple[Any, str, Any]] = [(jax, "jit", self._jitted), (jax.lax, "scan", self._scanned),
                                             (jax, "pmap", self._mapped)]
        parts += [(jax.lax, name, self._in_python(getattr(jax.lax, name))) for name in _IN_PYTHON]
        kept = [(module, name, getattr(module, name)) for module, name, _ in parts]
        for (module, name, made), (*_, real) in zip(parts, kept):
            setattr(module, name, functools.update_wrapper(functools.partial(made), real))
        try:
            yield
        finally:
            for module, name, real in kept:
                setattr(module, name, real)

    def _jitted(self, *fun: Callable[..., Any], **options: Any) -> Any:
        return self._made(*fun, **options) if fun else functools.partial(self._made, **options)

    def _made(self, fun: Callable[..., Any], **options: Any) -> Any:
        as_jax_has_it = self._jit(fun, **options)
        if _is_of_package(fun):
            return as_jax_has_it
        is_known: list[bool] = []

        @functools.wraps(fun)
        def called(*args: Any, **kwargs: Any) -> Any:
            if not is_known and not self._passes(args, kwargs):
                is_known.append(True)
                self._alone(lambda: _traced(lambda: as_jax_has_it.eval_shape(*args, **kwargs)))
            return fun(*args, **kwargs)

        in_python = self._in_python(self._jit(_compiling(called), **options))
        for name in ("lower", "trace", "eval_shape", "clear_cache"):
            setattr(in_python, name, getattr(as_jax_has_it, name, None))
        return functools.update_wrapper(in_python, fun)

    def _in_python(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A function of JAX's that calls those it is given in Python; inside of them it compiles its own again."""
        @functools.wraps(real)
        def run(*args: Any, **kwargs: Any) -> Any:
            if self._passes(args, kwargs):
                return real(*args, **kwargs)
            parts, tree = jax.tree.flatten((args, kwargs))
            args, kwargs = jax.tree.unflatten(tree, [_compiling(x) if callable(x) else x for x in parts])
            with jax.disable_jit(True):
                return real(*args, **kwargs)

        return run

    def _mapped(self, fun: Callable[..., Any], *names: Any, **options: Any) -> Any:
        return self._in_python(self._pmap(fun, *names, **options))

    def _scanned(self, f: Callable[..., Any], init: Any, xs: Any = None, length: int | None = None,
                 reverse: bool = False, **how: Any) -> Any:
        """jax.lax.scan, whose rows and results are taken apart and put together by NumPy, which compiles nothing."""
        scan = functools.partial(self._scan, f, init, xs, length, reverse, **how)
        if self._passes((init, xs), {}):
            return scan()
        self._alone(lambda: _traced(lambda: jax.eval_shape(scan)))
        leaves, tree = jax.tree.flatten(xs)
        rows = [x if _is_key(x) else np.asarray(x) for x in leaves]
        order = range(len(rows[0]) if rows else length or 0)
        carry, ys = jax.tree.map(jax.numpy.asarray, init), []
        for i in reversed(order) if reverse else order:
            carry, y = f(carry, jax.tree.unflatten(tree, [jax.numpy.asarray(x[i]) for x in rows]))
            ys.append(y)
        return (carry, jax.tree.map(_stacked, *ys[::-1 if reverse else 1])) if ys else scan()


def _compiling(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with jax.disable_jit(False):
            return function(*args, **kwargs)

    return call


def _is_of_package(fun: Any) -> bool:
    """Whether an installed package has it as it is; one that is made in a call may do what the script gave."""
    code = getattr(fun, "__code__", None)
    return code is not None and "-packages" in code.co_filename and "<locals>" not in code.co_qualname


def _is_key(x: Any) -> bool:
    return hasattr(x, "dtype") and jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def _stacked(*rows: Any) -> Any:
    return jax.numpy.stack(rows) if _is_key(rows[0]) else jax.numpy.asarray(np.stack(rows))


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
