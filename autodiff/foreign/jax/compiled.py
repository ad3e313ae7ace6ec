"""What JAX itself says of a call: value and gradients, compiled for all calls that are the same program (op by op it
takes a hundred times as long, and compiles each op at its first call), and indices outside of their array, which it
moves inside without a word.
"""
from __future__ import annotations

import contextlib
import functools
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple
from unittest import mock

import jax
from jax._src import checkify as checks
from jax._src.core import gensym
from jax.experimental import checkify
from jax.extend import core

_REAL = jax.jit, jax.value_and_grad  # before a door stands in their place
_CALLING = ("callback", "debug")  # primitives that call functions of Python's
_INDEXING = ("gather", "scatter", "dynamic_slice", "dynamic_update_slice")
_COUNTING = {"lax_numpy", "setops", "sorting", "reductions", "polynomial"}
_AT_ONCE = 3  # programs of one function; of more only those that come again


class Traced(NamedTuple):
    """A jaxpr of what is differentiated, by leaves. moving: which of them are. outside: the arrays that it closes over.

    aux: the tree of what comes beside the value; None where that, or what Python does, is not all in the jaxpr.
    """

    jaxpr: Any
    outside: Sequence[Any]
    values: Sequence[Any]
    moving: Sequence[int]
    aux: Any


class Gradients:
    """The value, what comes beside it, and the gradients of calls."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._seen: Counter[Hashable] = Counter()
        self._numbers: dict[Hashable, tuple[float, ...]] = {}  # of the first program of each kind

    def of(self, traced: Traced, function: Hashable, program: tuple[Hashable, tuple[float, ...]],
           once: Hashable = None) -> tuple[Any, Any, list[Any]] | None:
        """Those of a call, None where only JAX itself should say. program: what calls that do the same share, and the
        numbers in it, which are given as arguments once they have changed.

        once: in what JAX traces once, and with it the backward functions of Python's; None in nothing.
        """
        if traced.aux is None or jax.config.jax_debug_nans:
            return None
        where = program[0], once if not _is_plain(traced.jaxpr, ("custom_vjp",)) else None
        numbers = [] if self._numbers.setdefault(where, program[1]) == program[1] else [
            v.val for e in traced.jaxpr.eqns for v in e.invars if _is_number(v)]
        key = where, bool(numbers)
        if key not in self._made:
            self._seen[function, key] += 1
            if self._seen[function] >= _AT_ONCE and self._seen[function, key] < 2:
                return None
            self._seen[function] += 1
            jaxpr = _with_numbers(traced.jaxpr) if numbers else traced.jaxpr
            self._made[key] = _compiled(jaxpr, [*traced.moving]) if _is_plain(
                jaxpr, _CALLING if once is not None else (*_CALLING, "custom_vjp")) else None
        if self._made[key] is None:
            return None
        moving = [traced.values[i] for i in traced.moving]
        with contextlib.suppress(Exception), jax.disable_jit(False):  # JAX itself says what is wrong
            (value, beside), gradients = self._made[key](moving, [*traced.values], [*traced.outside, *numbers])
            return value, jax.tree.unflatten(traced.aux, beside), gradients
        return None


def _compiled(jaxpr: Any, moving: list[int]) -> Any:
    jit, value_and_grad = _REAL

    def value(moved: list[Any], values: list[Any], outside: list[Any]) -> tuple[Any, list[Any]]:
        given = dict(enumerate(values)) | dict(zip(moving, moved))
        found, *beside = jax.core.eval_jaxpr(jaxpr, outside, *given.values())
        return found, beside

    return jit(value_and_grad(value, has_aux=True))


def _is_number(v: Any) -> bool:
    return isinstance(v, core.Literal) and not v.aval.shape and v.aval.dtype.kind == "f"


def _with_numbers(jaxpr: Any) -> Any:
    """A jaxpr that is given its numbers behind what it closes over."""
    fresh, new, equations = gensym(), [], []
    for e in jaxpr.eqns:
        inputs = [fresh(v.aval) if _is_number(v) else v for v in e.invars]
        new += [x for v, x in zip(e.invars, inputs) if v is not x]
        equations.append(e.replace(invars=inputs))
    return jaxpr.replace(constvars=[*jaxpr.constvars, *new], eqns=equations)


def _is_plain(jaxpr: Any, but: Sequence[str]) -> bool:
    """Whether it is of primitives without these words in their names."""
    return not jaxpr.effects and all(_is_plain(each, but) for each in core.subjaxprs(jaxpr)) and not any(
        word in e.primitive.name for e in jaxpr.eqns for word in but)


def check_indices(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """The exception of the first index outside of its array when function(*values) runs; None if all are inside."""
    checked = checkify.checkify(function, errors=checkify.index_checks)
    try:  # in one piece, of which XLA keeps what the indices come from
        rules = {p: functools.partial(_but_for_its_own, rule) for p, rule in checks.error_checks.items()
                 if p.name.startswith(_INDEXING)}
        with jax.disable_jit(False), mock.patch.dict(checks.error_checks, rules):
            error = jax.jit(lambda *given: checked(*given)[0])(*values)
    except Exception:  # what checkify cannot follow, or is not to be called again, it does not judge
        return None
    return error.get_exception()


def _but_for_its_own(rule: Callable[..., Any], error: Any, enabled: Any, *values: Any, **given: Any) -> Any:
    """No check of the indices that JAX's functions count out themselves, as jnp.triu_indices does."""
    files = re.findall(r"jax._src.numpy.(\w+)\.py:", str(checks.get_traceback()))
    return rule(error, enabled if _COUNTING.isdisjoint(files) else enabled - {checks.OOBError}, *values, **given)
