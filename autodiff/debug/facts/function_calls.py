"""Inside of branches and loops: names of the ops there, and the calls of their functions, with values in each."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.function_graph import Function, calls_python, functions_of
from ...core.graph import Graph, Operation, Tensor
from ...core.traversal import ancestors, outside
from ...ops.common.threads import as_kernels_run
from ...runtime.plan.interpreter import interpret
from ...runtime.plan.plan import Plan, compile_plan
from ...runtime.plan.state import OUTSIDE, CallNumber, Run, call_number
from ...runtime.session import RepeatSession
from .layer import layer_of
from .roles import is_handle
from .stats import has_nonfinite

Values = Mapping[Tensor, Any]
_CALLERS = ("If", "While")


class Call(NamedTuple):
    """One call of a function. ops: its own, in order; values: of their tensors. outputs: what the call gives.

    inputs: what it is given. where: in words: "iteration 2 of while", "the branch of cond that was taken".
    number: of the call in its run, for the random streams. turn: the iteration, None for a branch.
    """

    ops: list[Operation]
    values: dict[Tensor, Any]
    outputs: tuple[Tensor, ...]
    inputs: tuple[Tensor, ...]
    where: str
    number: CallNumber
    graph: Graph
    turn: int | None


class FunctionPlan(NamedTuple):
    """How a function is called: its operations in order, the tensors whose values are to be known, the plan."""

    ops: list[Operation]
    tensors: tuple[Tensor, ...]
    plan: Plan


Inside = Callable[[Operation, Values, CallNumber], Call | None]


class Calls:
    """Goes through the functions that ops call.

    variables: those of the run. number, entropy, draws: of its random streams. fetch: values of tensors of the run that
    are no arrays, such as the history of a loop. wanted: the inner tensors whose values are asked for, if not of all
    that the functions' outputs are made of; only then conditions are calls. outcomes: what ops that call Python gave in
    the run: they are not asked again. plans: of functions, shared by the Calls of one graph.
    """

    def __init__(self, graph: Graph, variables: Mapping[str, Any], number: int, entropy: int,
                 draws: Mapping[str, int], fetch: Callable[[Sequence[Tensor]], Mapping[Tensor, Any]],
                 wanted: Sequence[Tensor] | None = None, outcomes: Values | None = None,
                 plans: dict[Any, FunctionPlan] | None = None) -> None:
        self._fetch, self._outcomes = fetch, outcomes or {}
        self._wanted = None if wanted is None else tuple(wanted)
        session = RepeatSession(graph=graph)
        session.variables.update(variables)
        session.entropy, session.draws = entropy, dict(draws)
        self._run = Run(session, number)
        self._plans = {} if plans is None else plans

    def __call__(self, op: Operation, values: Values, within: CallNumber = OUTSIDE) -> Call | None:
        """The first call of op's in which something finite became non-finite; None if there is none to be found."""
        return next((call for call in self.of(op, values, within) if any(
            has_nonfinite(v) for v in call.values.values() if isinstance(v, (np.ndarray, np.generic)))), None)

    def of(self, op: Operation, values: Values, within: CallNumber = OUTSIDE) -> Iterator[Call]:
        """The calls that an op makes of its functions, one after another; none if its inputs are not known.

        within: the number of the call that the op itself is part of.
        """
        if not functions_of(op):
            return
        passed = [t for t in op.inputs if not is_handle(t)]
        missing = [t for t in passed if t not in values]
        if missing:
            values = {**values, **self._fetch(missing)}
        if not all(t in values for t in passed):
            return
        given = [outside(t).op.name if is_handle(t) else values[t] for t in op.inputs]
        left: list[Any] = []
        if calls_python(op):
            left = [(values if t in values else self._outcomes).get(t) for t in op.outputs]
        if op.type == "If":
            then_branch, else_branch = op.attrs["then_branch"], op.attrs["else_branch"]
            split, first = 1 + len(then_branch.inputs), len(then_branch.outputs)
            second = first + len(then_branch.kept)
            branch, arguments, kept = (then_branch, given[1:split], left[first:second]) if given[0] else (
                else_branch, given[split:], left[second:])
            where = f"the {'first' if given[0] else 'second'} branch of {name_of(op)}"
            yield self._called(branch, arguments, where, call_number(op, within, 0), kept=[k[0] for k in kept])
        elif op.type == "While":
            count = len(op.attrs["shapes"])
            histories = [history for history in left[2 * count:] if history is not None]
            yield from self._iterations(op, given, within, list(zip(*histories)))

    def _iterations(self, op: Operation, given: list[Any], within: CallNumber,
                    kept: Sequence[Sequence[Any]]) -> Iterator[Call]:
        """kept: of each iteration, what the body kept, if it calls Python."""
        cond, body, count = op.attrs["cond"], op.attrs["body"], len(op.attrs["shapes"])
        split = count + len(cond.captured)
        state: Sequence[Any] = given[:count]
        for turn in itertools.count():
            where = f"iteration {turn} of {name_of(op)}"
            test = self._called(cond, [*state, *given[count:split]], where, call_number(op, within, 2 * turn), turn)
            if self._wanted is not None:
                yield test
            if not test.values[cond.outputs[0]]:
                return
            call = self._called(body, [*state, *given[split:]], where, call_number(op, within, 2 * turn + 1), turn,
                                kept[turn] if turn < len(kept) else ())
            yield call
            state = [call.values[t] for t in body.outputs]

    def _called(self, function: Function, arguments: Sequence[Any], where: str, number: CallNumber,
                turn: int | None = None, kept: Sequence[Any] = ()) -> Call:
        key = function, self._wanted, bool(kept)
        if key not in self._plans:
            below = sorted(ancestors(function.outputs), key=lambda op: op.index)
            ops = [op for op in below if op.type not in ("Argument", "Captured")]
            tensors = self._tensors(function, ops)
            known = (*function.inputs, *function.kept) if kept else function.inputs
            self._plans[key] = FunctionPlan(ops, tensors, compile_plan(tensors, (), known))
        ops, tensors, plan = self._plans[key]
        self._run.current_call = number
        with as_kernels_run(keeps_subnormals=plan.keeps_subnormals), np.errstate(all="ignore"):
            found = interpret(plan, self._run, [*arguments, *kept])
        return Call(ops, dict(zip(tensors, found)), function.outputs, function.inputs, where, number, function.graph,
                    turn)

    def _tensors(self, function: Function, ops: Sequence[Operation]) -> tuple[Tensor, ...]:
        """The tensors of a function whose values are asked for."""
        if self._wanted is None:
            return tuple(dict.fromkeys((*function.inputs, *(t for op in ops for t in op.outputs), *function.outputs)))
        return tuple(dict.fromkeys((*(t for t in self._wanted if t.graph is function.graph), *function.outputs)))


class InnerOps:
    """The operations of a graph and of all its functions, without the stand-ins for outer tensors."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._operations: dict[str, Operation] = {}
        self._callers: dict[Graph, Operation] = {}
        self._known = [0, 0]  # of the graph, of its layer

    def by_name(self) -> dict[str, Operation]:
        """Every inner operation; within a function in the order of computing."""
        for which, operations in enumerate((self.graph.operations, layer_of(self.graph).operations)):
            for op in itertools.islice(operations.values(), self._known[which], None):
                if op.type in _CALLERS:
                    self._enter(op)
            self._known[which] = len(operations)
        return self._operations

    def _enter(self, caller: Operation) -> None:
        for function in functions_of(caller):
            if function.graph in self._callers:  # a function of two versions of one loop
                continue
            self._callers[function.graph] = caller
            for op in function.graph.operations.values():
                if op.type in _CALLERS:
                    self._enter(op)
                if op.type != "Captured":
                    self._operations.setdefault(op.name, op)

    def has(self, tensor: Tensor) -> bool:
        """Whether a tensor is inside of a branch or loop of this graph."""
        if tensor.graph is self.graph:
            return False
        self.by_name()
        return tensor.graph in self._callers

    def has_name(self, name: str) -> bool:
        """Whether `while/add:0` names a tensor inside."""
        return name.partition(":")[0] in self.by_name()

    def outer(self, tensor: Tensor) -> Tensor:
        """A tensor that is computed whenever this one is, outside of all branches and loops; itself if it is."""
        return self.callers(tensor.op)[0].outputs[0] if self.has(tensor) else tensor

    def outer_op(self, op: Operation) -> Operation:
        """The outermost branch or loop around an operation; itself if there is none."""
        return next(iter(self.callers(op)), op)

    def callers(self, op: Operation) -> list[Operation]:
        """The branches and loops around an operation, outermost first; none if it is not inside of any."""
        self.by_name()
        found: list[Operation] = []
        graph = op.graph
        while graph in self._callers:
            found.append(self._callers[graph])
            graph = found[-1].graph
        return found[::-1]


def name_of(caller: Operation) -> str:
    """The user's name of a branch or loop: `while` for `while/While`."""
    return caller.name.rpartition("/")[0] or caller.name
