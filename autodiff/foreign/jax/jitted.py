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
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ...debug.analysis.findings import Finding
from ...ops.common.instead import instead
from .averages import Averages
from .optimizers import users_sites
from .rows import Rows, is_traced
from .stale import Reads, findings, reads_of

Alone = Callable[[Callable[[], Any]], Any]
_FORMS = 64  # of a function's arguments, for which it is kept what else it reads
_READ = 256  # functions and forms of which that is looked at, for doctor
_IN_PYTHON = "while_loop fori_loop cond switch map associative_scan".split()


@dataclass
class Once:
    """A call of what jax.grad made, in something that JAX traces once: it is the same call each time.

    outside: for each array that the traced function closes over where it stands among what `held_by` finds, None for
    what never changes; None in all where that is not known. first: what was found out at its first time with values.
    """

    outside: list[int | None] | None
    first: Any = None


@dataclass(eq=False)
class Region:
    """What JAX traces once. is_straight: whether its calls come in the order in which they were traced. reads: what it
    reads that is no argument."""

    calls: list[Once] = field(default_factory=list)
    is_straight: bool = True
    turn: int = 0
    reads: Reads = field(default_factory=Reads)


class Jitted:
    """What stands in the place of jax.jit and of what jax.lax has for loops and branches. region: that is traced, or
    else is run, now.

    alone: runs a function so that calls in it are no steps. passes: tells by the arguments whether something is traced
    around a call; rows: whether what is traced are rows of a jax.vmap. let_go: forgets what JAX has compiled.
    averages: are told of calls.
    """

    def __init__(self, alone: Alone, passes: Callable[[Any, Any], bool], rows: Callable[[Any], Rows | None],
                 averages: Averages) -> None:
        self._averages, self._alone, self._passes, self._rows = averages, alone, passes, rows
        self._jit, self._scan, self._pmap = jax.jit, jax.lax.scan, jax.pmap
        self._in_rows = self._in_python(jax.lax.scan, _compiling)
        self.region: Region | None = None
        self._is_traced = False
        self._read = deque[Reads](maxlen=_READ)
        self.let_go, self._age = jax.clear_caches, 0

    def watched(self) -> contextlib.AbstractContextManager[None]:
        """While the script runs."""
        parts: list[tuple[Any, str, Any]] = [(jax, "jit", self._jitted), (jax.lax, "scan", self._scanned),
                                             (jax, "pmap", self._mapped), (jax, "clear_caches", self._forget)]
        parts += [(jax.lax, name, self._in_python(getattr(jax.lax, name), _compiling)) for name in _IN_PYTHON]
        return instead([(module, name, functools.update_wrapper(functools.partial(made), getattr(module, name)))
                        for module, name, made in parts])

    def _forget(self) -> None:
        self.let_go()
        self._age += 1

    def stale(self) -> list[Finding]:
        """What jitted functions keep of their first call, though it has changed."""
        return findings(self._read)

    def _jitted(self, *fun: Callable[..., Any], **options: Any) -> Any:
        return self._made(*fun, **options) if fun else functools.partial(self._made, **options)

    def _made(self, fun: Callable[..., Any], **options: Any) -> Any:
        as_jax_has_it = self._jit(fun, **options)
        if _is_installed(fun) and "<locals>" not in fun.__code__.co_qualname:
            return as_jax_has_it
        known: dict[Hashable, Region] = {}

        @functools.wraps(fun)
        def called(*args: Any, **kwargs: Any) -> Any:
            if self._passes(args, kwargs):
                return fun(*args, **kwargs)
            form = self._age, form_of((args, kwargs), by_value=any(name.startswith("static") for name in options))
            if form not in known:
                reads = Reads()
                with contextlib.suppress(Exception):  # what is a riddle, as an object that is no tree, is not compared
                    reads = reads_of(fun, args) if len(known) < _FORMS else reads
                known[form], _ = self._once_traced(lambda: as_jax_has_it.eval_shape(*args, **kwargs))
                known[form].reads = reads
                self._read.append(reads)
            self._averages.handed((args, kwargs))
            around = [read.leaves for read in known[form].reads.reads]
            self._averages.evaluated.met([args, kwargs, around], users_sites(), is_model=False)
            with self._within(known[form]), known[form].reads.as_first(lambda: traced(args, kwargs)):
                return fun(*args, **kwargs)

        def traced(args: Any, kwargs: Any) -> Any:
            """What JAX would compile now, of a function that it has not met."""
            anew = self._jit(functools.wraps(fun)(lambda *given, **named: fun(*given, **named)), **options)
            return self._alone(lambda: _traced(lambda: _text(anew.trace(*args, **kwargs))))

        in_python = self._in_python(self._jit(_compiling(called), **options), known={})
        for name in ("lower", "trace", "eval_shape"):
            setattr(in_python, name, getattr(as_jax_has_it, name, None))
        vars(in_python)["clear_cache"] = lambda: [each() for each in (known.clear, as_jax_has_it.clear_cache)]
        return functools.update_wrapper(in_python, fun)

    def _in_python(self, real: Callable[..., Any], given: Callable[[Any], Any] | None = None,
                   known: dict[Hashable, bool] | None = None) -> Callable[..., Any]:
        """A function of JAX's that does in Python what it would compile. given: what it gets in place of functions.
        known: whether there are steps in its calls of a form, where JAX traces a form once."""
        @functools.wraps(real)
        def run(*args: Any, **kwargs: Any) -> Any:
            if self._is_left_to_jax(args, kwargs) and not self._has_steps(real, args, kwargs, known):
                return real(*args, **kwargs)
            if given is not None:
                parts, tree = jax.tree.flatten((args, kwargs))
                args, kwargs = jax.tree.unflatten(tree, [given(x) if callable(x) else x for x in parts])
            with jax.disable_jit(True):
                return real(*args, **kwargs)

        return run

    def _is_left_to_jax(self, args: Any, kwargs: Any) -> bool:
        """Whether something is traced around a call that may come another number of times than it is traced."""
        if self.region is not None:
            self.region.is_straight = False
        return self._passes(args, kwargs)

    def _has_steps(self, real: Callable[..., Any], args: Any, kwargs: Any, known: dict[Hashable, bool] | None) -> bool:
        """Whether steps of rows of a jax.vmap are in a call, which is of a fixed number of turns."""
        if self._rows((args, kwargs)) is None or real is jax.lax.while_loop or real is jax.lax.fori_loop and is_traced(
                (args[:2], {name: x for name, x in kwargs.items() if name != "init_val"})):
            return False
        form = None if known is None else form_of((args, kwargs))
        if known is None or form not in known:
            region, _ = self._once_traced(lambda: jax.eval_shape(lambda: real(*args, **kwargs)))
            known = {} if known is None else known
            known[form] = bool(region.calls)
        return known[form]

    def _mapped(self, fun: Callable[..., Any], axis_name: Any = None, *, in_axes: Any = 0, out_axes: Any = 0,
                static_broadcasted_argnums: Any = (), **options: Any) -> Any:
        """jax.pmap, of what one machine has: as jax.vmap does it, unless JAX refuses it."""
        static = (static_broadcasted_argnums,) if isinstance(static_broadcasted_argnums, int) else (
            static_broadcasted_argnums)
        real = self._pmap(fun, axis_name, in_axes=in_axes, out_axes=out_axes, static_broadcasted_argnums=static,
                          **options)

        @functools.wraps(fun)
        def run(*args: Any, **kwargs: Any) -> Any:
            axes = [in_axes] * len(args) if in_axes is None or isinstance(in_axes, int) else in_axes
            axes = tuple([None if i in static else axis for i, axis in enumerate(axes)])
            named = {} if axis_name is None else {"axis_name": axis_name}
            sizes = {jax.numpy.shape(x)[:1] for arg, axis in zip(args, axes) if axis == 0 for x in jax.tree.leaves(arg)}
            if self._passes(args, kwargs) or max(sizes, default=(0,)) > (jax.local_device_count(),):
                return real(*args, **kwargs)
            return jax.vmap(fun, axes, out_axes, **named)(*args, **kwargs)

        return run

    def _scanned(self, f: Callable[..., Any], init: Any, xs: Any = None, length: int | None = None,
                 reverse: bool = False, **how: Any) -> Any:
        """jax.lax.scan, whose rows and results are taken apart and put together by NumPy, which compiles nothing."""
        scan = functools.partial(self._scan, f, init, xs, length, reverse, **how)
        if self._is_left_to_jax((init, xs), {}):
            return self._in_rows(f, init, xs, length, reverse, **how)
        region, (like, _) = self._once_traced(lambda: jax.eval_shape(scan))
        if not region.calls and _is_installed(f):  # a package's own may count what it is traced for, as flax's does
            with jax.disable_jit(False):
                return self._alone(scan)
        leaves, tree = jax.tree.flatten(xs)
        rows = [x if _is_key(x) else np.asarray(x) for x in leaves]
        order = range(len(rows[0]) if rows else length or 0)
        carry, ys = jax.tree.map(lambda x, to: x if _is_key(x) else jax.numpy.asarray(x, to.dtype), init, like), []
        for i in reversed(order) if reverse else order:
            with self._within(region):
                carry, y = f(carry, jax.tree.unflatten(tree, [jax.numpy.asarray(x[i]) for x in rows]))
            ys.append(y)
        return (carry, jax.tree.map(_stacked, *ys[::-1 if reverse else 1])) if ys else scan()

    def _once_traced(self, trace: Callable[[], Any]) -> tuple[Region, Any]:
        region = Region()
        with self._within(region):
            self._is_traced = True
            try:
                return region, self._alone(lambda: _traced(trace))
            finally:
                self._is_traced = False

    @contextlib.contextmanager
    def _within(self, region: Region | None) -> Iterator[None]:
        outer, self.region = self.region, region
        if region is not None:
            region.turn = 0
        try:
            yield
        finally:
            self.region = outer

    @contextlib.contextmanager
    def call(self, outside: Callable[[], list[int | None] | None]) -> Iterator[Once | None]:
        """While what jax.grad made is called: the call that it is each time, None if that is not known.

        outside: finds out what of the function changes from time to time, while that is traced.
        """
        region, is_traced = self.region, self._is_traced
        with self._within(None), instead([(self, "_is_traced", False)]):
            yield _now(region, outside if is_traced else None) if region is not None else None


def _now(region: Region, outside: Callable[[], list[int | None] | None] | None) -> Once | None:
    region.turn += 1
    if outside is not None:
        region.calls.append(Once(None))
        with contextlib.suppress(Exception):  # a call that is read each time is only slower
            region.calls[-1].outside = outside()
        return None
    return region.calls[region.turn - 1] if region.is_straight and region.turn <= len(region.calls) else None


def _text(traced: Any) -> Any:
    return str(traced.jaxpr), [np.asarray(each).tobytes() for each in traced.jaxpr.consts]


def form_of(tree: Any, by_value: bool = True) -> Hashable:
    """What tells whether JAX would trace a function of these arguments anew; by_value: each number of Python's too."""
    leaves, form = jax.tree.flatten(tree)
    return form, tuple((x.shape, x.dtype, getattr(x, "weak_type", False)) if hasattr(x, "dtype") else (
        type(x), x if isinstance(x, Hashable) and (by_value or not isinstance(x, (int, float))) else 0) for x in leaves)


def _compiling(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same; inside of it JAX compiles its own functions."""
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with jax.disable_jit(False):
            return function(*args, **kwargs)

    return call


def _is_installed(fun: Any) -> bool:
    """Whether the code of a function is an installed package's."""
    code = getattr(fun, "__code__", None)
    return code is not None and "-packages" in code.co_filename


def _is_key(x: Any) -> bool:
    return hasattr(x, "dtype") and jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def _stacked(*rows: Any) -> Any:
    return jax.numpy.stack(rows) if _is_key(rows[0]) else jax.numpy.asarray(np.stack(rows))


def refused(call: Callable[[], Any]) -> None:
    """Raises what JAX does where a gradient is asked for with jax.jit on."""
    _traced(call)


def _traced(call: Callable[[], Any]) -> Any:
    """Run it with jax.jit on; neither what it prints nor the numbers it draws are the script's."""
    states = random.getstate(), np.random.get_state()
    try:
        with jax.disable_jit(False), contextlib.redirect_stdout(io.StringIO()):
            return call()
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
