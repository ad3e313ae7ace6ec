"""What is computed after the last step: by the parameters that the steps made, or by those that they began with."""
from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ...core.site import Site
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import as_place, at_line
from ..course import TURNS
from ..handed_on import function_of
from ..new_lines import NewLines, nodes_on, replaced
from .stale import figure


class Met(NamedTuple):
    """A call since the last step, with arrays. is_model: whether these are the parameters of a model that is applied,
    else all that a jitted function is given and reads."""

    leaves: Sequence[Any]
    site: Site
    is_model: bool


class Evaluated:
    """The calls since the last step. what: are trained. first, last: those of the first step of that shape, and of the
    last."""

    def __init__(self, what: str = "parameters") -> None:
        self._what = what
        self._firsts: dict[Any, Sequence[Any]] = {}
        self._first: Sequence[Any] = ()
        self._last: Sequence[Any] = ()
        self._count, self._since, self._asked = 0, list[Met](), ""

    def stepped(self, tree: Any, asked: str) -> None:
        """A step of these parameters. asked: what the script gives for them, as text."""
        self._last, self._since, self._asked = jax.tree.leaves(tree), [], asked
        self._count += 1
        self._first = self._firsts.setdefault(tuple(map(np.shape, self._last)), self._last)

    def met(self, tree: Any, sites: Sequence[Site], *, is_model: bool) -> None:
        """A call with arrays, unless something is traced by it."""
        leaves = jax.tree.leaves(tree)
        if self._first and sites and not any(isinstance(x, jax.core.Tracer) for x in leaves):
            self._since.append(Met(leaves, sites[0], is_model))

    def findings(self) -> list[Finding]:
        """A model that is applied to what training began with, and never to what it made."""
        of_models = [met for met in self._since if met.is_model] or self._since
        begun, shapes = {*map(id, self._first)}, Counter(map(np.shape, self._first))
        untrained = [met for met in of_models if begun <= {*map(id, met.leaves)}]
        if self._count <= TURNS or not untrained or not begun.isdisjoint(map(id, self._last)) or any(
                shapes <= Counter(np.shape(x) for x in met.leaves if id(x) not in begun) for met in of_models):
            return []
        met = untrained[-1]
        does = "the model is applied" if met.is_model else "a jitted function is called"
        place, given = as_place(met.site), f": {self._asked}" * bool(self._asked)
        return [Finding(92 if met.is_model else 59, "evaluated untrained", "", "", self._asked, f"after the last "
                        f"step {does}{at_line(place)} with the {self._what} that the first began with, "
                        f"{figure(self._first)}, and never with those that the steps made, {figure(self._last)}: what "
                        "is computed there is of the untrained model", f"give it what the steps made{given}", "doctor",
                        place)]


def trained(file: str, line: int, asked: str) -> NewLines:
    """`state.params` for `params` on a line of a function that has the state, or of none."""
    scope, (root, _, title) = function_of(Site(file, line, "")), asked.partition(".")
    titles = [each.arg for each in scope.args.args] if scope is not None else [root]
    inside = {id(node.value) for node in nodes_on(file, line) if isinstance(node, ast.Attribute)}
    found = [node for node in nodes_on(file, line) if isinstance(node, ast.Name) and node.id == title
             and isinstance(node.ctx, ast.Load) and id(node) not in inside]
    return replaced(file, found[0], asked) if len(found) == 1 and root in titles else {}
