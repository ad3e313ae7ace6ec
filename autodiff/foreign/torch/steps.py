"""Recorded steps as graphs: steps that did the same, on the same lines, are the same graph with other values."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ...core.graph import Tensor
from ..model import legal_name, tf
from ..steps import ForeignSteps, made_at
from .graph import DTYPES, TorchGraph, array_of, name_of
from .habits import Habits
from .record import Call, Entry, Recorder, tensors_in


@dataclass
class Built:
    """A step's graph, with the values of this step. edits: what changed in place, unseen by autograd."""

    loss: Tensor
    values: dict[str, np.ndarray]
    feeds: dict[Tensor, np.ndarray]
    edits: list[Entry]


Spot = tuple[int, int, bool]  # number of an entry; which tensor of its arguments, or (True) of what it drew


@dataclass
class _Known:
    """A graph that was built. given: its placeholders, each with the spot of a record that holds its value."""

    loss: Tensor
    given: list[tuple[Tensor, Spot]]
    edits: list[Entry]


class Builder:
    """Builds steps in the graph of `steps`. habits: knows where parameters and modules were made."""

    def __init__(self, steps: ForeignSteps, recorder: Recorder, habits: Habits) -> None:
        self._steps, self._recorder, self._habits = steps, recorder, habits
        self._known: dict[Any, _Known] = {}

    def built(self, loss: Any, entries: Sequence[Entry], parameters: dict[str, Any], names: dict[int, str]) -> Built:
        """The graph of a loss, by the entries that it is made of."""
        values = {name: array_of(p) for name, p in parameters.items()}
        for name, value in values.items():
            self._steps.variable(name, value, trainable=parameters[name].requires_grad,
                                 frames=self._habits.made.get(id(parameters[name]), ()))
        key = _signature(entries, parameters, loss)
        if key not in self._known:
            self._known[key] = self._new(loss, entries, parameters, names)
        known = self._known[key]
        return Built(known.loss, values, {node: self._value(entries, spot) for node, spot in known.given},
                     known.edits)

    def _value(self, entries: Sequence[Entry], spot: Spot) -> np.ndarray:
        """What a record holds at a spot."""
        entry = entries[spot[0]]
        if spot[2]:
            return array_of(entry.drawn[spot[1]])
        return array_of(self._recorder.value_of(list(tensors_in((entry.args, entry.kwargs)))[spot[1]]))

    def _new(self, loss: Any, entries: Sequence[Entry], parameters: dict[str, Any], names: dict[int, str]) -> _Known:
        graph, given = self._steps.graph, list[tuple[Tensor, Spot]]()
        spots = _spots(entries)

        def leaf(tensor: Any, value: Callable[[], np.ndarray], entry: Entry | None) -> Any:
            """What the step was given: fed, under the name that the script has for it."""
            array = value()
            spot = spots.get((id(entry), id(tensor)) if entry is not None else id(tensor))
            if spot is None:  # only the backward of a Function has it
                return tf.constant(array)
            name = names.get(id(tensor), name_of(entry.op)[0].strip("_") if entry is not None else "data")
            node = tf.placeholder(DTYPES[tensor.dtype], list(array.shape), name=legal_name(name))
            given.append((node, spot))
            return node

        with graph.as_default():
            builder = TorchGraph(graph, self._recorder, leaf)
            builder.makers = self._habits.made_at
            for name, parameter in parameters.items():
                builder.give(parameter, self._steps.variables[name].read_value())
            builder.add(entries)
            with made_at(graph, entries[-1].frames if entries else ()):
                node = tf.identity(builder.of(loss), name=legal_name(names.get(id(loss), "loss")))
        return _Known(node, given, builder.edits)


def _spots(entries: Sequence[Entry]) -> dict[Any, Spot]:
    """Where a record first has each tensor, by its identity; what was drawn by that of the entry too."""
    found: dict[Any, Spot] = {}
    for number, entry in enumerate(entries):
        for i, tensor in enumerate(tensors_in((entry.args, entry.kwargs))):
            found.setdefault(id(tensor), (number, i, False))
        for i, tensor in enumerate(tensors_in(entry.result) if entry.drawn is not None else ()):
            found[id(entry), id(tensor)] = (number, i, True)
    return found


def _signature(entries: Sequence[Entry], parameters: dict[str, Any], loss: Any) -> Any:
    """What tells a step's graph from others: ops, numbers, shapes, lines, and which tensor goes where."""
    places = {id(p): f"parameter {name}" for name, p in parameters.items()}

    def described(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return places.setdefault(id(value), f"given {len(places)} {value.dtype} {tuple(value.shape)}")
        if isinstance(value, (list, tuple)):
            return tuple(described(v) for v in value)
        if isinstance(value, dict):
            return tuple((k, described(v)) for k, v in value.items())
        return repr(value)

    parts = []
    for number, entry in enumerate(entries):
        name = entry.op.name() if isinstance(entry.op, Call) else str(entry.op)
        taken = described((entry.args, entry.kwargs))
        for i, tensor in enumerate(tensors_in(entry.result)):
            places.setdefault(id(tensor), f"made {number} {i}")
        shapes = tuple((tuple(t.shape), t.requires_grad) for t in tensors_in(entry.result))
        parts.append((name, taken, shapes, entry.frames, entry.has_grad))
    trained = tuple(sorted((name, p.requires_grad) for name, p in parameters.items()))
    return tuple(parts), described(loss), trained
