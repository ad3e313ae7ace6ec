"""From JAX's objects to plain data: the one file that knows how JAX keeps a jaxpr."""
from __future__ import annotations

import enum
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import jax  # loaded only where the user's program has it
import numpy as np
from jax._src import api_util, linear_util, source_info_util
from jax._src.interpreters import partial_eval
from jax.extend import core

from ...core.errors import UnsupportedError
from ...core.site import PACKAGE, Site, resolve
from ...ops.common.instead import instead
from ..leaf_names import dotted, parameter_names
from .data import Equation, Literal, Program, Variable, recognized, without_dead

_DEPTH = 8  # lines kept for each equation
_AROUND = tuple([os.path.join(os.path.dirname(__file__), name) for name in ("draws.py", "optimizers.py")])
_WRITTEN_OUT = ("random_gamma",)  # primitives that JAX has a program for
_Known = dict[Any, Variable]  # the variables of a jaxpr and of those in it


def trace(function: Callable[..., Any], arguments: Sequence[Any], known: _Known | None = None) -> Program:
    """The program of function(*arguments), whose inputs are the leaves of its arguments.

    known: the variables of a traced program whose values the function closes over.
    What is called under jax.jit stays a call, also where the user's program has switched jit off.
    """
    return tidied(as_program(*jaxpr_of(function, arguments), known))


def jaxpr_of(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """JAX's own program, and the arrays that it closes over."""
    with jax.disable_jit(False):
        closed = jax.make_jaxpr(function)(*arguments)
    return closed.jaxpr, closed.consts


def jaxpr_at_values(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """The same, of what depends on the arguments: the rest is computed at once, so that Python can look at it."""
    avals = [jax.typeof(jax.numpy.asarray(x)) for x in arguments]
    flat = linear_util.wrap_init(lambda *xs: jax.tree.leaves(function(*xs)), debug_info=api_util.debug_info(
        "jit", function, tuple(arguments), {}))
    unknown = [partial_eval.PartialVal.unknown(aval) for aval in avals]
    jaxpr, _, consts = partial_eval.trace_to_jaxpr_nounits(flat, unknown, instantiate=True)
    return jaxpr, consts


def input_names(function: Callable[..., Any], arguments: Sequence[Any]) -> list[str]:
    """A dotted name for each leaf of the arguments: the parameter's, then its keys (`params.layers.0.w`)."""
    return [dotted(path, name) for name, value in zip(parameter_names(function, arguments), arguments)
            for path, _ in jax.tree_util.tree_leaves_with_path(value)]


def array_of(value: Any) -> np.ndarray:
    """A leaf as an array; a random key as the uint64 of its two words."""
    if hasattr(value, "dtype") and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        words = np.asarray(jax.random.key_data(value)).astype(np.uint64)
        return (words[..., 0] << np.uint64(32)) | words[..., 1]
    array = np.asarray(value)
    return array if hasattr(value, "dtype") else array.astype(jax.dtypes.canonicalize_dtype(array.dtype))


def tidied(program: Program, outputs: int | None = None) -> Program:
    """The same as far as so many of its outputs need it, all by default."""
    return without_dead(recognized(replace(program, outputs=program.outputs[:outputs])))


def as_program(jaxpr: Any, consts: Iterable[Any], known: _Known | None = None) -> Program:
    """Plain data of a jaxpr."""
    known = {} if known is None else known

    def atom(v: Any) -> Variable | Literal:
        return Literal(array_of(v.val).astype(_dtype(v.aval))) if isinstance(v, core.Literal) else variable(v)

    def variable(v: Any) -> Variable:
        if v not in known:
            known[v] = Variable(_dtype(v.aval), tuple(getattr(v.aval, "shape", ())))
        return known[v]

    constants = tuple((variable(v), known[getattr(c, "val", c)] if isinstance(c, jax.core.Tracer) else array_of(c))
                      for v, c in zip(jaxpr.constvars, consts))
    equations = tuple(
        Equation(_name(e), tuple(map(atom, e.invars)), tuple(map(variable, e.outvars)), _params(e, known),
                 _sites(e.source_info.traceback), functools.cache(functools.partial(_pullback, e, known)))
        for e in jaxpr.eqns)
    name, site = _source(jaxpr)
    return Program(tuple(map(variable, jaxpr.invars)), constants, equations, tuple(map(atom, jaxpr.outvars)), name,
                   site)


def _name(equation: Any) -> str:
    """The primitive's, or that of a function of JAX's own with a rule for its gradient that is one of our ops."""
    if equation.primitive.name != "custom_jvp_call":
        return str(equation.primitive.name)
    said = equation.params["call_jaxpr"].jaxpr.debug_info.func_src_info or ""
    return "relu" if said.startswith("relu at ") and "/jax/_src/nn/functions.py:" in said else equation.primitive.name


def _dtype(aval: Any) -> str:
    dtype = getattr(aval, "dtype", np.dtype(np.bool_))  # tokens have none
    return "uint64" if jax.dtypes.issubdtype(dtype, jax.dtypes.extended) else np.dtype(dtype).name


def _params(equation: Any, known: _Known) -> dict[str, Any]:
    found = _plain_items(equation.params.items(), known)
    if equation.primitive.name in _WRITTEN_OUT:
        function = functools.partial(equation.primitive.impl, **equation.params)
        found["jaxpr"] = trace(function, [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars])
    if "callback" in equation.params:
        found["callback"] = equation.params["callback"]
        found["results"] = tuple((v.aval.shape, _dtype(v.aval)) for v in equation.outvars)
    return found


def _plain_items(items: Iterable[tuple[str, Any]], known: _Known) -> dict[str, Any]:
    found = {key: _plain(value, known) for key, value in items}
    return {key: value for key, value in found.items() if value is not _OPAQUE}


_OPAQUE = object()


def _plain(value: Any, known: _Known) -> Any:
    """A parameter as plain data; what is none (functions, shardings) is _OPAQUE."""
    if isinstance(value, core.ClosedJaxpr):
        return tidied(as_program(value.jaxpr, value.consts, known))
    if isinstance(value, core.Jaxpr):
        return tidied(as_program(value, (), known))
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, np.ndarray, jax.Array)):
        return array_of(value) if isinstance(value, jax.Array) else value
    if isinstance(value, (np.dtype, type)) or hasattr(value, "_rules") and hasattr(value, "itemsize"):
        is_one = not inspect.isclass(value) or issubclass(value, np.generic)
        return _dtype(jax.ShapeDtypeStruct((), value)) if is_one else _OPAQUE
    if hasattr(value, "key_shape"):  # a kind of random keys
        return str(value.tag)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _plain_items(zip(value._fields, value), known)
    if isinstance(value, (tuple, list)):
        return tuple([None if part is _OPAQUE else part for part in (_plain(v, known) for v in value)])
    if isinstance(value, core.Primitive):
        return value.name
    return _OPAQUE


class _Seen(Site):
    """A line, and which of its instructions was run. raw: as frames have it."""


def _sites(traceback: Any) -> tuple[Site, ...]:
    """The user's lines, innermost first, as far as the library's own files, from which JAX was called, other than
    those that stand around functions of JAX's which the user calls.

    Those of installed packages, such as optax, only where there are no others.
    """
    found: list[Site] = []
    for raw in zip(*traceback.raw_frames()) if traceback is not None else ():
        if raw[0].co_filename in _AROUND:
            continue
        if raw[0].co_filename.startswith(PACKAGE) or len(found) == _DEPTH:
            break
        if source_info_util.is_user_filename(raw[0].co_filename):
            found.append(_Seen(*resolve((raw,))[0]))
            found[-1].raw = raw  # type: ignore[attr-defined]
    own = [site for site in found if "-packages" not in site.file]
    return tuple(own or found)


def _source(jaxpr: Any) -> tuple[str, Site | None]:
    """The name of the function that a jaxpr was traced from, and where it stands, if it is the user's."""
    said = getattr(jaxpr.debug_info, "func_src_info", None) or ""
    found = re.fullmatch(r"(.*) at (.*):(\d+)", said)
    if not found:
        return said.partition(" ")[0], None
    name, file, line = found.groups()
    is_users = source_info_util.is_user_filename(file) and not file.startswith(PACKAGE)
    return name, Site(file, int(line), name) if is_users else None


def _pullback(equation: Any, known: _Known) -> Program:
    """The gradient of one equation as JAX has it, traced."""
    primitive, given = equation.primitive, [v.aval for v in equation.invars]
    first = equation.params.get("num_consts", 0)
    moving = [i for i, v in enumerate(equation.invars) if i >= first and _is_inexact(v.aval)
              and not isinstance(v, core.Literal)]
    results = [i for i, v in enumerate(equation.outvars) if _is_inexact(v.aval)]

    def pulled(*values: Any) -> Any:
        inputs, cotangents = list(values[:len(given)]), list(values[len(given):])

        def function(*moved: Any) -> list[Any]:
            arguments = dict(enumerate(inputs)) | dict(zip(moving, moved))
            found = primitive.bind(*arguments.values(), **primitive.get_bind_params(equation.params))
            found = found if primitive.multiple_results else [found]
            return [found[i] for i in results]

        return jax.vjp(function, *[inputs[i] for i in moving])[1](cotangents)

    avals = [*given, *[equation.outvars[i].aval for i in results]]
    with equation.ctx.manager, _lines_of_rules():
        try:
            return trace(pulled, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals], known)
        except KeyError as error:
            sites = _sites(equation.source_info.traceback)
            called = equation.params.get("call_jaxpr") or equation.params["fun_jaxpr"]
            raise UnsupportedError(
                f"the derivative that {_source(called.jaxpr)[0]} has of its own uses a value of "
                "the function around it, which is none of its arguments", line=str(sites[0]) if sites else "",
                hint="make what it uses an argument, or a number that is known before jax.jit") from error


def _lines_of_rules() -> AbstractContextManager[None]:
    """JAX gives what a backward function does the line of the forward call: where that is ours, it keeps its own."""
    real = source_info_util.user_context

    def context(traceback: Any, **options: Any) -> Any:
        return real(traceback if _sites(traceback) else None, **options)

    return instead([(source_info_util, "user_context", context)])


def _is_inexact(aval: Any) -> bool:
    return hasattr(aval, "dtype") and jax.dtypes.issubdtype(aval.dtype, np.inexact)
