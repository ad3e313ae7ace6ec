"""The line that a finding is of, where it is not the one that made its op: data, rates and calls of functions."""
from __future__ import annotations

import ast
import math
from dataclasses import replace

from .....core.graph import Operation
from .....core.site import source_lines
from .....core.traversal import ancestors, descendants
from ....facts.graph_lists import operations_of
from ....facts.roles import at_line, place_of, place_on, traceback_of
from ...findings import Finding
from ...mistakes.all_mistakes import OF_A_CALL, OF_A_RATE, OF_DATA, UNSCALED
from ...mistakes.batches import ALMOST_ZERO
from ...mistakes.case import Case, rate_of
from ...mistakes.habits import FREED, TURNED
from ...mistakes.heads import heads, made_smaller
from ...mistakes.last_layer import NO_PROBABILITY
from ...scripts.expressions import number_of
from ...scripts.source_tree import Source
from ..activations import named_at
from ..by_names import picked
from .arrays import arranged, is_thrown_away, keeping, thrown_away_at
from .given import given_behind, made_at
from .schedules import SetRate, compounding, rate_set
from .switches import FROZEN, frozen_place

_SAME = 1e-6  # relative, of a number that float32 has rounded


def placed(finding: Finding, case: Case, op: Operation | None) -> Finding:
    """A finding with the line that called what made its op, that gives its data, or that set the rate."""
    if finding.kind in OF_A_RATE and (line := _rate_set(case)) is not None:
        compounds = compounding(Source("".join(source_lines(line.file))), line.line)
        if finding.kind == "learning rate decayed to nothing" and compounds:
            name = ast.unparse(compounds[0])
            finding = replace(finding, text=f"{finding.text}; {name}, which the schedule makes smaller by the epoch, "
                              "is the rate as it is, made smaller in all epochs before", remedy="make the first rate "
                              f"smaller by the epoch, in place of {name}")
        return replace(finding, place=line.place)
    is_frozen = finding.kind == "no gradient" and FROZEN in finding.text
    if op is not None and (is_frozen or finding.kind == "changed after compile"):
        which = "freed_at" if FREED in finding.text else "frozen_at"
        return replace(finding, place=frozen_place(op.graph, which) or finding.place)
    if finding.kind == TURNED and (done := arranged(finding, op, case)) is not None:
        return replace(finding, place=done.place)
    if (found := picked(finding, case)) is not None:
        return found[0]
    head = next((each for each in heads(case) if op in (each.op, each.end)), None) if (
        finding.kind == NO_PROBABILITY) else None
    if head is not None and (named := named_at(head.end)) is not None:
        return replace(finding, place=named, text=f"{finding.text}; it is taken{at_line(finding.place)}")
    if finding.kind in OF_A_CALL:
        return _where_called(finding, op)
    if finding.kind == ALMOST_ZERO and op is not None and made_smaller(op):
        return _divided_twice(finding, made_smaller(op))
    if finding.kind == "targets are the inputs" and op is not None:
        return _where_taken(finding, op, case)
    return _where_given(finding, op, case) if finding.kind in OF_DATA else finding


def _where_taken(finding: Finding, op: Operation, case: Case) -> Finding:
    """With the line that gives a model its targets as they are: of a name for these, or of what takes them."""
    ways = {each for head in heads(case) if head.op is op for each in ancestors([head.prediction])}
    x = next((t for each in ways for t in each.outputs if t.name == finding.target), None)
    takers = [c for c in x._consumers if c in ways and c.site is not None] if x is not None else []
    if x is None or not takers or x.op.site is None:
        return finding
    taker = max(takers, key=lambda each: min(  # the one that goes into a table last, as a decoder does
        (c.index for c in (each, *descendants(each.outputs) & ways) if c.type.startswith("Gather")), default=0))
    place = place_of(taker) or finding.place
    try:
        source = Source("".join(source_lines(x.op.site.file)))
    except (OSError, SyntaxError, ValueError):
        return finding
    for node in [each for call in source.spanned(taker) for each in ast.walk(call) if isinstance(each, ast.Name)]:
        line = 0
        while len(values := source.passed(node) or source.given_to(node)) == 1 and isinstance(values[0], ast.Name):
            is_named = isinstance(source.statement(values[0]), ast.Assign) and not source.passed(node)
            node, line = values[0], values[0].lineno if is_named else line
        if line and len(values) == 1 and values[0].lineno <= x.op.site.line <= (values[0].end_lineno or 0):
            return replace(finding, place=place_on(x.op.site.file, line))
    return replace(finding, place=place)


def _divided_twice(finding: Finding, by: float) -> Finding:
    """With the other lines of the same file that divide by the same number."""
    file, line = (finding.place.file, finding.place.line) if finding.place is not None else ("", 0)
    try:
        others = {node.lineno for node in Source.of_file(file).all(ast.BinOp) if isinstance(node.op, ast.Div)
                  and math.isclose(number_of(node.right), by, rel_tol=_SAME)} - {line}
    except (SyntaxError, ValueError):
        return finding
    lines = " and".join(at_line(place_on(file, each)) for each in sorted(others))
    return replace(finding, text=f"{finding.text}; by {by:g} it is divided{lines} too") if others else finding


def _rate_set(case: Case) -> SetRate | None:
    """Where Keras was told the rate of the last step, if it is not that of the first."""
    known = [rate_of(case, run) for run in (*case.looked[:1], *case.looked[-1:])]
    rate = next((u.rate for u in case.own if u.rate is not None), None)
    return rate_set(rate, known[-1]) if rate is not None and known[-1] is not None and len(set(known)) > 1 else None


def _where_called(finding: Finding, op: Operation | None) -> Finding:
    """With the line that called a function of the script's, where others call it too, as of a loss."""
    lines = traceback_of(op) if op is not None else ()
    alike = [each for each in map(traceback_of, operations_of(op.graph)) if each[:1] == lines[:1]] if op else []
    is_shared = len({each[1:2] for each in alike}) > 1
    return replace(finding, place=lines[1]) if is_shared and len(lines) > 1 else finding


def _where_given(finding: Finding, op: Operation | None, case: Case) -> Finding:
    """With the line that arranges the data that a finding is about, or that gives them to a Keras model."""
    given, done = given_behind(op), arranged(finding, op, case)
    if done is not None and (finding.kind == UNSCALED or finding.kind == "sorted by class" and is_thrown_away(done)):
        finding = replace(finding, text=f"{finding.text}; {thrown_away_at(done)}", remedy=f"{keeping(done)}; "
                          f"{finding.remedy}")
    made = made_at(given) if given is not None and finding.kind in (UNSCALED, "targets not scaled") else None
    finding = replace(finding, text=f"{finding.text}; what is fed is made{at_line(made)}") if made else finding
    return replace(finding, place=done.place) if done is not None else finding if given is None else replace(
        finding, place=given.place)
