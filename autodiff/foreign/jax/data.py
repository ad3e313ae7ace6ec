"""A jaxpr as plain data, without JAX: variables, equations, programs, and what several equations are together."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ...core.site import Site
from ..model import Use


@dataclass(frozen=True, eq=False)
class Variable:
    """A value inside of a program. dtype: NumPy's name; a random key is one uint64 of its two words."""

    dtype: str
    shape: tuple[int, ...]


class Literal(NamedTuple):
    """A value that stands in an equation itself."""

    value: np.ndarray


@dataclass(frozen=True, eq=False)
class Equation:
    """`outputs = primitive(*inputs)`. params: plain values, the programs that it calls among them.

    sites: the user's lines inside of the program, innermost first. pullback: gives the program of its gradient as JAX
    has it: all inputs and a cotangent for each inexact output, to a gradient for each inexact variable in the inputs
    but the first `num_consts`, which a custom function closes over.
    """

    primitive: str
    inputs: tuple[Variable | Literal, ...]
    outputs: tuple[Variable, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    pullback: Callable[[], Program] | None = None


@dataclass(frozen=True, eq=False)
class Program:
    """Equations in order. constants: variables whose values are arrays, or variables of a program around this one.

    name, site: of the function that was traced. dead: equations that were left out, as no output needs them.
    """

    inputs: tuple[Variable, ...]
    constants: tuple[tuple[Variable, Any], ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Variable | Literal, ...]
    name: str = ""
    site: Site | None = None
    dead: tuple[Equation, ...] = ()

    def uses(self, outside: tuple[Site, ...] = ()) -> Iterator[Use]:
        """The primitives of all equations, also of the programs that they call."""
        for equation in self.equations:
            sites = joined(equation.sites, outside)
            yield Use(equation.primitive, sites[0] if sites else None)
            for program in programs_in(equation.params.values()):
                yield from program.uses(sites)


def programs_in(values: Any) -> Iterator[Program]:
    """The programs among parameters."""
    for value in values:
        if isinstance(value, Program):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from programs_in(value)
        elif isinstance(value, dict):
            yield from programs_in(value.values())


def joined(inside: tuple[Site, ...], outside: tuple[Site, ...]) -> tuple[Site, ...]:
    """The lines of an equation in a called program: JAX cuts some of them at the call and leaves others whole."""
    return inside if outside and inside[-len(outside):] == outside else inside + outside


def without_dead(program: Program) -> Program:
    """The same without equations whose outputs nothing needs."""
    needed = {id(v) for v in program.outputs}
    kept = []
    for equation in reversed(program.equations):
        if any(id(v) in needed for v in equation.outputs):
            kept.append(equation)
            needed.update(map(id, equation.inputs))
    dead = tuple(e for e in program.equations if e not in kept)
    return replace(program, equations=tuple(reversed(kept)), dead=dead)


def last_use(program: Program, variable: Variable) -> Equation | None:
    """The last of the equations left out that comes of a variable; None if there is none."""
    reached, last = {id(variable)}, None
    for equation in program.dead:
        if any(id(v) in reached for v in equation.inputs):
            reached.update(map(id, equation.outputs))
            last = equation
    return last


def is_only_added(program: Program, variable: Variable) -> bool:
    """Whether it is added to what was left out, and that is made of what outputs need: as an energy of forces is."""
    needed = {id(v) for e in program.equations for v in e.inputs}
    own, made = {id(variable)}, set[int]()
    for e in program.dead:
        takes, gives = set(map(id, e.inputs)), set(map(id, e.outputs))
        if takes & own and e.primitive not in ("broadcast_in_dim", "reshape", "convert_element_type", "squeeze"):
            return e.primitive in ("add", "add_any", "sub") and bool(takes & made)
        own |= gives if takes & own else set()
        made |= gives if takes & (needed | made) else set()
    return False


def recognized(program: Program) -> Program:
    """The same with an equation `softmax` or `log_softmax` for each quotient or difference that is one."""
    makers = {id(v): e for e in program.equations for v in e.outputs}
    equations = tuple(_recognized(e, makers) for e in program.equations)
    return replace(program, equations=equations)


def _recognized(equation: Equation, makers: Mapping[int, Equation]) -> Equation:
    """`exp(s) / sum(exp(s))` or `s - log(sum(exp(s)))` of s = x - max(x); else the equation itself."""
    if equation.primitive not in ("div", "sub"):
        return equation
    first, total = equation.inputs
    if equation.primitive == "sub":
        log = _back(total, makers, "log")
        if log is None:
            return equation
        total = log.inputs[0]
    summed = _back(total, makers, "broadcast_in_dim", "reduce_sum")
    exp = None if summed is None else _back(summed.inputs[0], makers, "exp")
    if summed is None or exp is None or first is not (exp.outputs[0] if equation.primitive == "div" else exp.inputs[0]):
        return equation
    x = _unshifted(exp.inputs[0], makers, summed.params["axes"])
    if x is None or len(summed.params["axes"]) != 1:
        return equation
    name = "softmax" if equation.primitive == "div" else "log_softmax"
    return Equation(name, (x,), equation.outputs, {"axis": int(summed.params["axes"][0])}, equation.sites)


def _unshifted(v: Variable | Literal, makers: Mapping[int, Equation], axes: object) -> Variable | Literal | None:
    """The x of x - stop_gradient(max(x)) along these axes."""
    difference = _back(v, makers, "sub")
    if difference is None:
        return None
    stopped = _back(difference.inputs[1], makers, "stop_gradient", "broadcast_in_dim", "max")
    highest = None if stopped is None else _back(stopped.inputs[1], makers, "reduce_max")
    x = difference.inputs[0]
    return x if highest is not None and highest.inputs[0] is x and highest.params["axes"] == axes else None


def _back(v: Variable | Literal, makers: Mapping[int, Equation], *primitives: str) -> Equation | None:
    """The last equation of a chain of these primitives that leads to a variable, going back."""
    found = None
    for primitive in primitives:
        found = makers.get(id(v))
        if found is None or found.primitive != primitive:
            return None
        v = found.inputs[0]
    return found
