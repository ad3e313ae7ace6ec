"""From equations to ops: a program is built by the table, each op with the user's line of its equation."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.graph import Tensor, get_default_graph
from ...core.site import Site, capture, resolve
from ...debug.analysis.advice import advice_of
from ..model import build_at, legal_name, tf
from .data import Equation, Literal, Program, Variable, joined, programs_in
from .table import JAX, is_inexact


def build_program(program: Program, inputs: Sequence[Tensor], sites: tuple[Site, ...] = (),
                  constants: Sequence[Tensor] | None = None) -> list[Tensor]:
    """The outputs of a program, for tensors in the place of its inputs, added to the graph at hand.

    sites: the lines that called it. constants: what stands for its constants, if not ops of their values.
    """
    known: dict[Variable, Tensor] = dict(zip(program.inputs, inputs))
    for i, (variable, value) in enumerate(program.constants):
        known[variable] = tf.constant(value, variable.dtype) if constants is None else constants[i]
    for equation in program.equations:
        lines = joined(equation.sites, sites)
        found = build_at(get_default_graph(), lines, f"JAX's {equation.primitive}", _equation, equation, known, lines)
        known.update(zip(equation.outputs, found))
    return [_value(v, known) for v in program.outputs]


def _value(atom: Variable | Literal, known: dict[Variable, Tensor]) -> Tensor:
    return tf.constant(atom.value) if isinstance(atom, Literal) else known[atom]


def _equation(equation: Equation, known: dict[Variable, Tensor], sites: tuple[Site, ...]) -> Sequence[Tensor]:
    inputs = [_value(v, known) for v in equation.inputs]
    params = {key: _callable(value, sites) for key, value in equation.params.items()}
    first = equation.params.get("num_consts", 0)  # what a custom function closes over is none of its arguments
    moving = [i for i, v in enumerate(equation.inputs) if i >= first and is_inexact(inputs[i])
              and isinstance(v, Variable)]
    if moving and equation.primitive in JAX.pulled_back:
        return _with_pullback(equation, inputs, moving, params, sites)
    return JAX.build(equation.primitive, inputs, params)


def _callable(value: Any, sites: tuple[Site, ...]) -> Any:
    """A parameter with functions of tensors in the place of programs."""
    if isinstance(value, Program):
        return Called(value, sites)
    if isinstance(value, tuple):
        return tuple([_callable(part, sites) for part in value])
    return {key: _callable(part, sites) for key, part in value.items()} if isinstance(value, dict) else value


class Called:
    """A program that an equation calls, as a function of tensors. sites: the lines of the equation."""

    def __init__(self, program: Program, sites: tuple[Site, ...]) -> None:
        self.program, self._sites = program, sites

    def __call__(self, *inputs: Tensor) -> list[Tensor]:
        return build_program(self.program, inputs, self._sites)

    def in_scope(self, *inputs: Tensor) -> list[Tensor]:
        """The same, with its name before those of its ops."""
        if not self.program.name or self.program.name.startswith("<"):
            return self(*inputs)
        with get_default_graph().name_scope(legal_name(self.program.name.lstrip("_"))):
            return self(*inputs)


def _with_pullback(equation: Equation, inputs: Sequence[Tensor], moving: Sequence[int], params: dict[str, Any],
                   sites: tuple[Site, ...]) -> Sequence[Tensor]:
    """An equation whose gradient for the inputs at `moving` is the program that JAX gives for it."""

    @tf.custom_gradient
    def built(*moved: Tensor) -> Any:
        arguments = dict(enumerate(inputs)) | dict(zip(moving, moved))
        outputs = JAX.build(equation.primitive, list(arguments.values()), params)

        def gradient(*dys: Tensor) -> list[Tensor]:
            wanted = [dy for dy, y in zip(dys, outputs) if is_inexact(y)]
            assert equation.pullback is not None
            program = equation.pullback()
            advice_of(get_default_graph()).lines[found[0].op.name] = _lines(program, kind)
            around = sites + resolve(capture())  # deeper than other ops of the gradient: the user's function made them
            return build_program(program, [*arguments.values(), *wanted], around)

        return list(outputs), gradient

    kind = equation.primitive.removesuffix("_call")
    called = next(programs_in(equation.params.values()), None)
    with get_default_graph().name_scope(legal_name(called.name.strip("<>_") if called else kind)):
        result = built(*[inputs[i] for i in moving])
    found = result if isinstance(result, list) else [result]
    return found


def _lines(program: Program, kind: str) -> tuple[str, ...]:
    """The user's lines in a gradient, last first: what it returns is what counts."""
    sites = dict.fromkeys(e.sites[0] for e in reversed(program.equations) if e.sites)
    return tuple([f"{kind} at {s}: {s.text}" for s in sites])
