"""Watches and breakpoints: watch, break, tbreak, delete, enable, disable, ignore, condition, commands."""
from __future__ import annotations

import os
import re
import sys
from types import FunctionType
from typing import Annotated

from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.answers import WatchRow
from autodiff.debug.facts.lazy_rows import Rows

from ..language.argument_kinds import ChoiceKind, Count, IntKind, RawKind, Regex
from ..language.command import command
from ..language.target_kinds import AnyStop, NumberedConditionKind, Predicate, StopNumber, StopPlace, Watched
from ..model.line_stops import lines_with_code
from ..model.results import Column, Result, Table, Text
from ..model.script_frames import LIBRARIES, OWN
from ..model.script_source import compiled
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import place, shape
from ..view.text import count_of

Level = Annotated[str, ChoiceKind("stats", "full")]
Times = Annotated[int, IntKind(0, "COUNT")]
Lines = Annotated[str, RawKind("NUMBER COMMAND[; COMMAND]…")]
NewCondition = Annotated[str, NumberedConditionKind()]


@command("watch", group="Watch", aliases=("wa",), shorts={"-l": "", "-location": ""})
def watch(dbg: Debugger, *targets: Watched, when: Predicate = "", every: Count = 1, level: Level = "stats",
          names: Regex = "") -> Result:
    """Track tensors and their gradients from now on; stop only where the predicate after `if` holds.

    Shows what is watched. The gradients register when they are built: by train, or tf.gradients typed in python; for
    what exists they are built on demand. names: the tensors whose whole names a regex matches from their beginning,
    as watch_gradients_by_tensor_names has it.
    every: look at each N-th run only. level full keeps whole values, stats keeps figures.
    grad(TARGET) asks the predicate of the gradients alone. Without targets it lists the watches.

    Example:  watch /hidden.*/ if nan or norm(.) > 100
              watch --names hidden1/(weights|biases):0$
    API:      dbg.watch("/hidden.*/", condition="nan"), dbg.watches.watch_names("hidden1/(weights|biases):0$")
    """
    options = {"condition": when, "every": every, "level": level}
    if names and targets:
        raise UsageError("--names says what is watched: no targets beside it", f"watch --names {names}")
    if names:
        return _made(dbg, dbg.watches.watch_names(names, **options))  # type: ignore[arg-type]
    if not targets and not when:
        return stops_table(dbg.stops("watch"), "no watches; watch TARGET makes one")
    return _made(dbg, dbg.watch(*(targets or ("/.*/",)), **options))  # type: ignore[arg-type]


def _made(dbg: Debugger, row: WatchRow) -> Table:
    """What a new watch looks at."""
    stops = f"stops if {row.condition}" if row.condition else "does not stop (add `if PREDICATE` for that)"
    found = dbg.lists.named(row.names)
    columns = (Column("watched", "name"), Column("short", "name", 6), Column("op"), Column("dtype", "text", 5),
               Column("shape"), Column("handle", "name", 7), Column("made at", "place", 4))
    its = "its" if len(row.names) == 1 else "their"
    title = f"watch {row.number}: {count_of(len(row.names), 'tensor')} and {its} gradients; {stops}"
    return Table(columns, Rows(found, lambda tensor: (tensor.name, tensor.short, tensor.op_type, tensor.dtype,
                                                      shape(tensor.shape), tensor.handle, place(tensor.place))), title)


@command("break", group="Watch", aliases=("b",))
def stop_at(shell: Shell, target: StopPlace | None, step: Count | None, *, when: Predicate = "",
            exclude: Regex = "", inside: bool = False) -> Result:
    """Stop at an op, after a step (`break step 40`), at a line (`break model.py:12`), or where a predicate holds.

    A line is FILE:LINE, LINE of the file where the script stands, or a function of it; the script stops before it runs,
    and `if` takes Python of that frame as well as a predicate.

    At an op it stops inside of the run, forward or backward, right after the op; with a predicate, after the run.
    inside: ask the predicate inside of the run too, and stop right after the op; such runs go op by op, which is
    slower. exclude: names that the predicate is not asked of. Without arguments it lists the breakpoints.

    Without a target `if nan` stops where any tensor of the run, or its gradient, is not finite, even one of no effect.
    For that a run looks at the few in which nan and inf of the others show, and only if they do at all; `if harmful`
    is cheaper still, and stops only where the loss or a gradient is hit.

    norm(.), nan, … ask the tensor of the breakpoint; norm(W), nan(grad(W)), … ask any other, as far as the run computes
    it: a variable before the run, of a tensor inside of a loop whether it holds of some turn. A gradient that the
    script does not build is computed by making the run again, which takes longer.

    Example:  break step 40
              break loss if norm(hidden1/weights) > 10 and step >= 5
    API:      dbg.break_at(step=40), dbg.break_at("logits", condition="nan", inside=True)
    """
    return _broken(shell, target, step, when, exclude, inside=inside)


def _broken(shell: Shell, target: str | None, step: int | None, when: str, exclude: str, *,
            temporary: bool = False, inside: bool = False) -> Result:
    dbg = shell.dbg
    if target is None and not when:
        return stops_table(dbg.stops("break"), "no breakpoints; break TARGET makes one")
    if target == "step" and step is None:
        raise UsageError("break step needs the number of the step", "break step 40")
    if step is not None and target != "step":
        raise UsageError(f"expected `break TARGET` or `break step N`, found {target!r} {step}", "break step 40")
    if step is None and target and (place := line_place(shell, target)) is not None:
        made = dbg.watches.break_at_line(*place, test=when, temporary=temporary)
        return Text(f"breakpoint {made.number} before line {made.targets[0]}{f' if {when}' if when else ''}")
    row = dbg.break_at("" if step is not None else target or "", step=step, condition=when, exclude=exclude,
                       temporary=temporary, inside=inside)
    where = f"after step {step}" if step is not None else f"at {target}" if target \
        else "anywhere" if row.names else "after any run"
    is_wide = not row.targets and row.names and set(re.findall(r"[a-z]+", when)) & {"nan", "inf", "nonfinite"}
    hint = "\nasked of every tensor; `break if harmful` costs less, and leaves out what is masked" if is_wide else ""
    return Text(f"breakpoint {row.number} {where}{f' if {when}' if when else ''}{', inside of runs' if inside else ''}"
                + hint)


@command("tbreak", group="Watch", aliases=("tb",))
def stop_once(shell: Shell, target: StopPlace | None, step: Count | None, *, when: Predicate = "",
              exclude: Regex = "") -> Result:
    """Stop once, as break does; the breakpoint goes with its first stop.

    exclude: names that the predicate is not asked of.

    Example:  tbreak hidden1/MatMul
    API:      dbg.break_at("hidden1/MatMul", temporary=True)
    """
    return _broken(shell, target, step, when, exclude, temporary=True)


@command("commands", group="Watch")
def commands(dbg: Debugger, text: Lines) -> Result:
    """Do COMMANDs at each stop of a watch or breakpoint; without any it does nothing there.

    Example:  commands 1 print loss; grads
    API:      dbg.watches.commands(1, ("print loss", "grads"))
    """
    match = re.fullmatch(r"(\d+)\s*(.*)", text)
    if not match:
        raise UsageError(f"expected the number of a watch or breakpoint first, found {text!r}",
                         "info breaks lists them")
    lines = tuple(line.strip() for line in match[2].split(";") if line.strip())
    row = dbg.watches.commands(int(match[1]), lines)
    return Text(f"at each stop of {row.number}: {'; '.join(lines) or 'nothing'}")


@command("delete", group="Watch", aliases=("del", "unwatch"), shorthands={"cl": "delete"})
def delete(dbg: Debugger, *targets: AnyStop) -> Result:
    """Delete watches and breakpoints by number, or watches by target; all of them without arguments.

    Example:  delete 1
    API:      dbg.delete(1), dbg.watches.unwatch("/hidden.*/")
    """
    numbers = [int(word) for word in targets if word.isdigit()]
    names = [word for word in targets if not word.isdigit()]
    gone: tuple[WatchRow, ...] = ()
    if not targets:
        gone = dbg.delete(*(row.number for row in dbg.stops()))
    if numbers:
        gone += dbg.delete(*numbers)
    if names:
        gone += dbg.watches.unwatch(*names)
    return Text("\n".join(f"deleted {row.kind} {row.number}: {' '.join(row.targets)}".rstrip(" :") for row in gone)
                or "there was nothing to delete")


@command("enable", group="Watch")
def enable(dbg: Debugger, *numbers: StopNumber) -> Result:
    """Let watches and breakpoints work again; without NUMBER all of them.

    Example:  enable 1
    API:      dbg.watches.enable(1, True), dbg.stops()
    """
    return _switched(dbg, numbers, True)


@command("disable", group="Watch")
def disable(dbg: Debugger, *numbers: StopNumber) -> Result:
    """Let watches and breakpoints rest, without deleting them; without NUMBER all of them.

    Example:  disable 1
    API:      dbg.watches.enable(1, False)
    """
    return _switched(dbg, numbers, False)


def _switched(dbg: Debugger, numbers: tuple[int, ...], on: bool) -> Result:
    wanted = numbers or [row.number for row in dbg.stops()]
    return stops_table(tuple(dbg.watches.enable(number, on) for number in wanted), "no watches or breakpoints")


@command("ignore", group="Watch")
def ignore(dbg: Debugger, number: StopNumber, count: Times) -> Result:
    """Pass over the next COUNT hits of a watch or breakpoint.

    Example:  ignore 1 10
    API:      dbg.watches.ignore(1, 10)
    """
    return stops_table((dbg.watches.ignore(number, count),))


@command("condition", group="Watch")
def condition(dbg: Debugger, text: NewCondition) -> Result:
    """Change the predicate of a watch or breakpoint; without one it loses it.

    Example:  condition 1 norm(.) > 10
    API:      dbg.watches.condition(1, "nan")
    """
    match = re.fullmatch(r"(\d+)\s*(?:if\s+)?(.*)", text)
    if not match:
        raise UsageError(f"expected the number of a watch or breakpoint first, found {text!r}",
                         "info watches lists them")
    return stops_table((dbg.watches.condition(int(match[1]), match[2]),))


def stops_table(rows: tuple[WatchRow, ...], empty: str = "") -> Result:
    """Watches and breakpoints as a table; `empty` if there are none."""
    if not rows:
        return Text(empty, "quiet")
    columns = (Column("#", "count"), Column("kind"), Column("target", "name"), Column("tensors", "count", 6),
               Column("if"), Column("every", "count", 4), Column("on", "text", 5), Column("hits", "count", 6))
    cells = tuple((row.number, "tbreak" if row.temporary else row.kind, " ".join(row.targets) or "any", len(row.names),
                   row.condition or "-", row.every, "yes" if row.enabled else "no", row.hits) for row in rows)
    return Table(columns, cells)


def line_place(shell: Shell, target: str) -> tuple[str, int] | None:
    """File and line that a target of break names; None if it names a tensor, or something unknown.

    A line without code stands for the next one that has some. Raises UsageError if there is none.
    """
    before, _, name = target.rpartition(":")
    function = shell.dbg.handles.get(name if before.endswith(".py") else target)
    if isinstance(function, FunctionType):
        code = function.__code__
        return code.co_filename, min(lines_with_code(code) - {code.co_firstlineno}, default=code.co_firstlineno)
    match = re.fullmatch(r"(?:(?P<file>.+):)?(?P<line>\d+)", target)
    if match is None or shell.dbg.model.targets.exact(target):
        return None
    file = _file(shell, match["file"])
    return None if file is None else (file, _with_code(file, int(match["line"])))


def _file(shell: Shell, given: str | None) -> str | None:
    """The script's file that is meant; None if there is none of that name."""
    if shell.script is None:
        raise UsageError("no script is loaded that could stop at a line", "load FILE", code="wrong_moment")
    if given is None:
        return shell.place()[0] or shell.script.file
    loaded = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    named = [name for name in (shell.script.file, *loaded) if name == given or name.endswith(os.sep + given)]
    own = [name for name in named if not name.startswith((*OWN, *LIBRARIES))]
    if own or named:
        return (own or named)[0]
    return given if given.endswith(".py") and os.path.isfile(given) else None


def _with_code(file: str, line: int) -> int:
    later = [number for number in lines_with_code(compiled(file)) if number >= line]
    if not later:
        raise UsageError(f"{os.path.basename(file)} has no code at line {line} or behind it", f"list {file}",
                         code="unknown_name")
    return min(later)
