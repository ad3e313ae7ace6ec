"""Habits of JAX programs that no graph shows: updates that are missing, uphill or too large, random keys that stay the
same, indices outside of their array, which JAX moves inside without a word."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax._src.source_info_util import is_user_filename

from ...core.site import PACKAGE, Site
from ...core.traversal import ancestors, descendants
from ...debug.analysis.advice import Remark
from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place, at_line, place_of
from ..course import TURNS, Course, Turn, Use, not_updated, too_far, uphill
from ..new_calls import calls_on
from ..script_lines import factor_on, lines_of_use, loops_around
from ..steps import ForeignStep
from .averages import Averages
from .calls import Call
from .draws import Draws, drawn_alike, key_names
from .dropped import changes_left, dropped, kept
from .inner_keys import made_on
from .optimizers import Optimizers
from .written import SCALES, Known, other_argument

_LINES = 5  # that a finding names


class Told(NamedTuple):
    """What is wrong, looked for when it is asked for: all, and what explains that a loss grows; where the rate stands.
    """

    all: Callable[[], list[Finding]]
    uphill: Callable[[], list[Finding]]
    rate: Remark | None


class Habits:
    """What the steps of a script have in common. optimizers: of optax; averages: of flax; stale: under jit."""

    def __init__(self, optimizers: Optimizers, averages: Averages, stale: Callable[[], list[Finding]]) -> None:
        self._stale = stale
        self._course, self._optimizers, self._averages, self.draws = Course(), optimizers, averages, Draws()

    def note(self, step: ForeignStep, known: Known, checked: Callable[[], Any], call: Call) -> tuple[Turn, Told]:
        """Keep a step; gives what is to be told of it.

        checked: runs the function with every index checked, as jax.experimental.checkify does.
        """
        sites = known.sites
        turn = Turn(step, keys={t: v for t, v in step.feeds.items() if v.dtype in (np.uint32, np.uint64)})
        turns = self._course.note(sites[:1], turn, shape=step.loss)
        used = _used_at(sites)
        rated = self._optimizers.rate()
        rate = _rate(used[0], sites) if rated is None else Remark(
            f"the learning rate of optax.{rated.name} is " + (
                "a schedule" if rated.rate is None else f"{rated.rate:g}"), as_place(rated.site))
        use = Use(*used, "subtract the gradient: p - rate * g", "update every parameter with its gradient: "
                  "jax.tree.map(lambda p, g: p - rate * g, params, grads), and give the result to the next step")
        texts = call.texts(sites)
        self._averages.evaluated.stepped([call.args[n] for n in call.numbers], texts[call.numbers[0]] if texts else "")
        drawn = self.draws.since(call)

        def rising() -> list[Finding]:
            return [*self._optimizers.gradients_applied(), *self._optimizers.let_past([*turns[-1].step.values]),
                    *uphill(turns, _added(self._optimizers, use))]

        def look() -> list[Finding]:
            left = self._optimizers.state_left()  # whose rate may be 0 at its first step
            still = [] if left and self._optimizers.adds_nothing() else not_updated(
                turns, _left(known, use), some_may=self._optimizers.freezes)
            others = other_argument(turns, call, known)
            averages = self._averages.findings() if len(turns) > TURNS else []
            return [*self._stale(), *self._averages.evaluated.findings(), *self._averages.by_averages.findings(),
                    *changes_left(sites), *averages, *others, *still, *rising(), *left,
                    *too_far(turns, use), *(_same_key(turns, sites) or drawn_alike(turns, drawn)), *_outside(checked)]
        return turn, Told(look, rising, rate)


def _left(known: Known, use: Use) -> Use:
    """The line that makes new parameters which nothing takes, if there is one, in place of those that use gradients."""
    found = dropped(known.sites, known.parameters)
    if found is None:
        return use
    site, call = found
    name = next(iter(kept(site.file, site.line, known.parameters).values()), "").strip()
    return use._replace(place=as_place(site), clause=f"; what {ast.unparse(call.func)} gives at {site} "
                        "is dropped: JAX changes no array in place", update=name or
                        f"params = {ast.unparse(call)}, and give them to the next step")


def _added(optimizers: Optimizers, use: Use) -> Use:
    """The only line that scales what is added to the parameters by a number above 0, in place of that which adds it."""
    sites = [*dict.fromkeys(optimizers.scaled)]
    calls = [call for site in sites for call in calls_on(site.file, site.line, *SCALES) if call.args]
    if len(sites) != 1 or len(calls) != 1 or optimizers.rated:
        return use
    given, name, to = ast.unparse(calls[0].args[0]), ast.unparse(calls[0].func), calls[0].args[0]
    if name.endswith(SCALES[1]):
        new = f"lambda count: -{given if isinstance(to, (ast.Name, ast.Attribute, ast.Call)) else f'({given})'}(count)"
    else:
        new = f"-{given}" if isinstance(to, (ast.Name, ast.Attribute, ast.Constant)) else f"-({given})"
    return Use(as_place(sites[0]), f"; {name}({given}) at {sites[0]} has no minus, and apply_updates adds what it "
               "gives", f"{name}({new})")


def _used_at(sites: tuple[Site, ...]) -> tuple[Place | None, str]:
    """The line that first uses the gradients, and a clause that names it with those that follow."""
    used = lines_of_use(sites)
    if not used:
        return (as_place(sites[0]) if sites else None), ""
    return as_place(used[0]), "; the gradients are used at " + ", ".join(map(str, used[:_LINES]))


def _rate(used: Place | None, sites: tuple[Site, ...]) -> Remark | None:
    """The number that the lines which use the gradients multiply them by, or else where they are used."""
    factor = factor_on(lines_of_use(sites))
    if factor is None:
        return used and Remark("the gradients are used", used)
    return Remark(f"{factor[0]} is {factor[1]:g}", as_place(factor[2]))


def _same_key(turns: Sequence[Turn], sites: tuple[Site, ...]) -> list[Finding]:
    if len(turns) <= TURNS:
        return []
    loss = turns[-1].step.loss
    above = ancestors([loss])
    drawn = [op for op in above if op.type == "Threefry2x32"]
    feeds = turns[-1].step.feeds
    moving = {t for t in feeds if any(not np.array_equal(turn.step.feeds[t], feeds[t]) for turn in turns)}
    fresh = descendants(list(moving)) if moving else set()
    same = sorted((op for op in drawn if op not in fresh), key=lambda op: -op.index)
    if not same:
        return []
    places = list(dict.fromkeys(p for op in same if (p := place_of(op)) is not None))
    names = sorted({t.op.name for t in turns[-1].keys if set(same) & descendants([t])})
    key = f"the key {' and '.join(names) or 'made in it'}".replace("the key key", "its key")
    own = next((p for p in places if made_on(p.file, p.line) is not None), None)
    passed = [at for at in sites if own is None and loops_around(*at[:2]) and len(key_names(*at[:2])) == 1]
    return [Finding(58, "same random key", same[0].name, same[0].type, "",
                    f"each of {len(turns)} steps draws the same random numbers{''.join(map(at_line, places[:3]))}: "
                    f"{key} never changes, where the step is asked for"
                    f"{''.join(f' at {s}' for s in (passed or sites)[:1])}",
                    "draw by a key that the step is given, and that the loop splits anew for each: key, sub = "
                    "jax.random.split(key)" if own is not None else
                    "split the key in each step, key, sub = jax.random.split(key), and draw with sub", "doctor",
                    own or as_place(passed[0]) if own or passed else places[0] if places else None)]


def _outside(checked: Callable[[], Any]) -> list[Finding]:
    error = checked()
    if error is None:
        return []
    lines = re.findall(r"^(.*):(\d+) \((.*)\)$", str(error.traceback_info), re.MULTILINE)
    users = [Site(file, int(line), name) for file, line, name in lines
             if is_user_filename(file) and not file.startswith(PACKAGE)]
    said = str(error).partition("\n")[0].strip().rstrip(".")
    return [Finding(75, "index outside", "", "", "", f"{said}: JAX moves such an index inside, or fills with nan, "
                    "without an error", "count from 0 to size - 1; jax.experimental.checkify with index_checks finds "
                    "them", "doctor", as_place(users[0]) if users else None)]
