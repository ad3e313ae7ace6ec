"""Moving on: by the script's own runs where it has a loop, else by the prompt's train op."""
from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from autodiff.core.errors import AutodiffError
from autodiff.debug.facts.answers import Cursor
from autodiff.debug.facts.steps import When

from ..model.line_stops import Until
from ..model.results import Column, Result, Stop, Table, Text
from ..model.script_events import Event, add_records
from ..model.script_signals import Pressed, Reminder
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import FIGURES, figures, place
from ..view.drawn.progress import polled
from .standing import arrived, displayed, grouped, moved


@contextmanager
def interruptible(shell: Shell) -> Iterator[Pressed]:
    """Ctrl-C stops at the end of the step; pressed again, or in batch, it is KeyboardInterrupt."""
    reminder = Reminder()

    class Interrupt(Pressed):
        def __call__(self, *_: Any) -> None:
            before = self.fresh
            super().__call__()
            if before and self.fresh > before:
                raise KeyboardInterrupt
            reminder.begin(lambda: "it stops at the end of this step; Ctrl-C again interrupts the step")

    try:
        with Interrupt().heard() if shell.interactive else nullcontext(Pressed()) as pressed:
            yield pressed
    finally:
        reminder.cancel()


def runs(at: When) -> bool:
    """Counts every run."""
    return True


def steps(at: When) -> bool:
    """Counts steps."""
    return at.is_step


def stations(at: When) -> bool:
    """Counts steps, and runs before the first."""
    return at.is_step or not at.step


def go_on(shell: Shell, count: float, counted: Callable[[When], bool] = runs, until: str = "") -> Result:
    """Go on until so many runs are counted, a stop, or `until` holds. The prompt's own runs all count."""
    begun, log = (shell.dbg.step, shell.dbg.log.run), shell.dbg.log
    done = (lambda: log.run - begun[1]) if counted is runs else (lambda: log.now.step - begun[0])
    total = int(count) if math.isfinite(count) else None
    doing = shell.script.doing if shell.script is not None and shell.drives_script else str
    what = "runs" if counted is runs else "steps"
    with shell.dbg.watches.asking(until), polled(what, lambda: (done(), total, doing())):
        return _go_on(shell, count, counted, until)


def _go_on(shell: Shell, count: float, counted: Callable[[When], bool], until: str) -> Result:
    opened = shell.dbg.stepper.cursor is not None and not shell.dbg.stepper.cursor.finished
    if shell.drives_script:
        return _run_script(shell, count, counted, until)
    error = shell.script.error if shell.script is not None and not (shell.own_runs or opened) else None
    if error is not None and not isinstance(error, SystemExit):
        return Text(f"nothing was run: the script raised {type(error).__name__}; load runs it again")
    if shell.script is not None and shell.script.runs and not shell.own_runs and not opened:
        raise UsageError(f"{os.path.basename(shell.script.name)} is at its end",
                         "run starts it anew; train LOSS trains on from here" if shell.is_over else
                         "train LOSS trains on from here", code="at_end")
    taken: list[Any] = []
    stop = None
    with interruptible(shell) as interrupt:
        if opened:
            if inside := _inside(shell):
                return inside
            finished = shell.dbg.stepper.finish()
            taken, stop = list(finished.records), finished.stop
        while len(taken) < count and stop is None and not interrupt.count:
            if shell.dbg.watches.stops_inside:
                shell.dbg.stepper.begin()
                if inside := _inside(shell):
                    return inside
            made = shell.dbg.run(1, until=until)
            taken += made.records
            stop = made.stop
            if not made.records:
                break
    return moved(shell, tuple(taken), stop, interrupted=interrupt.count > 0)


def to_line(shell: Shell, line: Until) -> Result:
    """Go on in the script up to a line, or whatever stops it before."""
    return _run_script(shell, math.inf, runs, "", line)


def _run_script(shell: Shell, count: float, counted: Callable[[When], bool], until: str,
                line: Until | None = None) -> Result:
    script, at = shell.script, shell.dbg.at
    assert script is not None
    if shell.dbg.stepper.cursor is not None:
        if inside := _inside(shell):
            return inside
        close_cursor(shell)
    records: list[Any] = []
    made = 0
    while True:
        if shell.dbg.watches.stops_inside:
            event = Event("before")
            while script.is_live and not script.interrupted and (script.state != "before" or script.is_answered):
                event = script.resume(before=True, until=line)
                add_records(records, event.records)
                shell.take(event)
                stop = _stop_of(event.records)
                made += sum(counted(at(record)) for record in event.records)
                if event.kind == "line" or event.kind == "after" and (stop is not None or made >= count):
                    return arrived(shell, event, tuple(records), stop)
            if event.kind != "before" or script.interrupted:
                return arrived(shell, event, tuple(records), _stop_of(event.records))
            request = script.request
            assert request is not None
            shell.dbg.stepper.begin(request.fetches, request.feed_dict or {})
            if inside := _inside(shell):
                return inside
            close_cursor(shell)
        one_by_one = bool(until) or script.is_answered
        event = script.resume(1, until=line) if one_by_one else script.resume(
            count - made, counts=lambda record: counted(at(record)), until=line)
        made += sum(counted(at(record)) for record in event.records)
        is_done = made >= count or not one_by_one and script.left <= 0
        add_records(records, event.records)
        shell.take(event)
        stop = _stop_of(event.records)
        if until and event.kind == "after" and stop is None and shell.dbg.holds(until):
            return moved(shell, tuple(records), None, condition=until)
        if event.kind != "after" or stop is not None or is_done or script.interrupted:
            return arrived(shell, event, tuple(records), stop)


def _inside(shell: Shell) -> Result | None:
    """Go on in the open run; where a breakpoint stops it, else None with the run at its end."""
    if not shell.dbg.watches.stops_inside or shell.dbg.stepper.is_replaying:
        return None
    stop = shell.dbg.inside.run_to_break()
    if stop is None or shell.dbg.stepper.cursor is None:
        return None
    return grouped(*between_ops(shell, shell.dbg.stepper.cursor, stop),
                  *(displayed(shell, text) for text in shell.displays))


def _stop_of(records: tuple[Any, ...]) -> Any:
    return next((record.stops[0] for record in records if getattr(record, "stops", ())), None)


def close_cursor(shell: Shell) -> None:
    """Finish the run that is open, and give the script its result."""
    script = shell.script
    waits = script is not None and script.state == "before" and not shell.own_runs
    try:
        runs = shell.dbg.stepper.finish()
    except AutodiffError as error:
        if script is None or not waits:
            raise
        script.answer(error, None)
        return
    if script is not None and waits:
        script.answer(shell.dbg.result, runs.records[-1])


def between_ops(shell: Shell, at: Cursor, stop: Any = None) -> tuple[Result, ...]:
    """Where a run stands between two ops; a run that is through is closed. stop: the breakpoint that stopped it."""
    parts: list[Result] = []
    reason = f"{at.at}, op {at.position} of {at.total}, {at.phase}: {at.op} ({at.op_type})"
    if at.place is not None:
        reason += f"  {place(at.place)}"
    said = "" if stop is None or stop.text == f"at {stop.target}" else f", {stop.text}"
    lines = [] if stop is None else [f"stop: breakpoint {stop.number}{said}"]
    lines += [at.place.text] if at.place is not None and at.place.text else []
    if at.error:
        raise UsageError(at.error, "info op shows its inputs", code="op_error")
    lines.append(f"next op: {at.next_op}" if at.next_op else "the run is complete")
    parts.append(Stop(reason, {"step": at.at.step, "run": at.at.run, "position": at.position, "total": at.total,
                               "op": at.op, "phase": at.phase, "next_op": at.next_op, "finished": at.finished,
                               "commands": list(stop.commands) if stop is not None else []},
                      tuple(lines), hit=stop is not None))
    if at.outputs:
        rows = tuple((row.name, *figures(row.stats)) for row in at.outputs)
        parts.append(Table((Column("output", "name"), *FIGURES), rows))
    if at.finished and not shell.dbg.stepper.is_replaying:
        close_cursor(shell)
    return tuple(parts)
