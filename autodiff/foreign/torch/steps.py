"""Recorded steps as graphs: steps that did the same, on the same lines, are the same graph with other values."""
from __future__ import annotations

import contextlib
import functools
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ...core.graph import Tensor
from ...core.site import Site, made_at, resolve
from ..model import legal_name, tf
from ..script_lines import assigned_on
from ..steps import ForeignSteps
from .graph import DTYPES, TorchGraph, array_of, name_of, numbers_in
from .habits import Habits
from .record import Call, Entry, Recorder, storage_of
from .sizes import Numbers


@dataclass
class Built:
    """A step's graph, with the values of this step. edits: what changed in place, unseen by autograd; ages: as of
    ForeignStep."""

    loss: Tensor
    values: dict[str, np.ndarray]
    feeds: dict[Tensor, np.ndarray]
    edits: list[Entry]
    ages: dict[str, int]


# After so many steps in a row whose graphs are new, one in so many is looked at, if it has so many ops.
_ALL_NEW, ONE_IN, _LARGE = 16, 8, 200
_STEEP = ("Sqrt", "Rsqrt", "Log", "Log1p", "Pow", "RealDiv", "Reciprocal", "Acos", "Asin", "Acosh", "Atanh", "Atan2",
          "Maximum", "Minimum", "Relu")
_MANY = 64  # graphs, from which on a step need not be large

# The number of an entry, or -1 for numbers; which tensor of its arguments, or (True) of what it drew.
Spot = tuple[int, int, bool]
Signature = tuple[Any, tuple[float, ...]]  # of a step: what its graph is known by, and its numbers


@dataclass
class _Known:
    """A graph that was built. given: its placeholders, each with the spot of a record that holds its value.

    steep: what ops are given that have no slope somewhere, each with the number of the entry that made it, and which
    of its results it is. numbers: of Python's, that its ops were given; free: which of them are fed.
    """

    loss: Tensor
    given: list[tuple[Tensor, Spot]]
    steep: list[tuple[Tensor, int, int]]
    edits: list[Entry]
    numbers: tuple[float, ...]
    free: frozenset[int]


class Builder:
    """Builds steps in the graph of `steps`. habits: knows where parameters and modules were made."""

    def __init__(self, steps: ForeignSteps, recorder: Recorder, habits: Habits) -> None:
        self._steps, self._recorder, self._habits = steps, recorder, habits
        self._known: dict[Any, _Known] = {}
        self._held: dict[str, tuple[weakref.ref[Any], int]] = {}  # by name: the parameter, and how many had it before
        self._news = Counter[Any]()  # of the last steps of a line, one after the other, whose graphs were new

    def is_one_of_many(self, entries: Sequence[Entry], signed: Signature) -> bool:
        """Whether a step is to be passed over: large, or one of many, and all new, as the last of its line were."""
        if len(entries) < _LARGE and len(self._known) < _MANY:
            return False
        at = entries[-1].frames if entries else ()
        self._news[at] = self._news[at] + 1 if signed[0] not in self._known else 0
        return self._news[at] > _ALL_NEW and self._news[at] % ONE_IN != 0

    def built(self, loss: Any, entries: Sequence[Entry], parameters: dict[str, Any], names: dict[int, str],
              signed: Signature, *, is_exact: bool = False) -> Built:
        """The graph of a loss, by the entries that it is made of, and their signature. is_exact: what torch gave ops
        that have no slope somewhere is fed, as a rounding of ours would miss the point."""
        values = {name: array_of(p) for name, p in parameters.items()}
        is_new = not values.keys() <= self._steps.variables.keys()
        filled = {storage_of(t): e.frames for e in self._recorder.entries for t in e.written} if is_new else {}
        for name, value in values.items():  # a new one is made where it was filled last, as by nn.init
            p = parameters[name]
            self._steps.variable(name, value, trainable=p.requires_grad, frames=filled.get(
                storage_of(p)) or self._habits.made.get(id(p), ()))
        known = self._found(loss, entries, parameters, names, signed)
        feeds = {node: self._value(entries, signed[1], spot) for node, spot in known.given}
        if is_exact:
            feeds.update({node: array_of(entries[number].made[i]) for node, number, i in known.steep})
        return Built(known.loss, values, feeds, known.edits, self._aged(parameters))

    def _aged(self, parameters: dict[str, Any]) -> dict[str, int]:
        """The ages of the parameters of modules: others are made anew by steps."""
        for name, p in parameters.items():
            held, age = self._held.get(name, (None, -1))
            if isinstance(p, torch.nn.Parameter) and (held is None or held() is not p):
                self._held[name] = weakref.ref(p), age + 1
        return {name: age for name in parameters if (age := self._held.get(name, (None, 0))[1])}

    def _found(self, loss: Any, entries: Sequence[Entry], parameters: dict[str, Any], names: dict[int, str],
               signed: Signature) -> _Known:
        """The graph of such a step. Numbers of Python's that have changed from one step to the next are fed too."""
        key, numbers = signed
        known = self._known.get(key)
        if known is not None and known.numbers == numbers:
            return known
        if known is not None and known.numbers:
            free = known.free | {i for i, (a, b) in enumerate(zip(known.numbers, numbers))
                                 if a != b and (a == a or b == b)}
            if free == known.free:
                return known
            with contextlib.suppress(TypeError, ValueError, NotImplementedError):  # a rule that must know the number
                self._known[key] = self._new(loss, entries, parameters, names, numbers, frozenset(free))
                return self._known[key]
        self._known[key] = self._new(loss, entries, parameters, names, numbers, frozenset())
        return self._known[key]

    def _value(self, entries: Sequence[Entry], numbers: tuple[float, ...], spot: Spot) -> np.ndarray:
        """What a record holds at a spot."""
        if spot[0] < 0:
            return np.array(numbers[spot[1]], np.float32)
        entry = entries[spot[0]]
        if spot[2]:
            return array_of(entry.drawn[spot[1]])
        return array_of(self._recorder.value_of(entry.given[spot[1]]))

    def _new(self, loss: Any, entries: Sequence[Entry], parameters: dict[str, Any], names: dict[int, str],
             numbers: tuple[float, ...], free: frozenset[int]) -> _Known:
        """free: which of the numbers are fed."""
        graph, given = self._steps.graph, list[tuple[Tensor, Spot]]()
        spots = _spots(entries)
        last = functools.cache(self._last_of_lines)

        def leaf(tensor: Any, value: Callable[[], np.ndarray], entry: Entry | None) -> Any:
            """What the step was given: fed, under the name that the script has for it."""
            array = value()
            spot = spots.get((id(entry), id(tensor)) if entry is not None else id(tensor))
            if spot is None:  # only the backward of a Function has it
                return tf.constant(array)
            drawn = name_of(entry.op)[0].strip("_") if entry is not None else ""
            name = names.get(id(tensor)) or drawn or names.get(storage_of(tensor)) or _given_to(tensor, last())
            node = tf.placeholder(DTYPES[tensor.dtype], list(array.shape), name=legal_name(name))
            given.append((node, spot))
            if drawn:
                graph.extras.setdefault("drawn", set()).add(node.op)
            return node

        with graph.as_default():
            builder = TorchGraph(graph, self._recorder, leaf)
            builder.makers = self._habits.made_at
            builder.numbers = Numbers([_fed(i, given) if i in free else value for i, value in enumerate(numbers)])
            for name, parameter in parameters.items():
                builder.give(parameter, self._steps.variables[name].read_value())
            builder.add(entries)
            with made_at(graph, entries[-1].frames if entries else ()):
                node = tf.identity(builder.of(loss), name=legal_name(names.get(id(loss), "loss")))
        return _Known(node, given, _steep(entries, builder.results), builder.edits, numbers, free)

    def _last_of_lines(self) -> dict[Site, Entry]:
        """The last op of each line."""
        return {site: e for e in self._recorder.entries for site in resolve(e.frames[:1])}


def _steep(entries: Sequence[Entry], nodes: dict[int, Any]) -> list[tuple[Tensor, int, int]]:
    """The results that are given to ops which have no slope somewhere, but what is written to later."""
    written = {storage_of(t) for e in entries for t in e.written}
    return [(nodes[id(t)], number, i) for number, e in enumerate(entries) for i, t in enumerate(e.made)
            if id(t) in nodes and storage_of(t) not in written and t.is_floating_point() and any(
                c.type in _STEEP for c in nodes[id(t)].consumers())]


def _fed(place: int, given: list[tuple[Tensor, Spot]]) -> Tensor:
    """A placeholder for one of a record's numbers."""
    node = tf.placeholder(tf.float32, [], name="number")
    given.append((node, (-1, place, False)))
    return node


def _given_to(tensor: Any, last: dict[Site, Entry]) -> str:
    """The name that a line gives what its last op made, as `hot` in `hot = table[i]`; else "data"."""
    names = [assigned_on(site.file, site.line) for site, e in last.items() if any(t is tensor for t in e.made)]
    return names[-1][0] if names and len(names[-1]) == 1 else "data"


def _spots(entries: Sequence[Entry]) -> dict[Any, Spot]:
    """Where a record first has each tensor, by its identity; what was drawn by that of the entry too."""
    found: dict[Any, Spot] = {}
    for number, entry in enumerate(entries):
        for i, tensor in enumerate(entry.given):
            found.setdefault(id(tensor), (number, i, False))
        for i, tensor in enumerate(entry.made if entry.drawn is not None else ()):
            found[id(entry), id(tensor)] = (number, i, True)
    return found


def _with_calls(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries, and those that functions with their own backward are made of."""
    for entry in entries:
        yield entry
        if isinstance(entry.op, Call):
            yield from _with_calls([*entry.op.body, *entry.op.entries])


def signature(entries: Sequence[Entry], parameters: dict[str, Any], loss: Any) -> Signature:
    """What tells a step's graph from others: ops, shapes, lines, and which tensor goes where; and its numbers."""
    places: dict[int, Any] = {id(p): f"parameter {name}" for name, p in parameters.items()}

    def described(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            found = places.get(id(value))
            if found is None:
                found = places[id(value)] = "given", len(places), value.dtype, value.shape
            return found
        if isinstance(value, (list, tuple)):
            return tuple([described(v) for v in value])
        if isinstance(value, dict):
            return tuple([(k, described(v)) for k, v in value.items()])
        return "number" if isinstance(value, float) else repr(value)

    parts = []
    for number, entry in enumerate(_with_calls(entries)):
        name = entry.op.name() if isinstance(entry.op, Call) else str(entry.op)
        taken = described(entry.args), described(entry.kwargs)
        for i, tensor in enumerate(entry.made):
            places.setdefault(id(tensor), ("made", number, i))
        shapes = tuple([(t.shape, t.requires_grad) for t in entry.made])
        parts.append((name, taken, shapes, entry.frames, entry.has_grad))
    trained = tuple(sorted((name, p.requires_grad) for name, p in parameters.items()))
    return (tuple(parts), described(loss), trained), tuple(numbers_in(entries))
