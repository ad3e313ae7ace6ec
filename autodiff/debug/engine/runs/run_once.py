"""Runner: whole runs, those that a script asks for and those of the debugger's own."""
from __future__ import annotations

from typing import Any

from ....core.errors import AutodiffError
from ....core.function_graph import is_repeatable
from ....core.graph import Operation, Tensor
from ....core.traversal import dependencies
from ....ops.common.turns import RunsEnd
from ....runtime.session import Session
from ...facts.answers import Runs
from ...facts.records import RunRecord, Stop
from ...facts.roles import VARIABLES
from ...language.conditions import Condition
from ..feeds import RunFeeds
from ..training import Training
from ..watches import Watches
from .evidence import Evidence
from .hooks import Hooks
from .stepper import Stepper

_OF_THE_SESSION = {*VARIABLES, "Placeholder", "Identity", "ReadVariableOp"}  # what is fed and held stays as it is


class Runner:
    """Makes runs in the session, one call of each hook a run."""

    def __init__(self, watches: Watches, feeds: RunFeeds, training: Training, *, evidence: Evidence, hooks: Hooks,
                 stepper: Stepper) -> None:
        self.model, self.log = feeds.model, feeds.log
        self.watches, self.feeds, self.training = watches, feeds, training
        self.evidence, self.hooks, self.stepper = evidence, hooks, stepper

    def on_run(self, session: Session, fetches: Any, feed_dict: dict | None = None, *,
               call: Any = None) -> tuple[Any, RunRecord]:
        """A run that the script asks for: gives its result and the record. call: the real Session.run, if patched.

        The script's exception passes through unchanged; `records[-1]` then has its text in `error`.
        """
        self.model.use_session(session)
        call = call or type(session).run
        try:
            opened = self.hooks.before_run(fetches, feed_dict)
        except AutodiffError:
            call(session, fetches, feed_dict)  # refuses in the words the script would have had
            raise
        try:
            with self.log.turn.noted(lambda: self.hooks.away(opened)):
                result, seen = call(session, opened.whole, opened.feeds)
        except RunsEnd:
            raise  # others have the turn: the run is as if it had not been
        except BaseException as error:
            self.hooks.at_error(opened, error)
            raise
        self.log.keep_result(result)
        return result, self.hooks.after_run(opened, seen)

    def run(self, steps: int = 1, *, until: str = "", fetches: Any = None) -> Runs:
        """Run whole steps until done, a stop, or the condition `until` holds.

        fetches: by default the train op and y. Variables without a value are initialized first.
        """
        with self.watches.asking(until) as condition, self.log.turn.lent():
            return self._run_until(steps, condition, fetches)

    def _run_until(self, steps: int, condition: Condition | None, fetches: Any) -> Runs:
        taken: list[RunRecord] = []
        if self.stepper.execution is not None:
            opened = self.stepper.finish()
            taken, stop = list(opened.records), opened.stop
            if stop is not None:
                return Runs(tuple(taken), stop, steps)
        wanted = self.training.default_fetches() if fetches is None else fetches
        self.model.initialize()
        while len(taken) < steps:
            feeds = self.feeds.next_feeds()
            if feeds is None:
                return Runs(tuple(taken), Stop("end", "the feeds are exhausted"), steps)
            _, record = self.on_run(self.model.session, wanted, feeds)
            taken.append(record)
            if record.stops:
                return Runs(tuple(taken), record.stops[0], steps)
            hit = self.evidence.hit(condition, record, set()) if condition is not None else None
            if condition is not None and hit is not None:
                return Runs(tuple(taken), Stop("condition", f"{hit.words}: {condition.text}", 0, hit.target), steps)
        return Runs(tuple(taken), None, steps)

    @property
    def goes_on(self) -> bool:
        """Whether another run would do something else than the last: there is a train op, or a source of feeds."""
        return self.training.newest_train_op is not None or self.feeds.source is not None

    @property
    def may_differ(self) -> bool:
        """Whether another run of the same may give something else: it goes on, or an op in it has a state."""
        if self.goes_on:
            return True
        fetched = self.training.default_fetches()
        made = dependencies([x for x in fetched if isinstance(x, Tensor)],
                            [x for x in fetched if isinstance(x, Operation)])
        return any(not is_repeatable(op) for op in made if op.type not in _OF_THE_SESSION)
