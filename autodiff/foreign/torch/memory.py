"""Which tensor of ours stands for a tensor of torch's: memory is followed as torch has it.

Each storage has a version; a write makes a new one, and a view that is older is read again out of its storage. So
in-place ops and views need no rules of their own.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..model import tf
from .aten.common import taken
from .aten.indexing import put_at
from .record import storage_of


@dataclass(slots=True)
class _Storage:
    """One piece of memory. version: writes so far. like, node: a tensor of torch's that is all of it, and ours.

    flows: whether torch differentiates a tensor in it. is_given: whether no op that is known made it.
    """

    version: int
    like: Any
    node: Any
    flows: bool
    is_given: bool = False


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
        found._storages = {key: replace(storage) for key, storage in self._storages.items()}
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
        if seen is not None and storage is not None and seen.version == storage.version:
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
        if lies_as(storage.like, tensor):
            storage.node = node
        else:
            flat = put_at(_flat(storage), _places(tensor) - _start(storage.like), node)
            if not storage.like.is_contiguous():
                like = storage.like.detach()
                storage.like = like.as_strided((like.numel(),), (1,), like.storage_offset())
            storage.node = tf.reshape(flat, list(storage.like.shape))
        storage.version += 1
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
        if lies_as(storage.like, tensor):
            return storage.node
        return taken(_flat(storage), _places(tensor) - _start(storage.like))


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
    order = _places(like).ravel() - _start(like)
    back = np.zeros(order.max() + 1, np.int64)
    back[order] = np.arange(order.size)
    return tf.gather(node, tf.constant(back))


def _start(like: Any) -> int:
    """Where what is known of a storage begins."""
    return like.storage_offset()


def _places(tensor: Any) -> np.ndarray:
    """Where each element of a tensor is in its storage."""
    found = np.full(tuple(tensor.shape), tensor.storage_offset(), np.int64)
    for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        found += (np.arange(size) * stride).reshape([-1 if a == axis else 1 for a in range(tensor.dim())])
    return found
