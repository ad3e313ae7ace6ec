"""Turns: the values that a tensor inside of branches and loops had, one for each time that it was computed."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError
from ...core.graph import Operation, Tensor
from ...runtime.plan.state import OUTSIDE, CallNumber
from ..facts.function_calls import Calls, InnerOps, name_of
from ..facts.roles import is_handle


class Turns(NamedTuple):
    """at: for each value the iteration of each loop around the tensor, outermost first; () if there are only branches.

    loops: the names of these loops.
    """

    tensor: Tensor
    loops: tuple[str, ...]
    at: tuple[tuple[int, ...], ...]
    values: tuple[Any, ...]

    def stacked(self) -> Any:
        """One array, with a leading axis for the iterations of loops; a list of arrays if their shapes differ."""
        if not self.loops:
            return self.values[0]
        if len({np.shape(value) for value in self.values}) > 1:
            return list(self.values)
        sizes = [len({at[axis] for at in self.at}) for axis in range(len(self.loops))]
        is_grid = len(self.at) == int(np.prod(sizes))
        array = np.stack([np.asarray(value) for value in self.values])
        return array.reshape(*sizes, *array.shape[1:]) if is_grid else array

    def flat(self) -> np.ndarray:
        """All elements in one row, whatever the shapes."""
        return np.concatenate([np.ravel(value) for value in self.values])

    def where(self) -> str:
        """Which iterations, in words: `5 iterations of while`, `iterations 0, 2 of while`; "" if there are no loops."""
        if not self.loops:
            return ""
        if len(self.loops) > 1:
            return f"{len(self.at)} iterations of {' and '.join(self.loops)}"
        numbers = [at[0] for at in self.at]
        if numbers == list(range(len(numbers))):
            return f"{len(numbers)} iteration{'s' * (len(numbers) != 1)} of {self.loops[0]}"
        shown = ", ".join(map(str, numbers[:8])) + (", …" if len(numbers) > 8 else "")
        return f"iteration{'s' * (len(numbers) != 1)} {shown} of {self.loops[0]}"


def turns_of(tensors: Sequence[Tensor], inner: InnerOps, values: Callable[[Sequence[Tensor]], Sequence[Any]],
             calls: Callable[[Sequence[Tensor]], Calls]) -> dict[Tensor, Turns]:
    """The Turns of inner tensors. values: of outer ones. calls: goes through calls, for the tensors that are wanted.

    Raises ArgumentError for one that was not computed.
    """
    chains = {t: inner.callers(t.op) for t in tensors}
    within = {caller for chain in chains.values() for caller in chain}
    outermost = dict.fromkeys(chain[0] for chain in chains.values())
    given = list(dict.fromkeys(t for op in outermost for t in op.inputs if not is_handle(t)))
    known = dict(zip(given, values(given)))
    wanted = [*tensors, *(t for op in within - set(outermost) for t in (*op.inputs, *op.outputs))]
    walk = _Walk(tensors, within, calls(wanted))
    for op in outermost:
        walk.go(op, known, OUTSIDE, ())
    return {t: _turns(t, chains[t], walk.found[t]) for t in tensors}


class _Walk:
    """Collects values on a way through calls. found: tensor -> (iterations, value) pairs."""

    def __init__(self, tensors: Sequence[Tensor], within: set[Operation], calls: Calls) -> None:
        self.found: dict[Tensor, list[tuple[tuple[int, ...], Any]]] = {t: [] for t in tensors}
        self._within, self._calls = within, calls

    def go(self, caller: Operation, known: Mapping[Tensor, Any], number: CallNumber, at: tuple[int, ...]) -> None:
        for call in self._calls.of(caller, known, number):
            here = at if call.turn is None else (*at, call.turn)
            for tensor in call.values.keys() & self.found.keys():
                self.found[tensor].append((here, call.values[tensor]))
            for op in self._within:
                if op.graph is call.graph:
                    self.go(op, call.values, call.number, here)


def _turns(tensor: Tensor, chain: list[Operation], found: list[tuple[tuple[int, ...], Any]]) -> Turns:
    loops = tuple(name_of(op) for op in chain if op.type == "While")
    if not found:
        branch = next((op for op in reversed(chain) if op.type == "If"), None)
        why = f"{name_of(chain[-1])} made no iteration" if branch is None else \
            f"{name_of(branch)} took the other branch"
        raise ArgumentError(f"{tensor.name!r} was not computed: {why}")
    return Turns(tensor, loops, *map(tuple, zip(*found)))
