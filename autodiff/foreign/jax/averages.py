"""Averages that layers of flax change as they are applied, as those of batch normalization, and that nobody keeps."""
from __future__ import annotations

import ast
import contextlib
import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from ...core.site import Site
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import as_place, at_line
from ...ops.common.instead import instead
from ..doors import View
from ..new_calls import calls_on
from ..new_lines import NewLines, replaced
from ..script_lines import assigned_on, block_of, on_lines
from .evaluated import Evaluated
from .optimizers import users_sites

KEPT = "batch_stats"


class Averages:
    """What models were applied to, by the shapes of their averages. begun: as init made them; changed: where new ones
    were asked for; used: where they were used as they are after that; moved: of which any were others than at first.
    evaluated, by_averages: are told of parameters, and of averages."""

    def __init__(self) -> None:
        self.evaluated, self.by_averages = Evaluated(), Evaluated("averages")
        self._begun: dict[Any, list[np.ndarray]] = {}
        self._changed: dict[Any, Site] = {}
        self._used: dict[Any, Site] = {}
        self._moved: set[Any] = set()

    def watched(self, linen: Any) -> contextlib.AbstractContextManager[None]:
        """While the script runs, once it has imported flax.linen."""
        module = linen.Module
        return instead([(module, "init", self._noting(module.init, self._made)),
                        (module, "apply", self._noting(module.apply, self._applied))])

    def _noting(self, real: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
        @functools.wraps(real)
        def method(module: Any, given: Any, *args: Any, **options: Any) -> Any:
            found = real(module, given, *args, **options)
            if sites := users_sites():
                note(found, given, options.get("mutable", False), sites[0])
            return found
        return method

    def _made(self, found: Any, *_: Any) -> None:
        key, leaves = _known(found)
        if leaves:
            self._begun[key] = leaves

    def _applied(self, _: Any, given: Any, mutable: Any, site: Site) -> None:
        self.evaluated.met(given.get("params") if isinstance(given, Mapping) else None, [site], is_model=True)
        key, leaves = _known(given)
        first = self._begun.get(key, [])
        if leaves and not all(map(np.array_equal, leaves, first)):
            self._moved.add(key)
        if mutable is True or mutable == KEPT or isinstance(mutable, (list, tuple)) and KEPT in mutable:
            self._changed[key] = site
        elif leaves and first and key in self._changed:
            self._used[key] = site
            self.by_averages.met(given[KEPT], [site], is_model=True)

    def handed(self, tree: Any) -> None:
        """What a jitted function is given: the averages in it were kept, where they are others than init's."""
        held = [(jax.tree_util.keystr(path).partition(KEPT)[2].removeprefix("']"), x) for path, x in
                jax.tree_util.tree_leaves_with_path(tree) if KEPT in jax.tree_util.keystr(path)]
        key = tuple((name, np.shape(x)) for name, x in held)
        if held and key in self._begun and not any(isinstance(x, jax.core.Tracer) for _, x in held):
            self.by_averages.stepped([x for _, x in held], "")
            if not all(map(np.array_equal, [x for _, x in held], self._begun[key])):
                self._moved.add(key)

    def findings(self) -> list[Finding]:
        """Averages that are used as they were at first, though steps were given others."""
        for key, site in self._used.items():
            if key not in self._moved:
                place = as_place(self._changed[key])
                return [Finding(74, "averages left", "", "", "", f"what apply(…, mutable=[{KEPT!r}]){at_line(place)} "
                                "gives is kept by nobody: the averages are still those of init, mean 0 and variance 1, "
                                f"by which the model is used{at_line(as_place(site))}", "give them to the state: "
                                f"state.apply_gradients(grads=grads, {KEPT}=updated[{KEPT!r}])", "doctor", place,
                                confidence="certain")]
        return []


def kept(file: str, line: int) -> NewLines:
    """The averages that a line is given, where the state is made anew; {} where they have no name there."""
    for at in on_lines(file):
        for call in calls_on(file, at, "apply_gradients"):
            named = {name for each in block_of(file, at) if each.lineno < at for name in assigned_on(file, each.lineno)}
            names = [name for name in assigned_on(file, line)[-1:] if name in named]
            if names and call.keywords and KEPT not in [word.arg for word in call.keywords]:
                return replaced(file, call.keywords[-1].value, f'{{}}, {KEPT}={names[0]}["{KEPT}"]') if isinstance(
                    call.keywords[-1].value, (ast.Name, ast.Attribute)) else {}
    return {}


def _known(variables: Any) -> tuple[Any, list[np.ndarray]]:
    """The shapes of averages by their names, and they as arrays; none where they are traced."""
    tree = variables.get(KEPT) if isinstance(variables, Mapping) else None
    named = [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]
    is_known = not any(isinstance(leaf, jax.core.Tracer) for _, leaf in named)
    return tuple((name, np.shape(leaf)) for name, leaf in named), [np.asarray(leaf) for _, leaf in named if is_known]


def open_door(view: View) -> Any:
    """A context in which what models are applied to is noted, by the door of JAX."""
    return view.doors["jax"].averages.watched(sys.modules["flax.linen"])
