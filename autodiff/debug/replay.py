"""Replay: any tensor of any remembered run, computed again exactly, without touching the session."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import AutodiffError
from ..graph import Graph, Tensor
from ..runtime.session import Session

_MANY = 32  # tensors: such a look is taken once, and compiling it well would take longer than it runs


@dataclass(frozen=True, eq=False)
class Moment:
    """What a run depended on: a run is a function of these alone. variables: references to their values before it.

    number: the run's number in its session, which the random streams count by.
    """

    step: int
    number: int
    entropy: int
    variables: dict[str, Any]
    feeds: dict[Tensor, Any]


def moment_of(session: Session, feeds: dict[Tensor, Any], step: int) -> Moment:
    """The Moment of the run that `session` is about to make."""
    return Moment(step, session.runs + 1, session.entropy, dict(session.variables), feeds)


class Replayer:
    """Evaluates tensors as of a Moment, in a session of its own."""

    def __init__(self, graph: Graph) -> None:
        self._session = Session(graph=graph)

    def values(self, moment: Moment, tensors: Sequence[Any], feeds: dict[Tensor, Any] | None = None) -> list[Any]:
        """The values that `tensors` (IndexedSlices too) had in that run. feeds: in place of some of its own."""
        session = self._session
        session.variables.clear()
        session.variables.update(moment.variables)
        session.entropy, session.runs = moment.entropy, moment.number - 1
        fed = {**moment.feeds, **(feeds or {})}
        if len(tensors) > _MANY:
            return session.start(list(tensors), fed).finish()
        return session.run(list(tensors), fed)

    def values_if_possible(self, moment: Moment, tensors: Sequence[Any]) -> dict[Any, Any]:
        """The same for tensors of which some may not be computable (unfed, uninitialised): those are left out."""
        try:
            return dict(zip(tensors, self.values(moment, tensors)))
        except AutodiffError:
            if len(tensors) == 1:
                return {}
        half = len(tensors) // 2
        return {**self.values_if_possible(moment, tensors[:half]), **self.values_if_possible(moment, tensors[half:])}
