"""What the steps before know of a chain's origin: how a variable came to its value, what was fed until then."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order
from ...analysis.arithmetic_rules import number
from ...analysis.edits.activations import named_at
from ...analysis.edits.in_datasets import name_of
from ...analysis.edits.of_data import of_pixels
from ...analysis.findings import Link, Origin, WhyNonfinite
from ...analysis.nonfinite import leading
from ...analysis.origins.adjacency import summing
from ...analysis.origins.chain import NEEDS_SIGN, ROUNDED
from ...analysis.origins.far_densities import far_from_all
from ...analysis.origins.no_bound import LOW, subtracted
from ...analysis.origins.recurrent import unbounded, without_bound
from ...facts.graph_lists import calls_of
from ...facts.roles import LAYERS, VARIABLES, at_line, place_of, takes_elements
from ...history.replay import Moment
from ..fed_back import FedBack
from ..state import State

_GREW = 2.0  # times what it was: told of
_LARGE = 8.0  # a number that grown variables may have made
_TOO_FAR = 100.0  # times its size: a variable that no step should make so large
_LEAP = 1e3  # by which no training moves a number
_HUGE = 1e5  # from the first layer to the last
_FED = 20.0  # numbers that are large to begin with
_LAST = 3  # runs
FAR = 3.0  # times what was fed before
_TOLD = 90  # characters of an origin and what was made of it, beside the sentence; the chain has the rest


class CameFrom:
    """Goes on with a chain in the steps before."""

    def __init__(self, state: State) -> None:
        self.state = state

    def chain(self, why: WhyNonfinite, at: Moment, rate: str) -> tuple[Link, ...]:
        """The chain to what `why` tells of first, the origin first, with steps. rate: the learning rate, in words."""
        if not why.origins:
            return ()
        origin = leading(why.origins)
        links = list(origin.chain)
        if not links:
            return (*self.carried(at), *self.through_layers(at)) if origin.phase == "update" else ()
        step = self.state.log.at(at.run).step
        links = [replace(link, step=step) for link in links]
        first, before = links[0], [m for m in self.state.stretch(step) if m.run < at.run]
        op = self.state.model.targets.named(first.op)
        if op is None:
            return tuple(links)
        if first.kind == "fed" and (carried := self.carried(at)) and carried[0].op == first.op:
            links[:1] = carried
        elif first.kind == "fed":
            given = op.outputs[first.output]
            odd, far = self._unusual(given, first.index, at, before), self._far(origin, at)
            odd = odd or ", of pixels from 0 to 255 that nothing scales" * bool(of_pixels(given, at.data.get(given)))
            links[0] = replace(first, text=far[0].text if far and not odd else first.text + odd)
        elif first.kind == "variable":
            links[:1] = self._of_variable(op, first, at, before, rate)
        elif first.kind == "op" and (far := self._far(origin, at)):
            links[:0] = far
        elif (free := _unkept(op, origin, links)) is not None:
            links[:0] = [free]
        elif first.kind == "op" and first.value > _LARGE:
            links[:0] = self._grown(op, at, before, rate)
        return tuple(links)

    def _far(self, origin: Origin, at: Moment) -> list[Link]:
        """What is far from every component of a mixture, whose density is too small for its type there."""
        log = self.state.model.targets.named(origin.forward_op)
        if log is None or log.type != "Log" or log.graph is not self.state.model.graph:
            return []
        far = far_from_all(log, self.state.values_known(ancestors(log.inputs), at))
        return [replace(far, step=self.state.log.at(at.run).step)] if far is not None else []

    def carried(self, at: Moment) -> list[Link]:
        """That what is fed back from run to run grows."""
        grown = FedBack(self.state).grown(at)
        if grown is None:
            return []
        fed = np.abs(np.asarray(at.feeds[grown[0]]))
        index = tuple(map(int, np.unravel_index(int(np.argmax(fed)), fed.shape)))
        return [Link(grown[2], place_of(grown[0].op), "fed", grown[0].op.name, index, self.state.log.at(at.run).step)]

    def _unusual(self, given: Tensor, index: tuple[int, ...], at: Moment, before: Sequence[Moment]) -> str:
        """How what was fed differs from what was fed before: `, 3.1 at most before`; "" if it does not."""
        fed = [np.asarray(m.data[given], np.float64) for m in before[-20:] if given in m.data
               and np.asarray(m.data[given]).dtype.kind in "biuf" and np.size(m.data[given])]
        now = np.asarray(at.data[given], np.float64) if given in at.data else None
        if now is None or not fed or not np.isfinite(now[index]):
            return ""
        usual = usual_size(given, before)
        if abs(now[index]) > FAR * usual:
            many = "steps" if len({self.state.log.at(m.run).step for m in before}) == len(before) else "runs"
            return f", where most {many} before had {number(usual)} at most"
        return ", for the first time" if now[index] == 0 and all((a != 0).all() for a in fed) else ""

    def _of_variable(self, op: Operation, link: Link, at: Moment, before: Sequence[Moment], rate: str) -> list[Link]:
        """Since when an element of a variable is what it is."""
        values = [(m, float(np.asarray(m.variables[op.name])[link.index])) for m in [*before, at]
                  if op.name in m.variables and np.asarray(m.variables[op.name]).dtype.kind in "fiu"]
        if not values:
            return [link]
        (first, old), (_, now) = values[0], values[-1]
        loaded, runs = self.state.model.session.loaded.get(op.name, ("", 0))
        if loaded and all(value == now or np.isnan(value) and np.isnan(now) for m, value in values if m.number > runs):
            return [replace(link, text=f"{link.text}, as it was loaded from {loaded}")]
        if old == now or np.isnan(old) and np.isnan(now):
            began = self.state.log.at(first.run)  # or what is remembered of it
            when = "in the beginning" if began.step <= 1 else f"in {began}, from which on steps are remembered"
            return [replace(link, text=f"{link.text}, as it was {when}")]
        changed = next(m for (m, value), (_, after) in zip(values[-2::-1], values[:0:-1]) if value != after)
        told = f"{op.name}{_spot(link.index)} is {number(now)} since the update of {self.state.log.at(changed.run)}"
        told += f", {number(old)} before {self.state.log.at(first.run)}" + (f"; {rate}" if rate else "")
        links = [replace(link, text=told, step=self.state.log.at(changed.run).step)]
        return [*self.through_layers(changed), *links] if abs(now) > _LEAP * max(abs(old), 1.0) else links

    def through_layers(self, at: Moment) -> list[Link]:
        """How the layers enlarge what goes through them, where that made the gradients of a step."""
        top = self.state.y_at(at)
        ops = [op for op in in_order(ancestors([top] if top is not None else [])) if op.type in LAYERS
               and op.gradient_of is None]
        values = self.state.values_known(ops, at)
        sizes = [(op, size_of(values[op.outputs[0]])) for op in ops if op.outputs[0] in values]
        sizes = [each for each in sizes if each[1]]
        if len(sizes) < 3 or sizes[-1][1] < _HUGE * sizes[0][1]:
            return []
        (first, small), (_, large) = sizes[0], sizes[-1]
        fed = [(t, size_of(value)) for t, value in at.data.items() if t.dtype.is_floating and size_of(value) > _FED]
        given = "".join(f"; {in_words(t, size)}{at_line(place_of(t.op))}"
                        for t, size in fed if t.op in ancestors([first.outputs[0]]))
        sums = summing(top, partial(self.state.values_known, moment=at)) if top is not None else []
        steps = unbounded(top) if top is not None else []
        count, called = (len(steps), "steps of the recurrence") if len(steps) > 1 else (len(sizes), "layers")
        factor = (large / small) ** (1 / (count - 1))
        text = sums[0].text if sums else (
            f"{count} {called} enlarge what goes through them {number(factor)} times each, from {number(small)} to "
            f"{number(large)}{at_line(place_of(first))}{given}{f'; {without_bound(steps)}' if steps else ''}")
        place = place_of(sums[0].matrix.op if sums else first)
        return [Link(text, place, "depth", first.name, (), self.state.log.at(at.run).step)]

    def _grown(self, op: Operation, at: Moment, before: Sequence[Moment], rate: str) -> list[Link]:
        """The variable that an op computes with and that has grown most, if one has."""
        grown: list[tuple[float, Operation, Moment, float, float]] = []
        for variable in (each for each in ancestors(op.inputs) if each.type in VARIABLES):
            sizes = [(m, size_of(m.variables[variable.name])) for m in [*before, at] if variable.name in m.variables]
            known = [(m, size) for m, size in sizes if size]
            if len(known) > 1 and known[-1][1] > max(_GREW * known[0][1], 1.0):
                grown.append((known[-1][1] / known[0][1], variable, known[0][0], known[0][1], known[-1][1]))
        if not grown:
            return []
        _, variable, since, old, new = max(grown, key=lambda each: each[0])
        begun, now = self.state.log.at(since.run), self.state.log.at(at.run)
        text = f"{variable.name} grew from {number(old)} ({begun}) to {number(new)} ({now})"
        text += f"; {rate}" if rate else ""
        layers = self.through_layers(since) if new > _LEAP * old else []
        return [*layers, Link(text, place_of(variable), "variable", variable.name, (), begun.step)]


def usual_size(fed: Tensor, before: Sequence[Moment]) -> float:
    """The largest number that most of the last runs `before` were fed with; 0 if there were none."""
    arrays = [np.asarray(m.data[fed], np.float64) for m in before[-20:] if fed in m.data
              and np.asarray(m.data[fed]).dtype.kind in "biuf"]
    sizes = [np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in arrays if a.size]
    return float(np.median(sizes)) if sizes else 0.0


def unusual_feeds(at: Moment, before: Sequence[Moment]) -> list[tuple[Tensor, float]]:
    """What a run was given of much larger real numbers than most before; and these sizes."""
    usual = [(t, usual_size(t, before)) for t in at.data if t.dtype.is_floating and np.ndim(at.data[t])]
    return [(t, size) for t, size in usual if size and size_of(np.asarray(at.data[t], np.float64)) > FAR * size]


def in_words(given: Tensor, size: float) -> str:
    """How large numbers a run was given."""
    if takes_elements(given.op):
        return f"the dataset gave up to {number(size)} as {name_of(given.op, given.op.outputs.index(given))}"
    return f"up to {number(size)} was fed for {given.op.name!r}"


def size_of(value: Any) -> float:
    """The largest element in size; 0 of what is not real or not finite."""
    array = np.asarray(value)
    size = float(np.abs(array).max(initial=0.0)) if array.dtype.kind == "f" else 0.0
    return size if np.isfinite(size) else 0.0


def leaps(old: Mapping[str, Any], new: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Whether one of some variables has become larger than any step should make it."""
    sizes = [(size_of(old[name]), size_of(new[name])) for name in names if name in old and name in new]
    return any(after > _TOO_FAR * max(before, 1.0) for before, after in sizes)


def since_leap(before: Sequence[Moment], names: Iterable[str], most: int) -> Sequence[Moment]:
    """The last of some runs, at most so many; those from the first leap of a variable on, where that was earlier."""
    names = [*names]
    leapt = next((i for i, m in enumerate(before) if leaps(before[0].variables, m.variables, names)), len(before))
    start = max(min(leapt - 1, len(before) - most), 0)
    return before[start:start + most]


def _unkept(op: Operation, origin: Origin, links: Sequence[Link]) -> Link | None:
    """That nothing keeps above 0 what a layer gives to an op that needs it so; None where that is not the origin."""
    last = op.graph.operations.get(origin.forward_op)
    if last is None or last.type not in NEEDS_SIGN or op.type not in (*LAYERS, "BiasAdd", "Add", "AddV2"):
        return None
    given = next((op.graph.operations.get(link.op) for link in links[-2:-1]), None)
    value = next((each.value for each in origin.operands[:1] if isinstance(each.value, float)), 0.0)
    if given is None or value >= 0 or given.type not in (*LAYERS, "BiasAdd", "Add", "AddV2"):
        return None
    return Link(f"nothing keeps {given.name} above 0", named_at(given) or place_of(given), "op", given.name, (),
                links[0].step)


def _spot(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""


def origin_of(chain: Sequence[Link]) -> str:
    """The origin, and what was made of it last, in one line; "" where the sentence itself says it all."""
    if len(chain) < 2 and not (chain and chain[0].kind in ("fed", "made", "depth")):
        return ""
    if chain[0].kind in ("depth", "far"):
        return "because " * (chain[0].kind == "far") + chain[0].text
    for link in chain[:-1]:
        if link.text.endswith(ROUNDED):
            return f"because {link.text}{at_line(link.place)}"
    told = [chain[0].text + (at_line(chain[0].place) if chain[0].kind == "op" else "")]
    between = chain[1:-1][-2:]  # the last is what the sentence began with
    flat = [link for link in between if link.kind == "op" and ": " in link.text]  # saturated, or too small for the type
    if flat and chain[0].kind == "variable":  # which grows in any training
        return f"because {', then '.join(link.text for link in between)}"
    for link in flat or between[::-1]:
        if flat or sum(map(len, told)) + len(link.text) <= _TOLD:
            told.insert(1, link.text)
    return f"because {', then '.join(told)}"


def fallen(state: State, y: Tensor, runs: Sequence[Moment]) -> Operation | None:
    """The Sub or Neg that takes y to minus infinity; None if none does, or if it falls so without being trained.

    A loss that is fed, or weighted with, what another loss trains may fall with that.
    """
    sub = subtracted(y, state.values_known, runs)
    own = {x.op.name for call in calls_of(y.graph) if y in call.ys for x in call.xs}
    first = next((m.variables for m in runs if own <= m.variables.keys()), {}) if sub is not None else {}
    begun = {name: first[name] for name in own & first.keys()}
    for run in runs[:-_LAST - 1:-1] if begun else ():
        value = np.sum(state.replayer.values(replace(run, variables={**run.variables, **begun}), [y])[0])
        if np.isfinite(value):
            return sub if abs(value) < -LOW else None
    return sub
