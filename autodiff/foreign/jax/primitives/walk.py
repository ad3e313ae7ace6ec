"""From equations to ops: a program is built by the table, each op with the user's line of its equation."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.graph import Tensor, get_default_graph
from ....core.site import Site, capture, resolve
from ....debug.analysis.advice import advice_of
from ...model import build_at, legal_name, tf
from ..data import Equation, Literal, Program, Variable, joined, programs_in
from .table import JAX, is_inexact


def build_program(program: Program, inputs: Sequence[Tensor], sites: tuple[Site, ...] = (),
                  constants: Sequence[Tensor] | None = None, around: Values | None = None) -> list[Tensor]:
    """The outputs of a program, for tensors in the place of its inputs, added to the graph at hand.

    sites: the lines that called it. constants: what stands for its constants, if not ops of their values.
    around: the values of the program that it stands in.
    """
    values = Values(program, inputs, sites, around)
    for i, (variable, value) in enumerate(program.constants):
        values.known[variable] = (constants[i] if constants is not None else values.of(value)
                                  if isinstance(value, Variable) else tf.constant(value, variable.dtype))
    for equation in program.equations:
        values.known.update(values.made(equation))
    return [values.of(v) for v in program.outputs]


class Values:
    """The tensors of a program's variables, those of its inputs at first; what no output needs is made when asked for.

    around: of the program in which it stands.
    """

    def __init__(self, program: Program, inputs: Sequence[Tensor], sites: tuple[Site, ...],
                 around: Values | None) -> None:
        self.known: dict[Variable, Tensor] = dict(zip(program.inputs, inputs))
        self._program, self._sites, self._around = program, sites, around

    def of(self, atom: Variable | Literal) -> Tensor:
        if isinstance(atom, Literal):
            return tf.constant(atom.value)
        if atom in self.known:
            return self.known[atom]
        equation = next((e for e in self._program.dead if atom in e.outputs), None)
        if equation is None and self._around is not None:
            return self._around.of(atom)
        return self.known[atom] if equation is None else self.made(equation)[atom]

    def made(self, equation: Equation) -> dict[Variable, Tensor]:
        """The outputs of an equation, added to the graph at hand."""
        lines = joined(equation.sites, self._sites)
        found = build_at(get_default_graph(), lines, f"JAX's {equation.primitive}", _equation, equation, self, lines)
        return dict(zip(equation.outputs, found))


def _equation(equation: Equation, values: Values, sites: tuple[Site, ...]) -> Sequence[Tensor]:
    inputs = [values.of(v) for v in equation.inputs]
    params = {key: _callable(value, sites, values) for key, value in equation.params.items()}
    first = equation.params.get("num_consts", 0)  # what a custom function closes over is none of its arguments
    moving = [i for i, v in enumerate(equation.inputs) if i >= first and is_inexact(inputs[i])
              and isinstance(v, Variable)]
    if moving and equation.primitive in JAX.pulled_back:
        return _with_pullback(equation, inputs, moving, params, sites, values)
    return JAX.build(equation.primitive, inputs, params)


def _callable(value: Any, sites: tuple[Site, ...], values: Values) -> Any:
    """A parameter with functions of tensors in the place of programs."""
    if isinstance(value, Program):
        return Called(value, sites, values)
    if isinstance(value, tuple):
        return tuple([_callable(part, sites, values) for part in value])
    return {key: _callable(part, sites, values) for key, part in value.items()} if isinstance(value, dict) else value


class Called:
    """A program that an equation calls, as a function of tensors.

    sites: the lines of the equation. around: the values of the program that it is in.
    """

    def __init__(self, program: Program, sites: tuple[Site, ...], around: Values) -> None:
        self.program, self._sites, self._around = program, sites, around

    def __call__(self, *inputs: Tensor) -> list[Tensor]:
        return build_program(self.program, inputs, self._sites, around=self._around)

    def in_scope(self, *inputs: Tensor) -> list[Tensor]:
        """The same, with its name before those of its ops."""
        if not self.program.name or self.program.name.startswith("<"):
            return self(*inputs)
        with get_default_graph().name_scope(legal_name(self.program.name.lstrip("_"))):
            return self(*inputs)


def _with_pullback(equation: Equation, inputs: Sequence[Tensor], moving: Sequence[int], params: dict[str, Any],
                   sites: tuple[Site, ...], values: Values) -> Sequence[Tensor]:
    """An equation whose gradient for the inputs at `moving` is the program that JAX gives for it."""

    def built(*moved: Tensor) -> Any:
        arguments = dict(enumerate(inputs)) | dict(zip(moving, moved))
        outputs = JAX.build(equation.primitive, list(arguments.values()), params)

        def gradient(*dys: Tensor) -> list[Tensor]:
            wanted = [_other_way(dy) for dy, y in zip(dys, outputs) if is_inexact(y)]
            assert equation.pullback is not None
            program = equation.pullback()
            advice_of(get_default_graph()).lines[found[0].op.name] = _lines(program, kind)
            lines = sites + resolve(capture())  # deeper than other ops of the gradient: the user's function made them
            return list(map(_other_way, build_program(program, [*arguments.values(), *wanted], lines, around=values)))

        return list(outputs), gradient

    # what it solves by, as the factors of a matrix, goes with the matrix: no argument can be moved alone
    built.is_convention = equation.primitive == "custom_linear_solve"  # type: ignore[attr-defined]
    kind = equation.primitive.removesuffix("_call")
    called = next(programs_in(equation.params.values()), None)
    with get_default_graph().name_scope(legal_name(called.name.strip("<>_") if called else kind)):
        result = tf.custom_gradient(built)(*[inputs[i] for i in moving])
    found = result if isinstance(result, list) else [result]
    return found


def _other_way(gradient: Tensor) -> Tensor:
    """A gradient by a complex number as JAX has it, from our way, or back: one is the conjugate of the other."""
    return tf.math.conj(gradient) if gradient.dtype.is_complex else gradient


def _lines(program: Program, kind: str) -> tuple[str, ...]:
    """The user's lines in a gradient, last first: what it returns is what counts."""
    sites = dict.fromkeys(e.sites[0] for e in reversed(program.equations) if e.sites)
    return tuple([f"{kind} at {s}: {s.text}" for s in sites])
