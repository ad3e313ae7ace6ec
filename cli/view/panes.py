"""What the panes beside the page show of the moment: the source, the gradients, what is watched."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from autodiff.core.errors import AutodiffError
from autodiff.core.site import source_lines
from autodiff.debug.facts.records import Place, RunRecord, Stats

from ..model.results import Card, Column, Plot, Source, Table, Text
from ..model.shell import Shell
from .debugger_rows import of_steps, shape
from .text import number

AROUND = 60  # lines of the source above and below
NEAR = 20  # of these, those with gradient norms
LARGE = 5000  # ops of a graph in which figures are not computed unasked
MOST = 40  # rows of a pane
BORDERS = 4  # columns of a pane that are not its page's
NORM = 12  # columns of a norm, and gaps
BARS = 4  # lines of the screen that are neither panes nor page
SHARE = 45  # of the others, that the panes have, in percent
CURVE = 3  # lines of a curve that are not the curve: above it its name, below it its steps
LOWEST, HIGHEST = 2, 6  # lines of a curve
FEWEST = 5  # steps that are shown in any case
TALL = 34  # lines of a screen from which on there is room for a curve
NAMES = ("source", "gradients", "watches")


def panes(shell: Shell, cause: Place | None = None, size: tuple[int, int] = (120, TALL)) -> dict[str, Card]:
    """A card for each of NAMES that has something to show. cause: the line that is to blame, or None.

    size: columns and lines of the screen; where there is room, the last one has the curve of the loss.
    """
    figures, watched = gradients(shell, size[0] * 2 // 5 - BORDERS), watches(shell)
    room = (size[1] - BARS) * SHARE // 100 - _lines(figures) - _lines(watched)
    if curve := loss(shell, min(room - CURVE, HIGHEST)) if watched is not None or size[1] >= TALL else None:
        watched = curve if watched is None else Card((*watched.parts, *curve.parts), watched.title)
    found = {"source": source(shell, cause), "gradients": figures, "watches": watched}
    return {name: card for name, card in found.items() if card is not None}


def _lines(card: Card | None) -> int:
    """How many lines a table takes in its pane, with head and borders."""
    return sum(len(part.rows) + 4 for part in card.parts if isinstance(part, Table)) if card is not None else 0


def source(shell: Shell, cause: Place | None = None) -> Card | None:
    """The lines around where the script stands, or around the culprit's."""
    file, line = shell.place()
    blamed = cause.line if cause is not None and _is_same(cause.file, file) else 0
    lines = [text.rstrip("\n") for text in source_lines(file)]
    if not lines:
        return None
    first = max((blamed or line or 1) - AROUND, 1)
    norms = _norms(shell, f"{file}:{blamed or line or 1}")
    shown = Source(os.path.basename(file), first, tuple(lines[first - 1:first + 2 * AROUND]), line, norms, blamed,
                   frozenset(_armed(shell, file)), is_cut=True)
    return Card((shown,), shown.file + "  ·  norms of gradients at the right" * bool(norms))


def _norms(shell: Shell, at: str) -> dict[int, str]:
    """The gradient norms of what the lines around one have made; of none in a large graph, where they take too long."""
    if not shell.dbg.records or _count(shell) > LARGE:
        return {}
    try:
        found = shell.dbg.source(at, around=NEAR)
    except AutodiffError:
        return {}
    return {row.number: number(row.gradient_norm) for row in found.lines if row.gradient_norm is not None}


def _count(shell: Shell) -> int:
    """How many ops the graph has."""
    return len(getattr(shell.dbg.graph, "operations", ()))


def _is_same(file: str, other: str) -> bool:
    return bool(file) and os.path.realpath(file) == os.path.realpath(other)


def _armed(shell: Shell, file: str) -> Iterator[int]:
    """Lines whose ops a breakpoint or a condition stops at."""
    for row in shell.dbg.stops():
        if not row.enabled or row.kind == "watch" and not row.condition:
            continue
        for name in row.names[:MOST]:
            try:
                place = shell.dbg.where(name).op.place
            except AutodiffError:
                continue
            if place is not None and _is_same(place.file, file):
                yield place.line


def cause_of(shell: Shell, question: str) -> Place | None:
    """The line that the answer to `why nan` blames first; None for other questions, and if there is none."""
    if question != "why nan":
        return None
    try:
        found = shell.dbg.why(kind="nan")
    except AutodiffError:
        return None
    findings = found if isinstance(found, (list, tuple)) else (found,)
    return next((origin.place for finding in findings for origin in getattr(finding, "origins", ())
                 if origin.place is not None), None)


def gradients(shell: Shell, width: int) -> Card | None:
    """The norm of each variable's gradient, now and over as many steps as there is room for; before the first one what
    variables there are.
    """
    if _count(shell) > LARGE:
        return Card((Text(f"in a graph of {_count(shell)} ops they take a moment: grads", "quiet"),), "gradients")
    if not shell.dbg.records:
        return _variables(shell)
    try:
        table = shell.dbg.grads()
    except AutodiffError as error:
        return Card((Text(error.message.partition("\n")[0], "quiet"),), "gradients")
    names = [_short(shell, row.name) for row in table.rows[:MOST]]
    seen = max(width - max(map(len, (*names, "variable"))) - NORM, FEWEST)
    rows: list[tuple[Any, ...]] = [(name, _size(row.stats), row.norms[-seen:] or None)
                                   for name, row in zip(names, table.rows)]
    rows += [(_short(shell, row.name), "none", None) for row in table.missing[:MOST]]
    more = len(table.rows) + len(table.missing) - len(rows)
    columns = Column("variable", "name"), Column("norm", "number"), Column("steps", "spark", 4)
    shown = Table(columns, tuple(rows), notes=(f"… {more} more: grads",) if more else ())
    past = "" if shell.dbg.history.position.is_present else ", past"
    return Card((shown,), f"gradients of {_short(shell, table.y)}  ·  {table.at}{past}")


def _variables(shell: Shell) -> Card | None:
    """What is trained, and its shape."""
    rows = [row for row in shell.dbg.variables() if row.trainable]
    if not rows:
        return None
    more = len(rows) - MOST
    shown = Table((Column("variable", "name"), Column("type", "text", 4), Column("shape", "text", 5)),
                  tuple((_short(shell, row.name), row.dtype, shape(row.shape)) for row in rows[:MOST]),
                  notes=(f"… {more} more: info vars",) if more > 0 else ())
    return Card((shown,), "variables  ·  no step yet")


def _short(shell: Shell, name: str) -> str:
    """What a tensor is called, without its place."""
    return shell.dbg.model.spoken(name).partition(" ")[0]


def _size(stats: Stats | None) -> Any:
    """The norm; nan or inf if there is one."""
    if stats is None:
        return None
    return float("nan") if stats.nans else float("inf") if stats.infs else stats.norm


def watches(shell: Shell) -> Card | None:
    """The least and the greatest value of each tensor that is watched, and where it is not finite."""
    names = dict.fromkeys(name for row in shell.dbg.stops("watch") if row.enabled for name in row.names)
    if not names and not shell.displays:
        return None
    at = shell.dbg.history.position
    last = next((record for record in reversed(shell.dbg.records) if at.is_present or record.run == at.at.run), None)
    rows = [(_short(shell, name), *_extremes(shell, last, name)) for name in [*names][:MOST]]
    rows += [(text, *_computed(shell, text)) for text in shell.displays]
    return Card((Table((Column("watched", "name"), Column("min", "number"), Column("max", "number"),
                        Column("nan/inf", "bad", 8)), tuple(rows)),), "watches")


def loss(shell: Shell, height: int) -> Card | None:
    """The loss over the steps so far, as a curve of so many lines; None where that is no curve."""
    known = [(step, record) for step, record in of_steps(shell.dbg) if record.loss is not None]
    known = [(step, record) for step, record in known if record.loss_name == known[-1][1].loss_name]
    if len(known) < 2 or height < LOWEST:
        return None
    first, *_, last = (number(record.loss) for _, record in known)
    name = f"{_short(shell, known[-1][1].loss_name)} {last}  ·  from {first}"
    return Card((Plot(((name, tuple(step for step, _ in known), tuple(record.loss for _, record in known)),),
                      height=height),), "loss")


def _extremes(shell: Shell, last: RunRecord | None, name: str) -> tuple[Any, Any, Any]:
    """What the last run has seen of it; of a watch that is new, what the run had."""
    sample = last.sample(name) if last is not None else None
    if sample is None and last is not None and _count(shell) <= LARGE:
        return _computed(shell, name)
    return _least_and_greatest(sample.stats if sample is not None else None)


def _computed(shell: Shell, text: str) -> tuple[Any, Any, Any]:
    try:
        return _least_and_greatest(shell.dbg.evaluate(text, keep=False).stats)
    except AutodiffError:
        return None, None, None


def _least_and_greatest(stats: Stats | None) -> tuple[Any, Any, Any]:
    if stats is None:
        return None, None, None
    return stats.minimum, stats.maximum, stats.nans + stats.infs
