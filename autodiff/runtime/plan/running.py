"""What a run has to do: of branches and loops only the parts that it needs, as in TensorFlow."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from ...core.function_graph import Function
from ...core.graph import Operation, Tensor


class Part(NamedTuple):
    """What a run needs of a branch or loop: numbers of its inputs, and its functions with what they give then."""

    inputs: frozenset[int]
    functions: dict[str, Function]


class Running(set[Operation]):
    """The operations of a run. outputs: of each branch and loop, the numbers of those that are needed."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs: dict[Operation, set[int]] = {}

    def gives(self, tensor: Tensor) -> bool:
        """Whether the run computes this tensor."""
        wanted = self.outputs.get(tensor.op)
        return tensor.op in self and (wanted is None or tensor.value_index in wanted)

    def part(self, op: Operation) -> Part | None:
        """The part of a branch or loop that is needed; None for another operation."""
        return _part(op, frozenset(self.outputs[op])) if op in self.outputs else None


def running(tensors: Iterable[Tensor], targets: Iterable[Operation] = (), known: Collection[Tensor] = ()) -> Running:
    """All that runs for `tensors` and `targets`: operations before them, and those they wait for."""
    found = Running()
    stack: list[tuple[Operation, int | None]] = [*((t.op, t.value_index) for t in tensors if t not in known),
                                                *((op, None) for op in targets)]
    while stack:
        op, index = stack.pop()
        if op.definition.name not in _PARTS:
            if op in found:
                continue
            inputs: Iterable[Tensor] = op.inputs
        else:
            wanted = found.outputs.setdefault(op, set())
            new = set(range(len(op.outputs))) if index is None else {index}
            if op in found and new <= wanted:
                continue
            wanted |= new
            inputs = [op.inputs[i] for i in _part(op, frozenset(wanted)).inputs]
        if op.waits_for and op not in found:
            stack.extend([(other, None) for other in op.waits_for])
        found.add(op)
        stack.extend([(t.op, t.value_index) for t in inputs if t not in known])
    return found


def _part(op: Operation, outputs: frozenset[int]) -> Part:
    cache = next(value for value in op.attrs.values() if isinstance(value, Function)).cache
    key = "part", outputs
    if key not in cache:
        cache[key] = _PARTS[op.type](op.attrs, outputs)
    return cache[key]


def _part_of_if(attrs: dict[str, Any], outputs: frozenset[int]) -> Part:
    then_branch, else_branch = attrs["then_branch"], attrs["else_branch"]
    count, first_kept, split = len(then_branch.outputs), len(then_branch.given), len(then_branch.inputs)
    both = {i for i in outputs if i < count}
    live_then = frozenset(both | {i for i in outputs if count <= i < first_kept})
    live_else = frozenset(both | {i - len(then_branch.kept) for i in outputs if i >= first_kept})
    first, of_then = _narrowed(then_branch, live_then)
    second, of_else = _narrowed(else_branch, live_else)
    inputs = {0, *(1 + i for i in of_then), *(1 + split + i for i in of_else)}
    return Part(frozenset(inputs), {"then_branch": first, "else_branch": second})


def _part_of_while(attrs: dict[str, Any], outputs: frozenset[int]) -> Part:
    """Final values and histories of loop variables come from the variables that they depend on, in any iteration."""
    cond, body, count = attrs["cond"], attrs["body"], len(attrs["shapes"])
    of_cond = _narrowed(cond, frozenset((0,)))[1]
    kept = {i - count for i in outputs if i >= 2 * count}
    variables = {i % count for i in outputs if i < 2 * count} | {i for i in of_cond if i < count}
    while True:
        part, of_body = _narrowed(body, frozenset(variables | kept))
        more = variables | {i for i in of_body if i < count}
        if more == variables:
            break
        variables = more
    split = len(cond.captured)
    inputs = variables | {i for i in of_cond if i >= count} | {i + split for i in of_body if i >= count}
    inputs |= {count + split + i for i, tensor in enumerate(body.captured) if _is_first_history(tensor)}
    return Part(frozenset(inputs), {"body": part})


_PARTS = {"If": _part_of_if, "While": _part_of_while}


def _is_first_history(tensor: Tensor) -> bool:
    """Whether this is what a loop leaves to its gradient, which always asks for it: with it comes what is recalled."""
    return tensor.op.type == "While" and tensor.value_index == len(tensor.op.attrs["shapes"])


def _narrowed(function: Function, given: frozenset[int]) -> tuple[Function, set[int]]:
    """The function that gives no more than this, and the numbers of the inputs that it is made of."""
    results = [function.given[i] for i in given]
    runs = running(results, known=frozenset(function.inputs))
    used = {*results, *(t for op in runs for t in _read(op, runs))}
    part = function if len(given) == len(function.given) else function.giving(given, runs)
    return part, {i for i, tensor in enumerate(function.inputs) if tensor in used}


def _read(op: Operation, runs: Running) -> Iterable[Tensor]:
    part = runs.part(op)
    return op.inputs if part is None else [op.inputs[i] for i in part.inputs]
