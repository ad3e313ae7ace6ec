"""What a dropout keeps or drops, as a script has it: the share that was meant for one that leaves hardly anything."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .....core.errors import ArgumentError
from .....core.traversal import ancestors
from ....facts.roles import PLACEHOLDERS
from ...findings import Finding
from ...mistakes.case import Case
from ...mistakes.modes import MOST_DROPPED, rate_of_dropout
from ...scripts.calls import called, given, owner_text
from ...scripts.changes import Change
from ...scripts.expressions import number_of
from ...scripts.source_tree import Source

_KEEPS = ("keep_prob", "input_keep_prob", "output_keep_prob", "state_keep_prob")


def fewer_dropped(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The shares of all dropout that leaves hardly anything: each is what is left of 1, as where keep_prob and rate
    were taken for one another."""
    at = finding.place.line if finding.place is not None else 0
    shares = {node: is_kept for call in source.calls_named("dropout", "dropoutwrapper")
              for node, is_kept in _shares(source, call)}
    op = next((each for each in case.behind if each.name == finding.op), None)
    rate = rate_of_dropout(op) if op is not None else None
    for holder in ancestors([rate]) if rate is not None else ():
        if holder.type in PLACEHOLDERS:  # what is kept is taken from 1
            shares |= {node: holder is not rate.op for _, value in source.fed(holder)  # type: ignore[union-attr]
                       for node in _literals(source, value)}
    wrong = [node for node, is_kept in shares.items() if MOST_DROPPED < (
        1 - number_of(node) if is_kept else number_of(node)) < 1]
    if not wrong:
        raise ArgumentError("no share is written there")
    return at, [(*source.range(node), f"{1 - number_of(node):.3g}") for node in wrong]


def _shares(source: Source, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
    """The numbers that a call is given to drop by, and whether they are what is kept."""
    is_layer, is_first = called(call)[:1].isupper(), owner_text(call).endswith("nn")
    place = 0 if is_layer else 1
    for node in given(call, place if is_first and not is_layer else None, *_KEEPS):
        yield from ((each, True) for each in _literals(source, node))
    for node in given(call, None if is_first and not is_layer else place, "rate", "p"):
        yield from ((each, False) for each in _literals(source, node))


def _literals(source: Source, node: ast.expr) -> Sequence[ast.expr]:
    """The literal that an expression is, or that its name was given once."""
    values = source.given_to(node)
    found = values[0] if len(values) == 1 else node
    return [found] if number_of(found) == number_of(found) else []
