"""Which tensor of ours stands for a tensor of torch's: memory is followed as torch has it.

Each storage has a version; a write makes a new one, and a view that is older, and was touched since, is read again out
of its storage. So in-place ops and views need no rules of their own. What is written to a part is kept beside the rest
until what overlaps it is read: the gates of a recurrent layer are chunks of one buffer, which nobody reads whole.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..model import tf
from .aten.common import taken
from .aten.indexing import put_at
from .aten.shapes import strided
from .aten.types import as_type
from .record import storage_of

_PARTS = 32  # writes that are kept apart, and looked back at, at most
_Where = tuple[int, tuple[int, ...], tuple[int, ...], Any]  # offset, shape, strides and dtype of a tensor


@dataclass(slots=True)
class _Storage:
    """One piece of memory. version: writes so far. like, node: a tensor of torch's that is all of it, and ours.

    flows: whether torch differentiates a tensor in it. is_given: whether no op that is known made it. writes: where the
    last ones were. parts: what was written to some of it, and is not in `node`; they do not overlap.
    """

    version: int
    like: Any
    node: Any
    flows: bool
    is_given: bool = False
    writes: list[_Where | None] = field(default_factory=list)
    parts: dict[_Where, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Seen:
    """What stands for a tensor of torch's. version: of its storage, when that was so. keep: the tensor, alive."""

    node: Any
    version: int
    keep: Any


class Memory:
    """leaf(tensor): what stands for a tensor that nothing made."""

    def __init__(self, leaf: Callable[[Any], Any]) -> None:
        self._leaf = leaf
        self._seen: dict[int, _Seen] = {}
        self._storages: dict[int, _Storage] = {}

    def copy(self) -> "Memory":
        """What is known now, for what is to be built from here."""
        found = Memory(self._leaf)
        found._seen = dict(self._seen)
        found._storages = {key: replace(storage, writes=[*storage.writes], parts={**storage.parts})
                           for key, storage in self._storages.items()}
        return found

    def give(self, tensor: Any, node: Any, *, is_given: bool = False) -> None:
        """Let `node` stand for a tensor, which may be a view of known memory. node: or what makes it when asked."""
        storage = self._storages.get(storage_of(tensor))
        if storage is None:
            storage = self._storages[storage_of(tensor)] = _Storage(0, tensor, node, False, is_given)
        storage.flows |= tensor.requires_grad
        self._seen[id(tensor)] = _Seen(node, storage.version, tensor)

    def of(self, tensor: Any, *, held: bool = True) -> Any:
        """What stands for a tensor now. held: a view that torch does not differentiate is held constant."""
        seen = self._seen.get(id(tensor))
        storage = self._storages.get(storage_of(tensor))
        if seen is not None and storage is not None and _is_untouched(storage, seen):
            seen.version = storage.version
            if not hasattr(seen.node, "dtype"):
                seen.node = seen.node()
            return seen.node
        is_held = storage is not None and _holds(storage, tensor)
        node = self._view(storage, tensor) if storage is not None and is_held else self._leaf(tensor)
        if storage is not None and held and storage.flows and not tensor.requires_grad:
            return tf.stop_gradient(node, name="data")
        self.give(tensor, node, is_given=not is_held)
        return node

    def stored(self, tensor: Any) -> Any:
        """What a tensor's memory holds, as torch differentiates it, whatever stands for the tensor itself."""
        return self._view(self._storages[storage_of(tensor)], tensor)

    def flows(self, tensor: Any) -> bool:
        """Whether torch differentiates what a tensor's memory held."""
        storage = self._storages.get(storage_of(tensor))
        return storage is not None and storage.flows

    def write(self, tensor: Any, node: Any) -> None:
        """Let a tensor, and with it its memory, have a new value."""
        self.of(tensor, held=False)
        storage = self._storages[storage_of(tensor)]
        where = _where(tensor)
        if lies_as(storage.like, tensor):
            storage.node, storage.parts = node, {}
        elif where is None:
            _write_parts(storage)
            _put(storage, _places(tensor), [node])
        else:
            others = storage.parts.keys() - {where}
            if len(others) == _PARTS or any(_overlap(other, where) for other in others):
                _write_parts(storage)
            storage.parts[where] = node
        storage.version += 1
        storage.writes = [*storage.writes[1 - _PARTS:], where]
        storage.flows |= tensor.requires_grad
        self._seen[id(tensor)] = _Seen(node, storage.version, tensor)

    def replace(self, tensor: Any, node: Any) -> None:
        """Let `node` stand for a tensor and for its memory, whatever was there."""
        version = self._storages[storage_of(tensor)].version + 1 if storage_of(tensor) in self._storages else 0
        self._storages[storage_of(tensor)] = _Storage(version, tensor, node, tensor.requires_grad)
        self._seen[id(tensor)] = _Seen(node, version, tensor)

    @staticmethod
    def _view(storage: _Storage, tensor: Any) -> Any:
        """A tensor read out of its memory."""
        where = _where(tensor)
        if where in storage.parts:
            return storage.parts[where]
        if any(_overlap(part, where) for part in storage.parts):
            _write_parts(storage)
        if lies_as(storage.like, tensor):
            return storage.node
        return taken(_flat(storage), _places(tensor) - storage.like.storage_offset())


def _is_untouched(storage: _Storage, seen: _Seen) -> bool:
    """Whether no write since a tensor was seen has changed any of it."""
    count = storage.version - seen.version
    return count == 0 or count <= len(storage.writes) and not any(
        _overlap(where, _where(seen.keep)) for where in storage.writes[-count:])


def _write_parts(storage: _Storage) -> None:
    """Put what was written to parts into the whole."""
    if storage.parts:
        places = [strided(*where[:3]).ravel() for where in storage.parts]
        _put(storage, np.concatenate(places), [*storage.parts.values()])
        storage.parts = {}


def _put(storage: _Storage, places: np.ndarray, nodes: Sequence[Any]) -> None:
    """Put values, one after the other, at places of a storage."""
    values = [tf.reshape(as_type(node, storage.node.dtype.base_dtype), [-1]) for node in nodes]
    places = places - storage.like.storage_offset()
    flat = put_at(_flat(storage), places, tf.concat(values, 0) if values[1:] else values[0])
    if not storage.like.is_contiguous():
        like = storage.like.detach()
        storage.like = like.as_strided((like.numel(),), (1,), like.storage_offset())
    storage.node = tf.reshape(flat, list(storage.like.shape))


def _where(tensor: Any) -> _Where | None:
    """None for a tensor whose sizes are open."""
    offset, shape, strides = tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride())
    is_known = all(isinstance(n, int) for n in (offset, *shape, *strides))
    return (offset, shape, strides, tensor.dtype) if is_known else None


@functools.lru_cache(4096)
def _overlap(a: _Where | None, b: _Where | None) -> bool:
    """Whether two tensors of one storage have elements in common, as far as is known."""
    if a is None or b is None or a[3] != b[3]:
        return True
    if 0 in a[1] or 0 in b[1]:
        return False
    (start, *_), (other, *_) = a, b
    if start + _reach(a) < other or other + _reach(b) < start:
        return False
    return bool(np.isin(strided(*a[:3]), strided(*b[:3])).any())


def _reach(where: _Where) -> int:
    """How far the last element is from the first."""
    return sum((size - 1) * stride for size, stride in zip(where[1], where[2]))


def lies_as(a: Any, b: Any) -> bool:
    """Whether two tensors of one storage are the same elements in the same order."""
    return a is b or a.shape == b.shape and a.storage_offset() == b.storage_offset() and a.stride() == b.stride() \
        and a.dtype == b.dtype


def _holds(storage: _Storage, tensor: Any) -> bool:
    """Whether a tensor is to be read out of what is known of its memory.

    A part of data that was cut out unseen is given as it is: in the next step of the same kind it is another one.
    Raises NotImplementedError if only some of it is known, and written to.
    """
    if not storage.version and not storage.flows:
        return lies_as(storage.like, tensor) and not storage.is_given
    if lies_as(storage.like, tensor):
        return True
    known = np.isin(_places(tensor), _places(storage.like))
    if known.any() and not known.all():
        raise NotImplementedError("a tensor of which another one, that was changed in place, is a part")
    return bool(known.all())


def _flat(storage: _Storage) -> Any:
    """What is known of a storage, in its order."""
    like, node = storage.like, tf.reshape(storage.node, [-1])
    if like.is_contiguous():
        return node
    order = _places(like).ravel() - like.storage_offset()
    back = np.zeros(order.max() + 1, np.int64)
    back[order] = np.arange(order.size)
    return tf.gather(node, tf.constant(back))


def _places(tensor: Any) -> np.ndarray:
    """Where each element of a tensor is in its storage."""
    return strided(tensor.storage_offset(), tensor.shape, tensor.stride())
