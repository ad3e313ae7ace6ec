"""What a run is fed that the run before gave: the state that a script carries from one run to the next."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.function_graph import takes_anew
from ...core.graph import Tensor
from ..analysis.arithmetic_rules import number
from ..facts.roles import at_line, place_of
from ..history.replay import Moment
from .state import State

_NEAR = 4  # runs back
_GROWN = 100.0  # times its first size


class FedBack:
    """Finds it by its numbers, which are those of something that was fetched."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._found: dict[int, dict[Tensor, tuple[Moment, Tensor]]] = {}  # by run

    def sources(self, at: Moment) -> dict[Tensor, tuple[Moment, Tensor]]:
        """By placeholder: the run before, and what it gave that is fed here."""
        if at.run not in self._found:
            self._found[at.run] = self._sources(at)
        return self._found[at.run]

    def _sources(self, at: Moment) -> dict[Tensor, tuple[Moment, Tensor]]:
        before = [m for m in self.state.moments if m.run < at.run and m.wanted is not None][:-_NEAR - 1:-1]
        found = {}
        for fed, value in at.feeds.items():
            array = np.asarray(value)
            if array.dtype.kind == "f" and array.size > 1 and np.ptp(array):
                source = next(((m, t) for m in before for t in self._gave(m, array)), None)
                if source is not None:
                    found[fed] = source
        return found

    def _gave(self, moment: Moment, array: np.ndarray) -> Iterator[Tensor]:
        """What a run fetched that has these numbers; all of a shape that may be it are computed at once."""
        may_be = [t for t in moment.wanted.tensors if t.dtype.is_floating and not takes_anew(t.op) and (
            t.dims is None or len(t.dims) == array.ndim and all(a in (b, None) for a, b in zip(t.dims, array.shape)))]
        known = self.state.values_known(dict.fromkeys(t.op for t in may_be), moment) if may_be else {}
        for tensor in may_be:
            value = known.get(tensor)
            if value is not None and np.shape(value) == array.shape and np.array_equal(
                    np.asarray(value, array.dtype), array, equal_nan=True):
                yield tensor

    def grown(self, at: Moment) -> tuple[Tensor, Tensor, str] | None:
        """The placeholder whose value grows most from run to run as it is fed back, what gives it, and the growth in
        words; None if none does.
        """
        found = []
        for fed, (_, tensor) in self.sources(at).items():
            sizes = [(m, float(np.abs(np.asarray(m.feeds[fed])).max())) for m in self.state.moments
                     if fed in m.feeds and m.run <= at.run]
            known = [(m, size) for m, size in sizes if 0 < size < np.inf]
            if len(known) > 1 and known[-1][1] > _GROWN * known[0][1]:
                (first, small), (last, large) = known[0], known[-1]
                text = (f"{fed.op.name!r} is fed what the run before gave for {tensor.op.name}"
                        f"{at_line(place_of(tensor.op))}, which grew from {number(small)} "
                        f"({self.state.log.at(first.run)}) to {number(large)} ({self.state.log.at(last.run)})")
                found.append((large / small, fed, tensor, text))
        return max(found, key=lambda each: each[0])[1:] if found else None
