"""Moving on: by the script's own runs where it has a loop, else by the prompt's train op."""
from __future__ import annotations

import linecache
import math
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autodiff.core.errors import AutodiffError
from autodiff.core.graph import Operation
from autodiff.debug.facts.answers import Cursor

from ..model.line_stops import Until
from ..model.results import Column, Error, Group, Result, Source, Stop, Table, Text
from ..model.script import HEARD, Event, add_records, say_it_is_heard
from ..model.script_frames import script_line, script_traceback
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import FIGURES, duration, figures, loss_of, place, samples, shown, summary
from ..view.drawn.progress import polled

QUESTIONS = {"nan": {"nan", "inf", "nonfinite", "harmful"}, "none": {"none"}}  # why what -> words of conditions


class Interrupt:
    """Whether Ctrl-C was pressed since a motion began."""

    def __init__(self) -> None:
        self.pressed = False


@contextmanager
def interruptible(shell: Shell) -> Iterator[Interrupt]:
    """Ctrl-C stops at the end of the step; pressed twice, or in batch, it is KeyboardInterrupt."""
    flag = Interrupt()
    if not shell.interactive or threading.current_thread() is not threading.main_thread():
        yield flag
        return

    reminder = threading.Timer(HEARD, say_it_is_heard)

    def pressed(*_: Any) -> None:
        if flag.pressed:
            raise KeyboardInterrupt
        flag.pressed = True
        reminder.start()

    saved = signal.signal(signal.SIGINT, pressed)
    try:
        yield flag
    finally:
        reminder.cancel()
        signal.signal(signal.SIGINT, saved)


def drives_script(shell: Shell) -> bool:
    """Whether the next run is one of the script's own."""
    return shell.script is not None and shell.script.is_live and not shell.own_runs


def run_steps(shell: Shell, steps: float, until: str = "") -> Result:
    """Go on by whole runs until done, a stop, or `until` holds."""
    begun = shell.dbg.step
    with shell.dbg.watches.asking(until), polled("steps", lambda: shell.dbg.step - begun, steps):
        return _run_steps(shell, steps, until)


def _run_steps(shell: Shell, steps: float, until: str) -> Result:
    opened = shell.dbg.stepper.cursor is not None and not shell.dbg.stepper.cursor.finished
    if drives_script(shell):
        return _run_script(shell, steps, until)
    if shell.script is not None and shell.script.runs and not shell.own_runs and not opened:
        raise UsageError(f"{os.path.basename(shell.script.name)} is at its end",
                         f"load {shell.script.name} runs it again; train LOSS trains on from here", code="at_end")
    taken: list[Any] = []
    stop = None
    with interruptible(shell) as interrupt:
        if opened:
            if inside := _inside(shell):
                return inside
            runs = shell.dbg.stepper.finish()
            taken, stop = list(runs.records), runs.stop
        while len(taken) < steps and stop is None and not interrupt.pressed:
            if shell.dbg.watches.stops_inside:
                shell.dbg.stepper.begin()
                if inside := _inside(shell):
                    return inside
            runs = shell.dbg.run(1, until=until)
            taken += runs.records
            stop = runs.stop
            if not runs.records:
                break
    return moved(shell, tuple(taken), stop, interrupted=interrupt.pressed)


def to_line(shell: Shell, line: Until) -> Result:
    """Go on in the script up to a line, or whatever stops it before."""
    return _run_script(shell, math.inf, "", line)


def _run_script(shell: Shell, steps: float, until: str, line: Until | None = None) -> Result:
    script = shell.script
    assert script is not None
    if shell.dbg.stepper.cursor is not None:
        if inside := _inside(shell):
            return inside
        close_cursor(shell)
    records: list[Any] = []
    begun = script.runs
    while True:
        if shell.dbg.watches.stops_inside:
            event = Event("before")
            while script.is_live and not script.interrupted and (script.state != "before" or script.is_answered):
                event = script.resume(before=True, until=line)
                add_records(records, event.records)
                shell.take(event)
                stop = _stop_of(event.records)
                if event.kind == "line" or event.kind == "after" and (stop is not None or script.runs - begun >= steps):
                    return arrived(shell, event, tuple(records), stop)
            if event.kind != "before" or script.interrupted:
                return arrived(shell, event, tuple(records), _stop_of(event.records))
            request = script.request
            assert request is not None
            shell.dbg.stepper.begin(request.fetches, request.feed_dict or {})
            if inside := _inside(shell):
                return inside
            close_cursor(shell)
        event = script.resume(1 if until or script.is_answered else steps - (script.runs - begun), until=line)
        add_records(records, event.records)
        shell.take(event)
        stop = _stop_of(event.records)
        if until and event.kind == "after" and stop is None and shell.dbg.holds(until):
            return moved(shell, tuple(records), None, condition=until)
        if event.kind != "after" or stop is not None or script.runs - begun >= steps or script.interrupted:
            return arrived(shell, event, tuple(records), stop)


def _inside(shell: Shell) -> Result | None:
    """Go on in the open run; where a breakpoint stops it, else None with the run at its end."""
    if not shell.dbg.watches.stops_inside or shell.dbg.stepper.is_replaying:
        return None
    stop = shell.dbg.inside.run_to_break()
    if stop is None or shell.dbg.stepper.cursor is None:
        return None
    return _group(*between_ops(shell, shell.dbg.stepper.cursor, stop),
                  *(_display(shell, text) for text in shell.displays))


def _stop_of(records: tuple[Any, ...]) -> Any:
    return next((record.stops[0] for record in records if getattr(record, "stops", ())), None)


def arrived(shell: Shell, event: Event, records: tuple[Any, ...] = (), stop: Any = None) -> Result:
    """What the script has come to."""
    script = shell.script
    assert script is not None
    name = os.path.basename(script.name)
    if event.kind == "raised":
        return raised(shell, event.error, records)
    if event.kind == "ended":
        return _group(_moved_text(shell, records, stop), Stop(f"{name} ended", _where(shell, records), _ended(shell)))
    if event.kind == "trace":
        here = Stop(f"{name} is at its set_trace, {shell.where()}", _where(shell, records), ("continue goes on",))
        return _group(_moved_text(shell, records, stop), here, lines_around(*shell.place()))
    if event.kind == "line":
        return _group(_moved_text(shell, records, stop), *_at_line(shell, records))
    if event.kind == "before":
        request = script.request
        wants = _fetched(request.fetches) if request else ""
        which = "next" if shell.dbg.records else "first"
        call = request.call if request else "Session.run"
        here = Stop(f"{name} is before its {which} {call}, at {shell.where()}", _where(shell, records),
                    (f"the script is about to run {wants}", "next runs it, step goes through it op by op"))
        interrupted = Text("stopped by Ctrl-C", "warning") if script.interrupted else None
        return _group(_moved_text(shell, records, stop), interrupted, here)
    return moved(shell, records, stop, interrupted=script.interrupted)


def _at_line(shell: Shell, records: tuple[Any, ...]) -> tuple[Result, ...]:
    """Where the script stands before one of its lines."""
    script = shell.script
    assert script is not None
    place, stop = script.frames()[0], script.lines.last
    text = linecache.getline(place.file, place.line).strip()
    lines = [f"stop: breakpoint {stop.number}"] if stop is not None else []
    if "lines" not in shell.said:
        shell.said.add("lines")
        lines.append("until goes to the next line, finish out of the function; next and step keep their meaning: a "
                     "Session.run, an op of one")
    inside = f" in {place.function}" if place.function != "<module>" else ""
    about = {**_where(shell, records), "commands": list(stop.commands) if stop is not None else []}
    here = Stop(f"before line {shell.where()}{inside}: {text}", about, tuple(lines), hit=stop is not None)
    shown_there = (_display(shell, expression) for expression in shell.displays)
    return tuple(part for part in (here, lines_around(place.file, place.line), *shown_there) if part is not None)


def _ended(shell: Shell) -> tuple[str, ...]:
    """What to do with a script that is at its end."""
    if shell.dbg.records:
        return ("print, grads and why still look at its last run",)
    card = shell.dbg.script()
    lines = [f"it built {card.ops} ops, {card.variables} variables, {card.parameters} parameters, and ran nothing"]
    if callable(shell.script.namespace.get("feeds") if shell.script else None):
        lines.append("its function feeds() gives the placeholders of each step")
    elif card.placeholders:
        lines.append(f"feed gives values to its placeholders: {', '.join(card.placeholders)}")
    return (*lines, "train LOSS builds a train op, next runs it")


def raised(shell: Shell, error: BaseException | None, records: tuple[Any, ...] = ()) -> Result:
    """Post mortem: the script's own error unchanged, the op beside it, and the lines around."""
    assert error is not None
    file, line = script_line(error)
    name = os.path.basename(file or (shell.script.name if shell.script else ""))
    kind = type(error).__name__
    if isinstance(error, SystemExit):
        return Error(f"{name} left with exit code {error.code!r} at line {line}", "script_exit", "list shows the line",
                     status=4)
    at = f" at {name}:{line}" if line else f" in {name}"
    op = getattr(error, "op", None)
    about = f"\nin op {op.name}: {op.describe()}\nmade at {op.site}" if isinstance(op, Operation) else ""
    says = f": {text}" if (text := str(error).split("\n")[0]) else ""
    found = Error(f"the script raised {kind}{at}{says}{about}", "script_raised",
                  "where, list, print and info still work on what there is; load runs it again", status=4,
                  trace=script_traceback(error))
    return _group(_moved_text(shell, records, None), found, lines_around(file, line))


def lines_around(file: str, line: int, around: int = 3) -> Source | None:
    """Lines of a file around one; None if it cannot be read."""
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            lines = text.read().split("\n")
    except OSError:
        return None
    first = max(line - around, 1)
    return Source(file, first, tuple(lines[first - 1:line + around]), line) if line else None


def moved(shell: Shell, records: tuple[Any, ...], stop: Any, *, interrupted: bool = False,
          condition: str = "") -> Result:
    """Where the program stands after some runs."""
    if not records:
        text = stop.text if stop is not None else "nothing was run"
        return Stop(text, _where(shell, records), hit=_is_hit(stop))
    parts: list[Result | None] = [_moved_text(shell, records, stop, condition=condition)]
    if interrupted:
        parts.append(Text("stopped by Ctrl-C; next and continue go on", "warning"))
    parts.append(samples(records[-1], shell.dbg.stops("watch")))
    parts += [_display(shell, expression) for expression in shell.displays]
    return _group(*parts)


def _display(shell: Shell, expression: str) -> Result:
    try:
        return shown(shell.dbg.evaluate(expression, keep=False))
    except AutodiffError as error:  # inside of a run it may come later
        return Text(f"{expression}: {error.message.partition(chr(10))[0]}", "quiet")


def _moved_text(shell: Shell, records: tuple[Any, ...], stop: Any, condition: str = "") -> Stop | None:
    if not records:
        return None
    last = records[-1]
    first = next((r for r in records if r.loss is not None and r.loss_name == last.loss_name), None)
    facts = [f"step {last.step}"]
    if last.loss is not None:
        came = f" (from {loss_of(first).split()[-1]})" if first is not None and first is not last else ""
        facts.append(loss_of(last) + came)
    total = sum(record.ms for record in records)
    facts.append(f"{duration(total / len(records))} a step" if len(records) > 1 else duration(total))
    where = shell.where() if drives_script(shell) else ""
    reason = "  ".join(facts) + (f"  at {where}" if where else "")
    lines = [note for record in records for note in record.notes]
    if stop is not None:
        lines.insert(0, f"stop: {stop.text}")
    if condition:
        lines.insert(0, f"stop: {condition} holds")
    if last.error:
        lines.append(last.error)
    if last.loss is not None and not math.isfinite(last.loss):
        lines.append(_not_finite(records))
    about = {**_where(shell, records), "commands": list(stop.commands) if stop is not None else []}
    return Stop(reason, about, tuple(lines), hit=_is_hit(stop) or bool(condition),
                asks=_question(shell, last, stop, condition))


def _question(shell: Shell, last: Any, stop: Any, condition: str) -> str:
    """What explains a stop: where nan, inf or none come from; empty where nothing is wrong by itself."""
    if last.loss is not None and not math.isfinite(last.loss):
        return "why nan"
    if stop is not None:
        condition += " ".join(row.condition for row in shell.dbg.stops() if row.number == stop.number)
    kinds = [name for name, words in QUESTIONS.items() if words & set(re.findall(r"[a-z]+", condition))]
    return f"why {kinds[0]}" if kinds else ""


def _not_finite(records: tuple[Any, ...]) -> str:
    """Since which of these steps the loss is not finite, and what tells why."""
    since = last = records[-1]
    for record in reversed(records):
        if record.loss is None or math.isfinite(record.loss):
            break
        since = record
    steps = f" since step {since.step}" if since is not last else ""
    return f"{loss_of(last).replace(' ', ' is ')}{steps}: why nan tells where it comes from"


def _is_hit(stop: Any) -> bool:
    return stop is not None and stop.kind in ("watch", "break", "condition")


def _where(shell: Shell, records: tuple[Any, ...]) -> dict[str, Any]:
    file, line = shell.place()
    return {"file": file, "line": line, "runs": [summary(record) for record in records]}


def _fetched(fetches: Any, most: int = 4) -> str:
    """Names of what is fetched, in short."""
    found: list[str] = []

    def walk(item: Any) -> None:
        if isinstance(item, (list, tuple)):
            for part in item:
                walk(part)
        elif isinstance(item, dict):
            walk(list(item.values()))
        else:
            found.append(str(getattr(item, "name", item)))
    walk(fetches)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def _group(*parts: Result | None) -> Result:
    kept = tuple(part for part in parts if part is not None)
    return kept[0] if len(kept) == 1 else Group(kept)


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


def _why(stop: Any) -> str:
    """Which breakpoint stopped inside of a run, and what holds there."""
    return f"stop: breakpoint {stop.number}" + ("" if stop.text == f"at {stop.target}" else f", {stop.text}")


def between_ops(shell: Shell, at: Cursor, stop: Any = None) -> tuple[Result, ...]:
    """Where a run stands between two ops; a run that is through is closed. stop: the breakpoint that stopped it."""
    parts: list[Result] = []
    reason = f"step {at.step}, op {at.position} of {at.total}, {at.phase}: {at.op} ({at.op_type})"
    if at.place is not None:
        reason += f"  {place(at.place)}"
    lines = [at.place.text] if at.place is not None and at.place.text else []
    if at.error:
        raise UsageError(at.error, "info op shows its inputs", code="op_error")
    lines.append(f"next op: {at.next_op}" if at.next_op else "the run is complete")
    parts.append(Stop(reason, {"step": at.step, "position": at.position, "total": at.total, "op": at.op,
                               "phase": at.phase, "next_op": at.next_op, "finished": at.finished,
                               "commands": list(stop.commands) if stop is not None else []},
                      tuple(([] if stop is None else [_why(stop)]) + lines),
                      hit=stop is not None))
    if at.outputs:
        rows = tuple((row.name, *figures(row.stats)) for row in at.outputs)
        parts.append(Table((Column("output", "name"), *FIGURES), rows))
    if at.finished and not shell.dbg.stepper.is_replaying:
        close_cursor(shell)
    return tuple(parts)
