"""What eager values were computed from, as operations of a graph: built once for each structure, fed for each step."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ...core.op import OPS, Index
from ...runtime.eager import EagerTensor
from ..model import legal_name, tf
from ..steps import ForeignSteps

_READS = "ReadVariableOp"


@dataclass(frozen=True)
class Trace:
    """Eager values in a graph. stands_for: id of an eager tensor -> its tensor. feeds, values: of this step."""

    stands_for: Mapping[int, Tensor]
    feeds: Mapping[Tensor, np.ndarray]
    values: Mapping[str, np.ndarray]


def operations_behind(tensors: Iterable[Any], known: Collection[int]) -> list[Operation]:
    """Every recorded operation that these come from, in the order that they ran. known: ids not to look behind."""
    found: dict[int, Operation] = {}
    stack: list[Any] = list(tensors)
    while stack:
        tensor = stack.pop()
        op = None if tensor.id in known else tensor.op
        if op is not None and id(op) not in found:
            found[id(op)] = op
            stack.extend(t for t in op.inputs if isinstance(t, EagerTensor))
    return sorted(found.values(), key=_ran_at)


def _ran_at(op: Any) -> int:
    """When an operation ran, among others."""
    return min((t.id for t in op.outputs), default=0)


class Tracer:
    """Reads eager values into the graph of `steps`. names: the script's names of eager tensors and variables, by id.

    What a value starts from is fed, so that the next step of the same structure finds its graph; unless it is fed, it
    has the value of the first. A variable has a Variable for each value that was read of it.
    """

    def __init__(self, steps: ForeignSteps) -> None:
        self.steps = steps
        self._known: dict[Any, list[Tensor]] = {}

    def trace(self, roots: Sequence[EagerTensor], names: Mapping[int, str],
              known: Mapping[int, Tensor] | None = None) -> Trace:
        """The tensors that stand for `roots` and for all that they come from. known: of values that have theirs."""
        walk = _Walk(self.steps, names)
        for number, tensor in (known or {}).items():
            walk.adopt(number, tensor)
        for op in operations_behind(roots, walk.places):
            walk.plan(op)
        for root in roots:
            walk.place_of(root, None)
        key = tuple(walk.keys)
        if key not in self._known:
            with self.steps.graph.as_default():
                self._known[key] = walk.build()
        built = self._known[key]
        stands_for = {number: built[place] for number, place in walk.places.items()}
        stands_for.update({number: built[place].op.inputs[0] for number, place in walk.handles.items()})
        return Trace(stands_for, {built[place]: value for place, value in walk.fed.items()}, walk.values)


class _Walk:
    """One trace under way: each value has a place that says how it is made, so that equal traces are seen to be."""

    def __init__(self, steps: ForeignSteps, names: Mapping[int, str]) -> None:
        self.steps, self.names = steps, names
        self.keys: list[Any] = []  # how each op is made, in order: equal keys make equal graphs
        self.places: dict[int, int] = {}  # id of an eager tensor -> its place among the values
        self.handles: dict[int, int] = {}  # id of a variable's handle -> the place of its last read
        self.fed: dict[int, np.ndarray] = {}
        self.values: dict[str, np.ndarray] = {}  # of variables, by name
        self._makers: list[Any] = []
        self._reads: dict[str, np.ndarray] = {}
        self._count = 0

    def adopt(self, number: int, tensor: Tensor) -> None:
        """Note that a tensor stands for an eager one already."""
        self.places[number] = self._count
        self._count += 1
        self.keys.append(("known", tensor.name))
        self._makers.append(lambda built: [tensor])

    def plan(self, op: Operation) -> None:
        """Note how the outputs of an operation are made."""
        if op.type == _READS:
            self._plan_read(op)
        elif op.definition.stateful or op.type == "Const" or any(not isinstance(t, EagerTensor) for t in op.inputs):
            return  # drawn, read, made of Python: its values are where others start
        else:
            inputs = [self.place_of(t, _kind(op, i)) for i, t in enumerate(op.inputs)]
            self._add(op.outputs, ("op", op.type, _frozen(op.attrs), tuple(inputs), op._frames),
                      lambda built: _again(op, [built[i] for i in inputs]))

    def place_of(self, tensor: Any, kind: Any) -> int:
        """The place of a value that an operation takes; one that nothing recorded made is placed here."""
        if tensor.id not in self.places:
            self._plan_start(tensor, kind)
        return self.places[tensor.id]

    def _plan_start(self, tensor: Any, kind: Any) -> None:
        array = np.asarray(tensor.array)
        is_fixed = kind is Index or array.dtype.kind in "OSU"
        name = legal_name(self.names.get(tensor.id, "constant" if is_fixed else "value"))
        frames = tensor.op._frames if tensor.op is not None else ()
        if is_fixed:
            self._add([tensor], ("const", array.tobytes(), array.dtype.str, array.shape, name, frames),
                      lambda built: _framed([tf.constant(array, name=name)], frames))
        else:
            self.fed[self._count] = array
            self._add([tensor], ("fed", array.dtype.str, array.shape, name, frames),
                      lambda built: _framed([tf.placeholder_with_default(array, array.shape, name=name)], frames))

    def _plan_read(self, op: Operation) -> None:
        """A read of a variable: by its name, with a number where other values of it were read in this trace."""
        cell, array = op.inputs[0].array, np.asarray(op.outputs[0].array)  # type: ignore[attr-defined]
        name, turn = cell.name.split(":")[0], 0
        while (label := name if not turn else f"{name}_{turn}") in self._reads and not np.array_equal(
                self._reads[label], array, equal_nan=array.dtype.kind in "fc"):
            turn += 1
        self._reads[label] = self.values[label] = array
        self._add(op.outputs, ("read", label, array.shape, array.dtype.str),
                  lambda built: [self.steps.variable(label, array, trainable=array.dtype.kind in "fc").as_tensor()])
        self.handles[op.inputs[0].id] = self._count - 1  # type: ignore[attr-defined]

    def _add(self, outputs: Sequence[Any], key: Any, maker: Any) -> None:
        for output in outputs:
            self.places[output.id] = self._count
            self._count += 1
        self.keys.append(key)
        self._makers.append(maker)

    def build(self) -> list[Tensor]:
        """The tensors of all places."""
        built: list[Tensor] = []
        for maker in self._makers:
            built.extend(maker(built))
        return built


def _kind(op: Operation, index: int) -> Any:
    parameters = op.definition.parameters
    return parameters[min(index, len(parameters) - 1)].kind


def _again(op: Operation, inputs: list[Tensor]) -> Sequence[Tensor]:
    """An operation that ran eagerly, in the graph, at the line of the user."""
    made = OPS[op.type](*inputs, name=op.name.split("/")[-1] or None, **op.attrs)
    outputs = made.op.outputs if isinstance(made, Tensor) else made[0].op.outputs
    outputs[0].op.override = op.override
    return _framed(outputs, op._frames)


def _framed(tensors: Sequence[Tensor], frames: Any) -> Sequence[Tensor]:
    for tensor in tensors:
        if frames:
            tensor.op._frames = frames
    return tensors


def _frozen(value: Any) -> Any:
    """Something hashable that stands for attributes."""
    if isinstance(value, Mapping):
        return tuple((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    if isinstance(value, np.ndarray):
        return value.tobytes(), value.dtype.str, value.shape
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
