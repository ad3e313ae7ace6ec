"""A record of ATen ops as a graph of ours. A tensor that torch does not differentiate is behind a stop_gradient."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from ...core.graph import Graph
from ...core.site import Known, resolve
from ...debug.analysis.advice import advice_of
from ..model import legal_name, tf
from .aten import aten
from .aten.common import row_of, with_gradient
from .aten.types import as_type
from .functions import left_out, lines_of
from .memory import Memory
from .record import Call, Choice, Entry, Recorder, is_leaf, is_source, storage_of, tensors_in, traits_of
from .sizes import Numbers, Sizes
from .uncut import told_unrecorded

DTYPES = {torch.float16: tf.float16, torch.bfloat16: tf.float32, torch.float32: tf.float32, torch.float64: tf.float64,
          torch.int8: tf.int8, torch.int16: tf.int16, torch.int32: tf.int32, torch.int64: tf.int64,
          torch.uint8: tf.uint8, torch.bool: tf.bool, torch.complex64: tf.complex64, torch.complex128: tf.complex128}
DROPPED = (torch.device, torch.layout, torch.memory_format, torch.Generator)


def sliced(entries: Sequence[Entry], wanted: Iterable[Any]) -> list[Entry]:
    """The entries that what is wanted is made of, in order."""
    made, written = set[int](), set[int]()
    for entry in entries:
        made.update(map(id, entry.made))
        if not isinstance(entry.op, (Call, Choice)):
            written.update(storage_of(t) for t in entry.written)
    ids, storages = set[int](), set[int]()

    def want(tensor: Any) -> None:
        if is_source(tensor):  # what led to its numbers is no part of this
            return
        ids.add(id(tensor))
        if id(tensor) not in made or storage_of(tensor) in written:
            storages.add(storage_of(tensor))

    for tensor in wanted:
        want(tensor)
    kept = []
    for entry in reversed(entries):
        results = entry.made
        if any(id(t) in ids for t in results) or storages and any(
                storage_of(t) in storages for t in (*results, *entry.written)):
            kept.append(entry)
            for tensor in entry.given:
                want(tensor)
            if isinstance(entry.op, Choice):
                for _, outputs in entry.op.branches:
                    for tensor in outputs:
                        want(tensor)
            for inner in entry.op.body if isinstance(entry.op, (Call, Choice)) else ():
                for tensor in inner.given:
                    want(tensor)
    return kept[::-1]


def numbers_in(entries: Sequence[Entry]) -> list[float]:
    """The numbers of Python's that a record's ops were given, in the order in which ops are added."""
    def found(value: Any) -> Iterator[float]:
        if isinstance(value, float):
            yield value
        elif isinstance(value, (list, tuple)):
            for part in value:
                yield from found(part)
        elif isinstance(value, dict):
            yield from found(list(value.values()))
    return [number for entry in entries if entry.drawn is None for number in (
        numbers_in([*sliced(entry.op.body, entry.made), *_backward_of(entry.op)]) if isinstance(entry.op, Call)
        else found((entry.args, entry.kwargs)))]


def _backward_of(call: Call) -> list[Entry]:
    return sliced(call.entries, [s for s in call.slopes if isinstance(s, torch.Tensor)])


class TorchGraph:
    """Adds records to a graph. leaf(tensor, value, entry): what stands for a tensor that no recorded op made.

    value: gives its array. entry: the random op that drew it, or None. edits: entries that changed in place, unseen by
    autograd, what is differentiated.
    """

    def __init__(self, graph: Graph, recorder: Recorder, leaf: Callable[..., Any], sizes: Sizes | None = None,
                 memory: Memory | None = None) -> None:
        self.graph, self._recorder, self._leaf = graph, recorder, leaf
        self._sizes = sizes or Sizes()
        self.memory = memory or Memory(lambda tensor: leaf(tensor, lambda: array_of(recorder.value_of(tensor)), None))
        self.edits: list[Entry] = []
        self.results: dict[int, Any] = {}  # what stands for what an op gave, by its identity
        self.hides_edits = False  # whether they have the gradient that torch gives them, as if nothing had changed
        self.numbers: Numbers | None = None  # what stands for Python's numbers
        self.makers: Callable[[Any], str] = lambda module: ""  # where a module was made, as ` made at file.py:12`

    def give(self, tensor: Any, node: Any) -> None:
        """Let `node` stand for a tensor."""
        self.memory.give(tensor, node)

    def of(self, tensor: Any) -> Any:
        """What stands for a tensor now."""
        return self.memory.of(tensor)

    def add(self, entries: Sequence[Entry]) -> None:
        """Add entries in order. Raises MissingOpError for ops that there are no rules for."""
        for entry in entries:
            saved = self.graph.made_from
            if entry.frames:
                self.graph.made_from = Known(sys._getframe(), entry.frames)
            try:
                self._add(entry)
            finally:
                self.graph.made_from = saved
            if entry.module is not None or not entry.has_grad:
                self._note_maker(entry)

    def _note_maker(self, entry: Entry) -> None:
        """Say of the op that gives an entry's result which module it is of, if that is one of torch's own, and what
        keeps a gradient from it."""
        tensor = next(iter(entry.made), None)
        of = self.makers(entry.module) if type(entry.module).__module__.startswith("torch.nn") else ""
        if tensor is None or not of and entry.has_grad:
            return
        node, made = self.of(tensor), f"{type(entry.module).__name__}{of}" if of else ""
        if node.op.type == "StopGradient" and (under := told_unrecorded(tuple(resolve(entry.frames)))):
            made = f"{made}, {under}" if made else f"what is computed {under}"
        if made:
            advice_of(self.graph).makers.setdefault(node.op.name, made)

    def _add(self, entry: Entry) -> None:
        if isinstance(entry.op, Call):
            self._call(entry)
            return
        if isinstance(entry.op, Choice):
            self._choice(entry)
            return
        traits = traits_of(entry.op)
        if traits.is_random:
            saved, self.numbers = self.numbers, None
            self._drawn(entry, traits)
            self.numbers = saved
            return
        packet, overload = name_of(entry.op)
        if traits.in_place and self._is_edit(entry):
            self.edits.append(entry)
            for tensor in entry.written:
                self.give(tensor, self.memory.stored(tensor))
        if packet == "detach" and entry.result.requires_grad and not entry.args[0].requires_grad:
            self.give(entry.result, self.memory.stored(entry.result))  # autograd takes out again what it has saved
            return
        args, kwargs = self._translated(entry.args), self._translated(entry.kwargs)
        row = row_of(packet, overload)
        if row is None:
            self._decomposed(entry)
            return
        kwargs.pop("out", None)
        given = entry.given
        if not given and isinstance(entry.result, torch.Tensor) and "dtype" in aten.ops[row].arguments:
            kwargs["dtype"] = DTYPES[entry.result.dtype]  # what is made from nothing has torch's default
        if getattr(entry.result, "dtype", None) is torch.float64 and not any(
                t.is_floating_point() or t.is_complex() for t in given):  # of integers, by torch's default too
            args = [as_type(a, tf.float64) if isinstance(a, tf.Tensor) else a for a in args]
        found = aten.build(row, args, kwargs)
        self._take(entry, found, traits.in_place)

    def _take(self, entry: Entry, found: Sequence[Any], writes: bool) -> None:
        """Let what a rule gave stand for what the op gave."""
        name = name_of(entry.op)[0]
        if writes:
            for tensor, node in zip(entry.written, found):
                node = as_type(node, DTYPES[tensor.dtype])
                if not self._is_edit(entry):
                    node = self._checked(entry, tensor, node, name)
                elif self.hides_edits:
                    node = with_gradient(node, [self.of(tensor)], lambda dy: [dy])
                self.memory.write(tensor, node)
            return
        for tensor, node in zip(entry.made, found):
            if hasattr(node, "dtype"):
                node = self.results[id(tensor)] = self._checked(entry, tensor, node, name)
            self.give(tensor, node)

    def _checked(self, entry: Entry, tensor: Any, node: Any, name: str) -> Any:
        """A node with the type that torch's result has; no gradient flows where the program has cut it."""
        node = as_type(node, DTYPES[tensor.dtype])
        is_cut = (not entry.has_grad or name == "detach") and (not tensor.requires_grad or is_leaf(tensor))
        if is_cut and (tensor.is_floating_point() or tensor.is_complex()) and any(t.requires_grad for t in entry.given):
            return tf.stop_gradient(node, name="detach" if entry.has_grad else "no_grad")
        return node

    def _is_edit(self, entry: Entry) -> bool:
        """Whether an op changes in place what autograd goes on to differentiate as if it had not been changed."""
        return any(self.memory.flows(t) and not (entry.has_grad and t.requires_grad) for t in entry.written)

    def _drawn(self, entry: Entry, traits: Any) -> None:
        """What a random op drew is as given as what the program was fed with."""
        for i, tensor in enumerate(entry.made):
            drawn = entry.drawn[i]
            node = self._leaf(tensor, lambda drawn=drawn: array_of(drawn), entry)
            if traits.in_place:
                self.memory.write(tensor, node)
            else:
                self.give(tensor, node)
        packet = name_of(entry.op)[0]
        if packet == "native_dropout":
            x, p = self._translated(entry.args)[:2]
            results = entry.made
            self.give(results[0], aten.build("native_dropout.kept", (x, self.of(results[1]), p), {})[0])
        elif packet in ("rrelu_with_noise", "rrelu_with_noise_"):
            args = self._translated(entry.args)
            self.give(entry.result, aten.build("rrelu_with_noise", args[:5], {})[0])

    def _decomposed(self, entry: Entry) -> None:
        """An op without a rule: what torch itself would make it of."""
        from .decompose import decomposed

        inner, result = decomposed(entry)
        given = zip(tensors_in((inner.args, inner.kwargs)), entry.given)
        part = TorchGraph(self.graph, self._recorder, self._leaf, self._sizes)
        for own, outer in given:
            part.give(own, self.of(outer))
        part.add(inner.entries)
        self._take(entry, [part.of(t) for t in tensors_in(result)], traits_of(entry.op).in_place)

    def _translated(self, value: Any) -> Any:
        """Arguments of torch's as ours."""
        if isinstance(value, torch.Tensor):
            return self.of(value)
        if isinstance(value, (list, tuple)):
            return [self._translated(v) for v in value]
        if isinstance(value, dict):
            return {k: self._translated(v) for k, v in value.items()}
        if isinstance(value, float) and self.numbers is not None:
            return self.numbers.next()
        if isinstance(value, torch.dtype):
            return DTYPES[value]
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self._sizes.of(value)
        return None if isinstance(value, DROPPED) else value

    def _choice(self, entry: Entry) -> None:
        """A torch.cond, as an If."""
        def branch(entries: Sequence[Entry], outputs: Sequence[Any]) -> Callable[[], list[Any]]:
            def build() -> list[Any]:
                part = self._part()
                part.add(sliced(entries, outputs))
                return [tf.identity(part.of(t)) for t in outputs]
            return build

        pred = tf.reshape(as_type(self.of(entry.args[0]), tf.bool), [])
        found = tf.cond(pred, *(branch(*each) for each in entry.op.branches))
        for tensor, node in zip(entry.made, found if isinstance(found, (list, tuple)) else [found]):
            self.memory.replace(tensor, node)

    def _part(self) -> "TorchGraph":
        """What goes on from here on its own."""
        part = TorchGraph(self.graph, self._recorder, self._leaf, self._sizes, self.memory.copy())
        part.hides_edits = self.hides_edits
        return part

    def _call(self, entry: Entry) -> None:
        """A function with its own backward: what its forward gives, behind a gradient that its backward makes."""
        call, part = entry.op, self._part()
        part.numbers = self.numbers
        at = [i for i, t in enumerate(entry.args) if isinstance(t, torch.Tensor)]
        outputs = entry.made
        results = [t for t in outputs if t.requires_grad]

        def function(*inputs: Any) -> Any:
            for i, node in zip(at, inputs):
                part.memory.replace(entry.args[i], node)
            for i, node in zip(at, inputs):  # each stands, though several may be parts of one memory
                part.memory.give(entry.args[i], node)
            part.add(sliced(call.body, outputs))
            later = self.numbers and self.numbers.copy()

            def grad(*dys: Any) -> list[Any]:
                given = dict(zip(map(id, results), dys))
                return part.slopes(call, later, [given.get(id(t)) for t in outputs], at)
            return [part.of(t) for t in results], grad

        with self.graph.name_scope(legal_name(call.name())):
            found = tf.custom_gradient(function)(*[self.of(entry.args[i]) for i in at])
        if self.numbers is not None:
            self.numbers.skip(len(numbers_in(_backward_of(call))))
        for tensor, node in zip(results, found):
            self.memory.replace(tensor, node)
        for tensor in outputs:
            if not tensor.requires_grad:
                self.memory.replace(tensor, tf.stop_gradient(part.of(tensor)))
        advice = advice_of(self.graph)
        advice.lines[found[0].op.name] = lines_of(call.backward(), f"backward of {call.name()}")
        if (fault := left_out(entry, _backward_of(call))) is not None:
            advice.rules[found[0].op.name] = fault

    def slopes(self, call: Call, numbers: Numbers | None, dys: Sequence[Any], at: Sequence[int]) -> list[Any]:
        """What a function's backward makes of the gradients of its results, for each tensor it was given."""
        part = self._part()
        part.numbers = numbers and numbers.copy()
        for tensor, node in zip(call.dys, dys):
            if isinstance(tensor, torch.Tensor) and node is not None:
                part.memory.replace(tensor, node)
        part.add(_backward_of(call))
        slopes = [call.slopes[i] if i < len(call.slopes) else None for i in at]
        return [None if s is None else part.of(s) for s in slopes]


def name_of(op: Any) -> tuple[str, str]:
    """`add`, `Tensor` of aten::add.Tensor; without what stands for "in place"."""
    packet, _, overload = op.name().partition("::")[2].partition(".")
    return packet, overload or "default"


def packet_of(entry: Entry) -> str:
    """The first of these for what was done; "" for a Call or Choice, which is no op."""
    return "" if isinstance(entry.op, (Call, Choice)) else name_of(entry.op)[0]


def array_of(tensor: Any) -> np.ndarray:
    """A copy of the values of a tensor."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.is_sparse or tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.float()
    return np.array(tensor.cpu().numpy())
