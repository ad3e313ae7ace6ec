"""What a graph keeps beside its operations, and the forms in which it is written."""
from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .defaults import OfThread

if TYPE_CHECKING:
    from .operation import Operation

# "GraphDef", "NodeDef", … -> the path, in this package, of the function that makes one; told by autodiff itself
FORMS: dict[str, str] = {}


def written_as(form: str, *given: Any, **options: Any) -> Any:
    """A graph, or an operation, in a form of FORMS."""
    module, _, name = FORMS[form].rpartition(".")
    return getattr(import_module(f"..{module}", __package__), name)(*given, **options)


def promote_objects() -> None:
    """Move all present objects to the oldest generation, so that the next young collections do not walk them."""
    if not gc.get_freeze_count():  # what a program froze stays frozen
        gc.freeze()
        gc.unfreeze()


_IN_A_ROW = 32  # promotions without a full collection


class _Promotions:
    """Promotes what graphs are made of, only so often in a row: full collections free graphs that nobody has."""

    def __init__(self) -> None:
        self._left, self._collections = 0, -1

    def promote(self) -> None:
        """Promote all present objects; no more of them after so many times without a full collection."""
        collections = gc.get_stats()[2]["collections"]
        if collections != self._collections:
            self._left, self._collections = _IN_A_ROW, collections
        if self._left:
            self._left -= 1
            promote_objects()


PROMOTIONS = _Promotions()


class Operations(Mapping[str, "Operation"]):
    """Name -> operation, in the order of making. listed: they alone; names are made when the first is asked for."""

    __slots__ = ("listed", "_by_name", "_count", "_numbered", "_linked")

    def __init__(self, listed: Iterable["Operation"] = ()) -> None:
        self.listed: list["Operation"] = list(listed)
        self._by_name: dict[str, "Operation"] = {}
        self._count = self._numbered = 0  # of those that are in there, and that have their index
        self._linked = 0  # that are among the takers of their inputs

    def _named(self) -> dict[str, "Operation"]:
        if self._count < len(self.listed):
            self._by_name.update([(op.name, op) for op in self.listed[self._count:]])
            self._count = len(self.listed)
        return self._by_name

    def number(self) -> None:
        """Give those their index that have none yet."""
        for index in range(self._numbered, len(self.listed)):
            if (op := self.listed[index])._index is None:
                op._index = index
        self._numbered = len(self.listed)

    def link(self) -> None:
        """Note those that are not yet among the takers of their inputs there."""
        listed, first = self.listed, self._linked
        self._linked = len(listed)
        for op in listed[first:]:
            for tensor in op.inputs:
                if tensor._takers is None:
                    tensor._takers = op
                else:
                    tensor.note_taker(op)

    def extend(self, ops: Iterable["Operation"]) -> None:
        """List some that were cut out; those that they take know of it."""
        self.link()
        self.listed.extend(ops)
        self._linked = len(self.listed)

    def put(self, first: int, ops: Sequence["Operation"]) -> None:
        """Have those from a place on in another order."""
        self._named()
        self.listed[first:first + len(ops)] = ops
        for index, op in enumerate(ops, first):
            op.index = index

    def cut(self, count: int) -> dict[str, "Operation"]:
        """Take out all but the first so many."""
        known = self._named()
        self.link()
        self.number()
        ops, self.listed[count:] = self.listed[count:], ()
        self._count = self._numbered = self._linked = count
        for op in ops:
            known.pop(op.name, None)
        return {op.name: op for op in ops}

    def __getitem__(self, name: str) -> "Operation":
        return self._named()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._named()

    def __iter__(self) -> Iterator[str]:
        return iter([op.name for op in self.listed])

    def __len__(self) -> int:
        return len(self.listed)

    def values(self) -> Any:
        """The operations, in order."""
        return tuple(self.listed)


class ControlGroup:
    """One control_dependencies block: what its ops wait for, and which ops it holds."""

    def __init__(self, waits_for: list["Operation"]) -> None:
        self.waits_for = waits_for
        self.members: set["Operation"] = set()


def _of_thread(name: str) -> property:
    return property(lambda graph: getattr(graph._of_thread, name),
                    lambda graph, value: setattr(graph._of_thread, name, value))


class Collected:
    """Named lists of what belongs to a graph, and what runs may not ask. collected: key -> list. extras: see Graph."""

    building_function = False
    collected: dict[Any, list[Any]]
    extras: dict[str, Any]

    @property
    def graph_def_versions(self) -> Any:
        """The versions of TensorFlow's graphs that this one is written as, and can be read by, as a VersionDef."""
        return written_as("VersionDef", self)

    def _create_op_from_tf_operation(self, c_op: Any, compute_device: bool = True) -> Any:
        """The operation itself: there is none beneath it."""
        return c_op

    @property
    def _building_function(self) -> bool:
        return self.building_function

    @_building_function.setter
    def _building_function(self, value: bool) -> None:
        self.building_function = value

    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Any:
        """A block in which nothing changes: there is one kernel for each op."""
        return contextlib.nullcontext()

    def _original_op(self: Any, op: "Operation") -> Any:
        """A block whose operations are made for this one."""
        return self.differentiating(op, None)

    def switch_to_thread_local(self: Any) -> None:
        """From now on the blocks that each thread is in hold for it alone; all begin with those around this call."""
        names = "placement", "asked", "colocated", "beside", "_control"
        self._of_thread = OfThread({name: getattr(self, name) for name in names})
        kind = type(self)
        self.__class__ = type(kind.__name__, (kind,), {name: _of_thread(name) for name in names})

    @property
    def collections(self) -> list[Any]:
        """The keys, as get_all_collection_keys gives them."""
        return list(self.collected)

    def add_to_collection(self, name: Any, value: Any) -> None:
        self.collected.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself."""
        return self.collected.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the list; `scope` is a regex that must match from the start of the item's name."""
        items = self.collected.get(name, [])
        if scope is None:
            return list(items)
        return [item for item in items if hasattr(item, "name") and re.match(scope, item.name)]

    def get_all_collection_keys(self) -> list[Any]:
        return list(self.collected)

    def clear_collection(self, name: Any) -> None:
        self.collected.pop(name, None)

    def prevent_feeding(self, tensor: Any) -> None:
        """Let no run feed this tensor."""
        self.extras.setdefault("unfeedable", set()).add(tensor)

    def is_feedable(self, tensor: Any) -> bool:
        """Whether a run may feed this tensor."""
        return tensor not in self.extras.get("unfeedable", ())

    def prevent_fetching(self, op: Any) -> None:
        """Let no run fetch this operation or its outputs."""
        self.extras.setdefault("unfetchable", set()).add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a run may fetch this operation or tensor."""
        return getattr(tensor_or_op, "op", tensor_or_op) not in self.extras.get("unfetchable", ())
