"""info of where things stand: the script, the last run, feeds, steps, memory, watches and breakpoints."""
from __future__ import annotations

import contextlib
import os
import re
from typing import Annotated

from autodiff.core.errors import AutodiffError
from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.records import Stats

from ..language.argument_kinds import ChoiceKind, Regex
from ..language.command import Alias, command, topics
from ..language.interpreter import called
from ..language.parse import parse
from ..language.target_kinds import Expression
from ..model.results import Card, Column, Group, Result, Table, Text
from ..model.shell import Shell
from ..view.debugger_rows import FIGURES, bytes_in_words, duration, figures, samples, shown
from . import stops


class TopicKind(ChoiceKind):
    """What info tells of; the choices are the commands whose first word it is."""

    def __init__(self) -> None:
        super().__init__()
        self.metavar = "TOPIC"

    def parse(self, text: str, shell: Shell) -> str:
        self.choices = tuple(topics("info"))
        return super().parse(text, shell)

    def complete(self, text: str, shell: Shell) -> list[str]:
        return [topic for topic in topics("info") if topic.startswith(text)]


Topic = Annotated[str, TopicKind()]


@command("info", group="Look", aliases=("i",))
def info(shell: Shell, topic: Topic | None) -> Result:
    """Show what there is, by topic; without one, the script.

    Example:  info
    API:      dbg.script()
    """
    return called(parse(f"info {topic or 'script'} ", shell), shell)


@command("info script", group="Look")
def script(shell: Shell) -> Result:
    """Show where the script stands, its graph in figures, and what its names stand for.

    Example:  info script
    API:      dbg.script()
    """
    if shell.script is None:
        return Text("no script is loaded; load FILE runs one", "quiet")
    card = shell.dbg.script()
    lines = [f"graph         {card.ops} ops: {card.forward} forward, {card.gradient} gradient",
             f"variables     {card.variables}, {card.parameters} parameters",
             f"placeholders  {', '.join(card.placeholders) or 'none'}",
             f"gradients of  {card.y or 'nothing yet; train LOSS or grad LOSS X says of what'}"]
    if card.train_op:
        lines.append(f"train op      {card.train_op}")
    rows = tuple(card.handles)
    return Card((Text("\n".join(lines)), Table((Column("handle", "name"), Column("stands for", "name")), rows)),
                f"{shell.script.name}  ({state(shell)})")


def state(shell: Shell) -> str:
    """Where the script stands, in words."""
    now = shell.script.state if shell.script else ""
    call = shell.script.request.call if shell.script and shell.script.request else "Session.run"
    return {"before": f"before a {call} at {shell.where()}", "after": f"after a {call} at {shell.where()}",
            "ended": "at its end", "raised": f"raised at {shell.where()}",
            "line": f"before line {shell.where()}", "trace": f"at its set_trace, {shell.where()}"}.get(now, now)


@command("info run", group="Look", shorthands={"ri run_info": "info run"})
def run(shell: Shell) -> Result:
    """Show the last run: what it fetched, was fed, and what the watches saw.

    Example:  info run
    API:      dbg.records[-1]
    """
    records = shell.dbg.records
    if not records:
        return Text("nothing was run yet; next runs a step")
    last = records[-1]
    lines = [f"{shell.dbg.at(last)}, {duration(last.ms)}", f"fetches {', '.join(last.fetches) or 'nothing'}"]
    lines += [f"error {last.error}"] if last.error else []
    rows = tuple((sample.name, *figures(_of_last_run(shell, sample.name))) for sample in last.feeds)
    parts: list[Result] = [Text("\n".join(lines))]
    if rows:
        parts.append(Table((Column("fed", "name"), *FIGURES), rows))
    watched = samples(last, shell.dbg.stops("watch"), most=100_000)
    return Group((*parts, watched) if watched is not None else tuple(parts))


@command("info runs", group="Look")
def runs(dbg: Debugger) -> Result:
    """List the runs so far, and which step each is: steps are the runs that update trainable variables.

    Where nothing trains, every run is a step. goto run N looks at one of those that are kept. Where a script has
    several threads, one of them at a time makes a run, unless it waits, as for a queue; the order is that in which
    runs end, and thread says whose it was, if not the main one's.

    Example:  info runs
    API:      [dbg.at(record) for record in dbg.records]
    """
    if not dbg.records:
        return Text("nothing was run yet; next runs a step")
    rows = tuple((at.run, at.step if at.is_step else None, ", ".join(record.fetches[:3]), record.loss, record.ms,
                  record.thread, record.error.partition("\n")[0]) for record in dbg.records for at in [dbg.at(record)])
    columns = (Column("run", "count"), Column("step", "count"), Column("fetches", "name"),
               Column("loss", "number"), Column("ms", "number", 5), Column("thread", "name"),
               Column("error", "text", 4))
    used = [i for i in range(len(columns)) if i < 5 or any(row[i] for row in rows)]
    return Table(tuple(columns[i] for i in used), tuple(tuple(row[i] for i in used) for row in rows),
                 f"{len(rows)} run{'s' * (len(rows) != 1)}, {sum(row[1] is not None for row in rows)} of them steps")


def _of_last_run(shell: Shell, name: str) -> Stats | None:
    """Figures of what the last run was fed, if it is remembered."""
    with contextlib.suppress(AutodiffError):
        return shell.dbg.evaluate(name, keep=False).stats
    return None


@command("info feeds", group="Look", shorthands={"pf print_feed": Alias("info feeds", {"-n": "", "-a": "", "-s": ""})})
def feeds(dbg: Debugger, expression: Expression = "") -> Result:
    """Show what the next run is fed; with EXPR, the value of a placeholder in the last run (`pf x:0[0:2,:]`).

    Example:  info feeds
    API:      dbg.feeds.rows()
    """
    return shown(dbg.evaluate(expression)) if expression else fed(dbg)


def fed(dbg: Debugger) -> Result:
    """What the next run is fed, as a table."""
    rows = tuple((row.name, row.source, row.text, *figures(row.stats)) for row in dbg.feeds.rows())
    if not rows:
        return Text("the next run is fed nothing")
    return Table((Column("feed", "name"), Column("from"), Column("value"), *FIGURES), rows)


@command("info memory", group="Look")
def memory(dbg: Debugger) -> Result:
    """Show the bytes that variables, constants, values and records take, and which runs are kept.

    Example:  info memory
    API:      dbg.lists.memory()
    """
    found = dbg.lists.memory()
    parts = (("variables", found.variables), ("constants", found.constants), ("value history", found.history),
             ("records of runs", found.records))
    lines = [*(f"{name:<16} {bytes_in_words(count)}" for name, count in parts), *_kept(dbg)]
    return Group((Text("\n".join(lines)),
                  Table((Column("largest", "name"), Column("size")),
                        tuple((name, bytes_in_words(count)) for name, count in found.largest))))


@command("info steps", group="Look")
def steps(dbg: Debugger) -> Result:
    """Show how many past runs are kept, in memory and on disk.

    Example:  info steps
    API:      dbg.history.position
    """
    return Text("\n".join(_kept(dbg)))


def _kept(dbg: Debugger) -> list[str]:
    """Which runs are kept, in memory and on disk."""
    at = dbg.history.position
    which = f", from {at.first} on" if at.kept else ""
    lines = [f"{'runs kept':<16} {at.kept} of {at.last.run}{which}",
             f"{'in memory':<16} {at.kept - at.on_disk}, {bytes_in_words(at.bytes)} of {bytes_in_words(at.budget)}"
             + (f"; about {at.fit} such runs fit" if at.fit else "")]
    if not at.disk_limit:
        return [*lines, f"{'on disk':<16} none; set ring.disk 1GB keeps more there"]
    room = f"{bytes_in_words(at.disk_bytes)} of {bytes_in_words(at.disk_limit)}"
    return [*lines, f"{'on disk':<16} {at.on_disk}, {room}, in {at.folder}"]


@command("info breaks", group="Look")
def breaks(shell: Shell) -> Result:
    """List the breakpoints with their conditions and hits.

    Example:  info breaks
    API:      dbg.stops("break")
    """
    return stops.stops_table(shell.dbg.stops("break"), "no breakpoints; break TARGET makes one")


@command("info watches", group="Look")
def watches(dbg: Debugger) -> Result:
    """List the watches with their conditions and hits.

    Example:  info watches
    API:      dbg.stops("watch")
    """
    return stops.stops_table(dbg.stops("watch"), "no watches; watch TARGET makes one")


@command("info files", group="Look",
         shorthands={"ls list_source": Alias("info files", {"-p": "--path", "-n": "--name"})})
def files(dbg: Debugger, *, path: Regex = "", name: Regex = "") -> Result:
    """List the files whose lines made the forward ops, with how many.

    path: only files whose path matches. name: only ops whose names match this regex from its beginning.

    Example:  info files
    API:      dbg.places.files()
    """
    rows = tuple((row.file, row.ops, row.tensors, f"{os.path.basename(row.file)}:{row.line}")
                 for row in dbg.places.files(name) if re.search(path, row.file))
    columns = (Column("file"), Column("ops", "count"), Column("tensors", "count"), Column("first line", "place"))
    return Table(columns, rows, f"{len(rows)} file{'s' * (len(rows) != 1)}")
