"""Where the nodes of a GraphDef stand: an order in which inputs come first, and the loops and branches they are in.

Old control flow is told from the nodes: Enter begins a loop and Exit ends it; a Switch that does not read a LoopCond
begins the two sides of a branch, which a Merge ends.
"""
from __future__ import annotations

import functools
import heapq
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...core.errors import ArgumentError
from ..common.grouped import grouped

SWITCHES, MERGES = frozenset(("Switch", "RefSwitch")), frozenset(("Merge", "RefMerge"))
ENTERS, EXITS = frozenset(("Enter", "RefEnter")), frozenset(("Exit", "RefExit"))
NEXTS = frozenset(("NextIteration", "RefNextIteration"))
HANDED_ON = ENTERS | NEXTS | frozenset(("LoopCond",))


class Loop(NamedTuple):
    """Inside of a loop, named as its Enters do."""

    frame: str


class Side(NamedTuple):
    """On one side of a branch. predicate: the tensor's name."""

    predicate: str
    holds: bool


Context = tuple[Loop | Side, ...]


@dataclass(eq=False)
class Layout:
    """nodes: by name. order: names, inputs first. context: of each node, from the outermost in.

    given: the names of tensors that others have in the place of a node's.
    """

    nodes: Mapping[str, Any]
    order: dict[str, int]
    context: dict[str, Context]
    given: frozenset[str] = frozenset()

    @functools.cached_property
    def read_tensors(self) -> frozenset[str]:
        """Names of the tensors that some node takes."""
        return frozenset(full_name(text) for node in self.nodes.values() for text in data_inputs(node))

    @functools.cached_property
    def inside(self) -> dict[Context, list[Any]]:
        """The nodes that stand directly in each context."""
        return grouped((self.context[name], node) for name, node in self.nodes.items())

    @functools.cached_property
    def branch_ends(self) -> dict[tuple[Context, str], list[Any]]:
        """The Merges of branches by where they stand and the name scope that they are in."""
        return grouped(((self.context[name], name.rpartition("/")[0]), node) for name, node in self.nodes.items()
                       if node.op in MERGES and not self.is_loop_merge(node))

    @functools.cached_property
    def switches(self) -> dict[str, list[str]]:
        """Tensor -> the Switches that it goes through."""
        return grouped((full_name(node.input[0]), name) for name, node in self.nodes.items() if node.op in SWITCHES)

    @functools.cached_property
    def exits(self) -> dict[str, list[Any]]:
        """Name of a Switch -> the Exits that it leads to."""
        return grouped((split_name(node.input[0])[0], node) for node in self.nodes.values() if node.op in EXITS)

    @functools.cached_property
    def pivots(self) -> frozenset[str]:
        """The nodes that only stand for being on a side, or in a loop."""
        return frozenset(name for name, node in self.nodes.items() if self._is_pivot(node))

    def _is_pivot(self, node: Any) -> bool:
        if node.op in SWITCHES | HANDED_ON or node.op in MERGES and self.is_loop_merge(node):
            return True
        source = self.nodes.get(split_name(data_inputs(node)[0])[0]) if node.op == "Identity" else None
        return source is not None and source.op in SWITCHES

    def output_context(self, tensor: str) -> Context:
        """Where a tensor is known: that of its node, and for a branch's Switch the side that it is for."""
        name, slot = split_name(tensor)
        node = self.nodes[name]
        found = self.context[name]
        if node.op in SWITCHES and not self.is_loop_switch(node):
            return (*found, Side(full_name(node.input[1]), slot == 1))
        return found

    def is_loop_switch(self, node: Any) -> bool:
        """Whether a Switch belongs to a loop."""
        return self.nodes[split_name(node.input[1])[0]].op == "LoopCond"

    def is_loop_merge(self, node: Any) -> bool:
        """Whether a Merge belongs to a loop."""
        return any(self.nodes[split_name(text)[0]].op in NEXTS for text in data_inputs(node))


@functools.lru_cache(maxsize=1 << 16)
def split_name(text: str) -> tuple[str, int]:
    """`x:1` -> x, 1; `x` and `^x` -> x, 0."""
    name, _, slot = text.removeprefix("^").rpartition(":")
    return (name, int(slot)) if name and slot.isdigit() else (text.removeprefix("^"), 0)


def full_name(text: str) -> str:
    """`x` -> `x:0`."""
    return "{}:{}".format(*split_name(text))


def data_inputs(node: Any) -> list[str]:
    """The inputs that are tensors."""
    return [text for text in node.input if not text.startswith("^")]


def layout_of(nodes: Mapping[str, Any], given: Collection[str] = ()) -> Layout:
    """Raises ArgumentError (ValueError) for an input that is not there and not given, or for a circle."""
    layout = Layout(nodes, {}, {}, frozenset(given))
    for name in _sorted(layout):
        layout.order[name] = len(layout.order)
        layout.context[name] = _context(layout, nodes[name])
    return layout


def _before(layout: Layout, node: Any) -> Iterator[str]:
    """Names of the nodes that come before one; what an iteration hands to the next is not among them."""
    for text in node.input:
        name = split_name(text)[0]
        if full_name(text) in layout.given and name not in layout.nodes:
            continue
        if name not in layout.nodes:
            raise ArgumentError(f"Node {node.name!r}: Unknown input node {text!r}",
                                hint=f"node {name!r} not found in graph_def")
        if not (node.op in MERGES and layout.nodes[name].op in NEXTS):
            yield name


def _sorted(layout: Layout) -> Iterator[str]:
    """Names with inputs first, else as they are given."""
    places = {name: i for i, name in enumerate(layout.nodes)}
    readers: dict[str, list[str]] = {}
    missing = {}
    for name, node in layout.nodes.items():
        before = set(_before(layout, node))
        missing[name] = len(before)
        for each in before:
            readers.setdefault(each, []).append(name)
    ready = [(places[name], name) for name, count in missing.items() if not count]
    given = 0
    while ready:
        _, name = heapq.heappop(ready)
        given += 1
        yield name
        for reader in readers.get(name, ()):
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, (places[reader], reader))
    if given < len(places):
        circle = [name for name, count in missing.items() if count][:3]
        raise ArgumentError(f"{len(places) - given} node(s) in a cycle, such as {', '.join(circle)}")


def _context(layout: Layout, node: Any) -> Context:
    found = [layout.output_context(text) if not text.startswith("^") else layout.context[split_name(text)[0]]
             for text in node.input if split_name(text)[0] in layout.context]
    if node.op in MERGES:
        return _common(found) if not layout.is_loop_merge(node) else max(found, key=len, default=())
    deepest = max(found, key=len, default=())
    if node.op in ENTERS:
        return (*deepest, Loop(node.attr["frame_name"].s.decode()))
    if node.op in EXITS:
        loops = [i for i, entry in enumerate(deepest) if isinstance(entry, Loop)]
        if not loops:
            raise ArgumentError(f"Node {node.name!r}: an Exit that is in no loop")
        return deepest[:loops[-1]]
    return deepest


def _common(contexts: list[Context]) -> Context:
    """Where both sides of a branch come together."""
    shared: list[Loop | Side] = []
    for entries in zip(*contexts):
        if any(entry != entries[0] for entry in entries):
            break
        shared.append(entries[0])
    return tuple(shared)
