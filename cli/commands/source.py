"""list and where: the script's lines with what they made, the plan, and how an op was made."""
from __future__ import annotations

import os
import re
from dataclasses import replace
from types import FunctionType
from typing import Annotated

from autodiff.core.site import source_lines
from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.answers import OpRow, SourceLine
from autodiff.debug.facts.plan_rows import RunPlan

from ..language.argument_kinds import Count, IntKind, check_regex
from ..language.command import Alias, command
from ..language.target_kinds import OpName, Place
from ..model.line_stops import lines_with_code
from ..model.results import Column, Group, Result, Source, Table, Text, Tree
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import bytes_in_words, place
from . import standing
from .frames import table_of_frames
from .info import state

Line = Annotated[int, IntKind(1, "LINE")]
AROUND = 5  # lines shown before and behind a place
WHOLE = 1_000_000  # lines around that are a whole file
_KINDS = {"computed": "by kernels", "calls": "by ufuncs", "tiles": "fused into chains", "fed": "fed",
          "variable": "variables", "constant": "constants", "merged": "merged", "same": "equal to another op's value",
          "folded": "folded into readers", "order": "only waiting", "dead": "left out"}


@command("list", group="Look", aliases=("l",), repeats=True, shorthands={
    "ll longlist": "list --function",
    "ps print_source": Alias("list", {"-b": "--line", "-t": "--tensors", "-m": "--most"})})
def list_(shell: Shell, at: Place = "", op: OpName = "", *, line: Line | None = None, function: bool = False,
          tensors: bool = False, most: Count = 4, steps: bool = False) -> Result:
    """Show the script's lines with the ops they made and their gradient norms; again for the lines after.

    PLACE is a line number, lines A,B (A,+N; A, and ,B), FILE:LINE, FILE:A,B, a FILE (line: from there), a function of
    the script, `.` for where it stands, `-` for the lines before, or an op or tensor, whose line it then shows.
    function: all of the function where the script stands. tensors: the names of the tensors in place of the types of
    the ops; most: so many of them a line. `list plan` shows what the last run's plan made of each op it needs:
    computed, folded into a constant, merged with an equal op, fused into a chain, written in place, left out; with OP
    or a /regex/ those ops alone. --steps: the plan itself, step by step.

    Example:  list hidden1/MatMul
              list plan /hidden1/
    API:      dbg.source("hidden1/MatMul"), dbg.places.plan("/hidden1/")
    """
    if at == "plan":
        return planned(shell.dbg, op, steps)
    if op and at.endswith(","):
        at, op = at + op, ""
    if op or steps:
        raise UsageError("list takes one place; two words are of `list plan OP`", f"list {at}".rstrip())
    file, here = shell.place()
    if not file:
        raise UsageError("no script is loaded", "load FILE")
    span = _span(shell, at, (file, here))
    if span is not None:
        where, around = f"{span[0]}:{(span[1] + span[2]) // 2}", (span[2] - span[1] + 1) // 2
    else:
        where, around = _lines_of_function(shell, file) if function else _wanted(shell, at, line, (file, here))
    found = shell.dbg.source(where, around=around)
    if span is not None:
        found = replace(found, lines=tuple(row for row in found.lines if span[1] <= row.number <= span[2]))
    if not found.lines:
        shell.listed = ("", 0)
        raise UsageError(f"no lines at {where}", "list begins again", code="unknown_name")
    shell.listed = (f"{file}:{here}", found.lines[-1].number)
    current = here if os.path.realpath(found.file) == os.path.realpath(file) else 0
    if at or line is not None:  # without a place, the only line to point at is where the script stands
        current = current or next((row.number for row in found.lines if row.current), 0)
    gutter = {row.number: _gutter(row, most, tensors) for row in found.lines if row.ops}
    return Source(found.file, found.lines[0].number, tuple(row.text for row in found.lines), current, gutter)


def _wanted(shell: Shell, at: str, line: int | None, here: tuple[str, int]) -> tuple[str, int]:
    """The place to show, and how many lines around it."""
    file, number = here
    if not at and line is None:
        listed, last = shell.listed
        if listed == f"{file}:{number}" or not number:
            shell.listed = ("", 0)
            return _behind(file, last if listed == f"{file}:{number}" else 0)
        return f"{file}:{number}", AROUND
    if at.isdigit():
        return f"{file}:{at}", AROUND
    if line is not None:
        return f"{at or file}:{line}", AROUND
    if at.endswith(".py"):
        return f"{at}:1", WHOLE
    return at, AROUND


def _span(shell: Shell, at: str, here: tuple[str, int]) -> tuple[str, int, int] | None:
    """File, first and last line, where a place is several lines: A,B, a function, or those before the last shown."""
    file, number = here
    function = shell.dbg.handles.get(at)
    if isinstance(function, FunctionType):
        return function.__code__.co_filename, function.__code__.co_firstlineno, max(lines_with_code(function.__code__))
    if at == ".":
        return file, max(number - AROUND, 1), number + AROUND
    if at == "-":
        listed, last = shell.listed
        first = (last - 2 * AROUND if listed == f"{file}:{number}" else number - AROUND) - 1
        if first < 1:
            raise UsageError(f"{os.path.basename(file)} has no lines before these", "list begins again",
                             code="unknown_name")
        return file, max(first - 2 * AROUND, 1), first
    match = re.fullmatch(r"(?:(.+):)?(\d*),(\+?)(\d*)", at)
    if match is None or not (match[2] or match[4]):
        return None
    begin, end = int(match[2] or 0), int(match[4] or 0)
    if not match[2]:
        begin = max(end - 2 * AROUND, 1)
    elif not match[4]:
        end = begin + 2 * AROUND
    elif match[3] or end < begin:  # a count, as pdb has it
        end += begin
    return match[1] or file, begin, end


def _behind(file: str, last: int) -> tuple[str, int]:
    """The next lines of a file: the place in their middle, or its last line, and how many lines around it."""
    total = len(source_lines(file))
    if last >= total:
        raise UsageError(f"{os.path.basename(file)} has no line after line {last}", "list begins again",
                         code="unknown_name")
    middle = min(last + 1 + AROUND, total)
    return f"{file}:{middle}", middle - last - 1


def _lines_of_function(shell: Shell, file: str) -> tuple[str, int]:
    place = shell.script.frame() if shell.script is not None else None
    if place is None or place.function == "<module>":
        return f"{file}:1", WHOLE
    first, last = place.frame.f_code.co_firstlineno, max(lines_with_code(place.frame.f_code))
    return f"{place.file}:{(first + last) // 2}", (last - first + 1) // 2


def _gutter(row: SourceLine, most: int, tensors: bool) -> str:
    """What a line has made, and its gradient norm."""
    norm = f"grad {row.gradient_norm:.3g}  " if row.gradient_norm is not None else ""
    names = row.tensors if tensors else tuple(dict.fromkeys(row.ops))
    more = f" +{len(names) - most}" if len(names) > most else ""
    return f"{norm}{' '.join(names[:most])}{more}"


@command("where", group="Look", aliases=("w",))
def where(shell: Shell, op: OpName = "") -> Result:
    """Say where the program stands; or how an op was made, what it takes, and who takes its outputs.

    Example:  where hidden1/MatMul
    API:      dbg.where("hidden1/MatMul")
    """
    if not op and (shell.dbg.stepper.cursor is None or shell.dbg.stepper.cursor.finished):
        return _standing(shell)
    found = shell.dbg.where(op)
    lines = [f"{os.path.basename(at.file)}:{at.line} in {at.function}: {at.text}" for at in found.traceback]
    producers = Tree("takes", tuple(_leaf(row) for row in found.producers))
    consumers = Tree("is taken by", tuple(_leaf(row) for row in found.consumers))
    return Group((Text("\n".join(lines) or "made by no line of the script"),
                  Tree(f"{found.op.name} ({found.op.type})", (producers, consumers), place(found.op.place))))


def _leaf(row: OpRow) -> Tree:
    return Tree(f"{row.name} ({row.type})", (), place(row.place))


def _standing(shell: Shell) -> Result:
    if shell.script is None:
        return Text("no script is loaded; load FILE runs one", "quiet")
    if shell.script.error is not None:
        return standing.raised(shell, shell.script.error)
    file, line = shell.place()
    steps = f", {len(shell.dbg.records)} runs so far" if shell.dbg.records else ""
    parts: list[Result] = [Text(f"{shell.script.name}: {state(shell)}{steps}")]
    if len(shell.script.frames()) > 1:
        parts.append(table_of_frames(shell.script))
    lines = standing.lines_around(file, line)
    return Group((*parts, lines)) if lines else Group(tuple(parts))


def planned(dbg: Debugger, target: str, steps: bool) -> Result:
    """The table of a run's ops and their op_outcomes; steps: of the plan's steps."""
    if target.startswith("/"):
        check_regex(target.strip("/"))
    found = dbg.places.plan(target)
    if steps:
        head, *rows = found.table
        return Table(tuple(Column(name, "text", 9 - i) for i, name in enumerate(head)), tuple(rows), _title(found),
                     _notes(found))
    columns = (Column("op", "name"), Column("type", "text", 6), Column("what became of it"),
               Column("step", "text", 7), Column("memory", "text", 5), Column("made at", "place", 4))
    cells = tuple((row.name, row.type, row.text, " ".join(map(str, row.steps)),
                   "" if row.block is None else f"#{row.block}", place(row.place)) for row in found.rows)
    return Table(columns, cells, _title(found), _notes(found))


def _title(found: RunPlan) -> str:
    return f"{found.at}: {found.ops} ops in {found.steps} steps of the plan"


def _notes(found: RunPlan) -> tuple[str, ...]:
    notes = [", ".join(f"{count} {_KINDS[kind]}" for kind, count in found.counts)]
    if found.blocks:
        notes.append(f"results share {len(found.blocks)} blocks of memory, {bytes_in_words(sum(found.blocks))}")
    if not found.is_compiled:
        notes.append("not made for its shapes yet: chains, calls and shared memory come once the run is hot")
    if found.outside > 0:
        notes.append(f"{found.outside} ops of the graph are not needed by this run")
    return tuple(notes)
