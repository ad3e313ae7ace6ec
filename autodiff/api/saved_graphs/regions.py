"""Old control flow as functions: a region of a GraphDef becomes a graph, and a loop or branch in it an operation."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core.dtypes import int32
from ...core.errors import ArgumentError
from ...core.function_graph import FunctionGraph, finish
from ...core.graph import Graph, Operation, Tensor
from ...core.op import build
from ...core.shapes import Dims, agreeing
from ...gradients.control_flow import call_if, call_while
from . import layout
from .layout import Context, Layout, Loop, Side

MakeNode = Callable[[Any, list[Tensor]], Sequence[Tensor] | Operation]


class Region:
    """The part of a GraphDef that becomes one graph: the whole, a side of a branch, a loop's condition or body.

    known: tensors by name. made: operations by the name of the node. make_node: adds the operation of a plain node.
    mapped: tensors that are read in place of the GraphDef's own.
    """

    def __init__(self, layout: Layout, graph: Graph, make_node: MakeNode, context: Context = (),
                 parent: "Region | None" = None, known: dict[str, Tensor] | None = None,
                 mapped: dict[str, Tensor] | None = None) -> None:
        self.layout, self.graph, self.context, self.parent = layout, graph, context, parent
        self.known: dict[str, Tensor] = dict(known or {})
        self.made: dict[str, Operation] = {}
        self._mapped: dict[str, Tensor] = mapped or {}
        self._make_node = make_node

    def tensor(self, text: str, reader: str = "") -> Tensor:
        """The tensor of a name, here or further out; it is made if it is not there yet."""
        name = layout.full_name(text)
        if name in self._mapped:
            return self._mapped[name]
        region: Region | None = self
        while region is not None:
            if name in region.known:
                return region.known[name]
            region = region.parent
        node = self.layout.nodes[layout.split_name(name)[0]]
        owner = self._owner(self.layout.output_context(name))
        if node.op in layout.SWITCHES and not self.layout.is_loop_switch(node):
            return self.tensor(node.input[0])  # what a side of a branch reads is the tensor itself
        owner.make(node)
        if name not in owner.known:
            count = sum(each.rpartition(":")[0] == node.name for each in owner.known)
            raise ArgumentError(f"Node '{reader}': Connecting to invalid output {layout.split_name(name)[1]} of source "
                                f"node {node.name} which has {count} outputs")
        return owner.known[name]

    def _owner(self, context: Context) -> "Region":
        """The innermost region around this one whose context holds all of a tensor's."""
        region = self
        while region.parent is not None and region.context != context[:len(region.context)]:
            region = region.parent
        return region

    def _waits(self, node: Any) -> list[Operation]:
        """The operations that a node waits for; what only stands for being on a side, or in a loop, is left out."""
        found = []
        for text in node.input:
            name = layout.split_name(text)[0]
            if text.startswith("^") and name not in self.layout.pivots:
                owner = self._owner(self.layout.context[name])
                owner.make(self.layout.nodes[name])
                found.extend([owner.made[name]] if name in owner.made else [])
        return found

    def make(self, node: Any) -> None:
        """Add what a node stands for, unless it is there."""
        if node.name in self.made or f"{node.name}:0" in self.known:
            return
        with self.graph.as_default():
            if node.op in layout.EXITS:
                self._loop(node)
            elif node.op in layout.MERGES and any(self._sides(node)):
                self._branch(node)
            else:
                self._plain(node)

    def _plain(self, node: Any) -> None:
        if node.op in layout.ENTERS and self.parent is not None:  # what does not change from one iteration to the next
            self._name(node, [self.parent.tensor(node.input[0])])
            return
        inputs = [self.tensor(text, node.name) for text in layout.data_inputs(node)]
        with self.graph.control_dependencies(self._waits(node)), (
                self.graph.device(node.device) if node.device else contextlib.nullcontext()):
            if node.op in layout.HANDED_ON | layout.SWITCHES:
                self._name(node, [build.Identity(inputs[0])])
                return
            made = self._make_node(node, inputs)
        self._name(node, made.outputs if isinstance(made, Operation) else made)
        if isinstance(made, Operation):
            self.made[node.name] = made

    def _name(self, node: Any, outputs: Sequence[Tensor]) -> None:
        self.known.update({f"{node.name}:{i}": tensor for i, tensor in enumerate(outputs)})
        if outputs:
            self.made[node.name] = outputs[0].op

    def fill(self, texts: Iterable[str]) -> None:
        """Make all nodes of this region that some tensors need, in order: no call within a call for each node."""
        depth, seen = len(self.context), set()
        waiting = [layout.split_name(text)[0] for text in texts]
        while waiting:
            name = waiting.pop()
            if name in seen or f"{name}:0" in self.known or self.layout.context[name][:depth] != self.context:
                continue
            seen.add(name)
            before = [layout.split_name(text)[0] for text in self.layout.nodes[name].input]
            waiting.extend(each for each in before if each in self.layout.nodes)
        here = [name for name in seen if self.layout.context[name] == self.context]
        for name in sorted(here, key=self.layout.order.__getitem__):
            node = self.layout.nodes[name]
            if name not in self.layout.pivots:
                self.make(node)

    def _inside(self, entry: Loop | Side, known: dict[str, Tensor], graph: FunctionGraph) -> "Region":
        return Region(self.layout, graph, self._make_node, (*self.context, entry), self, known, self._mapped)

    def _branch(self, merge: Any) -> None:
        """An If for all Merges of one `cond`, then each of them as an Identity under its name."""
        sides = self._sides(merge)
        predicate = next(side for side in sides if side is not None).predicate
        scope = merge.name.rpartition("/")[0]
        together = [node for node in self.layout.branch_ends[self.context, scope]
                    if any(side is not None and side.predicate == predicate for side in self._sides(node))]
        pred = self.tensor(predicate)
        functions = []
        for holds in (True, False):
            texts = [self._input_of(node, holds) for node in together]
            graph = FunctionGraph(self.graph)
            inside = self._inside(Side(predicate, holds), {}, graph)
            with graph.as_default():
                inside.fill(texts)
                functions.append(finish(graph, [_value(inside.tensor(text)) for text in texts]))
        then_branch, else_branch = functions
        results = call_if(pred, then_branch, else_branch, name=f"{scope}/If" if scope else "If")
        for node, result in zip(together, results):
            self._name(node, [build.Identity(result, name=node.name)])
            if f"{node.name}:1" in self.layout.read_tensors:
                self.known[f"{node.name}:1"] = build.Cast(pred, dtype=int32)

    def _sides(self, merge: Any) -> list[Side | None]:
        """Of which side of the branch each input is; None where it does not say."""
        depth = len(self.context)
        found: list[Side | None] = []
        for text in layout.data_inputs(merge):
            entry = next(iter(self.layout.output_context(text)[depth:]), None)
            found.append(entry if isinstance(entry, Side) else None)
        if any(found) and len(found) != 2:
            raise ArgumentError(f"node {merge.name!r}: a Merge of {len(found)} tensors that is no end of a tf.cond")
        return found

    def _input_of(self, merge: Any, holds: bool) -> str:
        sides = self._sides(merge)
        for text, side, other in zip(layout.data_inputs(merge), sides, reversed(sides)):
            if side.holds == holds if side is not None else other is not None and other.holds != holds:
                return text
        raise ArgumentError(f"node {merge.name!r}: both inputs are of one side of a tf.cond")

    def _loop(self, leaving: Any) -> None:
        """A While for a whole loop, then each Exit as an Identity under its name."""
        loop = self._loop_of(leaving)
        inside = self.layout.inside[*self.context, loop]
        merges = [node for node in inside if node.op in layout.MERGES and self.layout.is_loop_merge(node)]
        begins = [self._source(node, layout.ENTERS).input[0] for node in merges]
        ends = [layout.full_name(self._source(node, layout.NEXTS).name) for node in merges]
        condition = next((node.name for node in inside if node.op == "LoopCond"), None)
        if condition is None:
            raise ArgumentError(f"the loop {loop.frame!r} has no LoopCond")
        outer = [node.input[0] for node in inside if node.op in layout.ENTERS]
        self.fill(outer)
        initial = [_value(self.tensor(text)) for text in begins]
        dims = [t.dims for t in initial]
        results = self._repeated(loop, merges, initial, dims, [layout.full_name(condition)], ends)
        for merge, result in zip(merges, results):
            for switch in self.layout.switches.get(f"{merge.name}:0", ()):
                for node in self.layout.exits.get(switch, ()):
                    self._name(node, [build.Identity(result, name=node.name)])

    def _loop_of(self, leaving: Any) -> Loop:
        entry = self.layout.output_context(leaving.input[0])[len(self.context)]
        assert isinstance(entry, Loop)
        return entry

    def _source(self, merge: Any, kinds: frozenset[str]) -> Any:
        for text in layout.data_inputs(merge):
            node = self.layout.nodes[layout.split_name(text)[0]]
            if node.op in kinds:
                return node
        raise ArgumentError(f"node {merge.name!r}: a Merge of a loop without its {min(kinds)}")

    def _repeated(self, loop: Loop, merges: list[Any], initial: list[Tensor], dims: list[Dims | None],
                  condition: list[str], ends: list[str]) -> list[Tensor]:
        """The While. A shape that an iteration changes is unknown where it differs, and the body is built again."""
        while True:
            cond, (more,) = self._iteration(loop, merges, initial, dims, condition)
            body, results = self._iteration(loop, merges, initial, dims, ends)
            kept = [agreeing(a, b.dims) for a, b in zip(dims, results)]
            if kept == dims:
                break
            dims = kept
        for side in (cond, body):
            side.read_anew(cond.updated | body.updated)
        return call_while(initial, finish(cond, [more], ()), finish(body, results), dims, name=f"{loop.frame}/While")

    def _iteration(self, loop: Loop, merges: list[Any], initial: list[Tensor], dims: list[Dims | None],
                   wanted: list[str]) -> tuple[FunctionGraph, list[Tensor]]:
        graph = FunctionGraph(self.graph)
        known: dict[str, Tensor] = {}
        for i, (merge, tensor, shape) in enumerate(zip(merges, initial, dims)):
            argument = graph.add_argument(tensor.dtype.base_dtype, shape, f"loop_var_{i}")
            known[f"{merge.name}:0"] = argument
            for switch in self.layout.switches.get(f"{merge.name}:0", ()):
                known.update({f"{switch}:0": argument, f"{switch}:1": argument})
        inside = self._inside(loop, known, graph)
        with graph.as_default():
            inside.fill(wanted)
            return graph, [_value(inside.tensor(text)) for text in wanted]


def _value(tensor: Tensor) -> Tensor:
    """A tensor that is no reference to a variable."""
    return build.Identity(tensor) if tensor.dtype.is_ref else tensor
