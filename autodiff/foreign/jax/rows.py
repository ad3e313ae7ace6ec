"""What is differentiated inside of a function that jax.vmap is given: the arrays of all rows, and a call of them."""
from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
from jax._src.core import set_current_trace
from jax._src.interpreters.batching import BatchTracer


class Rows(NamedTuple):
    """One jax.vmap that runs at once. trace: JAX's own of it."""

    trace: Any
    size: int

    def all_of(self, tree: Any) -> Any:
        """The same tree of the arrays of all rows, by their first axis."""
        return jax.tree.map(self._whole, tree)

    def _whole(self, x: Any) -> Any:
        if isinstance(x, BatchTracer):
            return jax.numpy.moveaxis(x.val, x.batch_dim, 0)
        return jax.numpy.broadcast_to(x, (self.size, *jax.numpy.shape(x)))

    def each_of(self, tree: Any) -> Any:
        """What one row has of the arrays of all, inside of jax.vmap."""
        return jax.tree.map(lambda x: BatchTracer(self.trace, x, 0), tree)

    def asked(self, vmap: Callable[..., Any], made: Callable[[Callable[..., Any]], Any], function: Callable[..., Any],
              args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `made` of a function gives in each row, asked of all rows together.

        Its keywords, and what of its closure each row has its own of, are keywords of what is asked. Raises where that
        cannot be.
        """
        held: dict[str, Any] = {}

        def keep(name: str, tree: Any) -> Any:
            if not is_traced(tree):
                return tree
            held[name] = self.all_of(tree)
            return None

        bare = _around(function, keep)
        beside, axes = {*held}, [0 if is_traced(x) else None for x in args]

        @functools.wraps(function)
        def one(*given: Any, **named: Any) -> Any:
            around = {name: named.pop(name) for name in beside}
            return _around(bare, lambda name, tree: around.get(name, tree))(*given, **named)

        named = {name: self.all_of(tree) for name, tree in kwargs.items()}
        if beside & {*named} or not any(axis == 0 for axis in axes):
            raise TypeError("no argument of each row")
        given = [self.all_of(x) if axis == 0 else x for x, axis in zip(args, axes)]
        with set_current_trace(self.trace.parent_trace):
            found = vmap(made(one), (*axes,))(*given, **held, **named)
        if is_traced(found):
            raise TypeError("a row that is not found")
        return self.each_of(found)


def is_traced(tree: Any) -> bool:
    """Whether something in a tree has no value yet, or one for each row."""
    return any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(tree))


def rows_of(tree: Any) -> Rows | None:
    """The jax.vmap whose rows the arrays of a tree are; None where there is none, or something else is traced."""
    traced = [x for x in jax.tree.leaves(tree) if isinstance(x, jax.core.Tracer)]
    if not traced or any(not isinstance(x, BatchTracer) or isinstance(x.val, jax.core.Tracer) for x in traced):
        return None
    first = traced[0]
    is_one = all(x._trace is first._trace for x in traced)
    return Rows(first._trace, first.val.shape[first.batch_dim]) if is_one else None


def held_by(function: Any) -> list[Any]:
    """The arrays that a function closes over or was given beforehand, always in the same order."""
    found: list[Any] = []

    def note(_: str, tree: Any) -> Any:
        found.extend(jax.tree.leaves(tree))
        return tree

    _around(function, note)
    return found


def _around(function: Any, change: Callable[[str, Any], Any], name: str = "", within: tuple[Any, ...] = ()) -> Any:
    """A function whose closure, defaults and arguments given beforehand are what `change` makes of them, by name.
    within: the functions that it is in the closures of; one that calls itself is left in its own."""
    def new(title: str, value: Any) -> Any:
        title = f"{name}_{title}" if name else title
        if any(value is each for each in (*within, function)):
            return value
        return _around(value, change, title, (*within, function)) if callable(value) else change(title, value)

    def all_new(values: Iterable[Any], title: str) -> tuple[Any, ...]:
        return tuple([new(f"{title}_{i}", value) for i, value in enumerate(values)])

    if isinstance(function, types.MethodType):
        return types.MethodType(_around(function.__func__, change, name, within), function.__self__)
    if isinstance(function, functools.partial):
        inner, args = _around(function.func, change, name, within), all_new(function.args, "given")
        return functools.partial(inner, *args, **{key: new(key, value) for key, value in function.keywords.items()})
    if not isinstance(function, types.FunctionType):
        return function
    before, given = [cell.cell_contents for cell in function.__closure__ or ()], function.__defaults__ or ()
    after = [new(title, value) for title, value in zip(function.__code__.co_freevars, before)]
    defaults = all_new(given, "default")
    if all(a is b for a, b in zip([*before, *given], [*after, *defaults])):
        return function
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, defaults or None,
                              tuple(map(types.CellType, after)))
    made.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(made, function)
