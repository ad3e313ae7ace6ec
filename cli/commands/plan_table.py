"""`list plan`: what became of each op of the last run."""
from __future__ import annotations

from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.plan_rows import RunPlan

from ..language.argument_kinds import check_regex
from ..model.results import Column, Result, Table
from ..view.debugger_rows import bytes_in_words, place

_KINDS = {"computed": "by kernels", "calls": "by ufuncs", "tiles": "fused into chains", "fed": "fed",
          "variable": "variables", "constant": "constants", "merged": "merged", "same": "equal to another op's value",
          "folded": "folded into readers", "order": "only waiting", "dead": "left out"}


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
