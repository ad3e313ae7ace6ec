"""A jaxpr as plain data, without JAX: variables, equations, programs."""
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
