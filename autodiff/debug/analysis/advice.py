"""What somebody beside the graph knows of a program: a front end whose steps are not Session.runs fills it."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...core.graph import Graph
from .findings import Finding, RuleCheck


@dataclass
class Advice:
    """findings: for doctor, of the last step. differing: for check, gradients that were found to be other than the
    graph's. lines: for check, by op name: the lines of a gradient function, as `file.py:12: code`."""

    findings: Iterable[Finding] = ()
    differing: list[RuleCheck] = field(default_factory=list)
    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)


def advice_of(graph: Graph) -> Advice:
    """The advice that belongs to a graph."""
    return graph.extras.setdefault("advice", Advice())
