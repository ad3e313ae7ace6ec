"""Where the program stands after a motion: at a line, before or after a run, at its end or at an error."""
from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from typing import Any

from autodiff.core.errors import AutodiffError, OpError
from autodiff.core.graph import Operation
from autodiff.core.site import Site, source_lines
from autodiff.debug.analysis.findings import WhyFailed
from autodiff.debug.analysis.traps import taken_twice
from autodiff.debug.facts.graph_lists import lacking
from autodiff.debug.facts.roles import at_line

from ..model.results import Error, Group, Result, Source, Stop, Text
from ..model.script_errors import no_chances, remedy_of, told_of
from ..model.script_events import Event
from ..model.script_frames import script_line, script_traceback
from ..model.shell import Shell
from ..view.debugger_rows import duration, loss_of, samples, shown, summary
from ..view.text import count_of, first_of, number

_MESSAGE = 60  # characters of an error where its cause is told beside it
QUESTIONS = {"nan": {"nan", "inf", "nonfinite", "harmful"}, "none": {"none"}}  # why what -> words of conditions


def arrived(shell: Shell, event: Event, records: tuple[Any, ...] = (), stop: Any = None) -> Result:
    """What the script has come to; once, which removed names it uses."""
    said = None
    if shell.script is not None and shell.script.put_back and "old names" not in shell.said:
        shell.said.add("old names")
        said = Text(f"removed since, and put back for this script: {', '.join(sorted(shell.script.put_back))}", "quiet")
    return grouped(said, _arrived(shell, event, records, stop), _refused_there(shell))


def _refused_there(shell: Shell) -> Text | None:
    """What the graph is made of that TensorFlow would not have built; said once."""
    ops = shell.dbg.graph.operations
    if f"built {len(ops)}" in shell.said or "refused there" in shell.said:
        return None
    shell.said.add(f"built {len(ops)}")
    for found in taken_twice(ops.values())[:1]:
        shell.said.add("refused there")
        return Text(f"{found.op} ({found.op_type}){at_line(found.place)}: {found.text}\nremedy: {found.remedy}",
                    "warning")
    return None


def _arrived(shell: Shell, event: Event, records: tuple[Any, ...], stop: Any) -> Result:
    script = shell.script
    assert script is not None
    name = os.path.basename(script.name)
    if event.kind == "raised":
        return raised(shell, event.error, records)
    if event.kind == "ended":
        return grouped(moved_text(shell, records, stop), Stop(f"{name} ended", _where(shell, records), _ended(shell)))
    if event.kind == "trace":
        more = "continue goes on" if script.waits else "the cell goes on; %gradbg asks in the next"
        here = Stop(f"{name} is at its set_trace, {_place(shell)}", _where(shell, records), (more,))
        return grouped(moved_text(shell, records, stop), here, lines_around(*shell.place()))
    if event.kind == "line":
        return grouped(moved_text(shell, records, stop), *_at_line(shell, records))
    if event.kind == "before":
        request = script.request
        wants = _fetched(request.fetches) if request else ""
        which = "next" if shell.dbg.records else "first"
        call = request.call if request else "Session.run"
        here = Stop(f"{name} is before its {which} {call}, at {_place(shell)}", _where(shell, records),
                    (f"the script is about to run {wants}", "next runs it, step goes through it op by op"))
        interrupted = Text("stopped by Ctrl-C", "warning") if script.interrupted else None
        return grouped(moved_text(shell, records, stop), interrupted, here)
    return moved(shell, records, stop, interrupted=script.interrupted)


def _at_line(shell: Shell, records: tuple[Any, ...]) -> tuple[Result, ...]:
    """Where the script stands before one of its lines."""
    script = shell.script
    assert script is not None
    place, stop = script.frames()[0], script.lines.last
    text = Site(place.file, place.line, "").text
    lines = [f"stop: breakpoint {stop.number}"] if stop is not None else []
    if "lines" not in shell.said:
        shell.said.add("lines")
        lines.append("until goes to the next line, finish out of the function; next and step keep their meaning: a "
                     "Session.run, an op of one")
    inside = f" in {place.function}" if place.function != "<module>" else ""
    about = {**_where(shell, records), "commands": list(stop.commands) if stop is not None else []}
    thread = in_thread(script.request.thread) if script.request is not None else ""
    here = Stop(f"before line {shell.where()}{inside}{thread}: {text}", about, tuple(lines), hit=stop is not None)
    shown_there = (displayed(shell, expression) for expression in shell.displays)
    return tuple(part for part in (here, lines_around(place.file, place.line), *shown_there) if part is not None)


def _place(shell: Shell) -> str:
    request = shell.script.request if shell.script is not None else None
    return shell.where() + (in_thread(request.thread) if request is not None else "")


def in_thread(name: str) -> str:
    """Which thread it was, unless it was the main one."""
    return f" in thread {name}" if name else ""


def _ended(shell: Shell) -> tuple[str, ...]:
    """What to do with a script that is at its end."""
    if shell.dbg.records:
        return ("print, grads and why still look at its last run" + "; run starts it anew" * shell.is_over,)
    card = shell.dbg.script()
    lines = [f"it built {count_of(card.ops, 'op')}, {count_of(card.variables, 'variable')}, "
             f"{count_of(card.parameters, 'parameter')}, and ran nothing"]
    if callable(shell.script.namespace.get("feeds") if shell.script else None):
        lines.append("its function feeds() gives the placeholders of each step")
    elif card.placeholders:
        lines.append(f"feed gives values to its placeholders: {', '.join(card.placeholders)}")
    return (*lines, "train LOSS builds a train op, next runs it")


def raised(shell: Shell, error: BaseException | None, records: tuple[Any, ...] = (), *, again: bool = False) -> Result:
    """Post mortem: the script's own error unchanged, the op beside it, and the lines around; again: without these."""
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
    told = told_of(error)
    first, _, rest = str(error).partition("\n")
    first = rest.strip().partition("\n")[0] if first.endswith("Original error:") else first
    says = f": {first}" if first else ""
    says = re.split(r"(?<! vs)\. ", says)[0] if told else says
    told = told or without_gradients(shell, error) or refused(shell, error) or no_chances(error, shell.dbg)
    says = _in_short(says) if told else says  # the whole is in the traceback
    hint = "" if "remedy: " in told else getattr(error, "hint", "")
    remedy = remedy_of(error) or f"remedy: {hint}" * (bool(hint) and hint not in told)
    about = told + about
    found = Error(f"the script raised {kind}{at}{says}{about}", "script_raised", f"{remedy}\n" * bool(remedy) +
                  "where, list, print and info still work on what there is; load runs it again", status=4,
                  trace=script_traceback(error))
    if again:
        return replace(found, hint=f"{'' if about else 'no more is known of it than it says; '}{found.hint}", trace="")
    return grouped(moved_text(shell, records, None), found, lines_around(file, line))


def _in_short(text: str) -> str:
    """The clauses of a message that a line has room for, the first at least."""
    clauses = re.split(r"(?<=[:;.]) ", text)
    kept = max((n for n in range(2, len(clauses) + 1) if len(" ".join(clauses[:n])) <= _MESSAGE), default=2)
    return " ".join(clauses[:kept]).rstrip(":;.") if len(text) > _MESSAGE else text


def without_gradients(shell: Shell, error: BaseException) -> str:
    """Why there are none, of the first variable, where a script ended as an optimizer, or its own code, got none."""
    y = lacking(shell.dbg.graph) if re.search(r"\bNone(Type)?\b", str(error)) else ""
    try:
        found = shell.dbg.why(kind="none", y=y)[:1] if y or "No gradients provided" in str(error) else ()
    except AutodiffError:  # nothing tells of what
        return ""
    return "".join(f"\n{each.text}\nremedy: {each.remedy}\nwhy none says it of each variable" for each in found)


def refused(shell: Shell, error: BaseException) -> str:
    """Why an op refused to run, and what to do, where more is known than the error says."""
    try:
        why = shell.dbg.explain.why_raised(error) if isinstance(error, OpError) else None
    except AutodiffError:  # what it was given cannot be had again
        return ""
    because = why.text.partition("\n")[2] if why is not None else ""
    if not isinstance(why, WhyFailed):
        return f"\n{because}\nremedy: {why.origins[0].remedy}\nwhy nan tries remedies" if why else ""
    return f"\nbecause {because}" * bool(because) + f"\nremedy: {why.remedy}" * bool(why.remedy)


def lines_around(file: str, line: int, around: int = 3) -> Source | None:
    """Lines of a file around one; None if it cannot be read."""
    lines = [text.rstrip("\n") for text in source_lines(file)]
    first = max(line - around, 1)
    return Source(file, first, tuple(lines[first - 1:line + around]), line) if line and lines else None


def moved(shell: Shell, records: tuple[Any, ...], stop: Any, *, interrupted: bool = False,
          condition: str = "") -> Result:
    """Where the program stands after some runs."""
    if not records:
        text = stop.text if stop is not None else "nothing was run"
        return Stop(text, _where(shell, records), hit=_is_hit(stop))
    parts: list[Result | None] = [moved_text(shell, records, stop, condition=condition)]
    if interrupted:
        parts.append(Text("stopped by Ctrl-C; next and continue go on", "warning"))
    parts.append(samples(records[-1], shell.dbg.stops("watch")))
    parts += [displayed(shell, expression) for expression in shell.displays]
    return grouped(*parts)


def displayed(shell: Shell, expression: str) -> Result:
    """What `display` shows of an expression where the program stands."""
    try:
        return shown(shell.dbg.evaluate(expression, keep=False))
    except AutodiffError as error:  # inside of a run it may come later
        return Text(f"{expression}: {error.message.partition(chr(10))[0]}", "quiet")


def moved_text(shell: Shell, records: tuple[Any, ...], stop: Any, condition: str = "") -> Stop | None:
    """What the runs of a motion came to: step, loss, time, and why it stopped; None if there were none."""
    if not records:
        return None
    last = records[-1]
    first = next((r for r in records if r.loss is not None and r.loss_name == last.loss_name), None)
    facts = [str(shell.dbg.at(last)) + in_thread(last.thread)]
    if last.loss is not None:
        came = f" (from {number(first.loss)})" if first is not None and first is not last else ""
        facts.append(loss_of(last, shell.dbg) + came)
    times = [record.ms for record in records if shell.dbg.at(record).is_step] or [record.ms for record in records]
    unit = "step" if shell.dbg.at(last).step else "run"
    facts.append(f"{duration(sum(times) / len(times))} a {unit}" if len(times) > 1 else duration(sum(times)))
    where = shell.where() if shell.drives_script else ""
    reason = "  ".join(facts) + (f"  at {where}" if where else "")
    lines = list(dict.fromkeys(note for record in records for note in record.notes))
    if stop is not None:
        lines.insert(0, f"stop: {stop.text}")
    if condition:
        lines.insert(0, f"stop: {condition} holds")
    if last.error:
        lines.append(last.error)
    if last.loss is not None and not math.isfinite(last.loss):
        lines.append(_not_finite(shell, last))
    elif last.loss is not None and (ill := [each for each in shell.dbg.log.ill if records[0].run <= each.run]):
        lines.append(f"the loss was {number(ill[0].loss)} in {shell.dbg.at(ill[0])}: why nan tells where it comes from")
    about = {**_where(shell, records), "commands": list(stop.commands) if stop is not None else []}
    shell.question = _question(shell, last, stop, condition)
    return Stop(reason, about, tuple(lines), hit=_is_hit(stop) or bool(condition), asks=shell.question)


def _question(shell: Shell, last: Any, stop: Any, condition: str) -> str:
    """What explains a stop: where nan, inf or none come from; empty where nothing is wrong by itself."""
    if last.loss is not None and not math.isfinite(last.loss):
        return "why nan"
    if stop is not None:
        condition += " ".join(row.condition for row in shell.dbg.stops() if row.number == stop.number)
    kinds = [name for name, words in QUESTIONS.items() if words & set(re.findall(r"[a-z]+", condition))]
    return f"why {kinds[0]}" if kinds else ""


def _not_finite(shell: Shell, last: Any) -> str:
    """Since which step the loss is not finite, and what tells why. last: the last step's record."""
    since = shell.dbg.log.ill_since(last.run, shell.dbg.model.is_same_loss)
    steps = f" since {shell.dbg.at(since)}" if since != last.run else ""
    return f"{shell.dbg.model.spoken(last.loss_name)} is {number(last.loss)}{steps}: why nan tells where it comes from"


def _is_hit(stop: Any) -> bool:
    return stop is not None and stop.kind in ("watch", "break", "condition")


def _where(shell: Shell, records: tuple[Any, ...]) -> dict[str, Any]:
    file, line = shell.place()
    return {"file": file, "line": line, "runs": [summary(record, shell.dbg.at(record)) for record in records]}


def _fetched(fetches: Any) -> str:
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
    return first_of(found, 4)


def grouped(*parts: Result | None) -> Result:
    """The results that there are: one alone, or several below each other."""
    kept = tuple(part for part in parts if part is not None)
    return kept[0] if len(kept) == 1 else Group(kept)
