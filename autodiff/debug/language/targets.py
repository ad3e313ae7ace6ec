"""Targets: what a user may call a tensor, and finding it; errors that name the nearest candidates."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from ...core.errors import ArgumentError, UnknownNameError
from ...core.graph import Graph, Operation, Tensor
from ...core.indexed_slices import IndexedSlices
from ...core.names import did_you_mean
from ...core.sparse_tensor import SparseTensor
from ..facts.function_calls import InnerOps
from ..facts.graph_lists import operations_of, version_of
from ..facts.layer import is_in_layer, layer_of
from ..facts.roles import role_of
from .handle_paths import offers, paths_into, value_at

_SHOWN = 5  # candidates named in a message
_SHORT = re.compile(r"([%g])(\d+)(?::(\d+))?\Z")


def is_short(target: str) -> bool:
    """Whether a target is a number that a table gave, `%12` or `g12`, which holds for one graph."""
    return _SHORT.match(target) is not None


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors that a value of the script holds (itself, of a variable, operation or rows, of a list); maybe none.
    """
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (IndexedSlices, SparseTensor)):
        return [value.values]
    if isinstance(value, ModuleType):
        return []  # the namespace itself answers any name, at length
    handle = value.handle_tensor if offers(value, "handle_tensor") else None
    if isinstance(handle, Tensor):
        return [handle]
    if isinstance(value, Operation):
        return list(value.outputs)
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_of(item)]
    return []


class Targets:
    """Finds tensors of a graph by name, unique suffix, handle, `/regex/`, `%12` or `g12` (the gradient of `%12`).

    handles: the script's names and values. gradient_of: the gradient tensor of a tensor, or None. hidden:
    operations that are not in the graph's own list, by name.
    """

    def __init__(self, graph: Graph, handles: dict[str, Any], gradient_of: Callable[[Tensor], Tensor | None],
                 hidden: Callable[[], dict[str, Operation]]) -> None:
        self.graph, self.handles = graph, handles
        self._gradient_of, self._hidden = gradient_of, hidden
        self.inner = InnerOps(graph)
        self._ends: dict[str, list[Operation]] = {}
        self._known = 0, 0, 0  # operations that are in `_ends`: of the graph, of its layer, inside
        self._ops: list[Operation] = []

    def all(self, target: str) -> list[Tensor]:
        """The tensors a target stands for, at least one. Raises UnknownNameError or ArgumentError."""
        target = target.strip()
        if len(target) > 1 and target[0] == target[-1] == "/":
            return self._matching(target[1:-1])
        found = self.exact(target)
        if found:
            return found
        forward = self.suffixes(target)
        if len(forward) == 1:
            return self._slot(forward[0], target)
        if forward:
            raise ArgumentError(f"{target!r} stands for {len(forward)} operations: {_few(op.name for op in forward)}",
                                hint=f"name more of it, or use /{re.escape(target)}/ for all of them")
        raise UnknownNameError(f"no tensor, operation or handle is called {target!r}").explain(hint=self.near(target))

    def one(self, target: str) -> Tensor:
        """The one tensor a target stands for; of an operation with several outputs the first."""
        found = self.all(target)
        if not found:
            raise ArgumentError(f"{target!r} is an operation without outputs: expected a tensor",
                                hint=f"`info op {target}` shows it")
        if len({t.op for t in found}) > 1:
            raise ArgumentError(f"expected one tensor, {target!r} stands for {len(found)}: "
                                f"{_few(t.name for t in found)}")
        return found[0]

    def outside(self, target: str) -> Tensor:
        """Like `one`, but refuses tensors inside of branches and loops, which can neither be fed nor held."""
        tensor = self.one(target)
        if tensor.graph is not self.graph:
            around = self.inner.outer_op(tensor.op).name
            raise ArgumentError(f"{tensor.name!r} is inside of {around!r}: expected a tensor outside of branches and "
                                "loops",
                                hint=f"`print`, `grad`, `watch` and `why` take it; `info op {around}` shows what "
                                     "goes in and comes out")
        return tensor

    def operation(self, target: str) -> Operation:
        """The one operation a target stands for, one without outputs included."""
        value = self._handle(target)
        if isinstance(value, Operation):
            return value
        op = self.named(target)
        if op is not None:
            return op
        ops = [o for o in self._ending(target) if not o.outputs]
        return ops[0] if len(ops) == 1 else self.one(target).op

    def exact(self, target: str) -> list[Tensor]:
        """The tensors that a handle, short handle or full name stands for; empty if it is none of these."""
        if target in self.handles:
            found = self._of_this_graph(self.handles[target])
            if found:
                return found
        if _SHORT.match(target):
            return self._short(target)
        name, _, slot = target.partition(":")
        op = self.named(name)
        if op is not None and op.outputs and (not slot or slot.isdigit()):
            return self._slot(op, target)
        return self._of_this_graph(self._handle(target)) or (
            self._of_this_graph(self.handles.get(name))[:1] if slot == "0" else [])

    def named(self, name: str) -> Operation | None:
        """The operation of that full name, wherever it is."""
        return (self.graph.operations.get(name) or layer_of(self.graph).operations.get(name) or self._hidden().get(name)
                or self.inner.by_name().get(name))

    def _of_this_graph(self, value: Any) -> list[Tensor]:
        stands_for = self.graph.extras.get("stands_for", {})  # of values of an eager script, by their ids
        found = [stands_for.get(getattr(t, "id", None), t) for t in tensors_of(value)]
        return [t for t in found if t.graph is self.graph or self.inner.has(t)]

    def _slot(self, op: Operation, target: str) -> list[Tensor]:
        slot = target.partition(":")[2]
        if not slot:
            return list(op.outputs)
        if not slot.isdigit() or int(slot) >= len(op.outputs):
            raise UnknownNameError(f"{op.name!r} has no output {slot!r}: it has {len(op.outputs)}")
        return [op.outputs[int(slot)]]

    def _handle(self, target: str) -> Any:
        """The value of a handle, `model.layers[0].w` included; None if there is none."""
        return self.handles[target] if target in self.handles else value_at(self.handles, target)

    def _matching(self, pattern: str) -> list[Tensor]:
        try:
            search = re.compile(pattern).search
        except re.error as error:
            raise ArgumentError(f"not a regular expression: {pattern!r}: {error}") from None
        found = [tensor for op in self.operations() for tensor in op.outputs if search(tensor.name)]
        if not found:
            raise UnknownNameError(f"no tensor name matches /{pattern}/").explain(hint=self.near(pattern))
        return found

    def _short(self, target: str) -> list[Tensor]:
        match = _SHORT.match(target)
        assert match is not None
        self._index()
        number, slot = int(match[2]), int(match[3] or 0)
        if number >= len(self._ops) or slot >= len(self._ops[number].outputs):
            raise UnknownNameError(f"no tensor has the short handle {target!r}: there are {len(self._ops)} operations, "
                                   f"%0 to %{len(self._ops) - 1}")
        tensor = self._ops[number].outputs[slot]
        if match[1] == "%":
            return [tensor]
        gradient = self._gradient_of(tensor)
        if gradient is None:
            raise UnknownNameError(f"there is no gradient of {tensor.name!r}", hint=f"ask: why {tensor.name}")
        return [gradient]

    def short(self, tensor: Tensor, sign: str = "%") -> str:
        """`%12`, or `g12` for its gradient; "" for one inside of a branch or loop, or of the layer."""
        if tensor.graph is not self.graph or is_in_layer(tensor.op):
            return ""
        return f"{sign}{tensor.op.index}" + (f":{tensor.value_index}" if tensor.value_index else "")

    def handle_of(self, tensor: Tensor) -> str:
        """The script's name for a tensor, or ""."""
        return self.handles_by_tensor().get(tensor, "")

    def handles_by_tensor(self) -> dict[Tensor, str]:
        """The script's first name for each tensor that has one."""
        found: dict[Tensor, str] = {}
        for name, value in self.handles.items():
            tensors = tensors_of(value)
            if len(tensors) == 1 and not name.startswith("_"):
                found.setdefault(tensors[0], name)
        return found

    def words(self) -> list[str]:
        """Handles, those inside of the script's objects and lists too, then the names of all tensors."""
        handles = [name for name, value in self.handles.items() if tensors_of(value)]
        inside = [path for name, value in self.handles.items() if "." not in name and not name.startswith("_")
                  for path, item in paths_into(name, value) if path not in self.handles and tensors_of(item)]
        return handles + inside + [tensor.name for op in self.operations() for tensor in op.outputs]

    def operations(self) -> list[Operation]:
        """The operations of the graph, those of its layer, then those inside of branches and loops."""
        return [*operations_of(self.graph), *self.inner.by_name().values()]

    def near(self, target: str) -> str:
        """A line with the nearest names, or ""."""
        self._index()
        handles = [name for name, value in self.handles.items() if tensors_of(value)]
        bare = target.partition(":")[0].rsplit("/", 1)[-1].lower()
        ends = [end for end in self._ends if end and bare and (end[0] == bare[0] or bare in end)]
        same = [op.name for op in self._ends.get(bare, []) if op.gradient_of is None]
        scoped = did_you_mean(target.partition(":")[0], same[:2000]) if "/" in target else ""
        found = scoped or did_you_mean(bare, dict.fromkeys([*handles, *ends[:2000]]))
        inside = [op.name for op in self._ops if bare and bare in op.name.lower() and op.gradient_of is None][:3]
        return found or (f"did you mean {' or '.join(map(repr, inside))}?" if inside else
                         f"handles: {', '.join(handles[:8]) or 'none'}; `info tensors` lists all")

    def suffixes(self, target: str) -> list[Operation]:
        """Operations whose names end in a target; those of the model itself, if there are any."""
        ops = self._ending(target.partition(":")[0])
        return [op for op in ops if op.gradient_of is None] or ops

    def _ending(self, target: str) -> list[Operation]:
        """Operations whose name ends in `target`, from some `/` on."""
        self._index()
        found = self._ends.get(target.rsplit("/", 1)[-1].lower(), [])
        return [op for op in found if f"/{op.name}".endswith(f"/{target}")]

    def _index(self) -> None:
        """Bring the tables up to the graph's present size."""
        version = version_of(self.graph)
        if version == self._known[:2]:
            return
        self._ops = list(self.graph.operations.values())
        lists = self._ops, list(layer_of(self.graph).operations.values()), list(self.inner.by_name().values())
        for ops, known in zip(lists, self._known):
            for op in ops[known:]:
                self._ends.setdefault(op.name.rsplit("/", 1)[-1].lower(), []).append(op)
        self._known = *version, len(lists[2])


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(map(repr, listed[:_SHOWN])) + more


def is_forward(tensor: Tensor) -> bool:
    """Whether a tensor belongs to the model itself rather than to gradients or updates."""
    return role_of(tensor.op) in ("forward", "variable", "placeholder", "constant")
