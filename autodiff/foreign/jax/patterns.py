"""What several equations are together: softmax and log_softmax, which JAX writes out."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .data import Equation, Literal, Program, Variable


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
