"""Inside of branches and loops: the values that a function's ops had in the call where something went wrong."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...function_graph import Function, functions_of
from ...graph import Graph, Operation, Tensor
from ...runtime.execute import interpret
from ...runtime.plan import Plan, compile_plan
from ...runtime.session import Session
from ...runtime.state import Run, call_number
from ..stats import has_nonfinite
from .flow import before

Values = Mapping[Tensor, Any]


class Call(NamedTuple):
    """One call of a function. ops: its own, in order; values: of their tensors. outputs: what the call gives.

    inputs: what it is given. where: in words: "iteration 2 of while", "the branch of cond that was taken".
    number: of the call in its run, for the random streams.
    """

    ops: list[Operation]
    values: dict[Tensor, Any]
    outputs: tuple[Tensor, ...]
    inputs: tuple[Tensor, ...]
    where: str
    number: int


Inside = Callable[[Operation, Values, int], Call | None]


class Calls:
    """Goes through the functions that ops call. variables: those of the run; number, entropy: of its random streams.

    fetch: values of tensors of the run that are no arrays, such as the history of a loop.
    """

    def __init__(self, graph: Graph, variables: Mapping[str, Any], number: int, entropy: int,
                 fetch: Callable[[Sequence[Tensor]], Mapping[Tensor, Any]]) -> None:
        self._fetch = fetch
        session = Session(graph=graph)
        session.variables.update(variables)
        session.entropy = entropy
        self._run = Run(session, number)
        self._plans: dict[Function, Plan] = {}

    def __call__(self, op: Operation, values: Values, within: int = 0) -> Call | None:
        """The first call of op's in which something finite became non-finite; None if there is none to be found."""
        return next((call for call in self.of(op, values, within) if any(
            has_nonfinite(v) for v in call.values.values() if isinstance(v, (np.ndarray, np.generic)))), None)

    def of(self, op: Operation, values: Values, within: int = 0) -> Iterator[Call]:
        """The calls that an op makes of its functions, one after another; none if its inputs are not known.

        within: the number of the call that the op itself is part of.
        """
        if not functions_of(op):
            return
        missing = [t for t in op.inputs if t not in values]
        if missing:
            values = {**values, **self._fetch(missing)}
        if not all(t in values for t in op.inputs):
            return
        given = [_argument(t, values) for t in op.inputs]
        if op.type == "If":
            then_branch, else_branch = op.attrs["then_branch"], op.attrs["else_branch"]
            split = 1 + len(then_branch.inputs)
            branch, arguments = (then_branch, given[1:split]) if given[0] else (else_branch, given[split:])
            where = f"the {'first' if given[0] else 'second'} branch of {_name(op)}"
            yield self._called(branch, arguments, where, call_number(op, within, 0))
        elif op.type == "While":
            yield from self._iterations(op, given, within)

    def _iterations(self, op: Operation, given: list[Any], within: int) -> Iterator[Call]:
        cond, body, count = op.attrs["cond"], op.attrs["body"], len(op.attrs["shapes"])
        split = count + len(cond.captured)
        state: Sequence[Any] = given[:count]
        iteration = 0
        while self._holds(cond, [*state, *given[count:split]], call_number(op, within, 2 * iteration)):
            call = self._called(body, [*state, *given[split:]], f"iteration {iteration} of {_name(op)}",
                                call_number(op, within, 2 * iteration + 1))
            yield call
            state = [call.values[t] for t in body.outputs]
            iteration += 1

    def _holds(self, cond: Function, arguments: Sequence[Any], number: int) -> bool:
        return bool(self._evaluated(self._plan(cond, cond.outputs), arguments, number)[0])

    def _evaluated(self, plan: Plan, arguments: Sequence[Any], number: int) -> list[Any]:
        self._run.current_call = number
        with np.errstate(all="ignore"):
            return interpret(plan, self._run, arguments)

    def _plan(self, function: Function, tensors: Sequence[Tensor]) -> Plan:
        if function not in self._plans:
            self._plans[function] = compile_plan(tuple(tensors), (), function.inputs)
        return self._plans[function]

    def _called(self, function: Function, arguments: Sequence[Any], where: str, number: int) -> Call:
        below = sorted(before(function.outputs), key=lambda op: op.index)
        ops = [op for op in below if op.type not in ("Argument", "Captured")]
        tensors = list(dict.fromkeys((*function.inputs, *(t for op in ops for t in op.outputs), *function.outputs)))
        found = self._evaluated(self._plan(function, tensors), arguments, number)
        return Call(ops, dict(zip(tensors, found)), function.outputs, function.inputs, where, number)


def _name(op: Operation) -> str:
    """The user's name of a branch or loop: `while` for `while/While`."""
    return op.name.rpartition("/")[0] or op.name


def _argument(tensor: Tensor, values: Values) -> Any:
    """What an op is given for an input: of a variable its name."""
    handle = tensor
    while handle.op.type == "Captured":
        handle = handle.op.attrs["external"]
    return handle.op.name if handle.dtype.is_ref or handle.dtype.name == "resource" else values[tensor]
